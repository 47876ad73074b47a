"""Chunk groups: which entries belong to a chunk, and which of them represents it."""

from __future__ import annotations

import numpy as np
import pytest

from ragkit.indexes.rows import TEXT_SHARE, ChunkGroups, EntryRows, with_texts
from ragkit.types import LEVEL_CODES, Level

C, Q, W = Level.CHUNK, Level.QUESTION, Level.CONTEXT


def groups(*levels):
    return ChunkGroups(np.array([LEVEL_CODES[one] for one in levels], np.int8))


def test_a_context_stands_for_its_chunk_and_a_question_for_nothing():
    representing = groups(C, C, W, Q, Q, C, Q, C, W).representatives()
    assert representing is not None
    assert representing.tolist() == [True, False, True, False, False, True, False, False, True]


def test_where_nothing_was_written_all_stand():
    assert groups(C, C, C).representatives() is None
    assert groups(Level.SECTION, Level.SECTION).representatives() is None
    assert groups().representatives() is None


def rows_of(levels, vectors, has_vector=None):
    count = len(levels)
    return EntryRows(
        np.arange(1, count + 1),
        np.ones(count, np.int64),
        np.array([LEVEL_CODES[one] for one in levels], np.int8),
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
