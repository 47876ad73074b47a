"""The lists of a DOC file: which numbers stand before its headings and items.

After "[MS-DOC]: Word (.doc) Binary File Format" of Microsoft.
"""

from __future__ import annotations

import struct
from contextlib import suppress

from ragkit.reading.numerals import DEEPEST, Level, NumberedList

_LIST, _LEVEL, _OVERRIDE, _CHANGE = 28, 28, 16, 8
"""The sizes in bytes of a list, of the head of a level, of an override, and of its changes."""

_KINDS = {0: "decimal", 1: "upperRoman", 2: "lowerRoman", 3: "upperLetter", 4: "lowerLetter",
          22: "decimalZero", 23: "bullet", 255: "none"}  # fmt: skip
_HAS_ONE_LEVEL, _STARTS, _IS_LEVEL = 0x1, 0x10, 0x20


def lists_of(stream: bytes, lists: int, overrides: int) -> dict[int, NumberedList]:
    """Return the lists by the numbers that paragraphs know them by, from 1.

    ``lists`` and ``overrides`` are where their tables begin. What is damaged is left out.
    """
    found: dict[int, NumberedList] = {}
    with suppress(struct.error, IndexError):
        levels = _levels(stream, lists)
        counters: dict[int, dict[int, int]] = {}
        (count,) = struct.unpack_from("<I", stream, overrides)
        changes = overrides + 4 + _OVERRIDE * count
        for number in range(count):
            at = overrides + 4 + _OVERRIDE * number
            (identity,) = struct.unpack_from("<i", stream, at)
            listed = NumberedList(dict(levels.get(identity, {})), counters.setdefault(identity, {}))
            found[number + 1] = listed
            changes = _change(stream, changes, stream[at + 12], listed)
    return found


def _levels(stream: bytes, at: int) -> dict[int, dict[int, Level]]:
    """Return the levels of lists by the identities of these."""
    (count,) = struct.unpack_from("<h", stream, at)
    place = at + 2 + _LIST * max(count, 0)
    levels: dict[int, dict[int, Level]] = {}
    for number in range(count):
        head = at + 2 + _LIST * number
        (identity,) = struct.unpack_from("<i", stream, head)
        levels[identity] = {}
        for level in range(1 if stream[head + 26] & _HAS_ONE_LEVEL else DEEPEST):
            levels[identity][level], place = _level(stream, place)
    return levels


def _level(stream: bytes, at: int) -> tuple[Level, int]:
    """Return a level, and where the next one begins."""
    start, kind = struct.unpack_from("<iB", stream, at)
    at += _LEVEL + stream[at + 24] + stream[at + 25]
    (letters,) = struct.unpack_from("<H", stream, at)
    text = stream[at + 2 : at + 2 + 2 * letters].decode("utf-16-le", "replace")
    named = "".join(f"%{ord(letter) + 1}" if letter < "\t" else letter for letter in text)
    return Level(start, _KINDS.get(kind, "decimal"), named), at + 2 + 2 * letters


def _change(stream: bytes, at: int, count: int, listed: NumberedList) -> int:
    """Apply the changes to a list, each to a level; return where those of the next list begin."""
    at += 4
    for _ in range(count):
        start, flags = struct.unpack_from("<iI", stream, at)
        at += _CHANGE
        if flags & _IS_LEVEL:
            own, at = _level(stream, at)
            listed.levels[flags & 0xF] = own
            start = own.start
        if flags & _STARTS:
            listed.restarts[flags & 0xF] = start
    return at
