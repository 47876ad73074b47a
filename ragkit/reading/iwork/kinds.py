"""Tells documents of Pages, Numbers and Keynote apart by what is in their zip."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from typing import TYPE_CHECKING

from ragkit.reading.formats import Format
from ragkit.reading.iwork.archive import INNER, KEYNOTE_SHOW, OBJECTS, PAGES_ROOT, ROOT, objects_in
from ragkit.reading.iwork.legacy import index_of
from ragkit.reading.iwork.snappy import unpacked
from ragkit.reading.zip_container import GZIP_SUFFIX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragkit.reading.iwork.archive import StoredObject

_DOCUMENT = "Document.iwa"
_LARGEST_INNER, _LARGEST_DOCUMENT, _LARGEST_BEGINNING = 1 << 26, 1 << 20, 1 << 18
_BEGINNING, _OF_GZIP = 4000, 31
_LEGACY = {"sl": Format.PAGES, "ls": Format.NUMBERS, "key": Format.KEYNOTE}
_LEGACY_ROOT = re.compile(
    rb"[^<]{0,10}(?:<\?[^<>]{0,200}\?>\s*|<!--.{0,500}?-->\s*|<!DOCTYPE[^<>]{0,200}>\s*){0,5}"
    rb"<(?:(sl|ls):document|(key):presentation|(presentation)\s+version=)\b",
    re.S,
)


def is_iwork(names: Sequence[str]) -> bool:
    """Return whether a zip with these members may be a document of iWork."""
    has_objects = any(name.endswith(OBJECTS) or posixpath.basename(name) == INNER for name in names)
    return has_objects or bool(index_of(names))


def kind_of(archive: zipfile.ZipFile) -> Format | None:
    """Return the format of a document of iWork, ``None`` for other files and damaged ones.

    What is damaged may raise any error of a zip, or a ``ValueError``.
    """
    names = archive.namelist()
    if index := index_of(names):
        return _legacy_kind(archive, index)
    inner = next((name for name in names if posixpath.basename(name) == INNER), "")
    if inner and not any(name.endswith(OBJECTS) for name in names):
        with archive.open(inner) as stream:
            return _kind(zipfile.ZipFile(io.BytesIO(stream.read(_LARGEST_INNER))))
    return _kind(archive)


def _legacy_kind(archive: zipfile.ZipFile, index: str) -> Format | None:
    with archive.open(index) as stream:
        packed = index.endswith(GZIP_SUFFIX)
        beginning = stream.read(_BEGINNING)
    if packed:
        beginning = zlib.decompressobj(_OF_GZIP).decompress(beginning, _BEGINNING)
    return legacy_kind(beginning)


def legacy_kind(beginning: bytes) -> Format | None:
    """Return the format of a document of iWork '05 to '09, which is XML."""
    found = _LEGACY_ROOT.match(beginning[:_BEGINNING])
    if found is None:
        return None
    return Format.KEYNOTE if found[3] else _LEGACY[(found[1] or found[2]).decode()]


def _kind(archive: zipfile.ZipFile) -> Format | None:
    """Return what the first object of a document says that it is."""
    names = [name for name in archive.namelist() if posixpath.basename(name) == _DOCUMENT]
    for name in names if len(names) == 1 else ():  # more are an archive of documents
        with archive.open(name) as stream:
            data = unpacked(stream.read(_LARGEST_DOCUMENT), _LARGEST_BEGINNING)
        for identity, found in objects_in(data):
            if identity == ROOT:
                return _kind_of_root(found)
    return None


def _kind_of_root(root: StoredObject) -> Format:
    if root.kind == PAGES_ROOT:
        return Format.PAGES
    return Format.KEYNOTE if KEYNOTE_SHOW in root.message else Format.NUMBERS
