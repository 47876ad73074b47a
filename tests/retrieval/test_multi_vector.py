"""Hits of contexts and questions become hits of their chunks."""

from __future__ import annotations

import numpy as np
import pytest

from ragkit.options import QuestionMerge
from ragkit.retrieval.multi_vector import IndexList, by_chunk
from ragkit.types import LEVEL_CODES, Level

CHUNK, QUESTION, CONTEXT = (
    LEVEL_CODES[level] for level in (Level.CHUNK, Level.QUESTION, Level.CONTEXT)
)


def listed(*hits):
    """An index list of (entry, level, raw), best first; chunk entries are multiples of ten."""
    ids = np.array([hit[0] for hit in hits], np.int64)
    levels = np.array([hit[1] for hit in hits], np.int64)
    raw = np.array([hit[2] for hit in hits], np.float64)
    return IndexList("vector", 0.5, ids, ids // 100, ids // 10, levels, raw), ids // 10 * 10


FOUND = listed(
    (12, QUESTION, 0.9),
    (21, CONTEXT, 0.8),
    (20, CHUNK, 0.7),
    (22, QUESTION, 0.6),
    (11, CONTEXT, 0.5),
    (30, CHUNK, 0.4),
)


def test_the_best_hit_of_a_chunk_counts():
    found = by_chunk(*FOUND, QuestionMerge.BEST, 60, 10)
    assert found.entry_ids.tolist() == [10, 20, 30]
    assert found.raw.tolist() == [0.9, 0.8, 0.4]
    assert found.levels.tolist() == [QUESTION, CHUNK, CHUNK]
    assert found.chunk_indexes.tolist() == [1, 2, 3]
    assert (found.name, found.weight) == ("vector", 0.5)


def test_or_the_sum_of_inverse_ranks():
    found = by_chunk(*FOUND, QuestionMerge.SUM, 0, 10)
    assert found.entry_ids.tolist() == [10, 20, 30]
    assert found.raw.tolist() == pytest.approx([1 + 1 / 5, 1 / 2 + 1 / 3 + 1 / 4, 1 / 6])
    flat = by_chunk(*FOUND, QuestionMerge.SUM, 60, 10)
    assert flat.entry_ids.tolist() == [20, 10, 30]


def test_only_so_many_chunks_are_kept_and_none_of_nothing():
    assert by_chunk(*FOUND, QuestionMerge.BEST, 60, 2).entry_ids.tolist() == [10, 20]
    assert len(by_chunk(*listed(), QuestionMerge.SUM, 60, 2)) == 0


def test_ties_go_to_the_smaller_entry():
    found = by_chunk(*listed((20, CHUNK, 0.5), (10, CHUNK, 0.5)), QuestionMerge.SUM, 60, 5)
    assert found.entry_ids.tolist() == [20, 10]
    even = listed((21, CONTEXT, 0.5), (11, CONTEXT, 0.5), (10, CHUNK, 0.4), (20, CHUNK, 0.4))
    assert by_chunk(*even, QuestionMerge.BEST, 60, 5).entry_ids.tolist() == [20, 10]
