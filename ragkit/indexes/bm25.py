"""BM25 by its statistics: what every backend computes in the same way from the same counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.protocol import WHOLE_COUNTS
from ragkit.indexes.rows import Ids, TokenColumn
from ragkit.types import Field


@dataclass(frozen=True, slots=True)
class Bm25Parameters:
    """``k1``: how soon repetition stops counting; ``b``: how much length counts."""

    k1: float = 1.2
    b: float = 0.75


BM25F_PARAMETERS = Bm25Parameters(k1=2.5, b=0.05)
"""Fields that repeat each other saturate later, and say little by how long they are."""


FIELD_WEIGHTS: Mapping[Field, float] = {
    Field.TEXT: 1.75,
    Field.TITLE: -2.5,
    Field.CONTEXT: 0.5,
    Field.KEYWORDS: 2.0,
    Field.QUESTIONS: 0.75,
    Field.TOPIC: 0.5,
}
"""How much a word counts in each field, where a model wrote something.

A title's words occur in the text as well, twice: together they count 1.
"""


@dataclass(frozen=True, slots=True)
class Totals:
    """The statistics of a whole field. Rows without a token in it do not count."""

    rows: int
    tokens: int

    def norms(self, lengths: Ids, parameters: Bm25Parameters) -> NDArray[np.float32]:
        """Return what is added to the term frequency for rows of these lengths."""
        average = self.tokens / self.rows if self.rows else 1.0
        return norms_of(lengths, average, parameters)

    def idf(self, document_frequencies: NDArray[Any]) -> NDArray[np.float32]:
        """Return the inverse document frequency of tokens, by Lucene's formula."""
        return idf_of(self.rows, document_frequencies)


def idf_of(rows: int | Ids, document_frequencies: NDArray[Any]) -> NDArray[np.float32]:
    """Return the inverse document frequency among so many rows, by Lucene's formula."""
    rarity = (rows - document_frequencies + 0.5) / (document_frequencies + 0.5)
    idf: NDArray[np.float32] = np.log1p(rarity).astype(np.float32)
    return idf


def norms_of(
    lengths: NDArray[Any], average: float, parameters: Bm25Parameters
) -> NDArray[np.float32]:
    """Return what is added to the term frequency for rows of these lengths."""
    norms: NDArray[np.float64] = lengths / average
    # In place: each array of so many rows is new memory, which takes longer than the sums.
    norms *= parameters.b
    norms += 1 - parameters.b
    norms *= parameters.k1
    return norms.astype(np.float32)


def totals_of(column: TokenColumn) -> Totals:
    """Count the rows that have tokens, and the tokens."""
    return Totals(int(np.count_nonzero(column.lengths)), len(column.flat))


def mixed(
    rows: int, frequencies: Ids, passing: int, held: Ids
) -> tuple[Totals, NDArray[np.float64]]:
    """Return the statistics of what passes a filter, with the whole as some rows more.

    ``frequencies`` (m,) of tokens among all ``rows``, ``held`` among those that pass.
    """
    share = WHOLE_COUNTS / max(rows, 1)
    return Totals(passing + WHOLE_COUNTS, 0), held + share * frequencies
