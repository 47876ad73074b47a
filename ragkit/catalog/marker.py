"""The marker: a file beside the catalog that says what the catalog holds.

To SQLite an empty catalog is sound; only the marker tells that it once held something. The marker
and the catalog both have ``saved``, the number of times that a marker was written. The catalog's is
on the disk first, so a catalog whose number is lower has lost changes.
"""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
import stat
import time
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragkit.catalog.connection import PUT_META
from ragkit.errors import CatalogError, LibraryError, RagkitError
from ragkit.formatting import plural
from ragkit.paths import LibraryPaths, write_private

if TYPE_CHECKING:
    from ragkit.catalog.connection import Connections, Transaction

logger = logging.getLogger(__name__)

CURE = (
    "Run ragkit restore to go back to the last good backup, or ragkit recover to save what can be "
    "read and read the rest again from your folders."
)
META_KEY = "library"
"""The key in ``meta`` of the library's identity and ``saved``."""

MOVE_KEY = "move"
"""The key in ``meta`` of an unfinished copy, for the identity of the original."""

_COUNTED = ("collections", "sources", "documents", "judgments", "threads")


@dataclass(frozen=True, slots=True)
class Marker:
    """The identity of a library and what it held ``at`` a time, in seconds since the epoch."""

    identity: str
    saved: int
    version: int
    at: float
    collections: int = 0
    sources: int = 0
    documents: int = 0
    judgments: int = 0
    threads: int = 0

    @property
    def full(self) -> bool:
        """Whether the library held anything that would be missed."""
        return bool(self.sources or self.documents or self.judgments or self.threads)

    def __str__(self) -> str:
        when = datetime.fromtimestamp(self.at).astimezone()
        return f"{plural(self.documents, 'document')} on {when:%Y-%m-%d at %H:%M}"


def read_marker(paths: LibraryPaths) -> Marker | None:
    """Return the marker of a library, or ``None`` if it is missing or damaged."""
    try:
        values = json.loads(paths.marker.read_text("utf-8"))
        if values.pop("check") != _check(values):
            return None
        return Marker(**values)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def write_marker(paths: LibraryPaths, marker: Marker) -> None:
    """Write a marker atomically, and flush it to the disk."""
    values = asdict(marker)
    write_private(paths.marker, json.dumps({**values, "check": _check(values)}, indent=1))


def _check(values: dict[str, Any]) -> str:
    return hashlib.blake2b(json.dumps(values, sort_keys=True).encode(), digest_size=8).hexdigest()


def mark(connections: Connections) -> None:
    """Write the marker of a catalog in a file; a failure is only logged."""
    if connections.read_only or connections.file is None:
        return
    paths = LibraryPaths(connections.file.parent)
    try:
        connection = connections.get()
        # The commit must reach the disk before the marker does.
        connection.execute("PRAGMA synchronous = FULL")
        try:
            with connections.write():
                stored = noted_in(connection)
                identity = stored.get("identity") or uuid.uuid4().hex
                saved = int(stored.get("saved", 0)) + 1
                value = json.dumps({"identity": identity, "saved": saved})
                connection.execute(PUT_META, (META_KEY, value))
                version = connection.execute("PRAGMA user_version").fetchone()[0]
                counts = counted(connection)
        finally:
            connection.execute("PRAGMA synchronous = NORMAL")
        write_marker(paths, Marker(identity, saved, version, time.time(), **counts))
    except (RagkitError, OSError, sqlite3.Error):
        logger.exception("what the library holds could not be noted")


def identity_of(connections: Connections) -> str:
    """Return a library's unique identity, after making one if it has none."""
    row = connections.row("SELECT value FROM meta WHERE key = ?", (META_KEY,))
    if row:
        return str(json.loads(row[0])["identity"])
    with connections.write() as connection:
        new = json.dumps({"identity": uuid.uuid4().hex, "saved": 0})
        connection.execute(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO NOTHING", (META_KEY, new)
        )
        return str(noted_in(connection)["identity"])


def noted_in(connection: Transaction) -> dict[str, Any]:
    """Return the identity and ``saved`` of a catalog, or an empty dict."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (META_KEY,)).fetchone()
    value = json.loads(row[0]) if row else {}
    return value if isinstance(value, dict) else {}


def counted(connection: sqlite3.Connection) -> dict[str, int]:
    """Count the rows that a person would miss, by table; 0 for tables of later versions."""
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    return {
        table: connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
        if table in tables
        else 0
        for table in _COUNTED
    }


# -- what is refused on opening ------------------------------------------------------------


def refuse_torn_files(file: Path, *, create: bool) -> None:
    """Raise if files of the catalog are missing or damaged, without opening them with SQLite.

    Raises:
        CatalogError: there is a library, and its catalog is missing, empty or damaged.
        LibraryError: there is no library, and ``create`` is not set.
    """
    paths = LibraryPaths(file.parent)
    log = Path(f"{file}-wal")
    try:
        state = file.stat()
    except FileNotFoundError:
        state = None
    except OSError:
        return  # SQLite says what is wrong.
    if state is not None and not stat.S_ISREG(state.st_mode):
        raise CatalogError(f"{file} is not a file.", f"Move it away. {CURE}")
    if state is None or not state.st_size:
        what = "is missing" if state is None else "is empty"
        _refuse_lost(paths, what, _size(log) > 0)
        if not create:
            raise _no_library(file)
    if _size(log):
        # Imported here for numpy: a library that was closed has no log.
        from ragkit.catalog.write_ahead_log import log_is_damaged

        if log_is_damaged(log):
            raise CatalogError(f"{log} is damaged: saved changes in it cannot be read.", CURE)


def _no_library(file: Path) -> LibraryError:
    cure = "Add a folder first: ragkit add FOLDER, or in Python: ragkit.open(path, create=True)."
    return LibraryError(f"There is no library in {file.parent}.", cure)


def refuse_lost_contents(connection: sqlite3.Connection, file: Path, *, create: bool) -> None:
    """Raise if a catalog that SQLite can open has lost contents.

    Raises:
        CatalogError: its tables, or changes that had been saved, are gone.
        LibraryError: there is no library, and ``create`` is not set.
    """
    paths = LibraryPaths(file.parent)
    query = "SELECT 1 FROM sqlite_master WHERE name = 'collections'"
    if connection.execute(query).fetchone() is None:
        _refuse_lost(paths, "holds nothing")
        if not create:
            raise _no_library(file)
        return
    marker, stored = read_marker(paths), noted_in(connection)
    if marker is not None and stored.get("identity") == marker.identity:
        if int(stored.get("saved", 0)) < marker.saved:
            raise CatalogError(
                f"{file} has lost what was saved last: the library held {marker}, and this "
                f"catalog is older ({plural(counted(connection)['documents'], 'document')}).",
                f"{CURE} An older catalog that you put there yourself is kept by ragkit recover.",
            )
        return
    counts = counted(connection)
    if not any(count for table, count in counts.items() if table != "collections"):
        _refuse_lost(paths, "holds nothing")


def _refuse_lost(paths: LibraryPaths, what: str, log: bool = False) -> None:
    """Raise if there are signs that the library had contents."""
    signs = [*_signs(paths), *(["changes that were not yet moved into it"] if log else [])]
    if signs:
        raise CatalogError(
            f"The catalog of {paths.root} {what}, but there is {' and '.join(signs)}.", CURE
        )


def _signs(paths: LibraryPaths) -> Iterator[str]:
    marker = read_marker(paths)
    if marker is not None and marker.full:
        yield f"a note of {marker}"
    if any(file.is_file() for file in paths.uploads.rglob("*")):
        yield "an uploaded file"
    # A marker that counted nothing vouches for index files of what has been removed.
    if marker is None and any(paths.indexes.glob("*/*/*/[!.]*/manifest.json")):
        yield "an index of documents"


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0
