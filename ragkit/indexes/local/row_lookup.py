"""Finding the rows of entries by their ids."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.rows import Bools, Ids, positions_in

_WIDEST = 8


@dataclass(frozen=True)
class RowLookup:
    """The rows of ``entry_ids`` int64 (n,), which ascend.

    A table has the row of each id from the first to the last; where these are more than eight times
    as many as the entries, ids are searched for.
    """

    entry_ids: Ids

    def find(self, entry_ids: Ids) -> tuple[Ids, Bools]:
        """Return the rows of any ids, (m,), and which of them there are; 0 for those missing."""
        if self._table is None:
            return positions_in(self.entry_ids, entry_ids)
        rows: Ids = self._in_table(self._table, entry_ids).astype(np.int64)
        present: Bools = rows < len(self.entry_ids)
        rows *= present
        return rows, present

    def mask(self, entry_ids: Ids) -> Bools:
        """Return which rows are those of some ids, bool (n,)."""
        count = len(self.entry_ids)
        mask = np.zeros(count + 1, np.bool_)
        if self._table is None:
            rows, present = self.find(entry_ids)
            mask[rows[present]] = True
        else:
            mask[self._in_table(self._table, entry_ids)] = True
        return mask[:count]

    def _in_table(self, table: NDArray[np.int32], entry_ids: Ids) -> NDArray[np.int32]:
        rows: NDArray[np.int32] = table.take(entry_ids - (self.entry_ids[0] - 1), mode="clip")
        return rows

    @cached_property
    def _table(self) -> NDArray[np.int32] | None:
        """The row of each id from before the first to after the last; n where there is none."""
        ids, count = self.entry_ids, len(self.entry_ids)
        if not count or int(ids[-1] - ids[0]) >= _WIDEST * count:
            return None
        table = np.full(int(ids[-1] - ids[0]) + 3, count, np.int32)
        table[ids - (ids[0] - 1)] = np.arange(count, dtype=np.int32)
        return table
