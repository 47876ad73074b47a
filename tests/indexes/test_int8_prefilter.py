"""Likely rows: the best of each query are among them, and scores stay those of faiss."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from ragkit.indexes.local import int8_prefilter as likely
from ragkit.indexes.local import vector as vector_module
from ragkit.indexes.local.int8_prefilter import Int8Prefilter
from ragkit.indexes.local.vector import VectorIndex

DIMENSIONS = 48


def unit(random: np.random.Generator, count: int) -> np.ndarray:
    rows = random.normal(size=(count, DIMENSIONS))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def halves() -> np.ndarray:
    rows = unit(np.random.default_rng(5), 40_000).astype(np.float16)
    rows[30_000:30_010] = rows[7]
    return rows


@pytest.fixture(scope="module")
def coarse(halves) -> Int8Prefilter:
    return Int8Prefilter.of(halves)


def test_codes_are_near_the_vectors(halves, coarse):
    near = (coarse.codes.astype(np.int64) - 128) * coarse.scale
    exact = halves.astype(np.float32)
    assert np.abs(exact - near).max() <= coarse.scale.max() / 2 + 1e-6
    away = np.linalg.norm((exact - near) / coarse.scale, axis=1)
    assert away.max() == pytest.approx(coarse.error, rel=1e-5)
    assert coarse.codes.nbytes * 2 == halves.nbytes


@pytest.mark.parametrize("depth", [1, 30])
@pytest.mark.parametrize("share", [None, 0.5])
def test_the_best_are_among_them(halves, coarse, depth, share):
    random = np.random.default_rng(depth)
    queries = np.concatenate([unit(random, 40), halves[7:8].astype(np.float32)])
    allowed = None if share is None else random.random(len(halves)) < share
    rows = coarse.likely_rows(queries, depth, allowed)
    assert rows is not None
    assert len(rows) < 41 * (2 * depth + 40)
    assert rows.tolist() == sorted(set(rows.tolist()))
    scores = queries.astype(np.float64) @ halves.astype(np.float64).T
    if allowed is not None:
        assert allowed[rows].all()
        scores[:, ~allowed] = -1
    best = np.argsort(-scores, axis=1, kind="stable")[:, :depth]
    assert set(best.reshape(-1).tolist()) <= set(rows.tolist())


def test_what_can_hardly_be_told_apart_is_kept_and_signs_count():
    values = np.zeros((40_000, 4), np.float16)
    values[:, 0] = 1
    values[100] = [0, 1, 0, 0]
    values[200] = [0, 0.9, -6e-8, 0]
    values[300] = [0, 0.9, 0, 0]
    values[400] = [0, -1, 0, 0]
    query = np.array([[0.001, 1, 0, 0]], np.float32)
    rows = Int8Prefilter.of(values).likely_rows(query, 2)
    assert rows is not None
    assert rows.tolist() == [100, 200, 300]


@pytest.mark.parametrize("count", [40_000, 39_169, 33_000])
def test_the_last_rows_are_found_once(count):
    random = np.random.default_rng(count)
    values = unit(random, count).astype(np.float16)
    queries = values[-3:].astype(np.float32)
    rows = Int8Prefilter.of(values).likely_rows(queries, 1)
    assert rows is not None
    assert {count - 3, count - 2, count - 1} <= set(rows.tolist())
    assert rows.max() < count


def test_parts_of_many_rows_are_looked_through_one_by_one(halves, coarse, monkeypatch):
    queries = unit(np.random.default_rng(3), 3)
    whole = coarse.likely_rows(queries, 5)
    monkeypatch.setattr(likely, "_ROWS", 15_000)
    monkeypatch.setattr(likely, "_QUERIES", 2)
    parts = coarse.likely_rows(queries, 5)
    assert whole is not None
    assert parts is not None
    best = np.argsort(-(queries @ halves.astype(np.float32).T), axis=1)[:, :5]
    for rows in (whole, parts):
        assert set(best.reshape(-1).tolist()) <= set(rows.tolist())
    assert len(parts) >= len(whole)


def test_none_where_too_few_rows_are_like_a_query(halves, coarse):
    nothing = np.zeros((1, DIMENSIONS), np.float32)
    assert coarse.likely_rows(nothing, 3) is None
    few = np.arange(len(halves)) < 20
    assert coarse.likely_rows(halves[:1].astype(np.float32), 30, few) is None
    assert Int8Prefilter.of(halves[:20]).likely_rows(halves[:2].astype(np.float32), 30) is None


@pytest.mark.parametrize("masked", [False, True])
def test_many_queries_find_what_each_alone_finds(halves, masked, monkeypatch, tmp_path):
    random = np.random.default_rng(9)
    index = VectorIndex.build(halves, np.arange(len(halves)) % 9 != 2)
    index.save(tmp_path / "saved")
    index = VectorIndex.load(tmp_path / "saved", index.has_vector)
    queries = np.concatenate([unit(random, 10), halves[7:8].astype(np.float32)])
    mask = random.random(len(halves)) < 0.7 if masked else None
    taken = []
    build = vector_module._scalar_index
    monkeypatch.setattr(
        vector_module,
        "_scalar_index",
        lambda vectors, rows: taken.append(len(rows)) or build(vectors, rows),
    )
    together = index.search(queries, 20, mask)
    assert taken
    assert taken[0] < 2000
    monkeypatch.setattr(vector_module, "_WORTH_NARROWING", 10**9)
    for query, (rows, scores) in zip(queries, together, strict=True):
        [(alone_rows, alone_scores)] = index.search(query[None], 20, mask)
        assert rows.tolist() == alone_rows.tolist()
        assert scores.tolist() == alone_scores.tolist()


@pytest.mark.parametrize("share", [None, 0.5, 0.0005])
def test_one_query_finds_by_bytes_what_it_finds_without(halves, share, monkeypatch, tmp_path):
    random = np.random.default_rng(11)
    VectorIndex.build(halves, np.ones(len(halves), bool)).save(tmp_path / "saved")
    index = VectorIndex.load(tmp_path / "saved", np.ones(len(halves), bool))
    queries = np.concatenate([unit(random, 20), halves[7:8].astype(np.float32) * 3])
    mask = None if share is None else random.random(len(halves)) < share
    exact = [index.search(query[None], 20, mask)[0] for query in queries[:3]]
    assert index._prefilter is None
    exact += [index.search(query[None], 20, mask)[0] for query in queries[3:]]
    index._int8()
    sizes = []
    searched = vector_module._searched
    monkeypatch.setattr(
        vector_module,
        "_searched",
        lambda part, *others: sizes.append(part.ntotal) or searched(part, *others),
    )
    for query, (rows, scores) in zip(queries, exact, strict=True):
        [(found, of_found)] = index.search(query[None], 20, mask)
        assert (found.tolist(), of_found.tolist()) == (rows.tolist(), scores.tolist())
    assert sum(size == len(halves) for size in sizes) == 0
    assert max(sizes) <= 4 * 28


def test_all_rows_are_scored_where_bytes_cannot_tell_them_apart(halves):
    random = np.random.default_rng(12)
    values = halves.copy()
    # Five hundred that are nearer to each other than bytes can say.
    values[:500] = values[0]
    values[:500, 1] = random.permutation(500) % 100 * np.float16(2**-16)
    query = values[:1].astype(np.float32)
    query[0, 1] = 0.5
    index = VectorIndex.build(values, np.ones(len(values), bool))
    [(rows, scores)] = index.search(query, 20)
    likely_rows, limit = index._int8().likely_rows_of_one(query, 4 * 28)
    assert not set(rows.tolist()) <= set(likely_rows.tolist())
    assert limit > scores[-1]
    [(found, of_found)] = index.search(query, 20)
    assert (found.tolist(), of_found.tolist()) == (rows.tolist(), scores.tolist())


def test_bytes_are_made_beside_the_searches_that_need_them(halves):
    index = VectorIndex.build(halves, np.ones(len(halves), bool))
    query = halves[:1].astype(np.float32)
    for _ in range(3):
        index.search(query, 5)
    assert index._prefilter is None
    index.search(query, 5)
    for one in threading.enumerate():
        if one.name == "ragkit-bytes":
            one.join()
    assert index._prefilter is not None
