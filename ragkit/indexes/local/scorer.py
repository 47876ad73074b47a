"""BM25 scores of every row of an index, by one field or by several counted together (BM25F)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.local.keyword import Bm25Parameters, Totals
from ragkit.indexes.local.parts import IndexParts
from ragkit.indexes.rows import Ids, positions_in
from ragkit.types import Field

BM25F_PARAMETERS = Bm25Parameters(k1=2.5, b=0.05)
"""Fields that repeat each other saturate later, and say little by how long they are."""

RowScores: TypeAlias = tuple[NDArray[np.float32], NDArray[np.float32]]
"""The scores of a segment's rows (n,) and of a delta's (m,); 0 where no token stands."""


class BM25Scorer:
    """Scores by BM25 over what is live. Safe between threads.

    Rows of the segment keep the length normalisation of the time it was built.
    """

    def __init__(self, parts: IndexParts) -> None:
        self._parts = parts
        self._by_weights: dict[tuple[tuple[Field, float], ...], BM25F] = {}

    def scores(self, query: Sequence[int], field_weights: Mapping[Field, float]) -> RowScores:
        """Return the score of every row; a token that stands twice in the query counts twice."""
        token_ids, counts = _counted(query)
        weights = tuple(sorted(item for item in field_weights.items() if item[1]))
        if len(weights) > 1:
            if weights not in self._by_weights:
                self._by_weights[weights] = BM25F(self._parts, weights)
            return self._by_weights[weights].scores(token_ids, counts)
        if not weights:
            parts = self._parts
            return np.zeros(len(parts.base), np.float32), np.zeros(len(parts.delta), np.float32)
        [(field, weight)] = weights
        base, delta = self._by_field(field, token_ids, counts * np.float32(weight))
        base[self._parts.tombstones.rows] = 0.0
        return base, delta

    def idf(self, field: Field, token_ids: Ids) -> NDArray[np.float32]:
        """Return the inverse document frequency of tokens among the live rows, (m,)."""
        return self._idf(field, token_ids)[0]

    def _by_field(self, field: Field, token_ids: Ids, weights: NDArray[np.float32]) -> RowScores:
        """Return the scores by one field, each token's times its weight."""
        parts = self._parts
        delta = np.zeros(0, np.float32)
        if parts.has_changes:
            delta = np.zeros(len(parts.delta), np.float32)
            idf, ratio = self._idf(field, token_ids)
            if field in self._norms:
                norms = self._norms[field]
                parts.delta.add_scores(delta, field, token_ids, weights * idf, norms)
            weights = weights * ratio
        index = parts.base.keywords.get(field)
        if index is None:
            return np.zeros(len(parts.base), np.float32), delta
        plain = bool(np.all(weights == 1.0))
        return index.scores(token_ids, None if plain else weights), delta

    def _idf(self, field: Field, token_ids: Ids) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the live idf of tokens, and its ratio to that in the segment's scores."""
        parts = self._parts
        index = parts.base.keywords.get(field)
        frozen = index.document_frequencies(token_ids) if index else np.zeros_like(token_ids)
        if index and not parts.has_changes:
            return index.totals.idf(frozen), np.ones(len(token_ids), np.float32)
        added = parts.delta.document_frequencies(field, token_ids)
        live = frozen + added - parts.tombstones.document_frequencies(field, token_ids)
        idf = self._totals(field).idf(live)
        then = index.totals.idf(frozen) if index else idf
        return idf, np.where(frozen > 0, idf / np.where(then > 0, then, 1), 1).astype(np.float32)

    def _totals(self, field: Field) -> Totals:
        """Count the live rows and tokens of a field."""
        index = self._parts.base.keywords.get(field)
        base = index.totals if index else Totals(0, 0)
        gone = self._parts.tombstones.totals.get(field, Totals(0, 0))
        new = self._parts.delta.totals(field)
        return Totals(base.rows - gone.rows + new.rows, base.tokens - gone.tokens + new.tokens)

    @cached_property
    def _norms(self) -> dict[Field, NDArray[np.float32]]:
        """The length normalisation of the delta's rows, by the live average length."""
        return {
            field: self._totals(field).norms(column.lengths, self._parts.base.parameters)
            for field, column in self._parts.delta.rows.tokens.items()
            if len(column.flat)
        }


class BM25F:
    """Scores by the weighted tokens of several fields, counted as those of one text.

    This is the simple BM25F of Robertson, Zaragoza and Taylor (2004): frequencies are added up over
    the fields before they saturate, so that a token in two fields does not count twice.
    """

    def __init__(
        self,
        parts: IndexParts,
        weights: Sequence[tuple[Field, float]],
        parameters: Bm25Parameters = BM25F_PARAMETERS,
    ) -> None:
        """Take how much a token counts in each field."""
        self._parts = parts
        self._weights = weights
        base, delta = np.zeros(len(parts.base)), np.zeros(len(parts.delta))
        for field, weight in weights:
            if field in parts.base.keywords:
                base += weight * parts.base.keywords[field].column.lengths
            if field in parts.delta.rows.tokens:
                delta += weight * parts.delta.rows.tokens[field].lengths
        filled = np.concatenate([base[parts.alive], delta])
        filled = filled[filled > 0]
        average = float(filled.mean()) if len(filled) else 1.0
        self._totals = Totals(len(filled), round(float(filled.sum())))
        self._norms = tuple(
            (parameters.k1 * (1 - parameters.b + parameters.b * lengths / average)).astype(
                np.float32
            )
            for lengths in (base, delta)
        )

    def scores(self, token_ids: Ids, weights: NDArray[np.float32]) -> RowScores:
        """Return the sums over the tokens of their scores, each times its weight."""
        parts = self._parts
        keywords = parts.base.keywords
        located = {
            field: positions_in(index.token_ids, token_ids) for field, index in keywords.items()
        }
        sums = (np.zeros(len(parts.base), np.float32), np.zeros(len(parts.delta), np.float32))
        counts = tuple(np.zeros_like(of_part) for of_part in sums)
        for number, (token, weight) in enumerate(zip(token_ids, weights, strict=True)):
            for field, factor in self._weights:
                if field in located and located[field][1][number]:
                    position = int(located[field][0][number])
                    _add(counts[0], *keywords[field].counts_at(position), factor)
                _add(counts[1], *parts.delta.counts_of(field, int(token)), factor)
            counts[0][~parts.alive] = 0.0
            rows_of = [np.flatnonzero(of_part > 0) for of_part in counts]
            idf = self._totals.idf(np.array([sum(map(len, rows_of))]))[0]
            for rows, count, norms, total in zip(rows_of, counts, self._norms, sums, strict=True):
                frequencies = count[rows]
                total[rows] += weight * idf * (frequencies / (frequencies + norms[rows]))
                count.fill(0.0)
        return sums


def _add(
    counts: NDArray[np.float32], rows: NDArray[Any], of_rows: NDArray[np.float32], factor: float
) -> None:
    np.add.at(counts, rows, of_rows * np.float32(factor))


def _counted(query: Sequence[int]) -> tuple[Ids, NDArray[np.float32]]:
    """Return the distinct tokens of a query and how often each stands in it.

    They stay in the order of the query: sums must not depend on how ids were given out.
    """
    counts: dict[int, int] = {}
    for token in query:
        counts[token] = counts.get(token, 0) + 1
    ids = np.fromiter(counts, np.int64, len(counts))
    return ids, np.fromiter(counts.values(), np.float32, len(counts))
