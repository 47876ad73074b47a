"""Copies of a whole catalog: backups in the library, and replacing the catalog by another."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
import uuid
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ragkit.catalog.connection import PUT_META
from ragkit.catalog.failures import disk_is_full
from ragkit.catalog.marker import META_KEY, noted_in, read_marker
from ragkit.catalog.schema import MIGRATIONS
from ragkit.errors import CatalogError, LibraryFormatError
from ragkit.formatting import byte_size, plural
from ragkit.paths import LibraryPaths

KEPT_BACKUPS = 3

JOURNAL, LOG, SHARED_MEMORY = "-journal", "-wal", "-shm"
"""The endings of the files that SQLite keeps beside a database."""

BESIDE = (JOURNAL, LOG, SHARED_MEMORY)

_DAY = 86_400.0
_STAMP = "%Y%m%d-%H%M%S"


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy of the catalog: its file, its time in seconds since the epoch, its size in bytes."""

    file: Path
    at: float
    size: int


def backups(paths: LibraryPaths) -> list[Backup]:
    """Return the backups in the library, the newest first."""
    copies = []
    for file in sorted(paths.backups.glob("catalog-*.sqlite"), reverse=True):
        with suppress(ValueError, OSError):
            at = datetime.strptime(file.stem.removeprefix("catalog-"), _STAMP).replace(tzinfo=UTC)
            copies.append(Backup(file, at.timestamp(), file.stat().st_size))
    return copies


def backup_is_due(paths: LibraryPaths) -> bool:
    """Return whether there is no backup of the last 24 hours."""
    newest = next(iter(backups(paths)), None)
    return newest is None or not 0 <= time.time() - newest.at < _DAY


def keep_backup(paths: LibraryPaths, connection: sqlite3.Connection) -> Backup:
    """Write a backup into the library, and delete all but the newest three.

    Raises:
        CatalogError: the catalog is damaged, or the backup cannot be written; none is deleted.
    """
    file = paths.backups / f"catalog-{datetime.now(UTC):{_STAMP}}.sqlite"
    try:
        paths.backups.mkdir(mode=0o700, exist_ok=True)
        for unfinished in paths.backups.glob(".copy-*"):
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(file, error) from error
    write_copy(connection, file)
    newest, *older = backups(paths)
    for old in older[KEPT_BACKUPS - 1 :]:
        old.file.unlink(missing_ok=True)
    return newest


def write_copy(connection: sqlite3.Connection, file: Path) -> None:
    """Write a snapshot of a catalog to a file, which is checked before it gets its name.

    Raises:
        CatalogError: the catalog is damaged, or the file cannot be written.
    """
    partial = file.with_name(f".copy-{uuid.uuid4().hex}")
    try:
        os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with closing(sqlite3.connect(partial)) as copy:
            connection.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
        check_copy(partial)
        with partial.open("rb+") as stream:
            os.fsync(stream.fileno())
        partial.replace(file)
    except sqlite3.DatabaseError as error:
        if disk_is_full(error):
            raise CatalogError(
                "No backup was made: the disk is full.", "Free some space."
            ) from error
        raise CatalogError(
            f"No backup was made: the catalog cannot be copied ({error}).",
            "Run ragkit doctor. ragkit recover saves what can still be read.",
        ) from error
    except OSError as error:
        raise _unwritable(file, error) from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def check_copy(file: Path) -> None:
    """Raise unless a file is an intact catalog of a version that this program knows.

    Raises:
        CatalogError: it is not intact.
        LibraryFormatError: a newer ragkit has written it.
    """
    version, fault = 0, ""
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as copy:
            version = copy.execute("PRAGMA user_version").fetchone()[0]
            copy.execute("SELECT COUNT(*) FROM documents").fetchone()
            fault = copy.execute("PRAGMA quick_check(1)").fetchone()[0]
            if version < 1:
                fault = f"it has version {version}"
    except sqlite3.Error as error:
        fault = str(error)
    if fault != "ok":
        raise CatalogError(f"{file} is not an intact catalog: {fault}.", "Use another backup.")
    if version > len(MIGRATIONS):
        raise LibraryFormatError(
            f"{file} was written by a newer ragkit (catalog version {version}).", "Update ragkit."
        )


def settle(file: Path) -> None:
    """Have SQLite apply the log or journal that a killed process left beside a catalog.

    A damaged log is left alone, since SQLite would drop its contents.
    """
    from ragkit.catalog.write_ahead_log import log_is_damaged

    if not file.is_file() or log_is_damaged(Path(f"{file}{LOG}")):
        return
    with suppress(sqlite3.Error), closing(sqlite3.connect(file)) as connection:
        connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def put_in_place(paths: LibraryPaths, new: Path) -> Path | None:
    """Replace the library's catalog by a checked one; return where the old one is kept, if any.

    If this is killed at any instant, the library has the old catalog or the new one, or reports
    that it has none. The log and journal of the old one are moved away with it, and index files are
    deleted.

    Raises:
        OSError: a file cannot be moved.
        sqlite3.Error: the new catalog cannot be written.
    """
    _adopt(paths, new)
    replaced = None
    folder = paths.root / "replaced"
    target = folder / f"catalog-{datetime.now(UTC):{_STAMP}}-{uuid.uuid4().hex[:4]}.sqlite"
    for ending in (*BESIDE, ""):
        old = Path(f"{paths.catalog}{ending}")
        if os.path.lexists(old):
            folder.mkdir(mode=0o700, exist_ok=True)
            old.replace(Path(f"{target}{ending}"))
            replaced = target
    new.replace(paths.catalog)
    for indexes in paths.indexes.glob("*"):
        shutil.rmtree(indexes, ignore_errors=True)
    return replaced


def _adopt(paths: LibraryPaths, new: Path) -> None:
    """Give a catalog the library's identity, ``saved`` above the marker's, and no jobs."""
    marker = read_marker(paths)
    with closing(sqlite3.connect(new)) as connection:
        stored = noted_in(connection)
        identity = marker.identity if marker else stored.get("identity") or uuid.uuid4().hex
        saved = max(int(stored.get("saved", 0)), marker.saved if marker else 0) + 1
        value = json.dumps({"identity": identity, "saved": saved})
        connection.execute(PUT_META, (META_KEY, value))
        connection.execute("DELETE FROM jobs")
        connection.execute("DELETE FROM workers")
        connection.commit()
        connection.execute("PRAGMA journal_mode = DELETE")
    with new.open("rb+") as stream:
        os.fsync(stream.fileno())


def on_server() -> CatalogError:
    """Return the error for a request to copy a catalog on a server."""
    return CatalogError(
        "A catalog on a server is not copied by ragkit.",
        "Make a backup where it runs (pg_dump), or move the library into a folder: ragkit move.",
    )


def _unwritable(file: Path, error: OSError) -> CatalogError:
    why = (error.strerror or str(error)).lower()
    return CatalogError(
        f"{file} cannot be written: {why}.", "Choose another place, or free some space."
    )


BACKUPS_OF_SERVER = "Backups of the catalog are made where its server runs (pg_dump)."


def describe(kept: Sequence[Backup]) -> str:
    """Return a sentence with the number of backups, their size, and the time of the newest."""
    if not kept:
        return "No backups of the catalog yet."
    when = datetime.fromtimestamp(kept[0].at).astimezone()
    total = byte_size(sum(backup.size for backup in kept))
    return f"{plural(len(kept), 'backup')}, {total}; the newest of {when:%Y-%m-%d %H:%M}."
