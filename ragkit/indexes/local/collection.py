"""The local index of one collection at one level: ``EntryIndex`` over FAISS and BM25."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property, lru_cache, partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.bm25 import Bm25Parameters
from ragkit.indexes.local.document_words import DocumentWords
from ragkit.indexes.local.live_rows import LiveRows
from ragkit.indexes.local.scorer import BM25Scorer
from ragkit.indexes.local.search import LocalSearch
from ragkit.indexes.local.segment import Delta, Segment, Tombstones
from ragkit.indexes.protocol import EntryFilter, IndexQuery, VectorSearch
from ragkit.indexes.rows import Bools, EntryRows, Ids, TokenColumn
from ragkit.types import LEVEL_CODES, Field, Level, Version

_EVERYTHING = EntryFilter()
_AUTO = VectorSearch()
_UNFILLED = Version(0)
_NO_ROWS = np.zeros(0, np.int64)
_TEXT_ONLY: Mapping[Field, float] = {Field.TEXT: 1.0}


class CollectionIndex(LiveRows):
    """Finds entries by words and by vectors. Immutable: a change returns another value.

    Until the next merge, rows of the segment keep the length normalisation of the time it was
    built; all other statistics count what is live, added entries included.
    """

    def __init__(
        self, base: Segment, delta: Delta, tombstones: Tombstones, version: Version
    ) -> None:
        super().__init__(base, delta, tombstones)
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
        rows, present = self.base.lookup.find(removed)
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
            self,
            self.scorer,
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

    def holding(self, token_ids: Sequence[int]) -> tuple[Ids, Ids]:
        """Return the live entries that have all tokens, and their documents (``EntryIndex``)."""
        keywords = self.base.keywords.get(Field.TEXT)
        tokens = list(dict.fromkeys(token_ids))
        rows = keywords.rows_with(np.array(tokens, np.int64)) if keywords else [_NO_ROWS]
        added = [self.delta.counts_of(Field.TEXT, token)[0] for token in tokens]
        base = _in_all(rows)
        base = base[self.alive[base]]
        delta, new = _in_all(added), self.delta.rows
        entries = np.concatenate([self.base.entry_ids[base], new.entry_ids[delta]])
        documents = np.concatenate([self.base.document_ids[base], new.document_ids[delta]])
        order = np.argsort(entries, kind="stable")
        return entries[order], documents[order]

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
