"""Highlights and notes of a Kindle ("My Clippings.txt"): a section for each book."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ragkit.reading.conversations.messages import safe_text
from ragkit.reading.dates import iso_date
from ragkit.reading.formats import Format
from ragkit.reading.plain import read_text
from ragkit.reading.reading_parts import joined, one_line, stem, tidy
from ragkit.types import Markup, Reading

_RULE = "=========="
_ABOUT = re.compile(r"[-\u2013] [^|\n]*\d[^|\n]*\|[^\n]*")
_NOTE = re.compile(
    r"\b(?:note|notiz|nota|notitie|notat|not|anteckning|muistiinpano|notatka|poznámka)\b"
    r"|заметк|笔记|筆記|メモ|메모|ملاحظة",
    re.I,
)
_PAGE = re.compile(
    r"(?:\b(?:page|seite|p[áa]gina|pagina|sida|side|strona|strana|sayfa)|страниц\w*|第|頁|页)"
    r"\s*([\dxvilc]+(?:[-\u2013][\dxvilc]+)?)|(\d+(?:[-\u2013]\d+)?)\s*(?:ページ|페이지)",
    re.I,
)
_PLACE = re.compile(r"\d+(?:[-\u2013]\d+)?")
_EAST_ASIAN_DAY = re.compile(r"(\d{4})[年년]\s*(\d{1,2})[月월]\s*(\d{1,2})[日일]")
_TIME = re.compile(r",?\s+\d{1,2}[:.h]\d\d.*")


@dataclass(frozen=True, slots=True)
class _Clipping:
    """A passage that a person marked in a book, or their note on one; ``where`` and when."""

    book: str
    text: str
    is_note: bool
    where: str

    def shown(self) -> str:
        """Return it as Markdown: what the book says as a quotation."""
        kind = "note, " if self.is_note else ""
        lines = f"{self.text}\n({kind}{self.where})".split("\n")
        return "\n".join(lines if self.is_note else (f"> {line}".rstrip() for line in lines))


def read_clippings(text: str, name: str, file_format: Format = Format.CLIPPINGS) -> Reading:
    """Read the clippings of a Kindle; a file without any is plain text."""
    books: dict[str, list[_Clipping]] = {}
    for clipping in _clippings(text):
        kept = books.setdefault(clipping.book, [])
        # A highlight that was drawn anew is there twice, and often longer the second time.
        before = kept[-1] if kept and not (kept[-1].is_note or clipping.is_note) else None
        if before is not None and before.text in clipping.text:
            kept[-1] = clipping
        elif before is None or clipping.text not in before.text:
            kept.append(clipping)
    if not books:
        return read_text(text, name)
    sections = (
        joined((f"## {book}", *(clipping.shown() for clipping in kept)), "\n\n")
        for book, kept in books.items()
    )
    return Reading(
        text=tidy("\n\n".join(sections)),
        title=stem(name),
        format=file_format,
        markup=Markup.MARKDOWN,
    )


def _clippings(text: str) -> Iterator[_Clipping]:
    """Yield the clippings that have a text; bookmarks have none."""
    for entry in re.split(rf"^{_RULE}[ \t]*$", text, flags=re.M):
        book, _, rest = entry.strip().partition("\n")
        about, _, body = rest.partition("\n")
        if _ABOUT.fullmatch(about.strip()) and body.strip():
            place, _, added = about.rpartition("|")
            where = joined((_place(place), _day(added) or one_line(added)), ", ")
            is_note = _NOTE.search(place) is not None
            yield _Clipping(one_line(book), safe_text(tidy(body)), is_note, where)


def _place(about: str) -> str:
    """Return the page of a clipping, or else its location in the book."""
    if page := _PAGE.search(about):
        return f"page {page[1] or page[2]}"
    place = _PLACE.search(about)
    return f"location {place[0]}" if place else ""


def _day(added: str) -> str:
    """Return the day on which a clipping was made, in ISO form, or ``""``."""
    if day := _EAST_ASIAN_DAY.search(added):
        return iso_date("-".join(part.zfill(2) for part in day.groups()))
    words = _TIME.sub("", added).split()
    # "Added on Monday, ": how many words there are depends on the language.
    dates = (iso_date(" ".join(words[at:])) for at in range(len(words)))
    return next((date for date in dates if len(date) == 10), "")
