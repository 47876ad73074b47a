"""What queries are put to: connections to a catalog, in a file of SQLite or on a server.

Queries are written in SQLite's words, of which ``postgres/dialect.py`` knows the equivalents.
"""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, TypeVar

from ragkit.errors import ConnectionLostError
from ragkit.types import ALL_COLLECTIONS

RETRY_SECONDS = 20.0
"""So long a replica may take until it takes writes."""

_T = TypeVar("_T")


class Rows(Protocol):
    """The rows of a statement, read once; ``rowcount`` is how many it changed."""

    @property
    def rowcount(self) -> int:
        """How many rows were changed."""

    def fetchone(self) -> Any:
        """Return the next row, or ``None``."""

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the rows that are left."""


class Transaction(Protocol):
    """A connection within a transaction, or one that migrations are applied by."""

    def execute(self, query: str, parameters: Sequence[Any] = ..., /) -> Rows:
        """Run a statement."""

    def executemany(self, query: str, rows: Iterable[Sequence[Any]], /) -> Rows:
        """Run a statement for each row of parameters."""


class Connections(Protocol):
    """Connections to one catalog, shared by threads; each transaction belongs to one thread.

    ``file`` is ``None`` on a server. ``identity`` is that of the catalog: what was learnt under
    another one is of another catalog. ``wrote``: something was written since it was opened.
    """

    identity: tuple[int, int] | None
    read_only: bool
    wrote: bool
    server: str
    """The address of the server that it lies on, as it may be shown; empty for a file."""
    skip_locked: str
    """What a query ends with that locks its rows, without those that others have locked."""

    @property
    def file(self) -> Path | None:
        """The catalog's file, if it has one."""

    def get(self) -> Any:
        """Raise if the catalog is gone or cannot be used; a file's return its connection."""

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Return all rows of a query."""

    def row(self, query: str, parameters: Sequence[Any] = ()) -> Any:
        """Return the first row of a query, or ``None``."""

    def column(self, query: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Return the first value of each row of a query."""

    def write(self, *, alone: bool = True) -> AbstractContextManager[Transaction]:
        """Run a block in one transaction: everything in it is kept, or nothing is.

        ``alone``: no other such block runs meanwhile, on whichever machine. What does not hand out
        versions or ids of entries, and locks the rows that it depends on, needs not be.
        """

    def read(self) -> AbstractContextManager[Transaction]:
        """Run a block on one snapshot: every query in it sees the same state."""

    def close(self) -> None:
        """Close every connection."""


def again_if_lost(ask: Callable[[], _T]) -> _T:
    """Ask something that changes nothing, again when the connection to a server is lost.

    Each time waits for a server that takes writes, as every query does (``RETRY_SECONDS``); one
    that loses connections for longer is given up.
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
    """Insert rows by a query that returns the id of each; return the ids in the same order."""
    together: Callable[[str, Sequence[Sequence[Any]]], list[int]] | None = getattr(
        connection, "inserted", None
    )
    if together is not None:  # A server answers for all of them at once.
        return together(query, rows)
    return [int(connection.execute(query, row).fetchone()[0]) for row in rows]


def folded(value: object) -> str:
    """Fold case and Unicode compatibility forms for comparison; also an SQL function."""
    text = str(value)
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


PUT_META = "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
"""Stores a value under a key of ``meta``, in place of the one that is there."""


def conditions(*pairs: tuple[str, Any]) -> tuple[str, list[Any]]:
    """Join conditions whose value is not ``None``: `` AND a = ? AND b = ?`` and the values."""
    chosen = [(condition, value) for condition, value in pairs if value is not None]
    where = "".join(f" AND {condition}" for condition, _value in chosen)
    return where, [value for _condition, value in chosen]


def of_collection(column: str, collection_id: int) -> tuple[str, list[Any]]:
    """Return the condition that something is of a collection, or of any, and its parameters."""
    if collection_id == ALL_COLLECTIONS:
        return "1 = 1", []
    return f"{column} = ?", [collection_id]


def id_list(ids: Iterable[int]) -> str:
    """Return ids as the JSON list that ``json_each`` takes apart in a query."""
    return str([int(value) for value in ids])
