"""Searching all of very many collections: which of them are opened for a question.

Opening thousands of indexes takes seconds, and only so many stay open. So the chunks of all are
held together as well (``Together``): a question asks these where its best candidates lie, and is
then answered by those collections, in their own indexes and with their own scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ragkit.catalog import Catalog
from ragkit.catalog.records import CollectionRecord
from ragkit.errors import QueryError
from ragkit.indexes.local.together import AllChunks, Together
from ragkit.indexes.protocol import EntryIndex, IndexBackend, IndexKind, IndexSearch
from ragkit.indexes.rows import Ids
from ragkit.models.base import Embedder
from ragkit.options import Mode, SearchOptions
from ragkit.retrieval.candidates import candidates_of, entry_filter, field_weights
from ragkit.retrieval.query.encoding import Query
from ragkit.retrieval.query.scope import Scope, scope_of
from ragkit.retrieval.turns import TURNS
from ragkit.types import Level

MOST_NAMED = 1000
"""More collections than these are searched only where they are all of a library."""

MOST_OPENED = 200
"""In so many collections a question is then searched for."""

_DEPTHS = (1_000, 10_000, 100_000)
"""So many candidates are looked at, the next number where nearly all are copies of a few texts."""

_MOST_COPIES, _ENOUGH = 3, 50

PATIENCE = 20.0
"""So many seconds a question waits until the chunks of all have been read."""


class Indexes(Protocol):
    """The part of ``IndexBackend`` by which is searched."""

    def current(self, collection: CollectionRecord, level: Level = Level.CHUNK) -> EntryIndex:
        """Return the index of exactly the collection's present entries of a level."""

    def generation(self, collection: CollectionRecord) -> str:
        """Return the name of the chunk index's generation; empty if it is only in memory."""

    def pop_notice(self, collection: CollectionRecord) -> str:
        """Return a notice of a repair, once; an empty string if there is none."""


class Everywhere:
    """The indexes of collections, and of all of a library as one. Safe to share between threads.

    What stands for all (``CollectionRecord.everything``) has an index of chunks only.
    """

    def __init__(self, catalog: Catalog, indexes: IndexBackend, embedder: Embedder) -> None:
        self._catalog = catalog
        self._indexes = indexes
        self._together = Together(catalog.entries, embedder)

    def named(self, names: Sequence[str]) -> tuple[CollectionRecord, ...]:
        """Return the collections of these names; one that stands for all if they are very many.

        Raises:
            NotFoundError: a collection is not there.
            QueryError: they are very many, and not all.
        """
        collections = self._catalog.collections
        names = tuple(dict.fromkeys(names))
        if len(names) <= MOST_NAMED:
            return tuple(map(collections.get, names))
        collections.get(names[0])
        if len(names) != collections.count():
            raise QueryError(
                f"{len(names):,} collections were chosen.",
                f"Choose up to {MOST_NAMED:,}, or all of them.",
            )
        return (CollectionRecord.everything(collections.newest()),)

    def current(self, collection: CollectionRecord, level: Level = Level.CHUNK) -> EntryIndex:
        """Return the index of a collection, or of the chunks of all collections together."""
        if collection.is_everything:
            return self._chunks().index
        return self._indexes.current(collection, level)

    def generation(self, collection: CollectionRecord) -> str:
        """Return the name of the chunk index's generation; empty if it is only in memory."""
        return "" if collection.is_everything else self._indexes.generation(collection)

    def pop_notice(self, collection: CollectionRecord) -> str:
        """Return a notice of a repair, once; an empty string if there is none."""
        return "" if collection.is_everything else self._indexes.pop_notice(collection)

    def nearest(
        self, queries: Sequence[Query], options: SearchOptions
    ) -> tuple[tuple[CollectionRecord, ...], IndexSearch]:
        """Return the collections that have the best for queries of all, and the search for that.

        All queries have the same filters.
        """
        chunks, query = self._chunks(), queries[0]
        (everything,) = query.collections
        scope = Scope()
        if query.filters or query.parsed.restricts:
            scope = scope_of(self._catalog, chunks.index, everything, query)
        restriction = entry_filter(scope, Level.CHUNK, options)
        weights = field_weights(chunks.index, options)
        search = chunks.index.search(queries, restriction, weights)
        chosen: Ids = np.zeros(0, np.int64)
        for depth in (max(options.candidates, options.limit, least) for least in _DEPTHS):
            lists: list[Ids] = []
            for asked in queries if options.mode is not Mode.VECTOR else ():
                lists += chunks.best_by_words(asked.counted, weights, search.mask, depth)
            if options.mode is not Mode.KEYWORD:
                candidates = candidates_of(IndexKind.VECTOR, [search], depth, options)
                numbers = range(len(queries))
                lists += [candidates.entry_ids[candidates.queries == number] for number in numbers]
            apart = [_without_copies(ids, chunks.index.content_keys(ids)) for ids in lists]
            chosen = _interleaved([chunks.homes_of(ids) for ids in apart])[:MOST_OPENED]
            if len(chosen) >= _ENOUGH or max(map(len, lists)) < depth:
                break
        return tuple(self._catalog.collections.of_ids(chosen.tolist())), search

    def _chunks(self) -> AllChunks:
        with TURNS.aside():
            chunks = self._together.current(PATIENCE)
        if chunks is None:
            raise QueryError(
                "All collections are being made ready to be searched at once.",
                "Ask again in some seconds, or choose some of them.",
            )
        return chunks


def _without_copies(entry_ids: Ids, keys: NDArray[np.uint64]) -> Ids:
    """Return entries with at most ``_MOST_COPIES`` of the same text, the first ones.

    Where many collections have the same files, the best would else be one text in all of them.
    """
    order = np.argsort(keys, kind="stable")
    ascending = keys[order]
    places = np.empty(len(keys), np.int64)
    places[order] = np.arange(len(keys)) - np.searchsorted(ascending, ascending)
    kept: Ids = entry_ids[(places < _MOST_COPIES) | (keys == 0)]
    return kept


def _interleaved(lists: Sequence[Ids]) -> Ids:
    """Merge lists of ids; each id once, ordered by its best place in any list."""
    places = np.concatenate([np.arange(len(documents)) for documents in lists])
    every = np.concatenate(lists)[np.argsort(places, kind="stable")]
    values, first = np.unique(every, return_index=True)
    ids: Ids = values[np.argsort(first)]
    return ids[ids > 0]
