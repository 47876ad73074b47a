"""The index of one collection at one level on a server: ``EntryIndex`` over ``Points``."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.protocol import EntryFilter, IndexQuery, VectorSearch
from ragkit.indexes.qdrant.points import (
    CHUNK,
    DOCUMENT,
    ENTRY,
    HAS_VECTOR,
    LEVEL,
    PARENT,
    TEXT_ONLY,
    Averages,
    column_of,
    rows_of,
)
from ragkit.indexes.qdrant.search import QdrantSearch
from ragkit.indexes.qdrant.store import Condition, Holding, Points, any_of, at_least, either, is_
from ragkit.indexes.qdrant.stored_rows import StoredRows
from ragkit.indexes.rows import Bools, ChunkGroups, EntryRows, Ids, TokenColumn, join
from ragkit.types import LEVEL_CODES, Field, Level, Version

_OWN = [LEVEL_CODES[level] for level in (Level.CHUNK, Level.SECTION, Level.DOCUMENT)]
_COMMON = 16_000
_WRITTEN_AT_ONCE = 1000
_EVERYTHING, _AUTO = EntryFilter(), VectorSearch()


class QdrantIndex(StoredRows):
    """What a server holds of a collection at one version. What it was told once, it keeps.

    A change is written to the server, and gives another value; this one goes on seeing what it saw.
    """

    def __init__(self, points: Points, dimensions: int) -> None:
        super().__init__(points)
        self.dimensions = dimensions

    @property
    def version(self) -> Version:
        """The version of the collection that it holds."""
        return self.points.holding.version

    # -- changes ---------------------------------------------------------------------------

    def upsert(self, rows: EntryRows, version: Version) -> QdrantIndex:
        """Return the index with these entries; one that it holds already is replaced.

        A catalog never replaces an entry: only then is everything written anew.
        """
        if len(rows) and int(rows.entry_ids[0]) <= self.points.holding.last:
            kept = self.scan()
            kept = kept.take(np.flatnonzero(~np.isin(kept.entry_ids, rows.entry_ids)))
            rows = join([kept, rows])
            anew = QdrantIndex(self.points.at(new_holding(rows)), self.dimensions)
            return anew.changed([rows], (), version)
        return self.changed([rows], (), version)

    def remove(self, entry_ids: Iterable[int] | Ids, version: Version) -> QdrantIndex:
        """Return the index without these entries; unknown ones are ignored."""
        return self.changed((), entry_ids, version)

    def changed(
        self, added: Iterable[EntryRows], removed: Iterable[int] | Ids, version: Version
    ) -> QdrantIndex:
        """Return the index with what was added since, in slices, and without what went.

        The version is noted last: until then, whoever comes next does all of it again.
        """
        points = self.points
        # Before anything is written: entries that came and went since are known by their ids.
        points.retire([int(entry) for entry in removed], version.number)
        for some in (each for rows in added for each in slices_of_chunks(rows, _WRITTEN_AT_ONCE)):
            points.insert(some)
            points = points.at(replace(points.holding, last=int(some.entry_ids[-1])))
            # Of what is written, nothing need be written again.
            points.note()
        points = points.at(replace(points.holding, version=version))
        points.note()
        return QdrantIndex(points, self.dimensions)

    # -- searching -------------------------------------------------------------------------

    def search(
        self,
        queries: Sequence[IndexQuery],
        entry_filter: EntryFilter | None = None,
        field_weights: Mapping[Field, float] | None = None,
        vector_search: VectorSearch | None = None,
    ) -> QdrantSearch:
        """Put queries to the index (``EntryIndex``)."""
        return QdrantSearch(
            self,
            self,
            queries,
            entry_filter or _EVERYTHING,
            TEXT_ONLY if field_weights is None else field_weights,
            vector_search or _AUTO,
        )

    # -- what is known of it ---------------------------------------------------------------

    @cached_property
    def entries_per_chunk(self) -> float:
        """How many entries a chunk has on average; 1 where none has more than one."""
        own = self.points.count([any_of(LEVEL, _OWN)]) if self.entries else 0
        return self.entries / own if own else 1.0

    @cached_property
    def fields(self) -> frozenset[Field]:
        """The fields in which any entry has tokens."""
        return frozenset(field for field in Field if self.counts.histogram(field))

    def size(self, levels: Sequence[Level], fields: Iterable[Field]) -> int:
        """Return how many bytes the vectors of some levels and the tokens of some fields take."""
        vectors = 0
        if levels:
            codes = [LEVEL_CODES[level] for level in levels]
            vectors = self.points.count([any_of(LEVEL, codes), is_(HAS_VECTOR, 1)])
        tokens = sum(self.counts.totals(field).tokens for field in set(fields))
        return 2 * self.dimensions * vectors + 4 * tokens

    def get(self, entry_ids: Ids, field: Field) -> TokenColumn:
        """Return the tokens of entries in reading order; none for an unknown entry."""
        rows = self.rows(entry_ids.tolist())
        return column_of([rows.get(entry) for entry in entry_ids.tolist()], field)

    def content_keys(self, entry_ids: Ids) -> NDArray[np.uint64]:
        """Return keys that are equal for the same texts (``EntryIndex``)."""
        rows = self.rows(entry_ids.tolist())
        keys = [rows[entry].content if entry in rows else 0 for entry in entry_ids.tolist()]
        return np.array(keys, np.int64).view(np.uint64)

    def idf(self, token_ids: Sequence[int], field: Field) -> NDArray[np.float32]:
        """Return the inverse document frequency of tokens among its entries, (m,)."""
        return self.counts.totals(field).idf(self.document_frequencies(token_ids, field))

    def document_frequencies(self, token_ids: Sequence[int], field: Field) -> Ids:
        """Return how many of its entries have each token, (m,)."""
        return self.counts.frequencies(token_ids, ((field, 1.0),))

    def holders(self, token_ids: Sequence[int], documents: Ids, fields: Sequence[Field]) -> Bools:
        """Return which documents have each token in one of the fields (``EntryIndex``)."""
        holding = np.zeros((len(token_ids), len(documents)), np.bool_)
        if holding.size and fields:
            among = any_of(DOCUMENT, documents.tolist())
            for number, token in enumerate(token_ids):
                having = either([is_(field.value, token) for field in fields])
                counts = self.points.facet(DOCUMENT, [among, having])
                holding[number] = np.isin(documents, list(counts))
        return holding

    @property
    def documents(self) -> int:
        """How many documents its entries are of."""
        return len(self.kept("documents", lambda: self.points.facet(DOCUMENT)))

    def openings(self, token_ids: Sequence[int], least: int) -> list[Ids]:
        """Return the documents that open with each token (``EntryIndex``)."""
        first = is_(CHUNK, 0)
        return [self._long(self._having(token, Field.TEXT, first), least) for token in token_ids]

    def throughout(self, token_ids: Sequence[int], field: Field, least: int) -> list[Ids]:
        """Return the documents that have each token in every chunk (``EntryIndex``)."""
        documents = []
        for token in token_ids:
            having = self._having(token, field)
            chunks = self._chunks if having else {}
            documents.append(
                self._long(
                    {document: n for document, n in having.items() if n == chunks[document]}, least
                )
            )
        return documents

    def spread(self, token_ids: Sequence[int]) -> list[int]:
        """Return how many documents have each token (``EntryIndex``)."""
        return [len(self._having(token, Field.TEXT)) for token in token_ids]

    def _having(self, token: int, field: Field, *conditions: Condition) -> dict[int, int]:
        """Return the documents with a token, and in how many chunks each has it."""
        count = int(self.document_frequencies([token], field)[0])
        if not 0 < count <= _COMMON:
            return {}
        conditions_of_token = [is_(field.value, token), any_of(LEVEL, _OWN), *conditions]
        key = "having", token, field, len(conditions)
        return self.kept(key, lambda: self.points.facet(DOCUMENT, conditions_of_token))

    @property
    def _chunks(self) -> dict[int, int]:
        """How many chunks each document has."""
        own = [any_of(LEVEL, _OWN)]
        return self.kept("chunks", lambda: self.points.facet(DOCUMENT, own))

    def _long(self, documents: Iterable[int], least: int) -> Ids:
        documents = list(documents)
        chunks = self._chunks if documents else {}
        return np.array(
            sorted(document for document in documents if chunks[document] >= least), np.int64
        )

    def with_vectors(self, entry_ids: Ids, level: Level) -> Bools:
        """Return which chunks have a vector of a level (``EntryIndex``)."""
        if not len(entry_ids):
            return np.zeros(0, np.bool_)
        conditions = [any_of(PARENT, entry_ids.tolist()), is_(LEVEL, LEVEL_CODES[level])]
        points = self.points.scroll([*conditions, is_(HAS_VECTOR, 1)], payload=[PARENT])
        having: Bools = np.isin(entry_ids, [(point.payload or {})[PARENT] for point in points])
        return having

    def holding(self, token_ids: Sequence[int]) -> tuple[Ids, Ids]:
        """Return the entries that have all tokens, and their documents (``EntryIndex``)."""
        if not token_ids:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        conditions = [is_(Field.TEXT.value, token) for token in dict.fromkeys(token_ids)]
        payloads = [
            point.payload or {}
            for point in self.points.scroll(conditions, payload=[ENTRY, DOCUMENT])
        ]
        pairs = sorted((payload[ENTRY], payload[DOCUMENT]) for payload in payloads)
        entries, documents = np.array(pairs, np.int64).reshape(-1, 2).T
        return entries, documents

    def scan(self, since: int = 0) -> EntryRows:
        """Return the entries with ids above ``since``, ordered by id."""
        later = [at_least(ENTRY, since + 1)] if since else []
        return rows_of(list(self.points.scroll(later, vectors=True)), self.dimensions)


def new_holding(rows: EntryRows) -> Holding:
    """Return what a server holds of a collection before its rows are written."""
    return Holding(uuid.uuid4().hex[:12], Averages.of(rows))


def slices_of_chunks(rows: EntryRows, size: int) -> Iterable[EntryRows]:
    """Yield rows in slices of that size or a little more: all entries of a chunk in one."""
    every = np.arange(len(rows), dtype=np.int64)
    starts = np.flatnonzero(ChunkGroups(rows.levels).parents(every) == every)
    start = 0
    while start < len(rows):
        later = starts[starts >= start + size]
        end = int(later[0]) if len(later) else len(rows)
        yield rows.take(np.arange(start, end))
        start = end
