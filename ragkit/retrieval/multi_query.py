"""Chunked questions: each topic of a long text asks for itself, and the answers are merged."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from ragkit.models.base import Embedder, embed_queries
from ragkit.models.factory import is_remote, local_embedder
from ragkit.options import ChunkedOptions, Dedup, IndexMode, Rerank, SearchOptions
from ragkit.results import RerankOutcome, Result, Trace
from ragkit.retrieval.deduplication import fold_identical, kept_hits, mmr
from ragkit.retrieval.grouping import Group, Grouping
from ragkit.retrieval.merge import (
    Merged,
    blended,
    deduplicate_by_document,
    merge_topics,
    thinned,
)
from ragkit.retrieval.query_parser import LONGEST_QUESTION
from ragkit.retrieval.query_segmentation import (
    Piece,
    Topic,
    cut_question,
    is_cut,
)
from ragkit.retrieval.ranking import Hit
from ragkit.retrieval.search import Engine, Found
from ragkit.retrieval.stage_timer import StageTimer

__all__ = [
    "ChunkedAnswer",
    "ChunkedResult",
    "ChunkedSearch",
    "TopicAnswer",
    "deduplicate_by_document",
    "query_per_chunk",
]

logger = logging.getLogger(__name__)

_WORDS_HIGHLIGHTED = 400
_DEEPER = 4


@dataclass(frozen=True, slots=True)
class TopicAnswer:
    """A topic with the documents that it finds: (document id, score), best first."""

    topic: Topic
    documents: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class ChunkedResult:
    """A result and the indexes of the topics that found its document."""

    result: Result
    topics: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ChunkedAnswer:
    """What a long text finds. ``pieces``, ``hits`` and ``documents`` count what led to it."""

    topics: tuple[TopicAnswer, ...]
    results: tuple[ChunkedResult, ...]
    pieces: int
    hits: int
    documents: int
    trace: Trace
    notices: tuple[str, ...] = ()
    rerank: RerankOutcome | None = None

    @property
    def summary(self) -> str:
        """The counts in a line: "7 pieces → 35 hits → 12 documents → 5 shown"."""
        counted = [(self.pieces, "piece"), (self.hits, "hit"), (self.documents, "document")]
        parts = [f"{count} {word}{'' if count == 1 else 's'}" for count, word in counted]
        return " → ".join([*parts, f"{len(self.results)} shown"])


class Searchable(Protocol):
    """A library, or whatever else has an engine and its embedder."""

    @property
    def engine(self) -> Engine:
        """What answers questions."""
        ...

    @property
    def embedder(self) -> Embedder:
        """What turns text into vectors."""
        ...


def query_per_chunk(
    library: Searchable,
    text: str,
    options: SearchOptions | None = None,
    chunked: ChunkedOptions | None = None,
) -> ChunkedAnswer:
    """Ask a long text of a library: each topic for itself, the answers merged.

    Raises:
        NotFoundError: when a collection is not there.
    """
    search = ChunkedSearch(library.engine, library.embedder)
    return search.search(text, options or SearchOptions(), chunked or ChunkedOptions())


@dataclass(frozen=True, slots=True)
class _Asked:
    """What all pieces found: hits of each topic, and what is known of them."""

    lists: list[list[Hit]]
    hits: int
    tokens: list[str]
    also_in: Mapping[int, tuple[int, ...]]
    notices: tuple[str, ...] = ()


class ChunkedSearch:
    """Asks long texts of an engine. Reads only; safe to share between threads."""

    def __init__(self, engine: Engine, embedder: Embedder) -> None:
        self._engine = engine
        # Topics are found here and now: a server may be slow or away.
        self._cutter = local_embedder() if is_remote(embedder.name) else embedder

    def search(self, text: str, options: SearchOptions, chunked: ChunkedOptions) -> ChunkedAnswer:
        """Cut a text into topics, ask for each, and merge what they find.

        Raises:
            NotFoundError: when a collection is not there.
        """
        # Half characters, such as a badly decoded command line gives, stop some tokenizers.
        text = text.encode("utf-8", "replace").decode("utf-8")
        clock = StageTimer()
        with clock.stage("topics", len(text)) as count:
            topics = cut_question(text, partial(embed_queries, self._cutter), chunked)
            pieces = sum(len(topic.pieces) for topic in topics)
            count.out, count.note = len(topics), f"{pieces} pieces"
        asked = self._ask(text, topics, options, chunked, clock)
        with clock.stage("merge", asked.hits) as count:
            merged, selected, documents = self._merged(asked, options, chunked)
            count.out, count.note = len(merged), chunked.merge.value
        with clock.stage("reconstruction", len(merged)) as count:
            results = self._engine.present(selected, options, asked.tokens, "")
            count.out = len(results)
        rerank = _not_reranked(options)
        answer = ChunkedAnswer(
            topics=tuple(
                TopicAnswer(topic, _documents(hits))
                for topic, hits in zip(topics, asked.lists, strict=False)
            ),
            results=_found_by(results, selected, merged, len(topics)),
            pieces=pieces,
            hits=asked.hits,
            documents=documents,
            trace=Trace(tuple(clock.stages)),
            notices=(
                *_notices(text, topics),
                *asked.notices,
                *self._engine.lacking(_as_indexed(options, chunked)),
                *([rerank.notice] if rerank else []),
            ),
            rerank=rerank,
        )
        logger.info("chunked search %.1f ms, %s", answer.trace.ms, answer.summary)
        return answer

    def _ask(
        self,
        text: str,
        topics: Sequence[Topic],
        options: SearchOptions,
        chunked: ChunkedOptions,
        clock: StageTimer,
    ) -> _Asked:
        """Ask all pieces, their backgrounds and the whole text together.

        A last list, of no topic, holds what the whole text alone finds.
        """
        pieces = [piece for topic in topics for piece in topic.pieces]
        each = max(chunked.hits_per_piece, -(-chunked.limit // max(1, len(topics))))
        backgrounds = [piece.background for piece in pieces if piece.background]
        whole = [text.strip()] if chunked.whole_weight > 0 and pieces else []
        texts = [piece.text for piece in pieces] + backgrounds + whole
        wanted = replace(
            _as_indexed(options, chunked),
            limit=each,
            candidates=min(options.candidates, _DEEPER * max(each, chunked.limit)),
            mmr_lambda=None,
        )
        found = self._engine.find_many([one[:LONGEST_QUESTION] for one in texts], wanted, clock)
        found = [_without(one, chunked.exclude) for one in found]
        with clock.stage("pieces", sum(len(one.hits) for one in found)) as count:
            hits_of = _with_backgrounds(pieces, found)
            if whole:
                weight = chunked.whole_weight / (1 + chunked.whole_weight)
                hits_of = [blended(one, found[-1].hits, weight, outer=False) for one in hits_of]
            kept = [self._thinned(one, chunked)[:each] for one in hits_of]
            count.out = hits = sum(map(len, kept))
        lists, at = [], 0
        for topic in topics:
            of_topic = _best(kept[at : at + len(topic.pieces)])
            lists.append(self._thinned(of_topic, chunked)[:each])
            at += len(topic.pieces)
        if whole:
            of_whole = blended((), found[-1].hits, weight, outer=True)
            lists.append(self._thinned(of_whole, chunked)[:each])
            hits += len(lists[-1])
        tokens = {token for one in found for token in one.tokens[:_WORDS_HIGHLIGHTED]}
        also: dict[int, tuple[int, ...]] = {}
        for one in found:
            also.update(one.also_in)
        notices = tuple(dict.fromkeys(one.notice for one in found if one.notice))
        return _Asked(lists, hits, sorted(tokens), also, notices)

    def _thinned(self, hits: Sequence[Hit], chunked: ChunkedOptions) -> list[Hit]:
        """Drop weak hits, and of each document or section all but the best."""
        strong = [one for one in hits if one.score >= chunked.min_similarity]
        if chunked.dedup is not Dedup.SECTION or not strong:
            return thinned(strong, chunked.dedup, chunked.per_document)
        sections = self._engine.lookups().sections(strong)
        return thinned(strong, chunked.dedup, chunked.per_document, sections)

    def _merged(
        self, asked: _Asked, options: SearchOptions, chunked: ChunkedOptions
    ) -> tuple[list[Merged], Grouping, int]:
        """Join the topics' lists; also count the documents in them."""
        pooled = _best(asked.lists)
        lookups = self._engine.lookups()
        if pooled:
            # Twins that different pieces found; each piece's own are folded already.
            pooled = kept_hits(fold_identical(pooled, lookups.content_keys(pooled)))
        pooled = self._thinned(pooled, chunked)
        documents = len({one.document_id for one in pooled})
        together = chunked.dedup is Dedup.DOCUMENT and chunked.per_document == 1
        allowed = {one.entry_id for one in pooled}
        homes = {one.document_id for one in pooled}
        lists = [
            [
                _Item(one.document_id if together else one.entry_id, one.score)
                for one in hits
                if (one.document_id in homes if together else one.entry_id in allowed)
            ]
            for hits in asked.lists
        ]
        by_key = {(one.document_id if together else one.entry_id): one for one in pooled}
        wanted = chunked.limit if options.mmr_lambda is None else len(by_key)
        merged = merge_topics(lists, chunked.merge, wanted)
        if options.mmr_lambda is not None and merged:
            leads = [by_key[int(one.document_id)] for one in merged]
            chosen = mmr(leads, lookups.vectors(leads), options.mmr_lambda, chunked.limit)
            known = {by_key[int(one.document_id)].entry_id: one for one in merged}
            merged = [known[one.entry_id] for one in chosen]
        everything = _best(asked.lists)
        groups = []
        for one in merged:
            lead = by_key[int(one.document_id)]
            same = [hit for hit in everything if hit.document_id == lead.document_id]
            own = [lead, *(hit for hit in same if hit is not lead)] if together else [lead]
            also = tuple(i for i in asked.also_in.get(lead.document_id, ()) if i not in homes)
            groups.append(Group(lead.document_id, tuple(own), (), also))
        return merged, Grouping(tuple(groups), tuple(everything)), documents


@dataclass(frozen=True, slots=True)
class _Item:
    """What is merged: a document, or one hit. ``document_id`` is the one's or the other's."""

    document_id: int
    score: float


def _as_indexed(options: SearchOptions, chunked: ChunkedOptions) -> SearchOptions:
    """The options with how the long question wants vectors searched."""
    index = options.index if chunked.mode is IndexMode.AUTO else chunked.mode
    return replace(options, index=index, nprobe=chunked.nprobe, overfetch=chunked.overfetch)


def _without(found: Found, exclude: frozenset[int]) -> Found:
    if not exclude:
        return found
    return replace(found, hits=tuple(one for one in found.hits if one.document_id not in exclude))


def _with_backgrounds(pieces: Sequence[Piece], found: Sequence[Found]) -> list[list[Hit]]:
    """The hits of each piece; where it has a background, half of each score is that one's."""
    backgrounds = iter(found[len(pieces) :])
    return [
        blended(one.hits, next(backgrounds).hits, 0.5, outer=True)
        if piece.background
        else list(one.hits)
        for piece, one in zip(pieces, found, strict=False)
    ]


def _best(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Every entry once, with the best that any list gives it; best first."""
    best: dict[int, Hit] = {}
    for hits in lists:
        for one in hits:
            known = best.get(one.entry_id)
            if known is None or one.score > known.score:
                best[one.entry_id] = one
    return sorted(best.values(), key=lambda hit: (-hit.score, hit.entry_id))


def _documents(hits: Sequence[Hit]) -> tuple[tuple[int, float], ...]:
    return tuple((one.document_id, one.score) for one in deduplicate_by_document(hits))


def _found_by(
    results: Sequence[Result], selected: Grouping, merged: Sequence[Merged], topics: int
) -> tuple[ChunkedResult, ...]:
    """Say of each result which topics found it; documents that have gone are left out."""
    found_by = {
        (group.document_id, group.hits[0].chunk_index): tuple(
            number for number in one.topics if number < topics
        )
        for group, one in zip(selected.groups, merged, strict=True)
    }
    by_document = {document: numbers for (document, _chunk), numbers in found_by.items()}
    return tuple(
        ChunkedResult(
            one,
            found_by.get(
                (one.document.id, one.matched_chunks[0].index), by_document[one.document.id]
            ),
        )
        for one in results
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
