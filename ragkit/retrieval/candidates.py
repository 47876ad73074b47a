"""Candidates: what the indexes of the asked collections find, as ranked lists and exact scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.protocol import (
    Candidates,
    EntryFilter,
    EntryIndex,
    IndexKind,
    IndexQuery,
    IndexSearch,
    VectorSearch,
)
from ragkit.options import Contexts, QuestionMerge, SearchOptions
from ragkit.retrieval.multi_vector import IndexList, by_chunk
from ragkit.retrieval.proximity import Scores, ShareOf
from ragkit.types import Field

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


def put_to(
    index: EntryIndex,
    queries: Sequence[IndexQuery],
    entry_filter: EntryFilter | None,
    options: SearchOptions,
) -> IndexSearch:
    """Put queries to an index as the options ask for it."""
    if options.field_weights is not None:
        weights: Mapping[Field, float] = dict(options.field_weights)
    else:
        written = options.contexts is Contexts.MODEL and not index.fields.isdisjoint(WRITTEN)
        weights = FIELD_WEIGHTS if written else _TEXT_ONLY
    vector_search = VectorSearch(options.index, options.nprobe, options.overfetch)
    return index.search(queries, entry_filter, weights, vector_search)


def vector_depth(search: IndexSearch, depth: int, options: SearchOptions) -> int:
    """How many entries are looked at to find ``depth`` chunks, some of which have several."""
    several = options.contexts is Contexts.MODEL and not _one_each(options)
    return depth * min(_MOST_EACH, math.ceil(search.index.entries_per_chunk)) if several else depth


def _one_each(options: SearchOptions) -> bool:
    """Whether each chunk is found by what represents it, and by nothing else."""
    return options.vector_levels is None and options.question_merge is QuestionMerge.CONTEXT


def vector_lists(
    searches: Sequence[IndexSearch],
    weights: Sequence[float],
    depth: int,
    options: SearchOptions,
) -> list[IndexList]:
    """For each query, the chunks, sections or documents with the vectors most like its own.

    Each index is gone through once for all of them. Chunks with several vectors are looked for as
    deep as it takes to find enough of them.
    """
    found = [
        search.candidates(IndexKind.VECTOR, vector_depth(search, depth, options))
        for search in searches
    ]
    by_sum = options.question_merge is QuestionMerge.SUM
    alone = all(search.index.entries_per_chunk == 1.0 for search in searches)
    lists = []
    for number, weight in enumerate(weights):
        most = depth if alone else sum(map(len, found))
        merged, parents = _merged(IndexKind.VECTOR, weight, found, number, most)
        if by_sum or not alone:
            merged = by_chunk(merged, parents, options.question_merge, options.rrf_k, depth)
        # A sum of inverse ranks is known only of what was found.
        exact = None if by_sum else _exact_scores(searches, IndexKind.VECTOR, number, len(weights))
        lists.append(replace(merged, cosines=not by_sum, exact=exact))
    return lists


def keyword_lists(
    searches: Sequence[IndexSearch], weights: Sequence[float], depth: int
) -> list[IndexList]:
    """For each query, the entries with the best BM25 scores, over all collections."""
    found = [search.candidates(IndexKind.KEYWORD, depth) for search in searches]
    return [
        replace(
            _merged(IndexKind.KEYWORD, weight, found, number, depth)[0],
            exact=_exact_scores(searches, IndexKind.KEYWORD, number, len(weights)),
        )
        for number, weight in enumerate(weights)
    ]


def _exact_scores(
    searches: Sequence[IndexSearch], kind: IndexKind, number: int, count: int
) -> Callable[[NDArray[np.int64]], Scores]:
    """What gives the scores of any entries for the query of that number, of so many."""

    def exact(entry_ids: NDArray[np.int64]) -> Scores:
        bounds = np.zeros(count + 1, np.int64)
        bounds[number + 1 :] = len(entry_ids)
        return scores_of(searches, kind, entry_ids, bounds)

    return exact


def scores_of(
    searches: Sequence[IndexSearch],
    kind: IndexKind,
    entry_ids: NDArray[np.int64],
    bounds: NDArray[np.int64],
) -> Scores:
    """What all collections say of entries, (n,), each asked by its own query (``IndexSearch``)."""
    total = np.zeros(len(entry_ids))
    for search in searches:
        total += search.scores(kind, entry_ids, bounds)
    return total


def shares_in(
    share_of: ShareOf,
    name: Field,
    searches: Sequence[IndexSearch],
    queries: Sequence[IndexQuery],
    entry_ids: NDArray[np.int64],
    bounds: NDArray[np.int64],
) -> Scores:
    """How much of its question stands in a field of each entry, from 0 to 1, (n,).

    ``entry_ids[bounds[i]:bounds[i + 1]]`` are looked at for question ``i``. Words are as rare as
    they are in texts.
    """
    shares = np.zeros(len(entry_ids))
    token_ids = [query.token_ids for query in queries]
    words = [token for tokens in token_ids for token in tokens]
    for search in searches if words else ():
        idf = search.index.idf(words, Field.TEXT)
        shares += share_of(token_ids, idf, search.index.get(entry_ids, name), bounds)
    return shares


def _merged(
    kind: IndexKind, weight: float, found: Sequence[Candidates], number: int, depth: int
) -> tuple[IndexList, NDArray[np.int64]]:
    """Merge what the collections have for one query, and name each entry's parent.

    Ties go to the smaller entry id.
    """
    places = [slice(*one.bounds[number : number + 2].tolist()) for one in found]
    columns: list[tuple[NDArray[Any], ...]] = [
        tuple(
            column[place]
            for column in (
                one.entry_ids,
                one.document_ids,
                one.chunk_indexes,
                one.levels,
                one.scores.astype(np.float64),
                one.parent_ids,
            )
        )
        for one, place in zip(found, places, strict=True)
    ]
    if len(columns) == 1:
        ids, documents, chunks, levels, raw, parents = (one[:depth] for one in columns[0])
    elif columns:
        joined = [np.concatenate(of_all) for of_all in zip(*columns, strict=True)]
        order = np.lexsort((joined[0], -joined[4]))[:depth]
        ids, documents, chunks, levels, raw, parents = (one[order] for one in joined)
    else:
        ids = documents = chunks = levels = parents = np.zeros(0, np.int64)
        raw = np.zeros(0)
    return IndexList(kind.value, weight, ids, documents, chunks, levels, raw), parents
