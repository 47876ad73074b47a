"""Cells of tables as iWork stores them: bytes with a few fields, of which flags say which."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

NUMBER, TEXT, DATE, TRUTH, DURATION, RICH, CURRENCY = 2, 3, 5, 6, 7, 9, 10
_NEW, _OLDEST_WITH_LONG_HEAD, _FIRST_WITH_KIND_SECOND = 5, 2, 4
_BIAS = 6176
_MOST_DIGITS = 40
_EPOCH = datetime(2001, 1, 1)
_FORMATS = range(13, 19)
"""The flags of the formats of a cell: of numbers, money, dates, durations, texts and truths."""
_COMMENT = 19
_SIZES = {0: 16, 1: 8, 2: 8}


@dataclass(frozen=True, slots=True)
class StoredCell:
    """What a cell holds: its kind, its value, and keys of lists of the table (0: none)."""

    kind: int
    number: Decimal | None = None
    seconds: float | None = None
    text: int = 0
    rich: int = 0
    formats: tuple[int, ...] = ()
    comment: int = 0


def stored_cell(data: bytes) -> StoredCell | None:
    """Return a cell, or ``None`` if it is empty, damaged, or of an unknown version."""
    try:
        return _new(data) if data[0] == _NEW else _old(data) if data[0] < _NEW else None
    except (IndexError, struct.error):
        return None


def date_of(seconds: float) -> datetime | None:
    """Return the time so many seconds after the beginning of 2001."""
    try:
        return _EPOCH + timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        return None


def _new(data: bytes) -> StoredCell:
    """Return a cell as programs write it since 2019: fields in the order of their flags."""
    (flags,) = struct.unpack_from("<I", data, 8)
    place, fields = 12, dict[int, bytes]()
    for bit in range(_COMMENT + 1):
        if flags >> bit & 1:
            size = _SIZES.get(bit, 4)
            fields[bit] = data[place : place + size]
            place += size
    number = _decimal(fields[0]) if 0 in fields else _double(fields.get(1, b""))
    seconds = struct.unpack("<d", fields[2])[0] if 2 in fields else None
    keys = {bit: int.from_bytes(value, "little") for bit, value in fields.items()}
    return StoredCell(
        kind=data[1],
        number=number,
        seconds=seconds,
        text=keys.get(3, 0),
        rich=keys.get(4, 0),
        formats=tuple(keys[bit] for bit in _FORMATS if bit in keys),
        comment=keys.get(_COMMENT, 0),
    )


def _old(data: bytes) -> StoredCell:
    """Return a cell as programs wrote it from 2013 on."""
    version = data[0]
    (flags,) = struct.unpack_from("<I", data, 4)
    is_long = version >= _OLDEST_WITH_LONG_HEAD
    place = 12 if is_long else 8
    before = (flags & (0x0C82 if is_long else 0x82)).bit_count()
    formats = struct.unpack_from("<I", data, place + 4 * before) if flags & 4 else ()
    place += 4 * (flags & (0x0D8E if is_long else 0x018E)).bit_count()
    rich, place = _key(data, place, flags & 0x200)
    comment, place = _key(data, place, flags & 0x1000)
    place += 4 if is_long and flags & 0x2000 else 0
    text, place = _key(data, place, flags & 0x10)
    number = _double(data[place : place + 8]) if flags & 0x20 else None
    place += 8 if flags & 0x20 else 0
    seconds = struct.unpack_from("<d", data, place)[0] if flags & 0x40 else None
    kind = data[1] if version >= _FIRST_WITH_KIND_SECOND else data[2]
    return StoredCell(kind, number, seconds, text, rich, tuple(formats), comment)


def _key(data: bytes, place: int, flag: int) -> tuple[int, int]:
    """Return a key and the place after it, if the flag says that there is one."""
    if not flag:
        return 0, place
    return struct.unpack_from("<I", data, place)[0], place + 4


def _double(data: bytes) -> Decimal | None:
    if len(data) < 8:
        return None
    value = Decimal(repr(struct.unpack("<d", data[:8])[0]))
    return value if value.is_finite() and abs(value.adjusted()) < _MOST_DIGITS else None


def _decimal(data: bytes) -> Decimal | None:
    """Return a number of 128 bits: 113 for its digits, 14 for a power of ten, and its sign."""
    if len(data) < 16:
        return None
    whole = int.from_bytes(data, "little")
    digits, power = whole & ((1 << 113) - 1), (whole >> 113 & 0x3FFF) - _BIAS
    if abs(power) > _MOST_DIGITS:
        return None if digits else Decimal(0)
    value = Decimal(digits).scaleb(power)
    return -value if whole >> 127 else value
