"""Several vectors a chunk: hits of contexts and questions are mapped back to their chunk.

Everything here is a function of values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.options import QuestionMerge
from ragkit.retrieval.proximity import Scores
from ragkit.types import LEVEL_CODES, Level


@dataclass(frozen=True, slots=True)
class IndexList:
    """What one index found for a query, best first: one value an entry in each column (n,).

    ``weight`` says how much it counts beside the other lists. ``levels`` holds level codes. Raw
    scores are ``cosines``, or comparable only within the list. ``exact`` returns that index's own
    scores of any entries, found or not; 0 for those that it does not hold.
    """

    name: str
    weight: float
    entry_ids: NDArray[np.int64]
    document_ids: NDArray[np.int64]
    chunk_indexes: NDArray[Any]
    levels: NDArray[Any]
    raw: Scores
    cosines: bool = False
    exact: Callable[[NDArray[np.int64]], Scores] | None = None

    def __len__(self) -> int:
        """How many entries it found."""
        return len(self.entry_ids)


def by_chunk(
    found: IndexList, heads: NDArray[np.int64], merge: QuestionMerge, rrf_k: int, depth: int
) -> IndexList:
    """Keep one hit a chunk, under the id of the chunk's own entry; best first.

    ``heads`` (n,) are those ids. By BEST a chunk has the rank and the score of its best hit; by
    SUM its score is the sum of ``1 / (rrf_k + rank)`` over its hits, and decides its rank. The
    level says what was found best, where that is one of the chunk's questions.
    """
    distinct, first, group = np.unique(heads, return_index=True, return_inverse=True)
    raw = found.raw[first]
    if merge is QuestionMerge.SUM:
        raw = np.zeros(len(distinct))
        np.add.at(raw, group.reshape(-1), 1.0 / (rrf_k + 1.0 + np.arange(len(heads))))
        order = np.lexsort((distinct, -raw))
    else:
        order = np.argsort(first, kind="stable")
    order = order[:depth]
    levels = found.levels[first]
    levels = np.where(levels == LEVEL_CODES[Level.CONTEXT], LEVEL_CODES[Level.CHUNK], levels)
    return replace(
        found,
        entry_ids=distinct[order],
        document_ids=found.document_ids[first][order],
        chunk_indexes=found.chunk_indexes[first][order],
        levels=levels[order],
        raw=raw[order],
    )
