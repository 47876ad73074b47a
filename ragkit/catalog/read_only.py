"""Reading a catalog in a read-only folder or on a full disk: SQLite cannot make the file "-shm"."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from ragkit.catalog.copies import JOURNAL, LOG, SHARED_MEMORY
from ragkit.catalog.schema import MIGRATIONS, migrate
from ragkit.paths import LibraryPaths

_SHARED_MEMORY_BYTES = 32 * 1024


def may_write(file: Path) -> bool:
    """Return whether a catalog, if it exists, and its folder are writable."""
    return os.access(file.parent, os.W_OK) and (not file.exists() or os.access(file, os.W_OK))


def has_room(file: Path) -> bool:
    """Return whether a catalog does not exist yet, or has "-shm", or has room for it beside it."""
    shared = Path(f"{file}{SHARED_MEMORY}")
    if not file.exists() or (shared.exists() and shared.stat().st_size >= _SHARED_MEMORY_BYTES):
        return True
    try:
        with tempfile.TemporaryFile(dir=file.parent, buffering=0) as probe:
            probe.write(bytes(_SHARED_MEMORY_BYTES))
    except OSError as error:
        return error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return True


def readable(file: Path) -> tuple[str, tempfile.TemporaryDirectory[str] | None]:
    """Return the URI by which a catalog can be read, and the temporary folder of a copy, if any.

    It is copied, with its log or journal, if these need recovery and no process has "-shm" open, or
    if it is of an earlier version; the copy is then migrated.

    Raises:
        sqlite3.Error: it cannot be read.
        OSError: it cannot be read or copied.
    """
    uri, as_it_is = _address(file)
    try:
        if as_it_is:
            with closing(sqlite3.connect(uri, uri=True)) as connection:
                version = connection.execute("PRAGMA user_version").fetchone()[0]
            if not 0 < version < len(MIGRATIONS):
                return uri, None
    except sqlite3.OperationalError:
        if "immutable" in uri:
            raise
    folder = tempfile.TemporaryDirectory(prefix="ragkit-read-", ignore_cleanup_errors=True)
    copy = Path(folder.name, file.name)
    for source in (file, *_beside(file)):
        if source.exists():
            target = copy.with_name(source.name)
            shutil.copyfile(source, target)
    with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
        migrate(connection)
    return copy.as_uri(), folder


def collection_names(paths: LibraryPaths) -> list[str]:
    """Return the names of a library's collections in order, without writing, copying or waiting.

    Returns an empty list if that is not possible.
    """
    try:
        uri, as_it_is = _address(paths.catalog)
        if not as_it_is:
            return []
        with closing(sqlite3.connect(uri, uri=True, timeout=0)) as connection:
            rows = connection.execute("SELECT name FROM collections ORDER BY name").fetchall()
    except (sqlite3.Error, OSError):
        return []
    return [name for (name,) in rows]


def _beside(file: Path) -> list[Path]:
    """Return the paths of the catalog's journal and log, whether they exist or not."""
    return [Path(f"{file}{ending}") for ending in (JOURNAL, LOG)]


def _address(file: Path) -> tuple[str, bool]:
    """Return the read-only URI of a catalog, and whether it can be read without a copy."""
    logged = any(each.exists() and each.stat().st_size > 0 for each in _beside(file))
    uri = f"{file.absolute().as_uri()}?mode=ro" + ("" if logged else "&immutable=1")
    return uri, not logged or Path(f"{file}{SHARED_MEMORY}").exists()
