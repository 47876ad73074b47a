"""Opens zip containers safely: no decompression bombs, false sizes or entity definitions."""

from __future__ import annotations

import gzip
import io
import lzma
import posixpath
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from ragkit.errors import ReadingError
from ragkit.reading.limits import MEGABYTE, damaged, locked, too_large

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from ragkit.reading.limits import Limits

GZIP_SUFFIX = ".gz"

_MOST_MEMBERS = 20_000
_HIGHEST_RATIO = 100
_RATIO_FROM = 20 * MEGABYTE
_MARKUP_SUFFIXES = (".xml", ".rels", ".xhtml", ".html", ".htm", ".opf", ".ncx", ".vml")
_BLOCK = 1 << 20
_PICTURES = (
    "word/media/", "word/embeddings/", "xl/media/", "xl/embeddings/", "pictures/", "thumbnails/",
    "object ",
)  # fmt: skip
_BOMB = (
    "The file unpacks to far more than its size, as decompression bombs do.",
    "If you trust it, save it again from the program that made it.",
)
_ENTITIES = (
    "The file defines XML entities, which documents of its kind never need.",
    "If you trust it, save it again from the program that made it.",
)
_OF_SYSTEM = "__MACOSX/"
_NUMBERED = re.compile(r"(?<=^word/)((?:_rels/)?document)\d+(?=\.xml(?:\.rels)?$)")
_LINK = re.compile(r"(?:https?://|mailto:)[^\s<>()|]{1,1000}")
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
_USUAL = rb"http://schemas.openxmlformats.org/\1/2006/"


@contextmanager
def unpacking(damage: ReadingError) -> Iterator[None]:
    """Raise ``damage`` for any error of a zip, or of the data packed in it."""
    try:
        yield
    except (
        zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, ValueError,
    ) as error:  # fmt: skip
        raise damage from error
    except OSError as error:
        if error.errno is not None:  # of the disk; bz2 raises one without a number for damage
            raise
        raise damage from error


def is_gzip(name: str, data: bytes) -> bool:
    """Return whether a file is a gzip file, by its name and its first bytes."""
    return name.lower().endswith(GZIP_SUFFIX) and data.startswith(b"\x1f\x8b")


def gunzipped(data: bytes, limits: Limits) -> bytes:
    """Return what a gzip file holds, which may be as large as any other file.

    Raises:
        ReadingError: it is damaged, or a bomb.
        SkippedError: it holds more than a file may.
    """
    most = int(limits.max_file_mb * MEGABYTE)
    with unpacking(damaged("gzip file")), gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
        content = stream.read(most + 1)
    if len(content) > max(_RATIO_FROM, len(data) * _HIGHEST_RATIO):
        raise ReadingError(*_BOMB)
    if len(content) > most:
        raise too_large(len(content), limits)
    return content


def most_markup(limits: Limits) -> int:
    """Return how many bytes the markup of a file may have when it is unpacked."""
    return int(limits.max_text_mb * MEGABYTE * 5)


def open_archive(data: bytes, limits: Limits, label: str) -> zipfile.ZipFile:
    """Open a container after measuring the true size of its markup; headers may lie.

    Raises:
        ReadingError: it is a bomb, locked, or defines XML entities.
    """
    archive = zipfile.ZipFile(io.BytesIO(data))
    members = archive.infolist()
    allowed = _allowed(members, limits)
    for member in members:
        if member.flag_bits & 1:
            raise locked(label)
        if member.filename.lower().endswith(_MARKUP_SUFFIXES):
            allowed -= _weigh(archive, member, allowed)
    return archive


def xml(archive: zipfile.ZipFile, name: str) -> Element:
    """Parse a member as XML, with the usual names of "Strict Open XML"; any error is passed on."""
    part = _STRICT.sub(_USUAL, archive.read(name))
    return ElementTree.fromstring(part)  # noqa: S314 - entities were refused


def parsed(source: bytes, label: str) -> Element:
    """Parse a file of XML.

    Raises:
        ReadingError: it is damaged, or defines entities.
    """
    refuse_entities(source)
    try:
        return ElementTree.fromstring(source)  # noqa: S314 - entities were refused
    except (ElementTree.ParseError, ValueError) as error:
        raise damaged(label) from error


def folder_around(names: Iterable[str], part: str) -> str:
    """Return the one folder in which a container lies as a whole, with its slash, or ``""``.

    So it is packed by hand; ``part`` is a member by which it is known.
    """
    own = [name for name in names if not name.startswith(_OF_SYSTEM)]
    folder = f"{own[0].partition('/')[0]}/" if own else ""
    is_around = f"{folder}{part}" in own and all(name.startswith(folder) for name in own)
    return folder if is_around else ""


def without_folder(archive: zipfile.ZipFile, part: str) -> zipfile.ZipFile:
    """Take the folder that is around all members out of their names."""
    folder = folder_around(archive.namelist(), part)
    return _renamed(archive, lambda name: name.removeprefix(folder))


def usual_name(member: str) -> str:
    """Return the usual name of a member, where Office sometimes adds a number to it."""
    return _NUMBERED.sub(r"\1", member)


def with_usual_names(archive: zipfile.ZipFile) -> zipfile.ZipFile:
    """Give the members of a container their usual names."""
    return _renamed(archive, usual_name)


def _renamed(archive: zipfile.ZipFile, rename: Callable[[str], str]) -> zipfile.ZipFile:
    for member in archive.infolist():
        member.filename = rename(member.filename)
    archive.NameToInfo = {member.filename: member for member in archive.infolist()}
    return archive


def rewritten(archive: zipfile.ZipFile, change: Callable[[str, bytes], bytes]) -> bytes:
    """Return a container without its pictures, and with the other members as ``change`` returns.

    ``change`` gets the name of a member and its bytes; a member for which it returns none is left
    out.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as copy:
        for member in archive.infolist():
            if not member.filename.lower().startswith(_PICTURES):
                part = archive.read(member)
                if changed := change(member.filename, part):
                    copy.writestr(member.filename, changed)
    return buffer.getvalue()


def bomb() -> ReadingError:
    """Return the error for a file that unpacks to far more than its size."""
    return ReadingError(*_BOMB)


def refuse_entities(source: bytes) -> None:
    """Raise a ``ReadingError`` if the start of an XML file defines entities."""
    if b"<!ENTITY" in source[:65_536].replace(b"\x00", b""):
        raise ReadingError(*_ENTITIES)


def part_of(archive: zipfile.ZipFile, name: str) -> Element | None:
    """Return a member parsed as XML, or ``None`` if it is absent or damaged."""
    try:
        return xml(archive, name)
    except (KeyError, ElementTree.ParseError):
        return None


def relations(archive: zipfile.ZipFile, part: str) -> dict[str, tuple[str, str]]:
    """Return the parts that a part of an Office file refers to: id to (member name, kind)."""
    folder, base = posixpath.split(part)
    root = part_of(archive, f"{folder}/_rels/{base}.rels")
    return {
        relation.get("Id", ""): (
            resolved(folder, relation.get("Target", "")),
            relation.get("Type", "").rsplit("/", 1)[-1],
        )
        for relation in (() if root is None else root)
    }


def web_links(archive: zipfile.ZipFile, part: str) -> dict[str, str]:
    """Return the addresses on the web, or of mail, that a part refers to, by their ids."""
    folder, base = posixpath.split(part)
    root = part_of(archive, f"{folder}/_rels/{base}.rels")
    return {
        relation.get("Id", ""): relation.get("Target", "")
        for relation in (() if root is None else root)
        if _LINK.fullmatch(relation.get("Target", ""))
    }


def resolved(folder: str, target: str) -> str:
    """Return the name of the member that ``target`` means, relative to a folder."""
    return posixpath.normpath(posixpath.join(folder, target)).lstrip("/")


def _allowed(members: list[zipfile.ZipInfo], limits: Limits) -> int:
    """Check the sizes in the headers; return how many bytes of markup may be unpacked."""
    total = sum(member.file_size for member in members)
    packed = sum(member.compress_size for member in members)
    most = most_markup(limits)
    if len(members) > _MOST_MEMBERS or total > max(most, limits.max_file_mb * MEGABYTE * 3):
        raise ReadingError(*_BOMB)
    if total > _RATIO_FROM and total > packed * _HIGHEST_RATIO:
        raise ReadingError(*_BOMB)
    return most


def _weigh(archive: zipfile.ZipFile, member: zipfile.ZipInfo, allowed: int) -> int:
    """Return the true size of a member, unpacked without keeping it."""
    size = 0
    with archive.open(member) as stream:
        while block := stream.read(_BLOCK):
            if size == 0:
                refuse_entities(block)
            size += len(block)
            if size > allowed:
                raise ReadingError(*_BOMB)
    return size
