"""Scorers measure search results by corpus rows, by documents or by the passages shown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, Protocol, TypeAlias

from ragkit.catalog import Catalog
from ragkit.errors import ModelError
from ragkit.evaluation.comparison import ask
from ragkit.evaluation.corpus import Excerpt, Question
from ragkit.evaluation.metrics import (
    PASS_AT,
    Judgments,
    Values,
    judged_share,
    pass_at,
    score,
)
from ragkit.evaluation.row_documents import RowPlaces
from ragkit.evaluation.search_config import SearchConfig
from ragkit.options import Expansion, SearchOptions
from ragkit.reading.decode import clean
from ragkit.results import Answer
from ragkit.retrieval.highlight import merge_spans
from ragkit.retrieval.search import SearchEngine
from ragkit.traces import Trace
from ragkit.types import Status

DEPTH = 100
"""The depth of scored rankings."""

Spans: TypeAlias = Mapping[str, Sequence[tuple[int, int]]]
"""For each document's path, spans of its text."""


class Scorer(Protocol):
    """Scores searches from observations, whose form only the scorer knows."""

    @property
    def nothing(self) -> Any:
        """The observation of a question that cannot be asked."""
        ...

    def observe(self, question: Question, config: SearchConfig) -> Any:
        """Ask a question and return what is needed to score it.

        Raises:
            QueryError: the question has an invalid filter.
            ModelError: a model that should rerank or rephrase failed.
        """
        ...

    def values(self, observed: Mapping[str, Any]) -> Values:
        """Compute each metric from the observations by question id."""
        ...


@dataclass(frozen=True, slots=True)
class RowScorer:
    """Scores the order of chunks by the corpus rows that they come from."""

    engine: SearchEngine
    places: RowPlaces
    judgments: Judgments
    same: Mapping[str, str] = field(default_factory=dict)
    nothing: Sequence[str] = ()

    def observe(self, question: Question, config: SearchConfig) -> list[str]:
        """Return the ids of the first hundred rows."""
        options = replace(_deep(config.options), per_document=0)
        # Hits give the same order in a sixth of the time; filters need the whole search.
        if not config.chunked and options.mmr_lambda is None and ":" not in question.text:
            hits = self.engine.best_hits(question.text, options)
            chunks = [(hit.document_id, hit.chunk_index) for hit in hits]
        else:
            answer = _answered(self.engine, question.text, replace(config, options=options))
            chunks = [
                (result.document.id, result.matched_chunks[0].index) for result in answer.results
            ]
        return self.places.ranking(chunks)[:DEPTH]

    def values(self, observed: Mapping[str, Any]) -> Values:
        """Compute the standard metrics; also Pass@k where several rows count as the same."""
        values = score(observed, self.judgments)
        if self.same:
            values.update(pass_at(observed, self.judgments, self.same, PASS_AT))
        return values


@dataclass(frozen=True, slots=True)
class DocumentScorer:
    """Scores the order of documents by path; duplicates folded into another count as found."""

    engine: SearchEngine
    judgments: Judgments
    nothing: Sequence[str] = ()

    def observe(self, question: Question, config: SearchConfig) -> list[str]:
        """Return the paths of the first documents."""
        deep = replace(config, options=_deep(config.options))
        answer = _answered(self.engine, question.text, deep)
        paths: dict[str, None] = {}
        for result in answer.results:
            paths.update(dict.fromkeys((result.document.path, *result.also_at)))
        return list(paths)[:DEPTH]

    def values(self, observed: Mapping[str, Any]) -> Values:
        """Compute the standard metrics, and the share of the results that was judged."""
        return score(observed, self.judgments) | judged_share(observed, self.judgments)


def _answered(engine: SearchEngine, question: str, config: SearchConfig) -> Answer:
    """Ask; raise ``ModelError`` if a model that should rerank or rephrase failed."""
    answer = ask(engine, question, config)
    for outcome in (answer.rerank, answer.phrasings):
        if outcome is not None and outcome.failure:
            raise ModelError(outcome.failure)
    return answer


def _deep(options: SearchOptions) -> SearchOptions:
    """Return options that list ``DEPTH`` results, without the text around matches.

    Metrics such as recall@100 need more results than ``limit``. The search itself is unchanged, so
    that the scores are of what a person would see.
    """
    return replace(options, judged_depth=DEPTH, expansion=Expansion.CHUNK)


# -- spans ---------------------------------------------------------------------------------------


def right_places(
    catalog: Catalog, collection_id: int, excerpts: Mapping[str, Sequence[Excerpt]]
) -> tuple[dict[str, Spans], int]:
    """Find the excerpts of each question in the indexed texts; also count the missing ones.

    A missing excerpt keeps its offsets, and counts as not found.
    """
    texts: dict[str, tuple[str, str]] = {}
    for record in catalog.documents.list(collection_id, status=Status.INDEXED):
        texts[PurePosixPath(record.path).stem] = (record.path, catalog.documents.text(record.id))
    places: dict[str, Spans] = {}
    lost = 0
    for question, listed in excerpts.items():
        inside: dict[str, list[tuple[int, int]]] = {}
        for excerpt in listed:
            path, text = texts.get(excerpt.document, (f"{excerpt.document} (not indexed)", ""))
            span = _find_excerpt(text, excerpt)
            lost += span is None
            inside.setdefault(path, []).append(span or (excerpt.start, excerpt.end))
        places[question] = inside
    return places, lost


def _find_excerpt(text: str, excerpt: Excerpt) -> tuple[int, int] | None:
    """Return the span of an excerpt: at its offsets, or the nearest one with its text."""
    quote = clean(excerpt.text) if excerpt.text else text[excerpt.start : excerpt.end]
    if not quote:
        return None
    if text[excerpt.start : excerpt.end] == quote:
        return excerpt.start, excerpt.end
    places = (match.span() for match in re.finditer(re.escape(quote), text))
    return min(places, key=lambda place: abs(place[0] - excerpt.start), default=None)


@dataclass(frozen=True, slots=True)
class SpanScorer:
    """Scores the passages shown by their overlap with each question's right places."""

    engine: SearchEngine
    places: Mapping[str, Spans]

    @property
    def nothing(self) -> dict[str, float]:
        """The metrics of an empty answer."""
        return score_spans(Answer("", (), Trace()), {})

    def observe(self, question: Question, config: SearchConfig) -> dict[str, float]:
        """Return the metrics of one answer."""
        answer = _answered(self.engine, question.text, config)
        return score_spans(answer, self.places[question.id])

    def values(self, observed: Mapping[str, Any]) -> Values:
        """Regroup the metrics of each question by metric."""
        return {
            name: {question: metrics[name] for question, metrics in observed.items()}
            for name in self.nothing
        }


def score_spans(answer: Answer, right: Spans) -> dict[str, float]:
    """Compare the passages of an answer with the right places by characters."""
    shown: dict[str, list[tuple[int, int]]] = {}
    for result in answer.results:
        for passage in result.passages:
            shown.setdefault(result.document.path, []).append((passage.start, passage.end))
    both = sum(overlap(shown.get(path, ()), spans) for path, spans in right.items())
    expected = sum(length(spans) for spans in right.values())
    returned = sum(length(spans) for spans in shown.values())
    union = expected + returned - both
    return {
        "token_recall": both / expected if expected else 0.0,
        "token_precision": both / returned if returned else 0.0,
        "token_iou": both / union if union else 0.0,
    }


def length(spans: Sequence[tuple[int, int]]) -> int:
    """Return the number of characters in any of the spans."""
    return sum(end - start for start, end in merge_spans(spans))


def overlap(left: Sequence[tuple[int, int]], right: Sequence[tuple[int, int]]) -> int:
    """Return the number of characters in spans of both lists."""
    return sum(
        max(0, min(a_end, b_end) - max(a_start, b_start))
        for a_start, a_end in merge_spans(left)
        for b_start, b_end in merge_spans(right)
    )
