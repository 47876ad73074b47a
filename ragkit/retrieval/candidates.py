"""Candidates: what the indexes of the asked collections find, as ranked lists of hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.collection import Candidates, CollectionIndex, EntryMask
from ragkit.results import Hit, Mode, SearchOptions
from ragkit.retrieval.fusion import IndexList
from ragkit.types import LEVEL_CODES, Field

FIELD_WEIGHTS: Mapping[Field, float] = {
    Field.TEXT: 1.0,
    Field.CONTEXT: 0.5,
    Field.KEYWORDS: 1.0,
    Field.QUESTIONS: 0.5,
}
"""How much a word counts in each field of the keyword index."""

_LEVELS = {code: level for level, code in LEVEL_CODES.items()}


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


def vector_list(
    scopes: Sequence[Scope], asked: Asked, options: SearchOptions, depth: int
) -> IndexList:
    """The entries whose vectors are most like the question's, over all scopes."""
    found: list[Candidates] = []
    if asked.vector is not None and asked.vector.any():
        query = asked.vector[None, :]
        for scope in scopes:
            found += scope.index.vector_candidates(query, depth, scope.mask)
    weight = options.vector_weight if options.mode is Mode.HYBRID else 1.0
    return IndexList("vector", weight, _hits(found, depth))


def keyword_list(
    scopes: Sequence[Scope], asked: Asked, options: SearchOptions, depth: int
) -> IndexList:
    """The entries with the best BM25 scores for the question's words, over all scopes."""
    found: list[Candidates] = []
    if asked.token_ids:
        for scope in scopes:
            found += scope.index.keyword_candidates(
                [asked.token_ids], FIELD_WEIGHTS, depth, scope.mask
            )
    weight = options.keyword_weight if options.mode is Mode.HYBRID else 1.0
    return IndexList("keyword", weight, _hits(found, depth))


def _hits(found: Sequence[Candidates], depth: int) -> tuple[Hit, ...]:
    """Merge the scopes' lists into one; ties go to the smaller entry id."""
    rows = [
        row
        for one in found
        for row in zip(
            one.scores.tolist(),
            one.entry_ids.tolist(),
            one.document_ids.tolist(),
            one.chunk_indexes.tolist(),
            one.levels.tolist(),
            strict=True,
        )
    ]
    if len(found) > 1:
        rows.sort(key=lambda row: (-row[0], row[1]))
    return tuple(
        Hit(entry_id, document_id, position, _LEVELS[level], rank, score)
        for rank, (score, entry_id, document_id, position, level) in enumerate(
            rows[:depth], start=1
        )
    )
