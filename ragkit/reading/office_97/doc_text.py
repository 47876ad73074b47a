"""The text of a DOC file: its pieces put together, and the parts that it consists of.

After "[MS-DOC]: Word (.doc) Binary File Format" of Microsoft. Word 6 and 95 wrote the same with
narrower tables, all in one stream, in the code page of their language.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from dataclasses import dataclass
from enum import IntEnum
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Self

from ragkit.reading.decode import decode
from ragkit.reading.fields import drawn_by_field, target_of_field
from ragkit.reading.formats import Format
from ragkit.reading.limits import damaged, locked, too_old
from ragkit.reading.office_97.doc_numbering import lists_of
from ragkit.reading.office_97.doc_properties import (
    LOST,
    Style,
    character_runs,
    paragraph_runs,
    style_of,
    styles_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from olefile import OleFileIO

    from ragkit.reading.numerals import NumberedList

_WORD_97 = 0xA5EC
_WORD_95 = (0xA5DC, 0xA697, 0xA698, 0xA699)
_IN_PIECES, _ENCRYPTED, _SECOND_TABLE, _IN_UNITS = 0x4, 0x100, 0x200, 0x1000
_NARROW = 1 << 30
_CODE_PAGES = {
    0x01: "cp1256", 0x02: "cp1251", 0x05: "cp1250", 0x08: "cp1253", 0x0D: "cp1255", 0x0E: "cp1250",
    0x11: "cp932", 0x12: "cp949", 0x15: "cp1250", 0x18: "cp1250", 0x19: "cp1251", 0x1B: "cp1250",
    0x1E: "cp874", 0x1F: "cp1254", 0x22: "cp1251", 0x24: "cp1250", 0x25: "cp1257", 0x26: "cp1257",
    0x27: "cp1257",
}  # fmt: skip
"""The code pages of Word 6 and 95, by the lower part of the number of a language."""

_GUESSED = ("cp1252", "cp1251", "cp1250", "cp1253", "cp1254", "cp1255", "cp1256")
_MACINTOSH = 1
_CONTROLS = bytes(range(32))
_CHINESE = {0x0404: "cp950", 0x0C04: "cp950", 0x0804: "cp936", 0x1004: "cp936"}
_EAST_ASIAN = {0xA697: ("cp932",), 0xA698: ("cp949",), 0xA699: ("cp936", "cp950")}
"""What Word 6 and 95 may have written in Japan, in Korea, and where Chinese is spoken."""

_WESTERN = 0x10
_PARTS = 8
_UNKNOWN = "\ufffd"
_FIELD = re.compile("[\x13-\x15]")
_FIELD_BEGINS, _RESULT_BEGINS = "\x13", "\x14"
_SIGNS_IN_LINKS = re.compile(r"[\x00-\x1f]")
_PARAGRAPH_ENDS = re.compile(r"[\r\x07\f]|\Z")
_READABLE = {
    **dict.fromkeys(range(32)), 0x9: "\t", 0xB: "\n", 0xE: "\n", 0x1E: "-",
}  # fmt: skip
"""Line breaks and hyphens of Word; its other signs stand for what is no text."""


class Part(IntEnum):
    """The parts of a text, in the order in which they follow each other."""

    BODY = 0
    FOOTNOTES = 1
    MARGINS = 2
    COMMENTS = 4
    ENDNOTES = 5
    BOXES = 6
    MARGIN_BOXES = 7


class Table(IntEnum):
    """The tables of a file that are read, by their places in its head."""

    STYLES = 1
    FOOTNOTE_MARKS = 2
    FOOTNOTES = 3
    COMMENT_MARKS = 4
    COMMENTS = 5
    MARGINS = 11
    CHARACTERS = 12
    PARAGRAPHS = 13
    PIECES = 33
    AUTHORS = 36
    DRAWINGS = 40
    ENDNOTE_MARKS = 46
    ENDNOTES = 47
    BOXES = 56
    LISTS = 73
    OVERRIDES = 74


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph from ``start`` to ``end``, where its ``mark`` is."""

    start: int
    end: int
    mark: str
    style: Style


@dataclass(frozen=True, slots=True)
class _Head:
    """The head of a file; ``tables`` is where the list of tables is.

    Word 6 and 95 are ``old``. In East Asia they wrote two bytes for each character, in one of the
    ``code_pages``; others wrote one byte, and have none here.
    """

    old: bool
    code_pages: tuple[str, ...]
    language: int
    flags: int
    machine: int
    begin: int
    lengths: tuple[int, ...]
    tables: int

    @classmethod
    def of(cls, document: bytes) -> Self:
        kind, _, _, language, _, flags = struct.unpack_from("<6H", document)
        if kind != _WORD_97 and kind not in _WORD_95:
            raise too_old("Word", "6.0", ".docx")
        if flags & _ENCRYPTED:
            raise locked(Format.DOC.label)
        old = kind != _WORD_97
        lengths = struct.unpack_from(f"<{_PARTS}i", document, 0x34 if old else 0x4C)
        if min(lengths) < 0:
            raise damaged(Format.DOC.label)
        (begin,) = struct.unpack_from("<I", document, 0x18)
        tables = 0x58 if old else 0x9A
        pages = _EAST_ASIAN.get(kind, ()) if flags & _IN_UNITS else ()
        return cls(old, pages, language, flags, document[0x12], begin, lengths, tables)

    @property
    def table_stream(self) -> str:
        if self.old:
            return "WordDocument"
        return "1Table" if self.flags & _SECOND_TABLE else "0Table"

    def encoding(self, sample: bytes) -> str:
        """Return the encoding of a text of Word 6 or 95, which may be none of its language."""
        if self.machine == _MACINTOSH:
            return "mac_roman"
        by_language = _CODE_PAGES.get(self.language & 0xFF)
        if encoding := _CHINESE.get(self.language) or by_language:
            return encoding
        stored = sample.translate(None, _CONTROLS)
        likeliest, _ = decode(stored)
        return next(
            (one for one in _GUESSED if stored.decode(one, "replace") == likeliest), "cp1252"
        )


@dataclass(frozen=True, slots=True)
class _Piece:
    """Characters from ``start`` to before ``end``, of ``width`` bytes, stored from ``place`` on."""

    start: int
    end: int
    place: int
    width: int

    def at(self, stored: int) -> int:
        """Return the place in the text of a stored byte, or the nearest in this piece."""
        return min(self.start + max(stored - self.place, 0) // self.width, self.end)


class DocText:
    """The text of a DOC file, without what was deleted and without the codes of fields.

    Places in it count as Word does, over all parts: units of UTF-16, in Word 6 and 95 characters of
    one or two bytes.
    ``links`` are pieces of Markdown by the places of the signs in whose place they stand.
    """

    def __init__(self, file: OleFileIO) -> None:
        """Read the text.

        Raises:
            ReadingError: damaged, locked, or older than Word 6.
        """
        try:
            self._document = file.openstream("WordDocument").read()
            self._head = _Head.of(self._document)
            self._stream = file.openstream(self._head.table_stream).read()
            self._pieces = self._read_pieces()
            size = sum((piece.end - piece.start) * piece.width for piece in self._pieces)
            if size > len(self._document) or any(one.end < one.start for one in self._pieces):
                raise damaged(Format.DOC.label)
            self._text, self.links = self._read_text()
            in_bytes = self._head.old and not self._head.code_pages
            sample = self._text.encode("latin-1") if in_bytes else b""
            self._encoding = self._head.encoding(sample) if in_bytes else ""
            self._styles = styles_of(self._wide(Table.STYLES))
            self._runs = paragraph_runs(self._document, self._wide(Table.PARAGRAPHS))
        except (struct.error, IndexError, OSError) as error:
            raise damaged(Format.DOC.label) from error

    def span(self, part: Part) -> tuple[int, int]:
        """Return where a part begins and ends."""
        ends = [0, *accumulate(self._head.lengths)]
        return ends[part], ends[part + 1]

    def places(self, table: Table, size: int) -> tuple[Sequence[int], Sequence[bytes]]:
        """Return the places and the entries, of ``size`` bytes each, of a table."""
        data = self.stored(table)
        count = max((len(data) - 4) // (4 + size), 0)
        places = struct.unpack_from(f"<{count + 1}I", data) if len(data) >= 4 else ()
        rest = data[4 * (count + 1) :]
        return places, [rest[size * n : size * (n + 1)] for n in range(count)]

    def stored(self, wanted: Table) -> bytes:
        """Return the bytes of a table; none where the file does not have it."""
        start, size = self._place_of(wanted)
        table: bytes = self._stream[start : start + size]
        return table

    def lists(self) -> dict[int, NumberedList]:
        """Return the lists by the numbers that the styles of paragraphs know them by."""
        if self._head.old or not self.stored(Table.LISTS) or not self.stored(Table.OVERRIDES):
            return {}
        (lists, _), (overrides, _) = map(self._place_of, (Table.LISTS, Table.OVERRIDES))
        return lists_of(self._stream, lists, overrides)

    def paragraphs(self, start: int, end: int) -> Iterator[Paragraph]:
        """Yield the paragraphs of a stretch of the text."""
        begin = start
        for mark in _PARAGRAPH_ENDS.finditer(self._text[start:end]):
            at = begin + mark.start()
            yield Paragraph(start, at, mark[0], self._style(at))
            start = at + 1

    def readable(self, start: int, end: int) -> str:
        """Return a stretch of the text as it is read, without Word's signs."""
        text = self._text[start:end].translate(_READABLE)
        if self._encoding:
            return text.encode("latin-1").decode(self._encoding, "replace")
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    def _style(self, at: int) -> Style:
        """Return how the paragraph looks whose mark is at a place."""
        index = bisect_right(self._pieces, at, key=lambda piece: piece.start) - 1
        if index < 0:
            return Style()
        piece = self._pieces[index]
        stored = piece.place + (at - piece.start) * piece.width
        number = bisect_right(self._runs, stored, key=lambda run: run.start) - 1
        if number < 0 or stored >= self._runs[number].end:
            return Style()
        return style_of(self._runs[number], self._styles)

    def _place_of(self, table: Table) -> tuple[int, int]:
        """Return where a table begins, and its size: 0 where the file does not have it."""
        at = self._head.tables + 8 * table
        if (self._head.old and table > Table.PIECES) or at + 8 > len(self._document):
            return 0, 0
        start, size = struct.unpack_from("<II", self._document, at)
        return start, size

    def _wide(self, table: Table) -> bytes:
        """Return a table that is only understood as Word 97 and later write it."""
        return b"" if self._head.old else self.stored(table)

    def _read_pieces(self) -> list[_Piece]:
        if self._head.old and not self._head.flags & _IN_PIECES:
            return [self._piece(0, sum(self._head.lengths), self._head.begin)]
        data, at = self.stored(Table.PIECES), 0
        while data[at] == 1:
            at += 3 + int.from_bytes(data[at + 1 : at + 3], "little")
        data = data[at + 5 :]
        count = (len(data) - 4) // 12
        places = struct.unpack_from(f"<{count + 1}I", data)
        entries = struct.iter_unpack("<HIH", data[4 * (count + 1) :][: 8 * count])
        return [
            self._piece(start, end, place)
            for (start, end), (_, place, _) in zip(pairwise(places), entries, strict=True)
        ]

    def _piece(self, start: int, end: int, place: int) -> _Piece:
        if self._head.old:
            return _Piece(start, end, place, 2 if self._head.code_pages else 1)
        if place & _NARROW:
            return _Piece(start, end, (place & (_NARROW - 1)) // 2, 1)
        return _Piece(start, end, place, 2)

    def _read_text(self) -> tuple[str, dict[int, str]]:
        """Return the text of all parts, a character for each place, and its links."""
        letters: list[str] = []
        for piece in self._pieces:
            count = piece.end - piece.start
            stored = self._document[piece.place : piece.place + count * piece.width]
            if piece.width == 2:
                units = struct.unpack_from(f"<{len(stored) // 2}H", stored)
                pages = self._head.code_pages
                text = _east_asian(units, pages) if pages else "".join(map(chr, units))
            else:
                text = stored.decode("latin-1" if self._head.old else "cp1252", "replace")
            # What the file has lost counts as well, so that the rest keeps its places.
            letters += text.ljust(count, LOST)
        by_place = sorted(self._pieces, key=lambda piece: piece.place)
        for run in character_runs(self._document, self._wide(Table.CHARACTERS)):
            if (instead := run.instead) is None:
                continue
            first = bisect_right(by_place, run.start, key=lambda piece: piece.place) - 1
            for piece in by_place[max(first, 0) :]:
                if piece.place >= run.end:
                    break
                start, end = piece.at(run.start), piece.at(run.end)
                letters[start:end] = instead * (end - start)
        return _fields("".join(letters))


def _east_asian(units: Sequence[int], code_pages: Sequence[str]) -> str:
    """Return the characters of units in the code page that has the most of them.

    Signs of the West, such as quotation marks, are marked as such.
    """
    texts = []
    for page in code_pages:
        known = {unit: _character(unit, page) for unit in set(units)}
        texts.append("".join(map(known.__getitem__, units)))
    return min(texts, key=lambda text: text.count(_UNKNOWN))


def _character(unit: int, code_page: str) -> str:
    if unit >> 8 == _WESTERN:
        unit, code_page = unit & 0xFF, "cp1252"
    text = unit.to_bytes(2 if unit > 0xFF else 1, "big").decode(code_page, "ignore")
    return text if len(text) == 1 else _UNKNOWN


def _fields(text: str) -> tuple[str, dict[int, str]]:
    """Return a text in which the codes of fields, but not their results, are lost; and its links.

    Those are pieces of Markdown by the places of the signs in whose place they stand. Of a field
    that is drawn, what Word draws stands in the place of its code.
    """
    letters = list(text)
    links: dict[int, str] = {}
    begun: list[tuple[int, str]] = []
    for sign in _FIELD.finditer(text):
        at = sign.start()
        if sign[0] == _FIELD_BEGINS:
            begun.append((at, ""))
        elif begun:
            start, target = begun.pop()
            if text[start] == _FIELD_BEGINS:
                drawn = drawn_by_field(text[start + 1 : at])
                letters[start:at] = drawn[: at - start].ljust(at - start, LOST)
            if sign[0] == _RESULT_BEGINS:
                begun.append((at, target_of_field(text[start + 1 : at])))
            elif target and _is_title(text[start + 1 : at], target):
                links |= {start: "[", at: f"]({target})"}
    return "".join(letters), links


def _is_title(text: str, target: str) -> bool:
    """Return whether a link shows other text than its target, on one line."""
    return bool(text.strip()) and text not in target and not _SIGNS_IN_LINKS.search(text)
