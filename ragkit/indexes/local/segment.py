"""What an index is made of: a frozen segment, what was added since, and what was removed.

A segment is what a generation on disk holds. The other two are small, and cheap to build again.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.bm25 import Bm25Parameters, Totals, totals_of
from ragkit.indexes.local import packed
from ragkit.indexes.local.chunk_vectors import VECTORS, ChunkVectors
from ragkit.indexes.local.keyword import KeywordIndex, Postings, is_worth_mapping, load_array
from ragkit.indexes.local.row_lookup import RowLookup
from ragkit.indexes.local.vector import LateGraph
from ragkit.indexes.rows import Bools, ChunkGroups, EntryRows, Ids, join, positions_in
from ragkit.types import Field

COLUMNS = ("entry_ids", "document_ids", "levels", "chunk_indexes", "content_keys")
"""Names of files, and of the attributes that they hold."""

FOUND = "found"
"""The name of the file that says which rows have a vector."""

FIELDS = "fields.json"
_MOST_WORDED = 0.5
_ROW_BITS = np.uint64(32)

FieldWeights: TypeAlias = tuple[tuple[Field, float], ...]
"""How much a token counts in each field."""


def file_of_vectors(names: Container[str]) -> str:
    """Return which of a segment's files holds the vectors that represent chunks."""
    return packed.PACKED if packed.PACKED in names else VECTORS


def is_mapped(name: str, size: int) -> bool:
    """Return whether a segment's file of that name and size is mapped, not read."""
    return name != packed.PACKED and is_worth_mapping(size)


@dataclass(frozen=True)
class Segment:
    """Entries ordered by id, their vectors, and one keyword index a field. Immutable."""

    entry_ids: Ids
    document_ids: Ids
    levels: NDArray[np.int8]
    chunk_indexes: NDArray[np.int32]
    content_keys: NDArray[np.uint64]
    groups: ChunkGroups
    vectors: ChunkVectors
    keywords: Mapping[Field, KeywordIndex]
    parameters: Bm25Parameters
    _lengths: dict[FieldWeights, NDArray[np.float64]] = field(default_factory=dict)

    @classmethod
    def build(
        cls,
        rows: EntryRows,
        parameters: Bm25Parameters | None = None,
        graph: LateGraph | None = None,
    ) -> Segment:
        """Index rows; the same rows give the same segment."""
        parameters = parameters or Bm25Parameters()
        fields = sorted(name for name, column in rows.tokens.items() if len(column.flat))
        groups = ChunkGroups(rows.levels)
        return cls(
            rows.entry_ids,
            rows.document_ids,
            rows.levels,
            rows.chunk_indexes,
            rows.content_keys,
            groups,
            ChunkVectors.build(rows.vectors, rows.has_vector, groups, graph),
            {name: KeywordIndex.build(rows.tokens[name], parameters) for name in fields},
            parameters,
        )

    def __len__(self) -> int:
        """How many entries it holds."""
        return len(self.entry_ids)

    def rows(self, first: int = 0, last: int | None = None) -> EntryRows:
        """Return what it was built from, or the rows from ``first`` to before ``last``."""
        here = slice(first, len(self) if last is None else last)
        return EntryRows(
            self.entry_ids[here],
            self.document_ids[here],
            self.levels[here],
            self.chunk_indexes[here],
            self.content_keys[here],
            self.vectors.vectors(here.start, here.stop),
            self.vectors.has_vector[here],
            {name: index.column.part(here) for name, index in self.keywords.items()},
        )

    def weighted_lengths(self, weights: FieldWeights) -> NDArray[np.float64]:
        """Return how many tokens each row has (n,), weighted by field; computed once."""
        if weights not in self._lengths:
            lengths = np.zeros(len(self))
            for name, weight in weights:
                if name in self.keywords:
                    lengths += weight * self.keywords[name].column.lengths
            self._lengths[weights] = lengths
        return self._lengths[weights]

    @cached_property
    def lookup(self) -> RowLookup:
        """Finds its rows by the ids of their entries."""
        return RowLookup(self.entry_ids)

    @cached_property
    def worded(self) -> Worded:
        """The rows that words can find."""
        having = np.zeros(len(self), np.bool_)
        for index in self.keywords.values():
            having |= index.column.lengths > 0
        if np.count_nonzero(having) > _MOST_WORDED * len(self):
            return Worded()
        return Worded(np.flatnonzero(having), np.cumsum(having, dtype=np.int32) - np.int32(1))

    def size(self, codes: Sequence[int], fields: Container[Field], alive: Bools) -> int:
        """Return how many bytes the live vectors of levels and the tokens of fields take."""
        has_vector = self.vectors.has_vector & alive
        tokens = sum(index.nbytes for name, index in self.keywords.items() if name in fields)
        return _bytes_of_vectors(self.levels, has_vector, codes, self.vectors) + tokens

    @classmethod
    def load(cls, folder: Path, graph: LateGraph | None = None) -> Segment:
        """Map a saved segment into memory, with the graph of its vectors if there is to be one.

        A small one is read and built.

        Raises:
            OSError, ValueError, KeyError: the files are not what ``write_segment`` wrote.
        """
        if (folder / packed.PACKED).exists():
            return cls.build(*packed.load_rows(folder / packed.PACKED), graph)
        about = json.loads((folder / FIELDS).read_text(encoding="utf-8"))
        columns = [load_array(folder / f"{name}.npy") for name in (*COLUMNS, FOUND)]
        entry_ids, document_ids, levels, chunk_indexes, content_keys, has_vector = columns
        keywords = {
            Field(name): KeywordIndex.load(folder / f"keyword-{name}") for name in about["fields"]
        }
        lengths = set(map(len, columns))
        lengths.update(index.size for index in keywords.values())
        if lengths != {len(entry_ids)}:
            raise ValueError(f"columns of {sorted(lengths)} rows for {len(entry_ids)} entries")
        groups = ChunkGroups(levels)
        return cls(
            entry_ids,
            document_ids,
            levels,
            chunk_indexes,
            content_keys,
            groups,
            ChunkVectors.load(folder, has_vector, groups, graph),
            keywords,
            Bm25Parameters(about["k1"], about["b"]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Worded:
    """The rows of a segment that have words, numbered by themselves where they are few.

    With contexts and questions they are a fifth: these have vectors alone. ``rows`` (w,) ascend and
    ``numbers`` (n,) say which of them each is, if it is one; ``None``: all rows, by their own.
    """

    rows: Ids | None = None
    numbers: NDArray[np.int32] | None = None

    def of(self, column: NDArray[Any]) -> NDArray[Any]:
        """Return what a column (n,) says of these rows, (w,)."""
        return column if self.rows is None else column[self.rows]

    def named(self, numbers: Ids) -> Ids:
        """Return the rows of these numbers, (m,)."""
        return numbers if self.rows is None else self.rows[numbers]

    def numbered(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the numbers of rows that have words, (m,)."""
        return rows if self.numbers is None else self.numbers[rows]

    def find(self, rows: Ids) -> tuple[Ids, Bools]:
        """Return the numbers of any rows, (m,), and which of them have words."""
        if self.rows is None:
            return rows, np.ones(len(rows), np.bool_)
        return positions_in(self.rows, rows)


@dataclass(frozen=True, slots=True)
class Delta:
    """Entries in the order of their ids, their vectors, and their postings a field. Immutable.

    Adding to it copies its arrays (some megabytes at most) but sorts only what is new.
    """

    rows: EntryRows
    groups: ChunkGroups
    vectors: ChunkVectors
    postings: Mapping[Field, Postings]

    @classmethod
    def empty(cls, dimensions: int) -> Delta:
        """Return one without entries."""
        return cls.of(EntryRows.empty(dimensions), {})

    @classmethod
    def of(cls, rows: EntryRows, postings: Mapping[Field, Postings]) -> Delta:
        """Return one of rows whose postings have been counted."""
        groups = ChunkGroups(rows.levels)
        vectors = ChunkVectors.build(rows.vectors, rows.has_vector, groups)
        return cls(rows, groups, vectors, postings)

    def __len__(self) -> int:
        """How many entries it holds."""
        return len(self.rows)

    def size(self, codes: Sequence[int], fields: Container[Field]) -> int:
        """Return how many bytes the vectors of levels and the tokens of fields take."""
        rows = self.rows
        tokens = sum(of.nbytes for name, of in self.postings.items() if name in fields)
        return _bytes_of_vectors(rows.levels, rows.has_vector, codes, self.vectors) + tokens

    def totals(self, name: Field) -> Totals:
        """Count its rows and tokens in a field."""
        column = self.rows.tokens.get(name)
        return totals_of(column) if column is not None else Totals(0, 0)

    def document_frequencies(self, name: Field, token_ids: Ids) -> Ids:
        """Return in how many of its rows each token occurs."""
        bounds = self._bounds(name, token_ids)
        return bounds[1] - bounds[0]

    def without(self, entry_ids: Ids) -> Delta:
        """Return one without those entries."""
        keep = ~np.isin(self.rows.entry_ids, entry_ids)
        if keep.all():
            return self
        renumbered = np.cumsum(keep) - 1
        rows = self.rows.take(np.flatnonzero(keep))
        postings = {name: _renumbered(old, keep, renumbered) for name, old in self.postings.items()}
        return Delta.of(rows, postings)

    def with_added(self, added: EntryRows) -> Delta:
        """Return one with more entries, none of which it holds already."""
        if not len(added):
            return self
        rows = join([self.rows, added])
        postings = dict(self.postings)
        if len(self) and added.entry_ids[0] < self.rows.entry_ids[-1]:
            # Late entries of lower ids move the others: everything is counted again.
            columns = rows.tokens.items()
            postings = {name: Postings.of(column) for name, column in columns}
        else:
            for name, column in added.tokens.items():
                new = Postings.of(column, len(self))
                postings[name] = _merged(postings[name], new) if name in postings else new
        return Delta.of(rows, postings)

    def add_scores(
        self,
        into: NDArray[np.float32],
        name: Field,
        token_ids: Ids,
        weights: NDArray[np.float32],
        norms: NDArray[np.float32],
    ) -> None:
        """Add BM25 scores to ``into`` (n,); ``weights`` hold idf times the query's weight."""
        for token_id, weight in zip(token_ids.tolist(), weights, strict=True):
            rows, counts = self.counts_of(name, token_id)
            into[rows] += weight * (counts / (counts + norms[rows]))

    def counts_of(self, name: Field, token_id: int) -> tuple[Ids, NDArray[np.float32]]:
        """Return the rows in which a token occurs, and how often in each."""
        postings = self.postings.get(name)
        if postings is None:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        starts, ends = self._bounds(name, np.array([token_id], np.int64))
        span = slice(int(starts[0]), int(ends[0]))
        rows = (postings.keys[span] & np.uint64(0xFFFFFFFF)).astype(np.int64)
        return rows, postings.counts[span]

    def _bounds(self, name: Field, token_ids: Ids) -> tuple[Ids, Ids]:
        """Return where each token's postings start and end."""
        postings = self.postings.get(name)
        if postings is None:
            none = np.zeros(len(token_ids), np.int64)
            return none, none
        keys = token_ids.astype(np.uint64)
        starts = np.searchsorted(postings.keys, keys << _ROW_BITS)
        ends = np.searchsorted(postings.keys, (keys + np.uint64(1)) << _ROW_BITS)
        return starts.astype(np.int64), ends.astype(np.int64)


@dataclass(frozen=True, slots=True)
class Tombstones:
    """Rows of a segment that were removed since it was built, and what its statistics lose."""

    rows: Ids = field(default_factory=lambda: np.zeros(0, np.int64))
    totals: Mapping[Field, Totals] = field(default_factory=dict)
    tokens: Mapping[Field, tuple[NDArray[np.uint32], Ids]] = field(default_factory=dict)

    def document_frequencies(self, name: Field, token_ids: Ids) -> Ids:
        """Return in how many removed rows each token occurred."""
        if name not in self.tokens:
            return np.zeros(len(token_ids), np.int64)
        tokens, counts = self.tokens[name]
        positions, present = positions_in(tokens, token_ids)
        return np.where(present, counts[positions], 0) if len(tokens) else positions

    def with_rows(self, rows: Ids, keywords: Mapping[Field, KeywordIndex]) -> Tombstones:
        """Return these and more removed rows of the segment; ``keywords`` are its indexes."""
        if not len(rows):
            return self
        totals = dict(self.totals)
        tokens = dict(self.tokens)
        for name, index in keywords.items():
            column = index.column.take(rows)
            before, added = totals.get(name, Totals(0, 0)), totals_of(column)
            totals[name] = Totals(before.rows + added.rows, before.tokens + added.tokens)
            tokens[name] = _counted(Postings.of(column).tokens, tokens.get(name))
        return Tombstones(np.union1d(self.rows, rows), totals, tokens)


def _bytes_of_vectors(
    levels: NDArray[np.int8], has_vector: Bools, codes: Sequence[int], vectors: ChunkVectors
) -> int:
    count = int(np.count_nonzero(np.isin(levels, codes) & has_vector))
    return count * vectors.dimensions * np.dtype(np.float16).itemsize


def _counted(
    tokens: NDArray[np.uint32], before: tuple[NDArray[np.uint32], Ids] | None
) -> tuple[NDArray[np.uint32], Ids]:
    """Count each token, and add an earlier count; tokens are ascending."""
    counts = np.ones(len(tokens), np.int64)
    if before is not None:
        tokens = np.concatenate([before[0], tokens])
        counts = np.concatenate([before[1], counts])
    distinct, place = np.unique(tokens, return_inverse=True)
    return distinct, np.bincount(place.reshape(-1), counts, len(distinct)).astype(np.int64)


def _merged(old: Postings, new: Postings) -> Postings:
    """Merge two ordered sets of postings."""
    places = np.searchsorted(old.keys, new.keys)
    return Postings(
        np.insert(old.keys, places, new.keys), np.insert(old.counts, places, new.counts)
    )


def _renumbered(old: Postings, keep: Bools, renumbered: Ids) -> Postings:
    """Drop rows, and number the others again; the order stays."""
    rows = old.rows
    kept = keep[rows]
    keys = (old.keys[kept] >> _ROW_BITS << _ROW_BITS) | renumbered[rows[kept]].astype(np.uint64)
    return Postings(keys, old.counts[kept])
