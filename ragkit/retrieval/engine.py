"""The engine: a question goes in, ranked and reconstructed documents come out."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from ragkit.catalog import Catalog
from ragkit.catalog.records import CollectionRecord
from ragkit.indexes.rows import Ids
from ragkit.indexes.tokenizer import index_tokens, tokenize
from ragkit.models.base import Embedder
from ragkit.results import Answer, Contexts, Filters, Mode, Result, SearchOptions, Trace
from ragkit.retrieval.candidates import Asked, Scope, keyword_list, rank, vector_list
from ragkit.retrieval.clock import Clock
from ragkit.retrieval.fusion import FusedHit
from ragkit.retrieval.highlight import Highlighter, question_words
from ragkit.retrieval.levels import levels_of, prefer_finer
from ragkit.retrieval.open_indexes import OpenIndexes
from ragkit.retrieval.presenting import CatalogLookups, Presenter
from ragkit.retrieval.question import ParsedQuestion, parse_question
from ragkit.retrieval.ranking import index_weights
from ragkit.retrieval.selection import Selected, select
from ragkit.types import Level

logger = logging.getLogger(__name__)

_MOST_CANDIDATES = 1000
_WIDEN = 4
_REMEMBERED_SECONDS = 300.0
_MOST_REMEMBERED = 64


@dataclass(frozen=True, slots=True)
class _Plan:
    """A question made ready for the indexes."""

    parsed: ParsedQuestion
    collections: tuple[CollectionRecord, ...]
    filters: tuple[Filters, ...]
    asked: Asked
    tokens: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """The hits of a text, best first, and the tokens that it was taken apart into."""

    tokens: tuple[str, ...]
    hits: tuple[FusedHit, ...]


class Engine:
    """Answers questions about a library. Reads only; safe to share between threads."""

    def __init__(self, catalog: Catalog, indexes: OpenIndexes, embedder: Embedder) -> None:
        self._catalog = catalog
        self._indexes = indexes
        self._embedder = embedder
        self._presenter = Presenter(catalog)
        self._remembered: OrderedDict[object, tuple[float, Answer]] = OrderedDict()
        self._field_names: dict[int, tuple[int, tuple[str, ...]]] = {}
        self._guard = threading.Lock()

    def search(self, question: str, options: SearchOptions) -> Answer:
        """Answer a question; the same library, question and options give the same answer.

        Raises:
            QueryError: when a filter in the question makes no sense.
            NotFoundError: when a collection is not there.
        """
        named = tuple(self._catalog.collections.get(name) for name in options.collections)
        key = (question, options, tuple((one.id, one.version) for one in named))
        known = self._recall(key)
        if known is not None:
            return known
        answer = self._search(question, options, named)
        self._remember(key, answer)
        logger.info(
            "search %.1f ms, %d results, stages %s",
            answer.trace.ms,
            len(answer.results),
            " ".join(f"{one.name}:{one.count_in}>{one.count_out}" for one in answer.trace.stages),
        )
        return answer

    def find(self, text: str, options: SearchOptions, clock: Clock) -> Found:
        """Rank what a plain text finds, without reading filters in it or putting results together.

        Raises:
            NotFoundError: when a collection is not there.
        """
        named = tuple(self._catalog.collections.get(name) for name in options.collections)
        plan = self._planned(ParsedQuestion(text), options, named)
        fused = self._candidates(plan, options, max(options.candidates, options.limit), clock)
        return Found(plan.tokens, select(fused, options, self._lookups()).hits)

    def present(
        self, selected: Selected, options: SearchOptions, tokens: Sequence[str], words: str
    ) -> list[Result]:
        """Put results together from hits that were selected elsewhere."""
        highlighter = Highlighter(tokens, question_words(words[:2000]))
        return self._presenter.results(selected, options, highlighter)

    def _search(
        self, question: str, options: SearchOptions, named: Sequence[CollectionRecord]
    ) -> Answer:
        clock = Clock()
        with clock.stage("question", len(question)) as count:
            plan = self._plan(question, options, named)
            count.out = len(plan.asked.token_ids)
            count.note = "words known to the library"
        notices = list(self._notices(plan))
        depth = max(options.candidates, options.limit)
        while True:
            fused = self._candidates(plan, options, depth, clock)
            with clock.stage("deduplication", len(fused)) as count:
                selected = select(fused, options, self._lookups())
                count.out, count.note = len(selected.hits), selected.note
            short = len(selected.groups) < options.limit and len(fused) >= depth
            if not short or depth >= _MOST_CANDIDATES or self._all_found(plan, selected):
                break
            depth = min(depth * _WIDEN, _MOST_CANDIDATES)
        with clock.stage("reconstruction", len(selected.groups)) as count:
            results = self.present(selected, options, plan.tokens, plan.parsed.text)
            count.out = len(results)
        for collection in plan.collections:
            notices += filter(None, [self._indexes.take_notice(collection)])
        generation = "+".join(
            f"{one.name}@{one.version}:{self._indexes.generation(one) or 'memory'}"
            for one in plan.collections
        )
        trace = Trace(tuple(clock.stages), generation)
        return Answer(question, tuple(results), trace, tuple(notices))

    def _all_found(self, plan: _Plan, selected: Selected) -> bool:
        """True when every document that there is has been found: looking deeper brings none."""
        counts = self._catalog.documents.counts
        there = sum(counts(collection.id).indexed for collection in plan.collections)
        return len({hit.document_id for hit in selected.hits}) >= there

    def _plan(
        self, question: str, options: SearchOptions, named: Sequence[CollectionRecord]
    ) -> _Plan:
        # Half characters, such as a badly decoded command line gives, stop some tokenizers.
        question = question.encode("utf-8", "replace").decode("utf-8")
        parsed = parse_question(question, self._fields(named) if ":" in question else ())
        return self._planned(parsed, options, named)

    def _planned(
        self, parsed: ParsedQuestion, options: SearchOptions, named: Sequence[CollectionRecord]
    ) -> _Plan:
        collections = tuple(self._catalog.collections.get(name) for name in parsed.collections)
        # Stop words are not indexed; a question of nothing else is still highlighted.
        tokens = tuple(index_tokens(parsed.text) or tokenize(parsed.text))
        known = self._catalog.entries.token_ids(tokens)
        ids = [known[token] for token in tokens if token in known]
        vector = None
        if options.mode is not Mode.KEYWORD and parsed.text:
            vector = self._embedder.embed_query(parsed.text)
        return _Plan(
            parsed,
            collections or tuple(named),
            tuple(one for one in (options.filters, parsed.filters) if not one.empty),
            Asked(ids, vector),
            tokens,
        )

    def _fields(self, named: Sequence[CollectionRecord]) -> list[str]:
        """The front-matter fields that may be filters; read again when a collection changes."""
        found: set[str] = set()
        for one in named:
            known = self._field_names.get(one.id)
            if known is None or known[0] != one.version:
                known = (one.version, self._catalog.filters.field_names(one.id))
                self._field_names[one.id] = known
            found.update(known[1])
        return sorted(found)

    def _notices(self, plan: _Plan) -> Sequence[str]:
        if plan.parsed.cut:
            return ["The question is very long; only its beginning was asked."]
        if not plan.parsed.text:
            return ["The question holds no words to look for."]
        return []

    def _candidates(
        self, plan: _Plan, options: SearchOptions, depth: int, clock: Clock
    ) -> list[FusedHit]:
        found: list[FusedHit] = []
        levels = levels_of(options.granularity)
        by_vector, by_words = index_weights(plan.parsed.text, options)
        for level in levels:
            suffix = "" if level is Level.CHUNK else f" ({level.value})"
            with clock.stage(f"filters{suffix}", 0) as count:
                scopes = [
                    self._scope(one, level, plan.filters, options) for one in plan.collections
                ]
                total = sum(scope.index.entries for scope in scopes)
                allowed = [s.index.entries if s.mask is None else s.mask.count for s in scopes]
                count.out = sum(allowed)
            lists = []
            if options.mode is not Mode.KEYWORD:
                with clock.stage(f"vector{suffix}", total) as count:
                    lists.append(vector_list(scopes, plan.asked, by_vector, depth, options))
                    count.out = len(lists[-1])
            if options.mode is not Mode.VECTOR:
                with clock.stage(f"keyword{suffix}", total) as count:
                    lists.append(keyword_list(scopes, plan.asked, by_words, depth))
                    count.out = len(lists[-1])
            with clock.stage(f"fusion{suffix}", sum(map(len, lists))) as count:
                ranked = rank(lists, scopes, plan.asked, options, level)
                fused = ranked.hits(depth)
                count.out = len(fused)
                weights = ", ".join(f"{one.index} {one.weight:.2f}" for one in ranked.parts)
                count.note = f"{options.fusion.value}: {weights}"
                found += fused
        return found if len(levels) == 1 else prefer_finer(found)

    def _scope(
        self,
        collection: CollectionRecord,
        level: Level,
        filters: Sequence[Filters],
        options: SearchOptions,
    ) -> Scope:
        index = self._indexes.current(collection, level)
        levels = (level,) if options.contexts is Contexts.STRUCTURAL else None
        mask = index.mask_for(levels=levels)
        if filters:
            documents = [self._documents(collection, one) for one in filters]
            entries = [ids for one in filters for ids in self._entries(collection, one)]
            mask = index.mask_for(
                document_ids=reduce(np.intersect1d, documents),
                levels=levels,
                entry_ids=reduce(np.intersect1d, entries) if entries else None,
            )
        return Scope(index, mask, options.contexts)

    def _documents(self, collection: CollectionRecord, filters: Filters) -> Ids:
        return self._catalog.filters.documents(collection.id, replace(filters, headings=()))

    def _entries(self, collection: CollectionRecord, filters: Filters) -> Iterator[Ids]:
        """What each filter on parts of documents lets through."""
        if filters.headings:
            yield self._catalog.filters.entries_under(collection.id, filters.headings)
        said = self._catalog.filters.entries_said(collection.id, filters)
        if said is not None:
            yield said

    def _lookups(self) -> CatalogLookups:
        embedder_id = self._catalog.vectors.find_embedder(self._embedder.fingerprint)
        return CatalogLookups(self._catalog, embedder_id, self._embedder.dimensions)

    def _recall(self, key: object) -> Answer | None:
        with self._guard:
            found = self._remembered.get(key)
            if found is None or time.monotonic() - found[0] > _REMEMBERED_SECONDS:
                return None
            self._remembered.move_to_end(key)
            return found[1]

    def _remember(self, key: object, answer: Answer) -> None:
        with self._guard:
            self._remembered[key] = (time.monotonic(), answer)
            while len(self._remembered) > _MOST_REMEMBERED:
                self._remembered.popitem(last=False)
