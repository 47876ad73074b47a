"""Phrases: pairs of neighbouring words, for one question and for several at once."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkit.indexes.rows import TokenColumn
from ragkit.retrieval.proximity import (
    may_be_quoted,
    phrase_shares,
    title_shares,
    verbatim_shares,
    whole_phrases,
)
from ragkit.types import Field


def brute_shares(query, idf, rows):
    pairs = {}
    for a, b, left, right in zip(query, query[1:], idf, idf[1:], strict=False):
        pairs.setdefault((a, b), min(left, right))
    found = []
    for row in rows:
        near = {(row[i], row[j]) for j in range(len(row)) for i in range(max(0, j - 2), j)}
        found.append(sum(weight for pair, weight in pairs.items() if pair in near))
    total = sum(idf)
    return [one / total if total else 0.0 for one in found]


def test_a_phrase_counts_the_rarer_half_less_and_only_in_order():
    idf = np.array([1.0, 3.0, 2.0], np.float32)
    rows = [[5, 6, 7], [6, 5, 9, 7], [5, 0, 6, 0, 0, 7], [7, 6, 5], [], [5]]
    shares = phrase_shares([[5, 6, 7]], idf, TokenColumn.of(rows), np.zeros(len(rows), int))
    assert shares.tolist() == pytest.approx([3 / 6, 0, 1 / 6, 0, 0, 0])


tokens = st.lists(st.integers(0, 5), max_size=12)


@given(st.lists(st.tuples(tokens, st.lists(tokens, max_size=5)), min_size=1, max_size=4))
def test_phrase_shares_are_those_counted_one_by_one(asked):
    weights = {token: float(np.float32(0.3 + token * 0.7)) for token in range(6)}
    queries = [query for query, _rows in asked]
    idf = [weights[token] for query in queries for token in query]
    rows = [row for _query, own in asked for row in own]
    asking = np.repeat(np.arange(len(asked)), [len(own) for _query, own in asked])
    expected = [
        share
        for query, own in asked
        for share in brute_shares(query, [weights[token] for token in query], own)
    ]
    shares = phrase_shares(queries, np.array(idf, np.float32), TokenColumn.of(rows), asking)
    assert shares.tolist() == pytest.approx(expected, abs=1e-6)
    assert all(0 <= one <= 1 for one in shares)


def brute_titles(query, weights, titles):
    total = sum(weights[token] for token in set(query))
    return [
        sum(weights[token] for token in set(query) & set(title)) / total if total else 0.0
        for title in titles
    ]


@given(st.lists(st.tuples(tokens, st.lists(tokens, max_size=5)), min_size=1, max_size=4))
def test_title_shares_are_those_counted_one_by_one(asked):
    weights = {token: float(np.float32(0.3 + token * 0.7)) for token in range(6)}
    queries = [query for query, _titles in asked]
    idf = np.array([weights[token] for query in queries for token in query], np.float32)
    titles = TokenColumn.of([title for _query, own in asked for title in own])
    asking = np.repeat(np.arange(len(asked)), [len(own) for _query, own in asked])
    shares = title_shares(queries, idf, titles, asking)
    expected = [one for query, own in asked for one in brute_titles(query, weights, own)]
    assert shares.tolist() == pytest.approx(expected, abs=1e-6)


@dataclass
class OfWeights:
    """An index that knows how rare tokens are."""

    weights: dict[int, float]

    def idf(self, token_ids, field):
        assert field is Field.TEXT
        return np.array([self.weights[token] for token in token_ids], np.float32)


@dataclass
class Asked:
    token_ids: list[int]


def test_a_text_that_has_all_of_a_query_word_for_word_has_a_whole_phrase():
    weights = {5: 1.0, 6: 3.0, 7: 2.0, 8: 4.0}
    search = SimpleNamespace(index=OfWeights(weights))
    queries = [[5, 6, 7], [5, 6, 5, 6, 7], [7, 8], [5, 5, 5], []]
    wholes = whole_phrases([search], [Asked(query) for query in queries])
    for query, whole in zip(queries[:2], wholes[:2], strict=True):
        (share,) = brute_shares(query, [weights[token] for token in query], [query])
        assert whole == pytest.approx(share)
    assert wholes[2:].tolist() == [0.0, 0.0, 0.0]


def test_a_quotation_has_some_words():
    quoted = ["change the zinc", "ひまわりは南を向いて咲く", "  return  of goods "]
    assert all(map(may_be_quoted, quoted))
    assert not any(map(may_be_quoted, ["decode_frame brightness", "zinc", "", "返品規定"]))


def test_only_what_is_nearly_whole_is_verbatim():
    shares = np.array([0.5, 0.475, 0.45, 0.2, 0.4, 0.3])
    asking = np.array([0, 0, 0, 0, 1, 2])
    found = verbatim_shares(shares, np.array([0.5, 0.4, 0.0]), asking)
    assert found.tolist() == pytest.approx([1.0, 0.5, 0.0, 0.0, 1.0, 0.0])
