"""Candidates: what the indexes of the asked collections find, as ranked lists and exact scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.collection import Candidates, CollectionIndex, EntryMask
from ragkit.results import Fusion, SearchOptions
from ragkit.retrieval.fusion import Fused, IndexList, Scores, fuse, union
from ragkit.retrieval.ranking import PHRASE_TOP, phrase_shares, with_documents, with_phrases
from ragkit.types import Field, Level

FIELD_WEIGHTS: Mapping[Field, float] = {
    Field.TEXT: 1.0,
    Field.CONTEXT: 0.5,
    Field.KEYWORDS: 1.0,
    Field.QUESTIONS: 0.5,
}
"""How much a word counts in each field of the keyword index."""


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


def vector_list(scopes: Sequence[Scope], asked: Asked, weight: float, depth: int) -> IndexList:
    """The entries whose vectors are most like the question's, over all scopes."""
    found: list[Candidates] = []
    if asked.vector is not None and asked.vector.any():
        query = asked.vector[None, :]
        for scope in scopes:
            found += scope.index.vector_candidates(query, depth, scope.mask)
    return _merged("vector", weight, found, depth)


def keyword_list(scopes: Sequence[Scope], asked: Asked, weight: float, depth: int) -> IndexList:
    """The entries with the best BM25 scores for the question's words, over all scopes."""
    found: list[Candidates] = []
    if asked.token_ids:
        for scope in scopes:
            found += scope.index.keyword_candidates(
                [asked.token_ids], FIELD_WEIGHTS, depth, scope.mask
            )
    return _merged("keyword", weight, found, depth)


def rank(
    lists: Sequence[IndexList],
    scopes: Sequence[Scope],
    asked: Asked,
    options: SearchOptions,
    level: Level,
) -> Fused:
    """Join what the indexes found.

    When two are joined by weights, each says exactly what it thinks of every candidate, and
    neighbouring words and the rest of the document count too.
    """
    if len(lists) < 2 or options.fusion is not Fusion.WEIGHTED:
        return fuse(lists, options.fusion, options.rrf_k)
    filled = exact_scores(scopes, asked, union(lists))
    fused = fuse(lists, options.fusion, options.rrf_k, filled)
    if level is Level.CHUNK and options.phrase_weight > 0:
        top = fused.order[:PHRASE_TOP]
        shares = phrases_in(scopes, asked, fused.entry_ids[top])
        fused = with_phrases(fused, top, shares, options.phrase_weight)
    return with_documents(fused, options.document_weight)


def exact_scores(
    scopes: Sequence[Scope], asked: Asked, entry_ids: NDArray[np.int64]
) -> dict[str, Scores]:
    """What each index says of entries, whether they are among its best or not."""
    vector = np.zeros(len(entry_ids))
    keyword = np.zeros(len(entry_ids))
    for scope in scopes:
        if asked.vector is not None:
            vector += scope.index.vector_scores_of(asked.vector, entry_ids)
        keyword += scope.index.keyword_scores_of(asked.token_ids, FIELD_WEIGHTS, entry_ids)
    return {"vector": vector, "keyword": keyword}


def phrases_in(scopes: Sequence[Scope], asked: Asked, entry_ids: NDArray[np.int64]) -> Scores:
    """How much of the question stands in entries as neighbouring words, from 0 to 1."""
    shares = np.zeros(len(entry_ids))
    for scope in scopes:
        idf = scope.index.idf(asked.token_ids, Field.TEXT)
        tokens = scope.index.tokens_of(entry_ids, Field.TEXT)
        shares += phrase_shares(asked.token_ids, idf, tokens)
    return shares


def _merged(name: str, weight: float, found: Sequence[Candidates], depth: int) -> IndexList:
    """Merge the scopes' lists into one; ties go to the smaller entry id."""
    if not found:
        nothing = np.zeros(0, np.int64)
        return IndexList(name, weight, nothing, nothing, nothing, nothing, np.zeros(0))
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
