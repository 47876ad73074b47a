"""A process that brings Qdrant's core up to date, until it is killed: see ``test_qdrant.py``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from entry_source import DIMENSIONS, Embedder, Kept, Source

from ragkit.indexes.protocol import EntryIndex
from ragkit.indexes.rows import EntryRows, TokenColumn
from ragkit.types import LEVEL_CODES, Field, Level

_CHUNK = LEVEL_CODES[Level.CHUNK]


def full_source() -> Source:
    """What the killed writer was to bring about."""
    source = Source()
    source.change(1, _rows(range(16, 4016)), [])
    source.change(1, _rows(range(4016, 4516)), list(range(100, 900, 3)))
    return source


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

    source = full_source()
    client = Saying(folder)
    QdrantBackend(source, Embedder(), Server("core", lambda: client)).current(Kept(1, "one"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
