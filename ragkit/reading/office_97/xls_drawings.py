"""Text boxes and titles of charts in workbooks of Excel 97 to 2003, which xlrd does not read.

After "[MS-XLS]: Excel Binary File Format (.xls) Structure" of Microsoft.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from ragkit.reading.decode import clean
from ragkit.reading.reading_parts import whole_line

if TYPE_CHECKING:
    from collections.abc import Iterator

_BEGIN, _END, _SHEET, _CONTINUED = 0x809, 0x0A, 0x85, 0x3C
_OBJECT, _TEXT_BOX = 0x5D, 0x1B6
_BLOCK, _END_OF_BLOCK, _LABEL, _WORDS = 0x1033, 0x1034, 0x1025, 0x100D
_TAKEN = frozenset((
    _BEGIN, _END, _SHEET, _CONTINUED, _OBJECT, _TEXT_BOX, _BLOCK, _END_OF_BLOCK, _LABEL, _WORDS,
))  # fmt: skip
_NOTE = 0x19


def drawn_on_sheets(cells: bytes) -> dict[str, list[str]]:
    """Return the paragraphs of text boxes, and the titles of charts, by the name of their sheet.

    ``cells`` is the stream of a workbook. Those of older versions have other records, and none of
    them for a sheet of this name.
    """
    reader = _Reader()
    for start, kind, content in _records(cells):
        reader.take(start, kind, content)
    return {name: [*map(whole_line, lines)] for name, lines in reader.found.items()}


def _records(cells: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield where each record starts that tells of what is drawn, its kind, and its content."""
    head, at, last = struct.Struct("<HH").unpack_from, 0, len(cells) - 4
    while at <= last:
        kind, size = head(cells, at)
        if kind in _TAKEN:
            yield at, kind, cells[at + 4 : at + 4 + size]
        at += 4 + size


class _Reader:
    """Takes the records of a workbook, and keeps what is drawn on its sheets."""

    def __init__(self) -> None:
        self.found: dict[str, list[str]] = {}
        self._names: dict[int, str] = {}
        self._parts: list[list[str]] = [[]]
        self._titles: list[str] = []
        self._blocks: list[int] = []
        self._before = self._object = self._left = 0
        self._box = ""

    def take(self, start: int, kind: int, content: bytes) -> None:
        """Take the next record."""
        if kind == _SHEET and len(content) > 8:
            at = int.from_bytes(content[:4], "little")
            self._names[at] = _words(content[7:], content[6])
        elif kind == _BEGIN:
            named = self._names.get(start)
            part = self._parts[-1] if named is None else self.found.setdefault(named, [])
            self._parts.append(part)
        elif kind == _END and len(self._parts) > 1:
            self._parts.pop().extend(filter(None, [" ".join(self._titles)]))
            self._titles = []
        elif kind == _OBJECT:
            self._object = int.from_bytes(content[4:6], "little")
        else:
            self._take_text(kind, content)
        self._before = kind

    def _take_text(self, kind: int, content: bytes) -> None:
        if kind == _TEXT_BOX:
            is_note = self._object == _NOTE
            self._left = 0 if is_note else int.from_bytes(content[10:12], "little")
            self._box = ""
        elif kind == _CONTINUED and self._left:
            words = _words(content, self._left)
            self._box += words
            self._left -= len(words) or self._left
            if not self._left:
                self._parts[-1] += filter(str.strip, clean(self._box).splitlines())
        elif kind == _BLOCK:
            self._blocks.append(self._before)
        elif kind == _END_OF_BLOCK and self._blocks:
            self._blocks.pop()
        elif kind == _WORDS and len(content) > 3 and self._blocks[-1:] == [_LABEL]:
            self._titles.append(clean(_words(content[3:], content[2])))


def _words(content: bytes, count: int) -> str:
    """Return that many letters, before which a byte says whether each has two bytes."""
    if content[:1] and content[0] & 1:
        return content[1 : 1 + 2 * count].decode("utf-16-le", "replace")
    return content[1 : 1 + count].decode("latin-1")
