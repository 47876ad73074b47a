"""One query is a batch of one: bit for bit, over random libraries and all ways of ranking."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support import added_up

from ragkit.indexes.local.collection import CollectionIndex
from ragkit.indexes.rows import EntryRows, TokenColumn
from ragkit.options import Fusion, Mode, QuestionMerge, SearchOptions
from ragkit.retrieval.candidates import find_candidates, put_to
from ragkit.retrieval.hits import Hit, Ranking
from ragkit.retrieval.query.encoding import Query
from ragkit.retrieval.ranking import rank
from ragkit.retrieval.stages import StageTimer
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
        (ids % 11).astype(np.uint64),
        unit(random, count).astype(np.float16),
        np.ones(count, np.bool_),
        {Field.TEXT: TokenColumn.of(texts), Field.TITLE: TokenColumn.of([t[:3] for t in texts])},
    )
    old = CollectionIndex.build(rows.take(np.arange(count - 10)))
    return old.remove([first + 3], 2).upsert(rows.take(np.arange(count - 10, count)), 2)


def queries(random: np.random.Generator, count: int) -> list[Query]:
    """Queries of up to eight words; the third has no vector, the fifth holds an identifier."""
    lengths = random.integers(0, 9, count)
    made = [
        Query(token_ids=random.integers(1, 33, length).tolist(), vector=vector)
        for length, vector in zip(lengths, unit(random, count), strict=True)
    ]
    made[2] = replace(made[2], vector=None)
    made[4] = replace(made[4], text="snake_case")
    return made


def batch_and_singles(
    seed: int, level: Level = Level.CHUNK, *, contexts: bool = False, **changed
) -> tuple[Ranking, list[Ranking]]:
    random = np.random.default_rng(seed)
    options = SearchOptions(**changed)
    indexes = [
        library(random, 10, 60, contexts=contexts),
        library(random, 1000, 40, contexts=contexts),
    ]
    batch = queries(random, 7)

    def ranked(some: list[Query]) -> Ranking:
        searches = [put_to(index, some, None, options) for index in indexes]
        candidates = find_candidates(searches, some, 12, options, StageTimer())
        return rank(candidates, searches, some, options, level)

    return ranked(batch), [ranked([query]) for query in batch]


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
            assert hit.score == added_up(part.value for part in hit.contributions)
            assert 0.0 <= hit.score <= 1.0 + 1e-9
    assert batch.scores.tolist() == [score for one in singles for score in one.scores.tolist()]
    counts = np.bincount(batch.queries, minlength=7)
    assert [len(one) for one in batch.hits(3)] == np.minimum(counts, 3).tolist()


@pytest.mark.parametrize("seed", range(3))
def test_coarser_levels_have_no_titles_and_no_phrases(seed):
    batch, singles = batch_and_singles(seed, Level.DOCUMENT)
    assert [part.index for part in batch.parts] == ["vector", "keyword", "document"]
    assert batch.scores.tolist() == [score for one in singles for score in one.scores.tolist()]
