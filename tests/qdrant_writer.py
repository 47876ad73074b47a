"""A process that brings Qdrant's core up to date, until it is killed: see ``test_qdrant.py``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ragkit.errors import IndexCorruptError
from ragkit.indexes.protocol import Changes, EntryIndex, Snapshot
from ragkit.indexes.rows import EntryRows, RowSlices, TokenColumn, join
from ragkit.types import LEVEL_CODES, Field, Level, Version

DIMENSIONS = 8
_CHUNK = LEVEL_CODES[Level.CHUNK]


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

    @classmethod
    def full(cls) -> Source:
        """What the killed writer was to bring about."""
        source = cls()
        source.change(1, _rows(range(16, 4016)), [])
        source.change(1, _rows(range(4016, 4516)), list(range(100, 900, 3)))
        return source

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

    def changes(self, collection_id, levels, *, fingerprint, dimensions, since=None, after=0):
        if since is not None and since.number and since.token != f"{self.history}{since.number}":
            raise IndexCorruptError("It is of another history.")
        rows = self._at(collection_id, levels)
        removed = [
            one
            for version, one in self.removed.get(collection_id, [])
            if since is not None and version > since.number
        ]
        added = rows.take(np.flatnonzero(rows.entry_ids > after))
        return Changes(added, np.array(removed, np.int64), self.version(collection_id))

    @contextmanager
    def everything(self, collection_id, levels, *, fingerprint, dimensions) -> Iterator[Snapshot]:
        rows = RowSlices.of(self._at(collection_id, levels))
        yield Snapshot(rows, self.version(collection_id))

    def _at(self, collection_id: int, levels) -> EntryRows:
        rows = self.rows.get(collection_id, EntryRows.empty(DIMENSIONS))
        # Without levels, all.
        return rows if Level.CHUNK in levels or not levels else rows.take(np.zeros(0, np.int64))


def rows_at(index: EntryIndex) -> list[object]:
    """What an index holds, as values that can be compared."""
    rows = index.scan()
    return [rows.entry_ids.tolist(), rows.vectors.tolist(), rows.tokens[Field.TEXT].flat.tolist()]


def _rows(ids: range) -> EntryRows:
    random = np.random.default_rng(ids.start)
    vectors = random.standard_normal((len(ids), DIMENSIONS))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    numbers = np.array(ids, np.int64)
    return EntryRows(
        numbers,
        numbers // 16,
        np.full(len(ids), _CHUNK, np.int8),
        (numbers % 16).astype(np.int32),
        numbers.astype(np.uint64),
        vectors.astype(np.float16),
        np.ones(len(ids), np.bool_),
        {Field.TEXT: TokenColumn.of([[3 + one % 5, 9] for one in ids])},
    )


def main(folder: Path) -> None:
    """Bring a core in a folder up to date with two changes, and say each write."""
    from qdrant_edge_client import EdgeClient

    from ragkit.indexes.qdrant.backend import QdrantBackend
    from ragkit.indexes.qdrant.server import Server

    class Saying(EdgeClient):
        def upsert(self, *arguments: object, **named: object) -> None:
            super().upsert(*arguments, **named)
            sys.stdout.write("written\n")
            sys.stdout.flush()

    source = Source.full()
    client = Saying(folder)
    QdrantBackend(source, Embedder(), Server("core", lambda: client)).current(Kept(1, "one"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
