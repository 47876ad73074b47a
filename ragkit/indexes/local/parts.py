"""What an index is made of: a frozen segment, what was added since, and what was removed.

A segment is what a generation on disk holds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.local.delta import Delta, Tombstones
from ragkit.indexes.local.hnsw import LateGraph
from ragkit.indexes.local.keyword import Bm25Parameters, KeywordIndex, load_array
from ragkit.indexes.local.vector import VectorIndex
from ragkit.indexes.rows import Bools, ChunkGroups, EntryRows, Ids, join, positions_in
from ragkit.types import LEVEL_CODES, Field, Level

VECTORS = "vectors.faiss"
"""The file of the vectors in a segment's folder."""

# Names of files; the last says which rows have a vector.
_COLUMNS = ("entry_ids", "document_ids", "levels", "chunk_indexes", "found")
_FIELDS = "fields.json"


@dataclass(frozen=True, slots=True)
class Segment:
    """Entries ordered by id, one vector index, and one keyword index a field. Immutable."""

    entry_ids: Ids
    document_ids: Ids
    levels: NDArray[np.int8]
    chunk_indexes: NDArray[np.int32]
    vectors: VectorIndex
    keywords: Mapping[Field, KeywordIndex]
    parameters: Bm25Parameters

    @classmethod
    def build(cls, rows: EntryRows, parameters: Bm25Parameters | None = None) -> Segment:
        """Index rows; the same rows give the same segment."""
        parameters = parameters or Bm25Parameters()
        fields = sorted(name for name, column in rows.tokens.items() if len(column.flat))
        return cls(
            rows.entry_ids,
            rows.document_ids,
            rows.levels,
            rows.chunk_indexes,
            VectorIndex.build(rows.vectors, rows.has_vector),
            {name: KeywordIndex.build(rows.tokens[name], parameters) for name in fields},
            parameters,
        )

    def __len__(self) -> int:
        """How many entries it holds."""
        return len(self.entry_ids)

    def rows(self) -> EntryRows:
        """Return what it was built from."""
        return EntryRows(
            self.entry_ids,
            self.document_ids,
            self.levels,
            self.chunk_indexes,
            self.vectors.vectors(),
            self.vectors.has_vector,
            {name: index.column for name, index in self.keywords.items()},
        )

    def save(self, folder: Path) -> None:
        """Write everything into a new folder."""
        folder.mkdir(parents=True)
        columns: Sequence[NDArray[Any]] = (
            self.entry_ids,
            self.document_ids,
            self.levels,
            self.chunk_indexes,
            self.vectors.has_vector,
        )
        for name, column in zip(_COLUMNS, columns, strict=True):
            np.save(folder / f"{name}.npy", column, allow_pickle=False)
        self.vectors.save(folder / VECTORS)
        for field, index in self.keywords.items():
            index.save(folder / f"keyword-{field.value}")
        about = {
            "fields": [field.value for field in self.keywords],
            "k1": self.parameters.k1,
            "b": self.parameters.b,
        }
        (folder / _FIELDS).write_text(json.dumps(about), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, graph: LateGraph | None = None) -> Segment:
        """Map a saved segment into memory, with the graph of its vectors if there is to be one.

        Raises:
            OSError, ValueError, KeyError: the files are not what ``save`` wrote.
        """
        about = json.loads((folder / _FIELDS).read_text(encoding="utf-8"))
        entry_ids, document_ids, levels, chunk_indexes, has_vector = (
            load_array(folder / f"{name}.npy") for name in _COLUMNS
        )
        keywords = {
            Field(name): KeywordIndex.load(folder / f"keyword-{name}") for name in about["fields"]
        }
        lengths = {len(document_ids), len(levels), len(chunk_indexes), len(has_vector)}
        lengths.update(len(index) for index in keywords.values())
        if lengths != {len(entry_ids)}:
            raise ValueError(f"columns of {sorted(lengths)} rows for {len(entry_ids)} entries")
        return cls(
            entry_ids,
            document_ids,
            levels,
            chunk_indexes,
            VectorIndex.load(folder / VECTORS, has_vector, graph),
            keywords,
            Bm25Parameters(about["k1"], about["b"]),
        )


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
        return cls(segment, Delta.empty(segment.vectors.dimensions), Tombstones())

    def changed(self, removed: Ids, added: EntryRows) -> IndexParts:
        """Return the parts without some entries and with others, none of which is left in them.

        Costs what the change and the delta hold, not what the segment holds.
        """
        delta = self.delta.without(removed).with_added(added)
        rows, present = positions_in(self.base.entry_ids, removed)
        rows = np.setdiff1d(rows[present], self.tombstones.rows)
        return IndexParts(self.base, delta, self.tombstones.with_rows(rows, self.base.keywords))

    @cached_property
    def has_changes(self) -> bool:
        """Whether anything came or went since the segment was built."""
        return bool(len(self.tombstones.rows) or len(self.delta))

    @cached_property
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
