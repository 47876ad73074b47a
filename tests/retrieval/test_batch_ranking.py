"""Questions ranked together: the same as each ranked by itself, over random libraries."""

from __future__ import annotations

import numpy as np
import pytest

from ragkit.indexes.local.collection import CollectionIndex
from ragkit.indexes.rows import LEVELS, EntryRows, TokenColumn
from ragkit.options import Fusion, QuestionMerge, SearchOptions
from ragkit.retrieval import batch_ranking as together
from ragkit.retrieval.batch_ranking import rank_all
from ragkit.retrieval.candidates import Asked, Scope, keyword_list, rank, vector_lists
from ragkit.types import Field, Level

DIMENSIONS = 8


def unit(random: np.random.Generator, count: int) -> np.ndarray:
    rows = random.normal(size=(count, DIMENSIONS))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def library(random: np.random.Generator, first: int, count: int) -> CollectionIndex:
    ids = np.arange(first, first + count, dtype=np.int64)
    texts = [random.integers(1, 30, random.integers(0, 25)).tolist() for _ in ids]
    rows = EntryRows(
        ids,
        ids // 5,
        np.full(count, LEVELS.index(Level.CHUNK), np.int8),
        (ids % 5).astype(np.int32),
        unit(random, count).astype(np.float16),
        np.ones(count, np.bool_),
        {Field.TEXT: TokenColumn.of(texts), Field.TITLE: TokenColumn.of([t[:3] for t in texts])},
    )
    old = CollectionIndex.build(rows.take(np.arange(count - 10)))
    return old.with_changes(rows.take(np.arange(count - 10, count)), [first + 3], 2)


def asked(random: np.random.Generator, count: int) -> list[Asked]:
    lengths = random.integers(0, 9, count)
    return [
        Asked(random.integers(1, 33, length).tolist(), vector)
        for length, vector in zip(lengths, unit(random, count), strict=True)
    ]


def both_ways(seed: int, level: Level = Level.CHUNK, **changed):
    random = np.random.default_rng(seed)
    options = SearchOptions(**changed)
    scopes = [Scope(library(random, 10, 60), None), Scope(library(random, 1000, 40), None)]
    questions = asked(random, 7)
    weights = [0.5, 0.5, 0.2, 0.5, 0.7, 0.5, 0.5]
    vectors = vector_lists(scopes, questions, weights, 12, options)
    lists = [
        [by_vector, keyword_list(scopes, question, 1 - weight, 12)]
        for by_vector, question, weight in zip(vectors, questions, weights, strict=True)
    ]
    alone = [
        rank(of_one, scopes, question, options, level)
        for of_one, question in zip(lists, questions, strict=True)
    ]
    return alone, rank_all(lists, scopes, questions, options, level)


def parts(hit):
    return [(one.index, one.rank, one.weight) for one in hit.contributions]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    "changed", [{}, {"phrase_weight": 0.0}, {"document_weight": 0.0}, {"title_weight": 0.0}]
)
def test_together_is_as_alone(seed, changed, monkeypatch):
    monkeypatch.setattr(together, "rank", None)
    for one, other in zip(*both_ways(seed, **changed), strict=True):
        hits, same = one.hits(), other.hits()
        assert [hit.entry_id for hit in hits] == [hit.entry_id for hit in same]
        for hit, twin in zip(hits, same, strict=True):
            assert twin.score == pytest.approx(hit.score, abs=1e-6)
            assert twin.score == sum(part.value for part in twin.contributions)
            assert parts(twin) == parts(hit)
            assert (twin.document_id, twin.chunk_index) == (hit.document_id, hit.chunk_index)


@pytest.mark.parametrize("changed", [{"fusion": Fusion.RRF}, {"question_merge": QuestionMerge.SUM}])
def test_what_cannot_be_joined_is_ranked_alone(changed):
    for one, other in zip(*both_ways(3, **changed), strict=True):
        assert one.hits(5) == other.hits(5)


def test_coarser_levels_have_no_titles_and_no_phrases(monkeypatch):
    monkeypatch.setattr(together, "rank", None)
    for one, other in zip(*both_ways(4, Level.DOCUMENT), strict=True):
        assert [part.index for part in other.parts] == ["vector", "keyword", "document"]
        assert [hit.entry_id for hit in one.hits()] == [hit.entry_id for hit in other.hits()]
