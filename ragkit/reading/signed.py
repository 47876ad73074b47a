"""Signed messages (CMS, "smime.p7m"): what was signed, without a look at the signature.

After RFC 5652, in BER: programs that sign as they go give no lengths in advance.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

_SEQUENCE, _OBJECT, _CONTENT, _OCTETS, _OCTETS_IN_PARTS = 0x30, 0x06, 0xA0, 0x04, 0x24
_SIGNED = bytes.fromhex("2a864886f70d010702")
_ENCRYPTED = (
    bytes.fromhex("2a864886f70d010703"),
    bytes.fromhex("2a864886f70d010706"),
    bytes.fromhex("2a864886f70d0109100117"),
)
_CONSTRUCTED = 0x20
_END = 0x00
_DEEPEST = 24


class _Element(NamedTuple):
    """An element: its tag, where its content begins and ends, and where the next one begins."""

    tag: int
    start: int
    stop: int
    after: int


def signed_content(data: bytes) -> bytes:
    """Return what a message that is only signed holds; nothing of another, or a damaged one."""
    try:
        kind, content = _outer(data)
        if kind != _SIGNED:
            return b""
        inside = [*_below(data, next(_below(data, content)))]
        # Version, digests, and the type and content of what is signed.
        _, held = [*_below(data, inside[2])]
        return b"".join(_octets(data, next(_below(data, held)), 0))
    except (ValueError, IndexError, StopIteration):
        return b""


def is_encrypted(data: bytes) -> bool:
    """Return whether a message can be read only with a key."""
    try:
        return _outer(data)[0] in _ENCRYPTED
    except (ValueError, IndexError, StopIteration):
        return False


def _outer(data: bytes) -> tuple[bytes, _Element]:
    """Return the kind of a message, and the element that holds it."""
    whole = _element(data, 0, len(data), 0)
    parts = _below(data, whole)
    kind, content = next(parts), next(parts)
    if (whole.tag, kind.tag, content.tag) != (_SEQUENCE, _OBJECT, _CONTENT):
        raise ValueError
    return data[kind.start : kind.stop], content


def _octets(data: bytes, element: _Element, depth: int) -> Iterator[bytes]:
    """Yield the bytes of a string, which may be in parts."""
    if element.tag == _OCTETS:
        yield data[element.start : element.stop]
    elif element.tag == _OCTETS_IN_PARTS and depth < _DEEPEST:
        for part in _below(data, element):
            yield from _octets(data, part, depth + 1)
    else:
        raise ValueError


def _below(data: bytes, element: _Element) -> Iterator[_Element]:
    at = element.start
    while at < element.stop:
        part = _element(data, at, element.stop, 0)
        yield part
        at = part.after


def _element(data: bytes, at: int, end: int, depth: int) -> _Element:
    """Return the element at a place; raise ``ValueError`` or ``IndexError`` if there is none."""
    tag, length = data[at], data[at + 1]
    start = at + 2
    if length == 0x80:
        return _without_length(data, tag, start, end, depth)
    if length > 0x80:
        start += length - 0x80
        length = int.from_bytes(data[at + 2 : start], "big")
    if start + length > end:
        raise ValueError
    return _Element(tag, start, start + length, start + length)


def _without_length(data: bytes, tag: int, start: int, end: int, depth: int) -> _Element:
    """Return an element that ends where two bytes of zero follow the last one in it."""
    if not tag & _CONSTRUCTED or depth > _DEEPEST:
        raise ValueError
    at = start
    while True:
        part = _element(data, at, end, depth + 1)
        if part.tag == _END:
            return _Element(tag, start, at, part.after)
        at = part.after
