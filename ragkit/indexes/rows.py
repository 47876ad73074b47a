"""Rows of an index: its columns, those that belong to one chunk, and those that score best."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragkit.types import LEVEL_CODES, Field, Level

Ids: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

TEXT_SHARE = 0.25
"""How much of the vector that stands for a chunk is its text's; the rest is its context's."""

_SLICE = 128
_FEW = 2000


@dataclass(frozen=True, slots=True)
class TokenColumn:
    """The tokens of one field for every row, as ids of the catalog's vocabulary.

    Row ``i`` holds ``flat[offsets[i]:offsets[i + 1]]``: uint32 (m,) and int64 (n + 1,).
    """

    flat: NDArray[np.uint32]
    offsets: Ids

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> TokenColumn:
        """Build a column from one list of token ids a row."""
        offsets = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in rows], out=offsets[1:])
        flat = np.fromiter((token for row in rows for token in row), np.uint32, int(offsets[-1]))
        return cls(flat, offsets)

    def __len__(self) -> int:
        """How many rows it covers."""
        return len(self.offsets) - 1

    @property
    def lengths(self) -> Ids:
        """How many tokens each row holds, int64 (n,)."""
        return np.diff(self.offsets)

    def part(self, rows: slice) -> TokenColumn:
        """Return the column of neighbouring rows, ``start`` to before ``stop``."""
        offsets = self.offsets[rows.start : rows.stop + 1]
        return TokenColumn(self.flat[offsets[0] : offsets[-1]], offsets - offsets[0])

    def take(self, rows: Ids) -> TokenColumn:
        """Return the column of some rows, in their order."""
        # Not by ``lengths``, which would cost what the whole column holds.
        starts = self.offsets[rows]
        lengths = self.offsets[rows + 1] - starts
        offsets = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        places = np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])
        return TokenColumn(np.ascontiguousarray(self.flat[places]), offsets)


@dataclass(frozen=True, slots=True)
class EntryRows:
    """Rows of an index, ordered by entry id.

    ``entry_ids`` int64 (n,) strictly ascending; ``document_ids`` int64 (n,); ``levels`` int8 (n,)
    holds level codes; ``chunk_indexes`` int32 (n,); ``content_keys`` uint64 (n,) are equal for
    texts that people take for the same, and 0 for none; ``vectors`` float16 (n, d), unit rows;
    ``has_vector`` bool (n,): False where there is none; ``tokens`` holds one column a field.
    """

    entry_ids: Ids
    document_ids: Ids
    levels: NDArray[np.int8]
    chunk_indexes: NDArray[np.int32]
    content_keys: NDArray[np.uint64]
    vectors: NDArray[np.float16]
    has_vector: Bools
    tokens: Mapping[Field, TokenColumn] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n = len(self.entry_ids)
        sizes = [len(self.document_ids), len(self.levels), len(self.chunk_indexes)]
        sizes += [len(self.content_keys), len(self.vectors), len(self.has_vector)]
        sizes += map(len, self.tokens.values())
        if any(size != n for size in sizes):
            raise ValueError("every column of EntryRows must have one value a row")
        if n > 1 and not bool(np.all(self.entry_ids[1:] > self.entry_ids[:-1])):
            raise ValueError("entry_ids must be strictly ascending")

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.entry_ids)

    @property
    def dimensions(self) -> int:
        """How long each vector is."""
        return int(self.vectors.shape[1])

    @classmethod
    def empty(cls, dimensions: int, fields: Sequence[Field] = ()) -> EntryRows:
        """Return no rows."""
        return cls(
            entry_ids=np.zeros(0, np.int64),
            document_ids=np.zeros(0, np.int64),
            levels=np.zeros(0, np.int8),
            chunk_indexes=np.zeros(0, np.int32),
            content_keys=np.zeros(0, np.uint64),
            vectors=np.zeros((0, dimensions), np.float16),
            has_vector=np.zeros(0, np.bool_),
            tokens={name: TokenColumn.of([]) for name in fields},
        )

    def take(self, rows: Ids) -> EntryRows:
        """Return some rows; ``rows`` are ascending positions."""
        return EntryRows(
            entry_ids=self.entry_ids[rows],
            document_ids=self.document_ids[rows],
            levels=self.levels[rows],
            chunk_indexes=self.chunk_indexes[rows],
            content_keys=self.content_keys[rows],
            vectors=self.vectors[rows],
            has_vector=self.has_vector[rows],
            tokens={name: column.take(rows) for name, column in self.tokens.items()},
        )


@dataclass(frozen=True, slots=True)
class RowSlices:
    """Rows of an index, ordered by entry id, of which a slice at a time is in memory.

    ``count`` is how many rows the slices have together. They can be gone through once.
    """

    count: int
    dimensions: int
    slices: Iterator[EntryRows]

    @classmethod
    def of(cls, rows: EntryRows) -> RowSlices:
        """Return rows that are in memory."""
        return cls(len(rows), rows.dimensions, iter([rows]))

    def joined(self) -> EntryRows:
        """Return all rows."""
        return join([EntryRows.empty(self.dimensions), *self.slices])


def positions_in(ascending: NDArray[Any], values: NDArray[Any]) -> tuple[Ids, Bools]:
    """Find values among ascending ones: their positions (m,), and which are there.

    A value that is not there has position 0.
    """
    if not len(ascending):
        return np.zeros(len(values), np.int64), np.zeros(len(values), np.bool_)
    # Of the same type as those searched, which would all be copied otherwise.
    typed = values.astype(ascending.dtype, copy=False)
    positions: Ids = ascending.searchsorted(typed)
    present: Bools = ascending.take(positions, mode="clip") == values
    positions *= present
    return positions, present


def distinct(ids: Ids) -> Ids:
    """Return the different ids, ascending, by a table of flags where that is quicker.

    Of few ids ``np.unique`` takes three times as long.
    """
    if len(ids) < _FEW or int(ids.max()) > 8 * len(ids) + 1_000_000:
        ascending = np.sort(ids)
        first = np.ones(len(ascending), np.bool_)
        np.not_equal(ascending[1:], ascending[:-1], out=first[1:])
        return ascending[first]
    there = np.zeros(int(ids.max()) + 1, np.bool_)
    there[ids] = True
    return np.flatnonzero(there)


def united(lists: Iterable[Ids]) -> Ids:
    """Return what is in any of some lists of different ids that ascend, ascending."""
    some = [ids for ids in lists if len(ids)] or [np.zeros(0, np.int64)]
    return some[0] if len(some) == 1 else distinct(np.concatenate(some))


def join(parts: Sequence[EntryRows]) -> EntryRows:
    """Join rows, ordered by entry id; a field that is missing in a part is empty there."""
    fields = sorted({name for part in parts for name in part.tokens})
    ids = np.concatenate([part.entry_ids for part in parts])
    order: Ids | None = np.argsort(ids, kind="stable")
    if bool(np.all(ids[1:] > ids[:-1])):
        order = None

    def ordered(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
        joined = np.concatenate(columns)
        return joined if order is None else joined[order]

    tokens = {name: _joined_column(parts, name) for name in fields}
    return EntryRows(
        entry_ids=ordered([part.entry_ids for part in parts]),
        document_ids=ordered([part.document_ids for part in parts]),
        levels=ordered([part.levels for part in parts]),
        chunk_indexes=ordered([part.chunk_indexes for part in parts]),
        content_keys=ordered([part.content_keys for part in parts]),
        vectors=ordered([part.vectors for part in parts]),
        has_vector=ordered([part.has_vector for part in parts]),
        tokens={n: c if order is None else c.take(order) for n, c in tokens.items()},
    )


def _joined_column(parts: Sequence[EntryRows], name: Field) -> TokenColumn:
    """Concatenate the columns of one field."""
    columns = [part.tokens.get(name) or TokenColumn.of([()] * len(part)) for part in parts]
    offsets = np.zeros(sum(len(column) for column in columns) + 1, dtype=np.int64)
    np.cumsum(np.concatenate([column.lengths for column in columns]), out=offsets[1:])
    return TokenColumn(np.concatenate([column.flat for column in columns]), offsets)


def with_texts(rows: EntryRows) -> EntryRows:
    """Mix a share of its chunk's own vector into that of each context, which represents both.

    A context says what a chunk is about, and leaves out what else is in it. Vectors stay of
    length 1; a context stays as it is where its chunk has no vector.
    """
    contexts = np.flatnonzero(rows.levels == LEVEL_CODES[Level.CONTEXT]).astype(np.int64)
    own = ChunkGroups(rows.levels).parents(contexts)
    both = rows.has_vector[contexts] & rows.has_vector[own] & (own != contexts)
    contexts, own = contexts[both], own[both]
    if not len(contexts):
        return rows
    of_context, of_text = (rows.vectors[each].astype(np.float32) for each in (contexts, own))
    joined = (1 - TEXT_SHARE) * of_context + TEXT_SHARE * of_text
    lengths = np.linalg.norm(joined, axis=1, keepdims=True)
    vectors = rows.vectors.copy()
    vectors[contexts] = joined / np.where(lengths > 0, lengths, 1)
    return replace(rows, vectors=vectors)


class ChunkGroups:
    """Finds chunks' own rows and what belongs to them. Rows are ordered by entry id.

    All entries of a chunk come and go together, and their ids follow one another.
    """

    def __init__(self, levels: NDArray[Any]) -> None:
        """Keep the level codes of all rows, (n,)."""
        self._size = len(levels)
        self._levels = levels
        self._parents = np.flatnonzero(levels == LEVEL_CODES[Level.CHUNK]).astype(np.int64)
        self._alone = len(self._parents) in (0, self._size)

    @cached_property
    def representatives(self) -> Bools | None:
        """Which rows represent their chunk: its contexts where it has some, questions never.

        ``None`` where every row does.
        """
        if self._alone:
            return None
        rows = np.ones(self._size, np.bool_)
        rows[self._levels == LEVEL_CODES[Level.QUESTION]] = False
        contexts = np.flatnonzero(self._levels == LEVEL_CODES[Level.CONTEXT]).astype(np.int64)
        rows[self.parents(contexts)] = False
        rows[contexts] = True
        return rows

    @property
    def chunks(self) -> int:
        """How many chunks there are; every row is one where there are no chunks."""
        return len(self._parents) or self._size

    @cached_property
    def _ends(self) -> Ids:
        """Where the rows of each chunk end."""
        return np.append(self._parents[1:], self._size)

    def parents(self, rows: Ids) -> Ids:
        """Return the own row of the chunk that each row belongs to, (m,)."""
        if self._alone:
            return rows
        at = np.searchsorted(self._parents, rows, side="right") - 1
        return np.where(at >= 0, self._parents[np.maximum(at, 0)], rows)

    def spread(self, rows: Bools) -> Bools:
        """Return which rows belong to chunks of whose own rows these flags (n,) are set."""
        if self._alone:
            return rows
        first = self._parents[0]
        lengths = self._ends - self._parents
        return np.concatenate([rows[:first], np.repeat(rows[self._parents], lengths)])

    def members(self, rows: Ids) -> tuple[Ids, Ids]:
        """Return all rows of chunks named by their own rows (m,), and each one's place in these."""
        if self._alone or not len(rows):
            return rows, np.arange(len(rows), dtype=np.int64)
        at = np.searchsorted(self._parents, rows)
        lengths = np.maximum(self._ends.take(at, mode="clip") - rows, 1)
        owners = np.repeat(np.arange(len(rows), dtype=np.int64), lengths)
        first = np.concatenate(([0], np.cumsum(lengths)[:-1]))
        return rows[owners] + np.arange(len(owners)) - first[owners], owners


@dataclass(frozen=True, slots=True)
class Runs:
    """Neighbouring rows of one document each: where they start and end, and the document, (r,).

    ``ascending`` says that each document has one run, and that they ascend.
    """

    starts: Ids
    ends: Ids
    documents: Ids
    ascending: bool

    @classmethod
    def of(cls, documents: Ids) -> Runs:
        """Find them by the document of every row, (n,)."""
        starts = np.flatnonzero(np.diff(documents, prepend=-1))
        of_runs = documents[starts]
        ascending = bool((of_runs[1:] > of_runs[:-1]).all())
        return cls(starts, np.append(starts[1:], len(documents)), of_runs, ascending)


def best_rows(scores: NDArray[np.float32], depth: int) -> Ids:
    """Return the rows with the highest scores, best first, ties by row, without zeros."""
    if not len(scores):
        return np.zeros(0, np.int64)
    rows = promising_rows(scores, depth)
    if len(rows) > depth > 0:
        best = scores[rows]
        edge = np.partition(best, len(best) - depth)[len(best) - depth]
        above = rows[best > edge]
        tied = rows[best == edge][: depth - len(above)]
        rows = np.sort(np.concatenate([above, tied]))
    order = np.argsort(-scores[rows], kind="stable")
    return rows[order][: max(depth, 0)].astype(np.int64)


def promising_rows(scores: NDArray[np.float32], depth: int) -> Ids:
    """Return rows (n,), ascending: those of the ``depth`` best scores, and not many more.

    All rows but those of 0, where too few are above 0 for that.
    """
    slices = len(scores) // _SLICE
    sliced = scores[: slices * _SLICE].reshape(_SLICE, slices)
    maxima = sliced.max(axis=0, initial=0.0)
    least = reached_by_slices(maxima[:, None], depth)[0]
    if least <= 0:
        # Zeros are far quicker to find over truth values than over numbers.
        return np.flatnonzero(scores != 0)
    near = np.flatnonzero(maxima >= least)
    at, which = np.nonzero(sliced[:, near] >= least)
    rest = np.flatnonzero(scores[sliced.size :] >= least) + sliced.size
    return np.sort(np.concatenate([at * slices + near[which], rest]))


def reached_by_slices(maxima: NDArray[np.float32], depth: int) -> NDArray[np.float32]:
    """Return what ``depth`` rows reach in each column of slices' best scores (s, q); 0 if unknown.

    Each of the best ``depth`` slices has a row as good as the worst of their maxima.
    """
    if not len(maxima) > depth > 0:
        return np.zeros(maxima.shape[1], np.float32)
    least: NDArray[np.float32] = np.partition(maxima, -depth, axis=0)[-depth]
    return np.maximum(least, np.float32(0.0))
