"""Fusion: exact scores, parts that add up, ties, weights."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkit.results import Fusion, Hit
from ragkit.retrieval.fusion import IndexList, fuse
from ragkit.types import Level


def listed(name: str, weight: float, *scored: tuple[int, float]) -> IndexList:
    hits = tuple(
        Hit(entry, entry // 10, entry % 10, Level.CHUNK, rank, raw)
        for rank, (entry, raw) in enumerate(scored, 1)
    )
    return IndexList(name, weight, hits)


VECTOR = listed("vector", 0.5, (11, 0.8), (12, 0.4), (13, -0.2))
KEYWORD = listed("keyword", 0.5, (12, 20.0), (14, 10.0), (11, 5.0))


def test_weighted_scores_are_cosines_and_shares_of_the_best_keyword_score():
    fused = fuse([VECTOR, KEYWORD], Fusion.WEIGHTED, 60)
    assert [(hit.entry_id, hit.score) for hit in fused] == [
        (12, 0.5 * 0.4 + 0.5 * 1.0),
        (11, 0.5 * 0.8 + 0.5 * 0.25),
        (14, 0.5 * 0.5),
        (13, 0.0),
    ]


def test_a_contribution_says_where_it_comes_from():
    best = fuse([VECTOR, KEYWORD], Fusion.WEIGHTED, 60)[0]
    assert [
        (c.index, c.rank, c.raw, c.normalised, c.weight, c.value) for c in best.contributions
    ] == [
        ("vector", 2, 0.4, 0.4, 0.5, 0.2),
        ("keyword", 1, 20.0, 1.0, 0.5, 0.5),
    ]
    assert (best.document_id, best.chunk_index, best.level) == (1, 2, Level.CHUNK)


def test_an_entry_of_one_list_has_one_contribution():
    by_entry = {hit.entry_id: hit for hit in fuse([VECTOR, KEYWORD], Fusion.WEIGHTED, 60)}
    assert [c.index for c in by_entry[14].contributions] == ["keyword"]
    assert [c.index for c in by_entry[13].contributions] == ["vector"]


def test_reciprocal_ranks_are_scaled_so_that_first_everywhere_is_one():
    both_first = listed("keyword", 0.5, (11, 3.0), (12, 2.0))
    fused = fuse([VECTOR, both_first], Fusion.RRF, 60)
    assert fused[0].entry_id == 11
    assert fused[0].score == 1.0
    assert fused[1].score == pytest.approx(61 / 62)
    assert fused[2].score == pytest.approx(0.5 * 61 / 63)


def test_reciprocal_ranks_follow_k_and_the_weights():
    fused = fuse(
        [listed("vector", 3.0, (11, 0.9)), listed("keyword", 1.0, (12, 9.0), (11, 8.0))],
        Fusion.RRF,
        1,
    )
    assert [(hit.entry_id, hit.score) for hit in fused] == [
        (11, 0.75 * 1.0 + 0.25 * (2 / 3)),
        (12, 0.25 * 1.0),
    ]


@pytest.mark.parametrize("fusion", list(Fusion))
def test_one_list_alone_gives_its_best_the_whole_weight(fusion):
    fused = fuse([KEYWORD], fusion, 60)
    assert [hit.entry_id for hit in fused] == [12, 14, 11]
    assert fused[0].score == 1.0


def test_ties_go_to_the_smaller_entry_whatever_the_order_of_the_hits():
    tied = [(13, 4.0), (11, 4.0), (12, 4.0)]
    expected = [11, 12, 13]
    for order in (tied, tied[::-1]):
        fused = fuse([listed("keyword", 1.0, *order)], Fusion.WEIGHTED, 60)
        assert [hit.entry_id for hit in fused] == expected


def test_a_list_of_weight_zero_is_left_out():
    fused = fuse([listed("vector", 0.0, (19, 1.0)), KEYWORD], Fusion.WEIGHTED, 60)
    assert [hit.entry_id for hit in fused] == [12, 14, 11]
    assert fused[0].score == 1.0


def test_weights_that_are_all_zero_count_the_same():
    fused = fuse(
        [listed("vector", 0.0, (11, 1.0)), listed("keyword", 0.0, (12, 7.0))], Fusion.WEIGHTED, 60
    )
    assert [(hit.entry_id, hit.score) for hit in fused] == [(11, 0.5), (12, 0.5)]


def test_a_cosine_just_over_one_is_one():
    assert fuse([listed("vector", 1.0, (11, 1.0004))], Fusion.WEIGHTED, 60)[0].score == 1.0


def test_keyword_scores_without_a_positive_best_are_zero():
    fused = fuse([listed("keyword", 1.0, (11, 0.0), (12, -1.0))], Fusion.WEIGHTED, 60)
    assert [(hit.entry_id, hit.score) for hit in fused] == [(11, 0.0), (12, 0.0)]


def test_an_entry_named_twice_by_a_list_counts_once():
    fused = fuse([listed("keyword", 1.0, (11, 4.0), (11, 2.0))], Fusion.WEIGHTED, 60)
    assert [(hit.entry_id, hit.score) for hit in fused] == [(11, 1.0)]


def test_another_normaliser_can_be_given():
    fused = fuse(
        [listed("vector", 1.0, (11, 0.9), (12, 0.3))],
        Fusion.WEIGHTED,
        60,
        {"vector": lambda hits: [hit.raw**2 for hit in hits]},
    )
    assert [hit.score for hit in fused] == [0.9**2, 0.3**2]


@pytest.mark.parametrize("lists", [[], [listed("vector", 1.0)]])
def test_nothing_found_gives_nothing(lists):
    assert fuse(lists, Fusion.WEIGHTED, 60) == []


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
    fused = fuse(lists, fusion, 60)
    for hit in fused:
        assert hit.score == sum(part.value for part in hit.contributions)
        assert 0.0 <= hit.score <= 1.0 + 1e-12
        for part in hit.contributions:
            assert part.value == part.weight * part.normalised
    assert [(-hit.score, hit.entry_id) for hit in fused] == sorted(
        (-hit.score, hit.entry_id) for hit in fused
    )
    assert fused == fuse(lists, fusion, 60)
