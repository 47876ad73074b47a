"""What was removed from a segment since it was built: its word statistics leave it out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.local.keyword import KeywordIndex, Totals
from ragkit.indexes.rows import Ids, TokenColumn
from ragkit.types import Field


@dataclass(frozen=True, slots=True)
class Tombstones:
    """Rows of the segment that are no longer to be found, and what they held."""

    rows: Ids
    totals: Mapping[Field, Totals] = field(default_factory=dict)
    tokens: Mapping[Field, tuple[NDArray[np.uint32], Ids]] = field(default_factory=dict)

    @classmethod
    def empty(cls) -> Tombstones:
        """Return none."""
        return cls(np.zeros(0, np.int64))

    def document_frequencies(self, name: Field, token_ids: Ids) -> Ids:
        """Give in how many removed rows each token stood."""
        known, counts = self.tokens.get(name, (np.zeros(0, np.uint32), np.zeros(0, np.int64)))
        if not len(known):
            return np.zeros(len(token_ids), np.int64)
        places = np.minimum(np.searchsorted(known, token_ids), len(known) - 1)
        return np.where(known[places] == token_ids, counts[places], 0)

    def with_rows(self, rows: Ids, keywords: Mapping[Field, KeywordIndex]) -> Tombstones:
        """Count more rows of the segment as removed; ``keywords`` are its indexes."""
        if not len(rows):
            return self
        totals = dict(self.totals)
        tokens = dict(self.tokens)
        for name, index in keywords.items():
            column = index.column.take(rows)
            before = totals.get(name, Totals(0, 0))
            with_tokens = int(np.count_nonzero(column.lengths))
            totals[name] = Totals(before.rows + with_tokens, before.tokens + len(column.flat))
            tokens[name] = _counted(column, tokens.get(name))
        return Tombstones(np.union1d(self.rows, rows), totals, tokens)


def _counted(
    column: TokenColumn, before: tuple[NDArray[np.uint32], Ids] | None
) -> tuple[NDArray[np.uint32], Ids]:
    """Count in how many rows each token stands, added to an earlier count."""
    rows = np.repeat(np.arange(len(column), dtype=np.uint64), column.lengths)
    pairs = np.unique((column.flat.astype(np.uint64) << np.uint64(32)) | rows)
    tokens = (pairs >> np.uint64(32)).astype(np.uint32)
    counts = np.ones(len(tokens), np.int64)
    if before is not None:
        tokens = np.concatenate([before[0], tokens])
        counts = np.concatenate([before[1], counts])
    unique, places = np.unique(tokens, return_inverse=True)
    summed = np.zeros(len(unique), np.int64)
    np.add.at(summed, places.reshape(-1), counts)
    return unique, summed
