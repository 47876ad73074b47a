"""Families: which entries belong to a chunk, and which of them stands for it."""

from __future__ import annotations

import numpy as np
import pytest

from ragkit.indexes.local.chunk_groups import TEXT_SHARE, ChunkGroups, with_texts
from ragkit.indexes.rows import EntryRows, level_code
from ragkit.types import Level

C, Q, W = Level.CHUNK, Level.QUESTION, Level.CONTEXT


def families(*levels):
    return ChunkGroups(np.array([level_code(one) for one in levels], np.int8))


def test_a_context_stands_for_its_chunk_and_a_question_for_nothing():
    standing = families(C, C, W, Q, Q, C, Q, C, W).standing()
    assert standing is not None
    assert standing.tolist() == [True, False, True, False, False, True, False, False, True]


def test_where_nothing_was_written_all_stand():
    assert families(C, C, C).standing() is None
    assert families(Level.SECTION, Level.SECTION).standing() is None
    assert families().standing() is None


def rows_of(levels, vectors, has_vector=None):
    count = len(levels)
    return EntryRows(
        np.arange(1, count + 1),
        np.ones(count, np.int64),
        np.array([level_code(one) for one in levels], np.int8),
        np.zeros(count, np.int32),
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
