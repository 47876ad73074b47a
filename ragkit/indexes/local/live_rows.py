"""The rows of one local index that are live: of its segment, and those added since."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.local.segment import Delta, Segment, Tombstones
from ragkit.indexes.rows import (
    Bools,
    ChunkGroups,
    EntryRows,
    Ids,
    RowSlices,
    Runs,
    join,
    positions_in,
)
from ragkit.types import LEVEL_CODES, Field, Level

_SLICE = 8192
_NO_LIMIT = np.iinfo(np.int64).max
_SMALLEST_MERGE = 1000
_MERGE_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class EntryMask:
    """Rows of one ``LiveRows`` that a filter lets through; of no use with another.

    ``base`` bool (n,) for the segment's rows, ``delta`` (m,) for those added since.
    """

    base: Bools
    delta: Bools

    def __and__(self, other: EntryMask) -> EntryMask:
        """Return the rows that both let through."""
        return EntryMask(self.base & other.base, self.delta & other.delta)

    def __invert__(self) -> EntryMask:
        """Return the rows that it does not let through."""
        return EntryMask(~self.base, ~self.delta)


class LiveRows:
    """A segment, ``base``, with the ``delta`` of what was added and ``tombstones`` for the rest.

    Immutable. Values share the segment, so readers keep a whole old value while another one is
    made.
    """

    def __init__(self, base: Segment, delta: Delta, tombstones: Tombstones) -> None:
        self.base = base
        self.delta = delta
        self.tombstones = tombstones

    def locate(self, entry_ids: Ids) -> list[tuple[Ids, Bools]]:
        """Find live entries in the segment, and in the delta unless that is empty.

        Returns for each of the two the rows of the entries (m,), and which are there, (m,). An
        entry that is not there has row 0.
        """
        rows, present = self.base.lookup.find(entry_ids)
        if len(self.tombstones.rows) and len(self.base):
            present = present & self.alive[rows]
        located = [(rows, present)]
        if len(self.delta):
            located.append(positions_in(self.delta.rows.entry_ids, entry_ids))
        return located

    @cached_property
    def entries(self) -> int:
        """How many entries it holds."""
        return len(self.base) - len(self.tombstones.rows) + len(self.delta)

    @cached_property
    def entries_per_chunk(self) -> float:
        """How many entries a chunk has on average; 1 where none has more than one."""
        rows = len(self.base) + len(self.delta)
        return rows / sum(group.chunks for group in self.groups) if rows else 1.0

    @cached_property
    def fields(self) -> frozenset[Field]:
        """The fields in which any entry has had tokens."""
        return frozenset({*self.base.keywords, *self.delta.postings})

    @cached_property
    def has_changes(self) -> bool:
        """Whether anything came or went since the segment was built."""
        return bool(len(self.tombstones.rows) or len(self.delta))

    @cached_property
    def worth_merging(self) -> bool:
        """True once so much has changed that searching pays for it."""
        changed = len(self.delta) + len(self.tombstones.rows)
        return changed > max(_SMALLEST_MERGE, _MERGE_SHARE * len(self.base))

    @cached_property
    def vector_entries(self) -> int:
        """How many live entries have a vector."""
        return self.passing_vectors(None, representing=False)

    @cached_property
    def representing_entries(self) -> int:
        """How many live entries represent a chunk by their vector."""
        return self.passing_vectors(None, representing=True)

    def passing_vectors(self, mask: EntryMask | None, *, representing: bool) -> int:
        """Count the live entries with a vector, or those that represent chunks, in a mask."""
        base, delta = (None, None) if mask is None else (mask.base, mask.delta)
        if len(self.tombstones.rows):
            base = self.alive if base is None else base & self.alive
        parts = (self.base.vectors, base), (self.delta.vectors, delta)
        return sum(vectors.count(of_part, representing=representing) for vectors, of_part in parts)

    def entry_ids(self) -> Ids:
        """Return the ids of all live entries, ascending."""
        live = self.base.entry_ids[self.alive]
        return np.sort(np.concatenate([live, self.delta.rows.entry_ids]))

    @cached_property
    def alive(self) -> Bools:
        """Which rows of the segment are live, bool (n,)."""
        alive = np.ones(len(self.base), dtype=np.bool_)
        alive[self.tombstones.rows] = False
        return alive

    def live(self, rows: Bools) -> Bools:
        """Return which of the segment's rows that a mask lets through are live, (n,)."""
        return rows & self.alive if len(self.tombstones.rows) else rows

    @cached_property
    def runs(self) -> Runs:
        """Where entries of one document are together in the segment."""
        return Runs.of(self.base.document_ids)

    @cached_property
    def worded_runs(self) -> Runs:
        """The same of the rows that have words, by their numbers (``Worded``)."""
        worded = self.base.worded
        return self.runs if worded.rows is None else Runs.of(worded.of(self.base.document_ids))

    @property
    def groups(self) -> tuple[ChunkGroups, ChunkGroups]:
        """The chunks of the segment and of the delta."""
        return self.base.groups, self.delta.groups

    @cached_property
    def representatives(self) -> EntryMask | None:
        """The entries whose vectors represent chunks (``ChunkGroups``); ``None``: all do."""
        masks = [group.representatives for group in self.groups]
        if all(mask is None for mask in masks):
            return None
        base, delta = (
            np.ones(rows, np.bool_) if mask is None else mask
            for mask, rows in zip(masks, (len(self.base), len(self.delta)), strict=True)
        )
        return EntryMask(base, delta)

    def at_levels(self, levels: Iterable[Level]) -> EntryMask | None:
        """Return which entries are of those levels; ``None`` when all are."""
        codes = np.array([LEVEL_CODES[level] for level in levels], np.int64)
        if self._level_codes <= set(codes.tolist()):
            return None
        return EntryMask(*(_is_among(part.levels, codes) for part in (self.base, self.delta.rows)))

    def of_entries(self, entry_ids: Ids) -> EntryMask:
        """Return which entries are those with some ids."""
        base = self.base.lookup.mask(entry_ids)
        return EntryMask(base, _is_among(self.delta.rows.entry_ids, entry_ids))

    def of_documents(self, documents: Ids) -> EntryMask:
        """Return which entries are of some documents; looked at once where they are together."""
        runs = self.runs
        base = np.repeat(_is_among(runs.documents, documents), runs.ends - runs.starts)
        return EntryMask(base, _is_among(self.delta.rows.document_ids, documents))

    def of_chunks(self, own: Ids) -> EntryMask:
        """Return which entries belong to chunks with these own entries."""
        mask, (base, delta) = self.of_entries(own), self.groups
        return EntryMask(base.spread(mask.base), delta.spread(mask.delta))

    @cached_property
    def _level_codes(self) -> set[int]:
        """The level codes that occur."""
        codes = np.unique(np.concatenate([self.base.levels, self.delta.rows.levels]))
        return set(codes.tolist())

    def size(self, levels: Sequence[Level], fields: Iterable[Field]) -> int:
        """Return how many bytes the vectors of some levels and the tokens of some fields take."""
        codes, chosen = [LEVEL_CODES[level] for level in levels], frozenset(fields)
        return self.base.size(codes, chosen, self.alive) + self.delta.size(codes, chosen)

    def scan(self, since: int = 0) -> EntryRows:
        """Return the live entries with ids above ``since``, ordered by id."""
        return self.between(since, _NO_LIMIT)

    def slices(self) -> RowSlices:
        """Return the live entries, ordered by id, a slice at a time."""
        ends = [*self.entry_ids()[_SLICE - 1 : -1 : _SLICE].tolist(), _NO_LIMIT]
        parts = (self.between(*bounds) for bounds in pairwise([0, *ends]))
        return RowSlices(self.entries, self.base.vectors.dimensions, parts)

    def between(self, since: int, until: int) -> EntryRows:
        """Return the live entries with ids above ``since`` and up to ``until``."""
        first, last = np.searchsorted(self.base.entry_ids, (since, until), "right").tolist()
        rows = self.base.rows(first, last)
        alive = self.alive[first:last]
        if not alive.all():
            rows = rows.take(np.flatnonzero(alive))
        ids = self.delta.rows.entry_ids
        added = self.delta.rows.take(np.flatnonzero((ids > since) & (ids <= until)))
        return join([rows, added]) if len(added) else rows


def _is_among(values: NDArray[Any], allowed: Ids) -> Bools:
    """Return which values are among the allowed ones, by a table where that stays small."""
    if not len(values) or not len(allowed):
        return np.zeros(len(values), np.bool_)
    first = allowed.min()
    span = int(allowed.max() - first)
    if span > 8 * len(values) + 1_000_000:
        return np.isin(values, allowed, kind="sort")
    # The ends stand for all that is beyond. NumPy's own table takes seven times as long.
    table = np.zeros(span + 3, np.bool_)
    table[allowed - first + 1] = True
    mask: Bools = table.take(values - (first - 1), mode="clip")
    return mask
