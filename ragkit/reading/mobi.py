"""E-books of Mobipocket and of Kindles (MOBI, AZW, AZW3), and texts for Palm's PalmDOC."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from ragkit.reading.decode import clean, decode
from ragkit.reading.formats import Format
from ragkit.reading.html import to_markdown
from ragkit.reading.limits import MEGABYTE, damaged, protected, too_much_text
from ragkit.reading.markdown import metadata_from
from ragkit.reading.palm import HuffmanCodes, records_of, unpacked
from ragkit.reading.reading_parts import joined, one_line
from ragkit.reading.titles import choose
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ragkit.reading.limits import Limits
    from ragkit.types import Metadata

_KIND = slice(60, 68)
_PLAIN_TEXT = b"TEXtREAd"
_AS_IT_IS, _PALMDOC, _HUFFMAN = 1, 2, 17480
_ENCODINGS = {1252: "cp1252", 65001: "utf-8"}
_WITH_ABOUT, _NEWEST = 0x40, 8
_LARGEST_RECORD = 1 << 20
_AUTHOR, _PUBLISHER, _SUBJECT, _DATE, _BOUNDARY, _TITLE, _LANGUAGE = (
    100, 101, 105, 106, 121, 503, 524,
)  # fmt: skip
_PARTS = re.compile(
    r"<mbp:pagebreak\s*/?>(?:</mbp:pagebreak>)?|(?=<\?xml\s)|(?=<html[\s>])", re.IGNORECASE
)
_HULL = re.compile(
    r"<\?xml[^<>]*>|<!DOCTYPE[^<>]*>|<head\b[^<>]*>.*?</head\s*>|</?(?:html|body)\b[^<>]*>",
    re.IGNORECASE | re.DOTALL,
)
_WITHIN = re.compile(
    r"<a\s(?:[^<>]*?\s)?(?:filepos=|href=[\"']?(?:kindle:|#))[^<>]*>", re.IGNORECASE
)
"""A link to another place of the same book."""

_PICTURE = re.compile(
    r"<img\b(?:[^<>]*?\salt\s*=\s*(?:\"([^\"<>]*)\"|'([^'<>]*)'))?[^<>]*>", re.IGNORECASE
)
_LARGE = re.compile(
    r"<p\b[^<>]*>\s*<font size=\"?([4-7])\"?>\s*<b>((?:(?!</?(?:p|b)\b).){1,200})</b>\s*</font>"
    r"\s*</p>",
    re.IGNORECASE | re.DOTALL,
)
_LEVELS = {"7": 1, "6": 2, "5": 2, "4": 3}
"""Large bold lines, as which headings are written in books of the older form."""


@dataclass(slots=True)
class _Book:
    """The head of a book: where its texts are, and what it says of itself by kinds of notes."""

    records: Sequence[bytes]
    packing: int
    count: int
    locked: bool = False
    encoding: str = "cp1252"
    version: int = 0
    trailing: int = 0
    codes: tuple[int, int] = (0, 0)
    flows: int = 0
    name: str = ""
    about: dict[int, list[bytes]] = field(default_factory=dict)

    @classmethod
    def of(cls, records: Sequence[bytes]) -> Self:
        """Return the head of the book whose records these are.

        Raises:
            struct.error, IndexError: it breaks off.
        """
        head = records[0]
        packing, _, _, count, _, encryption = struct.unpack_from(">HHIHHH", head)
        book = cls(records, packing, count)
        if head[16:20] != b"MOBI":
            return book
        book.locked = encryption != 0
        length, _, encoding, _, book.version = struct.unpack_from(">5I", head, 20)
        book.encoding = _ENCODINGS.get(encoding, "cp1252")
        place, size = struct.unpack_from(">II", head, 84)
        book.name = head[place : place + size].decode(book.encoding, "replace")
        book.codes = struct.unpack_from(">II", head, 112)
        if length >= 228:
            (book.trailing,) = struct.unpack_from(">H", head, 242)
        if book.version >= _NEWEST and length >= 184:
            (book.flows,) = struct.unpack_from(">I", head, 192)
        if struct.unpack_from(">I", head, 128)[0] & _WITH_ABOUT:
            book.about = _notes(head[16 + length :])
        return book

    def said(self, kind: int) -> list[str]:
        """Return what the book says of itself under a kind of notes."""
        notes = (note.decode(self.encoding, "replace") for note in self.about.get(kind, ()))
        return [line for note in notes if (line := one_line(clean(note)))]

    def stored(self, limits: Limits) -> bytes:
        """Return the bytes of the text, which is HTML where it is a book.

        Raises:
            ReadingError: damaged, protected against copying, or longer than a text may be.
        """
        if self.locked:
            raise protected()
        if self.packing not in (_AS_IT_IS, _PALMDOC, _HUFFMAN):
            raise damaged(Format.MOBI.label)
        pieces, left = [], int(limits.max_text_mb * MEGABYTE)
        unpack = self._codes().unpacked if self.packing == _HUFFMAN else unpacked
        for record in self.records[1 : 1 + self.count]:
            packed = _without_trailing(record, self.trailing)
            pieces.append(packed if self.packing == _AS_IT_IS else unpack(packed))
            left -= len(pieces[-1])
            if left < 0:
                raise too_much_text(limits)
        return b"".join(pieces)[: self._end_of_text()]

    def _codes(self) -> HuffmanCodes:
        first, count = self.codes
        return HuffmanCodes(
            self.records[first], self.records[first + 1 : first + count], _LARGEST_RECORD
        )

    def _end_of_text(self) -> int | None:
        """Return where the text ends and style sheets and drawings begin; ``None`` for nowhere."""
        if not 0 < self.flows < len(self.records):
            return None
        flows = self.records[self.flows]
        return struct.unpack_from(">I", flows, 16)[0] if flows[:4] == b"FDST" else None


def read_mobi(data: bytes, name: str, limits: Limits) -> Reading:
    """Read an e-book or a text for Palm's PalmDOC.

    Raises:
        ReadingError: damaged, protected against copying, or too long.
    """
    try:
        book = _newest(records_of(data))
        stored = book.stored(limits)
    except (struct.error, IndexError) as error:
        raise damaged(Format.MOBI.label) from error
    if data[_KIND] == _PLAIN_TEXT:
        text, warnings = decode(stored)
        called = data[:32].partition(b"\0")[0].decode("cp1252", "replace").replace("_", " ")
        return Reading(clean(text), one_line(clean(called)), Format.MOBI, warnings=warnings)
    parts = _parts(clean(stored.decode(book.encoding, "replace")))
    return Reading(
        text=joined((to_markdown(part, Format.MOBI.label) for part in parts), "\n\n"),
        title=choose([*book.said(_TITLE), one_line(clean(book.name))], name),
        format=Format.MOBI,
        markup=Markup.MARKDOWN,
        language="".join(book.said(_LANGUAGE)[:1])[:2].lower(),
        metadata=_metadata(book),
    )


def _newest(records: Sequence[bytes]) -> _Book:
    """Return the book, in its newer form where a file has two."""
    book = _Book.of(records)
    boundary = int.from_bytes(book.about.get(_BOUNDARY, [b""])[0], "big")
    return _Book.of(records[boundary:]) if 0 < boundary < len(records) else book


def _notes(stored: bytes) -> dict[int, list[bytes]]:
    """Return the notes about a book by their kinds."""
    found: dict[int, list[bytes]] = {}
    if stored[:4] != b"EXTH":
        return found
    (count,) = struct.unpack_from(">I", stored, 8)
    at = 12
    for _ in range(min(count, len(stored) // 8)):
        kind, size = struct.unpack_from(">II", stored, at)
        found.setdefault(kind, []).append(stored[at + 8 : at + size])
        at += max(size, 8)
    return found


def _without_trailing(record: bytes, flags: int) -> bytes:
    """Return a record without what follows its text, each piece of which ends with its size."""
    for _ in range((flags >> 1).bit_count()):
        size = 0
        for byte in record[-4:]:
            size = (0 if byte & 0x80 else size) << 7 | byte & 0x7F
        record = record[: len(record) - size]
    if flags & 1 and record:
        record = record[: len(record) - (record[-1] & 3) - 1]
    return record


def _parts(text: str) -> Iterator[str]:
    """Yield the parts of a book, such as chapters, without what holds them together."""
    for part in _PARTS.split(text):
        if bare := _WITHIN.sub("<a>", _HULL.sub("", part)).strip():
            yield _LARGE.sub(_heading, _PICTURE.sub(_said_of, bare))


def _said_of(picture: re.Match[str]) -> str:
    return picture[1] or picture[2] or ""


def _heading(line: re.Match[str]) -> str:
    level = _LEVELS[line[1]]
    return f"<h{level}>{line[2]}</h{level}>"


def _metadata(book: _Book) -> Metadata:
    return metadata_from(
        {
            "author": joined(book.said(_AUTHOR), ", "),
            "date": next(iter(book.said(_DATE)), ""),
            "tags": book.said(_SUBJECT),
            "publisher": next(iter(book.said(_PUBLISHER)), ""),
        }
    )
