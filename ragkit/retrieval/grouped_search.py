"""The groups of one query: ranked deep enough to fill a page, with what language models add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragkit.catalog import Catalog
from ragkit.indexes.protocol import IndexSearch
from ragkit.options import Phrasings, Rerank, SearchOptions, Sort
from ragkit.results import PhrasingOutcome, RerankOutcome
from ragkit.retrieval.batch_search import BatchSearch
from ragkit.retrieval.grouping import Grouping, group
from ragkit.retrieval.hits import Hit
from ragkit.retrieval.listing import by_date
from ragkit.retrieval.query.encoding import Query, QueryEncoder
from ragkit.retrieval.query.parser import ParsedQuery
from ragkit.retrieval.stages import StageTimer

if TYPE_CHECKING:
    from ragkit.retrieval.hit_lookups import HitLookups
    from ragkit.retrieval.phrasings import OpenQueryWriter, Phrased
    from ragkit.retrieval.rerank import OpenGrader

_MOST_CANDIDATES = 1000
_WIDEN = 4


@dataclass(frozen=True, slots=True)
class FoundGroups:
    """The groups that a query found, the searches that found them, and what models added."""

    grouping: Grouping
    searches: Sequence[IndexSearch] = ()
    rerank: RerankOutcome | None = None
    phrasings: PhrasingOutcome | None = None


class GroupedSearch:
    """Finds the groups of one query. Reads only; safe to share between threads."""

    def __init__(self, catalog: Catalog, encoder: QueryEncoder, batches: BatchSearch) -> None:
        self._catalog = catalog
        self._encoder = encoder
        self._batches = batches

    def find(
        self,
        query: Query,
        options: SearchOptions,
        timer: StageTimer,
        lookups: HitLookups,
        open_grader: OpenGrader | None,
        open_query_writer: OpenQueryWriter | None,
    ) -> FoundGroups:
        """Rank as deep as it takes to fill a page, group, and rerank if the options say so.

        If they ask for other phrasings of the question, a model writes them first, and they are
        searched for in the same batch.
        """
        depth = max(options.candidates, options.limit)
        limit, listed = options.limit, listed_count(options)
        if listed != limit:
            options = replace(options, limit=listed)
        if options.sort.by_date:
            # What is newest or oldest is chosen among all that are good.
            options = replace(options, limit=_MOST_CANDIDATES, mmr_lambda=None)
        others = None
        if options.phrasings is not Phrasings.NONE:
            others = self._phrased(query, options, timer, open_query_writer)
        queries = [query, *others.queries] if others else [query]
        while True:
            lists, searches = self._batches.ranked(queries, depth, options, timer)
            hits = others.merge(lists, options.phrasings) if others else lists[0]
            grouping = _timed_group(hits, options, lookups, timer)
            short = len(grouping.groups) < limit and len(hits) >= depth
            if not short or depth >= _MOST_CANDIDATES or self._batches.all_found(query, grouping):
                break
            depth = min(depth * _WIDEN, _MOST_CANDIDATES)
        reranked = None
        if options.rerank is not Rerank.NONE and query.text:
            hits, reranked = _reranked(query.text, hits, options, timer, lookups, open_grader)
            if reranked.graded:
                grouping = _timed_group(hits, options, lookups, timer)
        if options.sort.by_date:
            oldest_first = options.sort is Sort.OLDEST
            grouping = by_date(self._catalog, grouping, listed, oldest_first=oldest_first)
        outcome = others.brought(lists, grouping.groups, limit) if others else None
        return FoundGroups(grouping, searches, reranked, outcome)

    def _phrased(
        self,
        query: Query,
        options: SearchOptions,
        timer: StageTimer,
        open_query_writer: OpenQueryWriter | None,
    ) -> Phrased:
        """Return queries in a model's words."""
        from ragkit.retrieval.phrasings import phrased

        def encode(texts: Sequence[str]) -> list[Query]:
            parsed = [ParsedQuery(text) for text in texts]
            return self._encoder.encode(parsed, options, query.collections)

        with timer.stage("phrasings", 1) as stage:
            others = phrased(query, options.phrasings, open_query_writer, encode)
            stage.out = len(others.queries)
            if others.outcome is not None:
                stage.note = others.outcome.model or "failed: only the question itself"
        return others


def listed_count(options: SearchOptions) -> int:
    """Return how many results an answer has; how deep it is searched is up to ``limit``."""
    return max(options.limit, options.judged_depth or 0)


def _reranked(
    text: str,
    hits: Sequence[Hit],
    options: SearchOptions,
    timer: StageTimer,
    lookups: HitLookups,
    open_grader: OpenGrader | None,
) -> tuple[list[Hit], RerankOutcome]:
    """Return the hits in the order of a model's grades; unchanged if sorted by date."""
    from ragkit.retrieval.rerank import rerank, rerank_candidates

    if options.sort.by_date:
        notice = f"The {options.sort} are listed first. Sort by relevance to have results reranked."
        return [*hits], RerankOutcome(note=f"the {options.sort} first", notice=notice)
    with timer.stage("reranking", len(rerank_candidates(hits, options))) as stage:
        hits, reranked = rerank(text, hits, options, lookups, open_grader)
        stage.out, stage.note = reranked.graded, reranked.note
    return hits, reranked


def _timed_group(
    hits: Sequence[Hit], options: SearchOptions, lookups: HitLookups, timer: StageTimer
) -> Grouping:
    with timer.stage("deduplication", len(hits)) as stage:
        grouping = group(hits, options, lookups)
        stage.out, stage.note = len(grouping.hits), grouping.note
    return grouping
