"""The local index of one collection at one level: ``EntryIndex`` over FAISS and BM25."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial, reduce
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.bm25 import Bm25Parameters
from ragkit.indexes.local.document_words import DocumentWords
from ragkit.indexes.local.scorer import BM25Scorer
from ragkit.indexes.local.search import LocalSearch
from ragkit.indexes.local.segment import Delta, Segment, Tombstones
from ragkit.indexes.protocol import EntryFilter, IndexQuery, VectorSearch
from ragkit.indexes.rows import (
    Bools,
    ChunkGroups,
    EntryRows,
    Ids,
    RowSlices,
    Runs,
    TokenColumn,
    join,
    positions_in,
)
from ragkit.types import LEVEL_CODES, Field, Level, Version

_SLICE = 8192
_NO_LIMIT = np.iinfo(np.int64).max
_SMALLEST_MERGE = 1000
_MERGE_SHARE = 0.05
_EVERYTHING = EntryFilter()
_AUTO = VectorSearch()
_UNFILLED = Version(0)
_NO_ROWS = np.zeros(0, np.int64)
_TEXT_ONLY: Mapping[Field, float] = {Field.TEXT: 1.0}


@dataclass(frozen=True, slots=True)
class EntryMask:
    """Rows of one ``CollectionIndex`` that a filter lets through; of no use with another.

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


class CollectionIndex:
    """Finds entries by words and by vectors. Immutable: a change returns another value.

    It is a segment, ``base``, with the ``delta`` of what was added since and the ``tombstones`` of
    what was removed. Values share the segment, so readers keep a whole old value while another
    one is made. Until the next merge, rows of the segment keep the length normalisation of the
    time it was built; all other statistics count what is live, added entries included.
    """

    def __init__(
        self, base: Segment, delta: Delta, tombstones: Tombstones, version: Version
    ) -> None:
        self.base = base
        self.delta = delta
        self.tombstones = tombstones
        self.version = version

    @classmethod
    def build(
        cls, rows: EntryRows, version: Version = _UNFILLED, parameters: Bm25Parameters | None = None
    ) -> CollectionIndex:
        """Index rows in memory."""
        return cls.over(Segment.build(rows, parameters), version)

    @classmethod
    def over(cls, segment: Segment, version: Version = _UNFILLED) -> CollectionIndex:
        """Search a segment, such as that of a generation on disk, as it is."""
        return cls(segment, Delta.empty(segment.vectors.dimensions), Tombstones(), version)

    def size(self, levels: Sequence[Level], fields: Iterable[Field]) -> int:
        """Return how many bytes the vectors of some levels and the tokens of some fields take."""
        codes, chosen = [LEVEL_CODES[level] for level in levels], frozenset(fields)
        return self.base.size(codes, chosen, self.alive) + self.delta.size(codes, chosen)

    def upsert(self, rows: EntryRows, version: Version) -> CollectionIndex:
        """Return the index with these entries; one that it holds already is replaced."""
        return self._changed(rows.entry_ids, rows, version)

    def remove(self, entry_ids: Iterable[int] | Ids, version: Version) -> CollectionIndex:
        """Return the index without these entries; unknown ones are ignored."""
        removed = np.fromiter(entry_ids, np.int64)
        return self._changed(removed, EntryRows.empty(self.base.vectors.dimensions), version)

    def _changed(self, removed: Ids, added: EntryRows, version: Version) -> CollectionIndex:
        """Costs what the change and the delta hold, not what the segment holds."""
        if not len(removed):
            # What was computed of the same entries stays with them.
            index = copy(self)
            index.version = version
            return index
        delta = self.delta.without(removed).with_added(added)
        rows, present = positions_in(self.base.entry_ids, removed)
        rows = np.setdiff1d(rows[present], self.tombstones.rows)
        tombstones = self.tombstones.with_rows(rows, self.base.keywords)
        return CollectionIndex(self.base, delta, tombstones, version)

    def search(
        self,
        queries: Sequence[IndexQuery],
        entry_filter: EntryFilter | None = None,
        field_weights: Mapping[Field, float] | None = None,
        vector_search: VectorSearch | None = None,
    ) -> LocalSearch:
        """Put queries to the index (``EntryIndex``)."""
        return LocalSearch(
            self,
            queries,
            entry_filter or _EVERYTHING,
            _TEXT_ONLY if field_weights is None else field_weights,
            vector_search or _AUTO,
        )

    def get(self, entry_ids: Ids, field: Field) -> TokenColumn:
        """Return the tokens of entries in reading order; none for an unknown entry."""
        index = self.base.keywords.get(field)
        columns = (index.column if index else None, self.delta.rows.tokens.get(field))
        located = self.locate(entry_ids)
        rows, present = located[0]
        if columns[0] is not None and present.all():
            return columns[0].take(rows)
        flat = [np.zeros(0, np.uint32)] * len(entry_ids)
        for (rows, present), column in zip(located, columns, strict=False):
            if column is None:
                continue
            places = np.flatnonzero(present)
            starts, ends = column.offsets[rows[places]], column.offsets[rows[places] + 1]
            spans = zip(places.tolist(), starts.tolist(), ends.tolist(), strict=True)
            for place, start, end in spans:
                flat[place] = column.flat[start:end]
        offsets = np.zeros(len(flat) + 1, dtype=np.int64)
        np.cumsum([len(tokens) for tokens in flat], out=offsets[1:])
        return TokenColumn(np.concatenate(flat) if flat else np.zeros(0, np.uint32), offsets)

    def content_keys(self, entry_ids: Ids) -> NDArray[np.uint64]:
        """Return keys that are equal for the same texts (``EntryIndex``)."""
        keys = np.zeros(len(entry_ids), np.uint64)
        columns = (self.base.content_keys, self.delta.rows.content_keys)
        for (rows, present), column in zip(self.locate(entry_ids), columns, strict=False):
            keys[present] = column[rows[present]]
        return keys

    def idf(self, token_ids: Sequence[int], field: Field) -> NDArray[np.float32]:
        """Return the inverse document frequency of tokens among the live entries, (m,)."""
        return self._idf_of(tuple(token_ids), field)

    def document_frequencies(self, token_ids: Sequence[int], field: Field) -> Ids:
        """Return how many live entries have each token, (m,)."""
        return self.scorer.document_frequencies(field, np.array(token_ids, dtype=np.int64))

    def holders(self, token_ids: Sequence[int], documents: Ids, fields: Sequence[Field]) -> Bools:
        """Return which documents have each token in one of the fields (``EntryIndex``)."""
        return self._words.holders(token_ids, documents, fields)

    def openings(self, token_ids: Sequence[int], least: int) -> list[Ids]:
        """Return the documents that open with each token (``EntryIndex``)."""
        return self._words.openings(token_ids, least)

    def throughout(self, token_ids: Sequence[int], field: Field, least: int) -> list[Ids]:
        """Return the documents that have each token in every chunk (``EntryIndex``)."""
        return self._words.throughout(token_ids, field, least)

    def spread(self, token_ids: Sequence[int]) -> list[int]:
        """Return how many documents have each token (``EntryIndex``)."""
        return self._words.spread(token_ids)

    @property
    def documents(self) -> int:
        """How many documents its entries are of."""
        return self._words.documents

    @cached_property
    def _words(self) -> DocumentWords:
        return DocumentWords(self)

    def with_vectors(self, entry_ids: Ids, level: Level) -> Bools:
        """Return which chunks have a vector of a level (``EntryIndex``)."""
        having = np.zeros(len(entry_ids), np.bool_)
        parts = (
            (self.base.levels, self.base.vectors.has_vector),
            (self.delta.rows.levels, self.delta.rows.has_vector),
        )
        for (rows, present), group, (levels, has_vector) in zip(
            self.locate(entry_ids), self.groups, parts, strict=False
        ):
            places = np.flatnonzero(present)
            members, owners = group.members(rows[places])
            kept = (levels[members] == LEVEL_CODES[level]) & has_vector[members]
            having[places[owners[kept]]] = True
        return having

    def holding(self, token_ids: Sequence[int]) -> Ids:
        """Return ids of the live entries that have all tokens, ascending (``EntryIndex``)."""
        keywords = self.base.keywords.get(Field.TEXT)
        tokens = list(dict.fromkeys(token_ids))
        rows = keywords.rows_with(np.array(tokens, np.int64)) if keywords else [_NO_ROWS]
        added = [self.delta.counts_of(Field.TEXT, token)[0] for token in tokens]
        base = _in_all(rows)
        base = base[self.alive[base]]
        delta = self.delta.rows.entry_ids[_in_all(added)]
        return np.sort(np.concatenate([self.base.entry_ids[base], delta]))

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

    def locate(self, entry_ids: Ids) -> list[tuple[Ids, Bools]]:
        """Find live entries in the segment, and in the delta unless that is empty.

        Returns for each of the two the rows of the entries (m,), and which are there, (m,). An
        entry that is not there has row 0.
        """
        rows, present = positions_in(self.base.entry_ids, entry_ids)
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
        return None if self._level_codes <= set(codes.tolist()) else self.among("levels", codes)

    def among(self, column: str, allowed: Ids) -> EntryMask:
        """Return which entries have one of the allowed values in a column, such as their ids."""
        base, delta = getattr(self.base, column), getattr(self.delta.rows, column)
        return EntryMask(_is_among(base, allowed), _is_among(delta, allowed))

    def of_documents(self, documents: Ids) -> EntryMask:
        """Return which entries are of some documents; looked at once where they are together."""
        runs = self.runs
        base = np.repeat(_is_among(runs.documents, documents), runs.ends - runs.starts)
        return EntryMask(base, _is_among(self.delta.rows.document_ids, documents))

    def of_chunks(self, own: Ids) -> EntryMask:
        """Return which entries belong to chunks with these own entries."""
        mask, (base, delta) = self.among("entry_ids", own), self.groups
        return EntryMask(base.spread(mask.base), delta.spread(mask.delta))

    @cached_property
    def _level_codes(self) -> set[int]:
        """The level codes that occur."""
        codes = np.unique(np.concatenate([self.base.levels, self.delta.rows.levels]))
        return set(codes.tolist())

    @cached_property
    def _idf_of(self) -> Callable[[tuple[int, ...], Field], NDArray[np.float32]]:
        """What ``idf`` returns; each step of a search asks for that of the same words."""

        def idf(token_ids: tuple[int, ...], field: Field) -> NDArray[np.float32]:
            return self.scorer.idf(field, np.array(token_ids, np.int64))[0]

        return lru_cache(maxsize=16)(idf)

    @cached_property
    def scorer(self) -> BM25Scorer:
        """Scores its rows by words."""
        return BM25Scorer(self)


def _in_all(rows: Sequence[NDArray[Any]]) -> Ids:
    """Return the rows that are in all of some ascending lists."""
    if not rows:
        return _NO_ROWS
    by_length = sorted(rows, key=len)
    return reduce(partial(np.intersect1d, assume_unique=True), by_length).astype(np.int64)


def _is_among(values: NDArray[Any], allowed: Ids) -> Bools:
    """Return which values are among the allowed ones, by a table where that stays small."""
    first = allowed.min() if len(allowed) else np.int64(0)
    span = int(allowed.max() - first) if len(allowed) else 0
    if span > 8 * len(values) + 1_000_000:
        return np.isin(values, allowed, kind="sort")
    # The ends stand for all that is beyond. NumPy's own table takes seven times as long.
    table = np.zeros(span + 3, np.bool_)
    table[allowed - first + 1] = True
    return table.take(values - (first - 1), mode="clip")
