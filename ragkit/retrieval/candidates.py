"""Candidates: what the indexes of the asked collections find, as ranked lists and exact scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.local.candidates import Candidates, EntryMask
from ragkit.indexes.local.collection import CollectionIndex
from ragkit.indexes.local.strategy import SearchStrategy, VectorSearch
from ragkit.options import Contexts, QuestionMerge, SearchOptions
from ragkit.retrieval.multi_vector import IndexList, best_of_each, by_chunk
from ragkit.retrieval.proximity import Scores, ShareOf
from ragkit.types import Field, Level

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


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as the indexes take it: vocabulary ids of its words, and its vector (d,)."""

    token_ids: Sequence[int]
    vector: NDArray[np.float32] | None


@dataclass(frozen=True, slots=True)
class Scope:
    """One collection's index and the part of it that the filters let through."""

    index: CollectionIndex
    mask: EntryMask | None
    contexts: Contexts = Contexts.MODEL
    levels: tuple[Level, ...] | None = None
    weights: tuple[tuple[Field, float], ...] | None = None
    standing: EntryMask | None = None

    @property
    def entries_per_chunk(self) -> float:
        """How many entries a chunk has that may be found by their vectors."""
        several = self.contexts is Contexts.MODEL and self.standing is None
        return self.index.entries_per_chunk if several else 1.0

    @property
    def vector_mask(self) -> EntryMask | None:
        """The entries that may be found by their vectors."""
        if self.standing is None or self.mask is None:
            return self.standing or self.mask
        return self.mask & self.standing

    @property
    def field_weights(self) -> Mapping[Field, float]:
        """How much a word counts in each field."""
        if self.weights is not None:
            return dict(self.weights)
        written = self.contexts is Contexts.MODEL and any(map(self.index.holds, WRITTEN))
        return FIELD_WEIGHTS if written else _TEXT_ONLY


def vector_lists(
    scopes: Sequence[Scope],
    asked: Sequence[Asked],
    weights: Sequence[float],
    depth: int,
    options: SearchOptions,
) -> list[IndexList]:
    """For each question, the chunks, sections or documents with the vectors most like its own.

    Each index is gone through once for all of them. Chunks with several vectors are looked for as
    deep as it takes to find enough of them.
    """
    found: list[list[Candidates]] = [[] for _ in asked]
    telling = [
        (at, one.vector)
        for at, one in enumerate(asked)
        if one.vector is not None and one.vector.any()
    ]
    if telling:
        queries = np.stack([vector for _at, vector in telling])
        for scope in scopes:
            lists = scope.index.vector_candidates(
                queries, _entries_deep(scope, depth), scope.vector_mask, _search_of(options)
            )
            for (at, _vector), one in zip(telling, lists, strict=True):
                found[at].append(one)
    return [
        _by_vector(scopes, one, of_one, weight, depth, options)
        for one, of_one, weight in zip(asked, found, weights, strict=True)
    ]


def vector_ways(
    scopes: Sequence[Scope], depth: int, options: SearchOptions
) -> list[SearchStrategy]:
    """How ``vector_lists`` searches each scope, and why."""
    search = _search_of(options)
    return [
        scope.index.vector_way(_entries_deep(scope, depth), scope.vector_mask, search)
        for scope in scopes
    ]


def _entries_deep(scope: Scope, depth: int) -> int:
    return depth * min(_MOST_EACH, math.ceil(scope.entries_per_chunk))


def _search_of(options: SearchOptions) -> VectorSearch:
    return VectorSearch(options.index, options.nprobe, options.overfetch)


def _by_vector(
    scopes: Sequence[Scope],
    asked: Asked,
    found: Sequence[Candidates],
    weight: float,
    depth: int,
    options: SearchOptions,
) -> IndexList:
    by_sum = options.question_merge is QuestionMerge.SUM
    alone = all(scope.index.entries_per_chunk == 1.0 for scope in scopes)
    merged = _merged("vector", weight, found, depth if alone else sum(map(len, found)))
    if by_sum or not alone:
        heads = np.zeros(len(merged), np.int64)
        for scope in scopes:
            heads += scope.index.chunk_entries(merged.entry_ids)
        merged = by_chunk(merged, heads, options.question_merge, options.rrf_k, depth)

    def exact(entry_ids: NDArray[np.int64]) -> Scores:
        scores = np.zeros(len(entry_ids))
        if asked.vector is not None:
            for scope in scopes:
                scores += _best_vectors(scope, asked.vector, entry_ids)
        return scores

    # A sum of inverse ranks is known only of what was found.
    return merged if by_sum else replace(merged, cosines=True, exact=exact)


def keyword_list(scopes: Sequence[Scope], asked: Asked, weight: float, depth: int) -> IndexList:
    """The entries with the best BM25 scores for the question's words, over all scopes."""
    known = (
        [(one, one.index.word_scores(asked.token_ids, one.field_weights)) for one in scopes]
        if asked.token_ids
        else []
    )
    found = [one.index.best_by_words(scores, depth, one.mask) for one, scores in known]

    def exact(entry_ids: NDArray[np.int64]) -> Scores:
        total = np.zeros(len(entry_ids))
        for scope, scores in known:
            total += scope.index.word_scores_of(scores, entry_ids)
        return total

    return replace(_merged("keyword", weight, found, depth), exact=exact)


def _best_vectors(
    scope: Scope, vector: NDArray[np.float32], entry_ids: NDArray[np.int64]
) -> Scores:
    """What the vectors say of chunks: the best of each one's entries."""
    if scope.contexts is Contexts.STRUCTURAL or scope.index.entries_per_chunk == 1.0:
        return scope.index.vector_scores_of(vector, entry_ids).astype(np.float64)
    members, owners = scope.index.entries_of_chunks(entry_ids, scope.levels, scope.standing)
    scores = scope.index.vector_scores_of(vector, members)
    return best_of_each(scores, owners, len(entry_ids))


def shares_in(
    share_of: ShareOf,
    name: Field,
    scopes: Sequence[Scope],
    asked: Sequence[Asked],
    entry_ids: NDArray[np.int64],
    bounds: NDArray[np.int64],
) -> Scores:
    """How much of its question stands in a field of each entry, from 0 to 1, (n,).

    ``entry_ids[bounds[i]:bounds[i + 1]]`` are looked at for question ``i``. Words are as rare as
    they are in texts.
    """
    shares = np.zeros(len(entry_ids))
    queries = [one.token_ids for one in asked]
    words = [token for query in queries for token in query]
    for scope in scopes if words else ():
        idf = scope.index.idf(words, Field.TEXT)
        shares += share_of(queries, idf, scope.index.tokens_of(entry_ids, name), bounds)
    return shares


def _merged(name: str, weight: float, found: Sequence[Candidates], depth: int) -> IndexList:
    """Merge the scopes' lists into one; ties go to the smaller entry id."""
    if not found:
        nothing = np.zeros(0, np.int64)
        return IndexList(name, weight, nothing, nothing, nothing, nothing, np.zeros(0))
    if len(found) == 1:
        (one,) = found
        return IndexList(
            name,
            weight,
            one.entry_ids[:depth],
            one.document_ids[:depth],
            one.chunk_indexes[:depth],
            one.levels[:depth],
            one.scores[:depth].astype(np.float64),
        )
    entry_ids = np.concatenate([one.entry_ids for one in found])
    raw = np.concatenate([one.scores for one in found]).astype(np.float64)
    order = np.lexsort((entry_ids, -raw))[:depth]
    return IndexList(
        name,
        weight,
        entry_ids[order],
        np.concatenate([one.document_ids for one in found])[order],
        np.concatenate([one.chunk_indexes for one in found])[order],
        np.concatenate([one.levels for one in found])[order],
        raw[order],
    )
