"""Scores by words of entries whose tokens are at hand, by the counts of the whole collection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.bm25 import BM25F_PARAMETERS, Bm25Parameters, Totals, mixed, norms_of
from ragkit.indexes.qdrant.counts import Counts, Weights, counts_in
from ragkit.indexes.qdrant.points import WAYS, Averages, Row, column_of
from ragkit.indexes.qdrant.store import Condition
from ragkit.indexes.rows import Ids

_SLACK = 1.0001


@dataclass(frozen=True, slots=True)
class Named:
    """The conditions of a filter that name entries, by their ids or those of their documents."""

    must: Sequence[Condition] = ()
    must_not: Sequence[Condition] = ()

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self.must or self.must_not)


@dataclass(frozen=True, slots=True)
class WordQuery:
    """The words of a query as they are scored: how rare each is, and how often it was asked.

    ``way`` names the sparse vector by which candidates are found, if there is one of the weights;
    no entry scores more than ``excess`` times what that says.
    """

    token_ids: Ids
    asked: NDArray[np.float32]
    idf: NDArray[np.float32]
    weights: Weights
    average: float
    parameters: Bm25Parameters
    way: str
    excess: float

    @classmethod
    def of(
        cls,
        counted: Mapping[int, float],
        weights: Weights,
        counts: Counts,
        averages: Averages,
        named: Named,
    ) -> WordQuery | None:
        """Ask the server for the statistics of the words; ``None`` if no entry has any of them."""
        factor = 1.0
        if len(weights) == 1:
            # One field is scored as it is, and then multiplied.
            [(field, factor)] = weights
            weights = ((field, 1.0),)
        frequencies = (
            counts.frequencies(list(counted), weights) if weights else np.zeros(0, np.int64)
        )
        there = [pair for pair, held in zip(counted.items(), frequencies, strict=False) if held]
        if not there:
            return None
        token_ids, asked = zip(*there, strict=True)
        lengths = counts.lengths(weights)
        totals = Totals(lengths.rows, 0)
        held: NDArray[Any] = frequencies[frequencies > 0]
        if named:
            passing = counts.filled(weights, named.must, named.must_not)
            among = [
                counts.having(token, weights, named.must, named.must_not) for token in token_ids
            ]
            totals, held = mixed(lengths.rows, held, passing, np.array(among, np.int64))
        parameters = BM25F_PARAMETERS if len(weights) > 1 else Bm25Parameters()
        way = _way_of(weights)
        excess = 1.0
        if way:
            # Sparse vectors were made by the average of their time.
            most = np.array([lengths.longest])
            then, now = (
                float(norms_of(most, average, parameters)[0])
                for average in (averages.of_way(way), lengths.average)
            )
            excess = max(1.0, then / now) * _SLACK
        return cls(
            np.array(token_ids, np.int64),
            np.array(asked, np.float32) * np.float32(factor),
            totals.idf(held),
            weights,
            lengths.average,
            parameters,
            way,
            excess,
        )

    def scores(self, rows: Sequence[Row]) -> NDArray[np.float32]:
        """Return the exact scores of rows, float32 (n,), in the order of the query's tokens."""
        several = len(self.weights) > 1
        counts = counts_in(rows, self.token_ids.tolist(), self.weights)
        lengths = np.zeros(len(rows))
        for field, weight in self.weights:
            lengths += weight * column_of(rows, field).lengths
        norms = norms_of(lengths, self.average, self.parameters)
        total = np.zeros(len(rows), np.float32)
        for place, (asked, idf) in enumerate(zip(self.asked, self.idf, strict=True)):
            of_token = np.maximum(counts[:, place], np.float32(0.0))
            there = of_token > 0
            saturated = of_token[there] / (of_token[there] + norms[there])
            total[there] += asked * idf * saturated if several else asked * (idf * saturated)
        return total


def _way_of(weights: Weights) -> str:
    """Return the sparse vector that was made by these weights, or an empty string."""
    same = (way for way, (usual, _) in WAYS.items() if tuple(sorted(usual.items())) == weights)
    return next(same, "")
