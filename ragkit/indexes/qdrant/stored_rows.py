"""The rows of one collection at one level on a server, and what it tells of them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from ragkit.indexes.qdrant.counts import Counts
from ragkit.indexes.qdrant.points import ENTRY, Row
from ragkit.indexes.qdrant.store import Points, any_of

_MOST_ROWS = 20_000


class StoredRows:
    """What a server holds of a collection at one version. What it was told once, it keeps."""

    def __init__(self, points: Points) -> None:
        self.points = points
        self.counts = Counts(points)
        self._rows: dict[int, Row | None] = {}

    @cached_property
    def entries(self) -> int:
        """How many entries it holds."""
        return self.points.count()

    def rows(self, entry_ids: Iterable[int]) -> dict[int, Row]:
        """Return those of some entries that the index holds, by their ids."""
        entries = list(dict.fromkeys(entry_ids))
        if len(self._rows) > _MOST_ROWS:
            self._rows = {}
        cached = self._rows
        missing = [entry for entry in entries if entry not in cached]
        if missing:
            points = self.points.scroll([any_of(ENTRY, missing)])
            fetched = {row.entry: row for row in (Row.of(each.payload or {}) for each in points)}
            cached.update({entry: fetched.get(entry) for entry in missing})
        return {entry: row for entry in entries if (row := cached.get(entry)) is not None}
