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
    mmr,
)
from ragkit.retrieval.ranking import Hit
from ragkit.types import Level


def hit(entry: int, document: int, score: float) -> Hit:
    return Hit(entry, document, entry, Level.CHUNK, score, ())


def ids(hits) -> list[int]:
    return [one.entry_id for one in hits]


def grouped(folded) -> dict[int, list[int]]:
    return {entry: ids(others) for entry, others in folded.groups.items()}


def test_a_content_key_ignores_case_and_white_space_only():
    assert content_key("Refunds  take\n5 days") == content_key(" refunds take 5 DAYS ")
    assert content_key("STRASSE") == content_key("straße")
    assert content_key("5 days") != content_key("6 days")
    assert content_key(" \n\t") == b""
    assert len(content_key("x" * 10**6)) == 16
    assert content_key("\ud800") != content_key("?")


def test_identical_texts_fold_into_the_best():
    hits = [hit(1, 1, 0.9), hit(2, 2, 0.8), hit(3, 3, 0.7), hit(4, 4, 0.6)]
    folded = fold_identical(hits, {1: b"a", 2: b"b", 3: b"a", 4: b"a"})
    assert ids(folded.kept) == [1, 2]
    assert folded.removed == 2
    assert grouped(folded) == {1: [3, 4]}
    assert ids(folded.others(hits[0])) == [3, 4]
    assert folded.others(hits[1]) == ()


def test_a_text_that_one_document_repeats_is_kept_unless_asked():
    hits = [hit(1, 1, 0.9), hit(2, 1, 0.8), hit(3, 2, 0.7)]
    keys = {1: b"a", 2: b"a", 3: b"a"}
    assert ids(fold_identical(hits, keys).kept) == [1, 2]
    assert ids(fold_identical(hits, keys, within=True).kept) == [1]


def test_hits_without_a_key_are_kept():
    hits = [hit(1, 1, 0.9), hit(2, 2, 0.8), hit(3, 3, 0.7), hit(4, 4, 0.6)]
    assert ids(fold_identical(hits, {1: b"", 2: b""}).kept) == [1, 2, 3, 4]


def test_two_copies_of_a_file_do_not_share_out_their_chunks():
    original = [hit(1, 1, 0.90), hit(2, 1, 0.79)]
    copy = [hit(11, 2, 0.89), hit(12, 2, 0.80)]
    ranked = sorted(original + copy, key=lambda one: -one.score)
    folded = fold_identical(ranked, {1: b"a", 11: b"a", 2: b"b", 12: b"b"})
    assert ids(folded.kept) == [1, 2]
    assert grouped(folded) == {1: [11], 2: [12]}
    assert folded.removed == 2


def test_a_much_weaker_copy_does_not_stand_for_a_strong_one():
    ranked = [hit(1, 1, 0.95), hit(12, 2, 0.9), hit(2, 1, 0.3)]
    folded = fold_identical(ranked, {12: b"b", 2: b"b"})
    assert ids(folded.kept) == [1, 12]
    assert grouped(folded) == {12: [2]}


TEXT = "The refund is paid within fourteen days of the return, to the card that was used. " * 4


def test_nearly_identical_texts_fold_at_95_per_cent():
    hits = [hit(1, 1, 0.9), hit(2, 2, 0.8), hit(3, 3, 0.7)]
    texts = {1: TEXT, 2: TEXT.upper().replace("FOURTEEN", "thirty", 1), 3: TEXT[::-1]}
    folded = fold_near(hits, texts)
    assert ids(folded.kept) == [1, 3]
    assert grouped(folded) == {1: [2]}
    assert ids(fold_near(hits, texts, 99.5).kept) == [1, 2, 3]


def test_near_folding_passes_over_blank_and_missing_texts():
    hits = [hit(1, 1, 0.9), hit(2, 2, 0.8), hit(3, 3, 0.7)]
    assert ids(fold_near(hits, {1: " ", 2: "\n"}).kept) == [1, 2, 3]


def test_near_folding_looks_within_a_document_when_asked():
    hits = [hit(1, 1, 0.9), hit(2, 1, 0.8)]
    texts = {1: TEXT, 2: TEXT}
    assert ids(fold_near(hits, texts).kept) == [1, 2]
    assert ids(fold_near(hits, texts, within=True).kept) == [1]


def test_near_folding_of_huge_texts_is_bounded():
    texts = {entry: f"{entry} " + "lorem ipsum " * 200_000 for entry in range(1, 6)}
    folded = fold_near([hit(entry, entry, 1 - entry / 10) for entry in texts], texts)
    assert ids(folded.kept) == [1]
    assert folded.removed == 4


def vector(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float16)


def test_semantic_folding_goes_by_the_cosine():
    hits = [hit(1, 1, 0.9), hit(2, 2, 0.8), hit(3, 3, 0.7), hit(4, 4, 0.6)]
    vectors = {1: vector(1, 0), 2: vector(2, 0.2), 3: vector(0, 1)}
    folded = fold_semantic(hits, vectors, 0.95)
    assert ids(folded.kept) == [1, 3, 4]
    assert grouped(folded) == {1: [2]}
    assert ids(fold_semantic(hits, vectors, 0.999).kept) == [1, 2, 3, 4]


def test_a_hit_folds_into_the_kept_one_that_is_most_alike():
    hits = [hit(1, 1, 0.9), hit(2, 2, 0.8), hit(3, 3, 0.3)]
    vectors = {1: vector(1, 0), 2: vector(0, 1), 3: vector(0.5, 1)}
    assert grouped(fold_semantic(hits, vectors, 0.4)) == {2: [3]}


def test_the_best_of_each_section_of_each_document_is_kept():
    hits = [hit(1, 1, 0.9), hit(2, 1, 0.8), hit(3, 2, 0.7), hit(4, 1, 0.6), hit(5, 1, 0.5)]
    folded = best_per_section(hits, {1: 0, 2: 0, 3: 0, 4: 1})
    assert ids(folded.kept) == [1, 3, 4, 5]
    assert grouped(folded) == {1: [2]}


def test_the_cap_fills_the_page_from_further_down():
    greedy = [hit(entry, 1, 0.9 - entry / 100) for entry in range(1, 9)]
    others = [hit(entry, entry, 0.5 - entry / 100) for entry in range(11, 16)]
    folded = cap_per_document(greedy + others, 2, 5)
    assert ids(folded.kept) == [1, 2, 11, 12, 13]
    assert folded.removed == 6
    assert grouped(folded) == {1: [3, 4, 5, 6, 7, 8]}


def test_a_cap_of_zero_keeps_everything():
    hits = [hit(entry, 1, 0.5) for entry in range(5)]
    folded = cap_per_document(hits, 0)
    assert (folded.kept, folded.removed, folded.groups) == (tuple(hits), 0, {})


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
    assert mmr([], {}, 0.5, 10) == ()
    assert mmr(hits, {}, 0.5, 0) == ()


@pytest.mark.parametrize("balance", [-0.1, 1.1, float("nan")])
def test_mmr_refuses_a_balance_outside_zero_to_one(balance):
    with pytest.raises(QueryError, match="from 0 to 1"):
        mmr([hit(1, 1, 0.9)], {}, balance, 1)


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3)), max_size=25), st.booleans())
def test_folding_loses_no_hit_and_keeps_the_order(pairs, within):
    hits = [hit(at, document, 1 - at / 100) for at, (document, _) in enumerate(pairs)]
    folded = fold_identical(hits, {at: key for at, (_, key) in enumerate(pairs)}, within=within)
    gone = [one for others in folded.groups.values() for one in others]
    assert sorted(ids(folded.kept) + ids(gone)) == list(range(len(hits)))
    assert folded.removed == len(gone)
    assert ids(folded.kept) == sorted(ids(folded.kept))
    keys = [(pairs[one.entry_id][1], None if within else one.document_id) for one in folded.kept]
    if within:
        assert len(set(keys)) == len(keys)
