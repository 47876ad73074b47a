"""Long questions: each topic of a text searches for itself, and the answers are merged."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from operator import attrgetter
from typing import Protocol

from ragkit.models.factory import local_embedder
from ragkit.options import (
    ChunkedOptions,
    Contexts,
    CutMethod,
    Dedup,
    IndexMode,
    Phrasings,
    Rerank,
    SearchOptions,
)
from ragkit.results import RerankOutcome, Result
from ragkit.retrieval.fit import weak_topics
from ragkit.retrieval.grouping import Group, fold_duplicates, mmr
from ragkit.retrieval.hits import Hit
from ragkit.retrieval.merge import (
    Merged,
    best_of_entries,
    blend,
    deduplicate_by_document,
    keep_best,
    merge_topics,
    with_every_topic,
    without_weak,
)
from ragkit.retrieval.query.encoding import Query
from ragkit.retrieval.query.parser import LONGEST_QUERY
from ragkit.retrieval.query_segmentation.topic_names import rarities, topic_names
from ragkit.retrieval.query_segmentation.topics import Segment, Topic, cut_question, is_cut
from ragkit.retrieval.search import SearchEngine
from ragkit.retrieval.stages import StageTimer
from ragkit.retrieval.turns import TURNS
from ragkit.traces import Trace

logger = logging.getLogger(__name__)

_WORDS_HIGHLIGHTED = 400
_NOT_PHRASED = "Topics are asked in their own words only. Ask the question whole for others."
_DEEPER = 4
_PLACED = attrgetter("document_id", "score")


@dataclass(frozen=True, slots=True)
class TopicAnswer:
    """A topic with the documents that it finds: (document id, score), best first.

    ``weak``: even the best of them is too little to be an answer (``retrieval/fit.py``).
    """

    topic: Topic
    documents: tuple[tuple[int, float], ...]
    weak: bool = False


@dataclass(frozen=True, slots=True)
class ChunkedResult:
    """A result and the indexes of the topics that found its document."""

    result: Result
    topics: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ChunkedAnswer:
    """The answer to a long text; ``segments``, ``hits`` and ``documents`` count what led to it.

    ``options`` are those of the search.
    """

    topics: tuple[TopicAnswer, ...]
    results: tuple[ChunkedResult, ...]
    segments: int
    hits: int
    documents: int
    trace: Trace
    notices: tuple[str, ...] = ()
    rerank: RerankOutcome | None = None
    options: SearchOptions | None = field(default=None, compare=False, repr=False)

    @property
    def nothing_close(self) -> bool:
        """True when there is no topic that is not weak."""
        return all(topic.weak for topic in self.topics)

    @property
    def summary(self) -> str:
        """Return the counts in a line: "7 segments → 35 hits → 12 documents → 5 shown"."""
        counted = [(self.segments, "segment"), (self.hits, "hit"), (self.documents, "document")]
        parts = [f"{count} {word}{'' if count == 1 else 's'}" for count, word in counted]
        return " → ".join([*parts, f"{len(self.results)} shown"])


class SearchTarget(Protocol):
    """A library, or anything else with a search engine."""

    @property
    def engine(self) -> SearchEngine:
        """The search engine."""
        ...


def query_per_chunk(
    target: SearchTarget,
    text: str,
    options: SearchOptions | None = None,
    chunked: ChunkedOptions | None = None,
) -> ChunkedAnswer:
    """Search a library with a long text: each topic for itself, the answers merged.

    Raises:
        NotFoundError: when a collection is not there.
    """
    search = ChunkedSearch(target.engine)
    return search.search(text, options or SearchOptions(), chunked or ChunkedOptions())


@dataclass(frozen=True, slots=True)
class _TopicHits:
    """The named topics, the hits of each, whether those are weak, and what the answer shows.

    ``hits`` counts those of all segments. ``lists`` may end in one of no topic, of the whole text.
    """

    topics: tuple[Topic, ...]
    lists: list[list[Hit]]
    weak: list[bool]
    hits: int
    queries: list[Query]
    also_in: Mapping[int, tuple[int, ...]]
    notices: tuple[str, ...] = ()

    @property
    def tokens(self) -> list[str]:
        """The first words of each query, which are highlighted."""
        words = {token for query in self.queries for token in query.tokens[:_WORDS_HIGHLIGHTED]}
        return sorted(words)

    @property
    def forms(self) -> dict[str, str]:
        """The tokens that are other forms of a word, as in ``Query``."""
        return {form: own for query in self.queries for form, own in query.forms.items()}


class ChunkedSearch:
    """Searches with long texts. Reads only; safe to share between threads."""

    def __init__(self, engine: SearchEngine) -> None:
        self._engine = engine
        # Topics are found with what is fast and always there.
        self._segmenter = engine.embedder if engine.calibrated else local_embedder()

    @TURNS.computing()
    def search(self, text: str, options: SearchOptions, chunked: ChunkedOptions) -> ChunkedAnswer:
        """Cut a text into topics, search for each, and merge what they find.

        Raises:
            NotFoundError: when a collection is not there.
        """
        # Half characters, such as a badly decoded command line gives, stop some tokenizers.
        text = text.encode("utf-8", "replace").decode("utf-8")
        index = options.index if chunked.mode is IndexMode.AUTO else chunked.mode
        options = replace(
            options,
            index=index,
            nprobe=chunked.nprobe,
            overfetch=chunked.overfetch,
            min_similarity=max(options.min_similarity, chunked.min_similarity),
        )
        timer = StageTimer()
        with timer.stage("topics", len(text)) as stage:
            topics = cut_question(text, self._segmenter.embed_queries, chunked)
            segments = sum(len(topic.segments) for topic in topics)
            stage.out, stage.note = len(topics), f"{segments} segments"
        topic_hits = self._find(text, topics, options, chunked, timer)
        with timer.stage("merge", topic_hits.hits) as stage:
            merged, groups, documents = self._merged(topic_hits, len(topics), options, chunked)
            found_by = _topics_of(groups, merged, len(topics))
            stage.out, stage.note = len(merged), chunked.merge.value
        if topic_hits.queries:
            asked = replace(options, mode=topic_hits.queries[0].mode)
            groups = self._engine.batches.with_parts(groups, topic_hits.queries, asked, timer)
        with timer.stage("reconstruction", len(merged)) as stage:
            results = self._engine.assemble(
                groups, options, topic_hits.tokens, "", topic_hits.forms
            )
            stage.out = len(results)
        rerank = _not_reranked(options)
        measure = partial(timer.measure, results) if timer.measure else None
        answer = ChunkedAnswer(
            topics=tuple(
                TopicAnswer(topic, tuple(map(_PLACED, deduplicate_by_document(hits))), weak)
                for topic, hits, weak in zip(
                    topic_hits.topics, topic_hits.lists, topic_hits.weak, strict=False
                )
            ),
            results=_with_topics(results, found_by),
            segments=segments,
            hits=topic_hits.hits,
            documents=documents,
            trace=Trace(tuple(timer.stages), "", measure),
            notices=(
                *_notices(text, topics),
                *topic_hits.notices,
                *dict.fromkeys(timer.notices),
                *([rerank.notice] if rerank else []),
                *([_NOT_PHRASED] if options.phrasings is not Phrasings.NONE else []),
            ),
            rerank=rerank,
            options=options,
        )
        if logger.isEnabledFor(logging.INFO):
            logger.info("search by topics: %s, %s", answer.summary, answer.trace.summary)
        return answer

    def _named(self, topics: Sequence[Topic], rarity: Mapping[str, float]) -> tuple[Topic, ...]:
        """Name topics by their telling words; those without any keep their first words."""
        texts = ["\n".join(segment.text for segment in topic.segments) for topic in topics]
        names = topic_names(texts, rarity, self._segmenter.embed_queries)
        return tuple(
            replace(topic, name=name or topic.name)
            for topic, name in zip(topics, names, strict=True)
        )

    def _find(
        self,
        text: str,
        topics: Sequence[Topic],
        options: SearchOptions,
        chunked: ChunkedOptions,
        timer: StageTimer,
    ) -> _TopicHits:
        """Search with all segments, their backgrounds and the whole text in one batch.

        A last list, of no topic, holds what the whole text alone finds.
        """
        segments = [segment for topic in topics for segment in topic.segments]
        # A topic may fill its own places and as many that others leave.
        fair_share = -(-chunked.limit // max(1, len(topics)))
        each = max(chunked.hits_per_segment, min(2 * fair_share, chunked.limit))
        backgrounds = [segment.background for segment in segments if segment.background]
        whole = [text.strip()] if chunked.whole_weight > 0 and segments else []
        texts = [*(segment.text for segment in segments), *backgrounds, *whole]
        each_text = replace(
            options,
            limit=each,
            candidates=min(options.candidates, _DEEPER * max(each, chunked.limit)),
            mmr_lambda=None,
            min_score=0.0,
        )
        searches = self._engine.find([text[:LONGEST_QUERY] for text in texts], each_text, timer)
        hits_of_text = [
            [hit for hit in grouping.hits if hit.document_id not in chunked.exclude]
            for _query, grouping in searches
        ]

        def best(hits: Sequence[Hit]) -> list[Hit]:
            return self._best_each(hits, options, chunked)[:each]

        with timer.stage("segments", sum(map(len, hits_of_text))) as stage:
            by_segment = _with_backgrounds(segments, hits_of_text)
            if whole:
                share = chunked.whole_weight / (1 + chunked.whole_weight)
                by_segment = [
                    blend(hits, hits_of_text[-1], share, outer=False) for hits in by_segment
                ]
            by_segment = [best(hits) for hits in by_segment]
            stage.out = count = sum(map(len, by_segment))
        remaining = iter(by_segment)
        lists = [
            best(best_of_entries([*islice(remaining, len(topic.segments))])) for topic in topics
        ]
        if whole:
            lists.append(best(blend((), hits_of_text[-1], share, outer=True)))
            count += len(lists[-1])
        also_in = {
            group.document_id: group.also_in
            for _query, grouping in searches
            for group in grouping.groups
            if group.also_in
        }
        notices = tuple(dict.fromkeys(query.trouble for query, _ in searches if query.trouble))
        indexes = self._engine.entry_indexes(options)
        with timer.stage("fit", len(topics)) as stage:
            weak = weak_topics(
                topics, searches, indexes, calibrated=self._engine.calibrated,
                written=options.contexts is Contexts.MODEL,
            )  # fmt: skip
            stage.out = weak.count(False)
        with timer.stage("names", len(topics)) as stage:
            token_ids = {token: id_ for query, _ in searches for token, id_ in query.known.items()}
            topics = self._named(topics, rarities(token_ids, indexes))
            stage.out = len(topics)
        queries = [query for query, _ in searches]
        return _TopicHits(topics, lists, weak, count, queries, also_in, notices)

    def _best_each(
        self, hits: Sequence[Hit], options: SearchOptions, chunked: ChunkedOptions
    ) -> list[Hit]:
        """Return the best hits of each document or section, without those of too low a score."""
        strong = [hit for hit in hits if hit.score >= options.min_score]
        if chunked.dedup is not Dedup.SECTION or not strong:
            return keep_best(strong, chunked.dedup, chunked.per_document)
        sections = self._engine.lookups().sections(strong)
        return keep_best(strong, chunked.dedup, chunked.per_document, sections)

    def _merged(
        self, topic_hits: _TopicHits, topics: int, options: SearchOptions, chunked: ChunkedOptions
    ) -> tuple[list[Merged], Sequence[Group], int]:
        """Join the topics' lists into groups of hits; also count the documents in them."""
        by_topic = chunked.method is CutMethod.ADAPTIVE
        # Cut by size, segments are no topics.
        lists_of_hits = topic_hits.lists
        if by_topic:
            lists_of_hits = without_weak(topic_hits.lists, topic_hits.weak)
        everything = best_of_entries(lists_of_hits)
        lookups = self._engine.lookups()
        # Twins that different segments found; each segment's own are folded already.
        folded = fold_duplicates(everything, options, lookups)
        pooled = self._best_each(folded.left, options, chunked)
        homes = {hit.document_id for hit in pooled}
        by_document = chunked.dedup is Dedup.DOCUMENT and chunked.per_document == 1

        def key(hit: Hit) -> int:
            return hit.document_id if by_document else hit.entry_id

        leads = {key(hit): hit for hit in pooled}
        # A topic that found a twin has found what stands for it. Of a hit that is merged by
        # itself, its entry id stands for its document's.
        lists = [
            [
                Merged(lead_key, hit.score, ())
                for hit in hits
                if (lead_key := key(folded.lead(hit))) in leads
            ]
            for hits in lists_of_hits
        ]
        merged = merge_topics(lists, chunked.merge, len(leads))
        chosen = merged[: chunked.limit]
        if options.mmr_lambda is not None and merged:
            ranked = [leads[int(item.document_id)] for item in merged]
            varied = mmr(ranked, lookups.vectors(ranked), options.mmr_lambda, chunked.limit)
            by_key = {int(item.document_id): item for item in merged}
            chosen = [by_key[key(hit)] for hit in varied]
        merged = with_every_topic(chosen, merged, lists[:topics] if by_topic else ())
        groups = []
        for item in merged:
            lead = leads[int(item.document_id)]
            others = [
                hit
                for hit in everything
                if by_document and hit.document_id == lead.document_id and hit is not lead
            ]
            copies = {
                *topic_hits.also_in.get(lead.document_id, ()),
                *folded.also.get(lead.document_id, ()),
            }
            also_in = tuple(sorted(copies - homes))
            groups.append(Group(lead.document_id, (lead, *others), (), also_in))
        return merged, groups, len(homes)


def _with_backgrounds(
    segments: Sequence[Segment], hits_of_text: Sequence[Sequence[Hit]]
) -> list[list[Hit]]:
    """Return the hits of each segment; where it has a background, half of each score is its."""
    backgrounds = iter(hits_of_text[len(segments) :])
    return [
        blend(hits, next(backgrounds), 0.5, outer=True) if segment.background else list(hits)
        for segment, hits in zip(segments, hits_of_text, strict=False)
    ]


def _topics_of(
    groups: Sequence[Group], merged: Sequence[Merged], topics: int
) -> dict[tuple[int, int], tuple[int, ...]]:
    """Return the topics that found each group, by the document and chunk of its best hit."""
    return {
        (group.document_id, group.hits[0].chunk_index): tuple(
            number for number in item.topics if number < topics
        )
        for group, item in zip(groups, merged, strict=True)
    }


def _with_topics(
    results: Sequence[Result], found_by: Mapping[tuple[int, int], tuple[int, ...]]
) -> tuple[ChunkedResult, ...]:
    """Add to each result the topics that found it."""
    by_document = {document: numbers for (document, _chunk), numbers in found_by.items()}
    return tuple(
        ChunkedResult(
            result,
            found_by.get(
                (result.document.id, result.matched_chunks[0].index),
                by_document[result.document.id],
            ),
        )
        for result in results
    )


def _not_reranked(options: SearchOptions) -> RerankOutcome | None:
    if options.rerank is Rerank.NONE:
        return None
    from ragkit.retrieval.rerank import failed

    return failed("topics are asked one by one. Ask the question whole for that.")


def _notices(text: str, topics: Sequence[Topic]) -> list[str]:
    notices = []
    if not topics:
        notices.append("The text holds nothing to ask.")
    if is_cut(text):
        notices.append("The text is very long; only its beginning was asked.")
    return notices
