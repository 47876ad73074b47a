"""What was added since a segment was built: small, and cheap to make anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.local.keyword import Postings, Totals, totals_of
from ragkit.indexes.local.vector import VectorIndex
from ragkit.indexes.rows import Bools, EntryRows, Ids, join
from ragkit.types import Field

_ROW_BITS = np.uint64(32)


@dataclass(frozen=True, slots=True)
class Delta:
    """Entries in the order of their ids, their vectors, and their postings a field. Immutable.

    Adding to it copies its arrays (some megabytes at most) but sorts only what is new.
    """

    rows: EntryRows
    vectors: VectorIndex
    postings: Mapping[Field, Postings]

    @classmethod
    def empty(cls, dimensions: int) -> Delta:
        """Make one without entries."""
        rows = EntryRows.empty(dimensions)
        return cls(rows, VectorIndex.build(rows.vectors, rows.has_vector), {})

    def __len__(self) -> int:
        """How many entries it holds."""
        return len(self.rows)

    def totals(self, field: Field) -> Totals:
        """Count its rows and tokens in a field."""
        column = self.rows.tokens.get(field)
        return totals_of(column) if column is not None else Totals(0, 0)

    def document_frequencies(self, field: Field, token_ids: Ids) -> Ids:
        """Give in how many of its rows each token stands."""
        bounds = self._bounds(field, token_ids)
        return bounds[1] - bounds[0]

    def without(self, entry_ids: Ids) -> Delta:
        """Give one that lacks those entries."""
        keep = ~np.isin(self.rows.entry_ids, entry_ids)
        if keep.all():
            return self
        renumbered = np.cumsum(keep) - 1
        rows = self.rows.take(np.flatnonzero(keep))
        postings = {
            field: _renumbered(old, keep, renumbered) for field, old in self.postings.items()
        }
        return Delta(rows, VectorIndex.build(rows.vectors, rows.has_vector), postings)

    def with_added(self, added: EntryRows) -> Delta:
        """Give one that has more entries, none of which it holds already."""
        if not len(added):
            return self
        rows = join([self.rows, added])
        postings = dict(self.postings)
        if len(self) and added.entry_ids[0] < self.rows.entry_ids[-1]:
            # Late entries of lower ids move the others: everything is counted again.
            columns = rows.tokens.items()
            postings = {field: Postings.of(column) for field, column in columns}
        else:
            for field, column in added.tokens.items():
                new = Postings.of(column, len(self))
                postings[field] = _merged(postings[field], new) if field in postings else new
        return Delta(rows, VectorIndex.build(rows.vectors, rows.has_vector), postings)

    def add_scores(
        self,
        into: NDArray[np.float32],
        field: Field,
        token_ids: Ids,
        weights: NDArray[np.float32],
        norms: NDArray[np.float32],
    ) -> None:
        """Add BM25 scores to ``into`` (n,); ``weights`` hold idf times the question's weight."""
        starts, ends = self._bounds(field, token_ids)
        postings = self.postings.get(field)
        if postings is None:
            return
        for start, end, weight in zip(starts.tolist(), ends.tolist(), weights, strict=True):
            if start < end:
                rows = (postings.keys[start:end] & np.uint64(0xFFFFFFFF)).astype(np.int64)
                counts = postings.counts[start:end]
                into[rows] += weight * (counts / (counts + norms[rows]))

    def counts_of(self, field: Field, token_id: int) -> tuple[Ids, NDArray[np.float32]]:
        """Give the rows in which a token stands, and how often in each."""
        postings = self.postings.get(field)
        if postings is None:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        starts, ends = self._bounds(field, np.array([token_id], np.int64))
        here = slice(int(starts[0]), int(ends[0]))
        rows = (postings.keys[here] & np.uint64(0xFFFFFFFF)).astype(np.int64)
        return rows, postings.counts[here]

    def _bounds(self, field: Field, token_ids: Ids) -> tuple[Ids, Ids]:
        """Find where each token's postings start and end."""
        postings = self.postings.get(field)
        if postings is None:
            nothing = np.zeros(len(token_ids), np.int64)
            return nothing, nothing
        keys = token_ids.astype(np.uint64)
        one = np.uint64(1)
        starts = np.searchsorted(postings.keys, keys << _ROW_BITS)
        ends = np.searchsorted(postings.keys, (keys + one) << _ROW_BITS)
        return starts.astype(np.int64), ends.astype(np.int64)


def _merged(old: Postings, new: Postings) -> Postings:
    """Merge two ordered sets of postings."""
    places = np.searchsorted(old.keys, new.keys)
    return Postings(
        np.insert(old.keys, places, new.keys), np.insert(old.counts, places, new.counts)
    )


def _renumbered(old: Postings, keep: Bools, renumbered: Ids) -> Postings:
    """Drop rows, and count the others anew; the order stays."""
    rows = old.rows
    kept = keep[rows]
    keys = (old.keys[kept] >> _ROW_BITS << _ROW_BITS) | renumbered[rows[kept]].astype(np.uint64)
    return Postings(keys, old.counts[kept])
