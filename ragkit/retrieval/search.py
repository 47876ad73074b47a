"""The engine: a question goes in, ranked and reconstructed documents come out."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import TYPE_CHECKING

import numpy as np

from ragkit.catalog import Catalog
from ragkit.catalog.records import CollectionRecord
from ragkit.errors import ModelError, RagkitError
from ragkit.indexes.protocol import EntryFilter, IndexBackend, IndexSearch
from ragkit.indexes.rows import Ids
from ragkit.models.base import Embedder
from ragkit.options import Contexts, Filters, IndexMode, Mode, QuestionMerge, Rerank, SearchOptions
from ragkit.results import Answer, Result, Trace
from ragkit.retrieval.answer_cache import AnswerCache
from ragkit.retrieval.assembly import assemble
from ragkit.retrieval.candidates import keyword_lists, put_to, vector_depth, vector_lists
from ragkit.retrieval.concurrency import Beside
from ragkit.retrieval.granularity import levels_of, prefer_finer
from ragkit.retrieval.grouping import Grouping, group
from ragkit.retrieval.highlight import Highlighter, question_words
from ragkit.retrieval.lookups import HitLookups
from ragkit.retrieval.multi_vector import IndexList
from ragkit.retrieval.query import Plan, Planner
from ragkit.retrieval.query_parser import ParsedQuestion
from ragkit.retrieval.ranking import Hit, index_weights, rank
from ragkit.retrieval.stage_timer import StageTimer
from ragkit.types import Level

if TYPE_CHECKING:
    from ragkit.results import RerankOutcome
    from ragkit.retrieval.rerank import OpenGrader

logger = logging.getLogger(__name__)

_MOST_CANDIDATES = 1000
_WIDEN = 4
_REMEMBERED_SECONDS = 300.0
_REST_AFTER_FAILURE, _SLOW_SECONDS = 10, 1.0
_WORTH_A_THREAD = 20_000


@dataclass(frozen=True, slots=True)
class Found:
    """The hits of a text, best first, and the tokens that it was taken apart into.

    ``also_in`` names for some documents others that hold the same text; ``notice`` says why only
    words were asked.
    """

    tokens: tuple[str, ...]
    hits: tuple[Hit, ...]
    also_in: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    notice: str = ""


class Engine:
    """Answers questions about a library. Reads only; safe to share between threads."""

    def __init__(
        self,
        catalog: Catalog,
        indexes: IndexBackend,
        embedder: Embedder,
        open_grader: OpenGrader | None = None,
    ) -> None:
        """Take what is read; ``open_grader`` gives what reranks, and is called only for that."""
        self.open_grader = open_grader
        self._catalog = catalog
        self._indexes = indexes
        self._embedder = embedder
        self._planner = Planner(catalog, embedder)
        self._recent = AnswerCache()
        self._beside = Beside()

    def search(self, question: str, options: SearchOptions) -> Answer:
        """Answer a question; the same library, question and options give the same answer.

        Raises:
            QueryError: when a filter in the question makes no sense.
            NotFoundError: when a collection is not there.
        """
        named = tuple(self._catalog.collections.get(name) for name in options.collections)
        key = self._key(question, options, named)
        known = self._recent.recall(key)
        if known is not None:
            return known
        answer, seconds = self._search(question, options, named)
        # A model that was chosen by itself is known by name only now.
        self._recent.remember(self._key(question, options, named), answer, seconds)
        logger.info(
            "search %.1f ms, %d results, stages %s",
            answer.trace.ms,
            len(answer.results),
            " ".join(f"{one.name}:{one.count_in}>{one.count_out}" for one in answer.trace.stages),
        )
        return answer

    def find_many(
        self, texts: Sequence[str], options: SearchOptions, clock: StageTimer
    ) -> list[Found]:
        """Rank what each of several plain texts finds, without reading filters in them.

        Raises:
            NotFoundError: when a collection is not there.
        """
        if not texts:
            return []
        named = tuple(self._catalog.collections.get(name) for name in options.collections)
        with clock.stage("question", len(texts)) as count:
            plans = self._planner.plans([ParsedQuestion(text) for text in texts], options, named)
            count.out = sum(len(plan.asked.token_ids) for plan in plans)
            count.note = plans[0].note
        options = plans[0].asking(options)
        depth = max(options.candidates, options.limit)
        fused = self._candidates_of(plans, options, depth, clock)
        lookups = self.lookups()
        with clock.stage("deduplication", sum(map(len, fused))) as count:
            lookups.content_keys([hit for hits in fused for hit in hits])
            selected = [group(hits, options, lookups) for hits in fused]
            count.out = sum(len(one.hits) for one in selected)
        return [
            Found(
                plan.tokens,
                one.hits,
                {own.document_id: own.also_in for own in one.groups if own.also_in},
                plan.trouble,
            )
            for plan, one in zip(plans, selected, strict=True)
        ]

    def order(self, text: str, options: SearchOptions) -> list[Hit]:
        """The best hit of each result that ``search`` gives for a plain text, in their order.

        Much quicker, since nothing is put together. Filters in the text are not read.

        Raises:
            NotFoundError: when a collection is not there.
            ModelError: the results were to be reranked and could not be.
        """
        named = tuple(self._catalog.collections.get(name) for name in options.collections)
        (plan,) = self._planner.plans([ParsedQuestion(text)], options, named)
        selected, ranked = self._ordered(plan, plan.asking(options), StageTimer())
        if ranked and ranked.failure:
            raise ModelError(ranked.failure)
        return [own.hits[0] for own in selected.groups]

    def present(
        self, selected: Grouping, options: SearchOptions, tokens: Sequence[str], words: str
    ) -> list[Result]:
        """Put results together from hits that were selected elsewhere."""
        highlighter = Highlighter(tokens, partial(question_words, words[:2000]))
        return assemble(self._catalog, selected.groups, options, highlighter)

    def _search(
        self, question: str, options: SearchOptions, named: Sequence[CollectionRecord]
    ) -> tuple[Answer, float]:
        """The answer, and for how many seconds it may be given again."""
        clock = StageTimer()
        with clock.stage("question", len(question)) as count:
            plan = self._planner.plan(question, options, named)
            count.out = len(plan.asked.token_ids)
            count.note = plan.note
        options = plan.asking(options)
        notices = list(plan.notices)
        selected, ranked = self._ordered(plan, options, clock)
        with clock.stage("reconstruction", len(selected.groups)) as count:
            results = self.present(selected, options, plan.tokens, plan.parsed.text)
            count.out = len(results)
        for collection in plan.collections:
            notices += filter(None, [self._indexes.pop_notice(collection)])
        notices += self.lacking(options, plan.collections)
        notices += [ranked.notice] if ranked and ranked.notice else []
        generation = "+".join(
            f"{one.name}@{one.version}:{self._indexes.generation(one) or 'memory'}"
            for one in plan.collections
        )
        trace = Trace(tuple(clock.stages), generation)
        seconds = 0.0 if plan.trouble else _REMEMBERED_SECONDS
        if ranked and ranked.failure:
            # A page is drawn often: what took long to fail is not tried each time.
            took = sum(one.ms for one in trace.stages if one.name == "reranking") / 1000
            seconds = min(seconds, _REST_AFTER_FAILURE * took) if took > _SLOW_SECONDS else 0.0
        return Answer(question, tuple(results), trace, tuple(notices), ranked), seconds

    def _ordered(
        self, plan: Plan, options: SearchOptions, clock: StageTimer
    ) -> tuple[Grouping, RerankOutcome | None]:
        """What a question finds, reranked where that is asked for."""
        fused, selected = self._enough(plan, options, clock)
        if options.rerank is Rerank.NONE or not plan.parsed.text:
            return selected, None
        from ragkit.retrieval.rerank import rerank, rerank_candidates

        lookups = self.lookups()
        with clock.stage("reranking", len(rerank_candidates(fused, options))) as count:
            fused, ranked = rerank(plan.parsed.text, fused, options, lookups, self.open_grader)
            count.out, count.note = ranked.graded, ranked.note
        if ranked.graded:
            selected = self._selected(fused, options, clock)
        return selected, ranked

    def _selected(
        self, fused: Sequence[Hit], options: SearchOptions, clock: StageTimer
    ) -> Grouping:
        with clock.stage("deduplication", len(fused)) as count:
            selected = group(fused, options, self.lookups())
            count.out, count.note = len(selected.hits), selected.note
        return selected

    def _enough(
        self, plan: Plan, options: SearchOptions, clock: StageTimer
    ) -> tuple[list[Hit], Grouping]:
        """What a question finds, looked for as deep as it takes to fill a page."""
        depth = max(options.candidates, options.limit)
        while True:
            fused = self._candidates(plan, options, depth, clock)
            selected = self._selected(fused, options, clock)
            short = len(selected.groups) < options.limit and len(fused) >= depth
            if not short or depth >= _MOST_CANDIDATES or self._all_found(plan, selected):
                return fused, selected
            depth = min(depth * _WIDEN, _MOST_CANDIDATES)

    def _all_found(self, plan: Plan, selected: Grouping) -> bool:
        """True when every document that there is has been found: looking deeper brings none."""
        counts = self._catalog.documents.counts
        there = sum(counts(collection.id).indexed for collection in plan.collections)
        return len({hit.document_id for hit in selected.hits}) >= there

    def lacking(
        self, options: SearchOptions, named: Sequence[CollectionRecord] | None = None
    ) -> list[str]:
        """Say where an approximate index is asked for and there is none."""
        if options.index is not IndexMode.ANN or options.mode is Mode.KEYWORD:
            return []
        if named is None:
            named = [self._catalog.collections.get(name) for name in options.collections]
        searches = [
            put_to(self._indexes.current(one, level), [], None, options)
            for one in named
            for level in levels_of(options.granularity)
        ]
        if any(search.strategy(1).missing for search in searches):
            return ["There is no approximate index: collections are searched exactly."]
        return []

    def _candidates(
        self, plan: Plan, options: SearchOptions, depth: int, clock: StageTimer
    ) -> list[Hit]:
        return self._candidates_of([plan], options, depth, clock)[0]

    def _candidates_of(
        self, plans: Sequence[Plan], options: SearchOptions, depth: int, clock: StageTimer
    ) -> list[list[Hit]]:
        """What questions find that ask the same collections with the same filters."""
        found: list[list[Hit]] = [[] for _ in plans]
        levels = levels_of(options.granularity)
        weights = [index_weights(plan.parsed.text, options) for plan in plans]
        asked = [plan.asked for plan in plans]
        plan = plans[0]
        for level in levels:
            suffix = "" if level is Level.CHUNK else f" ({level.value})"
            with clock.stage(f"filters{suffix}", 0) as count:
                searches = [
                    put_to(
                        self._indexes.current(one, level),
                        asked,
                        self._entry_filter(one, level, plan.filters, options),
                        options,
                    )
                    for one in plan.collections
                ]
                count.out = sum(search.passing for search in searches)
            lists = self._lists(searches, weights, depth, options, clock, suffix)
            with clock.stage(
                f"fusion{suffix}", sum(len(one) for of in lists for one in of)
            ) as count:
                ranking = rank(lists, searches, asked, options, level)
                for hits, best in zip(found, ranking.hits(depth), strict=True):
                    count.out += len(best)
                    hits += best
                shares = ", ".join(f"{one.index} {one.weights[-1]:.2f}" for one in ranking.parts)
                count.note = f"{options.fusion.value}: {shares}"
        return found if len(levels) == 1 else [prefer_finer(one) for one in found]

    def _lists(
        self,
        searches: Sequence[IndexSearch],
        weights: Sequence[tuple[float, float]],
        depth: int,
        options: SearchOptions,
        clock: StageTimer,
        suffix: str,
    ) -> list[list[IndexList]]:
        """What each index finds for each question; both at once where that is quicker."""
        total = sum(search.index.entries for search in searches)

        def by_vector() -> list[IndexList]:
            shares = [vector for vector, _words in weights]
            return vector_lists(searches, shares, depth, options)

        def by_words() -> list[IndexList]:
            return keyword_lists(searches, [words for _vector, words in weights], depth)

        vectors: list[IndexList] = []
        words: list[IndexList] = []
        if options.mode is not Mode.KEYWORD:
            with clock.stage(f"vector{suffix}", total) as count:
                strategies = [one.strategy(vector_depth(one, depth, options)) for one in searches]
                notes = list(dict.fromkeys(strategy.why for strategy in strategies))
                if options.mode is Mode.HYBRID and len(weights) == 1 and total >= _WORTH_A_THREAD:
                    vectors, words = self._beside.both(by_vector, by_words)
                    notes.append("beside keyword")
                else:
                    vectors = by_vector()
                count.out = sum(len(one) for one in vectors)
                count.note = "; ".join(notes)
        if options.mode is not Mode.VECTOR:
            with clock.stage(f"keyword{suffix}", total) as count:
                words = words or by_words()
                count.out = sum(len(one) for one in words)
        found = [one for one in (vectors, words) if one]
        return [list(of_one) for of_one in zip(*found, strict=True)]

    def _entry_filter(
        self,
        collection: CollectionRecord,
        level: Level,
        filters: Sequence[Filters],
        options: SearchOptions,
    ) -> EntryFilter:
        levels: tuple[Level, ...] | None = None
        if options.contexts is Contexts.STRUCTURAL:
            levels = (level,)
        elif options.vector_levels is not None:
            levels = (level, *options.vector_levels)
        represented = levels is None and options.question_merge is QuestionMerge.CONTEXT
        if not filters:
            return EntryFilter(levels=levels, representatives=represented)
        documents = [self._documents(collection, one) for one in filters]
        entries = [ids for one in filters for ids in self._entries(collection, one)]
        return EntryFilter(
            reduce(np.intersect1d, documents),
            reduce(np.intersect1d, entries) if entries else None,
            levels,
            represented,
        )

    def _documents(self, collection: CollectionRecord, filters: Filters) -> Ids:
        return self._catalog.filters.documents(collection.id, replace(filters, headings=()))

    def _entries(self, collection: CollectionRecord, filters: Filters) -> Iterator[Ids]:
        """What each filter on parts of documents lets through."""
        if filters.headings:
            yield self._catalog.filters.entries_under(collection.id, filters.headings)
        said = self._catalog.filters.entries_by_speaker(collection.id, filters)
        if said is not None:
            yield said

    def lookups(self) -> HitLookups:
        """What can be known of hits beside their scores."""
        return HitLookups(self._catalog, self._embedder.fingerprint)

    def _key(
        self, question: str, options: SearchOptions, named: Sequence[CollectionRecord]
    ) -> object:
        """What an answer depends on."""
        model = ""
        if options.rerank is not Rerank.NONE and self.open_grader is not None:
            with suppress(RagkitError):
                model = self.open_grader().name
        return (question, options, model, tuple((one.id, one.version) for one in named))
