"""Rows for the tests of the indexes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragkit.indexes.rows import LEVELS, EntryRows, TokenColumn
from ragkit.types import Field, Level

DIMENSIONS = 8


def make_rows(
    ids: Sequence[int],
    *,
    seed: int = 0,
    vocabulary: int = 40,
    level: Level = Level.CHUNK,
    shared_vectors: bool = False,
) -> EntryRows:
    """Rows whose content depends on their entry id alone, so that any two builds agree."""
    texts, contexts, vectors = [], [], []
    for entry_id in ids:
        random = np.random.default_rng([seed, entry_id])
        texts.append((random.zipf(1.4, int(random.integers(0, 25))) % vocabulary + 3).tolist())
        contexts.append((random.integers(3, vocabulary, int(random.integers(0, 4)))).tolist())
        random = np.random.default_rng([seed, entry_id % 5]) if shared_vectors else random
        vector = random.standard_normal(DIMENSIONS)
        vectors.append(vector / np.linalg.norm(vector))
    n = len(ids)
    numbers = np.array(ids, dtype=np.int64)
    return EntryRows(
        numbers,
        numbers // 3,
        np.full(n, LEVELS.index(level), np.int8),
        (numbers % 3).astype(np.int32),
        np.array(vectors, dtype=np.float16).reshape(n, DIMENSIONS),
        numbers % 7 != 0,
        {Field.TEXT: TokenColumn.of(texts), Field.CONTEXT: TokenColumn.of(contexts)},
    )
