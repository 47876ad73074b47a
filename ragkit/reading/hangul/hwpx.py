"""Documents of Hangul in its newer form (HWPX): zip containers of XML.

Versions of the form differ in their namespaces, so that elements are known by their local names.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from ragkit.reading.blocks import Block, inline, paragraph, tabled
from ragkit.reading.formats import Format
from ragkit.reading.hangul.collected import Collected, level_of, lines_of, rows_of
from ragkit.reading.limits import damaged
from ragkit.reading.markdown import metadata_from
from ragkit.reading.reading_parts import one_line
from ragkit.reading.xml_names import below, child, children, local_name
from ragkit.reading.zip_container import open_archive, part_of, xml

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from ragkit.reading.limits import Limits
    from ragkit.types import Metadata, Reading

_SECTION = re.compile(r"Contents/section(\d{1,6})\.xml")
_LETTERS = {"lineBreak": "\n", "tab": " ", "nbSpace": " ", "fwSpace": " ", "hyphen": "-"}
_NUMBERED = ("PICTURE", "TABLE", "EQUATION")
_NOTES, _MARGINS = ("footNote", "endNote"), ("header", "footer")


def read_hwpx(data: bytes, name: str, limits: Limits) -> Reading:
    """Read a document with its notes, headers, footers and comments at the end.

    Raises:
        ReadingError: damaged, locked, too long, or a decompression bomb.
    """
    archive = open_archive(data, limits, Format.HWPX.label)
    found = filter(None, map(_SECTION.fullmatch, archive.namelist()))
    sections = [section[0] for section in sorted(found, key=lambda section: int(section[1]))]
    if not sections:
        raise damaged(Format.HWPX.label)
    document = _Document(part_of(archive, "Contents/header.xml"))
    blocks: list[Block] = []
    for part in sections:
        section = xml(archive, part)
        _empty_deleted(section)
        blocks += document.paragraphs(section)
    about = _about(archive)
    return document.collected.reading(blocks, about, (name, Format.HWPX), limits)


def _about(archive: zipfile.ZipFile) -> tuple[Metadata, str]:
    """Return the metadata and the title that a document says it has."""
    package = part_of(archive, "Contents/content.hpf")
    said: dict[str, str] = {}
    for element in () if package is None else package.iter():
        if local_name(element) == "title":
            said["title"] = element.text or ""
        elif local_name(element) == "meta":
            said.setdefault(element.get("name", ""), element.text or "")
    values = {"author": said.get("creator", ""), "date": said.get("CreatedDate", "")[:10]}
    return metadata_from(values), one_line(said.get("title", ""))


class _Document:
    """Reads paragraphs, and collects what stands beside the text."""

    def __init__(self, head: Element | None) -> None:
        self.collected = Collected()
        self._levels = {
            style.get("id", ""): max(level_of(style.get(key, "")) for key in ("name", "engName"))
            for style in below(head, "style")
        }

    def paragraphs(self, around: Element) -> Iterator[Block]:
        """Yield the paragraphs in an element, those in lists and boxes as well."""
        for element in around:
            if local_name(element) == "p":
                yield from self._paragraph(element)
            else:
                yield from self.paragraphs(element)

    def _paragraph(self, element: Element) -> Iterator[Block]:
        """Yield a paragraph, then the tables and boxes in it."""
        beside: list[Block] = []
        pieces = [self._said(part, beside) for run in children(element, "run") for part in run]
        level = self._levels.get(element.get("styleIDRef", ""), 0)
        yield paragraph("".join(pieces), level=level)
        yield from beside

    def _said(self, part: Element, beside: list[Block]) -> str:
        """Return what a part says in its line; put blocks that it has ``beside`` the line."""
        kind = local_name(part)
        if kind == "t":
            return inline(_text(part))
        if kind == "tbl":
            beside += self._table(part)
        elif kind == "equation":
            return inline("".join(script.text or "" for script in children(part, "script")))
        elif kind == "ctrl":
            return "".join(self._control(control) for control in part)
        elif kind != "secPr":
            beside += self.paragraphs(part)
        return ""

    def _control(self, control: Element) -> str:
        kind = local_name(control)
        if kind in _NOTES:
            return self.collected.mark(self.paragraphs(control))
        if kind in _MARGINS:
            self.collected.margins += lines_of(self.paragraphs(control))
        elif kind == "hiddenComment":
            self.collected.comments.append(" ".join(lines_of(self.paragraphs(control))))
        elif kind == "autoNum" and control.get("numType") in _NUMBERED:
            return inline(control.get("num", ""))
        return ""

    def _table(self, table: Element) -> Iterator[Block]:
        """Yield the caption of a table, and the table."""
        cells: dict[tuple[int, int], list[Block]] = {}
        for number, row in enumerate(children(table, "tr")):
            for place, cell in enumerate(children(row, "tc")):
                address = child(cell, "cellAddr")
                at = (number, place) if address is None else _address(address, (number, place))
                cells[at] = list(self.paragraphs(cell))
        for caption in children(table, "caption"):
            yield from self.paragraphs(caption)
        yield from tabled(rows_of(cells))


def _address(element: Element, usual: tuple[int, int]) -> tuple[int, int]:
    row, column = element.get("rowAddr", ""), element.get("colAddr", "")
    return (int(row), int(column)) if row.isdecimal() and column.isdecimal() else usual


def _empty_deleted(section: Element) -> None:
    """Empty what tracked changes delete: the text between two marks, perhaps over paragraphs."""
    ends = Counter(mark.get("Id") for mark in below(section, "deleteEnd"))
    deletions: set[str | None] = set()
    for text in below(section, "t"):
        if deletions:
            text.text = None
        for mark in text:
            number = mark.get("Id")
            if local_name(mark) == "deleteBegin" and ends[number]:
                deletions.add(number)
            elif local_name(mark) == "deleteEnd":
                ends[number] -= 1
                deletions.discard(number)
            if deletions:
                mark.tail = None


def _text(part: Element) -> str:
    """Return a stretch of text with its line breaks and spaces, which are empty elements."""
    pieces = [part.text or ""]
    for inner in part:
        pieces += [_LETTERS.get(local_name(inner), ""), inner.tail or ""]
    return "".join(pieces)
