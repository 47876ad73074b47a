"""BM25 over several fields as over one text, in which each word counts as much as its field does.

This is the simple BM25F of Robertson, Zaragoza and Taylor (2004): frequencies are added up over the
fields before they saturate, so that a word that stands in two fields does not count twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.local.delta import Delta
from ragkit.indexes.local.keyword import Bm25Parameters, Totals
from ragkit.indexes.local.segment import Segment
from ragkit.indexes.rows import Bools, Ids
from ragkit.types import Field

JOINED = Bm25Parameters(k1=2.5, b=0.05)
"""Fields that repeat each other saturate later, and say little by how long they are."""


class BM25F:
    """Scores of a segment's and a delta's rows by the weighted words of several fields."""

    def __init__(
        self,
        segment: Segment,
        delta: Delta,
        alive: Bools,
        weights: Sequence[tuple[Field, float]],
        parameters: Bm25Parameters = JOINED,
    ) -> None:
        """Take how much a word counts in each field; ``alive`` (n,) are the segment's live rows."""
        self._segment, self._delta, self._alive = segment, delta, alive
        self._weights = [(name, weight) for name, weight in weights if weight]
        base, added = np.zeros(len(segment)), np.zeros(len(delta))
        for name, weight in self._weights:
            if name in segment.keywords:
                base += weight * segment.keywords[name].column.lengths
            if name in delta.rows.tokens:
                added += weight * delta.rows.tokens[name].lengths
        filled = np.concatenate([base[alive], added])
        filled = filled[filled > 0]
        average = float(filled.mean()) if len(filled) else 1.0
        self._totals = Totals(len(filled), round(float(filled.sum())))
        self._norms = tuple(
            (parameters.k1 * (1 - parameters.b + parameters.b * one / average)).astype(np.float32)
            for one in (base, added)
        )

    def add_scores(
        self,
        into: tuple[NDArray[np.float32], NDArray[np.float32]],
        token_ids: Ids,
        weights: NDArray[np.float32],
    ) -> None:
        """Add each token's scores, times its weight, to the sums of both parts' rows."""
        known = {name: index.places(token_ids) for name, index in self._segment.keywords.items()}
        counts = tuple(np.zeros(len(one), np.float32) for one in into)
        for number, (token, weight) in enumerate(zip(token_ids, weights, strict=True)):
            for name, factor in self._weights:
                if name in known and known[name][1][number]:
                    index, place = self._segment.keywords[name], int(known[name][0][number])
                    _add(counts[0], *index.counts_at(place), factor)
                _add(counts[1], *self._delta.counts_of(name, int(token)), factor)
            counts[0][~self._alive] = 0.0
            rows_of = [np.flatnonzero(one > 0) for one in counts]
            idf = self._totals.idf(np.array([sum(map(len, rows_of))]))[0]
            for rows, count, norms, sums in zip(rows_of, counts, self._norms, into, strict=True):
                here = count[rows]
                sums[rows] += weight * idf * (here / (here + norms[rows]))
                count.fill(0.0)


def _add(
    counts: NDArray[np.float32], rows: NDArray[Any], found: NDArray[np.float32], factor: float
) -> None:
    np.add.at(counts, rows, found * np.float32(factor))
