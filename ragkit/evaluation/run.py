"""One evaluation: every question of a set asked of a library of its own, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ragkit.errors import EvaluationError, QueryError
from ragkit.evaluation.corpus import Question, QuestionSet
from ragkit.evaluation.metrics import PASS_AT, Metric, Values, pass_at, score, summarise
from ragkit.evaluation.spans import GoldSpans, score_spans
from ragkit.evaluation.temporary import COLLECTION, TemporaryLibrary
from ragkit.indexing.progress import Reporter
from ragkit.results import Answer, Expansion, SearchOptions, Trace
from ragkit.settings import Settings

DEPTH = 100
"""How deep rankings are judged."""


@dataclass(frozen=True, slots=True)
class StageTime:
    """How long a stage of the searches took, in milliseconds."""

    name: str
    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What an evaluation found. ``values`` hold each metric for each question."""

    name: str
    options: SearchOptions
    questions: int
    documents: int
    chunks: int
    metrics: tuple[Metric, ...]
    values: Values
    stages: tuple[StageTime, ...]
    index_seconds: float
    notices: tuple[str, ...] = ()


def evaluate(
    given: QuestionSet,
    settings: Settings,
    options: SearchOptions,
    root: Path,
    reporter: Reporter | None = None,
    *,
    whole_rows: bool = False,
) -> Evaluation:
    """Index a question set into an empty directory and ask everything.

    Sets with excerpts are judged by the passages that are shown, with ``options`` as they are;
    others by chunks, mapped back to the rows that they are of. ``whole_rows`` makes each row
    one chunk, however long.

    Raises:
        EvaluationError: nothing could be indexed or asked.
    """
    reporter = reporter or Reporter()
    options = replace(options, collections=(COLLECTION,))
    library = TemporaryLibrary(root, settings)
    try:
        if given.excerpts:
            return _by_spans(given, library, options, reporter)
        return _by_rows(given, library, options, reporter, whole_rows)
    finally:
        library.close()


def _by_rows(
    given: QuestionSet,
    library: TemporaryLibrary,
    options: SearchOptions,
    reporter: Reporter,
    whole: bool,
) -> Evaluation:
    started = time.perf_counter()
    places = library.add_rows(given.rows, reporter, whole=whole)
    seconds = time.perf_counter() - started
    notices = list(given.notices)
    if places.blank:
        notices.append(f"{places.blank} rows of the corpus hold no text and are left out.")
    deep = replace(
        options,
        limit=DEPTH,
        candidates=max(options.candidates, DEPTH),
        per_document=0,
        expansion=Expansion.CHUNK,
    )
    rankings: dict[str, list[str]] = {}
    asked = _Asked(library, options, reporter, given.questions)
    for question, answer in asked.answers(deep):
        chunks = [(result.document.id, result.matched_chunks[0].index) for result in answer.results]
        rankings[question.id] = places.ranking(chunks)[:DEPTH]
    values = score(rankings, given.judgments)
    if given.same:
        values.update(pass_at(rankings, given.judgments, given.same, PASS_AT))
    return _summary(given, library, options, values, asked, seconds, notices)


def _by_spans(
    given: QuestionSet, library: TemporaryLibrary, options: SearchOptions, reporter: Reporter
) -> Evaluation:
    started = time.perf_counter()
    library.add_folder(given.folder / "docs", reporter)
    seconds = time.perf_counter() - started
    gold = GoldSpans.of(library.catalog, library.collection.id, given.excerpts)
    asked = _Asked(library, options, reporter, given.questions)
    values: dict[str, dict[str, float]] = {}
    for question, answer in asked.answers(options):
        for name, value in score_spans(answer, gold.of_question(question.id)).items():
            values.setdefault(name, {})[question.id] = value
    notices = [*given.notices, *gold.notices]
    return _summary(given, library, options, values, asked, seconds, notices)


class _Asked:
    """Asks the questions, and remembers the times and what could not be asked."""

    def __init__(
        self,
        library: TemporaryLibrary,
        options: SearchOptions,
        reporter: Reporter,
        questions: Sequence[Question],
    ) -> None:
        self._library = library
        self._options = options
        self._reporter = reporter
        self._questions = questions
        self._times: dict[str, list[float]] = {}
        self.refused: list[str] = []

    def answers(self, options: SearchOptions) -> list[tuple[Question, Answer]]:
        """Every question with its answer.

        Times are taken from searches as a person makes them, not from deeper ones.
        """
        found = []
        self._reporter.start("Asking", len(self._questions))
        for question in self._questions:
            try:
                answer = self._ask(question.text, self._options)
                deep = answer if options == self._options else self._ask(question.text, options)
            except QueryError:
                self.refused.append(question.id)
                deep = Answer(question.text, (), Trace())
            else:
                self._take_times(answer)
            found.append((question, deep))
            self._reporter.step(question.id)
        if len(self.refused) == len(self._questions):
            raise EvaluationError("No question could be asked.", "Look at their filters.")
        return found

    def _ask(self, text: str, options: SearchOptions) -> Answer:
        return self._library.engine.search(text, options)

    def _take_times(self, answer: Answer) -> None:
        times: dict[str, float] = {"total": answer.trace.ms}
        for stage in answer.trace.stages:
            times[stage.name] = times.get(stage.name, 0.0) + stage.ms
        for name, ms in times.items():
            self._times.setdefault(name, []).append(ms)

    @property
    def stages(self) -> tuple[StageTime, ...]:
        """The middle and the slow end of every stage's times; the whole search comes first."""
        return tuple(
            StageTime(name, *(float(one) for one in np.quantile(times, [0.5, 0.95])))
            for name, times in self._times.items()
        )


def _summary(
    given: QuestionSet,
    library: TemporaryLibrary,
    options: SearchOptions,
    values: Mapping[str, Mapping[str, float]],
    asked: _Asked,
    seconds: float,
    notices: list[str],
) -> Evaluation:
    if asked.refused:
        notices.append(
            f"{len(asked.refused)} questions hold a filter that makes no sense and found nothing: "
            f"{', '.join(asked.refused[:3])}."
        )
    documents, chunks = library.counts()
    kept = {name: dict(found) for name, found in values.items()}
    return Evaluation(
        given.name,
        options,
        len(given.questions),
        documents,
        chunks,
        tuple(summarise(kept)),
        kept,
        asked.stages,
        seconds,
        tuple(notices),
    )
