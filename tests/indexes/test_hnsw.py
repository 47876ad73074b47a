"""The approximate index beside the exact one: what it finds, when it is asked, and its files."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from index_rows import by_vector, make_rows, put_vectors

from ragkit.errors import IndexCorruptError
from ragkit.indexes.local import vector
from ragkit.indexes.local.collection import CollectionIndex
from ragkit.indexes.local.files import FileRecord
from ragkit.indexes.local.generation import (
    build_graph_of,
    newest_graph,
    open_newest,
    prune,
    write_generation,
)
from ragkit.indexes.local.hnsw import GraphParameters, GraphState, suitable_cells, write_graph
from ragkit.indexes.local.vector import (
    CELLS_PER_PROBE,
    LEAST_SHARE,
    MOST_CELLS,
    LateGraph,
    VectorIndex,
    choose_strategy,
)
from ragkit.indexes.protocol import EntryFilter, SearchStrategy, VectorSearch
from ragkit.indexes.rows import RowSlices
from ragkit.options import IndexMode
from ragkit.types import Version

ROWS, CELLS = 3000, 300
ANN = VectorSearch(IndexMode.ANN, nprobe=1, overfetch=10)
EXACT = VectorSearch(IndexMode.EXACT)
AUTO = VectorSearch()
RECORD = FileRecord(0, 0)
NAMES = {"fingerprint": "hash-1", "tokenizer_version": "1"}


def generation_in(folder: Path, rows: int = ROWS) -> Path:
    return write_generation(
        folder, RowSlices.of(make_rows(range(1, rows + 1))), version=Version(1), **NAMES
    )


def index_of(folder: Path) -> CollectionIndex:
    generation = open_newest(folder, **NAMES)
    assert generation is not None
    return generation.index()


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("graph")
    build_graph_of(generation_in(folder), GraphParameters(8, 40, CELLS))
    return folder


@pytest.fixture(scope="module")
def index(folder: Path) -> CollectionIndex:
    return index_of(folder)


def queries(count: int, seed: int = 3) -> np.ndarray:
    vectors = np.random.default_rng(seed).standard_normal((count, 8))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def test_it_finds_nearly_all_of_the_best_with_exactly_their_scores(index: CollectionIndex):
    asked = queries(40)
    way = put_vectors(index, queries(1), None, ANN).strategy(10)
    assert (way.width, way.scored) == (32, 100)
    exact = by_vector(index, asked, 10, None, EXACT)
    near = by_vector(index, asked, 10, None, ANN)
    shared = 0
    for one, other in zip(exact, near, strict=True):
        scores = dict(zip(one.entry_ids.tolist(), one.scores.tolist(), strict=True))
        assert len(other.entry_ids) == 10
        assert other.scores.tolist() == sorted(other.scores.tolist(), reverse=True)
        for entry_id, score in zip(other.entry_ids.tolist(), other.scores.tolist(), strict=True):
            shared += entry_id in scores
            # To the last bit: the vectors and the arithmetic are the same.
            assert scores.get(entry_id, score) == score
    assert shared >= 0.95 * 400


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    depth=st.integers(1, 60),
    nprobe=st.integers(1, 8),
    removed=st.integers(0, 500),
    kept=st.floats(0.0, 1.0),
)
def test_whatever_is_asked_only_what_may_be_found_is_found_with_its_score(
    index: CollectionIndex, seed: int, depth: int, nprobe: int, removed: int, kept: float
):
    random = np.random.default_rng(seed)
    gone = random.choice(ROWS, removed, replace=False) + 1
    changed = index.remove(gone, 2).upsert(make_rows(range(ROWS + 1, ROWS + 30)), 2)
    allowed = np.flatnonzero(random.random(ROWS + 30) < kept).astype(np.int64)
    mask = EntryFilter(entry_ids=allowed) if kept < 1.0 else None
    asked = queries(2, seed)
    search = VectorSearch(IndexMode.ANN, nprobe)
    everything = by_vector(changed, asked, ROWS + 30, mask, EXACT)
    for whole, one in zip(everything, by_vector(changed, asked, depth, mask, search), strict=True):
        scores = dict(zip(whole.entry_ids.tolist(), whole.scores.tolist(), strict=True))
        found = one.entry_ids.tolist()
        assert len(found) == len(set(found)) == min(depth, len(whole.entry_ids))
        assert not set(found) & set(gone.tolist())
        assert one.scores.tolist() == [scores[entry_id] for entry_id in found]
        order = list(zip((-one.scores).tolist(), found, strict=True))
        assert order == sorted(order)


def test_added_entries_are_found_at_once(index: CollectionIndex):
    added = make_rows([ROWS + 1, ROWS + 2])
    changed = index.upsert(added, 2)
    [found] = by_vector(changed, added.vectors[:1].astype(np.float32), 1, None, ANN)
    assert found.entry_ids.tolist() == [ROWS + 1]
    assert put_vectors(changed, queries(1), None, ANN).strategy(1).width > 0


def test_a_filter_that_leaves_few_is_searched_exactly(index: CollectionIndex):
    def way(of: CollectionIndex, last: int):
        passing = EntryFilter(entry_ids=np.arange(1, last + 1))
        return put_vectors(of, queries(1), passing, ANN).strategy(10)

    having = index.scan().has_vector
    few = way(index, 200)
    assert (few.width, few.missing) == (0, False)
    count = np.count_nonzero(having[:200])
    assert few.why == f"exact: {count} of {np.count_nonzero(having):,} vectors pass the filter"
    count = np.count_nonzero(having[:2700])
    assert way(index, 2700).width == math.ceil(32 * (np.count_nonzero(having) / count) ** (1 / 4))
    gone = way(index.remove(range(1, 1001), 2), 1100)
    count = np.count_nonzero(having[1000:1100])
    assert gone.why == (
        f"exact: {count} of {np.count_nonzero(having[1000:]):,} vectors pass the filter"
    )


@pytest.mark.parametrize(
    ("search", "rows", "passing", "cells", "why"),
    [
        (EXACT, 10**6, 10**6, 2000, "exact: asked for"),
        (AUTO, 10**6, 10**6, 0, "exact: 1,000,000 vectors"),
        (AUTO, 5000, 812, 0, "exact: 812 of 5,000 vectors pass the filter"),
        (ANN, 10**6, 10**6, 0, "exact: there is no approximate index"),
        (AUTO, 10**6, 10**6, 2000, "ann: 1,000,000 vectors, 768 of 2,000 cells"),
        (
            AUTO,
            10**6,
            900_000,
            2000,
            "ann: 900,000 of 1,000,000 vectors pass the filter, 789 of 2,000 cells",
        ),
        (
            AUTO,
            10**6,
            250_000,
            2000,
            "ann: 250,000 of 1,000,000 vectors pass the filter, 1,087 of 2,000 cells",
        ),
        (
            AUTO,
            300_000,
            60_000,
            1095,
            "ann: 60,000 of 300,000 vectors pass the filter, 1,095 of 1,095 cells",
        ),
        (
            AUTO,
            10**6,
            250_000,
            1023,
            "exact: 250,000 of 1,000,000 vectors pass the filter, "
            "quicker than 1,023 of 1,023 cells",
        ),
        (
            AUTO,
            10**6,
            80_000,
            2000,
            "ann: 80,000 of 1,000,000 vectors pass the filter, 1,445 of 2,000 cells",
        ),
        (AUTO, 10**6, 79_999, 2000, "exact: 79,999 of 1,000,000 vectors pass the filter"),
        (ANN, 10**6, 79_999, 2000, "exact: 79,999 of 1,000,000 vectors pass the filter"),
        (AUTO, 50_000, 50_000, 447, "exact: 50,000 vectors, quicker than 447 of 447 cells"),
        (AUTO, 10**6, 10**6, 1023, "exact: 1,000,000 vectors, quicker than 768 of 1,023 cells"),
        (AUTO, 10**6, 10**6, 1024, "ann: 1,000,000 vectors, 768 of 1,024 cells"),
        (ANN, 50_000, 50_000, 447, "ann: 50,000 vectors, 32 of 447 cells"),
        (ANN, 101, 101, 20, "ann: 101 vectors, 20 of 20 cells"),
        (ANN, 100, 100, 20, "exact: 100 vectors, quicker than 20 of 20 cells"),
        (ANN, 0, 0, 1, "exact: 0 vectors, quicker than 0 of 1 cells"),
        (VectorSearch(nprobe=4), 10**6, 10**6, 2000, "ann: 1,000,000 vectors, 128 of 2,000 cells"),
    ],
)
def test_how_it_searches_and_why(search, rows, passing, cells, why):
    assert (LEAST_SHARE, CELLS_PER_PROBE, MOST_CELLS) == (0.08, 32, 0.75)
    way = choose_strategy(rows, passing, 10, search, cells=cells)
    assert way.why == why
    assert (way.width > 0) == why.startswith("ann")
    assert way.scored == (search.overfetch * 10 if way.width else 0)
    assert way.missing == (search.mode is IndexMode.ANN and not cells)


def test_a_wider_search_finds_more(index: CollectionIndex):
    asked = queries(60, seed=8)
    exact = by_vector(index, asked, 20, None, EXACT)

    def recall(search: VectorSearch) -> float:
        near = by_vector(index, asked, 20, None, search)
        pairs = zip(exact, near, strict=True)
        return sum(len(np.intersect1d(a.entry_ids, b.entry_ids)) for a, b in pairs) / (20 * 60)

    # What is not scored exactly is told apart by four numbers of four bits only.
    assert recall(VectorSearch(IndexMode.ANN, nprobe=2, overfetch=1)) < 0.7
    narrow = recall(VectorSearch(IndexMode.ANN, nprobe=1, overfetch=20))
    assert 0.95 < narrow < recall(VectorSearch(IndexMode.ANN, nprobe=2, overfetch=20)) > 0.995


def test_a_graph_that_comes_later_is_used_by_who_is_open(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(vector, "LOOK_SECONDS", 0.0)
    path = generation_in(tmp_path, 600)
    index = index_of(tmp_path)
    assert put_vectors(index, queries(1), None, ANN).strategy(5).missing
    before = by_vector(index, queries(1), 5, None, ANN)[0]
    build_graph_of(path)
    assert put_vectors(index, queries(1), None, ANN).strategy(5).width == 32
    after = by_vector(index, queries(1), 5, None, ANN)[0]
    assert after.scores.tolist() == before.scores.tolist()


def test_the_same_vectors_give_the_same_bytes(tmp_path: Path):
    paths = [generation_in(tmp_path / name, 600) for name in "ab"]
    for path in paths:
        build_graph_of(path)
    first, second = ((path / "graph.faiss").read_bytes() for path in paths)
    assert first == second


@pytest.mark.parametrize("dimensions", [3, 4])
@pytest.mark.parametrize("count", [1, 5, 40])
def test_few_vectors_of_any_length(tmp_path: Path, count: int, dimensions: int):
    vectors = np.random.default_rng(1).standard_normal((count, dimensions)).astype(np.float16)
    write_graph(tmp_path, vectors, RECORD)
    graph = LateGraph(tmp_path, RECORD)
    index = VectorIndex.build(vectors, np.ones(count, np.bool_), graph)
    assert graph.of(index._index) is not None
    for number in range(count):
        query = vectors[[number]].astype(np.float32)
        every = SearchStrategy(suitable_cells(count), "", scored=count)
        [(rows, scores)] = index.search(query, count, None, every)
        [(wanted, exact)] = index.search(query, count)
        assert rows.tolist() == wanted.tolist()
        assert scores.tolist() == exact.tolist()


def test_without_rows_or_with_copies_of_one(tmp_path: Path):
    rows = make_rows(range(1, 2001), shared_vectors=True)
    build_graph_of(write_generation(tmp_path, RowSlices.of(rows), version=Version(1), **NAMES))
    index = index_of(tmp_path)
    asked = rows.vectors[:1].astype(np.float32)
    [exact] = by_vector(index, asked, 50, None, EXACT)
    [near] = by_vector(index, asked, 50, None, ANN)
    assert near.scores.tolist() == exact.scores.tolist()
    build_graph_of(generation_in(tmp_path / "empty", 0))
    assert len(by_vector(index_of(tmp_path / "empty"), asked, 5, None, ANN)[0].entry_ids) == 0


@pytest.mark.parametrize("name", ["graph.faiss", "graph.json"])
def test_damage_leaves_exact_search_and_is_mended(tmp_path: Path, name: str, monkeypatch):
    monkeypatch.setattr(vector, "LOOK_SECONDS", 0.0)
    path = generation_in(tmp_path, 600)
    assert newest_graph(tmp_path).state is GraphState.NONE
    build_graph_of(path)
    assert newest_graph(tmp_path).state is GraphState.WHOLE
    wanted = by_vector(index_of(tmp_path), queries(1), 5, None, EXACT)[0].entry_ids.tolist()
    whole = (path / name).read_bytes()
    for damage in (whole[:-9], b"", b"[]", whole[:99] + bytes([whole[99] ^ 1]) + whole[100:]):
        (path / name).write_bytes(damage)
        assert newest_graph(tmp_path).state is GraphState.DAMAGED
        index = index_of(tmp_path)
        for _twice in range(2):
            assert (
                put_vectors(index, queries(1), None, ANN).strategy(5).why
                == "exact: there is no approximate index"
            )
            [found] = by_vector(index, queries(1), 5, None, ANN)
            assert found.entry_ids.tolist() == wanted
    build_graph_of(path)
    assert newest_graph(tmp_path).state is GraphState.WHOLE
    assert put_vectors(index, queries(1), None, ANN).strategy(5).width == 32


def test_a_graph_of_other_vectors_or_of_another_time_is_not_used(tmp_path: Path):
    first, second = generation_in(tmp_path / "a", 600), generation_in(tmp_path / "b", 700)
    build_graph_of(first)
    for name in ("graph.faiss", "graph.json"):
        (second / name).write_bytes((first / name).read_bytes())
    assert newest_graph(tmp_path / "b").state is GraphState.DAMAGED
    assert put_vectors(index_of(tmp_path / "b"), queries(1), None, ANN).strategy(5).missing
    about = json.loads((first / "graph.json").read_text())
    (first / "graph.json").write_text(json.dumps({**about, "format_version": 0}))
    assert newest_graph(tmp_path / "a").state is GraphState.DAMAGED
    assert put_vectors(index_of(tmp_path / "a"), queries(1), None, ANN).strategy(5).missing


def test_what_a_killed_builder_left_is_removed(tmp_path: Path):
    path = generation_in(tmp_path, 50)
    for name in (".graph.faiss.123", ".graph.json.123"):
        (path / name).write_bytes(b"half")
    build_graph_of(path)
    assert newest_graph(tmp_path).state is GraphState.WHOLE
    assert [one.name for one in path.iterdir() if one.name.startswith(".")] == []


def test_a_generation_that_is_gone_gets_no_graph(tmp_path: Path):
    path = generation_in(tmp_path, 50)
    prune(tmp_path, keep=0)
    with pytest.raises(IndexCorruptError):
        build_graph_of(path)
    assert not path.exists()
    assert newest_graph(tmp_path) is None
