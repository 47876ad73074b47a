"""Unpacks what Snappy has packed, in the blocks without checksums that iWork writes."""

from __future__ import annotations

from ragkit.reading.iwork.protobuf import BrokenMessageError, varint

_HEAD = 4
_LITERAL, _NEAR, _FAR = 0, 1, 2
_LONGEST_IN_TAG = 60


def unpacked(data: bytes, most: int) -> bytes:
    """Return what all blocks hold; it ends where more than ``most`` bytes are reached.

    Raises:
        BrokenMessageError: the blocks are damaged.
    """
    output = bytearray()
    place = 0
    while place < len(data) and len(output) <= most:
        length = int.from_bytes(data[place + 1 : place + _HEAD], "little")
        start, place = place + _HEAD, place + _HEAD + length
        if data[start - _HEAD] or place > len(data):
            raise BrokenMessageError
        output += _block(data[start:place], most - len(output))
    return bytes(output)


def _block(data: bytes, most: int) -> bytes:
    """Return what one block holds."""
    size, place = varint(data, 0)
    output = bytearray()
    while place < len(data) and len(output) <= most:
        tag = data[place]
        place += 1
        if tag & 3 == _LITERAL:
            length = tag >> 2
            if length >= _LONGEST_IN_TAG:
                wide = length - _LONGEST_IN_TAG + 1
                length = int.from_bytes(data[place : place + wide], "little")
                place += wide
            if place + length >= len(data):
                raise BrokenMessageError
            output += data[place : place + length + 1]
            place += length + 1
            continue
        wide = {_NEAR: 1, _FAR: 2}.get(tag & 3, 4)
        offset = int.from_bytes(data[place : place + wide], "little")
        length = (tag >> 2) + 1
        if tag & 3 == _NEAR:
            offset, length = offset | (tag >> 5) << 8, (tag >> 2 & 7) + 4
        place += wide
        _repeat(output, offset, length)
    if len(output) != size and len(output) <= most:
        raise BrokenMessageError
    return bytes(output)


def _repeat(output: bytearray, offset: int, length: int) -> None:
    """Append bytes that begin ``offset`` before the end, which may reach into the new ones."""
    start = len(output) - offset
    if not offset or start < 0:
        raise BrokenMessageError
    part = output[start : start + length]
    if len(part) < length:
        part = (part * (length // len(part) + 1))[:length]
    output += part
