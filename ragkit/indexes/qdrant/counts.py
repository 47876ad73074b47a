"""What BM25 needs to know of a whole collection: counts that the server gives, kept by version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from qdrant_client import models

from ragkit.indexes.bm25 import Totals
from ragkit.indexes.qdrant.points import WEAK, Row, column_of, count_key
from ragkit.indexes.qdrant.store import Condition, Points, at_least, either, is_
from ragkit.indexes.rows import Ids, positions_in
from ragkit.types import Field

Weights = tuple[tuple[Field, float], ...]
"""How much a token counts in each field; none is 0."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """How many entries have tokens by the weights of some fields, and how long they are.

    No entry is longer than ``longest``.
    """

    rows: int
    average: float
    longest: float


class Counts:
    """Counts over everything that one index holds. Each is asked once."""

    def __init__(self, points: Points) -> None:
        self._points = points
        self._histograms: dict[Field, dict[int, int]] = {}
        self._frequencies: dict[tuple[int, Weights], int] = {}
        self._lengths: dict[Weights, Lengths] = {}

    def histogram(self, field: Field) -> dict[int, int]:
        """Return how many entries have each number of tokens in a field, but for 0."""
        if field not in self._histograms:
            self._histograms[field] = self._points.facet(count_key(field))
        return self._histograms[field]

    def totals(self, field: Field) -> Totals:
        """Count the entries that have tokens in a field, and the tokens."""
        lengths = self.histogram(field)
        tokens = sum(length * entries for length, entries in lengths.items())
        return Totals(sum(lengths.values()), tokens)

    def frequencies(self, token_ids: Sequence[int], weights: Weights) -> Ids:
        """Return how many entries each token counts in by the weights, (m,)."""
        for token in dict.fromkeys(token_ids):
            if (token, weights) not in self._frequencies:
                self._frequencies[token, weights] = self.having(token, weights)
        return np.array([self._frequencies[token, weights] for token in token_ids], np.int64)

    def having(
        self,
        token: int,
        weights: Weights,
        must: Sequence[Condition] = (),
        must_not: Sequence[Condition] = (),
    ) -> int:
        """Count the entries under a filter in which a token counts."""
        adding = [is_(field.value, token) for field, weight in weights if weight > 0]
        if not adding:
            return 0
        count = self._points.count([either(adding), *must], must_not)
        if count and any(weight < 0 for _field, weight in weights):
            rare = [either(adding), self._exceptional(weights, token), *must]
            rows = [Row.of(point.payload or {}) for point in self._points.scroll(rare, must_not)]
            count -= int(np.count_nonzero(counts_in(rows, [token], weights)[:, 0] <= 0))
        return count

    def lengths(self, weights: Weights) -> Lengths:
        """Measure all entries by the weights."""
        if weights not in self._lengths:
            self._lengths[weights] = self._measured(weights)
        return self._lengths[weights]

    def filled(
        self, weights: Weights, must: Sequence[Condition], must_not: Sequence[Condition]
    ) -> int:
        """Count the entries under a filter that have tokens by the weights."""
        adding = [at_least(count_key(field), 1) for field, weight in weights if weight > 0]
        if not adding:
            return 0
        count = self._points.count([either(adding), *must], must_not)
        return count - sum(adds for adds, _length in self._without(weights, must, must_not))

    def _measured(self, weights: Weights) -> Lengths:
        rows = self.filled(weights, (), ())
        total = sum(weight * self.totals(field).tokens for field, weight in weights)
        total -= sum(length for _adds, length in self._without(weights, (), ()))
        longest = sum(
            weight * max(self.histogram(field), default=0)
            for field, weight in weights
            if weight > 0
        )
        return Lengths(rows, total / rows if rows else 1.0, longest)

    def _without(
        self, weights: Weights, must: Sequence[Condition], must_not: Sequence[Condition]
    ) -> list[tuple[bool, float]]:
        """Return the lengths of entries that are not above 0, and whether any field adds to it."""
        if all(weight > 0 for _field, weight in weights):
            return []
        rare = [self._exceptional(weights), *must]
        corrections = []
        for point in self._points.scroll(rare, must_not):
            row = Row.of(point.payload or {})
            length = sum(weight * len(row.tokens.get(field, ())) for field, weight in weights)
            if length <= 0:
                adds = any(field in row.tokens for field, weight in weights if weight > 0)
                corrections.append((adds, length))
        return corrections

    def _exceptional(self, weights: Weights, token: int | None = None) -> Condition:
        """Return the condition of the entries in which a token, or any, may count less than 0.

        Words of a title occur twice in the text as well, but for those that are noted.
        """
        of_fields = dict(weights)
        taking = [field for field, weight in weights if weight < 0]
        if taking == [Field.TITLE] and 2 * of_fields.get(Field.TEXT, 0) > -of_fields[Field.TITLE]:
            if token is not None:
                return is_(WEAK, token)
            empty = models.IsEmptyCondition(is_empty=models.PayloadField(key=WEAK))
            return models.Filter(must_not=[empty])
        if token is not None:
            return either([is_(field.value, token) for field in taking])
        return either([at_least(count_key(field), 1) for field in taking])


def counts_in(
    rows: Sequence[Row], token_ids: Sequence[int], weights: Weights
) -> NDArray[np.float32]:
    """Return how much each token counts in each row over the fields, (n, m)."""
    tokens = np.array(token_ids, np.int64)
    order = np.argsort(tokens)
    sums = np.zeros((len(rows), len(tokens)), np.float32)
    for field, weight in weights:
        column = column_of(rows, field)
        owners = np.repeat(np.arange(len(rows)), column.lengths)
        places, present = positions_in(tokens[order], column.flat)
        keys = owners[present] * len(tokens) + order[places[present]]
        counts = np.bincount(keys, minlength=sums.size).reshape(sums.shape)
        sums += counts.astype(np.float32) * np.float32(weight)
    return sums
