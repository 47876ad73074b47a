"""What a DOC file says of its paragraphs and characters: styles, tables, lists, what was deleted.

After "[MS-DOC]: Word (.doc) Binary File Format" of Microsoft.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragkit.reading.numerals import DEEPEST

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LOST = "\0"
"""What stands in the place of a character that is not to be read."""

_PAGE = 512
_PARAGRAPH_ENTRY, _CHARACTER_ENTRY = 13, 1
_OPERAND = {0: 1, 1: 1, 2: 2, 3: 4, 4: 2, 5: 2, 7: 3}
"""The size in bytes of a property's value, by the highest bits of its number."""

_TABLE_COLUMNS, _TAB_STOPS = 0xD608, 0xC615
_IN_TABLE, _ENDS_ROW, _DEEPER = 0x2416, 0x2417, 0x6649
_LIST, _DEPTH, _OUTLINE = 0x460B, 0x260A, 0x2640
_DELETED, _SYMBOL = 0x0800, 0x6A09
_ON = (b"\x01", b"\x81")
_TITLE, _HEADINGS = 62, range(1, 10)
_LISTS = (48, 49, *range(54, 62))
"""The styles named "List Bullet" and "List Number", of all levels."""

_DEEPEST_STYLE = 10


@dataclass(frozen=True, slots=True)
class Style:
    """How paragraphs look: the ``level`` of a heading, 1 to 9, or 0; an item of a list; in a table.

    ``list`` is the number of a list, 0 of none, and ``depth`` counts from 0. ``ends_row`` is true
    of the mark that ends a row of a table, ``nested`` of a table in a cell.
    """

    level: int = 0
    listed: bool = False
    list: int = 0
    depth: int = 0
    in_table: bool = False
    ends_row: bool = False
    nested: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """Bytes from ``start`` to before ``end`` of the text, and their properties by number."""

    start: int
    end: int
    style: int
    properties: Mapping[int, bytes]

    @property
    def instead(self) -> str | None:
        """Return the character that is shown for each of this run; ``None`` if it is its own.

        What was deleted is ``LOST``, as are characters that only a font of symbols has.
        """
        if _SYMBOL in self.properties:
            letter = chr(int.from_bytes(self.properties[_SYMBOL][2:], "little"))
            return LOST if "\ud800" <= letter <= "\uf8ff" else letter
        return LOST if self.properties.get(_DELETED) in _ON else None


def paragraph_runs(document: bytes, pages: bytes) -> list[Run]:
    """Return the paragraphs of a document in the order of their bytes."""
    return sorted(_runs(document, pages, _PARAGRAPH_ENTRY), key=lambda run: run.start)


def character_runs(document: bytes, pages: bytes) -> Iterator[Run]:
    """Yield the runs of characters that have properties of their own."""
    return (run for run in _runs(document, pages, _CHARACTER_ENTRY) if run.properties)


def style_of(run: Run, styles: Mapping[int, Style]) -> Style:
    """Return how a paragraph looks: as its style says, and what it says itself."""
    return _changed(styles.get(run.style, Style()), run.properties)


def styles_of(sheet: bytes) -> dict[int, Style]:
    """Return the styles of a style sheet, by their numbers in it."""
    if len(sheet) < 6:
        return {}
    size, count, base_size = struct.unpack_from("<HHH", sheet)
    kinds: dict[int, tuple[int, int]] = {}
    own: dict[int, Mapping[int, bytes]] = {}
    at = 2 + size
    for number in range(count):
        if at + 2 > len(sheet):
            break
        (length,) = struct.unpack_from("<H", sheet, at)
        body = sheet[at + 2 : at + 2 + length]
        at += 2 + length + length % 2
        if len(body) >= 6:
            kind, base = struct.unpack_from("<HH", body)
            kinds[number] = (kind & 0xFFF, base >> 4)
            own[number] = _properties_of_style(body, base_size) if base & 0xF == 1 else {}
    return {number: _style(number, kinds, own) for number in kinds}


def _style(
    number: int, kinds: Mapping[int, tuple[int, int]], own: Mapping[int, Mapping[int, bytes]]
) -> Style:
    """Return a style with what it has from the ones that it is based on."""
    line: list[int] = []
    while number in kinds and number not in line and len(line) < _DEEPEST_STYLE:
        line.append(number)
        number = kinds[number][1]
    style = Style()
    for ancestor in reversed(line):
        kind = kinds[ancestor][0]
        if kind in _HEADINGS or kind == _TITLE:
            style = replace(style, level=1 if kind == _TITLE else kind)
        elif kind in _LISTS:
            style = replace(style, listed=True)
        style = _changed(style, own[ancestor])
    return style


def _properties_of_style(body: bytes, base_size: int) -> Mapping[int, bytes]:
    """Return the properties of paragraphs of a style, which stand after its name."""
    if base_size + 2 > len(body):
        return {}
    (letters,) = struct.unpack_from("<H", body, base_size)
    at = base_size + 2 + 2 * letters + 2
    if at + 4 > len(body):
        return {}
    (size,) = struct.unpack_from("<H", body, at)
    return _properties(body[at + 4 : at + 2 + size])


def _changed(style: Style, properties: Mapping[int, bytes]) -> Style:
    if _OUTLINE in properties:
        outline = properties[_OUTLINE][0]
        style = replace(style, level=outline + 1 if outline + 1 in _HEADINGS else 0)
    if _LIST in properties:
        number = int.from_bytes(properties[_LIST], "little")
        style = replace(style, listed=bool(number), list=number)
    if _DEPTH in properties:
        style = replace(style, depth=min(properties[_DEPTH][0], DEEPEST - 1))
    return replace(
        style,
        in_table=any(properties.get(_IN_TABLE, b"")),
        ends_row=any(properties.get(_ENDS_ROW, b"")),
        nested=int.from_bytes(properties.get(_DEEPER, b""), "little") > 1,
    )


def _runs(document: bytes, pages: bytes, entry: int) -> Iterator[Run]:
    """Yield the runs that the formatted pages of a document list; damaged pages are left out."""
    count = (len(pages) - 4) // 8
    numbers = struct.iter_unpack("<I", pages[4 * (count + 1) :][: 4 * max(count, 0)])
    for (number,) in dict.fromkeys(numbers):
        start = (number & 0x3FFFFF) * _PAGE
        page = document[start : start + _PAGE]
        if len(page) < _PAGE:
            continue
        runs = page[-1]
        places = 4 * (runs + 1)
        if places + runs * entry >= _PAGE:
            continue
        ends = struct.unpack_from(f"<{runs + 1}I", page)
        for index in range(runs):
            at = 2 * page[places + index * entry]
            style, properties = _entry(page, at, entry) if at else (0, {})
            yield Run(ends[index], ends[index + 1], style, properties)


def _entry(page: bytes, at: int, entry: int) -> tuple[int, Mapping[int, bytes]]:
    """Return the style, which only paragraphs have, and the properties of a run."""
    if entry == _CHARACTER_ENTRY:
        return 0, _properties(page[at + 1 : at + 1 + page[at]])
    size, begin = (2 * page[at] - 1, at + 1) if page[at] else (2 * page[at + 1], at + 2)
    body = page[begin : begin + size]
    return int.from_bytes(body[:2], "little"), _properties(body[2:])


def _properties(listed: bytes) -> Mapping[int, bytes]:
    """Return values of properties by their numbers; what follows damage is left out."""
    found: dict[int, bytes] = {}
    at = 0
    while at + 3 <= len(listed):
        (number,) = struct.unpack_from("<H", listed, at)
        at += 2
        size = _OPERAND.get(number >> 13)
        if number == _TABLE_COLUMNS:
            size = int.from_bytes(listed[at : at + 2], "little") + 1
        elif size is None:
            size = 1 + listed[at]
            if number == _TAB_STOPS and listed[at] == 0xFF:
                break
        value = listed[at : at + size]
        if len(value) < size:
            break
        found[number] = value
        at += size
    return found
