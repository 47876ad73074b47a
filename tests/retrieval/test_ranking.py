"""Ranking: fusion, parts that add up, ties, weights, identifiers, titles, phrases, documents."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import added_up

from ragkit.indexes.protocol import Candidates, IndexKind
from ragkit.options import Fusion, Granularity, QuestionMerge, SearchOptions
from ragkit.retrieval.hits import Hit, Ranking, with_part
from ragkit.retrieval.index_weights import index_weights
from ragkit.retrieval.levels import CLOSE, SEARCHED_LEVELS, prefer_finer
from ragkit.retrieval.query.encoding import Query
from ragkit.retrieval.ranking import TITLE_FLOOR, fuse, shares_of_best, with_documents
from ragkit.types import LEVEL_CODES, Level


@dataclass
class Listed:
    """What one index found for a query, its weight, and its scores of other entries."""

    kind: IndexKind
    weight: float
    found: Candidates
    others: dict[int, float] = field(default_factory=dict)


def listed(kind: str, weight: float, *scored: tuple[int, float], **others: float) -> Listed:
    """Candidates (entry, score); ``e13=2.0`` is the score of an entry that is not among them."""
    entries = np.array([entry for entry, _ in scored], np.int64)
    found = Candidates(
        np.zeros_like(entries),
        entries,
        entries // 10,
        entries,
        (entries % 10).astype(np.int32),
        np.full(len(scored), LEVEL_CODES[Level.CHUNK], np.int8),
        np.array([score for _, score in scored], np.float64),
    )
    known = {int(entry[1:]): score for entry, score in others.items()}
    return Listed(IndexKind(kind), weight, found, known)


def fused(lists: list[Listed], *, complete: bool = False, **options) -> Ranking:
    """The ranking of one query."""
    by_kind = {one.kind: one for one in lists}

    def exact(kind, entry_ids, queries):
        assert queries.tolist() == [0] * len(entry_ids)
        return np.array([by_kind[kind].others[entry] for entry in entry_ids.tolist()])

    return fuse(
        {one.kind: one.found for one in lists},
        {one.kind: np.array([one.weight]) for one in lists},
        SearchOptions(**options),
        [SimpleNamespace(scores=exact)] if complete else [],
    )


def hits(ranking: Ranking, most=None):
    return [hit for of_query in ranking.hits(most) for hit in of_query]


VECTOR = listed("vector", 0.5, (11, 0.8), (12, 0.4), (13, -0.2))
KEYWORD = listed("keyword", 0.5, (12, 20.0), (14, 10.0), (11, 5.0))


def scores(lists, fusion=Fusion.WEIGHTED, rrf_k=60, **more):
    ranking = fused(lists, fusion=fusion, rrf_k=rrf_k, **more)
    return [(hit.entry_id, hit.score) for hit in hits(ranking)]


def test_weighted_scores_are_cosines_and_shares_of_the_best_keyword_score():
    assert scores([VECTOR, KEYWORD]) == [
        (12, 0.5 * 0.4 + 0.5 * 1.0),
        (11, 0.5 * 0.8 + 0.5 * 0.25),
        (14, 0.5 * 0.5),
        (13, 0.0),
    ]


def test_a_contribution_says_where_it_comes_from():
    best = hits(fused([VECTOR, KEYWORD]))[0]
    assert [
        (c.index, c.rank, c.raw, c.normalised, c.weight, c.value) for c in best.contributions
    ] == [
        ("vector", 2, 0.4, 0.4, 0.5, 0.2),
        ("keyword", 1, 20.0, 1.0, 0.5, 0.5),
    ]
    assert (best.document_id, best.chunk_index, best.level) == (1, 2, Level.CHUNK)


def test_an_entry_of_one_list_has_one_contribution():
    by_entry = {hit.entry_id: hit for hit in hits(fused([VECTOR, KEYWORD]))}
    assert [c.index for c in by_entry[14].contributions] == ["keyword"]
    assert [c.index for c in by_entry[13].contributions] == ["vector"]


def test_each_index_scores_what_only_others_found():
    lists = [replace(VECTOR, others={14: 0.6}), replace(KEYWORD, others={13: 2.0})]
    assert fused(lists).entry_ids.tolist() == [11, 12, 13, 14]
    by_entry = {hit.entry_id: hit for hit in hits(fused(lists, complete=True))}
    assert by_entry[14].score == 0.5 * 0.6 + 0.5 * 0.5
    assert by_entry[13].score == 0.5 * 0.1
    assert [(c.index, c.rank, c.raw) for c in by_entry[14].contributions] == [
        ("vector", 0, 0.6),
        ("keyword", 2, 10.0),
    ]
    # What the lists themselves say stays.
    assert by_entry[12].score == 0.5 * 0.4 + 0.5


def test_a_list_that_is_left_out_is_not_asked_for_scores():
    silent = listed("vector", 0.0, (13, 0.9))
    assert scores([silent, KEYWORD], complete=True) == [(12, 1.0), (14, 0.5), (11, 0.25)]


def test_only_the_best_become_hits():
    ranking = fused([VECTOR, KEYWORD])
    assert hits(ranking, 2) == hits(ranking)[:2]
    assert len(ranking.entry_ids) == 4


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


def test_only_cosines_are_taken_as_they_are():
    lists = [listed("vector", 1.0, (11, 0.9), (12, 0.3))]
    assert scores(lists) == [(11, 0.9), (12, 0.3)]
    sums = scores(lists, question_merge=QuestionMerge.SUM)
    assert sums == [(11, 1.0), (12, 0.3 / 0.9)]


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
    found = hits(fused(lists, fusion=fusion))
    for hit in found:
        assert hit.score == added_up(part.value for part in hit.contributions)
        assert 0.0 <= hit.score <= 1.0 + 1e-12
        for part in hit.contributions:
            assert part.value == part.weight * part.normalised
    assert [(-hit.score, hit.entry_id) for hit in found] == sorted(
        (-hit.score, hit.entry_id) for hit in found
    )
    assert found == hits(fused(lists, fusion=fusion))


WEIGHTED = fused(
    [
        listed("vector", 0.5, (11, 0.8), (12, 0.4), (21, 0.6)),
        listed("keyword", 0.5, (12, 20.0), (31, 10.0), (11, 5.0)),
    ]
)


def weights(text: str, options: SearchOptions, share: float = 1.0) -> tuple[float, float]:
    return index_weights(Query(text=text, vector_share=share), options)


def test_words_count_more_where_there_is_an_identifier():
    assert weights("how to cache", SearchOptions()) == (0.5, 0.5)
    assert weights("the cache_data", SearchOptions()) == (0.2, 0.8)
    kept = SearchOptions(adaptive=False)
    assert weights("the cache_data", kept) == (0.5, 0.5)
    only = SearchOptions(vector_weight=1.0, keyword_weight=0.0)
    assert weights("the cache_data", only) == (1.0, 0.0)


def test_words_decide_in_a_language_that_the_vectors_hardly_know():
    assert weights("ما هي مدة الإجازة", SearchOptions(), 0.1) == (0.05, 0.95)
    assert weights("Сколько длится отпуск", SearchOptions(), 0.9) == (0.5, 0.5)
    assert weights("ما هي مدة", SearchOptions(adaptive=False), 0.1) == (0.5, 0.5)


def test_an_entry_alone_keeps_its_score_and_another_gains_by_its_document():
    before = {hit.entry_id: hit.score for hit in hits(WEIGHTED)}
    after = {hit.entry_id: hit for hit in hits(with_documents(WEIGHTED, 0.3))}
    assert after[21].score == pytest.approx(before[21])
    assert after[12].score == pytest.approx(before[12])
    assert after[11].score == pytest.approx((before[11] + 0.3 * before[12]) / 1.3)
    assert after[11].contributions[-1].index == "document"
    assert after[11].contributions[-1].raw == before[12]


def test_titles_are_a_part_of_their_own():
    raw = np.array([0.0, 0.05, 0.1, 0.0])
    shares = shares_of_best(raw, WEIGHTED.queries, 1, TITLE_FLOOR)
    ranked = with_part(WEIGHTED, "title", raw, shares, 0.25)
    by_entry = {hit.entry_id: hit for hit in hits(ranked)}
    part = by_entry[21].contributions[-1]
    assert (part.index, part.raw, part.normalised, part.weight) == ("title", 0.1, 0.5, 0.2)
    assert by_entry[21].score == pytest.approx((0.3 + 0.25 * 0.5) / 1.25)
    assert by_entry[31].score == pytest.approx(0.25 / 1.25)
    assert shares_of_best(raw, WEIGHTED.queries, 1, 0.05).tolist() == [0.0, 0.5, 1.0, 0.0]


def test_phrases_are_a_part_of_their_own():
    rows = WEIGHTED.order[:2]
    shares = np.zeros(4)
    shares[rows] = 1.0, 0.0
    ranked = with_part(WEIGHTED, "phrase", shares, shares, 0.1)
    best = hits(ranked)[0]
    assert best.entry_id == 12
    assert [part.index for part in best.contributions] == ["vector", "keyword", "phrase"]
    assert best.contributions[-1].normalised == 1.0
    assert best.score == pytest.approx((0.7 + 0.1) / 1.1)
    assert [part.index for part in hits(ranked)[1].contributions] == ["vector", "keyword"]


def test_weights_of_nothing_change_nothing():
    assert with_documents(WEIGHTED, 0.0) is WEIGHTED
    empty = fused([])
    assert hits(with_documents(empty, 0.3)) == []


@given(scored, scored, st.floats(0, 1), st.floats(0, 1), st.lists(st.floats(0, 1), min_size=61))
def test_scores_stay_between_zero_and_one_and_parts_add_up(one, two, phrase, document, shares):
    lists = [listed("vector", 0.5, *one), listed("keyword", 0.5, *two)]
    ranking = fused(lists)
    column = np.array(shares[: len(ranking.entry_ids)])
    ranked = with_part(ranking, "phrase", column, column, phrase)
    ranked = with_documents(ranked, document)
    for hit in hits(ranked):
        assert hit.score == added_up(part.value for part in hit.contributions)
        assert 0.0 <= hit.score <= 1.0 + 1e-9
        for part in hit.contributions:
            assert part.value == part.weight * part.normalised


_ids = itertools.count(1)


def level_hit(document: int, level: Level, score: float, entry: int = 0) -> Hit:
    return Hit(entry or next(_ids), document, 0, level, score, ())


def test_each_granularity_asks_its_levels():
    assert SEARCHED_LEVELS[Granularity.CHUNK] == (Level.CHUNK,)
    assert SEARCHED_LEVELS[Granularity.SECTION] == (Level.SECTION,)
    assert SEARCHED_LEVELS[Granularity.DOCUMENT] == (Level.DOCUMENT,)
    assert SEARCHED_LEVELS[Granularity.BLOCK] == (Level.BLOCK,)
    every = {Level.BLOCK, Level.CHUNK, Level.SECTION, Level.DOCUMENT}
    assert set(SEARCHED_LEVELS[Granularity.AUTO]) == every


@pytest.mark.parametrize("level", [Level.DOCUMENT, Level.SECTION])
def test_a_coarser_hit_gives_way_to_a_finer_one_that_is_close(level):
    coarse, fine = level_hit(1, level, 0.8), level_hit(1, Level.CHUNK, 0.8 * CLOSE)
    assert prefer_finer([coarse, fine]) == [fine]
    weak = level_hit(1, Level.CHUNK, 0.8 * CLOSE - 0.01)
    assert prefer_finer([weak, coarse]) == [coarse, weak]


def test_other_documents_do_not_matter():
    coarse, fine = level_hit(1, Level.DOCUMENT, 0.5), level_hit(2, Level.CHUNK, 0.9)
    assert prefer_finer([coarse, fine]) == [fine, coarse]


def test_a_question_counts_as_fine_as_its_chunk():
    section, question = level_hit(1, Level.SECTION, 0.5), level_hit(1, Level.QUESTION, 0.5)
    assert prefer_finer([section, question]) == [question]


def test_a_chunk_gives_way_to_its_own_block_that_is_close():
    section = level_hit(1, Level.SECTION, 0.8)
    chunk, block = level_hit(1, Level.CHUNK, 0.8), level_hit(1, Level.BLOCK, 0.8 * CLOSE)
    elsewhere = replace(chunk, entry_id=next(_ids), chunk_index=4)
    assert prefer_finer([section, chunk, elsewhere, block]) == [elsewhere, block]


def test_a_block_that_is_much_worse_than_its_chunk_is_not_shown_twice():
    chunk, block = level_hit(1, Level.CHUNK, 0.8), level_hit(1, Level.BLOCK, 0.8 * CLOSE - 0.01)
    elsewhere = replace(block, entry_id=next(_ids), chunk_index=4)
    assert prefer_finer([chunk, block, elsewhere]) == [chunk, elsewhere]


def test_the_best_come_first_and_ties_keep_their_order():
    found = [
        level_hit(1, Level.CHUNK, 0.5, 9),
        level_hit(2, Level.CHUNK, 0.5, 3),
        level_hit(3, Level.CHUNK, 0.7, 5),
    ]
    for order in itertools.permutations(found):
        tied = [one.entry_id for one in order if one.entry_id != 5]
        assert [one.entry_id for one in prefer_finer(order)] == [5, *tied]
    assert prefer_finer([]) == []
