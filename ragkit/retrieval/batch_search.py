"""A batch of queries put to the indexes of the searched levels, and what they find ranked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce

import numpy as np

from ragkit.catalog import Catalog
from ragkit.catalog.records import CollectionRecord
from ragkit.indexes.protocol import Candidates, IndexKind, IndexSearch
from ragkit.indexes.rows import Ids
from ragkit.options import Fusion, Mode, SearchOptions
from ragkit.retrieval.candidates import (
    entry_filter,
    find_candidates,
    put_to,
    with_all_of,
    with_those_of,
)
from ragkit.retrieval.definitions import with_definitions
from ragkit.retrieval.everywhere import Indexes
from ragkit.retrieval.figures import of_figures, with_figures
from ragkit.retrieval.grouping import Group, Grouping, with_parts
from ragkit.retrieval.hit_lookups import HitLookups
from ragkit.retrieval.hits import Hit, Ranking
from ragkit.retrieval.levels import (
    COARSE,
    SEARCHED_LEVELS,
    best_by_words,
    full_words,
    prefer_finer,
)
from ragkit.retrieval.measuring import measured
from ragkit.retrieval.merge import best_of_entries
from ragkit.retrieval.naming import named_documents, named_files
from ragkit.retrieval.proximity import Scores
from ragkit.retrieval.query.encoding import Query, QueryEncoder
from ragkit.retrieval.query.parser import ParsedQuery
from ragkit.retrieval.query.scope import Scope, scope_of
from ragkit.retrieval.ranking import Within, rank, with_places
from ragkit.retrieval.stages import StageTimer
from ragkit.types import Level

NO_VECTORS = "Minimum similarity has no effect here: keyword search compares no vectors."
"""The notice of a search that was to leave out what is unlike, and cannot tell."""


class BatchSearch:
    """Ranks the candidates of a batch of queries. Only reads, and is safe between threads."""

    def __init__(self, catalog: Catalog, indexes: Indexes, encoder: QueryEncoder) -> None:
        self._catalog = catalog
        self._encoder = encoder
        self._indexes = indexes

    def scopes(self, query: Query) -> list[tuple[CollectionRecord, Scope]]:
        """Return the searched collections, each with what may be found in it."""
        if not (query.filters or query.parsed.restricts):
            return [(collection, Scope()) for collection in query.collections]
        scopes = []
        for collection in query.collections:
            chunks = self._indexes.current(collection, Level.CHUNK)
            scopes.append((collection, scope_of(self._catalog, chunks, collection, query)))
        return scopes

    def ranked(
        self, queries: Sequence[Query], depth: int, options: SearchOptions, timer: StageTimer
    ) -> tuple[list[list[Hit]], list[IndexSearch]]:
        """Return each query's best hits of all searched levels, and the searches that found them.

        All queries have the same collections and filters.
        """
        hits: list[list[Hit]] = [[] for _ in queries]
        of_all_levels: list[IndexSearch] = []
        scopes: list[tuple[CollectionRecord, Scope]] = []
        levels = SEARCHED_LEVELS[options.granularity]
        compared = options.mode is not Mode.KEYWORD
        of_chunks: tuple[list[IndexSearch], Scores] | None = None
        if options.min_similarity > 0 and not compared:
            timer.notices.append(NO_VECTORS)
        rankings: list[tuple[Ranking, Mapping[IndexKind, Candidates]]] = []
        for level in levels:
            suffix = "" if level is Level.CHUNK else f" ({level.value})"
            with timer.stage(f"filters{suffix}", 0) as stage:
                scopes = scopes or self.scopes(queries[0])
                searches = self._put(queries, scopes, level, options)
                stage.out = sum(search.passing for search in searches)
            of_all_levels += searches
            candidates = find_candidates(searches, queries, depth, options, timer, suffix)
            if is_fused(options) and (alone := of_figures(queries, options)):
                having = self._put(alone, scopes, level, options)
                candidates = with_those_of(candidates, searches, having, depth, options)
            within: list[Within] = []
            if level is Level.CHUNK:
                within = self._within(queries, searches, scopes, depth, options, timer)
            count = sum(len(of_kind.entry_ids) for of_kind in candidates.values())
            with timer.stage(f"fusion{suffix}", count) as stage:
                full = None
                if level is Level.BLOCK and of_chunks and IndexKind.KEYWORD in candidates:
                    by_words = candidates[IndexKind.KEYWORD]
                    full = full_words(by_words, *of_chunks, self._catalog.entries.of_chunk)
                ranking = rank(candidates, searches, queries, options, level, within, full)
                if is_fused(options):
                    ranking = self._with_asked(ranking, searches, queries, options, level)
                if level is Level.CHUNK and len(levels) > 1:
                    of_chunks = searches, best_by_words(ranking)
                ranked = len(ranking.entry_ids)
                if options.min_similarity > 0 and compared:
                    ranking = without_unlike(ranking, searches, options)
                ranking = with_places(ranking, self._catalog.documents.by_path)
                rankings.append((ranking, candidates))
                merge = options.question_merge if compared else None
                found = ranking.hits(depth, searches, merge)
                for of_query, best in zip(hits, found, strict=True):
                    stage.out += len(best)
                    of_query += best
                shares = ", ".join(f"{part.index} {part.weights[-1]:.2f}" for part in ranking.parts)
                unlike = ranked - len(ranking.entry_ids)
                left_out = f", {unlike} unlike removed" if unlike else ""
                stage.note = f"{options.fusion.value}: {shares}{left_out}"
        timer.measure = partial(measured, rankings)
        if len(levels) > 1:
            hits = [prefer_finer(of_query) for of_query in hits]
        return hits, of_all_levels

    def _with_asked(
        self,
        ranking: Ranking,
        searches: Sequence[IndexSearch],
        queries: Sequence[Query],
        options: SearchOptions,
        level: Level,
    ) -> Ranking:
        """Add what queries ask for in particular: a figure, the meaning of a term."""
        ranking = with_figures(ranking, searches, queries, options)
        if level is not Level.CHUNK:
            return ranking
        return with_definitions(ranking, queries, HitLookups(self._catalog, "").texts, options)

    def with_parts(
        self,
        groups: Sequence[Group],
        queries: Sequence[Query],
        options: SearchOptions,
        timer: StageTimer,
    ) -> Sequence[Group]:
        """Return groups with the best chunks of the sections and documents found as a whole.

        For several queries, such as the segments of a text, a chunk has its best score.
        """
        if COARSE.isdisjoint(SEARCHED_LEVELS[options.granularity]):
            return groups
        documents = sorted(
            {hit.document_id for own in groups for hit in own.hits if hit.level in COARSE}
        )
        if not documents:
            return groups
        ids = np.array(documents, np.int64)
        chunks = best_of_entries(self.chunks_of(ids, queries, options, timer))
        sections = self._catalog.entries.positions(documents, Level.SECTION)
        return with_parts(groups, chunks, sections, options)

    def chunks_of(
        self, documents: Ids, queries: Sequence[Query], options: SearchOptions, timer: StageTimer
    ) -> list[list[Hit]]:
        """Return for each query all chunks of some documents as hits, scored as in a search of all.

        ``documents`` ascend.
        """
        with timer.stage("best chunks", len(documents)) as stage:
            scopes = self.scopes(queries[0])
            only = [(collection, scope.among(documents)) for collection, scope in scopes]
            searches = self._put(queries, scopes, Level.CHUNK, options)
            inside = self._put(queries, only, Level.CHUNK, options)
            depth, untimed = max(options.candidates, options.limit), StageTimer()
            candidates = find_candidates(searches, queries, depth, options, untimed)
            within = self._within(queries, searches, scopes, depth, options, untimed)
            candidates = with_all_of(candidates, searches, inside, queries, options, untimed)
            ranking = rank(candidates, searches, queries, options, Level.CHUNK, within)
            shown = set(documents.tolist())
            hits = [
                [hit for hit in of_query if hit.document_id in shown] for of_query in ranking.hits()
            ]
            stage.out = sum(map(len, hits))
        return hits

    def _put(
        self,
        queries: Sequence[Query],
        scopes: Sequence[tuple[CollectionRecord, Scope]],
        level: Level,
        options: SearchOptions,
    ) -> list[IndexSearch]:
        """Search the index of a level of each collection for entries of its scope."""
        if level is Level.BLOCK:
            scopes = [(search, self._in_chunks(search, scope)) for search, scope in scopes]
        return [
            put_to(
                self._indexes.current(collection, level),
                queries,
                entry_filter(scope, level, options),
                options,
            )
            for collection, scope in scopes
        ]

    def _in_chunks(self, collection: CollectionRecord, scope: Scope) -> Scope:
        """Return a scope for blocks: those in the chunks that a scope lets through."""
        blocks_of = self._catalog.entries.blocks_of
        entries = [] if scope.entry_ids is None else [scope.entry_ids]
        if scope.chunk_ids is not None:
            entries.append(blocks_of(collection.id, scope.chunk_ids.tolist()))
        if scope.without_chunk_ids is not None:
            without = scope.without_chunk_ids.tolist()
            entries.append(blocks_of(collection.id, without, inside=False))
        return replace(scope, entry_ids=reduce(np.intersect1d, entries)) if entries else scope

    def _within(
        self,
        queries: Sequence[Query],
        searches: Sequence[IndexSearch],
        scopes: Sequence[tuple[CollectionRecord, Scope]],
        depth: int,
        options: SearchOptions,
        timer: StageTimer,
    ) -> list[Within]:
        """Search the documents that queries name for the rest of each of those queries.

        Empty unless the scores of both indexes are joined by weights: only then does a name count.
        """
        if not is_fused(options) or options.name_weight <= 0:
            return []
        indexes = [search.index for search in searches]
        nameable = self._catalog.documents.nameable
        ids = [collection.id for collection, _ in scopes]
        with_name = partial(self._catalog.documents.with_file_name, collection_ids=ids)
        rankings = []
        for number, query in enumerate(queries):
            named = named_files(query, with_name) or named_documents(query, indexes, nameable)
            if named is None:
                continue
            with timer.stage("named documents", len(named.documents)) as stage:
                # What is left of a question when names are taken out is no quotation.
                options = replace(options, document_weight=0.0, verbatim_weight=0.0)
                parsed = ParsedQuery(named.rest)
                rest = self._encoder.encode([parsed], options, query.collections)
                if rest[0].trouble:
                    stage.note = "not asked: the question has no vector"
                    timer.notices.append(rest[0].trouble)
                    continue
                filters = [
                    entry_filter(scope.among(named.documents), Level.CHUNK, options)
                    for _, scope in scopes
                ]
                inside = [
                    put_to(index, rest, entry_filter, options)
                    for index, entry_filter in zip(indexes, filters, strict=True)
                ]
                candidates = find_candidates(inside, rest, depth, options, StageTimer())
                ranking = rank(candidates, inside, rest, options, Level.CHUNK)
                rankings.append(Within(number, ranking, named.documents, named.shares))
                stage.out, stage.note = len(ranking.entry_ids), f"asked: {named.rest}"
        return rankings

    def all_found(self, query: Query, grouping: Grouping) -> bool:
        """Return whether all indexed documents were found, so that a deeper search adds none."""
        counts = self._catalog.documents.counts
        indexed = sum(counts(collection.id).indexed for collection in query.collections)
        return len({hit.document_id for hit in grouping.hits}) >= indexed


def is_fused(options: SearchOptions) -> bool:
    """Return whether the scores of both indexes are joined by weights."""
    return options.mode is Mode.HYBRID and options.fusion is Fusion.WEIGHTED


def without_unlike(
    ranking: Ranking, searches: Sequence[IndexSearch], options: SearchOptions
) -> Ranking:
    """Return a ranking without rows whose cosine with the query is below ``min_similarity``.

    What stays keeps its score. An entry without a vector has a cosine of 0.
    """
    every = np.arange(len(ranking.entry_ids))
    cosines = ranking.cosines(every, searches, options.question_merge)
    rows = np.flatnonzero(cosines >= options.min_similarity)
    parts = (
        replace(part, ranks=part.ranks[rows], raw=part.raw[rows], normalised=part.normalised[rows])
        for part in ranking.parts
    )
    return replace(
        ranking,
        queries=ranking.queries[rows],
        entry_ids=ranking.entry_ids[rows],
        document_ids=ranking.document_ids[rows],
        chunk_indexes=ranking.chunk_indexes[rows],
        levels=ranking.levels[rows],
        parts=tuple(parts),
    )
