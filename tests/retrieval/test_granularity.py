from __future__ import annotations

import itertools

import pytest

from ragkit.options import Granularity
from ragkit.retrieval.granularity import CLOSE, levels_of, prefer_finer
from ragkit.retrieval.ranking import Hit
from ragkit.types import Level

_ids = itertools.count(1)


def hit(document: int, level: Level, score: float, entry: int = 0) -> Hit:
    return Hit(entry or next(_ids), document, 0, level, score, ())


def test_each_granularity_asks_its_levels():
    assert levels_of(Granularity.CHUNK) == (Level.CHUNK,)
    assert levels_of(Granularity.SECTION) == (Level.SECTION,)
    assert levels_of(Granularity.DOCUMENT) == (Level.DOCUMENT,)
    assert set(levels_of(Granularity.AUTO)) == {Level.CHUNK, Level.SECTION, Level.DOCUMENT}


@pytest.mark.parametrize("level", [Level.DOCUMENT, Level.SECTION])
def test_a_coarser_hit_gives_way_to_a_finer_one_that_is_close(level):
    coarse, fine = hit(1, level, 0.8), hit(1, Level.CHUNK, 0.8 * CLOSE)
    assert prefer_finer([coarse, fine]) == [fine]
    weak = hit(1, Level.CHUNK, 0.8 * CLOSE - 0.01)
    assert prefer_finer([weak, coarse]) == [coarse, weak]


def test_other_documents_do_not_matter():
    coarse, fine = hit(1, Level.DOCUMENT, 0.5), hit(2, Level.CHUNK, 0.9)
    assert prefer_finer([coarse, fine]) == [fine, coarse]


def test_a_question_counts_as_fine_as_its_chunk():
    section, question = hit(1, Level.SECTION, 0.5), hit(1, Level.QUESTION, 0.5)
    assert prefer_finer([section, question]) == [question]


def test_the_best_come_first_and_ties_go_to_the_smaller_id():
    hits = [hit(1, Level.CHUNK, 0.5, 9), hit(2, Level.CHUNK, 0.5, 3), hit(3, Level.CHUNK, 0.7, 5)]
    for order in itertools.permutations(hits):
        assert [one.entry_id for one in prefer_finer(order)] == [5, 3, 9]
    assert prefer_finer([]) == []
