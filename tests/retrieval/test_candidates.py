"""Candidates: lists over several scopes, exact scores for all, and what is added to them."""

from __future__ import annotations

import numpy as np
import pytest

from ragkit.indexes.local.collection import CollectionIndex
from ragkit.indexes.protocol import IndexQuery
from ragkit.indexes.rows import EntryRows, TokenColumn
from ragkit.options import Fusion, SearchOptions
from ragkit.retrieval.candidates import keyword_lists, put_to, vector_lists
from ragkit.retrieval.ranking import Hit, rank
from ragkit.types import LEVEL_CODES, Field, Level

OPTIONS = SearchOptions()


def index(first: int, texts, vectors) -> CollectionIndex:
    n = len(texts)
    ids = np.arange(first, first + n, dtype=np.int64)
    return CollectionIndex.build(
        EntryRows(
            ids,
            ids // 2,
            np.full(n, LEVEL_CODES[Level.CHUNK], np.int8),
            (ids % 2).astype(np.int32),
            np.array(vectors, np.float16),
            np.ones(n, np.bool_),
            {Field.TEXT: TokenColumn.of(texts)},
        )
    )


LEFT = index(10, [[1, 2, 3], [4, 5], [2, 9, 1]], [[1, 0], [0.6, 0.8], [0.8, 0.6]])
RIGHT = index(20, [[7, 7], [1, 2, 6, 6]], [[0, 1], [0.28, 0.96]])
ASKED = IndexQuery([1, 2], np.array([1, 0], np.float32))


def put(*indexes, query=ASKED, options=OPTIONS):
    return [put_to(index, [query], None, options) for index in indexes]


def ranked(indexes=(LEFT, RIGHT), depth=100, level=Level.CHUNK, **changed) -> list[Hit]:
    options = SearchOptions(**changed)
    searches = put(*indexes, options=options)
    lists = [
        *vector_lists(searches, [options.vector_weight], depth, options),
        *keyword_lists(searches, [options.keyword_weight], depth),
    ]
    (hits,) = rank([lists], searches, [ASKED], options, level).hits()
    return hits


def test_lists_of_several_scopes_are_one_list():
    searches = put(LEFT, RIGHT)
    (found,) = vector_lists(searches, [0.5], 3, OPTIONS)
    assert found.entry_ids.tolist() == [10, 12, 11]
    assert found.raw.tolist() == pytest.approx([1, 0.8, 0.6], abs=1e-3)
    (words,) = keyword_lists(searches, [0.5], 9)
    assert set(words.entry_ids.tolist()) == {10, 12, 21}
    (nothing,) = vector_lists(put(LEFT, RIGHT, query=IndexQuery()), [0.5], 9, OPTIONS)
    assert nothing.entry_ids.tolist() == []
    assert len(keyword_lists([], [0.5], 9)[0]) == 0


def test_every_candidate_has_both_scores_however_short_the_lists():
    deep = {hit.entry_id: hit for hit in ranked(depth=100)}
    short = ranked(depth=1)
    assert {hit.entry_id for hit in short} < set(deep)
    for hit in short:
        raw = {part.index: part.raw for part in hit.contributions}
        whole = {part.index: part.raw for part in deep[hit.entry_id].contributions}
        assert raw["vector"] == pytest.approx(whole["vector"], abs=1e-6)
        assert raw["keyword"] == pytest.approx(whole["keyword"], abs=1e-6)


def test_parts_add_up_and_are_named():
    best = ranked(title_weight=0)[0]
    assert best.entry_id == 10
    assert [part.index for part in best.contributions] == [
        "vector", "keyword", "phrase", "document",
    ]  # fmt: skip
    assert best.score == sum(part.value for part in best.contributions)
    assert sum(part.weight for part in best.contributions) == pytest.approx(1.0)


def test_words_that_stand_together_count():
    by_entry = {hit.entry_id: hit for hit in ranked(vector_weight=0)}
    named = {entry: [part.index for part in hit.contributions] for entry, hit in by_entry.items()}
    assert "phrase" in named[10]
    assert "phrase" in named[21]
    assert "phrase" not in named[12]


def test_a_chunk_gains_by_its_document():
    with_document = {hit.entry_id: hit.score for hit in ranked()}
    alone = {hit.entry_id: hit.score for hit in ranked(document_weight=0)}
    assert with_document[11] > alone[11]
    assert with_document[10] == pytest.approx(alone[10])


def test_ranks_alone_decide_by_reciprocal_rank():
    for hit in ranked(fusion=Fusion.RRF):
        assert {part.index for part in hit.contributions} <= {"vector", "keyword"}


def test_coarse_levels_have_no_phrases():
    for hit in ranked(level=Level.DOCUMENT):
        assert "phrase" not in {part.index for part in hit.contributions}


def test_one_index_alone_is_left_as_it_is():
    searches = put(LEFT)
    words = keyword_lists(searches, [0.5], 9)
    (hits,) = rank([words], searches, [ASKED], OPTIONS, Level.CHUNK).hits()
    assert hits[0].score == 1.0
    assert [part.index for part in hits[0].contributions] == ["keyword"]
