"""Scores, tokens and word weights of single entries: the same that a search would give."""

from __future__ import annotations

import numpy as np
import pytest
from index_rows import (
    DIMENSIONS,
    after,
    by_keyword,
    by_vector,
    keyword_scores,
    make_rows,
    merged,
    put_vectors,
)

from ragkit.indexes.local.collection import CollectionIndex
from ragkit.indexes.protocol import IndexKind
from ragkit.types import Field

WEIGHTS = {Field.TEXT: 1.0, Field.CONTEXT: 0.5}
QUERY = [3, 4, 9, 3, 777]
VECTOR = np.linspace(-1, 1, DIMENSIONS).astype(np.float32)


def untouched() -> CollectionIndex:
    return CollectionIndex.build(make_rows(range(1, 200)))


def changed() -> CollectionIndex:
    index = CollectionIndex.build(make_rows(range(1, 150)))
    return after(index, make_rows(range(150, 200)), [5, 6, 160, 999], 2)


@pytest.mark.parametrize("make", [untouched, changed])
def test_scores_are_those_of_a_search(make):
    index = make()
    asked = np.array([400, 1, 199, 7, 14, 150, 5, 42, 0], np.int64)
    words = by_keyword(index, [QUERY], WEIGHTS, 1000)[0]
    word_scores = dict(zip(words.entry_ids.tolist(), words.scores.tolist(), strict=True))
    assert keyword_scores(index, QUERY, WEIGHTS, asked) == [
        word_scores.get(one, 0.0) for one in asked.tolist()
    ]
    near = by_vector(index, VECTOR[None, :], 1000)[0]
    vector_scores = dict(zip(near.entry_ids.tolist(), near.scores.tolist(), strict=True))
    found = put_vectors(index, VECTOR[None]).scores(IndexKind.VECTOR, asked)
    wanted = [vector_scores.get(one, 0.0) for one in asked.tolist()]
    live = [one in vector_scores for one in asked.tolist()]
    assert found[live].tolist() == pytest.approx(np.array(wanted)[live].tolist(), abs=1e-6)
    assert sum(live) >= 3


def test_every_entry_that_is_found_gets_the_same_score_again():
    index = changed()
    ids = index.entry_ids()
    words = by_keyword(index, [QUERY], WEIGHTS, 1000)[0]
    again = keyword_scores(index, QUERY, WEIGHTS, words.entry_ids)
    assert again == words.scores.tolist()
    nothing = keyword_scores(index, [], WEIGHTS, ids)
    assert len(nothing) == len(ids)
    assert not any(nothing)


def test_tokens_come_back_in_order_and_none_for_strangers():
    index = changed()
    rows = make_rows(range(1, 200))
    column = index.get(np.array([170, 3, 888, 20], np.int64), Field.TEXT)
    wanted = rows.tokens[Field.TEXT].take(np.array([169, 2, 19]))
    parts = np.split(column.flat, column.offsets[1:-1])
    kept = np.split(wanted.flat, wanted.offsets[1:-1])
    assert [part.tolist() for part in parts] == [
        kept[0].tolist(),
        kept[1].tolist(),
        [],
        kept[2].tolist(),
    ]
    assert len(index.get(np.zeros(0, np.int64), Field.QUESTIONS)) == 0


def test_word_weights_are_live():
    index, fresh = changed(), merged(changed())
    assert index.idf(QUERY, Field.TEXT) == pytest.approx(fresh.idf(QUERY, Field.TEXT), abs=1e-6)
    assert index.idf(QUERY, Field.TEXT)[0] == index.idf(QUERY, Field.TEXT)[3]


def test_an_empty_index_knows_nothing():
    index = CollectionIndex.build(make_rows([]))
    ids = np.array([1, 2], np.int64)
    assert put_vectors(index, VECTOR[None]).scores(IndexKind.VECTOR, ids).tolist() == [0, 0]
    assert keyword_scores(index, QUERY, WEIGHTS, ids) == [0, 0]
    assert index.get(ids, Field.TEXT).lengths.tolist() == [0, 0]
