"""What an index says of its entries: those that were found, their scores, and which may be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.rows import Bools, Ids


@dataclass(frozen=True, slots=True)
class Candidates:
    """What one index found for one question, best first, ties by entry id.

    All arrays have one value a candidate. ``levels`` holds level codes.
    """

    entry_ids: Ids
    document_ids: Ids
    chunk_indexes: NDArray[np.int32]
    levels: NDArray[np.int8]
    scores: NDArray[np.float32]

    def __len__(self) -> int:
        """How many were found."""
        return len(self.entry_ids)


@dataclass(frozen=True, slots=True)
class WordScores:
    """What a question's words say of each row of one ``CollectionIndex``; of no use with another.

    ``base`` float32 (n,) for the segment's rows, ``delta`` (m,) for those added since; 0 where
    no word stands.
    """

    base: NDArray[np.float32]
    delta: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EntryMask:
    """Which entries of one ``CollectionIndex`` value may be found; of no use with another."""

    base: Bools
    delta: Bools

    @property
    def count(self) -> int:
        """How many entries it lets through, removed ones included."""
        return int(np.count_nonzero(self.base) + np.count_nonzero(self.delta))

    def __and__(self, other: EntryMask) -> EntryMask:
        """Let through what both let through."""
        return EntryMask(self.base & other.base, self.delta & other.delta)
