from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from ragkit.indexes.local.vector import VectorIndex


def search(index: VectorIndex, query: np.ndarray, depth: int, mask=None):
    """What one query (d,) finds."""
    [ranked] = index.search(query[None], depth, mask)
    return ranked


def unit(n: int, d: int = 24, seed: int = 1) -> np.ndarray:
    vectors = np.random.default_rng(seed).standard_normal((n, d))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float16)


def nearest(vectors, query, depth, allowed):
    """What numpy finds: (-score, row), in order."""
    scores = vectors.astype(np.float64) @ query.astype(np.float64)
    rows = [row for row in range(len(vectors)) if allowed[row]]
    return sorted(rows, key=lambda row: (-scores[row], row))[:depth], scores


@pytest.mark.parametrize("share", [1.0, 0.5, 0.02, 0.0])
def test_it_finds_what_numpy_finds(share: float):
    vectors = unit(700)
    index = VectorIndex.build(vectors, np.ones(700, bool))
    mask = np.random.default_rng(2).random(700) < share
    for query in unit(10, seed=9).astype(np.float32):
        rows, found = search(index, query, 20, None if share == 1.0 else mask)
        wanted, scores = nearest(vectors, query, 20, mask)
        assert rows.tolist() == wanted
        assert found == pytest.approx(scores[rows], abs=2e-6)


def test_equal_vectors_come_in_the_order_of_their_rows_even_at_the_edge():
    vectors = np.repeat(unit(4), 300, axis=0)
    index = VectorIndex.build(vectors, np.ones(1200, bool))
    rows, scores = search(index, vectors[450].astype(np.float32), 50)
    assert rows.tolist() == list(range(300, 350))
    assert len(set(scores.tolist())) == 1
    mask = np.arange(1200) % 2 == 1
    assert search(index, vectors[450].astype(np.float32), 3, mask)[0].tolist() == [301, 303, 305]


def test_rows_without_a_usable_vector_never_come_back(tmp_path: Path):
    vectors = unit(30)
    vectors[4] = 0
    vectors[5, 2] = np.nan
    vectors[6, 0] = np.inf
    has = np.ones(30, bool)
    has[7] = False
    built = VectorIndex.build(vectors, has)
    built.save(tmp_path / "v.faiss")
    for index in (built, VectorIndex.load(tmp_path / "v.faiss", built.has_vector)):
        assert len(index) == 26
        rows, _ = search(index, unit(1, seed=4)[0].astype(np.float32), 100)
        assert sorted(rows.tolist()) == [row for row in range(30) if row not in (4, 5, 6, 7)]
        mask = np.zeros(30, bool)
        mask[[4, 5, 6, 7, 8]] = True
        assert search(index, unit(1)[0].astype(np.float32), 9, mask)[0].tolist() == [8]
        out = np.zeros(vectors.shape, np.float16)
        index.put_into(out, 0)
        assert np.array_equal(out[8:], vectors[8:])
        assert not out[4:8].any()


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf])
def test_a_query_that_says_nothing_finds_nothing(value: float):
    index = VectorIndex.build(unit(5), np.ones(5, bool))
    rows, scores = search(index, np.full(24, value, np.float32), 3)
    assert rows.tolist() == scores.tolist() == []


def test_nothing_to_find(tmp_path: Path):
    index = VectorIndex.build(unit(0), np.zeros(0, bool))
    index.save(tmp_path / "v.faiss")
    for one in (index, VectorIndex.load(tmp_path / "v.faiss", np.zeros(0, bool))):
        assert search(one, unit(1)[0].astype(np.float32), 3)[0].tolist() == []
    assert search(VectorIndex.build(unit(5), np.ones(5, bool)), np.ones(24, "f4"), 0)[0].size == 0


def test_a_file_of_other_rows_or_of_nonsense_is_refused(tmp_path: Path):
    VectorIndex.build(unit(5), np.ones(5, bool)).save(tmp_path / "v.faiss")
    with pytest.raises(ValueError, match="5 vectors for 6 rows"):
        VectorIndex.load(tmp_path / "v.faiss", np.ones(6, bool))
    (tmp_path / "bad.faiss").write_bytes(b"nonsense" * 20)
    with pytest.raises(OSError):
        VectorIndex.load(tmp_path / "bad.faiss", np.ones(5, bool))


def test_threads_find_the_same():
    vectors = unit(2000)
    index = VectorIndex.build(vectors, np.ones(2000, bool))
    queries = unit(20, seed=8).astype(np.float32)
    wanted = [search(index, query, 10)[0].tolist() for query in queries]
    seen = []
    threads = [
        threading.Thread(
            target=lambda: seen.append([search(index, q, 10)[0].tolist() for q in queries])
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [wanted] * 4


@pytest.mark.parametrize("masked", [False, True])
def test_several_queries_find_in_an_index_what_each_finds(masked):
    random = np.random.default_rng(3)
    vectors = random.normal(size=(300, 16)).astype(np.float16)
    vectors[100:140] = vectors[100]
    index = VectorIndex.build(vectors, np.ones(300, np.bool_))
    queries = random.normal(size=(9, 16)).astype(np.float32)
    queries[3] = 0
    queries[4] = vectors[100]
    mask = np.arange(300) % 3 > 0 if masked else None
    for depth in (1, 10, 500):
        for found, query in zip(index.search(queries, depth, mask), queries, strict=True):
            rows, scores = search(index, query, depth, mask)
            assert found[0].tolist() == rows.tolist()
            assert found[1].tolist() == scores.tolist()


@pytest.mark.skipif(sys.platform != "linux", reason="OpenMP is that of GCC on Linux")
@pytest.mark.parametrize("told", ["", "ACTIVE"])
def test_threads_of_faiss_sleep_while_they_wait_unless_told_otherwise(told: str):
    environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    environment |= {"OMP_DISPLAY_ENV": "verbose", **({"OMP_WAIT_POLICY": told} if told else {})}
    load = "from ragkit.indexes.local.load_faiss import load_faiss; load_faiss()"
    shown = subprocess.run(
        [sys.executable, "-c", load], env=environment, capture_output=True, text=True, check=True
    ).stderr
    [spins] = re.findall(r"GOMP_SPINCOUNT = '(\d+)'", shown)
    assert (int(spins) > 0) == bool(told)
