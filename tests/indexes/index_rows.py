"""Rows for the tests of the indexes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from itertools import pairwise

import numpy as np

from ragkit.indexes.local.collection import CollectionIndex
from ragkit.indexes.protocol import (
    Candidates,
    EntryFilter,
    EntryIndex,
    IndexKind,
    IndexQuery,
    IndexSearch,
    VectorSearch,
)
from ragkit.indexes.rows import EntryRows, TokenColumn
from ragkit.types import LEVEL_CODES, Field, Level, Version

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
        np.full(n, LEVEL_CODES[level], np.int8),
        (numbers % 3).astype(np.int32),
        (numbers % 13).astype(np.uint64),
        np.array(vectors, dtype=np.float16).reshape(n, DIMENSIONS),
        numbers % 7 != 0,
        {Field.TEXT: TokenColumn.of(texts), Field.CONTEXT: TokenColumn.of(contexts)},
    )


def each(candidates: Candidates, count: int) -> list[Candidates]:
    """The candidates of each of ``count`` queries by themselves."""
    bounds = np.searchsorted(candidates.queries, np.arange(count + 1))
    return [
        Candidates(*(getattr(candidates, column.name)[start:end] for column in fields(Candidates)))
        for start, end in pairwise(bounds.tolist())
    ]


def put_vectors(
    index: EntryIndex,
    vectors: np.ndarray,
    entry_filter: EntryFilter | None = None,
    vector_search: VectorSearch | None = None,
) -> IndexSearch:
    """Vectors (q, d) put to an index."""
    queries = [IndexQuery(vector=vector) for vector in vectors]
    return index.search(queries, entry_filter, vector_search=vector_search)


def by_vector(
    index: EntryIndex,
    vectors: np.ndarray,
    depth: int,
    entry_filter: EntryFilter | None = None,
    vector_search: VectorSearch | None = None,
) -> list[Candidates]:
    """What each vector finds."""
    search = put_vectors(index, vectors, entry_filter, vector_search)
    return each(search.candidates(IndexKind.VECTOR, depth), len(vectors))


def by_keyword(
    index: EntryIndex,
    queries: Sequence[Sequence[int]],
    weights: Mapping[Field, float],
    depth: int,
    entry_filter: EntryFilter | None = None,
) -> list[Candidates]:
    """What each query of token ids finds."""
    search = index.search([IndexQuery(query) for query in queries], entry_filter, weights)
    return each(search.candidates(IndexKind.KEYWORD, depth), len(queries))


def keyword_scores(
    index: EntryIndex, query: Sequence[int], weights: Mapping[Field, float], entry_ids: object
) -> list[float]:
    """The exact scores of entries for one query of token ids."""
    search = index.search([IndexQuery(query)], None, weights)
    return search.scores(IndexKind.KEYWORD, np.asarray(entry_ids, np.int64)).tolist()


def after(
    index: CollectionIndex, added: EntryRows, removed: Iterable[int], version: int
) -> CollectionIndex:
    """The index after entries went and others came."""
    changed = Version(version)
    return index.remove(removed, changed).upsert(added, changed)


def merged(index: CollectionIndex) -> CollectionIndex:
    """An index of the same entries, built at once."""
    return CollectionIndex.build(index.scan(), index.version)
