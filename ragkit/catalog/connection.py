"""Connections to the catalog: one a thread, write-ahead logging, explicit transactions."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ragkit.catalog.schema import migrate
from ragkit.errors import CatalogError, LibraryError

_BUSY_MILLISECONDS = 15_000


class _PooledConnection:
    """A thread's connection; returns to the pool when the thread ends."""

    def __init__(self, connection: sqlite3.Connection, idle: deque[sqlite3.Connection]) -> None:
        self.connection = connection
        self._idle = idle

    def __del__(self) -> None:
        self._idle.append(self.connection)


class Connections:
    """A pool of connections: each thread has its own, and a new thread reuses an idle one."""

    def __init__(self, file: Path, *, create: bool) -> None:
        self.file = file
        self._local = threading.local()
        self._all: list[sqlite3.Connection] = []
        self._idle: deque[sqlite3.Connection] = deque()
        self._guard = threading.Lock()
        self._closed = False
        if not create and not file.is_file():
            raise LibraryError(
                f"There is no library in {file.parent}.",
                "Add a folder first: ragkit add FOLDER.",
            )
        try:
            migrate(self.get())
        except sqlite3.Error as error:
            self.close()
            raise as_library_error(error, file) from error
        except BaseException:
            self.close()
            raise

    def get(self) -> sqlite3.Connection:
        """Return this thread's connection."""
        pooled: _PooledConnection | None = getattr(self._local, "pooled", None)
        if pooled is None:
            pooled = _PooledConnection(self._take(), self._idle)
            self._local.pooled = pooled
        return pooled.connection

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Return all rows of a query."""
        try:
            return self.get().execute(query, parameters).fetchall()
        except sqlite3.Error as error:
            raise as_library_error(error, self.file) from error

    def row(self, query: str, parameters: Sequence[Any] = ()) -> Any:
        """Return the first row of a query, or ``None``."""
        try:
            return self.get().execute(query, parameters).fetchone()
        except sqlite3.Error as error:
            raise as_library_error(error, self.file) from error

    def column(self, query: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Return the first value of each row of a query."""
        return [row[0] for row in self.rows(query, parameters)]

    def _take(self) -> sqlite3.Connection:
        if self._closed:
            raise CatalogError("The library is closed.", "Open it again.")
        try:
            connection = self._idle.popleft()
        except IndexError:
            return self._open()
        if connection.in_transaction:
            connection.rollback()
        return connection

    def _open(self) -> sqlite3.Connection:
        connection = None
        try:
            connection = sqlite3.connect(
                self.file,
                timeout=_BUSY_MILLISECONDS / 1000,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=256,
            )
            connection.create_function("folded", 1, folded, deterministic=True)
            _use_write_ahead_log(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA cache_size = -65536")
            connection.execute("PRAGMA temp_store = MEMORY")
        except sqlite3.Error as error:
            if connection is not None:
                connection.close()
            raise as_library_error(error, self.file) from error
        with self._guard:
            self._all.append(connection)
        return connection

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Run the block in one transaction: everything in it is kept, or nothing is."""
        connection = self.get()
        try:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise as_library_error(error, self.file) from error
        except UnicodeEncodeError as error:
            raise CatalogError(
                "Some text holds half a character, which cannot be stored.",
                "Save the file again as UTF-8.",
            ) from error

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Run the block on one snapshot: every query in it sees the same state."""
        connection = self.get()
        if connection.in_transaction:
            yield connection
            return
        try:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.commit()
        except sqlite3.Error as error:
            raise as_library_error(error, self.file) from error

    def close(self) -> None:
        """Close every thread's connection."""
        with self._guard:
            self._closed = True
            for connection in self._all:
                connection.close()
            self._all.clear()
            self._idle.clear()
        self._local = threading.local()


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging, retrying: SQLite does not wait here for others that switch."""
    deadline = time.monotonic() + _BUSY_MILLISECONDS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


def as_library_error(error: sqlite3.Error, file: Path) -> LibraryError:
    """Convert an SQLite error to one whose message tells a person what to do."""
    text = str(error).lower()
    if "disk is full" in text:
        return CatalogError("The disk is full.", "Free some space; nothing that was saved is lost.")
    if "readonly" in text or "read-only" in text:
        return CatalogError(f"{file.parent} cannot be written.", "Check the folder's permissions.")
    if "locked" in text or "busy" in text:
        return CatalogError("The library is busy.", "Try again in a moment.")
    if "unable to open" in text:
        return CatalogError(f"{file} cannot be opened.", "Check the folder's permissions.")
    if "i/o error" in text:
        return CatalogError(f"{file} cannot be read or written.", "Check the disk it lies on.")
    if "closed database" in text:
        return CatalogError("The library is closed.", "Open it again.")
    if any(phrase in text for phrase in ("malformed", "not a database", "could not decode")):
        return CatalogError(
            f"{file} is damaged.", "Restore it from a backup, or move it away and index again."
        )
    return CatalogError(f"The catalog refused: {error}.", "Run ragkit doctor.")


def folded(value: object) -> str:
    """Fold case and Unicode compatibility forms for comparison; also an SQL function."""
    text = str(value)
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def conditions(*pairs: tuple[str, Any]) -> tuple[str, list[Any]]:
    """Join conditions whose value is not ``None``: `` AND a = ? AND b = ?`` and the values."""
    chosen = [(condition, value) for condition, value in pairs if value is not None]
    where = "".join(f" AND {condition}" for condition, _value in chosen)
    return where, [value for _condition, value in chosen]


def id_list(ids: Iterable[int]) -> str:
    """Return ids as the JSON list that ``json_each`` takes apart in a query."""
    return json.dumps([int(value) for value in ids])
