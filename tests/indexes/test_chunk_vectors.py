"""Vectors in two indexes: those of chunks are searched alone, and scores stay the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from index_rows import DIMENSIONS, make_rows, put_vectors

from ragkit.indexes.local import packed
from ragkit.indexes.local.chunk_vectors import ChunkVectors
from ragkit.indexes.local.collection import CollectionIndex
from ragkit.indexes.local.generation import (
    build_graph_of,
    newest_graph,
    open_newest,
    write_generation,
)
from ragkit.indexes.local.hnsw import suitable_cells
from ragkit.indexes.local.vector import VectorIndex
from ragkit.indexes.protocol import EntryFilter, IndexKind, VectorSearch
from ragkit.indexes.rows import ChunkGroups, EntryRows, RowSlices
from ragkit.options import IndexMode
from ragkit.types import LEVEL_CODES, Level, Version

GROUP = (Level.CHUNK, Level.CONTEXT, Level.QUESTION, Level.QUESTION)
ANN = VectorSearch(IndexMode.ANN)
REPRESENTATIVES = EntryFilter(representatives=True)


def rows_with_contexts(chunks: int) -> EntryRows:
    """Chunks with a context and two questions each; every fifth chunk has none of them."""
    levels = [level for number in range(chunks) for level in GROUP[: 1 if number % 5 == 4 else 4]]
    rows = make_rows(range(1, len(levels) + 1), shared_vectors=True)
    rows.levels[:] = [LEVEL_CODES[level] for level in levels]
    return rows


@pytest.fixture(scope="module")
def rows() -> EntryRows:
    return rows_with_contexts(700)


def write(folder: Path, rows: EntryRows) -> Path:
    return write_generation(
        folder, RowSlices.of(rows), fingerprint="hash-1", tokenizer_version="1", version=Version(7)
    )


def opened(folder: Path) -> CollectionIndex:
    generation = open_newest(folder)
    assert generation is not None
    return generation.index()


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("is_saved", [False, True])
def test_both_together_find_what_one_index_of_all_finds(rows, tmp_path, masked, is_saved):
    groups = ChunkGroups(rows.levels)
    vectors = ChunkVectors.build(rows.vectors, rows.has_vector, groups)
    if is_saved:
        vectors.save(tmp_path)
        vectors = ChunkVectors.load(tmp_path, rows.has_vector, groups)
    whole = VectorIndex.build(rows.vectors, rows.has_vector)
    represents = groups.representatives
    assert represents is not None
    mask = np.arange(len(rows)) % 3 != 1 if masked else np.ones(len(rows), np.bool_)
    queries = np.random.default_rng(4).standard_normal((3, DIMENSIONS)).astype(np.float32)
    for depth in (1, 40, 5000):
        pairs = [
            (vectors.search(queries, depth, mask), whole.search(queries, depth, mask)),
            (
                vectors.search(queries, depth, mask, representing=True),
                whole.search(queries, depth, mask & represents),
            ),
        ]
        for found, wanted in pairs:
            for (found_rows, scores), (wanted_rows, wanted_scores) in zip(
                found, wanted, strict=True
            ):
                assert found_rows.tolist() == wanted_rows.tolist()
                assert scores.tolist() == wanted_scores.tolist()
    every, numbers = np.arange(len(rows)), np.zeros(len(rows), np.int64)
    scores = vectors.scores_of(queries, numbers, every)
    assert scores.tolist() == whole.scores_of(queries, numbers, every).tolist()
    for first, last in ((0, len(rows)), (3, len(rows) - 5), (7, 7)):
        expected = np.zeros((last - first, DIMENSIONS), np.float16)
        whole.put_into(expected, first)
        assert np.array_equal(vectors.vectors(first, last), expected)
    assert np.array_equal(vectors.has_vector, whole.has_vector)
    assert (
        len(vectors)
        == len(whole)
        == len(vectors.representing) + vectors.count(~represents, representing=False)
    )


def test_a_graph_links_what_represents_chunks(rows, tmp_path, monkeypatch):
    monkeypatch.setattr(packed, "MOST_ROWS", 0)
    path = write(tmp_path, rows)
    build_graph_of(path)
    index = opened(tmp_path)
    standing = np.count_nonzero(rows.has_vector & ChunkGroups(rows.levels).representatives)
    newest = newest_graph(tmp_path)
    assert newest is not None
    assert newest.vectors == index.representing_entries == standing < index.vector_entries / 2
    query = np.ones((1, DIMENSIONS), np.float32)
    default = put_vectors(index, query, REPRESENTATIVES, ANN)
    cells = suitable_cells(standing)
    assert default.strategy(5).why == f"ann: {standing} vectors, {cells} of {cells} cells"
    exact = put_vectors(index, query, REPRESENTATIVES)
    best, near = (one.candidates(IndexKind.VECTOR, 5) for one in (exact, default))
    assert near.scores.tolist() == best.scores.tolist()
    every = put_vectors(index, query, None, ANN)
    assert every.strategy(5).missing
    one_index = CollectionIndex.build(rows)
    found = every.candidates(IndexKind.VECTOR, 5).entry_ids.tolist()
    assert found == put_vectors(one_index, query).candidates(IndexKind.VECTOR, 5).entry_ids.tolist()


def test_what_was_removed_and_added_counts(rows):
    index = CollectionIndex.build(rows)
    standing, found = index.representing_entries, index.vector_entries
    # The first chunk has entries 1 to 4, of which 2 is its context; 7 multiples have no vector.
    index = index.remove([1, 2, 3, 4], Version(8))
    assert (index.representing_entries, index.vector_entries) == (standing - 1, found - 4)
    index = index.upsert(rows.take(np.arange(4)), Version(9))
    assert (index.representing_entries, index.vector_entries) == (standing, found)
    query = rows.vectors[1:2].astype(np.float32)
    ids = put_vectors(index, query, REPRESENTATIVES).candidates(IndexKind.VECTOR, 5000).entry_ids
    assert len(ids) == standing
    assert 2 in ids
    assert not {1, 3, 4} & set(ids.tolist())
