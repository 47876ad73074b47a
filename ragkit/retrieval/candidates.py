"""Candidates: what the indexes of the searched collections find for a batch of queries."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.bm25 import FIELD_WEIGHTS
from ragkit.indexes.protocol import (
    Candidates,
    EntryFilter,
    EntryIndex,
    IndexKind,
    IndexSearch,
    VectorSearch,
)
from ragkit.indexes.rows import Bools, Ids
from ragkit.options import Contexts, Mode, QuestionMerge, SearchOptions
from ragkit.retrieval.proximity import Scores
from ragkit.retrieval.query.encoding import Query
from ragkit.retrieval.query.scope import Scope
from ragkit.types import LEVEL_CODES, Field, Level

if TYPE_CHECKING:
    from ragkit.retrieval.stages import StageTimer

NO_GRAPH = "There is no approximate index: collections are searched exactly."
"""The notice of a search that was to be approximate and is not."""

WRITTEN = (Field.CONTEXT, Field.KEYWORDS, Field.QUESTIONS, Field.TOPIC)
"""The fields that a model writes."""

_TEXT_ONLY: Mapping[Field, float] = {Field.TEXT: 1.0}
_MOST_EACH = 8
_WORTH_A_THREAD = 20_000

_A = TypeVar("_A")
_B = TypeVar("_B")


def put_to(
    index: EntryIndex,
    queries: Sequence[Query],
    restriction: EntryFilter | None,
    options: SearchOptions,
) -> IndexSearch:
    """Put a batch to one index as the options ask for it."""
    vector_search = VectorSearch(options.index, options.nprobe, options.overfetch)
    return index.search(queries, restriction, field_weights(index, options), vector_search)


def field_weights(index: EntryIndex, options: SearchOptions) -> Mapping[Field, float]:
    """Return how much a word counts in each field of an index that is searched."""
    if options.field_weights is not None:
        return dict(options.field_weights)
    written = options.contexts is Contexts.MODEL and not index.fields.isdisjoint(WRITTEN)
    return FIELD_WEIGHTS if written else _TEXT_ONLY


def levels_of_chunks(options: SearchOptions) -> tuple[Level, ...]:
    """Return the levels besides a chunk's own at which its vectors are looked for."""
    if options.contexts is Contexts.STRUCTURAL:
        return ()
    return (Level.CONTEXT, Level.QUESTION) if (levels := options.vector_levels) is None else levels


def entry_filter(scope: Scope, level: Level, options: SearchOptions) -> EntryFilter:
    """Return which entries of a level are in the scope, and which of them vectors may find."""
    levels: tuple[Level, ...] | None = None
    if options.contexts is Contexts.STRUCTURAL:
        levels = (level,)
    elif options.vector_levels is not None:
        levels = (level, *options.vector_levels)
    return EntryFilter(
        scope.document_ids,
        scope.entry_ids,
        levels,
        representatives=levels is None and options.question_merge is QuestionMerge.CONTEXT,
        chunk_ids=scope.chunk_ids if level is Level.CHUNK else None,
        without_chunk_ids=scope.without_chunk_ids if level is Level.CHUNK else None,
    )


def find_candidates(
    searches: Sequence[IndexSearch],
    queries: Sequence[Query],
    depth: int,
    options: SearchOptions,
    timer: StageTimer,
    suffix: str = "",
) -> dict[IndexKind, Candidates]:
    """Return at most ``depth`` candidates a query of each kind of index that the mode asks.

    Both are asked at once where that is quicker.
    """
    total = sum(search.index.entries for search in searches)
    by_vector, by_keyword = (
        partial(candidates_of, kind, searches, depth, options)
        for kind in (IndexKind.VECTOR, IndexKind.KEYWORD)
    )
    candidates: dict[IndexKind, Candidates] = {}
    if options.mode is not Mode.KEYWORD:
        with timer.stage(f"vector{suffix}", total) as stage:
            strategies = [
                search.strategy(_vector_depth(search, depth, options)) for search in searches
            ]
            notes = list(dict.fromkeys(strategy.why for strategy in strategies))
            if any(strategy.missing for strategy in strategies):
                timer.notices.append(NO_GRAPH)
            if options.mode is Mode.HYBRID and len(queries) == 1 and total >= _WORTH_A_THREAD:
                by_both = run_concurrently(by_vector, partial(_and_documents, by_keyword, searches))
                candidates = dict(zip((IndexKind.VECTOR, IndexKind.KEYWORD), by_both, strict=True))
                notes.append("beside keyword")
            else:
                candidates[IndexKind.VECTOR] = by_vector()
            stage.out = len(candidates[IndexKind.VECTOR].entry_ids)
            stage.note = "; ".join(notes)
    if options.mode is not Mode.VECTOR:
        with timer.stage(f"keyword{suffix}", total) as stage:
            if IndexKind.KEYWORD not in candidates:
                candidates[IndexKind.KEYWORD] = by_keyword()
            stage.out = len(candidates[IndexKind.KEYWORD].entry_ids)
    return candidates


def with_all_of(
    candidates: Mapping[IndexKind, Candidates],
    searches: Sequence[IndexSearch],
    inside: Sequence[IndexSearch],
    queries: Sequence[Query],
    options: SearchOptions,
    timer: StageTimer,
) -> dict[IndexKind, Candidates]:
    """Return the candidates of ``searches``, and all that passes the filter of ``inside``.

    These narrower searches are of the same indexes; what they let through is scored by the wider.
    """
    depth = sum(search.passing for search in inside)
    passing = find_candidates(inside, queries, depth, options, timer)
    joined = {}
    for kind, candidates_of_kind in candidates.items():
        own = passing[kind]
        if kind is IndexKind.KEYWORD or options.question_merge is not QuestionMerge.SUM:
            own = replace(own, scores=exact_scores(searches, kind, own.entry_ids, own.queries))
        joined[kind] = _joined([candidates_of_kind, own], None)
    return joined


def with_those_of(
    candidates: Mapping[IndexKind, Candidates],
    searches: Sequence[IndexSearch],
    others: Sequence[IndexSearch],
    depth: int,
    options: SearchOptions,
) -> dict[IndexKind, Candidates]:
    """Return candidates with what other queries to the same indexes find by words.

    They are scored by ``searches``.
    """
    by_words = candidates[IndexKind.KEYWORD]
    found = candidates_of(IndexKind.KEYWORD, others, depth, options)
    width = 1 + max(int(each.entry_ids.max(initial=0)) for each in (by_words, found))
    keys, known = (each.queries * width + each.entry_ids for each in (found, by_words))
    found = take_rows(found, np.flatnonzero(~np.isin(keys, known)))
    scores = exact_scores(searches, IndexKind.KEYWORD, found.entry_ids, found.queries)
    both = _joined([by_words, replace(found, scores=scores)], None)
    return {**candidates, IndexKind.KEYWORD: both}


def _and_documents(
    by_keyword: Callable[[], Candidates], searches: Sequence[IndexSearch]
) -> Candidates:
    """Find candidates by words, and the documents that an answer counts: vectors take longer."""
    by_words = by_keyword()
    for search in searches:
        search.documents(IndexKind.KEYWORD)
    return by_words


def candidates_of(
    kind: IndexKind, searches: Sequence[IndexSearch], depth: int, options: SearchOptions
) -> Candidates:
    """Return for each query the entries with the best BM25 scores, or chunks by their vectors.

    Chunks with several vectors are looked for as deep as it takes to find enough of them.
    """
    if kind is IndexKind.KEYWORD:
        return _joined([search.candidates(kind, depth) for search in searches], depth)
    of_collections = [
        search.candidates(kind, _vector_depth(search, depth, options)) for search in searches
    ]
    alone = all(search.index.entries_per_chunk == 1.0 for search in searches)
    joined = _joined(of_collections, depth if alone else None)
    if options.question_merge is QuestionMerge.SUM:
        kinds = levels_of_chunks(options)
        return by_sum_of_ranks(joined, options.rrf_k, depth, kinds, partial(_have, searches))
    return joined if alone else by_best(joined, depth)


def _have(searches: Sequence[IndexSearch], entry_ids: Ids, level: Level) -> Bools:
    """Return which chunks of any collection have vectors of a level, (n,)."""
    having = np.zeros(len(entry_ids), np.bool_)
    for search in searches:
        having |= search.index.with_vectors(entry_ids, level)
    return having


def by_best(candidates: Candidates, depth: int) -> Candidates:
    """Keep the best entry of each chunk, under the id of the chunk's own entry; best first.

    The level says which of them was found best.
    """
    _chunks, first, _group = _chunks_of(candidates)
    return _as_chunks(take_rows(candidates, np.sort(first)), depth)


def by_sum_of_ranks(
    candidates: Candidates,
    rrf_k: int,
    depth: int,
    levels: Sequence[Level],
    have: Callable[[Ids, Level], Bools],
) -> Candidates:
    """Order chunks by the sum of ``1 / (rrf_k + rank)``, of as many vectors for each.

    One vector of each kind counts: the chunk's own, and the best of each of the other ``levels``.
    For a kind that a chunk does not ``have`` its own counts again, or chunks whose context is not
    written yet would come last. A vector that is there and was not found has the rank after the
    last. Levels are those of ``by_best``.
    """
    chunks, first, group = _chunks_of(candidates)
    queries, parents = candidates.queries[first], candidates.parent_ids[first]
    inverse = 1.0 / (rrf_k + ranks_of(candidates))
    counts = np.bincount(candidates.queries, minlength=1)
    worst = 1.0 / (rrf_k + 1 + counts[queries])

    def best_of(rows: Bools) -> Scores:
        best = worst.copy()
        np.maximum.at(best, group[rows], inverse[rows])
        return best

    own = best_of(candidates.entry_ids == candidates.parent_ids)
    sums = own.copy()
    for level in levels:
        best = best_of(candidates.levels == LEVEL_CODES[level])
        sums += np.where(have(parents, level), best, own)
    order = np.lexsort((chunks, -sums, queries))
    return _as_chunks(replace(take_rows(candidates, first[order]), scores=sums[order]), depth)


def _chunks_of(candidates: Candidates) -> tuple[Ids, Ids, Ids]:
    """Return the chunks of each query (m,), the first row of each, and each row's chunk (n,)."""
    keys = candidates.queries * (int(candidates.parent_ids.max(initial=0)) + 1)
    chunks, first, group = np.unique(
        keys + candidates.parent_ids, return_index=True, return_inverse=True
    )
    return chunks, first, group.reshape(-1)


def _as_chunks(candidates: Candidates, depth: int) -> Candidates:
    """Name entries by their chunks' own, and keep the first ``depth`` of each query."""
    return _cut(replace(candidates, entry_ids=candidates.parent_ids), depth)


def exact_scores(
    searches: Sequence[IndexSearch], kind: IndexKind, entry_ids: Ids, queries: Ids
) -> Scores:
    """Return exact scores of any entries, each for the query of that number (``IndexSearch``)."""
    total = np.zeros(len(entry_ids))
    for search in searches:
        total += search.scores(kind, entry_ids, queries)
    return total


def content_keys(searches: Sequence[IndexSearch], entry_ids: Ids) -> NDArray[np.uint64]:
    """Return the content keys of entries, (n,), each from the index that holds the entry."""
    keys = np.zeros(len(entry_ids), np.uint64)
    for search in searches:
        keys |= search.index.content_keys(entry_ids)
    return keys


def places_of(queries: Ids) -> Ids:
    """Return each row's place among those of its query, from 0; numbers of queries ascend, (n,)."""
    return np.arange(len(queries)) - np.searchsorted(queries, queries)


def ranks_of(candidates: Candidates) -> Ids:
    """Return each row's rank among those of its query, from 1; equal scores share one, (n,)."""
    places, scores = places_of(candidates.queries), candidates.scores
    tied = (places[1:] > 0) & (np.diff(scores) == 0)
    rows = np.arange(len(places))
    # The row of the first of those that tie: the last row before that does not.
    first = np.maximum.accumulate(np.where(np.concatenate([[False], tied])[: len(rows)], 0, rows))
    ranks: Ids = places[first] + 1
    return ranks


def run_concurrently(
    first: Callable[[], _A], second: Callable[[], _B], processors: int | None = None
) -> tuple[_A, _B]:
    """Return the results of both; ``first`` runs in this thread, and should release the GIL.

    What no other thread has begun when ``first`` is done is run here too, so that nobody waits
    behind somebody else's work. An error of either is raised.
    """
    if (processors or _processors()) < 2:
        return first(), second()
    future = _threads().submit(second)
    try:
        result = first()
    finally:
        unbegun = future.cancel()
    return result, second() if unbegun else future.result()


@cache
def _processors() -> int:
    # Each look takes as long as some stages.
    return os.cpu_count() or 1


@lru_cache(maxsize=1)
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(2, "ragkit-search")


def _vector_depth(search: IndexSearch, depth: int, options: SearchOptions) -> int:
    """Return how many entries are looked at to find ``depth`` chunks."""
    by_context = options.vector_levels is None and options.question_merge is QuestionMerge.CONTEXT
    if options.contexts is Contexts.STRUCTURAL or by_context:
        # A chunk is found by one of its vectors, whatever others it has.
        return depth
    return depth * min(_MOST_EACH, math.ceil(search.index.entries_per_chunk))


def _joined(of_collections: Sequence[Candidates], depth: int | None) -> Candidates:
    """Join what collections have for each query; ties go to the smaller entry id."""
    if len(of_collections) == 1:
        return of_collections[0]
    if not of_collections:
        ids, scores = np.zeros(0, np.int64), np.zeros(0)
        return Candidates(ids, ids, ids, ids, ids.astype(np.int32), ids.astype(np.int8), scores)
    joined = Candidates(
        *(
            np.concatenate([getattr(candidates, column.name) for candidates in of_collections])
            for column in fields(Candidates)
        )
    )
    joined = take_rows(joined, np.lexsort((joined.entry_ids, -joined.scores, joined.queries)))
    return joined if depth is None else _cut(joined, depth)


def _cut(candidates: Candidates, depth: int) -> Candidates:
    """Keep the first ``depth`` candidates of each query."""
    return take_rows(candidates, np.flatnonzero(places_of(candidates.queries) < depth))


def take_rows(candidates: Candidates, rows: Ids) -> Candidates:
    """Return some rows; their numbers of queries must ascend."""
    return Candidates(*(getattr(candidates, column.name)[rows] for column in fields(Candidates)))
