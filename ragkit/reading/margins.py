"""What a Word document has beside its text: headers, footers and comments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragkit.reading.comments import comments_of_word, lines_of_word
from ragkit.reading.reading_parts import whole_line
from ragkit.reading.zip_container import part_of

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterable, Sequence

_MARGIN = re.compile(r"word/(?:header|footer)\d*\.xml")
_LETTERS = re.compile(r"[^\W\d_]{2}")


def margins_of(archive: zipfile.ZipFile, text: str) -> str:
    """Return the headers, footers and comments as Markdown sections, or an empty string.

    ``text`` is that of the document.
    """
    repeated = (
        line
        for name in sorted(filter(_MARGIN.fullmatch, archive.namelist()))
        for line in lines_of_word(part_of(archive, name))
    )
    return sections_beside(text, repeated, [*comments_of_word(archive)])


def sections_beside(text: str, repeated: Iterable[str], comments: Sequence[str]) -> str:
    """Return Markdown sections of what stands beside a text: headers and footers, and comments.

    Of the lines that are ``repeated``, those that the text lacks are there, each once.
    """
    body = whole_line(text)
    new = [line for line in dict.fromkeys(repeated) if _LETTERS.search(line) and line not in body]
    return _section("Header and footer", new) + _section("Comments", comments)


def _section(title: str, lines: Sequence[str]) -> str:
    """Return a Markdown section with a list to append to a text, or an empty string."""
    return f"\n\n## {title}\n\n" + "\n".join(f"- {line}" for line in lines) if lines else ""
