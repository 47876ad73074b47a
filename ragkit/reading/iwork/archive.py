"""The objects of an iWork document from 2013 on: messages in packed files in a zip."""

from __future__ import annotations

import io
import posixpath
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragkit.reading.iwork.protobuf import BrokenMessageError, Message, lenient, varint
from ragkit.reading.iwork.snappy import unpacked
from ragkit.reading.limits import damaged, locked
from ragkit.reading.zip_container import bomb, most_markup, open_archive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragkit.reading.limits import Limits

INNER = "Index.zip"
OBJECTS = ".iwa"
XML_NAMES = ("index.xml", "index.apxl", "presentation.apxl")
"""The documents of iWork '05 to '09, which may also be packed by gzip."""
ROOT = 1
_ZIP = b"PK"
_PASSWORD = (".iwpv2", ".iwph")
PAGES_ROOT, KEYNOTE_SHOW = 10000, 2
"""The type of the first object of Pages, and the field that only the one of Keynote has."""


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object of a document: the number of its type, and its message as bytes."""

    kind: int
    data: bytes

    @property
    def message(self) -> Message:
        """Return its message."""
        return lenient(self.data)


class Objects:
    """All objects of a document by their identifiers."""

    def __init__(self, stored: dict[int, StoredObject]) -> None:
        self._stored = stored

    def kind(self, identity: int) -> int:
        """Return the type of an object, 0 if there is none."""
        return self._stored[identity].kind if identity in self._stored else 0

    def message(self, identity: int) -> Message:
        """Return the message of an object, an empty one if there is none."""
        return self._stored[identity].message if identity in self._stored else Message()

    def of_kind(self, *kinds: int) -> Iterator[int]:
        """Yield the objects of some types by their identifiers, in order."""
        for identity in sorted(self._stored):
            if self._stored[identity].kind in kinds:
                yield identity


def opened(data: bytes, limits: Limits, label: str) -> zipfile.ZipFile:
    """Open the zip of a document; that of a document in a folder is the archive in it.

    Raises:
        ReadingError: it is locked, damaged, or a decompression bomb.
    """
    archive = open_archive(data if data.startswith(_ZIP) else _packed(data), limits, label)
    names = archive.namelist()
    if any(map(_is_of_password, names)):
        raise locked(label)
    inner = next((name for name in names if posixpath.basename(name) == INNER), None)
    if inner is None or any(name.endswith(OBJECTS) for name in names):
        return archive
    return open_archive(archive.read(inner), limits, label)


def document_name(name: str) -> str:
    """Return the name of a document; of one that is a folder, a file in it was given."""
    folder, base = posixpath.split(name.replace("\\", "/"))
    return folder if folder and base in (INNER, *XML_NAMES) else name


def _packed(data: bytes) -> bytes:
    """Return the XML of a document that is a folder as an archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(XML_NAMES[0], data)
    return buffer.getvalue()


def _is_of_password(name: str) -> bool:
    """Return whether a member has the hint or the check of a password."""
    return posixpath.basename(name).startswith(_PASSWORD)


def objects_of(archive: zipfile.ZipFile, limits: Limits, label: str) -> Objects:
    """Return the objects of a document.

    Raises:
        ReadingError: it is damaged, or a decompression bomb.
    """
    left = most_markup(limits)
    stored: dict[int, StoredObject] = {}
    for member in archive.infolist():
        if not member.filename.endswith(OBJECTS):
            continue
        with archive.open(member) as stream:
            packed = stream.read(left + 1)
        data = unpacked(packed, left)
        left -= max(len(data), len(packed))
        if left < 0:
            raise bomb()
        for identity, found in objects_in(data):
            stored.setdefault(identity, found)
    if ROOT not in stored:
        raise damaged(label)
    return Objects(stored)


def objects_in(data: bytes) -> Iterator[tuple[int, StoredObject]]:
    """Yield the objects in the unpacked bytes of a file; of each the first message is whole."""
    place = 0
    while place < len(data):
        length, place = varint(data, place)
        if length > len(data) - place:
            raise BrokenMessageError
        info = Message(data[place : place + length])
        place += length
        parts = info.messages(2)
        if parts:
            size = parts[0].number(3)
            yield info.number(1), StoredObject(parts[0].number(1), data[place : place + size])
        place += sum(part.number(3) for part in parts)
    if place > len(data):
        raise BrokenMessageError
