"""What Outlook packs into "winmail.dat" (TNEF): a mail's text, and its attachments.

After "[MS-OXTNEF]: Transport Neutral Encapsulation Format (TNEF) Data Algorithm" of Microsoft.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from ragkit.reading.decode import declared_encoding, decode
from ragkit.reading.outlook_rtf import unpacked

_START = struct.pack("<I", 0x223E9F78)
_HEAD = struct.Struct("<BII")
_NUMBER = struct.Struct("<I")
_TAG = struct.Struct("<HH")
_TITLE, _BODY, _PROPERTIES = 0x00018004, 0x0002800C, 0x00069003
_NEXT, _NAME, _DATA, _ATTACHED = 0x00069002, 0x00018010, 0x0006800F, 0x00069005
_SUBJECT, _TEXT, _RICH_TEXT, _HTML = 0x0037, 0x1000, 0x1009, 0x1013
_LONG_NAME, _OBJECT = 0x3707, 0x3701
_SIZES = {
    0x02: 4, 0x03: 4, 0x04: 4, 0x05: 8, 0x06: 8, 0x07: 8, 0x0A: 4, 0x0B: 4, 0x14: 8, 0x40: 8,
    0x48: 16,
}  # fmt: skip
"""Bytes of a value by its type; those of other types say their length."""

_NARROW, _WIDE, _EMBEDDED, _SEVERAL, _NAMED = 0x1E, 0x1F, 0x0D, 0x1000, 0x8000
_MOST_FILES, _MOST_VALUES = 500, 10_000
_INTERFACE = 16
"""Bytes before a mail in a mail, which is packed in the same way."""


@dataclass(slots=True)
class PackedFile:
    """An attachment; a mail in the mail is itself packed."""

    name: str = ""
    data: bytes = b""
    is_mail: bool = False


@dataclass(slots=True)
class Packed:
    """The subject of a mail, its text in one form or in several, and what is attached to it."""

    subject: str = ""
    text: str = ""
    html: str = ""
    rich_text: bytes = b""
    files: list[PackedFile] = field(default_factory=list)


def is_packed(data: bytes) -> bool:
    """Return whether these are the first bytes of such a file."""
    return data.startswith(_START)


def unpack(data: bytes) -> Packed:
    """Return what is packed; of a damaged file what comes before the damage."""
    packed = Packed()
    for tag, value in _attributes(data):
        if tag == _NEXT:
            if len(packed.files) == _MOST_FILES:
                break
            packed.files.append(PackedFile())
        elif tag == _TITLE:
            packed.subject = packed.subject or stored_text(value)
        elif tag == _BODY:
            packed.text = packed.text or stored_text(value)
        elif tag == _PROPERTIES:
            _take_text(packed, value)
        elif packed.files:
            _take_file(packed.files[-1], tag, value)
    return packed


def _take_text(packed: Packed, properties: bytes) -> None:
    for number, kind, value in _values(properties):
        if number == _SUBJECT:
            packed.subject = stored_text(value, kind)
        elif number == _TEXT:
            packed.text = stored_text(value, kind)
        elif number == _HTML:
            packed.html = stored_text(value, kind)
        elif number == _RICH_TEXT:
            packed.rich_text = unpacked(value)


def _take_file(file: PackedFile, tag: int, value: bytes) -> None:
    if tag == _NAME:
        file.name = file.name or stored_text(value)
    elif tag == _DATA:
        file.data = value
    elif tag == _ATTACHED:
        for number, kind, content in _values(value):
            if number == _LONG_NAME:
                file.name = stored_text(content, kind) or file.name
            elif number == _OBJECT and kind == _EMBEDDED and is_packed(content[_INTERFACE:]):
                file.data, file.is_mail = content[_INTERFACE:], True


def stored_text(value: bytes, kind: int = _NARROW) -> str:
    """Return a text from its bytes, by the type of its property."""
    if kind == _WIDE:
        return value.decode("utf-16-le", "replace").rstrip("\0")
    return decode(value, declared_encoding(value))[0].rstrip("\0")


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the tag and the value of each attribute."""
    at = len(_START) + 2
    while at + _HEAD.size <= len(data):
        _, tag, length = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        yield tag, data[at : at + length]
        at += length + 2


def _values(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield number, type and value of each property that has a single value of any length."""
    at, left = _NUMBER.size, _MOST_VALUES
    try:
        while at < len(data):
            kind, number = _TAG.unpack_from(data, at)
            at += _TAG.size
            if number >= _NAMED:
                at = _after_name(data, at)
            of_several, kind = kind & _SEVERAL, kind & ~_SEVERAL
            size = _SIZES.get(kind)
            count = 1
            if of_several or size is None:
                (count,) = _NUMBER.unpack_from(data, at)
                at += _NUMBER.size
            left -= count
            if left < 0:
                return
            for _ in range(count):
                length = size
                if length is None:
                    (length,) = _NUMBER.unpack_from(data, at)
                    at += _NUMBER.size
                    if not of_several:
                        yield number, kind, data[at : at + length]
                at += length + -length % 4
    except struct.error:
        return  # it breaks off


def _after_name(data: bytes, at: int) -> int:
    """Return where the value of a property begins that has a name instead of a number."""
    (is_text,) = _NUMBER.unpack_from(data, at + 16)
    at += 16 + _NUMBER.size
    if not is_text:
        return at + _NUMBER.size
    length: int = _NUMBER.unpack_from(data, at)[0]
    return at + _NUMBER.size + length + -length % 4
