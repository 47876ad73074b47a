"""Ranking: identifiers, phrases, documents; scores that stay within bounds and add up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_fusion import listed

from ragkit.options import Fusion, SearchOptions
from ragkit.retrieval.fusion import fuse, share_of_best
from ragkit.retrieval.ranking import (
    holds_identifier,
    index_weights,
    with_documents,
    with_phrases,
    with_titles,
)

WEIGHTED = fuse(
    [
        listed("vector", 0.5, (11, 0.8), (12, 0.4), (21, 0.6)),
        listed("keyword", 0.5, (12, 20.0), (31, 10.0), (11, 5.0)),
    ],
    Fusion.WEIGHTED,
    60,
)


@pytest.mark.parametrize(
    "question",
    ["use st.cache_data", "camelCase", "os.path", "utf8", "4K screens", "std::vector", "v2.0.1"],
)
def test_identifiers_are_seen(question):
    assert holds_identifier(question)


@pytest.mark.parametrize(
    "question", ["How does caching work?", "The end. A start", "well-known", "", "in 2024 we"]
)
def test_ordinary_questions_hold_no_identifier(question):
    assert not holds_identifier(question)


def test_words_count_more_where_there_is_an_identifier():
    assert index_weights("how to cache", SearchOptions()) == (0.5, 0.5)
    assert index_weights("the cache_data", SearchOptions()) == (0.2, 0.8)
    kept = SearchOptions(adaptive=False)
    assert index_weights("the cache_data", kept) == (0.5, 0.5)
    only = SearchOptions(vector_weight=1.0, keyword_weight=0.0)
    assert index_weights("the cache_data", only) == (1.0, 0.0)


def test_an_entry_alone_keeps_its_score_and_another_gains_by_its_document():
    before = {hit.entry_id: hit.score for hit in WEIGHTED.hits()}
    after = {hit.entry_id: hit for hit in with_documents(WEIGHTED, 0.3).hits()}
    assert after[21].score == pytest.approx(before[21])
    assert after[12].score == pytest.approx(before[12])
    assert after[11].score == pytest.approx((before[11] + 0.3 * before[12]) / 1.3)
    assert after[11].contributions[-1].index == "document"
    assert after[11].contributions[-1].raw == before[12]


def test_titles_are_a_part_of_their_own():
    raw = np.array([0.0, 0.2, 0.4, 0.0])
    ranked = with_titles(WEIGHTED, raw, share_of_best(raw, 0.8), 0.25)
    by_entry = {hit.entry_id: hit for hit in ranked.hits()}
    part = by_entry[21].contributions[-1]
    assert (part.index, part.raw, part.normalised, part.weight) == ("title", 0.4, 0.5, 0.2)
    assert by_entry[21].score == pytest.approx((0.3 + 0.25 * 0.5) / 1.25)
    assert by_entry[31].score == pytest.approx(0.25 / 1.25)
    assert share_of_best(raw, 0.1).tolist() == [0.0, 0.5, 1.0, 0.0]
    assert with_titles(WEIGHTED, raw, raw, 0.0) is WEIGHTED


def test_phrases_are_a_part_of_their_own():
    places = WEIGHTED.order[:2]
    ranked = with_phrases(WEIGHTED, places, np.array([1.0, 0.0]), 0.1)
    best = ranked.hits()[0]
    assert best.entry_id == 12
    assert [part.index for part in best.contributions] == ["vector", "keyword", "phrase"]
    assert best.contributions[-1].normalised == 1.0
    assert best.score == pytest.approx((0.7 + 0.1) / 1.1)
    assert [part.index for part in ranked.hits()[1].contributions] == ["vector", "keyword"]


def test_weights_of_nothing_change_nothing():
    assert with_documents(WEIGHTED, 0.0) is WEIGHTED
    assert with_phrases(WEIGHTED, WEIGHTED.order, np.ones(4), 0.0) is WEIGHTED
    empty = fuse([], Fusion.WEIGHTED, 60)
    assert with_documents(empty, 0.3).hits() == []


scored = st.lists(
    st.tuples(st.integers(0, 30), st.floats(-1, 50, allow_nan=False)),
    unique_by=lambda pair: pair[0],
)


@given(scored, scored, st.floats(0, 1), st.floats(0, 1), st.lists(st.floats(0, 1), min_size=61))
def test_scores_stay_between_zero_and_one_and_parts_add_up(one, two, phrase, document, shares):
    lists = [listed("vector", 0.5, *one), listed("keyword", 0.5, *two)]
    fused = fuse(lists, Fusion.WEIGHTED, 60)
    order = fused.order
    ranked = with_phrases(fused, order, np.array(shares[: len(order)]), phrase)
    ranked = with_documents(ranked, document)
    for hit in ranked.hits():
        assert hit.score == sum(part.value for part in hit.contributions)
        assert 0.0 <= hit.score <= 1.0 + 1e-9
        for part in hit.contributions:
            assert part.value == part.weight * part.normalised
