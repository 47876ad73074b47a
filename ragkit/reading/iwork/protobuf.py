"""A reader of messages as Protocol Buffers write them, without knowing their definitions."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TypeAlias

Value: TypeAlias = "int | bytes"

_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5
_LONGEST_VARINT = 10
_WHOLE = (1 << 64) - 1


class BrokenMessageError(ValueError):
    """Bytes are no message."""


class Message:
    """The fields of a message by their numbers; what is missing or of another kind is empty."""

    __slots__ = ("_fields",)

    def __init__(self, data: bytes = b"") -> None:
        self._fields: dict[int, list[Value]] = {}
        for number, value in _fields(data):
            self._fields.setdefault(number, []).append(value)

    def __contains__(self, field: int) -> bool:
        return field in self._fields

    def number(self, field: int, usual: int = 0) -> int:
        """Return the last number of a field."""
        return next((each for each in reversed(self._of(field)) if isinstance(each, int)), usual)

    def numbers(self, field: int) -> list[int]:
        """Return all numbers of a field, also if they are packed together."""
        found: list[int] = []
        for value in self._of(field):
            found += (value,) if isinstance(value, int) else packed_numbers(value)
        return found

    def double(self, field: int) -> float | None:
        """Return a number with eight bytes of its own, if there is one."""
        if not (found := self._of(field)) or not isinstance(found[-1], int):
            return None
        (value,) = struct.unpack("<d", found[-1].to_bytes(8, "little"))
        return float(value)

    def data(self, field: int) -> bytes:
        """Return the last bytes of a field."""
        return next((each for each in reversed(self._of(field)) if isinstance(each, bytes)), b"")

    def text(self, field: int) -> str:
        """Return the last text of a field."""
        return self.data(field).decode("utf-8", "replace")

    def texts(self, field: int) -> list[str]:
        """Return all texts of a field."""
        return [each.decode("utf-8", "replace") for each in self._bytes(field)]

    def message(self, field: int) -> Message:
        """Return the last message in a field."""
        return lenient(self.data(field))

    def messages(self, field: int) -> list[Message]:
        """Return all messages in a field."""
        return [lenient(each) for each in self._bytes(field)]

    def reference(self, field: int) -> int:
        """Return the identifier of the object to which a field refers, or 0."""
        return self.message(field).number(1)

    def references(self, field: int) -> list[int]:
        """Return the identifiers of all objects to which a field refers."""
        return [each.number(1) for each in self.messages(field)]

    def _of(self, field: int) -> list[Value]:
        return self._fields.get(field, [])

    def _bytes(self, field: int) -> list[bytes]:
        return [each for each in self._of(field) if isinstance(each, bytes)]


def varint(data: bytes, place: int) -> tuple[int, int]:
    """Return the number at a place, and the place after it.

    Raises:
        BrokenMessageError: there is none.
    """
    value = 0
    for count, byte in enumerate(data[place : place + _LONGEST_VARINT]):
        value |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            return value & _WHOLE, place + count + 1
    raise BrokenMessageError


def lenient(data: bytes) -> Message:
    """Return a message; an empty one if the bytes are none, as in a field of another kind."""
    try:
        return Message(data)
    except BrokenMessageError:
        return Message()


def packed_numbers(data: bytes) -> list[int]:
    """Return numbers that are packed together, none if the bytes are something else."""
    place, found = 0, list[int]()
    try:
        while place < len(data):
            value, place = varint(data, place)
            found.append(value)
    except BrokenMessageError:
        return []
    return found


def _fields(data: bytes) -> Iterator[tuple[int, Value]]:
    """Yield the number and the value of each field."""
    place, end = 0, len(data)
    while place < end:
        key, place = varint(data, place)
        kind = key & 7
        if kind == _VARINT:
            value, place = varint(data, place)
            yield key >> 3, value
            continue
        if kind == _BYTES:
            length, place = varint(data, place)
        elif kind in (_EIGHT_BYTES, _FOUR_BYTES):
            length = 8 if kind == _EIGHT_BYTES else 4
        else:
            raise BrokenMessageError
        if length > end - place:
            raise BrokenMessageError
        part = data[place : place + length]
        yield key >> 3, part if kind == _BYTES else int.from_bytes(part, "little")
        place += length
