"""Likely rows: the best of each query are among them, and scores stay those of faiss."""

from __future__ import annotations

import numpy as np
import pytest

from ragkit.indexes import vector as vector_module
from ragkit.indexes.likely import likely_rows, reached
from ragkit.indexes.vector import VectorIndex

DIMENSIONS = 48


def unit(random: np.random.Generator, count: int) -> np.ndarray:
    rows = random.normal(size=(count, DIMENSIONS))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def halves() -> np.ndarray:
    rows = unit(np.random.default_rng(5), 40_000).astype(np.float16)
    rows[30_000:30_010] = rows[7]
    return rows


@pytest.mark.parametrize("depth", [1, 30])
@pytest.mark.parametrize("share", [None, 0.5])
def test_the_best_are_among_them(halves, depth, share):
    random = np.random.default_rng(depth)
    queries = np.concatenate([unit(random, 40), halves[7:8].astype(np.float32)])
    allowed = None if share is None else random.random(len(halves)) < share
    rows = likely_rows(halves, queries, depth, allowed)
    assert rows is not None
    assert len(rows) < 41 * (2 * depth + 40)
    scores = queries.astype(np.float64) @ halves.astype(np.float64).T
    if allowed is not None:
        assert allowed[rows].all()
        scores[:, ~allowed] = -1
    best = np.argsort(-scores, axis=1, kind="stable")[:, :depth]
    assert set(best.reshape(-1).tolist()) <= set(rows.tolist())


def test_small_numbers_and_signs_are_kept():
    values = np.zeros((40_000, 4), np.float16)
    values[:, 0] = 1
    values[100] = [0, 1, 0, 0]
    values[200] = [0, 0.9, -6e-8, 0]
    values[300] = [0, 0.9, 0, 0]
    values[400] = [0, -1, 0, 0]
    query = np.array([[0.001, 1, 0, 0]], np.float32)
    rows = likely_rows(values, query, 2)
    assert rows is not None
    assert rows.tolist() == [100, 200, 300]


def test_none_where_too_few_rows_are_like_a_query(halves):
    nothing = np.zeros((1, DIMENSIONS), np.float32)
    assert likely_rows(halves, nothing, 3) is None
    assert likely_rows(halves[:1000], halves[:2].astype(np.float32), 30) is None
    few = np.arange(len(halves)) < 20
    assert likely_rows(halves, halves[:1].astype(np.float32), 30, few) is None


@pytest.mark.parametrize("masked", [False, True])
def test_many_queries_find_what_each_alone_finds(halves, masked, monkeypatch, tmp_path):
    random = np.random.default_rng(9)
    index = VectorIndex.build(halves, np.arange(len(halves)) % 9 != 2)
    index.save(tmp_path / "saved")
    index = VectorIndex.load(tmp_path / "saved", index.has_vector)
    queries = np.concatenate([unit(random, 10), halves[7:8].astype(np.float32)])
    mask = random.random(len(halves)) < 0.7 if masked else None
    taken = []
    narrowed = VectorIndex._of_rows
    monkeypatch.setattr(
        VectorIndex, "_of_rows", lambda self, rows: taken.append(len(rows)) or narrowed(self, rows)
    )
    together = index.search_many(queries, 20, mask)
    assert taken
    assert taken[0] < 2000
    monkeypatch.setattr(vector_module, "_WORTH_NARROWING", 10**9)
    for query, (rows, scores) in zip(queries, together, strict=True):
        alone_rows, alone_scores = index.search(query, 20, mask)
        assert rows.tolist() == alone_rows.tolist()
        assert scores.tolist() == alone_scores.tolist()


def test_reached_is_reached_by_enough():
    random = np.random.default_rng(2)
    for _ in range(50):
        scores = random.normal(size=random.integers(64, 5000)).astype(np.float32)
        depth = int(random.integers(1, 40))
        least = reached(scores, depth)
        if least > 0:
            assert np.count_nonzero(scores >= least) >= depth
    assert reached(np.ones(640, np.float32), 10) == 0
    assert reached(np.ones(704, np.float32), 10) == 1
    assert reached(-np.ones(704, np.float32), 10) == 0
