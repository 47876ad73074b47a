"""What all SQL of the catalog runs on: connections to a file of SQLite or to a server.

Statements are written for SQLite; ``postgres/dialect.py`` translates them.
"""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TypeVar

from ragkit.errors import ConnectionLostError
from ragkit.types import ALL_COLLECTIONS

RETRY_SECONDS = 20.0
"""How long to wait for a server, such as a replica that is about to become the primary."""

_KEYS_AT_ONCE = 500

_T = TypeVar("_T")


class Rows(Protocol):
    """The result of a statement: a cursor of DB-API."""

    @property
    def rowcount(self) -> int:
        """The number of rows that were changed."""

    def fetchone(self) -> Any:
        """Return the next row, or ``None``."""

    def fetchall(self) -> list[Any]:
        """Return the remaining rows."""

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the remaining rows."""


class Transaction(Protocol):
    """A connection in a transaction, or one that migrations run on."""

    def execute(self, query: str, parameters: Sequence[Any] = ..., /) -> Rows:
        """Run a statement."""

    def executemany(self, query: str, rows: Iterable[Sequence[Any]], /) -> Rows:
        """Run a statement once for each row of parameters."""


class Connections(Protocol):
    """The connections to one catalog, for all threads; a transaction belongs to one thread."""

    file: Path | None
    """The catalog's file; ``None`` on a server."""
    server: str
    """The address of the server without the password; empty for a file."""
    identity: tuple[int, int] | None
    """Device and inode of the file: caches of another file's contents are void."""
    read_only: bool
    wrote: bool
    """Whether anything was written since this was opened."""
    skip_locked: str
    """The end of a query that locks the rows it returns and skips those that others have locked."""

    def get(self) -> Any:
        """Return the connection to the file; raise if the catalog is closed, gone or unusable."""

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Return all rows of a query."""

    def row(self, query: str, parameters: Sequence[Any] = ()) -> Any:
        """Return the first row of a query, or ``None``."""
        rows = self.rows(query, parameters)
        return rows[0] if rows else None

    def column(self, query: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Return the first value of each row of a query."""
        return [row[0] for row in self.rows(query, parameters)]

    def write(self, *, alone: bool = True) -> AbstractContextManager[Transaction]:
        """Run a block in a transaction that commits if the block ends without an error.

        With ``alone``, no other machine runs such a block meanwhile. Without, the block must lock
        the rows that it depends on, and may not assign versions or ids of entries.
        """

    def read(self) -> AbstractContextManager[Transaction]:
        """Run a block on one snapshot: all queries in it see the same state."""

    def close(self) -> None:
        """Close every connection."""


def again_if_lost(ask: Callable[[], _T]) -> _T:
    """Call a function that only reads, and again while the connection to the server is lost.

    Each call waits up to ``RETRY_SECONDS`` for a server; this gives up where connections are still
    being lost so long after the first.
    """
    give_up = None
    while True:
        try:
            return ask()
        except ConnectionLostError:
            give_up = give_up or time.monotonic() + RETRY_SECONDS
            if time.monotonic() > give_up:
                raise


def inserted(connection: Transaction, query: str, rows: Sequence[Sequence[Any]]) -> list[int]:
    """Run an ``INSERT ... RETURNING id`` for each row; return the ids in the order of the rows."""
    in_one_trip: Callable[[str, Sequence[Sequence[Any]]], list[int]] | None = getattr(
        connection, "inserted", None
    )
    if in_one_trip is not None:  # A server.
        return in_one_trip(query, rows)
    return [int(connection.execute(query, row).fetchone()[0]) for row in rows]


def folded(value: object) -> str:
    """Fold case and Unicode compatibility forms for comparison; also an SQL function."""
    text = str(value)
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def insertion(table: str, columns: Sequence[str], *, key: str = "") -> str:
    """Return the statement that inserts a row; with a ``key``, it replaces the row of that key.

    ``key`` names one column or several ("document_id, chunk_idx").
    """
    marks = ", ".join("?" * len(columns))
    statement = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"
    if not key:
        return statement
    updates = (f"{name} = excluded.{name}" for name in columns if name not in key.split(", "))
    return f"{statement} ON CONFLICT ({key}) DO UPDATE SET {', '.join(updates)}"


PUT_META = insertion("meta", ("key", "value"), key="key")


def conditions(*pairs: tuple[str, Any]) -> tuple[str, list[Any]]:
    """Return " AND a = ? AND b = ?" and its values, of the pairs whose value is not ``None``."""
    chosen = [(condition, value) for condition, value in pairs if value is not None]
    where = "".join(f" AND {condition}" for condition, _value in chosen)
    return where, [value for _condition, value in chosen]


def of_collection(column: str, collection_id: int) -> tuple[str, list[Any]]:
    """Return the condition that a column is a collection's id, and its values.

    It is always true for ``ALL_COLLECTIONS``.
    """
    if collection_id == ALL_COLLECTIONS:
        return "1 = 1", []
    return f"{column} = ?", [collection_id]


IN_LIST = "IN (SELECT value FROM json_each(?))"
"""The condition that follows a column whose value is in a JSON list, such as ``id_list`` makes."""


def id_list(ids: Iterable[int]) -> str:
    """Return ids as a JSON list, for ``IN_LIST``."""
    return str([int(value) for value in ids])


def key_batches(keys: Iterable[bytes]) -> Iterator[tuple[str, Sequence[bytes]]]:
    """Yield ("IN (?, ?)", keys), up to 500 keys at a time; a JSON list cannot hold bytes."""
    iterator = iter(keys)
    while batch := list(islice(iterator, _KEYS_AT_ONCE)):
        yield f"IN ({', '.join('?' * len(batch))})", batch
