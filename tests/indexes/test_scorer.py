"""Joined fields: BM25 over weighted words of several fields, counted one by one."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from index_rows import after, keyword_scores, make_rows

from ragkit.indexes.bm25 import BM25F_PARAMETERS
from ragkit.indexes.local import scorer
from ragkit.indexes.local.collection import CollectionIndex
from ragkit.indexes.local.keyword import KeywordIndex
from ragkit.indexes.protocol import EntryFilter, IndexKind, IndexQuery
from ragkit.indexes.rows import TokenColumn, join
from ragkit.types import Field

WEIGHTS = {Field.TEXT: 1.5, Field.CONTEXT: 0.5}
QUERY = [4, 9, 4, 11, 999]
K1, B = BM25F_PARAMETERS.k1, BM25F_PARAMETERS.b


def brute(rows, weights, query):
    """What the formula says, a row and a token at a time."""
    texts = {
        name: [list(map(int, column.flat[a:b])) for a, b in pairwise(column.offsets.tolist())]
        for name, column in rows.tokens.items()
    }
    lengths = [
        sum(w * len(texts[name][row]) for name, w in weights.items()) for row in range(len(rows))
    ]
    filled = [one for one in lengths if one]
    average = sum(filled) / len(filled)
    scores = [0.0] * len(rows)
    for token in dict.fromkeys(query):
        counts = [
            sum(w * texts[name][row].count(token) for name, w in weights.items())
            for row in range(len(rows))
        ]
        found = sum(count > 0 for count in counts)
        idf = math.log1p((len(filled) - found + 0.5) / (found + 0.5))
        for row, count in enumerate(counts):
            norm = K1 * (1 - B + B * lengths[row] / average)
            scores[row] += query.count(token) * idf * count / (count + norm)
    return scores


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weights", [WEIGHTS, {Field.TEXT: 1.0, Field.CONTEXT: 3.0}])
def test_scores_are_those_counted_one_by_one(seed, weights):
    rows = make_rows(range(1, 60), seed=seed)
    index = CollectionIndex.build(rows)
    assert keyword_scores(index, QUERY, weights, rows.entry_ids) == pytest.approx(
        brute(rows, weights, QUERY), abs=1e-4
    )


@pytest.mark.parametrize("seed", range(4))
def test_what_came_and_went_counts_at_once(seed):
    rows = make_rows(range(1, 60), seed=seed)
    old = CollectionIndex.build(rows.take(np.arange(40)))
    index = after(old, rows.take(np.arange(40, 59)), [3, 4, 50], 2)
    kept = [row for row in range(59) if rows.entry_ids[row] not in (3, 4)]
    live = rows.take(np.array(kept))
    assert 50 in live.entry_ids
    assert keyword_scores(index, QUERY, WEIGHTS, live.entry_ids) == pytest.approx(
        brute(live, WEIGHTS, QUERY), abs=1e-4
    )
    assert keyword_scores(index, QUERY, WEIGHTS, [3, 4]) == [0, 0]


@pytest.mark.parametrize("most", [0, 60, 10**6])
def test_what_is_kept_of_frequent_words_changes_no_score(most, monkeypatch):
    built = CollectionIndex.build(make_rows(range(1, 60)))
    monkeypatch.setattr(scorer, "_MOST_KEPT", most)
    for index in (built, after(built, make_rows(range(60, 80)), [3, 4], 2)):
        ids = index.entry_ids()
        for token in (*range(3, 30), *range(3, 30)):
            alone = copy(index)
            alone.__dict__.pop("scorer", None)
            expected = keyword_scores(alone, [token], WEIGHTS, ids)
            assert keyword_scores(index, [token], WEIGHTS, ids) == expected
        (joined,) = index.scorer._by_weights.values()
        assert (0 < joined._kept_size <= most) == (most > 0)


def test_a_weight_below_nothing_takes_back_what_stands_in_another_field():
    texts, titles = [[5, 5, 6, 7], [5, 8]], [[5], []]
    rows = make_rows(range(1, 3))
    fields = {Field.TEXT: TokenColumn.of(texts), Field.TITLE: TokenColumn.of(titles)}
    index = CollectionIndex.build(replace(rows, tokens=fields))
    scores = keyword_scores(index, [5], {Field.TEXT: 1.0, Field.TITLE: -1.0}, [1, 2])
    # One of the two of the first row is left, of three words; the other row has one of two.
    idf = math.log1p(0.5 / 2.5)
    norms = [K1 * (1 - B + B * length / 2.5) for length in (3, 2)]
    assert scores == pytest.approx([idf / (1 + norm) for norm in norms], rel=1e-5)


def test_half_a_word_is_a_length_too():
    rows = make_rows([1])
    fields = {Field.TEXT: TokenColumn.of([[]]), Field.CONTEXT: TokenColumn.of([[7]])}
    index = CollectionIndex.build(replace(rows, tokens=fields))
    (score,) = keyword_scores(index, [7], WEIGHTS, [1])
    assert score == pytest.approx(math.log1p(0.5 / 1.5) * 0.5 / (0.5 + K1))


def test_each_token_has_its_counts():
    random = np.random.default_rng(1)
    rows = [
        [token for token in range(3, 30) for _ in range(int(random.zipf(1.3)) % 400)]
        for _ in range(50)
    ]
    index = KeywordIndex.build(TokenColumn.of(rows))
    asked = np.array([*range(3, 30), 99])
    found, counts, lengths = index.counts_of(asked)
    starts = np.cumsum(lengths) - lengths
    for token, start, length in zip(asked.tolist(), starts, lengths, strict=True):
        span = slice(start, start + length)
        expected = {row: words.count(token) for row, words in enumerate(rows) if token in words}
        assert dict(zip(found[span].tolist(), counts[span].tolist(), strict=True)) == expected


def test_under_a_filter_rarity_is_that_of_what_passes():
    # In one conversation, 1 to 600 of 6,000 entries, each message holds the name (5).
    ids = np.arange(1, 6001)
    texts = [[5 if one <= 600 else 6, 7 if one % 40 == 0 or one > 3000 else 8] for one in ids]
    rows = replace(
        make_rows(range(1, 6001)),
        document_ids=ids // 601,
        tokens={Field.TEXT: TokenColumn.of(texts)},
    )
    query = [IndexQuery([5, 7])]
    both = np.array([40, 41, 6000])
    built = CollectionIndex.build(rows)
    for index in (built, after(built, rows.take(np.arange(300)), ids[:300], 1)):
        whole = index.search(query).scores(IndexKind.KEYWORD, both)
        assert whole[1] > 2 * whole[2]
        one = index.search(query, EntryFilter(document_ids=np.array([0])))
        name, word = (200 * 0.1 + 600, 200 * 3075 / 6000 + 15)
        rarity = [math.log1p((800 - held + 0.5) / (held + 0.5)) for held in (name, word)]
        scores = one.scores(IndexKind.KEYWORD, both)
        assert scores[1] == pytest.approx(rarity[0] / 2.2, rel=1e-4)
        assert scores[0] - scores[1] == pytest.approx(rarity[1] / 2.2, rel=1e-4)
        assert rarity[1] > 5 * rarity[0]


@pytest.mark.parametrize("weights", [WEIGHTS, {Field.TEXT: 1.0}])
def test_rows_without_words_change_no_score(weights):
    worded = make_rows(range(1, 60, 5))
    others = make_rows([one for one in range(1, 60) if one % 5 != 1])
    rows = join([worded, replace(others, tokens={})])
    few, all_words = (
        after(CollectionIndex.build(of), make_rows(range(70, 74)), [6, 7], 2)
        for of in (rows, worded)
    )
    assert few.base.worded.rows is not None
    assert all_words.base.worded.rows is None
    everything = EntryFilter(entry_ids=np.array([1, 2, 3, 11, 16, 17, 41, 71]))
    for wanted in (None, everything):
        found, expected = (
            index.search([IndexQuery(token_ids=QUERY)], wanted, weights)
            for index in (few, all_words)
        )
        best, same = (one.candidates(IndexKind.KEYWORD, 5) for one in (found, expected))
        assert len(same.entry_ids) > 2
        assert best.entry_ids.tolist() == same.entry_ids.tolist()
        assert best.scores.tolist() == same.scores.tolist()
        ids = rows.entry_ids
        scores = found.scores(IndexKind.KEYWORD, ids)
        assert scores.tolist() == expected.scores(IndexKind.KEYWORD, ids).tolist()
        documents = found.documents(IndexKind.KEYWORD).tolist()
        assert documents == expected.documents(IndexKind.KEYWORD).tolist()
