"""Copying a whole catalog, from a file to a server or back, with all ids.

An interrupted copy resumes: rows are copied in the order of their keys, so the highest key in the
target is how far a table was copied. Until it is finished, the target is marked as unfinished.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Any

from ragkit.catalog.connection import PUT_META, insertion
from ragkit.catalog.marker import META_KEY, MOVE_KEY
from ragkit.catalog.schema import migrate
from ragkit.errors import LibraryError

if TYPE_CHECKING:
    from ragkit.catalog import Catalog
    from ragkit.catalog.connection import Connections, Transaction

_OF_A_PLACE = frozenset(("meta", "jobs", "workers", "claims"))
"""Tables that concern the place where the catalog is, and are not copied."""

_OWN_KEYS = f"key NOT LIKE 'migration %' AND key NOT IN ('functions', '{META_KEY}', '{MOVE_KEY}')"
_ROWS, _TEXTS = 500, 20


@dataclass(frozen=True, slots=True)
class Table:
    """A table to copy: its columns, and those of its primary key."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]

    def batches(self, source: Connections, after: tuple[Any, ...] | None) -> Iterator[list[Any]]:
        """Yield batches of rows in the order of the key, from behind a key on, or all."""
        names, order = ", ".join(self.columns), ", ".join(self.key)
        size = _TEXTS if self.name == "texts" else _ROWS
        places = [self.columns.index(name) for name in self.key]
        marks = ", ".join("?" * len(self.key))
        while True:
            beyond = f"WHERE ({order}) > ({marks}) " if after is not None else ""
            query = f"SELECT {names} FROM {self.name} {beyond}ORDER BY {order} LIMIT ?"
            rows = source.rows(query, (*(after or ()), size))
            if rows:
                yield rows
            if len(rows) < size:
                return
            after = tuple(rows[-1][place] for place in places)

    def last_key(self, target: Connections) -> tuple[Any, ...] | None:
        """Return the highest key in the table, or ``None`` if it is empty."""
        names = ", ".join(self.key)
        order = ", ".join(f"{name} DESC" for name in self.key)
        row = target.row(f"SELECT {names} FROM {self.name} ORDER BY {order} LIMIT 1")
        return tuple(row) if row else None

    def put(self, transaction: Transaction, rows: list[Any]) -> None:
        """Insert rows, except those whose keys are there."""
        statement = f"{insertion(self.name, self.columns)} ON CONFLICT DO NOTHING"
        transaction.executemany(statement, rows)

    def count(self, connections: Connections) -> int:
        """Count the rows."""
        return int(connections.row(f"SELECT COUNT(*) FROM {self.name}")[0])

    def checksum(self, connections: Connections) -> str:
        """Return a hash of all rows, in the order of the key."""
        digest = hashlib.blake2b(digest_size=16)
        for rows in self.batches(connections, None):
            for row in rows:
                digest.update(repr([_plain(value) for value in row]).encode("utf-8", "replace"))
        return digest.hexdigest()


@cache
def tables() -> tuple[Table, ...]:
    """Return the tables to copy, each after those that it refers to."""
    names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as model:
        migrate(model)
        by_name: dict[str, Table] = {}
        parents: dict[str, set[str]] = {}
        for (name,) in model.execute(names).fetchall():
            if name in _OF_A_PLACE:
                continue
            columns = model.execute(f"PRAGMA table_info({name})").fetchall()
            key = sorted((column for column in columns if column[5]), key=lambda column: column[5])
            by_name[name] = Table(
                name, tuple(c[1] for c in columns), tuple(column[1] for column in key)
            )
            parents[name] = {row[2] for row in model.execute(f"PRAGMA foreign_key_list({name})")}
    return tuple(by_name[name] for name in TopologicalSorter(parents).static_order())


def begin(target: Catalog, identity: str, *, restart: bool) -> None:
    """Mark a target as the unfinished copy of the library with that identity.

    ``restart`` first empties it, if it is one already.

    Raises:
        LibraryError: it holds another library, or an unfinished copy of one.
    """
    unfinished = target.get_meta(MOVE_KEY)
    if unfinished == identity:
        if restart:
            with target.connections.write() as transaction:
                for table in reversed(tables()):
                    transaction.execute(f"DELETE FROM {table.name}")
        return
    if unfinished is not None:
        raise LibraryError(
            "There is an unfinished copy of another library.", "Finish that, or choose another."
        )
    occupied = next((table.name for table in tables() if table.last_key(target.connections)), "")
    if occupied:
        raise LibraryError(
            f"There is a library already ({occupied} holds rows).",
            "Choose an empty database, schema (?schema=NAME) or folder: nothing is overwritten.",
        )
    target.set_meta(MOVE_KEY, identity)


def copy(source: Connections, target: Connections, step: Callable[[str, int], object]) -> None:
    """Copy the rows that the target lacks; call ``step(table, rows)`` after each batch."""
    for table in tables():
        for rows in table.batches(source, table.last_key(target)):
            with target.write() as transaction:
                table.put(transaction, rows)
            step(table.name, len(rows))
    notes = source.rows(f"SELECT key, value FROM meta WHERE {_OWN_KEYS}")
    with target.write() as transaction:
        transaction.executemany(PUT_META, notes)
        _set_counters(target, transaction, _counters(source))


def differing(
    source: Connections, target: Connections, step: Callable[[str, int], object]
) -> list[str]:
    """Return the tables whose counts or checksums differ; call ``step(table, rows)`` after each."""
    names = []
    for table in tables():
        count = table.count(source)
        same = count == table.count(target)
        if not same or table.checksum(source) != table.checksum(target):
            names.append(table.name)
        step(table.name, count)
    return names


def finish(target: Catalog) -> None:
    """Remove the mark of an unfinished copy."""
    target.set_meta(MOVE_KEY, None)


def _plain(value: Any) -> Any:
    """Return a value as both engines store it: a server has U+FFFD in place of NUL."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd")
    return bytes(value) if isinstance(value, memoryview | bytearray) else value


# -- ids that were given out ---------------------------------------------------------------


def _counters(connections: Connections) -> Mapping[str, int]:
    """Return the highest id that each table ever assigned, so that none is assigned again."""
    if connections.file is not None:
        return dict(connections.rows("SELECT name, seq FROM sqlite_sequence"))
    names = connections.rows(
        "SELECT a.attrelid::regclass::text, pg_get_serial_sequence(a.attrelid::regclass::text, "
        "a.attname) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid "
        "WHERE a.attidentity <> '' AND c.relnamespace = CAST(current_schema AS regnamespace) "
        "AND NOT c.relispartition"
    )
    return {
        table: int(connections.row(f"SELECT last_value FROM {sequence}")[0])
        for table, sequence in names
    }


def _set_counters(
    target: Connections, transaction: Transaction, counters: Mapping[str, int]
) -> None:
    for table in tables():
        if len(table.key) != 1 or table.name not in counters:
            continue
        (key,) = table.key
        (highest,) = transaction.execute(
            f"SELECT coalesce(max({key}), 0) FROM {table.name}"
        ).fetchone()
        last = max(counters[table.name], int(highest))
        if target.file is None:
            transaction.execute(
                f"SELECT setval(pg_get_serial_sequence('{table.name}', '{key}'), ?)",
                (max(last, 1),),
            )
        else:
            transaction.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table.name,))
            transaction.execute(
                "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table.name, last)
            )
