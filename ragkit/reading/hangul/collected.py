"""What is read of a document of Hangul, in whichever form it is stored."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragkit.reading.blocks import Block, inline, note, title_of, written
from ragkit.reading.limits import check_text
from ragkit.reading.margins import sections_beside
from ragkit.reading.reading_parts import whole_line
from ragkit.reading.titles import choose, in_order
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ragkit.reading.formats import Format
    from ragkit.reading.limits import Limits
    from ragkit.types import Metadata

_OUTLINE = re.compile(r"(?:개요|outline) ?([1-9])", re.IGNORECASE)
_BEGINNING = 5000
_WIDEST = 256


@dataclass(slots=True)
class Collected:
    """The notes of a document, and what stands beside its text."""

    notes: list[str] = field(default_factory=list)
    margins: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)

    def mark(self, blocks: Iterable[Block]) -> str:
        """Keep a note; return the mark that refers to it."""
        self.notes.append(" ".join(lines_of(blocks)))
        return f"[^{len(self.notes)}]"

    def reading(
        self,
        blocks: Sequence[Block],
        about: tuple[Metadata, str],
        called: tuple[str, Format],
        limits: Limits,
    ) -> Reading:
        """Return the reading of a document; ``called`` are the name of its file and its format.

        Raises:
            ReadingError: it is too long.
        """
        notes = (note(number, inline(said)) for number, said in enumerate(self.notes, 1))
        body = written([*blocks, *notes])
        check_text((body,), limits)
        metadata, title = about
        name, file_format = called
        return Reading(
            text=(body + sections_beside(body, self.margins, self.comments)).lstrip(),
            title=choose(in_order(title, [title_of(blocks)], body[:_BEGINNING]), name),
            format=file_format,
            markup=Markup.MARKDOWN,
            metadata=metadata,
        )


def level_of(style: str) -> int:
    """Return the level of headings that have a style, or 0."""
    found = _OUTLINE.fullmatch(style.strip())
    return int(found[1]) if found else 0


def lines_of(blocks: Iterable[Block]) -> Iterator[str]:
    """Yield the paragraphs that are not empty, each on one line."""
    return (line for block in blocks if (line := whole_line(block.text)))


def rows_of(cells: Mapping[tuple[int, int], list[Block]]) -> list[list[list[Block]]]:
    """Return the rows of a table from its cells by row and column; others are empty."""
    width = min(max((column for _, column in cells), default=-1) + 1, _WIDEST)
    return [
        [cells.get((row, column), []) for column in range(width)]
        for row in sorted({row for row, _ in cells})
    ]
