"""Scorers: how good search results are, by corpus rows, by documents, or by shown passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, Protocol, TypeAlias

from ragkit.catalog import Catalog
from ragkit.errors import ModelError
from ragkit.evaluation.comparison import SearchTarget, ask
from ragkit.evaluation.corpus import Excerpt, Question
from ragkit.evaluation.ephemeral_library import RowPlaces
from ragkit.evaluation.metrics import PASS_AT, Judgments, Values, pass_at, score
from ragkit.evaluation.search_config import SearchConfig
from ragkit.options import Expansion, SearchOptions
from ragkit.reading.decode import clean
from ragkit.results import Answer, Trace
from ragkit.retrieval.highlight import merge_spans
from ragkit.types import Status

DEPTH = 100
"""How deep rankings are judged."""

Spans: TypeAlias = Mapping[str, Sequence[tuple[int, int]]]
"""For each document's path, slices of its text."""


class Scorer(Protocol):
    """Scores searches. The form of what it keeps of each question is its own."""

    def observe(self, question: Question, config: SearchConfig) -> Any:
        """Ask a question and return what is needed to score it.

        Raises:
            QueryError: the question holds an invalid filter.
            ModelError: the results were to be reranked and could not be.
        """
        ...

    def empty(self, question: Question) -> Any:
        """Return the same for a question that cannot be asked."""
        ...

    def values(self, observed: Mapping[str, Any]) -> Values:
        """Compute each metric for each question from its observation, by question id."""
        ...


@dataclass(frozen=True, slots=True)
class RowScorer:
    """Scores the order of chunks, mapped back to the corpus rows that they come from."""

    target: SearchTarget
    places: RowPlaces
    judgments: Judgments
    same: Mapping[str, str] = field(default_factory=dict)

    def observe(self, question: Question, config: SearchConfig) -> list[str]:
        """Return the ids of the first hundred rows."""
        options = replace(_deep(config.options), per_document=0)
        # Hits alone give the order, in a sixth of the time; filters need the whole search.
        if not config.chunked and options.mmr_lambda is None and ":" not in question.text:
            hits = self.target.engine.best_hits(question.text, options)
            chunks = [(hit.document_id, hit.chunk_index) for hit in hits]
        else:
            answer = _answered(self.target, question.text, replace(config, options=options))
            chunks = [
                (result.document.id, result.matched_chunks[0].index) for result in answer.results
            ]
        return self.places.ranking(chunks)[:DEPTH]

    def empty(self, _question: Question) -> list[str]:
        """Return no rows."""
        return []

    def values(self, observed: Mapping[str, Any]) -> Values:
        """Compute the standard metrics; also Pass@k where several rows count as the same."""
        values = score(observed, self.judgments)
        if self.same:
            values.update(pass_at(observed, self.judgments, self.same, PASS_AT))
        return values


@dataclass(frozen=True, slots=True)
class DocumentScorer:
    """Scores the order of documents by path; a copy folded into another one counts as found."""

    target: SearchTarget
    judgments: Judgments

    def observe(self, question: Question, config: SearchConfig) -> list[str]:
        """Return the paths of the first documents."""
        deep = replace(config, options=_deep(config.options))
        answer = _answered(self.target, question.text, deep)
        paths: dict[str, None] = {}
        for result in answer.results:
            paths.update(dict.fromkeys((result.document.path, *result.also_at)))
        return list(paths)[:DEPTH]

    def empty(self, _question: Question) -> list[str]:
        """Return no documents."""
        return []

    def values(self, observed: Mapping[str, Any]) -> Values:
        """Compute the standard metrics."""
        return score(observed, self.judgments)


def _answered(target: SearchTarget, question: str, config: SearchConfig) -> Answer:
    """Ask; the original order is no answer where a model was to rerank.

    Raises:
        QueryError: the question holds an invalid filter.
        ModelError: the model could not rerank.
    """
    answer = ask(target, question, config)
    if answer.rerank is not None and answer.rerank.failure:
        raise ModelError(answer.rerank.failure)
    return answer


def _deep(options: SearchOptions) -> SearchOptions:
    """Ask for a hundred results without the text around matches."""
    return replace(
        options, limit=DEPTH, candidates=max(options.candidates, DEPTH), expansion=Expansion.CHUNK
    )


# -- spans ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GoldSpans:
    """The right places of each question, as offsets into the texts that were indexed."""

    places: Mapping[str, Spans]
    notices: tuple[str, ...]

    @classmethod
    def of(
        cls, catalog: Catalog, collection_id: int, excerpts: Mapping[str, Sequence[Excerpt]]
    ) -> GoldSpans:
        """Find excerpts in the documents of a collection, by their offsets or by their text.

        An excerpt that is not in the text keeps its offsets and counts as missed there.
        """
        texts: dict[str, tuple[str, str]] = {}
        for record in catalog.documents.list(collection_id, status=Status.INDEXED):
            name = PurePosixPath(record.path)
            texts[name.stem] = (record.path, catalog.documents.text(record.id))
        places: dict[str, dict[str, list[tuple[int, int]]]] = {}
        lost = 0
        for question, listed in excerpts.items():
            for excerpt in listed:
                path, text = texts.get(excerpt.document, (f"{excerpt.document} (not indexed)", ""))
                span = _find_excerpt(text, excerpt)
                lost += span is None
                inside = places.setdefault(question, {}).setdefault(path, [])
                inside.append(span or (excerpt.start, excerpt.end))
        notices = (f"{lost} excerpts do not stand in the text as it was read.",) if lost else ()
        return cls(places, notices)


def _find_excerpt(text: str, excerpt: Excerpt) -> tuple[int, int] | None:
    """Return where an excerpt stands: at its offsets, or at the nearest place with its text."""
    quote = clean(excerpt.text) if excerpt.text else text[excerpt.start : excerpt.end]
    if not quote:
        return None
    if text[excerpt.start : excerpt.end] == quote:
        return excerpt.start, excerpt.end
    best, at = -1, text.find(quote)
    while at >= 0:
        if best < 0 or abs(at - excerpt.start) < abs(best - excerpt.start):
            best = at
        at = text.find(quote, at + 1)
    return None if best < 0 else (best, best + len(quote))


@dataclass(frozen=True, slots=True)
class SpanScorer:
    """Scores the shown passages by how much of the right places they hold."""

    target: SearchTarget
    gold: GoldSpans

    def observe(self, question: Question, config: SearchConfig) -> dict[str, float]:
        """Return the metrics of one answer."""
        answer = _answered(self.target, question.text, config)
        return score_spans(answer, self.gold.places[question.id])

    def empty(self, question: Question) -> dict[str, float]:
        """Return the metrics of an empty answer."""
        return score_spans(Answer("", (), Trace()), self.gold.places[question.id])

    def values(self, observed: Mapping[str, Any]) -> Values:
        """Regroup the metrics of each question by metric."""
        values: Values = {}
        for question, metrics in observed.items():
            for name, value in metrics.items():
                values.setdefault(name, {})[question] = value
        return values


def score_spans(answer: Answer, right: Spans) -> dict[str, float]:
    """Compare the passages of an answer with the right places, by characters."""
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
    """Return how many characters lie in any of the spans."""
    return sum(end - start for start, end in merge_spans(spans))


def overlap(left: Sequence[tuple[int, int]], right: Sequence[tuple[int, int]]) -> int:
    """Return how many characters lie in spans of both."""
    return sum(
        max(0, min(a_end, b_end) - max(a_start, b_start))
        for a_start, a_end in merge_spans(left)
        for b_start, b_end in merge_spans(right)
    )
