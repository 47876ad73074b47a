"""Documents of Hangul from version 5 on (HWP): compound files of streams of nested records.

After "Hwp Document File Formats 5.0" of Hancom.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragkit.reading.blocks import Block, inline, paragraph, tabled
from ragkit.reading.formats import Format
from ragkit.reading.hangul.collected import Collected, level_of, lines_of, rows_of
from ragkit.reading.limits import damaged, locked, too_much_text
from ragkit.reading.office_97.compound import opened
from ragkit.reading.zip_container import most_markup

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from olefile import OleFileIO

    from ragkit.reading.limits import Limits
    from ragkit.types import Reading

_PACKED, _WITH_PASSWORD, _ONLY_SHOWN = 1, 2, 4
_STYLE, _PARAGRAPH, _TEXT, _CONTROL, _LIST, _TABLE, _EQUATION = 26, 66, 67, 71, 72, 77, 88
_LONG = 0xFFF
_TAB, _LINE_BREAK, _HYPHEN, _SPACES = 9, 10, 24, (30, 31)
_NUMBERED = (3, 4, 5)
"""Pictures, tables and formulas; notes and pages have other numbers here."""

_WITH_RECORD = frozenset((1, 2, 3, 11, 12, 14, 15, 16, 17, 18, 21, 22, 23))
"""Signs in a text each of which has a record of its own, in the same order."""

_WIDE = _WITH_RECORD | frozenset((4, 5, 6, 7, 8, 9, 19, 20))
_WIDTH = 8
"""How many units those signs take, and others that say something themselves."""


@dataclass(slots=True)
class _Record:
    """A record, and those that belong to it."""

    tag: int
    data: bytes
    inside: list[_Record] = field(default_factory=list)


def read_hwp(data: bytes, name: str, limits: Limits) -> Reading:
    """Read a document with its notes, headers, footers and comments at the end.

    Raises:
        ReadingError: damaged, locked, or too long.
    """
    label = Format.HWP.label
    try:
        with opened(data, label) as file:
            flags = struct.unpack_from("<I", file.openstream("FileHeader").read(), 36)[0]
            if flags & (_WITH_PASSWORD | _ONLY_SHOWN):
                raise locked(label)
            stored = [_stream(file, part, flags, limits) for part in ("DocInfo", *_sections(file))]
        about, *sections = map(_records, stored)
        document = _Document(about)
        blocks = [block for section in sections for block in document.paragraphs(section)]
    except (struct.error, zlib.error, IndexError, OSError) as error:
        raise damaged(label) from error
    return document.collected.reading(blocks, ({}, ""), (name, Format.HWP), limits)


def _sections(file: OleFileIO) -> list[str]:
    """Return the streams of the text in their order."""
    numbers = (
        parts[1].removeprefix("Section")
        for parts in file.listdir()
        if len(parts) == 2 and parts[0] == "BodyText"
    )
    return [
        f"BodyText/Section{number}" for number in sorted(map(int, filter(str.isdecimal, numbers)))
    ]


def _stream(file: OleFileIO, part: str, flags: int, limits: Limits) -> bytes:
    stored: bytes = file.openstream(part).read()
    if not flags & _PACKED:
        return stored
    most = most_markup(limits)
    unpacked = zlib.decompressobj(-15).decompress(stored, most + 1)
    if len(unpacked) > most:
        raise too_much_text(limits)
    return unpacked


def _records(stream: bytes) -> list[_Record]:
    """Return the records of a stream that belong to no other."""
    top = _Record(0, b"")
    around = [top]
    at = 0
    while at + 4 <= len(stream):
        (head,) = struct.unpack_from("<I", stream, at)
        tag, level, size = head & 0x3FF, head >> 10 & 0x3FF, head >> 20
        at += 4
        if size == _LONG:
            (size,) = struct.unpack_from("<I", stream, at)
            at += 4
        record = _Record(tag, stream[at : at + size])
        at += size
        del around[level + 1 :]
        around[-1].inside.append(record)
        around.append(record)
    return top.inside


class _Document:
    """Reads paragraphs, and collects what stands beside the text."""

    def __init__(self, about: Iterable[_Record]) -> None:
        self.collected = Collected()
        styles = (record.data for record in _all(about) if record.tag == _STYLE)
        self._levels = [max(map(level_of, _names(style))) for style in styles]

    def paragraphs(self, records: Iterable[_Record]) -> Iterator[Block]:
        """Yield the paragraphs among records, and in the records of boxes."""
        for record in records:
            if record.tag == _PARAGRAPH:
                yield from self._paragraph(record)
            else:
                yield from self.paragraphs(record.inside)

    def _paragraph(self, record: _Record) -> Iterator[Block]:
        """Yield a paragraph, then the tables and boxes in it."""
        style = record.data[10] if len(record.data) > 10 else 0
        level = self._levels[style] if style < len(self._levels) else 0
        controls = [inside for inside in record.inside if inside.tag == _CONTROL]
        stored = next((inside.data for inside in record.inside if inside.tag == _TEXT), b"")
        pieces: list[str] = []
        beside: list[Block] = []
        left = iter(controls)
        for piece in _pieces(stored):
            if piece is not None:
                pieces.append(inline(piece))
            elif (control := next(left, None)) is not None:
                pieces.append(self._control(control, beside))
        yield paragraph("".join(pieces), level=level)
        yield from beside

    def _control(self, control: _Record, beside: list[Block]) -> str:
        """Return what a control says in its line; put blocks that it has ``beside`` the line."""
        kind = control.data[3::-1].decode("latin-1")
        if kind == "tbl ":
            beside += self._table(control)
        elif kind == "gso ":
            beside += self.paragraphs(control.inside)
        elif kind in ("fn  ", "en  "):
            return self.collected.mark(self.paragraphs(control.inside))
        elif kind in ("head", "foot"):
            self.collected.margins += lines_of(self.paragraphs(control.inside))
        elif kind == "tcmt":
            self.collected.comments.append(" ".join(lines_of(self.paragraphs(control.inside))))
        elif kind == "atno" and len(control.data) >= 10:
            properties, number = struct.unpack_from("<IH", control.data, 4)
            return str(number) if properties & 0xF in _NUMBERED else ""
        elif kind == "eqed":
            return inline(_equation(control))
        return ""

    def _table(self, control: _Record) -> Iterator[Block]:
        """Yield the caption of a table, and the table."""
        cells: dict[tuple[int, int], list[Block]] = {}
        cell: list[Block] = []
        begun = False
        for record in control.inside:
            if record.tag == _TABLE:
                begun = True
            elif record.tag == _LIST and begun and len(record.data) >= 12:
                column, row = struct.unpack_from("<HH", record.data, 8)
                cell = cells.setdefault((row, column), [])
            elif record.tag == _PARAGRAPH:
                if begun:
                    cell += self._paragraph(record)
                else:
                    yield from self._paragraph(record)
        yield from tabled(rows_of(cells))


def _all(records: Iterable[_Record]) -> Iterator[_Record]:
    for record in records:
        yield record
        yield from _all(record.inside)


def _names(style: bytes) -> Iterator[str]:
    """Yield the names of a style, in Korean and in English."""
    at = 0
    for _ in range(2):
        (size,) = struct.unpack_from("<H", style, at)
        yield style[at + 2 : at + 2 + 2 * size].decode("utf-16-le", "replace")
        at += 2 + 2 * size


def _equation(control: _Record) -> str:
    """Return the source of a formula."""
    stored = next((inside.data for inside in control.inside if inside.tag == _EQUATION), b"")
    size = struct.unpack_from("<H", stored, 4)[0] if len(stored) >= 6 else 0
    return stored[6 : 6 + 2 * size].decode("utf-16-le", "replace")


def _pieces(stored: bytes) -> Iterator[str | None]:
    """Yield the stretches of a text; ``None`` for a sign that has a record."""
    units = struct.unpack(f"<{len(stored) // 2}H", stored[: len(stored) // 2 * 2])
    begun: list[int] = []
    at = 0
    while at < len(units):
        unit = units[at]
        at += _WIDTH if unit in _WIDE else 1
        if unit >= 32:
            begun.append(unit)
        elif unit in _WITH_RECORD:
            yield _decoded(begun)
            begun = []
            yield None
        elif unit in (_TAB, *_SPACES):
            begun.append(0x20)
        elif unit == _LINE_BREAK:
            begun.append(unit)
        elif unit == _HYPHEN:
            begun.append(0x2D)
    yield _decoded(begun)


def _decoded(units: list[int]) -> str:
    return struct.pack(f"<{len(units)}H", *units).decode("utf-16-le", "replace")
