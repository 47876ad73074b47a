"""Which documents of a local index have which words, and where: what names of documents need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.rows import Bools, Ids
from ragkit.types import LEVEL_CODES, Field, Level

if TYPE_CHECKING:
    from ragkit.indexes.local.live_rows import LiveRows

_COMMON = 16_000
_CHUNK = LEVEL_CODES[Level.CHUNK]
_NO_ROWS = np.zeros(0, np.int64)


class DocumentWords:
    """The documents of one immutable index by their words (``EntryIndex`` says what each means)."""

    def __init__(self, index: LiveRows) -> None:
        self._index = index

    def holders(self, token_ids: Sequence[int], documents: Ids, fields: Sequence[Field]) -> Bools:
        """Return which documents have each token in one of the fields."""
        holding = np.zeros((len(token_ids), len(documents)), np.bool_)
        numbers = np.array(token_ids, np.int64)
        columns, bounds = self._runs_of(documents)
        # Of the type of the rows searched, which would all be copied otherwise.
        bounds = bounds.astype(np.int32)
        for field in fields:
            keywords = self._index.base.keywords.get(field)
            of_tokens = keywords.rows_with(numbers) if keywords else []
            for number, rows in enumerate(of_tokens):
                firsts, lasts = rows.searchsorted(bounds)
                present = lasts > firsts
                for run in (
                    np.flatnonzero(present).tolist() if len(self._index.tombstones.rows) else ()
                ):
                    present[run] = self._index.alive[rows[firsts[run] : lasts[run]]].any()
                holding[number, columns[present]] = True
            for number, token in enumerate(token_ids if len(self._index.delta) else ()):
                added, _counts = self._index.delta.counts_of(field, token)
                holding[number] |= np.isin(documents, self._index.delta.rows.document_ids[added])
        return holding

    def openings(self, token_ids: Sequence[int], least: int) -> list[Ids]:
        """Return the documents that open with each token."""
        if self._longest < least:
            return [_NO_ROWS] * len(token_ids)
        return [
            self._long(np.unique(documents[places == 0]), least)
            for documents, places in self._having(token_ids, Field.TEXT)
        ]

    def throughout(self, token_ids: Sequence[int], field: Field, least: int) -> list[Ids]:
        """Return the documents that have each token in every chunk."""
        if self._longest < least:
            return [_NO_ROWS] * len(token_ids)
        throughout = []
        for documents, _places in self._having(token_ids, field):
            holding, counts = np.unique(documents, return_counts=True)
            chunks = self._sizes[1][np.searchsorted(self._sizes[0], holding)]
            throughout.append(self._long(holding[counts == chunks], least))
        return throughout

    def _long(self, documents: Ids, least: int) -> Ids:
        sizes = self._sizes[1][np.searchsorted(self._sizes[0], documents)]
        return documents[sizes >= least]

    def spread(self, token_ids: Sequence[int]) -> list[int]:
        """Return how many documents have each token."""
        return [_distinct_count(of_token) for of_token, _ in self._having(token_ids, Field.TEXT)]

    def _having(
        self, token_ids: Sequence[int], field: Field
    ) -> Iterator[tuple[Ids, NDArray[np.int32]]]:
        """Yield for each token its live entries' documents and the places of their chunks."""
        keywords, of_delta = self._index.base.keywords.get(field), self._index.delta.rows
        of_tokens = keywords.rows_with(np.array(token_ids, np.int64)) if keywords else []
        for number, token in enumerate(token_ids):
            rows: NDArray[Any] = of_tokens[number] if of_tokens else _NO_ROWS
            if len(rows) > _COMMON:
                rows = rows[:0]
            if len(self._index.tombstones.rows):
                rows = rows[self._index.alive[rows]]
            documents, places = (
                self._index.base.document_ids[rows],
                self._index.base.chunk_indexes[rows],
            )
            if len(self._index.delta):
                added = self._index.delta.counts_of(field, token)[0]
                documents = np.concatenate([documents, of_delta.document_ids[added]])
                places = np.concatenate([places, of_delta.chunk_indexes[added]])
            yield documents, places

    @property
    def documents(self) -> int:
        """How many documents its entries are of."""
        return len(self._sizes[0])

    @cached_property
    def _sizes(self) -> tuple[Ids, Ids]:
        """The documents, ascending, and how many chunks each has."""
        runs = self._index.runs
        own = (self._index.base.levels <= _CHUNK) & self._index.alive
        chunks = np.add.reduceat(own, runs.starts, dtype=np.int64) if len(own) else runs.starts
        chunks = np.concatenate([chunks, self._index.delta.rows.levels <= _CHUNK])
        of_runs = np.concatenate([runs.documents, self._index.delta.rows.document_ids])
        documents, group = np.unique(of_runs[chunks > 0], return_inverse=True)
        sizes = np.bincount(group.reshape(-1), chunks[chunks > 0], len(documents))
        return documents, sizes.astype(np.int64)

    @cached_property
    def _longest(self) -> int:
        """How many chunks the longest document has."""
        return int(self._sizes[1].max(initial=0))

    def _runs_of(self, documents: Ids) -> tuple[Ids, Ids]:
        """Return the runs of some documents: the document of each by its place, and its bounds."""
        of_runs, order = self._documents_of_runs
        firsts, lasts = (np.searchsorted(of_runs, documents, side) for side in ("left", "right"))
        runs = [order[first:last] for first, last in zip(firsts, lasts, strict=True)]
        columns = np.repeat(np.arange(len(documents)), lasts - firsts)
        chosen = np.concatenate([order[:0], *runs])
        every = self._index.runs
        return columns, np.stack([every.starts[chosen], every.ends[chosen]])

    @cached_property
    def _documents_of_runs(self) -> tuple[Ids, Ids]:
        """The documents of ``runs``, ascending, and the numbers of the runs in that order."""
        documents = self._index.runs.documents
        order = np.argsort(documents, kind="stable")
        return documents[order], order


def _distinct_count(ids: Ids) -> int:
    """Count different ids; where they ascend, as those of a segment mostly do, without sorting."""
    steps = np.diff(ids)
    if (steps < 0).any():
        return len(np.unique(ids))
    return int(np.count_nonzero(steps)) + bool(len(ids))
