"""One query is a batch of one: bit for bit, over random libraries and all ways of ranking."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ragkit.indexes.local.collection import CollectionIndex
from ragkit.indexes.rows import EntryRows, TokenColumn
from ragkit.options import Fusion, Mode, QuestionMerge, SearchOptions
from ragkit.retrieval.candidates import Asked, Scope, keyword_list, vector_lists
from ragkit.retrieval.ranking import Hit, Ranking, rank
from ragkit.types import LEVEL_CODES, Field, Level

DIMENSIONS = 8


def unit(random: np.random.Generator, count: int) -> np.ndarray:
    rows = random.normal(size=(count, DIMENSIONS))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def library(
    random: np.random.Generator, first: int, count: int, *, contexts: bool = False
) -> CollectionIndex:
    """Five chunks a document; with contexts, every second entry is that of the chunk before."""
    ids = np.arange(first, first + count, dtype=np.int64)
    levels = np.full(count, LEVEL_CODES[Level.CHUNK], np.int8)
    if contexts:
        levels[1::2] = LEVEL_CODES[Level.CONTEXT]
    texts = [random.integers(1, 30, random.integers(0, 25)).tolist() for _ in ids]
    rows = EntryRows(
        ids,
        ids // 5,
        levels,
        (ids % 5).astype(np.int32),
        unit(random, count).astype(np.float16),
        np.ones(count, np.bool_),
        {Field.TEXT: TokenColumn.of(texts), Field.TITLE: TokenColumn.of([t[:3] for t in texts])},
    )
    old = CollectionIndex.build(rows.take(np.arange(count - 10)))
    return old.with_changes(rows.take(np.arange(count - 10, count)), [first + 3], 2)


def queries(random: np.random.Generator, count: int) -> list[Asked]:
    """Queries of up to eight words; the third has no vector."""
    lengths = random.integers(0, 9, count)
    made = [
        Asked(random.integers(1, 33, length).tolist(), vector)
        for length, vector in zip(lengths, unit(random, count), strict=True)
    ]
    made[2] = replace(made[2], vector=None)
    return made


def batch_and_singles(
    seed: int, level: Level = Level.CHUNK, *, contexts: bool = False, **changed
) -> tuple[Ranking, list[Ranking]]:
    random = np.random.default_rng(seed)
    options = SearchOptions(**changed)
    scopes = [
        Scope(library(random, 10, 60, contexts=contexts), None),
        Scope(library(random, 1000, 40, contexts=contexts), None),
    ]
    asked = queries(random, 7)
    shares = [0.5, 0.5, 0.2, 0.5, 0.7, 0.5, 0.5]
    lists = [
        [by_vector, keyword_list(scopes, query, (1 - share) * options.keyword_weight, 12)]
        for by_vector, query, share in zip(
            vector_lists(
                scopes, asked, [share * options.vector_weight for share in shares], 12, options
            ),
            asked,
            shares,
            strict=True,
        )
    ]
    if options.mode is not Mode.HYBRID:
        at = 0 if options.mode is Mode.VECTOR else 1
        lists = [[of_query[at]] for of_query in lists]
    singles = [
        rank([of_query], scopes, [query], options, level)
        for of_query, query in zip(lists, asked, strict=True)
    ]
    return rank(lists, scopes, asked, options, level), singles


def described(hit: Hit) -> tuple:
    """All of a hit, with its contributions."""
    return (hit.entry_id, hit.document_id, hit.chunk_index, hit.level, hit.score,
            tuple(hit.contributions))  # fmt: skip


WAYS = [
    {},
    {"phrase_weight": 0.0},
    {"document_weight": 0.0},
    {"title_weight": 0.0},
    {"fusion": Fusion.RRF},
    {"question_merge": QuestionMerge.SUM},
    {"question_merge": QuestionMerge.BEST},
    {"mode": Mode.KEYWORD},
    {"mode": Mode.VECTOR},
    {"vector_weight": 0.0},
    {"keyword_weight": 0.0},
    {"vector_weight": 0.0, "keyword_weight": 0.0},
]


@pytest.mark.parametrize("contexts", [False, True])
@pytest.mark.parametrize("changed", WAYS, ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_a_batch_is_its_queries_bit_for_bit(seed, changed, contexts):
    batch, singles = batch_and_singles(seed, contexts=contexts, **changed)
    for hits, single in zip(batch.hits(), singles, strict=True):
        (alone,) = single.hits()
        assert [described(hit) for hit in hits] == [described(hit) for hit in alone]
        for hit in hits:
            assert hit.score == sum(part.value for part in hit.contributions)
            assert 0.0 <= hit.score <= 1.0 + 1e-9
    assert batch.scores.tolist() == [score for one in singles for score in one.scores.tolist()]
    rows = batch.top(3)
    assert [len(one) for one in batch.hits(3)] == np.diff(
        np.searchsorted(batch.queries[rows], np.arange(8))
    ).tolist()


@pytest.mark.parametrize("seed", range(3))
def test_coarser_levels_have_no_titles_and_no_phrases(seed):
    batch, singles = batch_and_singles(seed, Level.DOCUMENT)
    assert [part.index for part in batch.parts] == ["vector", "keyword", "document"]
    assert batch.scores.tolist() == [score for one in singles for score in one.scores.tolist()]
