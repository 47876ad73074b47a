"""Where entries of a test come from: in memory, instead of a catalog (``EntrySource``)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from ragkit.errors import IndexCorruptError
from ragkit.indexes.protocol import Changes, Snapshot
from ragkit.indexes.rows import EntryRows, RowSlices, join
from ragkit.types import LEVEL_CODES, Version

DIMENSIONS = 8


@dataclass
class Kept:
    """A collection."""

    id: int
    name: str


@dataclass
class Embedder:
    """What a backend needs to know of one."""

    fingerprint: str = "hash-1"
    dimensions: int = DIMENSIONS


class Source:
    """Entries of chunks by collection, and what became of them, in memory."""

    def __init__(self, identity: str = "library") -> None:
        self.identity = identity
        self.history = "a"
        self.rows: dict[int, EntryRows] = {}
        self.removed: dict[int, list[tuple[int, int]]] = {}
        self.versions: dict[int, int] = {}

    def change(self, collection: int, added: EntryRows, removed: list[int]) -> None:
        """Give a collection its next version."""
        version = self.versions[collection] = self.versions.get(collection, 0) + 1
        rows = self.rows.get(collection, EntryRows.empty(DIMENSIONS))
        kept = rows.take(np.flatnonzero(~np.isin(rows.entry_ids, removed)))
        self.rows[collection] = join([kept, added])
        self.removed.setdefault(collection, []).extend((version, one) for one in removed)

    def library(self) -> str:
        return self.identity

    def version(self, collection_id: int) -> Version:
        number = self.versions.get(collection_id, 0)
        return Version(number, f"{self.history}{number}" if number else "")

    def count(self, collection_id: int, levels) -> int:
        return len(self._at(collection_id, levels))

    def changes(self, collection_id, levels, *, fingerprint, dimensions, since, after):
        if since.number and since.token != f"{self.history}{since.number}":
            raise IndexCorruptError("It is of another history.")
        rows = self._at(collection_id, levels)
        removed = [
            one for version, one in self.removed.get(collection_id, []) if version > since.number
        ]
        added = rows.take(np.flatnonzero(rows.entry_ids > after))
        return Changes(added, np.array(removed, np.int64), self.version(collection_id))

    @contextmanager
    def everything(self, collection_id, levels, *, fingerprint, dimensions) -> Iterator[Snapshot]:
        rows = RowSlices.of(self._at(collection_id, levels))
        yield Snapshot(rows, self.version(collection_id))

    def _at(self, collection_id: int, levels) -> EntryRows:
        rows = self.rows.get(collection_id, EntryRows.empty(DIMENSIONS))
        codes = [LEVEL_CODES[level] for level in levels]
        # Without levels, all.
        return rows.take(np.flatnonzero(np.isin(rows.levels, codes))) if codes else rows
