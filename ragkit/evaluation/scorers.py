"""Judges: how good what a search finds is, by rows, by documents, or by the passages shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ragkit.errors import ModelError
from ragkit.evaluation.comparison import Searchable, ask
from ragkit.evaluation.corpus import Question
from ragkit.evaluation.ephemeral_library import RowPlaces
from ragkit.evaluation.metrics import PASS_AT, Judgments, Values, pass_at, score
from ragkit.evaluation.search_config import ColumnSettings
from ragkit.evaluation.spans import GoldSpans, score_spans
from ragkit.options import Expansion, SearchOptions
from ragkit.results import Answer, Trace

DEPTH = 100
"""How deep rankings are judged."""


class Scorer(Protocol):
    """Says how good searches are. What it keeps of each question is its own affair."""

    def look(self, question: Question, column: ColumnSettings) -> Any:
        """Ask a question, and keep what is needed to judge it.

        Raises:
            QueryError: a filter in the question makes no sense.
            ModelError: what was found was to be reranked and could not be.
        """
        ...

    def nothing(self, question: Question) -> Any:
        """The same for a question that cannot be asked."""
        ...

    def values(self, kept: Mapping[str, Any]) -> Values:
        """Each metric for each question, from what was kept by their ids."""
        ...


@dataclass(frozen=True, slots=True)
class RowScorer:
    """Judges the order of chunks, mapped back to the rows that they are of."""

    searched: Searchable
    places: RowPlaces
    judgments: Judgments
    same: Mapping[str, str] = field(default_factory=dict)

    def look(self, question: Question, column: ColumnSettings) -> list[str]:
        """The first hundred rows."""
        options = replace(_deep(column.options), per_document=0)
        # Hits alone tell the order, in a sixth of the time; filters need the whole search.
        if not column.chunked and options.mmr_lambda is None and ":" not in question.text:
            found = self.searched.engine.order(question.text, options)
            chunks = [(hit.document_id, hit.chunk_index) for hit in found]
            return self.places.ranking(chunks)[:DEPTH]
        answer = _answered(self.searched, question.text, replace(column, options=options))
        chunks = [(one.document.id, one.matched_chunks[0].index) for one in answer.results]
        return self.places.ranking(chunks)[:DEPTH]

    def nothing(self, _question: Question) -> list[str]:
        """No rows."""
        return []

    def values(self, kept: Mapping[str, Any]) -> Values:
        """The usual metrics; also Pass@k where rows may count as the same."""
        values = score(kept, self.judgments)
        if self.same:
            values.update(pass_at(kept, self.judgments, self.same, PASS_AT))
        return values


@dataclass(frozen=True, slots=True)
class DocumentScorer:
    """Judges the order of documents by path; a copy that is folded into another is found."""

    searched: Searchable
    judgments: Judgments

    def look(self, question: Question, column: ColumnSettings) -> list[str]:
        """The first documents."""
        deep = replace(column, options=_deep(column.options))
        answer = _answered(self.searched, question.text, deep)
        found: dict[str, None] = {}
        for result in answer.results:
            found.update(dict.fromkeys((result.document.path, *result.also_at)))
        return list(found)[:DEPTH]

    def nothing(self, _question: Question) -> list[str]:
        """No documents."""
        return []

    def values(self, kept: Mapping[str, Any]) -> Values:
        """The usual metrics."""
        return score(kept, self.judgments)


@dataclass(frozen=True, slots=True)
class SpanScorer:
    """Judges the passages that are shown, by the marked places that they hold."""

    searched: Searchable
    gold: GoldSpans

    def look(self, question: Question, column: ColumnSettings) -> dict[str, float]:
        """The metrics of one answer."""
        answer = _answered(self.searched, question.text, column)
        return score_spans(answer, self.gold.of_question(question.id))

    def nothing(self, question: Question) -> dict[str, float]:
        """The metrics of an empty answer."""
        return score_spans(Answer("", (), Trace()), self.gold.of_question(question.id))

    def values(self, kept: Mapping[str, Any]) -> Values:
        """The same by metric."""
        values: Values = {}
        for question, found in kept.items():
            for name, value in found.items():
                values.setdefault(name, {})[question] = value
        return values


def _answered(searched: Searchable, question: str, column: ColumnSettings) -> Answer:
    """Ask; the usual order is no answer where a model was to rerank.

    Raises:
        QueryError: a filter in the question makes no sense.
        ModelError: the model could not rerank.
    """
    answer = ask(searched, question, column)
    if answer.rerank is not None and answer.rerank.failure:
        raise ModelError(answer.rerank.failure)
    return answer


def _deep(options: SearchOptions) -> SearchOptions:
    """Ask for a hundred, with nothing around what was found."""
    return replace(
        options, limit=DEPTH, candidates=max(options.candidates, DEPTH), expansion=Expansion.CHUNK
    )
