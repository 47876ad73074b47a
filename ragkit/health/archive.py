"""Exports a library as one archive file, a consistent snapshot.

An archive is a ZIP of ``catalog.sqlite``, ``settings.json``, ``uploads/…`` and, last,
``manifest.json`` with the size and BLAKE2b hash of every other file. Index files are left out: they
are rebuilt from the catalog without calling a model.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tempfile
import time
import zipfile
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import IO

from ragkit.catalog import Catalog
from ragkit.errors import LibraryError
from ragkit.formatting import plural
from ragkit.paths import FORMAT_VERSION, LibraryPaths
from ragkit.settings import Settings
from ragkit.types import ALL_COLLECTIONS
from ragkit.versions import __version__

ARCHIVE_VERSION = 1
"""Bump when older versions could no longer read an archive."""

FORMAT = "ragkit library"
CATALOG, SETTINGS, MANIFEST = "catalog.sqlite", "settings.json", "manifest.json"
UPLOADS = "uploads"
BLOCK_BYTES = 1 << 20
SETTING_GROUPS = ("chunking", "models")


@dataclass(frozen=True, slots=True)
class ArchivedFile:
    """An archived file: size in bytes, BLAKE2b hash, and time of modification."""

    size: int
    hash: str
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class ArchiveReport:
    """What was archived or restored; ``size`` is in bytes, ``notes`` are sentences for people."""

    documents: int
    uploads: int
    size: int
    notes: tuple[str, ...] = ()


def export_library(
    settings: Settings,
    paths: LibraryPaths,
    catalog: Catalog,
    target: Path,
    *,
    overwrite: bool = False,
) -> ArchiveReport:
    """Write the library as it is now to ``target``, atomically.

    Raises:
        LibraryError: the file exists already, or cannot be written.
    """
    target = target.expanduser().absolute()
    if target.exists() and not overwrite:
        raise LibraryError(f"{target} already exists.", "Choose another file, or pass --force.")
    try:
        with tempfile.TemporaryDirectory(prefix=".ragkit-export-", dir=target.parent) as scratch:
            partial = Path(scratch, "archive.zip")
            report = _write(settings, paths, catalog, partial, Path(scratch, CATALOG))
            with partial.open("rb+") as stream:
                os.fsync(stream.fileno())
            partial.chmod(0o600)
            partial.replace(target)
    except OSError as error:
        raise LibraryError(
            f"{target} could not be written: {(error.strerror or str(error)).lower()}.",
            "Choose another place, or free some space.",
        ) from error
    return report


def _write(
    settings: Settings, paths: LibraryPaths, catalog: Catalog, file: Path, snapshot: Path
) -> ArchiveReport:
    catalog.integrity.copy(snapshot)
    with closing(Catalog.open(snapshot)) as copied:
        documents = copied.documents.counts().documents
        entries = copied.entries.count(ALL_COLLECTIONS)
        listed = [Path(root, path) for root, path in copied.integrity.upload_paths()]
        version = copied.integrity.version()
        threads = len(copied.threads.all())
    files: dict[str, ArchivedFile] = {}
    notes: list[str] = []
    if threads:
        notes.append(f"It includes {plural(threads, 'kept thread')} of questions and answers.")
    recorded = {name: getattr(settings, name).model_dump(mode="json") for name in SETTING_GROUPS}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive:
        files[CATALOG] = _add_file(archive, CATALOG, snapshot)
        files[SETTINGS] = _add_json(archive, SETTINGS, recorded)
        for name, path in sorted(_uploads(paths.uploads.absolute(), listed).items()):
            member = f"{UPLOADS}/{name}"
            if not is_plain(member):
                notes.append(f"{name!r} was left out: not every system allows that name.")
                continue
            try:
                files[member] = _add_file(archive, member, path)
            except FileNotFoundError:
                notes.append(f"The uploaded file {name} is missing; its text is in the archive.")
        manifest = {
            "format": FORMAT,
            "archive_version": ARCHIVE_VERSION,
            "library_version": FORMAT_VERSION,
            "catalog_version": version,
            "written_by": f"ragkit {__version__}",
            "written_at": time.time(),
            "documents": documents,
            "entries": entries,
            "files": {name: asdict(record) for name, record in files.items()},
        }
        _add_json(archive, MANIFEST, manifest)
    uploads = sum(name.startswith(f"{UPLOADS}/") for name in files)
    return ArchiveReport(documents, uploads, file.stat().st_size, tuple(notes))


def _uploads(folder: Path, listed: Iterable[Path]) -> dict[str, Path]:
    """Return the uploaded files by relative path, also unlisted ones, but no links."""
    paths = {path for path in folder.rglob("*") if stat.S_ISREG(path.lstat().st_mode)}
    paths |= {path for path in listed if path.is_relative_to(folder)}
    return {path.relative_to(folder).as_posix(): path for path in paths}


def _add(archive: zipfile.ZipFile, name: str, source: IO[bytes], mtime_ns: int = 0) -> ArchivedFile:
    digest, size = hashlib.blake2b(digest_size=32), 0
    info = zipfile.ZipInfo(name)
    info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o600 << 16
    with archive.open(info, "w", force_zip64=True) as member:
        while block := source.read(BLOCK_BYTES):
            digest.update(block)
            size += len(block)
            member.write(block)
    return ArchivedFile(size, digest.hexdigest(), mtime_ns)


def _add_file(archive: zipfile.ZipFile, name: str, path: Path) -> ArchivedFile:
    with path.open("rb") as source:
        return _add(archive, name, source, os.fstat(source.fileno()).st_mtime_ns)


def _add_json(archive: zipfile.ZipFile, name: str, value: object) -> ArchivedFile:
    return _add(archive, name, BytesIO(json.dumps(value, indent=1).encode()))


def is_plain(name: str) -> bool:
    """Return whether this is a valid name of an archived file on every system."""
    if name in (CATALOG, SETTINGS, MANIFEST):
        return True
    parts = name.split("/")
    return (
        len(parts) >= 3
        and parts[0] == UPLOADS
        and parts[1].isascii()
        and parts[1].isdecimal()
        and all(part.strip(" .") for part in parts)
        and not any(ord(char) < 32 or char in '\\:*?"<>|' for char in name)
        and not any(0xD800 <= ord(char) < 0xE000 for char in name)
    )
