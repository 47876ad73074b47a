"""Connections to a catalog on a server: a few for each process, replaced when they are lost."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumperUnknown

from ragkit.catalog.connection import RETRY_SECONDS, Connections
from ragkit.catalog.postgres.address import parse_address
from ragkit.catalog.postgres.dialect import defines, definitions, translated
from ragkit.catalog.postgres.failures import (
    as_library_error,
    behind_pooler,
    is_lost,
    no_server,
    unsure,
)
from ragkit.catalog.postgres.schema import is_current, prepare
from ragkit.errors import CatalogError, LibraryBusyError, UnstorableError

_MOST_CONNECTIONS = 16
_WAIT_SECONDS = 60
_LOCK = 0x7261676B
"""The first key of the advisory lock for writing; the second is of the schema's name."""

_T = TypeVar("_T")
_Psycopg = psycopg.Connection[Any]


class PostgresTransaction:
    """A transaction that runs statements written for SQLite."""

    def __init__(self, connection: _Psycopg) -> None:
        self.connection = connection

    def execute(self, query: str, parameters: Sequence[Any] = ()) -> psycopg.Cursor[Any]:
        """Run a statement."""
        if defines(query):
            return self.connection.execute(";\n".join(definitions(query)), prepare=False)
        statement = translated(query)
        return self.connection.execute(statement.text, statement.values(parameters))

    def fetched(self, query: str, parameters: Sequence[Any]) -> list[Any]:
        """Run a statement and return its rows; none if it has no result."""
        cursor = self.execute(query, parameters)
        return cursor.fetchall() if cursor.description else []

    def executemany(self, query: str, rows: Iterable[Sequence[Any]]) -> psycopg.Cursor[Any]:
        """Run a statement once for each row of parameters, in a pipeline."""
        statement = translated(query)
        cursor = self.connection.cursor()
        cursor.executemany(statement.text, [statement.values(row) for row in rows])
        return cursor

    def inserted(self, query: str, rows: Sequence[Sequence[Any]]) -> list[int]:
        """Run an ``INSERT ... RETURNING id`` for each row, and return the ids in order."""
        statement = translated(query)
        with self.connection.cursor() as cursor:
            cursor.executemany(
                statement.text, [statement.values(row) for row in rows], returning=True
            )
            return [int(row[0]) for result in cursor.results() for row in result]


class PostgresConnections(Connections):
    """A pool of connections, each used by one thread at a time.

    A query outside of a transaction is retried on a new connection when one is lost, for as long as
    a replica may take to become the primary. A transaction is not retried once it has begun: its
    caller learns that nothing was kept or, if the connection was lost during the commit, that it
    may have been.
    """

    skip_locked = "FOR UPDATE SKIP LOCKED"

    def __init__(self, url: str, *, create: bool) -> None:
        self.address = parse_address(url)
        self.server = self.address.shown
        self.file: Path | None = None
        self.identity: tuple[int, int] | None = (0, 0)
        self.wrote = False
        self.read_only = False
        self._local = threading.local()
        self._idle: deque[_Psycopg] = deque()
        self._places = threading.BoundedSemaphore(_MOST_CONNECTIONS)
        self._guard = threading.Lock()
        self._closed = self._answered = False
        try:
            self._begin(create=create)
        except BaseException:
            self.close()
            raise

    def _begin(self, *, create: bool) -> None:
        with self._borrowed() as connection:
            self.read_only = _is_replica(connection)
            if is_current(PostgresTransaction(connection)):
                return
        with self.write() as transaction:
            prepare(transaction.connection, transaction, self.address, create=create)
        # Creating tables does not count.
        self.wrote = False

    # -- connections -----------------------------------------------------------------------

    def get(self) -> None:
        """Raise if this is closed."""
        if self._closed:
            raise CatalogError("The library is closed.", "Open it again.")

    @contextmanager
    def _borrowed(self) -> Iterator[_Psycopg]:
        """Lend a connection of the pool, or a new one, and take it back unless it is lost."""
        self.get()
        if not self._places.acquire(timeout=_WAIT_SECONDS):
            raise LibraryBusyError("The library is busy.", "Try again in a moment.")
        try:
            connection = self._take()
            try:
                yield connection
            finally:
                self._give_back(connection)
        finally:
            self._places.release()

    def _take(self) -> _Psycopg:
        with self._guard:
            if self._idle:
                return self._idle.pop()
        deadline = time.monotonic() + RETRY_SECONDS
        while True:
            try:
                connection = psycopg.connect(self.address.conninfo, autocommit=True)
                break
            except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                # The first time the address may be wrong, and somebody waits.
                if not self._answered or time.monotonic() > deadline:
                    raise no_server(self.address, error) from None
            time.sleep(0.1)
        # Otherwise tables would be created in another schema.
        if connection.info.parameter_status("search_path") not in (None, self.address.schema):
            connection.close()
            raise behind_pooler(self.address)
        if _is_pooled(connection):
            # Prepared statements would belong to another connection of the pooler.
            connection.prepare_threshold = None
        _adapt(connection)
        return connection

    def _give_back(self, connection: _Psycopg) -> None:
        idle = connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        with self._guard:
            if idle and not self._closed and not connection.broken:
                self._answered = True
                self._idle.append(connection)
                return
        with suppress(psycopg.Error):
            connection.close()

    def _forget_idle(self) -> None:
        """Close the idle connections: when one is lost, they are too."""
        with self._guard:
            left, self._idle = self._idle, deque()
        for connection in left:
            with suppress(psycopg.Error):
                connection.close()

    def _retried(self, ask: Callable[[_Psycopg], _T]) -> _T:
        """Call a function that only reads, and again on another connection if one is lost."""
        deadline = time.monotonic() + RETRY_SECONDS
        while True:
            with self._borrowed() as connection:
                try:
                    return ask(connection)
                except psycopg.Error as error:
                    if not is_lost(error, connection) or time.monotonic() > deadline:
                        raise as_library_error(error, self.address) from error
                    with suppress(psycopg.Error):
                        connection.close()
            self._forget_idle()

    # -- queries ---------------------------------------------------------------------------

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Return all rows of a query."""
        held: PostgresTransaction | None = getattr(self._local, "held", None)
        if held is not None:
            return held.fetched(query, parameters)
        return self._retried(
            lambda connection: PostgresTransaction(connection).fetched(query, parameters)
        )

    @contextmanager
    def write(self, *, alone: bool = True) -> Iterator[PostgresTransaction]:
        """Run a block in one transaction; those with ``alone`` are serialised, as in SQLite.

        An advisory lock of the library does that. So each sees all that earlier ones wrote, and ids
        and versions become visible in order.
        """
        begin = f"BEGIN; SET LOCAL lock_timeout = '{_WAIT_SECONDS}s'"
        if alone:
            begin += f"; SELECT pg_advisory_xact_lock({_LOCK}, hashtext('{self.address.schema}'))"
        with self._transaction(begin, writes=True) as transaction:
            self.wrote = True
            yield transaction

    @contextmanager
    def read(self) -> Iterator[PostgresTransaction]:
        """Run a block on one snapshot: every query in it sees the same state."""
        held: PostgresTransaction | None = getattr(self._local, "held", None)
        if held is not None:
            yield held
            return
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        with self._transaction(begin, writes=False) as transaction:
            yield transaction

    @contextmanager
    def _transaction(self, begin: str, *, writes: bool) -> Iterator[PostgresTransaction]:
        if getattr(self._local, "held", None) is not None:
            raise CatalogError("A transaction has begun already.", "This is an error of ragkit.")
        with self._begun(begin) as connection:
            transaction = PostgresTransaction(connection)
            self._local.held = transaction
            ending = False
            try:
                try:
                    yield transaction
                    ending = True
                    connection.execute("COMMIT", prepare=False)
                except BaseException:
                    with suppress(psycopg.Error):
                        connection.execute("ROLLBACK", prepare=False)
                    raise
            except psycopg.Error as error:
                if is_lost(error, connection):
                    self._forget_idle()
                    if ending and not writes:
                        return  # All was read.
                    if ending:
                        raise unsure(self.address) from error
                raise as_library_error(error, self.address) from error
            except UnicodeEncodeError as error:
                raise UnstorableError(
                    "The text contains half a character (a lone surrogate), which cannot be "
                    "stored.",
                    "Save the file again as UTF-8.",
                ) from error
            finally:
                self._local.held = None

    @contextmanager
    def _begun(self, begin: str) -> Iterator[_Psycopg]:
        """Begin a transaction, on another connection if one is lost, and lend the connection."""
        deadline = time.monotonic() + RETRY_SECONDS
        while True:
            with self._borrowed() as connection:
                try:
                    connection.execute(begin, prepare=False)
                except psycopg.Error as error:
                    with suppress(psycopg.Error):
                        connection.close()
                    if not is_lost(error, connection) or time.monotonic() > deadline:
                        raise as_library_error(error, self.address) from error
                else:
                    yield connection
                    return
            self._forget_idle()

    def close(self) -> None:
        """Close every connection; those in use are closed when they are returned."""
        self._closed = True
        self._forget_idle()


def _is_pooled(connection: _Psycopg) -> bool:
    """Return whether a pooler may run each transaction on another connection of its own."""
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    return row is not None and row[0] != connection.info.backend_pid


def _is_replica(connection: _Psycopg) -> bool:
    row = connection.execute("SELECT pg_is_in_recovery()").fetchone()
    return bool(row and row[0])


# -- values --------------------------------------------------------------------------------


class _Text(StrDumperUnknown):
    """Writes U+FFFD for NUL, which PostgreSQL does not store; offsets stay the same."""

    def dump(self, obj: str) -> Buffer | None:
        return super().dump(obj.replace("\0", "\ufffd") if "\0" in obj else obj)


class _Truth(Int8Dumper):
    def dump(self, obj: Any) -> Buffer | None:
        return b"1" if obj else b"0"


class _TruthLoader(Loader):
    def load(self, data: Buffer) -> int:
        return int(bytes(data) == b"t")


class _NumberLoader(Loader):
    def load(self, data: Buffer) -> int | float:
        text = bytes(data)
        return float(text) if b"." in text or b"N" in text else int(text)


def _adapt(connection: _Psycopg) -> None:
    """Convert values as SQLite does: truth values are 0 or 1, counts are numbers."""
    adapters = connection.adapters
    adapters.register_dumper(str, _Text)
    adapters.register_dumper(int, Int8Dumper)
    adapters.register_dumper(bool, _Truth)
    adapters.register_loader("bool", _TruthLoader)
    adapters.register_loader("numeric", _NumberLoader)
