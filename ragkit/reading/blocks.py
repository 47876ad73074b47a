"""Paragraphs, lists and tables of documents, written as Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ragkit.reading.decode import clean
from ragkit.reading.markdown import plain
from ragkit.reading.reading_parts import table, tidy, whole_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_SIGN = re.compile(r"\\(?=[!-/:-@\[-`{-~])|\*|<(?=[A-Za-z/!?])")
_FIRST_SIGN = re.compile(r"^[#>]", re.M)
_SPACES = re.compile(r"[ \t\xa0]+")
_ORDERED = re.compile(r"\d{1,9}[.)]")
_AROUND_BREAK = re.compile(r" ?\n ?")
_DEEPEST_HEADING, _DEEPEST_LIST = 6, 8


class Block(NamedTuple):
    """A paragraph or a table: its Markdown, and the ``number`` that is printed before it.

    With a ``level`` from 1, it is a heading, with a ``depth`` an item of a list in others.
    """

    text: str
    level: int = 0
    depth: int = 0
    number: str = ""

    @property
    def whole(self) -> str:
        """Return the text with its number."""
        return f"{self.number} {self.text}" if self.number and self.text else self.text

    @property
    def markdown(self) -> str:
        """Return the text as what it is."""
        if self.level:
            return "#" * min(self.level, _DEEPEST_HEADING) + f" {self.whole}"
        if self.depth:
            indent = "  " * (min(self.depth, _DEEPEST_LIST) - 1)
            mark = "" if _ORDERED.fullmatch(self.number) else "- "
            return f"{indent}{mark}{self.whole}".replace("\n", f"\n{indent}  ")
        return self.whole


def paragraph(text: str, *, level: int = 0, depth: int = 0, number: str = "") -> Block:
    """Return a paragraph of ``inline`` text as a block; a ``number`` may also be a bullet."""
    number = number.strip() if any(map(str.isalnum, number)) else ""
    if level:
        return Block(whole_line(text), level, 0, number)
    text = _AROUND_BREAK.sub("\n", _SPACES.sub(" ", text)).strip()
    return Block(_FIRST_SIGN.sub(r"\\\g<0>", text), 0, depth, number)


def tabled(rows: Sequence[Sequence[Sequence[Block]]]) -> Iterator[Block]:
    """Yield a table of rows of cells; one that has a single column is only a layout, and none."""
    filled = max((sum(map(_says, row)) for row in rows), default=0)
    if filled > 1:
        yield Block(table([[_joined(cell) for cell in row] for row in rows]))
    else:
        yield from (block for row in rows for cell in row for block in cell)


def written(blocks: Iterable[Block]) -> str:
    """Return blocks as Markdown; items of a list stand together."""
    pieces: list[str] = []
    was_item = False
    for block in blocks:
        if block.text:
            is_item = bool(block.depth) and not block.level
            pieces += ["\n" if was_item and is_item else "\n\n", block.markdown]
            was_item = is_item
    return tidy("".join(pieces))


def title_of(blocks: Iterable[Block]) -> str:
    """Return the first heading of level 1, without its number."""
    return next((plain(block.text) for block in blocks if block.level == 1 and block.text), "")


def inline(text: str) -> str:
    """Return a piece of a paragraph in which nothing is Markdown."""
    return _SIGN.sub(r"\\\g<0>", clean(text))


def inline_of_xml(text: str | None) -> str:
    """Return ``inline`` text of an XML element, in which line ends are spaces."""
    return inline(text or "").replace("\n", " ")


def note(number: int, text: str) -> Block:
    """Return what a note says in ``inline`` text, to which ``[^number]`` refers."""
    return Block(f"[^{number}]: {text}")


def _says(cell: Sequence[Block]) -> bool:
    return any(block.text for block in cell)


def _joined(cell: Sequence[Block]) -> str:
    return " ".join(whole_line(block.whole) for block in cell)
