"""A cache of which documents and entries of a collection pass which conditions.

It follows the catalog: after a change, only documents that changed are read.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from ragkit.catalog.connection import id_list, of_collection
from ragkit.catalog.facets import FacetTable, FieldNames
from ragkit.catalog.lineage import VERSION, holds, newest
from ragkit.types import ALL_COLLECTIONS, Version

if TYPE_CHECKING:
    from ragkit.catalog.connection import Connections, Transaction
    from ragkit.catalog.filter_conditions import Condition, EntryCondition
    from ragkit.indexes.rows import Bools, Ids

_Passing: TypeAlias = "tuple[Ids, Ids, int]"
"""Entries that pass a condition, ascending; the rows of their documents; the number of rows that
the condition was evaluated for."""

_AMONG = " AND {} IN (SELECT value FROM json_each(?))"
_MOST_COLLECTIONS = 1000
_MOST_KEPT, _MOST_BYTES_KEPT = 64, 32 << 20
_MOST_BYTES = 256 << 20
_DEAD_ROWS = 1000
_NONE, _NO_MASK = np.zeros(0, np.int64), np.zeros(0, np.bool_)

_Condition = TypeVar("_Condition")
_Found = TypeVar("_Found", bound=tuple[Any, ...])


class DocumentRows:
    """The indexed documents of a collection, or of all, and which of them pass conditions.

    Each document has a row: ``ids`` int64 (n,) and ``live`` bool (n,). A document that changes
    gets a new row at the end, and its old one is no longer live. So what is known of a row stays
    true, and conditions are evaluated for new rows only. To be used under ``lock``, after
    ``refresh`` in the same snapshot. ``where`` and ``values`` are the condition that documents
    ``d`` belong to the collection.
    """

    def __init__(self, collection_id: int) -> None:
        self.lock = threading.RLock()
        self.collection_id = collection_id
        self.where, self.values = of_collection("d.collection_id", collection_id)
        self.version: Version | None = None
        self._clear(np.zeros(0, np.int64))

    def _clear(self, ids: Ids) -> None:
        self.ids, self.live = ids, np.ones(len(ids), np.bool_)
        self._masks: OrderedDict[Condition, tuple[Bools]] = OrderedDict()
        self._entries: OrderedDict[EntryCondition, _Passing] = OrderedDict()
        self.facets, self.fields = FacetTable(topics=False), FieldNames()

    def refresh(self, connection: Transaction) -> None:
        """Update the rows to the collection's current version."""
        version = self._present(connection)
        if version == self.version:
            return
        is_known = self.version is not None and holds(connection, self.version)
        if not is_known or not self._follow(connection):
            self._clear(self.all_ids(connection))
        self.version = version

    def _present(self, connection: Transaction) -> Version:
        if self.collection_id == ALL_COLLECTIONS:
            return newest(connection)
        row = connection.execute(
            f"SELECT {VERSION} FROM collections c WHERE c.id = ?", (self.collection_id,)
        ).fetchone()
        return Version(*row) if row else Version(0)

    def _follow(self, connection: Transaction) -> bool:
        """Add what changed; return False if all must be read again, as where most rows are dead."""
        since = self.version.number if self.version else 0
        changed = connection.execute(
            f"SELECT d.id, d.status FROM documents d WHERE {self.where} AND d.version > ? "
            "ORDER BY d.id",
            (*self.values, since),
        ).fetchall()
        gone = np.array([row[0] for row in changed], np.int64)
        new = np.array([row[0] for row in changed if row[1] == "indexed"], np.int64)
        self.live = np.concatenate([self.live & ~np.isin(self.ids, gone), np.ones(len(new), bool)])
        self.ids = np.concatenate([self.ids, new])
        (count,) = connection.execute(
            f"SELECT COUNT(*) FROM documents d WHERE {self.where} AND d.status = 'indexed'",
            self.values,
        ).fetchone()
        if count != np.count_nonzero(self.live):
            # Some documents were deleted; ids are never assigned again, so the others are right.
            self.live &= np.isin(self.ids, self.all_ids(connection))
        living = int(np.count_nonzero(self.live))
        return count == living and len(self.ids) - living <= max(living, _DEAD_ROWS)

    def all_ids(self, connection: Transaction) -> Ids:
        """Return ids of all indexed documents, read from the catalog, ascending."""
        return self._passing(connection, "1 = 1", ())

    def mask(self, connection: Transaction, condition: Condition) -> Bools:
        """Return which rows pass a condition, bool (n,), evaluating it for new rows only."""
        (mask,) = self._masks.pop(condition, (_NO_MASK,))
        if len(mask) < len(self.ids):
            where, values = condition
            among, ids = self.among(len(mask))
            passing = self._passing(connection, where + among, (*values, *ids))
            mask = np.concatenate([mask, np.isin(self.ids[len(mask) :], passing)])
        _keep(self._masks, condition, (mask,))
        return mask

    def _passing(self, connection: Transaction, where: str, values: Sequence[Any]) -> Ids:
        indexed = f"{self.where} AND d.status = 'indexed'"
        query = f"SELECT d.id AS id FROM documents d WHERE {indexed} AND {where}"
        return id_array(connection, query, [*self.values, *values])

    def entries(self, connection: Transaction, condition: EntryCondition) -> Ids:
        """Return the entries that pass a condition, ascending, reading those of new rows only."""
        entries, rows, asked = self._entries.pop(condition, (_NONE, _NONE, 0))
        if asked < len(self.ids):
            kept = self.live[rows]
            among, ids = self.among(asked, condition.id)
            documents, new = _documents_and_entries(
                connection, condition.query + among, (*condition.values, *ids)
            )
            indexed = np.isin(documents, self.ids[asked:][self.live[asked:]])
            rows = np.concatenate([rows[kept], self.rows_of(documents[indexed], asked)])
            entries = np.concatenate([entries[kept], new[indexed]])
            order = np.argsort(entries, kind="stable")
            entries, rows = entries[order], rows[order]
        _keep(self._entries, condition, (entries, rows, len(self.ids)))
        return entries[self.live[rows]]

    def among(self, since: int, column: str = "d.id") -> tuple[str, tuple[str, ...]]:
        """Return the condition that a column is a document in a row from ``since`` on, and values.

        It is empty from row 0 on, since it holds for all.
        """
        if not since:
            return "", ()
        new = self.ids[since:][self.live[since:]]
        return _AMONG.format(column), (id_list(new.tolist()),)

    def rows_of(self, ids: Ids, since: int) -> Ids:
        """Return the live rows of documents, all of which are at or behind row ``since``."""
        rows = since + np.flatnonzero(self.live[since:])
        rows = rows[np.argsort(self.ids[rows], kind="stable")]
        return rows[np.searchsorted(self.ids[rows], ids)]

    @property
    def nbytes(self) -> int:
        """The approximate size in bytes."""
        of_values = self.facets.nbytes + self.fields.nbytes
        kept = _bytes_kept(self._masks) + 2 * _bytes_kept(self._entries)
        return 9 * len(self.ids) + kept + of_values


class KeptRows:
    """The rows of the most recently used collections, within a limit of memory."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._kept: OrderedDict[int, DocumentRows] = OrderedDict()
        self._sizes: dict[int, int] = {}
        self._guard = threading.Lock()

    @contextmanager
    def at_present(self, collection_id: int) -> Iterator[tuple[DocumentRows, Transaction]]:
        """Lend the current rows of a collection, or of all, with the snapshot they were read in."""
        with self._guard:
            rows = self._kept.pop(collection_id, None) or DocumentRows(collection_id)
            self._kept[collection_id] = rows
        with rows.lock, self._connections.read() as connection:
            rows.refresh(connection)
            yield rows, connection
        with self._guard:
            self._sizes[collection_id] = rows.nbytes
            while len(self._kept) > _MOST_COLLECTIONS or (
                len(self._kept) > 1 and sum(self._sizes.values()) > _MOST_BYTES
            ):
                oldest, _ = self._kept.popitem(last=False)
                self._sizes.pop(oldest, None)


def _keep(kept: OrderedDict[_Condition, _Found], condition: _Condition, rows: _Found) -> None:
    """Keep what passes a condition, and drop the least recently used while there is too much."""
    kept[condition] = rows
    while len(kept) > _MOST_KEPT or (len(kept) > 1 and _bytes_kept(kept) > _MOST_BYTES_KEPT):
        kept.popitem(last=False)


def _bytes_kept(kept: Mapping[Any, tuple[Any, ...]]) -> int:
    return sum(rows[0].nbytes for rows in kept.values())


def id_array(connection: Transaction, query: str, values: Sequence[Any]) -> Ids:
    """Return the column ``id`` of a query, ascending int64 (n,)."""
    # As one text: a row for each id takes four times as long.
    (text,) = connection.execute(f"SELECT group_concat(id) FROM ({query})", values).fetchone()
    return ids_of(text or "")


def ids_of(text: str) -> Ids:
    """Return the ids of a text, which are separated by commas, in ascending order."""
    ids = _in_order(text)
    ids.sort(kind="stable")
    return ids


def _documents_and_entries(
    connection: Transaction, query: str, values: Sequence[Any]
) -> tuple[Ids, Ids]:
    """Return the columns ``document`` and ``entry`` of a query, int64 (n,) each."""
    documents, entries = connection.execute(
        f"SELECT group_concat(document), group_concat(entry) FROM ({query})", values
    ).fetchone()
    return _in_order(documents or ""), _in_order(entries or "")


def _in_order(text: str) -> Ids:
    ids: Ids = np.fromstring(text, np.int64, sep=",")
    return ids
