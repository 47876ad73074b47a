"""Which entries belong to which chunk: its own entry, and those that directly follow it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.rows import Ids, level_code
from ragkit.types import Level


class Families:
    """Finds chunks' own rows and what belongs to them. Rows are ordered by entry id.

    All entries of a chunk come and go together, and their ids follow one another.
    """

    def __init__(self, levels: NDArray[Any]) -> None:
        """Take the level codes of all rows, (n,)."""
        self._size = len(levels)
        self._heads = np.flatnonzero(levels == level_code(Level.CHUNK)).astype(np.int64)
        self._alone = len(self._heads) in (0, self._size)

    @property
    def chunks(self) -> int:
        """How many chunks there are; every row is one where there are no chunks."""
        return len(self._heads) or self._size

    def heads(self, rows: Ids) -> Ids:
        """The own row of the chunk that each row belongs to, (m,)."""
        if self._alone:
            return rows
        at = np.searchsorted(self._heads, rows, side="right") - 1
        return np.where(at >= 0, self._heads[np.maximum(at, 0)], rows)

    def members(self, rows: Ids) -> tuple[Ids, Ids]:
        """All rows of chunks given by their own rows (m,), and whose place in ``rows`` each has."""
        if self._alone or not len(rows):
            return rows, np.arange(len(rows), dtype=np.int64)
        at = np.searchsorted(self._heads, rows)
        ends = np.append(self._heads, self._size)[np.minimum(at + 1, len(self._heads))]
        lengths = np.maximum(ends - rows, 1)
        owners = np.repeat(np.arange(len(rows), dtype=np.int64), lengths)
        first = np.concatenate(([0], np.cumsum(lengths)[:-1]))
        return rows[owners] + np.arange(len(owners)) - first[owners], owners
