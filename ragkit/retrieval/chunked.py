"""Chunked questions: each topic of a long text asks for itself, and the answers are merged."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ragkit.models.base import Embedder
from ragkit.results import Result, SearchOptions, Trace
from ragkit.retrieval.clock import Clock
from ragkit.retrieval.engine import Engine
from ragkit.retrieval.fusion import FusedHit
from ragkit.retrieval.merging import Merge, deduplicate_by_document, merge_topics
from ragkit.retrieval.pieces import CutSettings, Piece, Topic, cut_question
from ragkit.retrieval.selection import Group, Selected

logger = logging.getLogger(__name__)

_WORDS_HIGHLIGHTED = 400


@dataclass(frozen=True, slots=True)
class ChunkedOptions:
    """How a long text asks. ``hits_per_piece`` is how many documents each piece brings."""

    cut: CutSettings = field(default_factory=CutSettings)
    hits_per_piece: int = 10
    per_document: int = 1
    limit: int = 5
    merge: Merge = Merge.FAIR


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

    @property
    def summary(self) -> str:
        """The counts in a line: "7 pieces → 35 hits → 12 documents → 5 shown"."""
        return (
            f"{self.pieces} pieces → {self.hits} hits → {self.documents} documents → "
            f"{len(self.results)} shown"
        )


class ChunkedSearch:
    """Asks long texts of an engine. Reads only; safe to share between threads."""

    def __init__(self, engine: Engine, embedder: Embedder) -> None:
        self._engine = engine
        self._embedder = embedder

    def search(self, text: str, options: SearchOptions, chunked: ChunkedOptions) -> ChunkedAnswer:
        """Cut a text into topics, ask for each, and merge what they find.

        Raises:
            NotFoundError: when a collection is not there.
        """
        clock = Clock()
        with clock.stage("topics", len(text)) as count:
            topics = cut_question(text, self._embedder.embed_passages, chunked.cut)
            pieces = sum(len(topic.pieces) for topic in topics)
            count.out, count.note = len(topics), f"{pieces} pieces"
        with clock.stage("pieces", pieces) as count:
            asked = [self._ask(topic, options, chunked) for topic in topics]
            hits = sum(len(found) for found, _tokens in asked)
            count.out = hits
        with clock.stage("merge", hits) as count:
            lists = [found for found, _tokens in asked]
            everything = [hit for found in lists for hit in found]
            merged = merge_topics(lists, chunked.merge, chunked.limit)
            selected = _selected([int(one.document_id) for one in merged], everything)
            count.out, count.note = len(merged), chunked.merge.value
        with clock.stage("reconstruction", len(merged)) as count:
            tokens = sorted({token for _found, known in asked for token in known})
            results = self._engine.present(selected, options, tokens, "")
            found_by = {one.document_id: one.topics for one in merged}
            count.out = len(results)
        answer = ChunkedAnswer(
            topics=tuple(
                TopicAnswer(topic, tuple((hit.document_id, hit.score) for hit in found))
                for topic, found in zip(topics, lists, strict=True)
            ),
            results=tuple(ChunkedResult(one, found_by[one.document.id]) for one in results),
            pieces=pieces,
            hits=hits,
            documents=len({hit.document_id for hit in everything}),
            trace=Trace(tuple(clock.stages)),
        )
        logger.info("chunked search %.1f ms, %s", answer.trace.ms, answer.summary)
        return answer

    def _ask(
        self, topic: Topic, options: SearchOptions, chunked: ChunkedOptions
    ) -> tuple[list[FusedHit], list[str]]:
        """The hits of a topic: of each entry the best that any piece gives it."""
        best: dict[int, FusedHit] = {}
        tokens: list[str] = []
        for piece in topic.pieces:
            found, words = self._ask_piece(piece, options, chunked)
            tokens += words[:_WORDS_HIGHLIGHTED]
            for hit in found:
                known = best.get(hit.entry_id)
                if known is None or hit.score > known.score:
                    best[hit.entry_id] = hit
        ordered = sorted(best.values(), key=lambda hit: (-hit.score, hit.entry_id))
        return deduplicate_by_document(ordered, chunked.per_document), tokens

    def _ask_piece(
        self, piece: Piece, options: SearchOptions, chunked: ChunkedOptions
    ) -> tuple[Sequence[FusedHit], Sequence[str]]:
        """Ask a piece alone and, where it has one, with its background: half of the score each."""
        wanted = replace(options, limit=chunked.hits_per_piece)
        alone = self._engine.find(piece.text, wanted, Clock())
        hits: Sequence[FusedHit] = alone.hits
        if piece.background:
            together = self._engine.find(piece.background, wanted, Clock())
            hits = _joined(alone.hits, together.hits)
        return deduplicate_by_document(hits, 1)[: chunked.hits_per_piece], alone.tokens


def _joined(one: Sequence[FusedHit], other: Sequence[FusedHit]) -> list[FusedHit]:
    found: dict[int, FusedHit] = {}
    for hit in (*one, *other):
        half = replace(
            hit,
            score=hit.score / 2,
            contributions=tuple(
                replace(part, weight=part.weight / 2, value=part.value / 2)
                for part in hit.contributions
            ),
        )
        known = found.get(hit.entry_id)
        found[hit.entry_id] = (
            half
            if known is None
            else replace(
                known,
                score=known.score + half.score,
                contributions=(*known.contributions, *half.contributions),
            )
        )
    return sorted(found.values(), key=lambda hit: (-hit.score, hit.entry_id))


def _selected(documents: Sequence[int], hits: Sequence[FusedHit]) -> Selected:
    by_document: dict[int, dict[int, FusedHit]] = {document: {} for document in documents}
    for hit in sorted(hits, key=lambda hit: (-hit.score, hit.entry_id)):
        if hit.document_id in by_document:
            by_document[hit.document_id].setdefault(hit.entry_id, hit)
    groups = tuple(
        Group(document, tuple(found.values())) for document, found in by_document.items()
    )
    return Selected(groups, tuple(hits))
