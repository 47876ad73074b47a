"""Writes documents of Pages, Numbers and Keynote for tests."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
from collections.abc import Mapping
from typing import TypeAlias

Parts: TypeAlias = "Mapping[int, object]"

BODY, HEADER, CELL = 0, 1, 5
BULLETS, NUMBERS = 2, 3
_BIAS = 6176


def varint(value: int) -> bytes:
    """A number as messages have it."""
    data = b""
    while value > 0x7F:
        data += bytes([value & 0x7F | 0x80])
        value >>= 7
    return data + bytes([value])


def message(parts: Parts) -> bytes:
    """A message: its fields are numbers, texts, bytes, messages, or lists of these."""
    data = b""
    for number, values in parts.items():
        for value in values if isinstance(values, list) else [values]:
            if isinstance(value, float):
                data += varint(number << 3 | 1) + struct.pack("<d", value)
            elif isinstance(value, int):
                data += varint(number << 3) + varint(value)
            else:
                inner = value.encode() if isinstance(value, str) else value
                inner = inner if isinstance(inner, bytes) else message(inner)
                data += varint(number << 3 | 2) + varint(len(inner)) + inner
    return data


def ref(identity: int) -> Parts:
    """A reference to an object."""
    return {1: identity}


def runs(**objects: int) -> Parts:
    """A table of a text: objects by the places from which on they are for it ("at3")."""
    return {
        1: [
            {1: int(place[2:]), **({2: ref(each)} if each else {})}
            for place, each in objects.items()
        ]
    }


def snappy(data: bytes) -> bytes:
    """Bytes as Snappy packs them, without looking for what is repeated."""
    packed = varint(len(data))
    for start in range(0, len(data), 60):
        part = data[start : start + 60]
        packed += bytes([len(part) - 1 << 2]) + part
    return packed


def block(packed: bytes) -> bytes:
    """A block of a packed file."""
    return b"\0" + len(packed).to_bytes(3, "little") + packed


def objects_file(objects: Mapping[int, tuple[int, Parts]]) -> bytes:
    """A packed file of objects by their identifiers, each with its type and its message."""
    data = b""
    for identity, (kind, parts) in objects.items():
        inner = message(parts)
        info = message({1: identity, 2: {1: kind, 3: len(inner)}})
        data += varint(len(info)) + info + inner
    return b"".join(
        block(snappy(data[start : start + 65536])) for start in range(0, len(data), 65536)
    )


def zipped(parts: Mapping[str, bytes | str]) -> bytes:
    """A zip of members."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return target.getvalue()


def members(data: bytes) -> dict[str, bytes]:
    """The members of a zip by their names."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def document(objects: Mapping[int, tuple[int, Parts]], *, inside: bool = False) -> bytes:
    """A document of objects, of which the first is the document itself."""
    archive = zipped({"Index/Document.iwa": objects_file(objects)})
    return zipped({"Index.zip": archive, "Metadata/Properties.plist": "x"}) if inside else archive


def style(name: str, *, outline: int | None = None, parent: int = 0) -> tuple[int, Parts]:
    """A style of paragraphs, by its identifier."""
    about = {2: name, **({3: ref(parent)} if parent else {})}
    return 2022, {1: about, **({12: {27: outline}} if outline is not None else {})}


def list_style(label: int, kinds: int = 0) -> tuple[int, Parts]:
    """A style of lists, whose levels have the same marks."""
    return 2023, {1: {1: "List"}, 11: [label] * 9, 15: [kinds] * 9}


def text(words: str, kind: int = BODY, **more: object) -> tuple[int, Parts]:
    """A text; further fields have names such as "f5"."""
    return 2001, {1: kind, 3: words, **{int(name[1:]): value for name, value in more.items()}}


def box(storage: int) -> tuple[int, Parts]:
    """A text box."""
    return 2011, {1: {1: {1: {}}}, 4: ref(storage)}


def decimal(digits: int, power: int = 0) -> bytes:
    """A number of a cell."""
    whole = abs(digits) | (power + _BIAS) << 113 | (digits < 0) << 127
    return whole.to_bytes(16, "little")


def cell(kind: int, flags: int, *values: bytes) -> bytes:
    """A cell with the values that its flags say."""
    return bytes([5, kind, 0, 0, 0, 0, 0, 0]) + struct.pack("<I", flags) + b"".join(values)


def key(value: int) -> bytes:
    """A key of a list."""
    return struct.pack("<I", value)


def row(number: int, *cells: bytes) -> Parts:
    """A row of a table."""
    offsets, data = b"", b""
    for each in cells:
        offsets += struct.pack("<H", len(data) if each else 0xFFFF)
        data += each
    return {1: number, 6: data, 7: offsets + b"\xff\xff" * 3}


def table(
    start: int, name: str, rows: list[Parts], *, headers: int = 1, strings: tuple[str, ...] = (),
    formats: tuple[Parts, ...] = (), rich: Mapping[int, int] | None = None, **model: object,
) -> dict[int, tuple[int, Parts]]:  # fmt: skip
    """The objects of a table from an identifier on, at which it is drawn."""
    store = {
        3: {1: {1: 0, 2: ref(start + 2)}},
        4: ref(start + 3),
        17: ref(start + 4),
        19: ref(start + 6),
        22: ref(start + 5),
    }
    more = {int(field[1:]): value for field, value in model.items()}
    return {
        start: (6000, {1: {}, 2: ref(start + 1)}),
        start + 1: (6001, {4: store, 6: 99, 7: 9, 8: name, 9: headers, **more}),
        start + 2: (6002, {5: rows}),
        start + 3: (6005, {3: [{1: at, 3: each} for at, each in enumerate(strings, 1)]}),
        start + 4: (6005, {3: [{1: at, 9: ref(each)} for at, each in (rich or {}).items()]}),
        start + 5: (6005, {3: [{1: at, 6: each} for at, each in enumerate(formats, 1)]}),
    }


SPACES = "".join(
    f' xmlns:{name}="http://developer.apple.com/namespaces/{name}"'
    for name in ("sf", "sfa", "sl", "ls")
)
SPACES += ' xmlns:key="http://developer.apple.com/namespaces/keynote2"'


def legacy(root: str, inside: str, member: str = "index.xml") -> bytes:
    """A document of iWork '05 to '09, packed once more where its member is."""
    data = f'<?xml version="1.0"?><{root}{SPACES}>{inside}</{root}>'.encode()
    return zipped({member: gzip.compress(data) if member.endswith(".gz") else data})
