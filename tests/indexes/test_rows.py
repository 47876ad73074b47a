"""Chunk groups (which entries belong to a chunk, which represent it), and the best rows."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest

from ragkit.indexes.rows import (
    TEXT_SHARE,
    ChunkGroups,
    EntryRows,
    Runs,
    best_rows,
    promising_rows,
    reached_by_slices,
    united,
    with_texts,
)
from ragkit.types import LEVEL_CODES, Level

C, Q, W = Level.CHUNK, Level.QUESTION, Level.CONTEXT


def groups(*levels):
    return ChunkGroups(np.array([LEVEL_CODES[one] for one in levels], np.int8))


def test_a_context_stands_for_its_chunk_and_a_question_for_nothing():
    representing = groups(C, C, W, Q, Q, C, Q, C, W).representatives
    assert representing is not None
    assert representing.tolist() == [True, False, True, False, False, True, False, False, True]


def test_where_nothing_was_written_all_stand():
    assert groups(C, C, C).representatives is None
    assert groups(Level.SECTION, Level.SECTION).representatives is None
    assert groups().representatives is None


def rows_of(levels, vectors, has_vector=None):
    count = len(levels)
    return EntryRows(
        np.arange(1, count + 1),
        np.ones(count, np.int64),
        np.array([LEVEL_CODES[one] for one in levels], np.int8),
        np.zeros(count, np.int32),
        np.zeros(count, np.uint64),
        np.array(vectors, np.float16),
        np.ones(count, np.bool_) if has_vector is None else np.array(has_vector),
    )


def test_what_stands_for_a_chunk_is_of_its_context_and_of_its_text():
    east, north, up = [1, 0, 0], [0, 1, 0], [0, 0, 1]
    given = rows_of([C, W, Q, C, C, W], [east, north, up, up, up, up])
    found = with_texts(given)
    length = (TEXT_SHARE**2 + (1 - TEXT_SHARE) ** 2) ** 0.5
    joined = [TEXT_SHARE / length, (1 - TEXT_SHARE) / length, 0]
    assert found.vectors[1].tolist() == pytest.approx(joined, abs=1e-3)
    others = [0, 2, 3, 4, 5]
    assert found.vectors[others].tolist() == given.vectors[others].tolist()
    assert given.vectors[1].tolist() == north


def test_a_vector_that_lacks_is_not_made_up():
    given = rows_of([C, W, C, W, W], [[1, 0], [0, 1], [1, 0], [0, 0], [0, 1]],
                    [False, True, True, False, True])  # fmt: skip
    found = with_texts(given)
    assert found.vectors[:4].tolist() == given.vectors[:4].tolist()
    assert found.has_vector.tolist() == given.has_vector.tolist()
    lone = rows_of([W], [[0, 1]])
    assert with_texts(lone) is lone


def test_opposite_vectors_leave_a_usable_one():
    found = with_texts(rows_of([C, W], [[1, 0], [-1, 0]]))
    assert found.vectors[1].tolist() == [-1, 0]


CODES = np.array([LEVEL_CODES[level] for level in (C, W, Q, C, C, W)], np.int8)


def test_a_chunks_entries_are_those_that_follow_it():
    groups = ChunkGroups(CODES)
    assert groups.chunks == 3
    assert groups.parents(np.arange(6)).tolist() == [0, 0, 0, 3, 4, 4]
    rows, owners = groups.members(np.array([4, 0]))
    assert rows.tolist() == [4, 5, 0, 1, 2]
    assert owners.tolist() == [0, 0, 1, 1, 1]


@pytest.mark.parametrize("level", [Level.CHUNK, Level.SECTION, Level.DOCUMENT])
def test_entries_of_one_level_stand_for_themselves(level):
    groups = ChunkGroups(np.full(4, LEVEL_CODES[level], np.int8))
    rows = np.array([3, 1])
    assert groups.chunks == 4
    assert groups.parents(rows).tolist() == [3, 1]
    assert [part.tolist() for part in groups.members(rows)] == [[3, 1], [0, 1]]


def test_no_rows_at_all():
    groups = ChunkGroups(np.zeros(0, np.int8))
    assert groups.chunks == 0
    assert groups.parents(np.zeros(0, np.int64)).tolist() == []


def test_best_rows_drops_zeros_and_breaks_ties_by_row():
    scores = np.array([0, 2, 1, 2, 0, 2, 3], np.float32)
    assert best_rows(scores, 10).tolist() == [6, 1, 3, 5, 2]
    assert best_rows(scores, 3).tolist() == [6, 1, 3]
    assert best_rows(scores, 0).tolist() == []
    assert best_rows(np.zeros(4, np.float32), 3).tolist() == []


def test_best_rows_equals_a_full_sort():
    random = np.random.default_rng(3)
    for _ in range(50):
        scores = random.integers(0, 6, 200).astype(np.float32)
        order = np.lexsort((np.arange(200), -scores))
        wanted = [row for row in order.tolist() if scores[row] > 0][:17]
        assert best_rows(scores, 17).tolist() == wanted


@pytest.mark.parametrize("share_of_zeros", [0.0, 0.5, 0.999])
def test_promising_rows_hold_the_best_and_not_many_more(share_of_zeros):
    random = np.random.default_rng(2)
    for _ in range(50):
        scores = random.random(random.integers(0, 9000)).astype(np.float32)
        scores[random.random(len(scores)) < share_of_zeros] = 0
        depth = int(random.integers(1, 40))
        rows = promising_rows(scores, depth)
        best = np.argsort(-scores, kind="stable")[:depth]
        assert set(best[scores[best] > 0].tolist()) <= set(rows.tolist())
        assert rows.tolist() == sorted(set(rows.tolist()))
        assert (scores[rows] > 0).all()
    scores = random.random(100_000).astype(np.float32)
    assert 20 <= len(promising_rows(scores, 20)) < 40


def test_rows_after_the_last_slice_are_promising_too():
    scores = np.zeros(128 * 30 + 5, np.float32)
    scores[::100] = 1.0
    scores[-3] = 2.0
    assert promising_rows(scores, 3).tolist()[-1] == len(scores) - 3
    assert len(promising_rows(scores, 3)) == 40


def test_scores_that_are_all_alike_are_all_promising():
    assert promising_rows(np.ones(5000, np.float32), 10).tolist() == list(range(5000))
    assert promising_rows(np.zeros(5000, np.float32), 10).tolist() == []


def test_each_question_has_a_least_of_its_own():
    maxima = np.array([[3, -1], [1, 5], [2, 6]], np.float32)
    assert reached_by_slices(maxima, 2).tolist() == [2, 5]
    assert reached_by_slices(maxima, 1).tolist() == [3, 6]
    assert reached_by_slices(maxima, 3).tolist() == [0, 0]
    assert reached_by_slices(-maxima, 2).tolist() == [0, 0]


def test_lists_are_united_in_order_without_repetition():
    lists = [[3, 9, 40], [], [1, 9], [40, 2_500_000]]
    found = united(np.array(one, np.int64) for one in lists)
    assert found.tolist() == [1, 3, 9, 40, 2_500_000]
    assert united([np.array([2, 5])]).tolist() == [2, 5]
    assert united([]).tolist() == []


@pytest.mark.parametrize(
    ("documents", "ascending"),
    [([], True), ([7, 7, 9, 9, 9, 12], True), ([7, 9, 9, 7], False), ([9, 7], False)],
)
def test_runs_ascend_where_each_document_has_one_and_none_comes_before_a_lower_one(
    documents, ascending
):
    runs = Runs.of(np.array(documents, np.int64))
    assert runs.ascending is ascending
    assert runs.documents.tolist() == [document for document, _ in groupby(documents)]
