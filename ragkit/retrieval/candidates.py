"""Candidates: what the indexes of the searched collections find for a batch of queries."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache, partial, reduce
from typing import TypeVar

import numpy as np

from ragkit.catalog import Catalog
from ragkit.catalog.records import CollectionRecord
from ragkit.indexes.protocol import (
    Candidates,
    EntryFilter,
    EntryIndex,
    IndexBackend,
    IndexKind,
    IndexSearch,
    VectorSearch,
)
from ragkit.indexes.rows import Ids
from ragkit.options import Contexts, Filters, Mode, QuestionMerge, SearchOptions
from ragkit.results import StageTimer
from ragkit.retrieval.proximity import Scores, ShareOf
from ragkit.retrieval.query import Query
from ragkit.types import LEVEL_CODES, Field, Level

FIELD_WEIGHTS: Mapping[Field, float] = {
    Field.TEXT: 1.75,
    Field.TITLE: -2.5,
    Field.CONTEXT: 0.5,
    Field.KEYWORDS: 2.0,
    Field.QUESTIONS: 0.75,
}
"""How much a word counts in each field, where a model wrote something.

A title's words stand in the text as well, twice: together they count 1.
"""

WRITTEN = (Field.CONTEXT, Field.KEYWORDS, Field.QUESTIONS)
"""The fields that a model writes."""

_TEXT_ONLY: Mapping[Field, float] = {Field.TEXT: 1.0}
_MOST_EACH = 8
_WORTH_A_THREAD = 20_000

_A = TypeVar("_A")
_B = TypeVar("_B")


def open_searches(
    catalog: Catalog,
    indexes: IndexBackend,
    queries: Sequence[Query],
    level: Level,
    options: SearchOptions,
) -> list[IndexSearch]:
    """Put a batch to the index of each collection; all are those of the first, as filters are."""
    collections, filters = queries[0].collections, queries[0].filters
    return [
        put_to(
            indexes.current(collection, level),
            queries,
            _entry_filter(catalog, collection, level, filters, options),
            options,
        )
        for collection in collections
    ]


def put_to(
    index: EntryIndex,
    queries: Sequence[Query],
    entry_filter: EntryFilter | None,
    options: SearchOptions,
) -> IndexSearch:
    """Put a batch to one index as the options ask for it."""
    if options.field_weights is not None:
        weights: Mapping[Field, float] = dict(options.field_weights)
    else:
        written = options.contexts is Contexts.MODEL and not index.fields.isdisjoint(WRITTEN)
        weights = FIELD_WEIGHTS if written else _TEXT_ONLY
    vector_search = VectorSearch(options.index, options.nprobe, options.overfetch)
    return index.search(queries, entry_filter, weights, vector_search)


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

    by_vector = partial(vector_candidates, searches, len(queries), depth, options)
    by_keyword = partial(keyword_candidates, searches, len(queries), depth)
    candidates: dict[IndexKind, Candidates] = {}
    if options.mode is not Mode.KEYWORD:
        with timer.stage(f"vector{suffix}", total) as stage:
            strategies = [
                search.strategy(_vector_depth(search, depth, options)) for search in searches
            ]
            notes = list(dict.fromkeys(strategy.why for strategy in strategies))
            if options.mode is Mode.HYBRID and len(queries) == 1 and total >= _WORTH_A_THREAD:
                by_both = run_concurrently(by_vector, by_keyword)
                candidates = dict(zip((IndexKind.VECTOR, IndexKind.KEYWORD), by_both, strict=True))
                notes.append("beside keyword")
            else:
                candidates[IndexKind.VECTOR] = by_vector()
            stage.out, stage.note = len(candidates[IndexKind.VECTOR]), "; ".join(notes)
    if options.mode is not Mode.VECTOR:
        with timer.stage(f"keyword{suffix}", total) as stage:
            if IndexKind.KEYWORD not in candidates:
                candidates[IndexKind.KEYWORD] = by_keyword()
            stage.out = len(candidates[IndexKind.KEYWORD])
    return candidates


def vector_candidates(
    searches: Sequence[IndexSearch], count: int, depth: int, options: SearchOptions
) -> Candidates:
    """Return for each of ``count`` queries the chunks with the vectors most like its own.

    Chunks with several vectors are looked for as deep as it takes to find enough of them.
    """
    of_collections = [
        search.candidates(IndexKind.VECTOR, _vector_depth(search, depth, options))
        for search in searches
    ]
    alone = all(search.index.entries_per_chunk == 1.0 for search in searches)
    joined = _joined(of_collections, count, depth if alone else None)
    if alone and options.question_merge is not QuestionMerge.SUM:
        return joined
    return by_chunk(joined, options.question_merge, options.rrf_k, depth)


def keyword_candidates(searches: Sequence[IndexSearch], count: int, depth: int) -> Candidates:
    """Return for each of ``count`` queries the entries with the best BM25 scores."""
    of_collections = [search.candidates(IndexKind.KEYWORD, depth) for search in searches]
    return _joined(of_collections, count, depth)


def by_chunk(candidates: Candidates, merge: QuestionMerge, rrf_k: int, depth: int) -> Candidates:
    """Keep one candidate a chunk, under the id of the chunk's own entry; best first.

    By SUM a chunk's score is the sum of ``1 / (rrf_k + rank)`` over its entries, and decides its
    rank; else it has those of its best entry. The level says what was found best, where that is
    one of the chunk's questions.
    """
    queries = queries_of(candidates.bounds)
    keys = queries * (int(candidates.parent_ids.max(initial=0)) + 1) + candidates.parent_ids
    distinct, first, group = np.unique(keys, return_index=True, return_inverse=True)
    if merge is QuestionMerge.SUM:
        sums = np.zeros(len(distinct))
        np.add.at(sums, group.reshape(-1), 1.0 / (rrf_k + 1.0 + places_of(candidates.bounds)))
        order = np.lexsort((distinct, -sums, queries[first]))
        chunks = replace(take_rows(candidates, first[order]), scores=sums[order])
    else:
        chunks = take_rows(candidates, np.sort(first))
    contexts = chunks.levels == LEVEL_CODES[Level.CONTEXT]
    levels = np.where(contexts, LEVEL_CODES[Level.CHUNK], chunks.levels).astype(np.int8)
    return _cut(replace(chunks, entry_ids=chunks.parent_ids, levels=levels), depth)


def exact_scores(
    searches: Sequence[IndexSearch], kind: IndexKind, entry_ids: Ids, bounds: Ids
) -> Scores:
    """Return exact scores of any entries; ``bounds`` say whose query each is (``IndexSearch``)."""
    total = np.zeros(len(entry_ids))
    for search in searches:
        total += search.scores(kind, entry_ids, bounds)
    return total


def shares_in(
    share_of: ShareOf,
    field: Field,
    searches: Sequence[IndexSearch],
    queries: Sequence[Query],
    entry_ids: Ids,
    bounds: Ids,
) -> Scores:
    """Return how much of its query stands in a field of each entry, from 0 to 1, (n,).

    ``entry_ids[bounds[i]:bounds[i + 1]]`` are compared with query ``i``. Words are as rare as
    they are in texts.
    """
    shares = np.zeros(len(entry_ids))
    token_ids = [query.token_ids for query in queries]
    flat = [token for tokens in token_ids for token in tokens]
    for search in searches if flat else ():
        idf = search.index.idf(flat, Field.TEXT)
        shares += share_of(token_ids, idf, search.index.get(entry_ids, field), bounds)
    return shares


def queries_of(bounds: Ids) -> Ids:
    """Return the number of each row's query, (n,)."""
    if len(bounds) == 2:
        return np.zeros(bounds[1], np.int64)
    return np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))


def places_of(bounds: Ids) -> Ids:
    """Return each row's place among those of its query, from 0, (n,)."""
    if len(bounds) == 2:
        return np.arange(bounds[1])
    return np.arange(bounds[-1]) - np.repeat(bounds[:-1], np.diff(bounds))


def run_concurrently(
    first: Callable[[], _A], second: Callable[[], _B], processors: int | None = None
) -> tuple[_A, _B]:
    """Return the results of both; ``first`` runs in this thread, and should release the GIL.

    What no other thread has begun when ``first`` is done is run here too, so that nobody waits
    behind somebody else's work. An error of either is raised.
    """
    if (processors or os.cpu_count() or 1) < 2:
        return first(), second()
    future = _threads().submit(second)
    try:
        result = first()
    finally:
        unbegun = future.cancel()
    return result, second() if unbegun else future.result()


@lru_cache(maxsize=1)
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(2, "ragkit-search")


def _one_per_chunk(options: SearchOptions) -> bool:
    """Return whether a chunk is found by one of its vectors, whatever others it has."""
    by_context = options.vector_levels is None and options.question_merge is QuestionMerge.CONTEXT
    return options.contexts is Contexts.STRUCTURAL or by_context


def _vector_depth(search: IndexSearch, depth: int, options: SearchOptions) -> int:
    """Return how many entries are looked at to find ``depth`` chunks."""
    if _one_per_chunk(options):
        return depth
    return depth * min(_MOST_EACH, math.ceil(search.index.entries_per_chunk))


def _entry_filter(
    catalog: Catalog,
    collection: CollectionRecord,
    level: Level,
    filters: Sequence[Filters],
    options: SearchOptions,
) -> EntryFilter:
    """Return which entries pass all filters, and which of them vectors may find."""
    levels: tuple[Level, ...] | None = None
    if options.contexts is Contexts.STRUCTURAL:
        levels = (level,)
    elif options.vector_levels is not None:
        levels = (level, *options.vector_levels)
    documents: list[Ids] = []
    entries: list[Ids] = []
    for part in filters:
        documents.append(catalog.filters.documents(collection.id, replace(part, headings=())))
        if part.headings:
            entries.append(catalog.filters.entries_under(collection.id, part.headings))
        by_speaker = catalog.filters.entries_by_speaker(collection.id, part)
        if by_speaker is not None:
            entries.append(by_speaker)
    return EntryFilter(
        reduce(np.intersect1d, documents) if documents else None,
        reduce(np.intersect1d, entries) if entries else None,
        levels,
        representatives=levels is None and _one_per_chunk(options),
    )


def _joined(of_collections: Sequence[Candidates], count: int, depth: int | None) -> Candidates:
    """Join what collections have for each query; ties go to the smaller entry id."""
    if len(of_collections) == 1:
        return of_collections[0]
    ids = np.zeros(0, np.int64)
    if not of_collections:
        none = np.zeros(0, np.int32), np.zeros(0, np.int8), np.zeros(0, np.float32)
        return Candidates(np.zeros(count + 1, np.int64), ids, ids, ids, *none)
    queries = np.concatenate([queries_of(found.bounds) for found in of_collections])
    ids = np.concatenate([found.entry_ids for found in of_collections])
    scores = np.concatenate([found.scores for found in of_collections])
    order = np.lexsort((ids, -scores, queries))
    joined = Candidates(
        np.searchsorted(queries[order], np.arange(count + 1)),
        ids[order],
        np.concatenate([found.document_ids for found in of_collections])[order],
        np.concatenate([found.parent_ids for found in of_collections])[order],
        np.concatenate([found.chunk_indexes for found in of_collections])[order],
        np.concatenate([found.levels for found in of_collections])[order],
        scores[order],
    )
    return joined if depth is None else _cut(joined, depth)


def _cut(candidates: Candidates, depth: int) -> Candidates:
    """Keep the first ``depth`` candidates of each query."""
    return take_rows(candidates, np.flatnonzero(places_of(candidates.bounds) < depth))


def take_rows(candidates: Candidates, rows: Ids) -> Candidates:
    """Return some rows, which must be sorted by query."""
    bounds = np.searchsorted(queries_of(candidates.bounds)[rows], np.arange(len(candidates.bounds)))
    return Candidates(
        bounds,
        candidates.entry_ids[rows],
        candidates.document_ids[rows],
        candidates.parent_ids[rows],
        candidates.chunk_indexes[rows],
        candidates.levels[rows],
        candidates.scores[rows],
    )
