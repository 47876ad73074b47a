"""The local index of one collection at one level: ``EntryIndex`` over FAISS and BM25."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.local.keyword import Bm25Parameters
from ragkit.indexes.local.parts import IndexParts, Segment
from ragkit.indexes.local.scorer import BM25Scorer
from ragkit.indexes.local.search import LocalSearch
from ragkit.indexes.protocol import EntryFilter, IndexQuery, VectorSearch
from ragkit.indexes.rows import EntryRows, Ids, TokenColumn
from ragkit.types import Field

_SMALLEST_MERGE = 1000
_MERGE_SHARE = 0.05
_EVERYTHING = EntryFilter()
_AUTO = VectorSearch()
_TEXT_ONLY: Mapping[Field, float] = {Field.TEXT: 1.0}


class CollectionIndex:
    """Finds entries by words and by vectors. Immutable: a change returns another value.

    Values share the segment, so readers keep a whole old value while another one is made. Until
    the next merge, rows of the segment keep the length normalisation of the time it was built;
    all other statistics count what is live, added entries included.
    """

    def __init__(self, parts: IndexParts, version: int) -> None:
        self.parts = parts
        self.version = version

    @classmethod
    def build(
        cls, rows: EntryRows, version: int = 0, parameters: Bm25Parameters | None = None
    ) -> CollectionIndex:
        """Index rows in memory."""
        return cls.over(Segment.build(rows, parameters), version)

    @classmethod
    def over(cls, segment: Segment, version: int = 0) -> CollectionIndex:
        """Search a segment, such as that of a generation on disk, as it stands."""
        return cls(IndexParts.over(segment), version)

    def upsert(self, rows: EntryRows, version: int) -> CollectionIndex:
        """Return the index with these entries; one that it holds already is replaced."""
        return self._changed(rows.entry_ids, rows, version)

    def remove(self, entry_ids: Iterable[int] | Ids, version: int) -> CollectionIndex:
        """Return the index without these entries; unknown ones are ignored."""
        removed = np.fromiter(entry_ids, np.int64)
        return self._changed(removed, EntryRows.empty(self.dimensions), version)

    def _changed(self, removed: Ids, added: EntryRows, version: int) -> CollectionIndex:
        if not len(removed):
            # What was computed of the same entries stays with them.
            index = copy(self)
            index.version = version
            return index
        return CollectionIndex(self.parts.changed(removed, added), version)

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
            self._scorer,
            queries,
            entry_filter or _EVERYTHING,
            _TEXT_ONLY if field_weights is None else field_weights,
            vector_search or _AUTO,
        )

    def get(self, entry_ids: Ids, field: Field) -> TokenColumn:
        """Return the tokens of entries in reading order; none for an unknown entry."""
        index = self.parts.base.keywords.get(field)
        columns = (index.column if index else None, self.parts.delta.rows.tokens.get(field))
        located = self.parts.locate(entry_ids)
        rows, present = located[0]
        if columns[0] is not None and present.all():
            return columns[0].take(rows)
        flat = [np.zeros(0, np.uint32)] * len(entry_ids)
        for (rows, present), column in zip(located, columns, strict=True):
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

    def idf(self, token_ids: Sequence[int], field: Field) -> NDArray[np.float32]:
        """Return the inverse document frequency of tokens among the live entries, (m,)."""
        return self._scorer.idf(field, np.array(token_ids, dtype=np.int64))

    def scan(self, since: int = 0) -> EntryRows:
        """Return the live entries with ids above ``since``, ordered by id."""
        rows = self.parts.live_rows()
        first = int(np.searchsorted(rows.entry_ids, since, side="right"))
        return rows.take(np.arange(first, len(rows))) if first else rows

    @property
    def entries(self) -> int:
        """How many entries it holds."""
        return self.parts.entries

    @cached_property
    def entries_per_chunk(self) -> float:
        """How many entries a chunk has on average; 1 where none has more than one."""
        rows = sum(len(ids) for ids in self.parts.id_columns)
        return rows / sum(group.chunks for group in self.parts.groups) if rows else 1.0

    @property
    def fields(self) -> frozenset[Field]:
        """The fields in which any entry has had tokens."""
        return frozenset({*self.parts.base.keywords, *self.parts.delta.postings})

    @property
    def delta_entries(self) -> int:
        """How many entries were added since the segment was built."""
        return len(self.parts.delta)

    @property
    def removed_entries(self) -> int:
        """How many entries of the segment are no longer there."""
        return len(self.parts.tombstones.rows)

    @property
    def vector_entries(self) -> int:
        """How many live entries have a vector."""
        return self.parts.vectors

    @property
    def dimensions(self) -> int:
        """How long the vectors are."""
        return self.parts.base.vectors.dimensions

    @property
    def worth_merging(self) -> bool:
        """True once so much has changed that searching pays for it."""
        changed = self.delta_entries + self.removed_entries
        return changed > max(_SMALLEST_MERGE, _MERGE_SHARE * len(self.parts.base))

    def entry_ids(self) -> Ids:
        """Return the ids of all live entries, ascending."""
        return self.parts.entry_ids()

    @cached_property
    def _scorer(self) -> BM25Scorer:
        return BM25Scorer(self.parts)
