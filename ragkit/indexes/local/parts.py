"""What an index is made of: a frozen segment, what was added since, and what was removed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.local.delta import Delta, Tombstones
from ragkit.indexes.local.segment import Segment
from ragkit.indexes.rows import Bools, ChunkGroups, EntryRows, Ids, join, positions_in
from ragkit.types import LEVEL_CODES, Level


@dataclass(frozen=True, slots=True)
class EntryMask:
    """Rows of one ``IndexParts`` value that a filter lets through; of no use with another.

    ``base`` bool (n,) for the segment's rows, ``delta`` (m,) for those added since.
    """

    base: Bools
    delta: Bools

    def __and__(self, other: EntryMask) -> EntryMask:
        """Return the rows that both let through."""
        return EntryMask(self.base & other.base, self.delta & other.delta)


@dataclass(frozen=True)
class IndexParts:
    """The rows of an index. Immutable: a change returns another value, which shares the segment."""

    base: Segment
    delta: Delta
    tombstones: Tombstones

    @classmethod
    def over(cls, segment: Segment) -> IndexParts:
        """Return a segment as it stands."""
        return cls(segment, Delta.empty(segment.vectors.dimensions), Tombstones.empty())

    def changed(self, removed: Ids, added: EntryRows) -> IndexParts:
        """Return the parts without some entries and with others, none of which is left in them.

        Costs what the change and the delta hold, not what the segment holds.
        """
        delta = self.delta.without(removed).with_added(added)
        rows = np.setdiff1d(self.base.positions(removed), self.tombstones.rows)
        return IndexParts(self.base, delta, self.tombstones.with_rows(rows, self.base.keywords))

    @property
    def entries(self) -> int:
        """How many live entries there are."""
        return len(self.base) - len(self.tombstones.rows) + len(self.delta)

    @property
    def id_columns(self) -> tuple[Ids, Ids]:
        """The entry ids of the segment and of the delta, removed ones included."""
        return self.base.entry_ids, self.delta.rows.entry_ids

    @cached_property
    def alive(self) -> Bools:
        """Which rows of the segment are live, bool (n,)."""
        alive = np.ones(len(self.base), dtype=np.bool_)
        alive[self.tombstones.rows] = False
        return alive

    @cached_property
    def groups(self) -> tuple[ChunkGroups, ChunkGroups]:
        """The chunks of the segment and of the delta."""
        return ChunkGroups(self.base.levels), ChunkGroups(self.delta.rows.levels)

    @cached_property
    def vectors(self) -> int:
        """How many live entries have a vector."""
        lost = int(np.count_nonzero(self.base.vectors.has_vector[self.tombstones.rows]))
        return len(self.base.vectors) - lost + len(self.delta.vectors)

    def entry_ids(self) -> Ids:
        """Return the ids of all live entries, ascending."""
        base = self.base.entry_ids
        live = base[self.alive] if len(self.tombstones.rows) else base
        return np.sort(np.concatenate([live, self.delta.rows.entry_ids]))

    def live_rows(self) -> EntryRows:
        """Return the rows of all live entries, ordered by entry id."""
        rows = self.base.rows()
        if len(self.tombstones.rows):
            rows = rows.take(np.flatnonzero(self.alive))
        return join([rows, self.delta.rows]) if len(self.delta) else rows

    def locate(self, entry_ids: Ids) -> tuple[tuple[Ids, Bools], tuple[Ids, Bools]]:
        """Find live entries in the segment and in the delta: their rows (m,), and which are there.

        An entry that is not there has row 0.
        """
        base, delta = self.id_columns
        rows, present = positions_in(base, entry_ids)
        if len(self.tombstones.rows) and len(base):
            present = present & self.alive[rows]
        return (rows, present), positions_in(delta, entry_ids)

    @cached_property
    def representatives(self) -> EntryMask | None:
        """The entries whose vectors represent chunks (``ChunkGroups``); ``None``: all do."""
        masks = [group.representatives() for group in self.groups]
        if all(mask is None for mask in masks):
            return None
        base, delta = (
            np.ones(len(ids), np.bool_) if mask is None else mask
            for mask, ids in zip(masks, self.id_columns, strict=True)
        )
        return EntryMask(base, delta)

    def at_levels(self, levels: Iterable[Level] | None) -> EntryMask | None:
        """Return which entries are of those levels; ``None`` when all are."""
        if levels is None:
            return None
        codes = np.array([LEVEL_CODES[level] for level in levels], np.int64)
        if self._level_codes <= set(codes.tolist()):
            return None
        return self._among(self.base.levels, self.delta.rows.levels, codes)

    def of_documents(self, document_ids: Ids | None) -> EntryMask | None:
        """Return which entries are of those documents; ``None`` for ``None``."""
        base, delta = self.base.document_ids, self.delta.rows.document_ids
        return None if document_ids is None else self._among(base, delta, document_ids)

    def with_ids(self, entry_ids: Ids | None) -> EntryMask | None:
        """Return which entries have one of those ids; ``None`` for ``None``."""
        return None if entry_ids is None else self._among(*self.id_columns, entry_ids)

    @staticmethod
    def _among(base: NDArray[Any], delta: NDArray[Any], allowed: Ids) -> EntryMask:
        return EntryMask(_is_among(base, allowed), _is_among(delta, allowed))

    @cached_property
    def _level_codes(self) -> set[int]:
        """The level codes that occur."""
        codes = np.unique(np.concatenate([self.base.levels, self.delta.rows.levels]))
        return set(codes.tolist())


def _is_among(values: NDArray[Any], allowed: Ids) -> Bools:
    """Return which values are among the allowed ones, by a table where that stays small."""
    span = int(allowed.max() - allowed.min()) if len(allowed) else 0
    small = span <= 8 * len(values) + 1_000_000
    among: Bools = np.isin(values, allowed, kind="table" if small else "sort")
    return among
