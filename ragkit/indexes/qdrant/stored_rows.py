"""The rows of one collection at one level on a server, and what it tells of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np

from ragkit.indexes.qdrant.counts import Counts
from ragkit.indexes.qdrant.points import DOCUMENT, ENTRY, Row
from ragkit.indexes.qdrant.store import Condition, Points, any_of
from ragkit.indexes.rows import Ids

_MOST_ROWS, _MOST_LISTED = 20_000, 4_000_000
_T = TypeVar("_T")


class StoredRows:
    """What a server holds of a collection at one version. What it was told once, it keeps."""

    def __init__(self, points: Points) -> None:
        self.points = points
        self.counts = Counts(points)
        self._rows: dict[int, Row | None] = {}
        self._told: dict[object, object] = {}
        self._lists: dict[object, Ids] = {}
        self._listed = 0

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

    def kept(self, key: object, ask: Callable[[], _T]) -> _T:
        """Return what was told under a key, or ask."""
        if key not in self._told:
            self._told[key] = ask()
        answer: _T = self._told[key]  # type: ignore[assignment]
        return answer

    def documents_under(self, key: object, conditions: Sequence[Condition]) -> Ids:
        """Return the documents of the entries under conditions, ascending.

        The lists are kept by ``key``: those of common words are long, and soon known.
        """
        documents = self._lists.get(key)
        if documents is None:
            documents = np.array(sorted(self.points.facet(DOCUMENT, conditions)), np.int64)
            if self._listed > _MOST_LISTED:
                self._lists, self._listed = {}, 0
            self._lists[key] = documents
            self._listed += len(documents)
        return documents
