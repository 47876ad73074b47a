"""Candidates: over several collections, chunks by their entries, exact scores, both at once."""

from __future__ import annotations

import threading
from functools import partial

import numpy as np
import pytest
from support import added_up

from ragkit.indexes.local.collection import CollectionIndex
from ragkit.indexes.protocol import Candidates, IndexKind
from ragkit.indexes.rows import EntryRows, TokenColumn
from ragkit.options import Fusion, Mode, SearchOptions
from ragkit.retrieval.candidates import (
    by_best,
    by_sum_of_ranks,
    candidates_of,
    find_candidates,
    put_to,
    ranks_of,
    run_concurrently,
    take_rows,
)
from ragkit.retrieval.hits import Hit
from ragkit.retrieval.query.encoding import Query
from ragkit.retrieval.ranking import rank
from ragkit.retrieval.stages import StageTimer
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
            (ids % 3).astype(np.uint64),
            np.array(vectors, np.float16),
            np.ones(n, np.bool_),
            {Field.TEXT: TokenColumn.of(texts)},
        )
    )


LEFT = index(10, [[1, 2, 3], [4, 5], [2, 9, 1]], [[1, 0], [0.6, 0.8], [0.8, 0.6]])
RIGHT = index(20, [[7, 7], [1, 2, 6, 6]], [[0, 1], [0.28, 0.96]])
QUERY = Query(token_ids=[1, 2], vector=np.array([1, 0], np.float32))


def put(*indexes, query=QUERY, options=OPTIONS):
    return [put_to(index, [query], None, options) for index in indexes]


def ranked(indexes=(LEFT, RIGHT), depth=100, level=Level.CHUNK, **changed) -> list[Hit]:
    options = SearchOptions(**changed)
    searches = put(*indexes, options=options)
    candidates = find_candidates(searches, [QUERY], depth, options, StageTimer())
    (hits,) = rank(candidates, searches, [QUERY], options, level).hits()
    return hits


def test_lists_of_several_collections_are_one_list():
    searches = put(LEFT, RIGHT)
    found = candidates_of(IndexKind.VECTOR, searches, 3, OPTIONS)
    assert found.entry_ids.tolist() == [10, 12, 11]
    assert found.scores.tolist() == pytest.approx([1, 0.8, 0.6], abs=1e-3)
    assert found.queries.tolist() == [0, 0, 0]
    words = candidates_of(IndexKind.KEYWORD, searches, 9, OPTIONS)
    assert set(words.entry_ids.tolist()) == {10, 12, 21}
    nothing = put(LEFT, RIGHT, query=Query())
    assert candidates_of(IndexKind.VECTOR, nothing, 9, OPTIONS).entry_ids.tolist() == []
    assert candidates_of(IndexKind.KEYWORD, [], 9, OPTIONS).queries.tolist() == []


def test_each_query_of_a_batch_has_its_own_candidates():
    other = Query(token_ids=[7], vector=np.array([0, 1], np.float32))
    searches = [put_to(index, [QUERY, other, Query()], None, OPTIONS) for index in (LEFT, RIGHT)]
    found = candidates_of(IndexKind.VECTOR, searches, 2, OPTIONS)
    assert found.queries.tolist() == [0, 0, 1, 1]
    assert found.entry_ids.tolist() == [10, 12, 20, 21]
    words = candidates_of(IndexKind.KEYWORD, searches, 1, OPTIONS)
    assert words.queries.tolist() == [0, 1]
    assert words.entry_ids.tolist()[1] == 20


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
    assert best.score == added_up(part.value for part in best.contributions)
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
    hits = ranked([LEFT], mode=Mode.KEYWORD)
    assert hits[0].score == 1.0
    assert [part.index for part in hits[0].contributions] == ["keyword"]


CHUNK, QUESTION, CONTEXT = (
    LEVEL_CODES[level] for level in (Level.CHUNK, Level.QUESTION, Level.CONTEXT)
)


def listed(*hits):
    """Candidates of (entry, level, score), best first; chunk entries are multiples of ten."""
    ids = np.array([hit[0] for hit in hits], np.int64)
    levels = np.array([hit[1] for hit in hits], np.int64)
    raw = np.array([hit[2] for hit in hits], np.float64)
    return Candidates(np.zeros_like(ids), ids, ids // 100, ids // 10 * 10, ids // 10, levels, raw)


FOUND = listed(
    (12, QUESTION, 0.9),
    (21, CONTEXT, 0.8),
    (20, CHUNK, 0.7),
    (22, QUESTION, 0.6),
    (11, CONTEXT, 0.5),
    (30, CHUNK, 0.4),
)


def summed(candidates, rrf_k=0, depth=10, levels=(Level.CONTEXT, Level.QUESTION)):
    """Chunks 10 and 20 have a context and questions, others only their text."""

    def have(entry_ids, _level):
        return np.isin(entry_ids, [10, 20])

    return by_sum_of_ranks(candidates, rrf_k, depth, levels, have)


def test_the_best_hit_of_a_chunk_counts():
    found = by_best(FOUND, 10)
    assert found.entry_ids.tolist() == [10, 20, 30]
    assert found.scores.tolist() == [0.9, 0.8, 0.4]
    assert found.levels.tolist() == [QUESTION, CONTEXT, CHUNK]
    assert found.chunk_indexes.tolist() == [1, 2, 3]


def test_or_the_sum_of_inverse_ranks_of_as_many_vectors_for_each():
    found = summed(FOUND)
    assert found.entry_ids.tolist() == [10, 20, 30]
    # The text of the first is there and was not found: it has the rank after the last. The third
    # has nothing but its text, which counts three times.
    sums = [1 / 7 + 1 / 5 + 1, 1 / 3 + 1 / 2 + 1 / 4, 3 / 6]
    assert found.scores.tolist() == pytest.approx(sums)
    assert found.levels.tolist() == [QUESTION, CONTEXT, CHUNK]
    assert summed(FOUND, rrf_k=60).entry_ids.tolist() == [20, 10, 30]
    alone = summed(FOUND, levels=())
    assert alone.entry_ids.tolist() == [20, 30, 10]
    assert alone.scores.tolist() == pytest.approx([1 / 3, 1 / 6, 1 / 7])


def test_of_several_questions_the_best_one_counts():
    several = listed((11, QUESTION, 0.9), (12, QUESTION, 0.8), (10, CHUNK, 0.7), (30, CHUNK, 0.6))
    found = summed(several, levels=(Level.QUESTION,))
    assert found.scores.tolist() == pytest.approx([1 + 1 / 3, 2 / 4])


def test_only_so_many_chunks_are_kept_and_none_of_nothing():
    assert by_best(FOUND, 2).entry_ids.tolist() == [10, 20]
    assert summed(FOUND, depth=2).entry_ids.tolist() == [10, 20]
    assert summed(listed(), depth=2).entry_ids.tolist() == []


def test_ties_go_to_the_smaller_entry():
    found = summed(listed((20, CHUNK, 0.5), (10, CHUNK, 0.5)))
    assert found.entry_ids.tolist() == [10, 20]
    even = listed((21, CONTEXT, 0.5), (11, CONTEXT, 0.5), (10, CHUNK, 0.4), (20, CHUNK, 0.4))
    assert by_best(even, 5).entry_ids.tolist() == [20, 10]


@pytest.mark.parametrize("processors", [1, 2])
def test_both_are_done(processors):
    assert run_concurrently(lambda: "here", lambda: "beside", processors) == ("here", "beside")


def test_two_processors_work_at_once():
    met = threading.Barrier(2)
    here, beside = run_concurrently(
        lambda: met.wait(60) + threading.get_ident() * 2,
        lambda: met.wait(60) + threading.get_ident() * 2,
        2,
    )
    assert here // 2 != beside // 2


def test_one_processor_takes_turns_in_one_thread():
    threads = run_concurrently(threading.get_ident, threading.get_ident, 1)
    assert set(threads) == {threading.get_ident()}


def test_what_no_thread_has_begun_is_done_here():
    work = partial(run_concurrently, processors=2)
    busy, free = threading.Semaphore(0), threading.Event()

    def block() -> None:
        busy.release()
        free.wait(60)

    others = [threading.Thread(target=work, args=(free.wait, block), daemon=True) for _ in range(2)]
    for one in others:
        one.start()
        assert busy.acquire(timeout=60)
    try:
        assert work(lambda: 1, threading.get_ident) == (1, threading.get_ident())
    finally:
        free.set()
        for one in others:
            one.join()


@pytest.mark.parametrize("fails", ["here", "beside"])
@pytest.mark.parametrize("processors", [1, 2])
def test_an_error_of_either_is_raised(fails, processors):
    def work(name: str) -> str:
        if name == fails:
            raise ValueError(name)
        return name

    with pytest.raises(ValueError, match=fails):
        run_concurrently(lambda: work("here"), lambda: work("beside"), processors)


def test_equal_scores_of_a_query_share_a_rank():
    queries = np.array([0, 0, 0, 0, 1, 1, 3])
    scores = np.array([0.9, 0.5, 0.5, 0.1, 0.1, 0.1, 0.1])
    ids = np.arange(7)
    found = Candidates(queries, ids, ids, ids, ids.astype(np.int32), ids.astype(np.int8), scores)
    assert ranks_of(found).tolist() == [1, 2, 2, 4, 1, 1, 1]
    assert ranks_of(take_rows(found, ids[:0])).tolist() == []
