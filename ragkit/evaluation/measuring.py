"""Evaluates one search configuration with all questions of an experiment."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ragkit.errors import EvaluationError, ModelError, QueryError
from ragkit.evaluation.comparison import ask
from ragkit.evaluation.corpus import Question
from ragkit.evaluation.experiments import Experiment
from ragkit.evaluation.metrics import Metric, TypeFigures, Values, figures_by_type, summarise
from ragkit.evaluation.search_config import SearchConfig
from ragkit.evaluation.set_files import counted
from ragkit.indexing.progress import JobCancelled, Reporter
from ragkit.options import Phrasings, Rerank, SearchOptions

_RERANKING = "reranking"


@dataclass(frozen=True, slots=True)
class StageTime:
    """The time of a stage of the searches, median and 95th percentile in milliseconds."""

    name: str
    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of an evaluation.

    ``values`` holds each metric by question id, ``asked`` the texts of the questions asked, and
    ``filters`` their filters as written, if any; ``partial``: not all ``questions`` were asked.
    ``tokens`` is what models read and wrote for the contexts, ``seconds`` the time of all searches.
    ``kinds`` has the metrics by question type, if there are several. ``grading_tokens`` and
    ``grading_seconds`` are the cost of reranking by a model.
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
    filters: Mapping[str, str] = field(default_factory=dict)
    grading_tokens: int = 0
    grading_seconds: float = 0.0

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
    """Ask every question with one search configuration; ``timed``: also time normal searches.

    After a cancellation through the reporter or by Ctrl-C, the result is of the questions so far,
    marked as partial.

    Raises:
        EvaluationError: no question could be asked.
        JobCancelled: it was cancelled before the first answer.
    """
    config = config or SearchConfig()
    options = replace(config.options, collections=(experiment.collection,))
    session = _Session(experiment, replace(config, options=options), reporter or Reporter(), timed)
    grading = experiment.grading
    grading.forget()
    started = time.perf_counter()
    partial = session.run(phase)
    seconds = time.perf_counter() - started
    if len(session.refused) == len(session.asked):
        raise EvaluationError("No question could be searched.", "Check their filters.")
    values = experiment.scorer.values(session.observed)
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
        {
            question.id: question.filter
            for question in experiment.questions
            if question.filter and question.id in session.asked
        },
        grading.tokens,
        grading.seconds,
    )


@dataclass(slots=True)
class _Session:
    """Asks the questions of an experiment; collects observations, times and failures."""

    experiment: Experiment
    config: SearchConfig
    reporter: Reporter
    timed: bool
    times: dict[str, list[float]] = field(default_factory=dict)
    observed: dict[str, Any] = field(default_factory=dict)
    asked: dict[str, str] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    not_reranked: dict[str, str] = field(default_factory=dict)
    generation: str = ""

    def run(self, phase: str) -> bool:
        """Ask one question after another; return True if cancelled after the first answer."""
        questions = self.experiment.questions
        try:
            self.reporter.start(phase, len(questions))
            for question in questions:
                self._ask(question)
                self.reporter.step(question.text[:60])
        except (JobCancelled, KeyboardInterrupt):
            if not self.asked:
                raise
            return len(self.asked) < len(questions)
        return False

    def _ask(self, question: Question) -> None:
        """Observe one question, then time it as a normal search.

        The observation comes first, since it pays for what is opened only once.
        """
        answer = None
        options = self.config.options
        if question.filter:
            options = replace(options, filters=question.filters)
        config = replace(self.config, options=options)
        grading = self.experiment.grading
        saved = 0.0
        try:
            self.observed[question.id] = self._observe(question, config)
            saved = grading.saved
            if self.timed:
                answer = ask(self.experiment.engine, question.text, config)
        except QueryError:
            self.refused.append(question.id)
            self.observed[question.id] = self.experiment.scorer.nothing
        self.asked[question.id] = question.text
        if answer is not None:
            self.generation = answer.trace.generation or self.generation
            # A normal search takes as long as its cached grades took the first time.
            grading_ms = 1000 * (grading.saved - saved)
            times = {"total": answer.trace.ms + grading_ms}
            for stage in answer.trace.stages:
                extra = grading_ms if stage.name == _RERANKING else 0.0
                times[stage.name] = times.get(stage.name, 0.0) + stage.ms + extra
            for name, ms in times.items():
                self.times.setdefault(name, []).append(ms)

    def _observe(self, question: Question, config: SearchConfig) -> Any:
        """Return the scorer's observation; without the model if that fails only sometimes."""
        scorer = self.experiment.scorer
        try:
            return scorer.observe(question, config)
        except ModelError as error:
            # Figures of a model that has never answered would be meaningless.
            nothing_reranked = len(self.not_reranked) == len(self.asked)
            options = config.options
            asks_none = options.rerank is Rerank.NONE and options.phrasings is Phrasings.NONE
            if asks_none or nothing_reranked:
                raise
            self.not_reranked[question.id] = str(error)
        options = replace(options, rerank=Rerank.NONE, phrasings=Phrasings.NONE)
        return scorer.observe(question, replace(config, options=options))

    @property
    def stages(self) -> tuple[StageTime, ...]:
        """The quantiles of the times of each stage; the whole search comes first."""
        return tuple(
            StageTime(name, *(float(ms) for ms in np.quantile(times, [0.5, 0.95])))
            for name, times in self.times.items()
        )

    def notices(self, *, partial: bool) -> Iterator[str]:
        """Yield sentences on limits of the figures."""
        yield from counted(self.refused, "questions have an invalid filter and found nothing")
        options = self.config.options
        if options.rerank is not Rerank.NONE:
            model = self.experiment.grading.name
            yield f"{model} reranked the first {options.rerank_depth} chunks."
        if self.not_reranked:
            last = list(self.not_reranked.values())[-1]
            count = f"{len(self.not_reranked)} of {len(self.asked)} questions"
            missing = "other words" if options.rerank is Rerank.NONE else "reranking"
            yield f"{count} were evaluated without {missing}. The last error: {last}"
        if partial:
            yield (
                f"Stopped after {len(self.asked)} of {len(self.experiment.questions)} questions: "
                "the figures are of these only."
            )
