"""Fusion: exact scores, parts that add up, ties, weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkit.options import Fusion
from ragkit.retrieval.fusion import IndexList, fuse, union
from ragkit.types import LEVEL_CODES, Level


def listed(name: str, weight: float, *scored: tuple[int, float]) -> IndexList:
    entries = np.array([entry for entry, _ in scored], np.int64)
    return IndexList(
        name,
        weight,
        entries,
        entries // 10,
        (entries % 10).astype(np.int32),
        np.full(len(scored), LEVEL_CODES[Level.CHUNK], np.int8),
        np.array([raw for _, raw in scored], np.float64),
    )


VECTOR = listed("vector", 0.5, (11, 0.8), (12, 0.4), (13, -0.2))
KEYWORD = listed("keyword", 0.5, (12, 20.0), (14, 10.0), (11, 5.0))


def scores(lists, fusion=Fusion.WEIGHTED, rrf_k=60, **more):
    return [(hit.entry_id, hit.score) for hit in fuse(lists, fusion, rrf_k, **more).hits()]


def test_weighted_scores_are_cosines_and_shares_of_the_best_keyword_score():
    assert scores([VECTOR, KEYWORD]) == [
        (12, 0.5 * 0.4 + 0.5 * 1.0),
        (11, 0.5 * 0.8 + 0.5 * 0.25),
        (14, 0.5 * 0.5),
        (13, 0.0),
    ]


def test_a_contribution_says_where_it_comes_from():
    best = fuse([VECTOR, KEYWORD], Fusion.WEIGHTED, 60).hits()[0]
    assert [
        (c.index, c.rank, c.raw, c.normalised, c.weight, c.value) for c in best.contributions
    ] == [
        ("vector", 2, 0.4, 0.4, 0.5, 0.2),
        ("keyword", 1, 20.0, 1.0, 0.5, 0.5),
    ]
    assert (best.document_id, best.chunk_index, best.level) == (1, 2, Level.CHUNK)


def test_an_entry_of_one_list_has_one_contribution():
    by_entry = {hit.entry_id: hit for hit in fuse([VECTOR, KEYWORD], Fusion.WEIGHTED, 60).hits()}
    assert [c.index for c in by_entry[14].contributions] == ["keyword"]
    assert [c.index for c in by_entry[13].contributions] == ["vector"]


def test_scores_that_a_list_lacks_can_be_filled_in():
    assert union([VECTOR, KEYWORD]).tolist() == [11, 12, 13, 14]
    filled = {"vector": np.array([9, 9, 9, 0.6]), "keyword": np.array([9, 9, 2.0, 9])}
    fused = fuse([VECTOR, KEYWORD], Fusion.WEIGHTED, 60, filled)
    by_entry = {hit.entry_id: hit for hit in fused.hits()}
    assert by_entry[14].score == 0.5 * 0.6 + 0.5 * 0.5
    assert by_entry[13].score == 0.5 * 0.1
    assert [(c.index, c.rank, c.raw) for c in by_entry[14].contributions] == [
        ("vector", 0, 0.6),
        ("keyword", 2, 10.0),
    ]
    # What the lists themselves say stays.
    assert by_entry[12].score == 0.5 * 0.4 + 0.5


def test_filled_scores_fit_when_a_list_is_left_out():
    filled = {"vector": np.array([0.1, 0.2, 0.3, 0.4]), "keyword": np.array([5.0, 20, 1, 10])}
    silent = listed("vector", 0.0, (13, 0.9))
    assert scores([silent, KEYWORD], filled=filled) == [(12, 1.0), (14, 0.5), (11, 0.25)]


def test_only_the_best_become_hits():
    fused = fuse([VECTOR, KEYWORD], Fusion.WEIGHTED, 60)
    assert fused.hits(2) == fused.hits()[:2]
    assert len(fused) == 4


def test_reciprocal_ranks_are_scaled_so_that_first_everywhere_is_one():
    both_first = listed("keyword", 0.5, (11, 3.0), (12, 2.0))
    found = scores([VECTOR, both_first], Fusion.RRF)
    assert found[0] == (11, 1.0)
    assert found[1][1] == pytest.approx(61 / 62)
    assert found[2][1] == pytest.approx(0.5 * 61 / 63)


def test_reciprocal_ranks_follow_k_and_the_weights():
    lists = [listed("vector", 3.0, (11, 0.9)), listed("keyword", 1.0, (12, 9.0), (11, 8.0))]
    assert scores(lists, Fusion.RRF, 1) == [(11, 0.75 * 1.0 + 0.25 * (2 / 3)), (12, 0.25 * 1.0)]


@pytest.mark.parametrize("fusion", list(Fusion))
def test_one_list_alone_gives_its_best_the_whole_weight(fusion):
    found = scores([KEYWORD], fusion)
    assert [entry for entry, _ in found] == [12, 14, 11]
    assert found[0][1] == 1.0


def test_ties_go_to_the_smaller_entry_whatever_the_order_of_the_hits():
    tied = [(13, 4.0), (11, 4.0), (12, 4.0)]
    for order in (tied, tied[::-1]):
        found = scores([listed("keyword", 1.0, *order)])
        assert [entry for entry, _ in found] == [11, 12, 13]


def test_a_list_of_weight_zero_is_left_out():
    found = scores([listed("vector", 0.0, (19, 1.0)), KEYWORD])
    assert found == [(12, 1.0), (14, 0.5), (11, 0.25)]


def test_weights_that_are_all_zero_count_the_same():
    lists = [listed("vector", 0.0, (11, 1.0)), listed("keyword", 0.0, (12, 7.0))]
    assert scores(lists) == [(11, 0.5), (12, 0.5)]


def test_a_cosine_just_over_one_is_one():
    assert scores([listed("vector", 1.0, (11, 1.0004))]) == [(11, 1.0)]


def test_keyword_scores_without_a_positive_best_are_zero():
    assert scores([listed("keyword", 1.0, (11, 0.0), (12, -1.0))]) == [(11, 0.0), (12, 0.0)]


def test_an_entry_named_twice_by_a_list_counts_once():
    assert scores([listed("keyword", 1.0, (11, 4.0), (11, 2.0))]) == [(11, 1.0)]


def test_another_normaliser_can_be_given():
    lists = [listed("vector", 1.0, (11, 0.9), (12, 0.3))]
    squared = {"vector": lambda raw: raw**2}
    assert scores(lists, normalisers=squared) == [(11, 0.9**2), (12, 0.3**2)]


@pytest.mark.parametrize("lists", [[], [listed("vector", 1.0)]])
def test_nothing_found_gives_nothing(lists):
    assert scores(lists) == []


scored = st.lists(
    st.tuples(st.integers(0, 30), st.floats(-5, 50, allow_nan=False)),
    unique_by=lambda pair: pair[0],
)


@given(scored, scored, st.floats(0, 3), st.floats(0, 3), st.sampled_from(Fusion))
def test_parts_add_up_and_scores_stay_between_zero_and_one(one, two, first, second, fusion):
    lists = [
        listed("vector", first, *sorted(one, key=lambda pair: -pair[1])),
        listed("keyword", second, *sorted(two, key=lambda pair: -pair[1])),
    ]
    hits = fuse(lists, fusion, 60).hits()
    for hit in hits:
        assert hit.score == sum(part.value for part in hit.contributions)
        assert 0.0 <= hit.score <= 1.0 + 1e-12
        for part in hit.contributions:
            assert part.value == part.weight * part.normalised
    assert [(-hit.score, hit.entry_id) for hit in hits] == sorted(
        (-hit.score, hit.entry_id) for hit in hits
    )
    assert hits == fuse(lists, fusion, 60).hits()
