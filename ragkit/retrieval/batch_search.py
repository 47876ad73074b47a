"""A batch of queries put to the indexes of the searched levels, and what they find ranked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragkit.catalog import Catalog
from ragkit.catalog.records import CollectionRecord
from ragkit.indexes.protocol import IndexBackend, IndexSearch
from ragkit.options import Fusion, SearchOptions
from ragkit.retrieval.candidates import entry_filter, find_candidates, put_to
from ragkit.retrieval.grouping import Grouping
from ragkit.retrieval.naming import named_documents
from ragkit.retrieval.query import Query, QueryEncoder
from ragkit.retrieval.query_parser import ParsedQuery
from ragkit.retrieval.ranking import (
    SEARCHED_LEVELS,
    Hit,
    Within,
    prefer_finer,
    rank,
    with_places,
)
from ragkit.retrieval.scope import Scope, scope_of
from ragkit.retrieval.stages import StageTimer
from ragkit.types import Level


class BatchSearch:
    """Ranks what the indexes find for a batch of queries. Reads only; safe between threads."""

    def __init__(self, catalog: Catalog, indexes: IndexBackend, encoder: QueryEncoder) -> None:
        self._catalog = catalog
        self._encoder = encoder
        self._indexes = indexes

    def scopes(self, query: Query) -> list[tuple[CollectionRecord, Scope]]:
        """Return the searched collections with what may be found in each."""
        if not (query.filters or query.parsed.restricts):
            return [(collection, Scope()) for collection in query.collections]
        current = self._indexes.current
        return [
            (one, scope_of(self._catalog, current(one, Level.CHUNK), one, query))
            for one in query.collections
        ]

    def ranked(
        self, queries: Sequence[Query], depth: int, options: SearchOptions, timer: StageTimer
    ) -> tuple[list[list[Hit]], list[IndexSearch]]:
        """Return the best hits of each query of a batch, at every level, and how they were found.

        All search the same collections under the same filters.
        """
        hits: list[list[Hit]] = [[] for _ in queries]
        of_all_levels: list[IndexSearch] = []
        scopes: list[tuple[CollectionRecord, Scope]] = []
        levels = SEARCHED_LEVELS[options.granularity]
        for level in levels:
            suffix = "" if level is Level.CHUNK else f" ({level.value})"
            with timer.stage(f"filters{suffix}", 0) as stage:
                scopes = scopes or self.scopes(queries[0])
                searches = [
                    put_to(
                        self._indexes.current(collection, level),
                        queries,
                        entry_filter(scope, level, options),
                        options,
                    )
                    for collection, scope in scopes
                ]
                stage.out = sum(search.passing for search in searches)
            of_all_levels += searches
            candidates = find_candidates(searches, queries, depth, options, timer, suffix)
            within: list[Within] = []
            fused = len(candidates) > 1 and options.fusion is Fusion.WEIGHTED
            if level is Level.CHUNK and fused and options.name_weight > 0:
                within = self._within(queries, searches, scopes, depth, options, timer)
            found = sum(len(of_kind.entry_ids) for of_kind in candidates.values())
            with timer.stage(f"fusion{suffix}", found) as stage:
                ranking = rank(candidates, searches, queries, options, level, within)
                ranking = with_places(ranking, self._catalog.documents.by_path)
                for of_query, best in zip(hits, ranking.hits(depth), strict=True):
                    stage.out += len(best)
                    of_query += best
                shares = ", ".join(f"{part.index} {part.weights[-1]:.2f}" for part in ranking.parts)
                stage.note = f"{options.fusion.value}: {shares}"
        if len(levels) > 1:
            hits = [prefer_finer(of_query) for of_query in hits]
        return hits, of_all_levels

    def _within(
        self,
        queries: Sequence[Query],
        searches: Sequence[IndexSearch],
        scopes: Sequence[tuple[CollectionRecord, Scope]],
        depth: int,
        options: SearchOptions,
        timer: StageTimer,
    ) -> list[Within]:
        """Ask the documents that some of the queries name for what is left of each."""
        indexes = [search.index for search in searches]
        options = replace(options, document_weight=0.0)
        found = []
        for number, query in enumerate(queries):
            named = named_documents(query, indexes, self._catalog.documents.nameable)
            if named is None:
                continue
            with timer.stage("named documents", len(named.documents)) as stage:
                parsed = ParsedQuery(named.rest)
                rest = self._encoder.encode([parsed], options, query.collections)
                filters = [
                    entry_filter(scope.among(named.documents), Level.CHUNK, options)
                    for _, scope in scopes
                ]
                inside = [
                    put_to(index, rest, wanted, options)
                    for index, wanted in zip(indexes, filters, strict=True)
                ]
                candidates = find_candidates(inside, rest, depth, options, StageTimer())
                ranking = rank(candidates, inside, rest, options, Level.CHUNK)
                found.append(Within(number, ranking, named.documents, named.shares))
                stage.out, stage.note = len(ranking.entry_ids), f"asked: {named.rest}"
        return found

    def all_found(self, query: Query, grouping: Grouping) -> bool:
        """Return whether every document there is has been found: looking deeper brings none."""
        counts = self._catalog.documents.counts
        indexed = sum(counts(collection.id).indexed for collection in query.collections)
        return len({hit.document_id for hit in grouping.hits}) >= indexed
