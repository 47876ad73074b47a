"""The search pipeline: a question goes in, ranked and reconstructed documents come out.

query → candidates of both indexes → ranking → (reranking) → groups → results. Each stage is one
module; ``SearchEngine`` puts them in order and times them. ``grouped_search`` has those that lead
from a query to its groups.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from ragkit.catalog import Catalog
from ragkit.catalog.records import CollectionRecord
from ragkit.errors import ModelError, RagkitError
from ragkit.indexes.protocol import EntryIndex, IndexBackend, IndexSearch
from ragkit.indexes.rows import Ids
from ragkit.models.base import Embedder
from ragkit.models.factory import is_brought
from ragkit.options import Contexts, Granularity, Phrasings, Rerank, SearchOptions, Sort
from ragkit.results import Answer, FilterReading, Result, Spelling
from ragkit.retrieval.answer_cache import AnswerCache, seconds_kept
from ragkit.retrieval.assembly import assemble, look_again
from ragkit.retrieval.batch_search import BatchSearch
from ragkit.retrieval.everywhere import Everywhere
from ragkit.retrieval.fit import Fits, found_documents, judge
from ragkit.retrieval.grouped_search import FoundGroups, GroupedSearch, listed_count
from ragkit.retrieval.grouping import Group, Grouping, group
from ragkit.retrieval.highlight import question_words
from ragkit.retrieval.hit_lookups import HitLookups
from ragkit.retrieval.hits import Hit
from ragkit.retrieval.levels import SEARCHED_LEVELS
from ragkit.retrieval.listing import listed_documents
from ragkit.retrieval.query.corrections import correct, with_spelling
from ragkit.retrieval.query.encoding import Query, QueryEncoder, Spell
from ragkit.retrieval.query.intent import as_meant, order_notices, read
from ragkit.retrieval.query.intent_details import LibraryValues
from ragkit.retrieval.query.number_groups import regrouped
from ragkit.retrieval.query.parser import ParsedQuery
from ragkit.retrieval.query.spelling import misspelled
from ragkit.retrieval.stages import StageTimer
from ragkit.retrieval.turns import TURNS
from ragkit.traces import Trace
from ragkit.types import Level

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragkit.retrieval.phrasings import OpenQueryWriter
    from ragkit.retrieval.rerank import OpenGrader

    Elsewhere: TypeAlias = Callable[[str, SearchOptions], tuple[Answer, float] | None]

logger = logging.getLogger(__name__)


class SearchEngine:
    """Answers questions about a library. Reads only; safe to share between threads."""

    def __init__(
        self,
        catalog: Catalog,
        indexes: IndexBackend,
        embedder: Embedder,
        open_grader: OpenGrader | None = None,
        open_query_writer: OpenQueryWriter | None = None,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        """Open nothing yet: searches open what they need.

        ``open_grader`` is called by searches that rerank, ``open_query_writer`` by those that also
        ask in other words. ``elsewhere`` computes an answer in another process, as ``answer`` does
        in this one, and returns ``None`` if no process is free to.
        """
        self._elsewhere = elsewhere
        self.open_grader = open_grader
        self.open_query_writer = open_query_writer
        self._catalog = catalog
        self._indexes = Everywhere(catalog, indexes, embedder)
        self.embedder = embedder
        self.calibrated = not is_brought(embedder.name)
        """Whether the limits of ``fit`` hold for its vectors."""
        self._encoder = QueryEncoder(catalog, embedder, self._indexes.current)
        self.batches = BatchSearch(catalog, self._indexes, self._encoder)
        self._grouped = GroupedSearch(catalog, self._encoder, self.batches)
        self._answers = AnswerCache()

    def search(self, question: str, options: SearchOptions) -> Answer:
        """Answer a question; the same library, question and options give the same answer.

        Raises:
            QueryError: a filter in the question is invalid, or very many collections are named.
            NotFoundError: when a collection is not there.
        """
        collections = self._indexes.named(options.collections)
        cached = self._answers.get(self._key(question, options, collections))
        if cached is not None:
            return look_again(cached)
        # The index of all of very many collections is large: only this process holds it.
        needs_this_process = any(collection.is_everything for collection in collections)
        computed = None
        if self._elsewhere and not needs_this_process:
            computed = self._elsewhere(question, options)
        answer, seconds = computed or self.answer(question, options, collections)
        # The key is made anew: only now is the name of a model known that is chosen by itself.
        self._answers.put(self._key(question, options, collections), answer, seconds)
        if logger.isEnabledFor(logging.INFO):
            shown = f"{len(answer.results)} of {answer.total_documents} documents"
            logger.info("search: %s, %s", shown, answer.trace.summary)
        return answer

    def find(
        self, texts: Sequence[str], options: SearchOptions, timer: StageTimer
    ) -> list[tuple[Query, Grouping]]:
        """Search for several plain texts in one batch; return the query and groups of each.

        Filters in the texts are not read, and a page that stays short is not filled.

        Raises:
            NotFoundError: when a collection is not there.
        """
        if not texts:
            return []
        queries: Sequence[Query]
        with timer.stage("question", len(texts)) as stage:
            parsed = [ParsedQuery(text) for text in texts]
            queries = self._encoder.encode(
                parsed, options, self._indexes.named(options.collections)
            )
            stage.out = sum(len(query.token_ids) for query in queries)
            stage.note = queries[0].note
        options = replace(options, mode=queries[0].mode)
        queries, _search = self._opened(queries, options, timer)
        ranked, _searches = self.batches.ranked(
            queries, max(options.candidates, options.limit), options, timer
        )
        lookups = self.lookups()
        with timer.stage("deduplication", sum(map(len, ranked))) as stage:
            groupings = [group(hits, options, lookups) for hits in ranked]
            stage.out = sum(len(grouping.hits) for grouping in groupings)
        return list(zip(queries, groupings, strict=True))

    def best_hits(self, text: str, options: SearchOptions) -> list[Hit]:
        """Return the best hit of each result that ``search`` gives for a plain text, in order.

        Much quicker, since nothing is assembled. Filters in the text are not read.

        Raises:
            NotFoundError: when a collection is not there.
            ModelError: the results were to be reranked and could not be.
        """
        collections = self._indexes.named(options.collections)
        spell = self._spell(options, collections)
        (query,) = self._encoder.encode([ParsedQuery(text)], options, collections, spell)
        options = replace(options, mode=query.mode)
        (opened,), _search = self._opened([query], options, StageTimer())
        grouped = self._found_groups(opened, options, StageTimer())
        for outcome in (grouped.rerank, grouped.phrasings):
            if outcome and outcome.failure:
                raise ModelError(outcome.failure)
        return [group.hits[0] for group in grouped.grouping.groups]

    def assemble(
        self,
        groups: Sequence[Group],
        options: SearchOptions,
        tokens: Sequence[str],
        text: str,
        forms: Mapping[str, str],
    ) -> list[Result]:
        """Return the results of groups, in their order.

        The query's ``tokens`` are highlighted; ``text`` is the query as it was typed, in whose
        words ``MatchedChunk.terms`` names them. ``forms`` are as in ``Query``.
        """
        words = partial(question_words, text[:2000])
        return assemble(self._catalog, groups, options, tokens, words, forms)

    def word_forms(self, question: str, collection: str) -> Mapping[str, str]:
        """Return other forms of a question's words that are searched for (``Result.forms``).

        Raises:
            NotFoundError: when the collection is not there.
        """
        return self._encoder.forms(question, self._indexes.named([collection]))

    def entry_indexes(self, options: SearchOptions) -> list[EntryIndex]:
        """Return the indexes that a search reads, as they are now.

        Raises:
            NotFoundError: when a collection is not there.
        """
        levels = SEARCHED_LEVELS[options.granularity]
        collections = self._indexes.named(options.collections)
        current = self._indexes.current
        return [current(collection, level) for collection in collections for level in levels]

    def lookups(self) -> HitLookups:
        """Return a reader of the texts, sections and vectors of hits, for one search."""
        return HitLookups(self._catalog, self.embedder.fingerprint)

    @TURNS.computing()
    def answer(
        self,
        question: str,
        options: SearchOptions,
        collections: Sequence[CollectionRecord] | None = None,
    ) -> tuple[Answer, float]:
        """Compute an answer in this process; return it with the seconds that it may be cached.

        Filters that are read from plain words are dropped if nothing close passes them. A question
        that finds nothing close is asked again as it was probably meant.
        """
        if collections is None:
            collections = self._indexes.named(options.collections)
        readings: tuple[FilterReading, ...] = ()
        meant, order = question, Sort.RELEVANCE
        if options.read_filters:
            readings = read(question, LibraryValues(self._catalog, collections), date.today())
            meant, order = as_meant(question, readings)
        ordered = replace(options, sort=order) if options.sort is Sort.AUTO else options
        query, answer, seconds = self._ask(meant, ordered, collections)
        if meant != question and answer.nothing_close and not answer.listed:
            unfiltered = self._ask(question, options, collections)
            if not unfiltered[1].nothing_close:
                query, answer, seconds = unfiltered
                readings = tuple(replace(reading, restricts=False) for reading in readings)
                order, ordered = Sort.RELEVANCE, options
        if answer.nothing_close or answer.missing_terms or query.parsed.suggestion:
            answer, seconds = self._as_meant(query, answer, seconds, ordered)
        if order.by_date:
            told = () if ordered is options else order_notices(order, answer)
            answer = replace(answer, asked_sort=order, notices=(*answer.notices, *told))
        if answer.spelled:
            answer = with_spelling(answer, question)
        if readings or answer.query != question:
            answer = replace(answer, query=question, readings=readings)
        return answer, seconds

    def _as_meant(
        self, query: Query, answer: Answer, seconds: float, options: SearchOptions
    ) -> tuple[Answer, float]:
        """Ask the question as it was probably meant; return that answer if it has anything close.

        Otherwise return the first one, with the other question as its suggestion.
        """
        correction = correct(self._catalog, self._chunk_indexes(query.collections), query, answer)
        notices = (*answer.notices, *correction.notices)
        answer = replace(answer, notices=notices, suggestion=correction.question)
        if not (options.correct_spelling and correction.searched and answer.nothing_close):
            return answer, seconds
        _, second, its_seconds = self._ask(correction.question, options, query.collections)
        if second.nothing_close:
            return answer, seconds
        notices = (*notices, *(notice for notice in second.notices if notice not in notices))
        return replace(second, corrected=correction.question, notices=notices), its_seconds

    def _chunk_indexes(self, collections: Sequence[CollectionRecord]) -> list[EntryIndex]:
        return [self._indexes.current(collection, Level.CHUNK) for collection in collections]

    def _spell(
        self, options: SearchOptions, collections: Sequence[CollectionRecord]
    ) -> Spell | None:
        """Return a function that corrects spelling by the words of these collections."""
        if not options.correct_spelling:
            return None

        def spell(text: str, token_ids: Mapping[str, int]) -> tuple[Spelling, ...]:
            asked = self._catalog, self._chunk_indexes(collections), text, token_ids
            return (*misspelled(*asked), *regrouped(*asked))

        return spell

    def _ask(
        self, question: str, options: SearchOptions, collections: Sequence[CollectionRecord]
    ) -> tuple[Query, Answer, float]:
        """Search for a question as it is written.

        Returns the query that was made of it, the answer, and the seconds that it may be cached.
        """
        timer = StageTimer()
        with timer.stage("question", len(question)) as stage:
            spell = self._spell(options, collections)
            query = self._encoder.parse(question, options, collections, spell)
            stage.out, stage.note = len(query.token_ids), query.note
        if query.mode is not options.mode:
            options = replace(options, mode=query.mode)
        document_ids: Ids | None = None
        opened, nearest = query, None
        if query.lists:
            with timer.stage("filters", 0) as stage:
                scopes = self.batches.scopes(query)
                listed, document_ids = listed_documents(
                    self._catalog, scopes, listed_count(options),
                    oldest_first=options.sort is Sort.OLDEST,
                )  # fmt: skip
                grouped = FoundGroups(Grouping(tuple(listed), ()))
                stage.out = len(document_ids)
        else:
            (opened,), nearest = self._opened([query], options, timer)
            grouped = self._found_groups(opened, options, timer)
        groups = self.batches.with_parts(grouped.grouping.groups, [opened], options, timer)
        with timer.stage("reconstruction", len(groups)) as stage:
            results = self.assemble(groups, options, query.tokens, query.text, query.forms)
            stage.out = len(results)
        fits = Fits(tuple(results), ())
        if not query.lists:
            with timer.stage("fit", len(results)) as stage:
                fits = self._judged(results, groups, opened, options, grouped.searches)
                searches = grouped.searches if nearest is None else [nearest]
                document_ids = found_documents(grouped.grouping, searches, options.mode)
                stage.out = sum(not result.weak for result in fits.results)
        measure = partial(timer.measure, fits.results) if timer.measure else None
        trace = Trace(tuple(timer.stages), self._generation(opened), measure)
        answer = Answer(
            question,
            fits.results,
            trace,
            self._notices(opened, timer, grouped),
            grouped.rerank,
            total_documents=0 if document_ids is None else len(document_ids),
            missing_terms=fits.missing_terms,
            nothing_close=fits.nothing_close,
            listed=query.lists,
            spelled=query.spelled,
            phrasings=grouped.phrasings,
            document_ids=document_ids,
            questions=_questions_in(query.text),
            options=options,
            foreign=query.foreign,
        )
        return query, answer, 0.0 if query.trouble else seconds_kept(answer)

    def _found_groups(self, query: Query, options: SearchOptions, timer: StageTimer) -> FoundGroups:
        return self._grouped.find(
            query, options, timer, self.lookups(), self.open_grader, self.open_query_writer
        )

    def _judged(
        self,
        results: Sequence[Result],
        groups: Sequence[Group],
        query: Query,
        options: SearchOptions,
        searches: Sequence[IndexSearch],
    ) -> Fits:
        """Return how well each result fits the query, by the indexes that were searched."""
        indexes = [search.index for search in searches]
        if options.granularity is Granularity.BLOCK:
            # Documents have words outside of their tables, lists and code.
            indexes += self._chunk_indexes(query.collections)
        return judge(
            results, groups, query, indexes, calibrated=self.calibrated,
            written=options.contexts is Contexts.MODEL,
        )  # fmt: skip

    def _opened(
        self, queries: Sequence[Query], options: SearchOptions, timer: StageTimer
    ) -> tuple[Sequence[Query], IndexSearch | None]:
        """Return a batch of queries with the collections to search, and how these were found.

        Those are the batch's own; if it has all of very many, they are the ones with the best
        chunks, and the search that found them is returned as well.
        """
        if not any(collection.is_everything for collection in queries[0].collections):
            return queries, None
        with timer.stage("collections", self._catalog.collections.count()) as stage:
            collections, search = self._indexes.nearest(queries, options)
            stage.out, stage.note = len(collections), "those with the best chunks are searched"
        return [replace(query, collections=collections) for query in queries], search

    def _notices(self, query: Query, timer: StageTimer, grouped: FoundGroups) -> tuple[str, ...]:
        """Return what the person is to be told about the search, in sentences."""
        repairs = [self._indexes.pop_notice(collection) for collection in query.collections]
        return (
            *query.notices,
            *filter(None, repairs),
            *dict.fromkeys(timer.notices),
            *(
                outcome.notice
                for outcome in (grouped.phrasings, grouped.rerank)
                if outcome and outcome.notice
            ),
        )

    def _generation(self, query: Query) -> str:
        """Return each searched collection's name, version and index generation, joined by "+"."""
        return "+".join(
            f"{collection.name}@{collection.version.number}:"
            f"{self._indexes.generation(collection) or 'memory'}"
            for collection in query.collections
        )

    def _key(
        self, question: str, options: SearchOptions, collections: Sequence[CollectionRecord]
    ) -> object:
        """Return the key that an answer is cached by: all that it depends on."""
        model = writer = ""
        if options.rerank is not Rerank.NONE and self.open_grader is not None:
            with suppress(RagkitError):
                model = self.open_grader().name
        if options.phrasings is not Phrasings.NONE and self.open_query_writer is not None:
            with suppress(RagkitError):
                writer = self.open_query_writer().name
        versions = tuple((collection.id, collection.version) for collection in collections)
        return (question, options, model, writer, versions)


def _questions_in(text: str) -> int:
    """Count the questions of a text; 1 where it has hardly two."""
    if sum(map(text.count, "?？؟")) < 2:
        return 1
    from ragkit.retrieval.query_segmentation.topics import questions_of

    return max(len(questions_of(text)), 1)
