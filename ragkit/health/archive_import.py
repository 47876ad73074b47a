"""Imports a library from an archive (``archive.py``), which may be damaged or hostile."""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import shutil
import stat
import tempfile
import zipfile
import zlib
from contextlib import closing, suppress
from pathlib import Path
from typing import IO, Any

from ragkit.catalog import Catalog
from ragkit.catalog.copies import BESIDE
from ragkit.catalog.foreign import examine, move_uploads
from ragkit.catalog.marker import META_KEY
from ragkit.errors import LibraryError, LibraryFormatError
from ragkit.health.archive import (
    ARCHIVE_VERSION,
    BLOCK_BYTES,
    CATALOG,
    FORMAT,
    MANIFEST,
    SETTING_GROUPS,
    SETTINGS,
    UPLOADS,
    ArchivedFile,
    ArchiveReport,
    is_plain,
)
from ragkit.indexing.writer import writer_lock
from ragkit.paths import FORMAT_VERSION, LibraryPaths
from ragkit.settings import Settings

_MOST_MANIFEST_BYTES = 200_000_000
_MOST_RATIO = 200
_SMALL_BYTES = 100_000_000
_SPARE_BYTES = 200_000_000
_NOT_WHOLE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError,
    UnicodeDecodeError,
)  # fmt: skip
_DAMAGED = "Export the library again, or use another copy of the archive."


def import_library(archive: Path, directory: Path, settings: Settings) -> ArchiveReport:
    """Restore a library from an archive into ``directory``; the catalog is put in place last.

    Raises:
        LibraryError: the archive is damaged or hostile, or the directory is not empty.
        LibraryFormatError: it was written by a newer version.
        LibraryBusyError: another process writes in that directory.
    """
    paths = LibraryPaths(directory.expanduser().absolute())
    _refuse_contents(paths)
    made_here = not paths.root.exists()
    paths.create()
    try:
        return _import(archive, paths, settings)
    except BaseException:
        if made_here:
            shutil.rmtree(paths.root, ignore_errors=True)
        raise


def _import(archive: Path, paths: LibraryPaths, settings: Settings) -> ArchiveReport:
    try:
        with (
            writer_lock(paths.lock, "import"),
            zipfile.ZipFile(archive.expanduser()) as opened,
            tempfile.TemporaryDirectory(prefix="import-", dir=paths.temporary) as scratch,
        ):
            manifest, files = _manifest(opened)
            _refuse_bomb(opened, files, paths)
            unpacked = Path(scratch)
            for name, record in files.items():
                _extract(opened, name, record, unpacked)
            _adopt(unpacked / CATALOG, paths)
            _refuse_contents(paths)
            _move_in(unpacked, paths)
            notes = _differences(unpacked / SETTINGS, settings)
    except FileNotFoundError as error:
        raise LibraryError(f"File not found: {archive}.", "Check the path.") from error
    except _NOT_WHOLE as error:
        raise LibraryError(f"{archive} is not a complete archive: {error}.", _DAMAGED) from error
    except OSError as error:
        raise LibraryError(
            f"{archive} could not be imported: {(error.strerror or str(error)).lower()}.",
            "Check permissions and free disk space.",
        ) from error
    uploads = sum(name.startswith(f"{UPLOADS}/") for name in files)
    size = sum(record.size for record in files.values())
    return ArchiveReport(int(manifest.get("documents", 0)), uploads, size, notes)


def _refuse_contents(paths: LibraryPaths) -> None:
    """Raise a ``LibraryError`` if the directory holds a library with contents or other files."""
    if not paths.catalog.exists():
        own = {paths.logs, paths.temporary, paths.indexes, paths.lock}
        own |= {paths.lock.with_suffix(".json"), paths.marker}
        others = [
            path
            for path in paths.root.glob("*")
            if path not in own and (not path.is_dir() or any(path.iterdir()))
        ]
        if others:
            raise LibraryError(
                f"{paths.root} contains other files ({others[0].name}).",
                "Choose an empty directory with --library.",
            )
        return
    with closing(Catalog.open(paths.catalog)) as catalog:
        full = catalog.collections.has_sources() or catalog.documents.any()
        catalog.integrity.settle()
    if full:
        raise LibraryError(
            f"There is already a library in {paths.root}.",
            "Choose another directory with --library; nothing is ever overwritten.",
        )


def _manifest(archive: zipfile.ZipFile) -> tuple[dict[str, Any], dict[str, ArchivedFile]]:
    """Return the checked manifest of an archive, and the files that it lists by name."""
    names = archive.namelist()
    if len(set(names)) != len(names):
        raise _refusal("it contains the same name twice")
    if MANIFEST not in names:
        raise _refusal("its manifest is missing")
    if archive.getinfo(MANIFEST).file_size > _MOST_MANIFEST_BYTES:
        raise _refusal("its manifest is too long")
    try:
        manifest = json.loads(archive.read(MANIFEST))
        if manifest["format"] != FORMAT:
            raise _refusal("it is not an archive of a library")
        newer = (
            int(manifest["archive_version"]) > ARCHIVE_VERSION
            or int(manifest["library_version"]) > FORMAT_VERSION
        )
        files = {
            str(name): ArchivedFile(
                int(record["size"]), str(record["hash"]), int(record["mtime_ns"])
            )
            for name, record in manifest["files"].items()
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _refusal("its manifest is invalid") from error
    if newer:
        raise LibraryFormatError(
            f"The archive was written by a newer version ({manifest.get('written_by')}).",
            "Update ragkit.",
        )
    if {*files, MANIFEST} != set(names):
        raise _refusal("its files are not those of its manifest")
    if CATALOG not in files:
        raise _refusal("it contains no catalog")
    for info in archive.infolist():
        kind = stat.S_IFMT(info.external_attr >> 16)
        if not is_plain(info.filename) or kind not in (0, stat.S_IFREG):
            raise _refusal(f"it contains the unexpected file {info.filename[:200]!r}")
    return manifest, files


def _refuse_bomb(
    archive: zipfile.ZipFile, files: dict[str, ArchivedFile], paths: LibraryPaths
) -> None:
    """Raise if the archive would unpack to far more than its size, or than the free space."""
    for name, record in files.items():
        if record.size != archive.getinfo(name).file_size:
            raise _refusal(f"the size of {name} is not that of the manifest")
    total = sum(record.size for record in files.values())
    packed = sum(info.compress_size for info in archive.infolist())
    if total > _SMALL_BYTES and total > _MOST_RATIO * max(packed, 1):
        raise _refusal(f"it would unpack to {total / 1e9:.1f} GB from {packed / 1e6:.1f} MB")
    free = shutil.disk_usage(paths.root).free
    if total + _SPARE_BYTES > free:
        raise LibraryError(
            f"The library needs {total / 1e9:.1f} GB; the disk has {free / 1e9:.1f} GB free.",
            "Free some space, or choose another place with --library.",
        )


def _extract(archive: zipfile.ZipFile, name: str, record: ArchivedFile, folder: Path) -> None:
    target = folder / name
    target.parent.mkdir(parents=True, exist_ok=True)
    digest, left = hashlib.blake2b(digest_size=32), record.size
    with archive.open(name) as source, target.open("xb") as file:
        while block := _read(source, min(BLOCK_BYTES, left + 1)):
            left -= len(block)
            if left < 0:
                break
            digest.update(block)
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
    if left or digest.hexdigest() != record.hash:
        raise _refusal(f"{name} is damaged")
    if record.mtime_ns:
        with suppress(OSError, OverflowError):
            os.utime(target, ns=(record.mtime_ns, record.mtime_ns))


def _read(source: IO[bytes], size: int) -> bytes:
    try:
        return source.read(size)
    except RuntimeError as error:  # an encrypted member
        raise _refusal(str(error)) from error


def _adopt(file: Path, paths: LibraryPaths) -> None:
    """Check an imported catalog, migrate it, and update the paths of its uploads."""
    examine(file)
    with closing(Catalog.open(file)) as catalog:
        move_uploads(catalog.connections, paths.uploads)
        # From now on, it is another library than the exported one.
        catalog.set_meta(META_KEY, None)
        catalog.mark()
        catalog.integrity.settle()


def _move_in(unpacked: Path, paths: LibraryPaths) -> None:
    """Move uploads first and the catalog last; until then, the library stays empty."""
    for folder in sorted(paths.indexes.iterdir()):
        shutil.rmtree(folder, ignore_errors=True)
    uploads = unpacked / UPLOADS
    for folder in sorted(uploads.iterdir()) if uploads.is_dir() else ():
        target = paths.uploads / folder.name
        shutil.rmtree(target, ignore_errors=True)
        folder.rename(target)
    for ending in BESIDE:
        Path(f"{paths.catalog}{ending}").unlink(missing_ok=True)
    (unpacked / CATALOG).replace(paths.catalog)
    LibraryPaths(unpacked).marker.replace(paths.marker)


def _differences(file: Path, settings: Settings) -> tuple[str, ...]:
    """Return a sentence for each setting that differs here; the archive's are not applied."""
    try:
        recorded = json.loads(file.read_text("utf-8"))
        return tuple(
            f"It was made with {group}.{name} = {recorded[group][name]}; here it is {value}. "
            "The next sync reads its files again."
            for group in SETTING_GROUPS
            for name, value in getattr(settings, group).model_dump(mode="json").items()
            if name in recorded[group] and recorded[group][name] != value and name != "ollama_url"
        )
    except (OSError, ValueError, KeyError, TypeError):
        return ()


def _refusal(what: str) -> LibraryError:
    return LibraryError(f"The archive is refused: {what}.", _DAMAGED)
