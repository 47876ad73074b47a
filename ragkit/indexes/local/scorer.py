"""What a question's words say of every row of a segment and of what was added to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.local.bm25f import BM25F
from ragkit.indexes.local.keyword import Totals
from ragkit.indexes.local.parts import IndexParts
from ragkit.indexes.rows import Ids
from ragkit.types import Field

WordScores: TypeAlias = tuple[NDArray[np.float32], NDArray[np.float32]]
"""The scores of a segment's rows (n,) and of a delta's (m,); 0 where no word stands."""


class BM25Scorer:
    """Scores by BM25 over what is live; of several fields, words are counted over all of them.

    Rows of the segment keep the length normalisation of the time it was built.
    """

    def __init__(self, parts: IndexParts) -> None:
        self._base = parts.base
        self._delta = parts.delta
        self._removed = parts.tombstones
        self._alive = parts.alive
        self._joined: dict[tuple[tuple[Field, float], ...], BM25F] = {}

    def scores(self, query: Sequence[int], field_weights: Mapping[Field, float]) -> WordScores:
        """Give the score of every row; a token that stands twice in the question counts twice."""
        token_ids, weights = _counted(query)
        base = np.zeros(len(self._base), np.float32)
        delta = np.zeros(len(self._delta), np.float32)
        named = tuple(sorted((name, weight) for name, weight in field_weights.items() if weight))
        if len(named) == 1:
            ((name, weight),) = named
            self._add_field(name, token_ids, weights * np.float32(weight), base, delta)
        elif named:
            if named not in self._joined:
                self._joined[named] = BM25F(self._base, self._delta, self._alive, named)
            self._joined[named].add_scores((base, delta), token_ids, weights)
        base[self._removed.rows] = 0.0
        return base, delta

    def idf(self, name: Field, token_ids: Ids) -> NDArray[np.float32]:
        """Give the inverse document frequency of tokens among the live rows."""
        return self._idf(name, token_ids)[0]

    def _add_field(
        self,
        name: Field,
        token_ids: Ids,
        weights: NDArray[np.float32],
        base: NDArray[np.float32],
        delta: NDArray[np.float32],
    ) -> None:
        """Add the scores by one field alone."""
        index = self._base.keywords.get(name)
        if self._changed:
            idf, ratio = self._idf(name, token_ids)
            if name in self._norms:
                self._delta.add_scores(delta, name, token_ids, weights * idf, self._norms[name])
            weights = weights * ratio
        if index is not None:
            index.add_scores(base, token_ids, weights)

    def _idf(self, name: Field, token_ids: Ids) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Give the live idf of tokens, and its ratio to that in the segment's scores."""
        index = self._base.keywords.get(name)
        frozen = index.document_frequencies(token_ids) if index else np.zeros_like(token_ids)
        if index and not self._changed:
            return index.totals.idf(frozen), np.ones(len(token_ids), np.float32)
        added = self._delta.document_frequencies(name, token_ids)
        live = frozen + added - self._removed.document_frequencies(name, token_ids)
        idf = self._totals(name).idf(live)
        then = index.totals.idf(frozen) if index else idf
        return idf, np.where(frozen > 0, idf / np.where(then > 0, then, 1), 1).astype(np.float32)

    def _totals(self, name: Field) -> Totals:
        """Count the live rows and tokens of a field."""
        index = self._base.keywords.get(name)
        base = index.totals if index else Totals(0, 0)
        gone = self._removed.totals.get(name, Totals(0, 0))
        new = self._delta.totals(name)
        return Totals(base.rows - gone.rows + new.rows, base.tokens - gone.tokens + new.tokens)

    @cached_property
    def _norms(self) -> dict[Field, NDArray[np.float32]]:
        """The length normalisation of the delta's rows, by the live average length."""
        return {
            name: self._totals(name).norms(column.lengths, self._base.parameters)
            for name, column in self._delta.rows.tokens.items()
            if len(column.flat)
        }

    @property
    def _changed(self) -> bool:
        """Whether anything came or went since the segment was built."""
        return bool(len(self._removed.rows) or len(self._delta))


def _counted(query: Sequence[int]) -> tuple[Ids, NDArray[np.float32]]:
    """Give the distinct tokens of a question and how often each stands in it.

    They stay in the order of the question: sums must not depend on how ids were given out.
    """
    counts: dict[int, int] = {}
    for token in query:
        counts[token] = counts.get(token, 0) + 1
    ids = np.fromiter(counts, np.int64, len(counts))
    return ids, np.fromiter(counts.values(), np.float32, len(counts))
