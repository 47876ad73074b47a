"""Experiments: a question set with the library that answers it, and its evaluation."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ragkit.catalog import Catalog
from ragkit.catalog.records import ContextCounts
from ragkit.errors import EvaluationError, ModelError, QueryError
from ragkit.evaluation.comparison import SearchTarget, ask
from ragkit.evaluation.corpus import Question, QuestionSet, some_of
from ragkit.evaluation.ephemeral_library import (
    COLLECTION,
    EphemeralLibrary,
    RecordedContexts,
    RecordedModel,
    RowsAs,
)
from ragkit.evaluation.metrics import Metric, TypeFigures, Values, figures_by_type, summarise
from ragkit.evaluation.question_sets import collect, optimism_notice
from ragkit.evaluation.scorers import DocumentScorer, GoldSpans, RowScorer, Scorer, SpanScorer
from ragkit.evaluation.search_config import SearchConfig
from ragkit.indexes.protocol import IndexBackend
from ragkit.indexing.progress import JobCancelled, Reporter
from ragkit.models.base import Embedder
from ragkit.options import Rerank, SearchOptions
from ragkit.results import Answer
from ragkit.retrieval.search import SearchEngine
from ragkit.settings import Settings


@dataclass(frozen=True, slots=True)
class Experiment:
    """A question set and the library that answers it.

    ``contexts`` counts the model contexts of its chunks, ``tokens`` is what they cost.
    ``structural`` is False where only texts were indexed, without titles and headings.
    ``kinds`` holds the type of each question's id, where there are types.
    """

    name: str
    target: SearchTarget
    catalog: Catalog
    collection: str
    questions: tuple[Question, ...]
    scorer: Scorer
    documents: int
    chunks: int
    contexts: ContextCounts = field(default_factory=ContextCounts)
    tokens: int = 0
    index_seconds: float = 0.0
    structural: bool = True
    notices: tuple[str, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)


@contextmanager
def ephemeral_experiment(
    questions: QuestionSet,
    settings: Settings,
    root: Path,
    reporter: Reporter | None = None,
    *,
    whole_rows: bool = False,
    rows_as: RowsAs = RowsAs.JOINED,
    contexts: RecordedContexts | None = None,
    structural: bool = True,
) -> Iterator[Experiment]:
    """Index a published set into an empty directory, and write its recorded contexts.

    Sets with excerpts are scored by the passages that are shown, others by chunks, mapped back
    to the rows that they come from.

    Raises:
        EvaluationError: nothing could be indexed, or it cannot be indexed in that way.
    """
    reporter = reporter or Reporter()
    if questions.excerpts and (contexts or not structural):
        raise EvaluationError(
            f"{questions.name} is a set of files with excerpts; that works with rows only.",
            "Take a set with corpus.jsonl and qrels.tsv.",
        )
    library = EphemeralLibrary(root, settings)
    notices = list(questions.notices)
    try:
        started = time.perf_counter()
        scorer: Scorer
        if questions.excerpts:
            library.add_folder(questions.folder / "docs", reporter)
            gold = GoldSpans.of(library.catalog, library.collection.id, questions.excerpts)
            scorer = SpanScorer(library, gold)
            notices += gold.notices
        else:
            places = library.add_rows(
                questions.rows, reporter, whole=whole_rows, rows_as=rows_as, structural=structural
            )
            scorer = RowScorer(library, places, questions.judgments, questions.same)
            if places.blank:
                notices.append(f"{places.blank} rows of the corpus hold no text and are left out.")
        seconds = time.perf_counter() - started
        if contexts is not None:
            counts = library.write_contexts(RecordedModel(questions.rows, contexts), reporter)
            notices += contexts.notices
            if counts.failed:
                error = library.catalog.contexts.last_error()
                notices.append(f"{counts.failed} chunks have no context; the last one: {error}")
        documents, chunks = library.counts()
        yield Experiment(
            questions.name, library, library.catalog, COLLECTION, questions.questions, scorer,
            documents, chunks, library.catalog.contexts.counts(library.collection.id),
            library.catalog.contexts.tokens(library.collection.id), seconds, structural,
            tuple(notices),
        )  # fmt: skip
    finally:
        library.close()


class Indexed(SearchTarget, Protocol):
    """What a collection's own questions are asked of: a library."""

    @property
    def indexes(self) -> IndexBackend:
        """The open indexes."""
        ...


@dataclass(frozen=True, slots=True)
class _UncachedTarget:
    """An engine of the experiment's own: another one's answer cache would falsify the times."""

    engine: SearchEngine
    embedder: Embedder


def judged_experiment(
    library: Indexed, catalog: Catalog, collection: str, question_set: str = ""
) -> Experiment:
    """Build an experiment of a collection's question set over that collection as it is.

    Documents are scored, by their paths; a copy that is folded into another one counts as found.

    Raises:
        NotFoundError: there is no such collection.
        EvaluationError: there is no such set, or nothing in it can be asked.
    """
    record = catalog.collections.get(collection)
    sets = catalog.judgments.sets(record.id)
    if question_set not in sets:
        if not question_set:
            raise EvaluationError(
                f"Nothing has been judged in {collection} yet.",
                "Judge results on the Search or Compare page, or import a set with "
                "ragkit judgments import.",
            )
        listed = ", ".join(f'"{name}"' for name in sets if name) or "none yet"
        raise EvaluationError(
            f'There is no question set "{question_set}" in {collection}.', f"There are: {listed}."
        )
    judged = collect(catalog, record.id, question_set)
    if not judged.questions:
        raise EvaluationError(
            "No question of this set has anything right that is still indexed.",
            " ".join(judged.notices) or "Judge some results as right.",
        )
    counts = catalog.documents.counts(record.id)
    engine = SearchEngine(catalog, library.indexes, library.embedder, library.engine.open_grader)
    target = _UncachedTarget(engine, library.embedder)
    return Experiment(
        question_set or "judged",
        target,
        catalog,
        collection,
        tuple(Question(question.key, question.text) for question in judged.questions),
        DocumentScorer(target, judged.qrels),
        counts.indexed,
        counts.chunks,
        catalog.contexts.counts(record.id),
        catalog.contexts.tokens(record.id),
        notices=(*judged.notices, *([optimism_notice(judged.writers)] if judged.writers else [])),
        kinds={question.key: question.kind for question in judged.questions},
    )


# -- measuring -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StageTime:
    """The time of a stage of the searches, median and 95th percentile in milliseconds."""

    name: str
    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of an evaluation.

    ``values`` holds each metric for each question's id and ``asked`` the texts of the questions
    that were asked; ``partial``: these are not all ``questions``. ``tokens`` is what models read
    and wrote for the contexts that were searched, ``seconds`` the time of all searches.
    ``kinds`` has the metrics by question type, where there are several.
    """

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
    chunked: bool = False
    asked: Mapping[str, str] = field(default_factory=dict)
    partial: bool = False
    tokens: int = 0
    seconds: float = 0.0
    generation: str = ""
    kinds: tuple[TypeFigures, ...] = ()

    @property
    def config(self) -> SearchConfig:
        """The search configuration."""
        return SearchConfig(self.options, self.chunked)


def measure(
    experiment: Experiment,
    config: SearchConfig | None = None,
    reporter: Reporter | None = None,
    *,
    timed: bool = True,
    phase: str = "Asking",
) -> Evaluation:
    """Ask every question with one search configuration; ``timed`` also as a person would.

    When it is cancelled through the reporter or by Ctrl-C, the questions asked so far are the
    result, marked as partial.

    Raises:
        EvaluationError: no question could be asked.
        JobCancelled: it was cancelled before the first answer.
    """
    config = config or SearchConfig()
    options = replace(config.options, collections=(experiment.collection,))
    session = _Session(experiment, replace(config, options=options), reporter or Reporter(), timed)
    started = time.perf_counter()
    partial = session.run(phase)
    seconds = time.perf_counter() - started
    if len(session.refused) == len(session.asked):
        raise EvaluationError("No question could be asked.", "Look at their filters.")
    values = {
        name: dict(of_question)
        for name, of_question in experiment.scorer.values(session.observed).items()
    }
    return Evaluation(
        experiment.name,
        options,
        len(experiment.questions),
        experiment.documents,
        experiment.chunks,
        tuple(summarise(values)),
        values,
        session.stages,
        experiment.index_seconds,
        (*experiment.notices, *session.notices(partial=partial)),
        config.chunked,
        session.asked,
        partial,
        experiment.tokens,
        seconds,
        session.generation,
        figures_by_type(values, experiment.kinds),
    )


class _Session:
    """Asks the questions of an experiment and collects observations, times and failures."""

    def __init__(
        self, experiment: Experiment, config: SearchConfig, reporter: Reporter, timed: bool
    ) -> None:
        self._experiment = experiment
        self._config = config
        self._timed = timed
        self._reporter = reporter
        self._times: dict[str, list[float]] = {}
        self.observed: dict[str, Any] = {}
        self.asked: dict[str, str] = {}
        self.refused: list[str] = []
        self.not_reranked: dict[str, str] = {}
        self.generation = ""

    def run(self, phase: str) -> bool:
        """Ask one question after the other; True when cancelled after the first answer."""
        questions = self._experiment.questions
        try:
            self._reporter.start(phase, len(questions))
            for question in questions:
                self._ask(question)
                self._reporter.step(question.text[:60])
        except (JobCancelled, KeyboardInterrupt):
            if not self.asked:
                raise
            return len(self.asked) < len(questions)
        return False

    def _ask(self, question: Question) -> None:
        """Observe one question; its times are those of a search as a person makes it.

        The deeper search of the scorer goes first: it pays for what is opened only once.
        """
        answer = None
        try:
            self.observed[question.id] = self._observe(question)
            if self._timed:
                answer = ask(self._experiment.target, question.text, self._config)
        except QueryError:
            self.refused.append(question.id)
            self.observed[question.id] = self._experiment.scorer.empty(question)
        self.asked[question.id] = question.text
        if answer is not None:
            self._record_times(answer)
            self.generation = answer.trace.generation or self.generation

    def _observe(self, question: Question) -> Any:
        """Return the scorer's observation; where reranking fails at times, that without it."""
        scorer, config = self._experiment.scorer, self._config
        try:
            return scorer.observe(question, config)
        except ModelError as error:
            # Figures of a model that has not answered at all would say nothing.
            nothing_reranked = len(self.not_reranked) == len(self.asked)
            if config.options.rerank is Rerank.NONE or nothing_reranked:
                raise
            self.not_reranked[question.id] = str(error)
        options = replace(config.options, rerank=Rerank.NONE)
        return scorer.observe(question, replace(config, options=options))

    def _record_times(self, answer: Answer) -> None:
        times: dict[str, float] = {"total": answer.trace.ms}
        for stage in answer.trace.stages:
            times[stage.name] = times.get(stage.name, 0.0) + stage.ms
        for name, ms in times.items():
            self._times.setdefault(name, []).append(ms)

    @property
    def stages(self) -> tuple[StageTime, ...]:
        """The quantiles of every stage's times; the whole search comes first."""
        return tuple(
            StageTime(name, *(float(ms) for ms in np.quantile(times, [0.5, 0.95])))
            for name, times in self._times.items()
        )

    def notices(self, *, partial: bool) -> Iterator[str]:
        """Yield sentences on what restricts the figures."""
        if self.refused:
            yield (
                f"{len(self.refused)} questions hold a filter that makes no sense and found "
                f"nothing: {some_of(self.refused)}."
            )
        grader = self._experiment.target.engine.open_grader
        options = self._config.options
        if options.rerank is not Rerank.NONE and grader is not None:
            yield f"{grader().name} reranked the first {options.rerank_depth} chunks."
        if self.not_reranked:
            last = list(self.not_reranked.values())[-1]
            count = f"{len(self.not_reranked)} of {len(self.asked)} questions"
            yield f"{count} count as they were found without reranking. The last: {last}"
        if partial:
            yield (
                f"Stopped after {len(self.asked)} of {len(self._experiment.questions)} questions: "
                "these figures are of those alone."
            )
