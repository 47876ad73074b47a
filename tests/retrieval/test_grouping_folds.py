"""Deduplication: what is kept, how many go, and where the folded ones are found again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkit.chunking.structural_context import content_key
from ragkit.errors import QueryError
from ragkit.retrieval.deduplication import (
    best_per_section,
    cap_per_document,
    fold_identical,
    fold_near,
    fold_semantic,
)
from ragkit.retrieval.grouping import mmr
from ragkit.retrieval.hits import Hit
from ragkit.types import Level


def hit(entry: int, document: int, score: float, key: int = 0) -> Hit:
    return Hit(entry, document, entry, Level.CHUNK, score, (), content_key=key)


def ids(hits) -> list[int]:
    return [one.entry_id for one in hits]


def kept(clusters) -> list[int]:
    return ids([cluster[0] for cluster in clusters])


def grouped(clusters) -> dict[int, list[int]]:
    return {lead.entry_id: ids(others) for lead, *others in clusters if others}


def test_a_content_key_ignores_case_and_white_space_only():
    assert content_key("Refunds  take\n5 days") == content_key(" refunds take 5 DAYS ")
    assert content_key("STRASSE") == content_key("straße")
    assert content_key("5 days") != content_key("6 days")
    assert content_key(" \n\t") == b""
    assert len(content_key("x" * 10**6)) == 16
    assert content_key("\ud800") != content_key("?")


def test_identical_texts_fold_into_the_best():
    hits = [hit(1, 1, 0.9, 7), hit(2, 2, 0.8, 8), hit(3, 3, 0.7, 7), hit(4, 4, 0.6, 7)]
    folded = fold_identical(hits)
    assert kept(folded) == [1, 2]
    assert grouped(folded) == {1: [3, 4]}
    assert [ids(cluster) for cluster in folded] == [[1, 3, 4], [2]]


def test_a_text_that_one_document_repeats_is_kept():
    hits = [hit(1, 1, 0.9, 7), hit(2, 1, 0.8, 7), hit(3, 2, 0.7, 7)]
    assert kept(fold_identical(hits)) == [1, 2]


def test_hits_without_a_key_are_kept():
    hits = [hit(1, 1, 0.9), hit(2, 2, 0.8), hit(3, 3, 0.7), hit(4, 4, 0.6)]
    assert kept(fold_identical(hits)) == [1, 2, 3, 4]


def test_two_copies_of_a_file_do_not_share_out_their_chunks():
    original = [hit(1, 1, 0.90, 7), hit(2, 1, 0.79, 8)]
    copy = [hit(11, 2, 0.89, 7), hit(12, 2, 0.80, 8)]
    ranked = sorted(original + copy, key=lambda one: -one.score)
    folded = fold_identical(ranked)
    assert kept(folded) == [1, 2]
    assert grouped(folded) == {1: [11], 2: [12]}


def test_a_much_weaker_copy_does_not_stand_for_a_strong_one():
    ranked = [hit(1, 1, 0.95), hit(12, 2, 0.9, 8), hit(2, 1, 0.3, 8)]
    folded = fold_identical(ranked)
    assert kept(folded) == [1, 12]
    assert grouped(folded) == {12: [2]}


TEXT = "The refund is paid within fourteen days of the return, to the card that was used. " * 4


def test_nearly_identical_texts_fold_at_95_per_cent():
    hits = [hit(1, 1, 0.9), hit(2, 2, 0.8), hit(3, 3, 0.7)]
    texts = {1: TEXT, 2: TEXT.upper().replace("FOURTEEN", "thirty", 1), 3: TEXT[::-1]}
    folded = fold_near(hits, texts)
    assert kept(folded) == [1, 3]
    assert grouped(folded) == {1: [2]}
    assert kept(fold_near(hits, texts, 99.5)) == [1, 2, 3]


def test_near_folding_passes_over_blank_and_missing_texts():
    hits = [hit(1, 1, 0.9), hit(2, 2, 0.8), hit(3, 3, 0.7)]
    assert kept(fold_near(hits, {1: " ", 2: "\n"})) == [1, 2, 3]


def test_near_folding_keeps_what_a_document_repeats():
    hits = [hit(1, 1, 0.9), hit(2, 1, 0.8)]
    assert kept(fold_near(hits, {1: TEXT, 2: TEXT})) == [1, 2]


def test_near_folding_of_huge_texts_is_bounded():
    texts = {entry: f"{entry} " + "lorem ipsum " * 200_000 for entry in range(1, 6)}
    folded = fold_near([hit(entry, entry, 1 - entry / 10) for entry in texts], texts)
    assert grouped(folded) == {1: [2, 3, 4, 5]}
    assert kept(folded) == [1]


def vector(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float16)


def test_semantic_folding_goes_by_the_cosine():
    hits = [hit(1, 1, 0.9), hit(2, 2, 0.8), hit(3, 3, 0.7), hit(4, 4, 0.6)]
    vectors = {1: vector(1, 0), 2: vector(2, 0.2), 3: vector(0, 1)}
    folded = fold_semantic(hits, vectors, 0.95)
    assert kept(folded) == [1, 3, 4]
    assert grouped(folded) == {1: [2]}
    assert kept(fold_semantic(hits, vectors, 0.999)) == [1, 2, 3, 4]


def test_a_hit_folds_into_the_kept_one_that_is_most_alike():
    hits = [hit(1, 1, 0.9), hit(2, 2, 0.8), hit(3, 3, 0.3)]
    vectors = {1: vector(1, 0), 2: vector(0, 1), 3: vector(0.5, 1)}
    assert grouped(fold_semantic(hits, vectors, 0.4)) == {2: [3]}


def test_the_best_of_each_section_of_each_document_is_kept():
    hits = [hit(1, 1, 0.9), hit(2, 1, 0.8), hit(3, 2, 0.7), hit(4, 1, 0.6), hit(5, 1, 0.5)]
    folded = best_per_section(hits, {1: 0, 2: 0, 3: 0, 4: 1})
    assert kept(folded) == [1, 3, 4, 5]
    assert grouped(folded) == {1: [2]}


def test_the_cap_fills_the_page_from_further_down():
    greedy = [hit(entry, 1, 0.9 - entry / 100) for entry in range(1, 9)]
    others = [hit(entry, entry, 0.5 - entry / 100) for entry in range(11, 16)]
    folded = cap_per_document(greedy + others, 2)
    assert kept(folded)[:5] == [1, 2, 11, 12, 13]
    assert grouped(folded) == {1: [3, 4, 5, 6, 7, 8]}


def test_a_cap_of_zero_keeps_everything():
    hits = [hit(entry, 1, 0.5) for entry in range(5)]
    folded = cap_per_document(hits, 0)
    assert folded == [[one] for one in hits]


def test_mmr_prefers_what_is_new():
    hits = [hit(1, 1, 0.9), hit(2, 2, 0.89), hit(3, 3, 0.5)]
    vectors = {1: vector(1, 0), 2: vector(1, 0), 3: vector(0, 1)}
    assert ids(mmr(hits, vectors, 0.5, 3)) == [1, 3, 2]
    assert ids(mmr(hits, vectors, 1.0, 3)) == [1, 2, 3]
    assert ids(mmr(hits, vectors, 0.5, 2)) == [1, 3]


def test_mmr_copes_with_missing_and_empty_vectors():
    hits = [hit(1, 1, 0.9), hit(2, 2, 0.8), hit(3, 3, 0.7)]
    assert ids(mmr(hits, {}, 0.3, 10)) == [1, 2, 3]
    assert ids(mmr(hits, {1: vector(0, 0), 2: vector(0, 0)}, 0.3, 10)) == [1, 2, 3]
    assert mmr([], {}, 0.5, 10) == []
    assert mmr(hits, {}, 0.5, 0) == []


@pytest.mark.parametrize("balance", [-0.1, 1.1, float("nan")])
def test_mmr_refuses_a_balance_outside_zero_to_one(balance):
    with pytest.raises(QueryError, match="from 0 to 1"):
        mmr([hit(1, 1, 0.9)], {}, balance, 1)


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3)), max_size=25))
def test_folding_loses_no_hit_and_keeps_the_order(pairs):
    hits = [hit(at, document, 1 - at / 100, key) for at, (document, key) in enumerate(pairs)]
    folded = fold_identical(hits)
    assert sorted(one.entry_id for cluster in folded for one in cluster) == list(range(len(hits)))
    assert kept(folded) == sorted(kept(folded))


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3)), max_size=25))
def test_each_section_of_a_document_is_kept_once(pairs):
    hits = [hit(at, document, 1 - at / 100) for at, (document, _) in enumerate(pairs)]
    folded = best_per_section(hits, {at: section for at, (_, section) in enumerate(pairs)})
    assert sorted(one.entry_id for cluster in folded for one in cluster) == list(range(len(hits)))
    homes = [pairs[entry] for entry in kept(folded)]
    assert len(homes) == len(set(homes)) == len(set(pairs))
