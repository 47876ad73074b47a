"""A catalog in a file of SQLite: write-ahead logging, and one connection for each thread."""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ragkit.catalog.connection import Connections, folded
from ragkit.catalog.copies import keep_backup
from ragkit.catalog.failures import as_library_error, disk_full
from ragkit.catalog.marker import CURE, counted, refuse_lost_contents, refuse_torn_files
from ragkit.catalog.read_only import has_room, may_write, readable
from ragkit.catalog.schema import migrate, needs_migration
from ragkit.errors import CatalogError, FolderGoneError, UnstorableError
from ragkit.paths import LibraryPaths

_BUSY_MILLISECONDS = 15_000
_MOST_LOG_BYTES = 64 << 20
"""To what the log is cut when it starts over. It grows while a reader holds a snapshot."""

_FAILURES = (sqlite3.Error, UnicodeDecodeError)
"""What SQLite raises; the second if its message quotes bytes of a damaged schema."""


class _Connection(sqlite3.Connection):
    """A connection with a lock, since closing it during a query crashes the process."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.in_use = threading.RLock()

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open; there is none in one that another thread has closed."""
        try:
            return super().in_transaction
        except sqlite3.ProgrammingError:
            return False

    def __del__(self) -> None:
        with suppress(sqlite3.ProgrammingError):  # It was never opened.
            self.close()


class _PooledConnection:
    """The connection of a thread; it returns to the pool when the thread ends."""

    def __init__(self, connection: _Connection, idle: deque[_Connection]) -> None:
        self.connection = connection
        self.idle = idle

    def __del__(self) -> None:
        self.idle.append(self.connection)


class SqliteConnections(Connections):
    """A pool of connections: each thread has its own, and a new thread reuses an idle one.

    If another file replaces the open one, such as a restored backup, it is opened before the next
    transaction, and ``identity`` changes. On a full disk, a catalog is read until there is room.
    """

    server = skip_locked = ""

    def __init__(self, file: Path, *, create: bool) -> None:
        self.file = file
        self._local = threading.local()
        self._all: list[_Connection] = []
        self._left: list[_Connection] = []
        self._idle: deque[_Connection] = deque()
        self._guard = threading.Lock()
        self._turning = threading.RLock()
        self._closed = False
        self.wrote = False
        self.identity: tuple[int, int] | None = None
        try:
            self._begin(create=create)
        except BaseException:
            self.close()
            raise

    def _begin(self, *, create: bool) -> None:
        """Open the file that is now at the path, after checks, a backup and migrations."""
        file = self.file
        self._uri, self._copy = file.absolute().as_uri(), None
        refuse_torn_files(file, create=create)
        self._is_full = may_write(file) and not has_room(file)
        self.read_only = self._is_full or not may_write(file)
        try:
            if self.read_only:
                self._uri, self._copy = readable(file)
            refuse_lost_contents(self.get(), file, create=create)
            if needs_migration(self.get()) and counted(self.get())["sources"]:
                keep_backup(LibraryPaths(file.parent), self.get())
            migrate(self.get())
            self.identity = _identity(file)
        except _FAILURES as error:
            raise as_library_error(error, file) from error
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise disk_full() from error
            why = (error.strerror or str(error)).lower()
            raise CatalogError(
                f"{file} cannot be read: {why}.", "Check its permissions."
            ) from error

    def get(self) -> _Connection:
        """Return this thread's connection.

        Raises:
            CatalogError: the file is gone.
            LibraryError: another one has replaced it and cannot be used.
        """
        pooled: _PooledConnection | None = getattr(self._local, "pooled", None)
        if pooled is not None and pooled.connection.in_transaction:
            return pooled.connection
        self._follow()
        if pooled is None or pooled.idle is not self._idle:
            pooled = _PooledConnection(self._take(), self._idle)
            self._local.pooled = pooled
        return pooled.connection

    def _is_current(self) -> bool:
        """Return whether what is open is the file at the path, opened for all that it allows."""
        if self._closed:
            return True
        return _identity(self.file) == self.identity and not (self._is_full and has_room(self.file))

    def _follow(self) -> None:
        """Open another file that has replaced the open one, whose connections ``close`` closes."""
        if self.identity is not None and self._is_current():
            return
        with self._turning:
            # The thread that opens the file comes here too, through ``get``, without identity.
            if self.identity is None or self._is_current():
                return
            self.identity, self._idle = None, deque()
            with self._guard:
                self._left.extend(self._all)
                self._all.clear()
            try:
                self._begin(create=False)
            except BaseException:
                # An identity that no file has: the next call tries again.
                self.identity, self._idle = (-1, -1), deque()
                while self._all:
                    self._all.pop().close()
                raise

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Return all rows of a query."""
        try:
            connection = self.get()
            with connection.in_use:
                return connection.execute(query, parameters).fetchall()
        except _FAILURES as error:
            raise as_library_error(error, self.file) from error

    def _take(self) -> _Connection:
        if self._closed:
            raise CatalogError("The library is closed.", "Open it again.")
        try:
            connection = self._idle.popleft()
        except IndexError:
            return self._open()
        if connection.in_transaction:
            connection.rollback()
        return connection

    def _open(self) -> _Connection:
        connection = None
        try:
            connection = sqlite3.connect(
                self._uri,
                uri=True,
                timeout=_BUSY_MILLISECONDS / 1000,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=256,
                factory=_Connection,
            )
            connection.create_function("folded", 1, folded, deterministic=True)
            connection.create_function("now_seconds", 0, time.time)
            if self.read_only:
                connection.execute("PRAGMA query_only = ON")
            else:
                _use_write_ahead_log(connection)
            connection.execute(f"PRAGMA journal_size_limit = {_MOST_LOG_BYTES}")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA cache_size = -65536")
            connection.execute("PRAGMA temp_store = MEMORY")
        except _FAILURES as error:
            if connection is not None:
                connection.close()
            raise as_library_error(error, self.file) from error
        with self._guard:
            self._all.append(connection)
        return connection

    @contextmanager
    def write(self, *, alone: bool = True) -> Iterator[_Connection]:  # noqa: ARG002
        """Run the block in one transaction; SQLite has one writer at a time, ``alone`` or not."""
        connection = self.get()
        if self._is_full:
            raise disk_full()
        try:
            with connection.in_use:
                connection.execute("BEGIN IMMEDIATE")
                self.wrote = True
                try:
                    yield connection
                    connection.execute("COMMIT")
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise
        except (OverflowError, sqlite3.DataError) as error:
            raise UnstorableError(
                f"A value is too large to be stored ({error}).", "Split the file, or leave it out."
            ) from error
        except _FAILURES as error:
            raise as_library_error(error, self.file) from error
        except UnicodeEncodeError as error:
            raise UnstorableError(
                "The text contains half a character (a lone surrogate), which cannot be stored.",
                "Save the file again as UTF-8.",
            ) from error

    @contextmanager
    def read(self) -> Iterator[_Connection]:
        """Run the block on one snapshot: every query in it sees the same state."""
        connection = self.get()
        if connection.in_transaction:
            yield connection
            return
        try:
            with connection.in_use:
                connection.execute("BEGIN")
                try:
                    yield connection
                finally:
                    connection.commit()
        except _FAILURES as error:
            raise as_library_error(error, self.file) from error

    def close(self) -> None:
        """Close the connections of all threads, and move the write-ahead log into the file.

        What other processes still read stays in the log until the last of them closes. Queries of
        other threads are waited for; a connection whose query takes too long stays open.
        """
        with self._guard:
            self._closed = True
            deadline = time.monotonic() + _BUSY_MILLISECONDS / 1000
            for connection in [*self._all, *self._left]:
                if not connection.in_use.acquire(timeout=max(0.0, deadline - time.monotonic())):
                    continue
                if self.wrote and not connection.in_transaction:
                    with suppress(sqlite3.Error):
                        connection.execute("PRAGMA busy_timeout = 0")
                        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                    self.wrote = False
                connection.close()
                connection.in_use.release()
            self.wrote = False
            self._all.clear()
            self._left.clear()
            self._idle.clear()
            if self._copy is not None:
                self._copy.cleanup()
        self._local = threading.local()


def _identity(file: Path) -> tuple[int, int]:
    """Return a file's device and inode, which differ from those of a file that replaces it.

    Raises:
        CatalogError: it is gone.
    """
    try:
        # Asked before every query: a path object takes longer to stat itself.
        status = os.stat(file)  # noqa: PTH116
    except OSError as error:
        if not file.parent.is_dir():
            raise FolderGoneError from error
        why = "is gone" if isinstance(error, FileNotFoundError) else "cannot be found"
        raise CatalogError(f"{file} {why}.", CURE) from error
    return status.st_dev, status.st_ino


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging, retrying: SQLite itself does not wait for others here."""
    deadline = time.monotonic() + _BUSY_MILLISECONDS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
        time.sleep(0.01)
