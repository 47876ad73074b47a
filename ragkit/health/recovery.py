"""Backups of the catalog, restoring one, and recovering a damaged catalog.

An archive (``archive.py``) holds a whole library, for use elsewhere. A backup is a daily copy of
the catalog inside the library, so that a damaged file costs one day at most.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragkit.catalog import Catalog
from ragkit.catalog.copies import (
    JOURNAL,
    LOG,
    backups,
    check_copy,
    keep_backup,
    on_server,
    put_in_place,
    settle,
    write_copy,
)
from ragkit.catalog.foreign import move_uploads
from ragkit.catalog.machine import refuse_other_place
from ragkit.catalog.salvage import SavedTable, salvage
from ragkit.errors import CatalogError, LibraryError, RagkitError, SourceError
from ragkit.formatting import byte_size, plural
from ragkit.indexing.progress import Reporter
from ragkit.indexing.sync import sync_source
from ragkit.indexing.writer import Writer, writer_lock
from ragkit.paths import LibraryPaths
from ragkit.sources.scan import scan_folder

_NAMES = {
    "documents": "document",
    "judgments": "judgment",
    "threads": "thread",
    "contexts": "context",
    "runs": "kept run",
    "vectors": "vector",
}


@dataclass(frozen=True, slots=True)
class Recovered:
    """What was recovered, in sentences, and where the previous catalog is kept."""

    sentences: tuple[str, ...]
    aside: Path | None


def back_up(writer: Writer, arguments: Mapping[str, Any], reporter: Reporter) -> str:
    """Copy the catalog to a backup in the library, or to the given file.

    Raises:
        CatalogError: the catalog is damaged or on a server, or the copy cannot be written.
    """
    reporter.start("Copying the catalog", 1)
    connection = writer.catalog.connections.get()
    if writer.catalog.connections.file is None:
        raise on_server()
    if name := arguments.get("file"):
        file = Path(str(name))
        if file.exists():
            raise LibraryError(f"{file} already exists.", "Choose another file.")
        write_copy(connection, file)
        return f"Wrote {file}: {byte_size(file.stat().st_size)}. Uploaded files are not in it."
    backup = keep_backup(writer.paths, connection)
    return f"Wrote {backup.file}: {byte_size(backup.size)}."


def restore(paths: LibraryPaths, file: Path | None = None) -> Recovered:
    """Restore a backup: the newest sound one, or the given file.

    Raises:
        LibraryError: there is no such backup, it is damaged, or the disk is full.
        LibraryBusyError: another process writes to the library.
    """
    with _changing(paths, "restore") as scratch:
        chosen = file.expanduser() if file is not None else _newest_sound(paths)
        if chosen is None or not chosen.is_file():
            where = f"There is no backup {chosen}." if chosen else "There is no intact backup."
            raise LibraryError(where, "Run ragkit restore --list, or try ragkit recover.")
        check_copy(chosen)
        new = scratch / "restored.sqlite"
        _copy(chosen, new)
        aside = put_in_place(paths, new)
    return Recovered((f"The library was restored from {chosen.name}.",), aside)


def recover(paths: LibraryPaths) -> Recovered:
    """Recover what is readable of the catalog; fill gaps from the newest sound backup.

    A sound catalog stays as it is.

    Raises:
        LibraryFormatError: a newer ragkit has written it; what only that knows would be lost.
        LibraryError: the disk is full, or the library cannot be written.
        LibraryBusyError: another process writes to the library.
    """
    with _changing(paths, "recover") as scratch:
        new, backup = scratch / "recovered.sqlite", _newest_sound(paths)
        if _is_sound(paths, backup):
            _copy(paths.catalog, new)
            sentences: tuple[str, ...] = ("The catalog is intact; nothing was changed.",)
        else:
            reports = salvage(paths.catalog, backup, new, scratch)
            check_copy(new)
            sentences = _sentences(reports, backup)
        aside = put_in_place(paths, new)
    return Recovered(sentences, aside)


def _is_sound(paths: LibraryPaths, backup: Path | None) -> bool:
    """Return whether the catalog is sound, and not empty while the backup has documents."""
    from ragkit.catalog.write_ahead_log import log_is_damaged

    if not paths.catalog.is_file() or log_is_damaged(Path(f"{paths.catalog}{LOG}")):
        return False
    try:
        check_copy(paths.catalog)
    except CatalogError:
        return False
    return _documents(paths.catalog) > 0 or backup is None or not _documents(backup)


def _documents(file: Path) -> int:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy.sqlite")
        _copy(file, copy)
        with closing(Catalog.open(copy)) as catalog:
            return catalog.documents.counts().documents


def adopt_uploads(writer: Writer, _arguments: Mapping[str, Any], reporter: Reporter) -> str:
    """Index uploaded files that the catalog does not list, and update paths of uploads."""
    move_uploads(writer.catalog.connections, writer.paths.uploads)
    collections, count = writer.catalog.collections, 0
    for folder in sorted(writer.paths.uploads.glob("[0-9]*")):
        if not _files_in(folder):
            continue
        by_id = {collection.id: collection for collection in collections.all()}
        collection = by_id.get(int(folder.name)) if folder.name.isdecimal() else None
        if collection is None:
            collection = collections.ensure(f"uploads {folder.name}")
            place = writer.paths.collection_uploads(collection.id)
            if place != folder and not place.exists():
                folder.rename(place)
            folder = place
        source = collections.ensure_source(collection.id, "uploads", str(folder))
        count += sync_source(writer, source, reporter).indexed
        writer.indexes.save(collections.get(collection.name))
    return f"Read {plural(count, 'uploaded file')} that the catalog did not have."


def forget_gaps(catalog: Catalog) -> None:
    """Mark documents with entries without words to be read again."""
    catalog.files.forget_attempt(
        catalog.connections.column(
            "SELECT DISTINCT document_id FROM entries e "
            "WHERE NOT EXISTS (SELECT 1 FROM entry_tokens t WHERE t.entry_id = e.id)"
        )
    )


def unknown_uploads(catalog: Catalog, paths: LibraryPaths) -> list[Path]:
    """Return uploaded files that the catalog does not list, if no job is waiting to read them.

    Files that are not indexed, such as temporary ones, are not among them.
    For a library on a server there are none: the next sync reads such files.
    """
    if paths.machine or catalog.jobs.open():
        return []
    recorded = {
        paths.uploads / Path(source.root).name / path
        for source in catalog.collections.sources()
        if source.kind == "uploads"
        for path in catalog.files.known(source.id)
    }
    folders = sorted(paths.uploads.glob("[0-9]*"))
    return [file for folder in folders for file in _files_in(folder) if file not in recorded]


def _files_in(folder: Path) -> list[Path]:
    """Return the files of a folder that a sync would read."""
    with suppress(SourceError):
        return [folder / path for path in sorted(scan_folder(folder).files)]
    return []


HANDLERS = {"backup": back_up, "adopt_uploads": adopt_uploads}
"""The jobs of this module, by kind."""


@contextmanager
def _changing(paths: LibraryPaths, role: str) -> Iterator[Path]:
    """Hold the writer's lock while the catalog is replaced; yield a scratch folder."""
    if not paths.root.is_dir():
        raise LibraryError(
            f"There is no library in {paths.root}.", "Choose another with --library."
        )
    refuse_other_place(paths, on_server=False)
    paths.create()
    try:
        with (
            writer_lock(paths.lock, role),
            tempfile.TemporaryDirectory(prefix="recover-", dir=paths.temporary) as scratch,
        ):
            settle(paths.catalog)
            yield Path(scratch)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise LibraryError(
            f"The catalog was not replaced: {why}.", "Check permissions and free space."
        ) from error


def _newest_sound(paths: LibraryPaths) -> Path | None:
    for backup in backups(paths):
        with suppress(RagkitError):
            check_copy(backup.file)
            return backup.file
    return None


def _copy(source: Path, target: Path) -> None:
    """Copy a catalog with its journal and log."""
    for ending in ("", JOURNAL, LOG):
        if Path(f"{source}{ending}").is_file():
            shutil.copyfile(f"{source}{ending}", f"{target}{ending}")


def _sentences(reports: Sequence[SavedTable], backup: Path | None) -> tuple[str, ...]:
    sentences = []
    for report in reports:
        if report.name in _NAMES and (report.saved or report.from_backup or report.gaps):
            text = f"Saved {plural(report.saved, _NAMES[report.name])}"
            if report.from_backup and backup is not None:
                text += f", and {report.from_backup} of {backup.name}"
            sentences.append(text + (", not all." if report.gaps else "."))
    if any(report.gaps for report in reports):
        names = ", ".join(report.name for report in reports if report.gaps)
        sentences.append(f"Parts of these tables could not be read: {names}.")
    return tuple(sentences)
