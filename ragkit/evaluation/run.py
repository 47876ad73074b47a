"""One evaluation: every question of a set asked in one way, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ragkit.errors import EvaluationError, ModelError, QueryError
from ragkit.evaluation.comparison import ask
from ragkit.evaluation.corpus import Question, QuestionSet, some_of
from ragkit.evaluation.experiments import Experiment, temporary_trial
from ragkit.evaluation.metrics import Metric, Values, summarise
from ragkit.evaluation.question_types import TypeFigures, by_kind
from ragkit.evaluation.scorers import DEPTH
from ragkit.evaluation.search_config import ColumnSettings
from ragkit.indexing.progress import JobCancelled, Reporter
from ragkit.options import Rerank, SearchOptions
from ragkit.results import Answer
from ragkit.settings import Settings

__all__ = ["DEPTH", "Evaluation", "StageTime", "evaluate", "measure"]


@dataclass(frozen=True, slots=True)
class StageTime:
    """How long a stage of the searches took, in milliseconds."""

    name: str
    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What an evaluation found.

    ``values`` hold each metric for each question's id and ``asked`` the texts of the questions
    that were asked; ``partial`` says that these are not all ``questions``. ``tokens`` is what
    models read and wrote for the contexts that were searched, ``seconds`` how long asking took.
    ``kinds`` has the metrics by kind of question, where there are several.
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
    def column(self) -> ColumnSettings:
        """How the questions were asked."""
        return ColumnSettings(self.options, self.chunked)


def measure(
    trial: Experiment,
    column: ColumnSettings | None = None,
    reporter: Reporter | None = None,
    *,
    timed: bool = True,
    phase: str = "Asking",
) -> Evaluation:
    """Ask every question of a trial in one way; ``timed`` also as a person would, for times.

    When whoever watches asks to stop, or Ctrl-C is pressed, what was asked till then is the
    result, marked as partial.

    Raises:
        EvaluationError: no question could be asked.
        JobCancelled: it was stopped before the first answer.
    """
    column = column or ColumnSettings()
    options = replace(column.options, collections=(trial.collection,))
    asking = _Asking(trial, replace(column, options=options), reporter or Reporter(), timed)
    started = time.perf_counter()
    partial = asking.run(phase)
    seconds = time.perf_counter() - started
    if len(asking.refused) == len(asking.asked):
        raise EvaluationError("No question could be asked.", "Look at their filters.")
    values = {name: dict(found) for name, found in trial.judge.values(asking.kept).items()}
    notices = list(trial.notices)
    if asking.refused:
        notices.append(
            f"{len(asking.refused)} questions hold a filter that makes no sense and found nothing: "
            f"{some_of(asking.refused)}."
        )
    grader = trial.searched.engine.open_grader
    if options.rerank is not Rerank.NONE and grader is not None:
        notices.append(f"{grader().name} reranked the first {options.rerank_depth} chunks.")
    if asking.usual:
        why = list(asking.usual.values())[-1]
        count = f"{len(asking.usual)} of {len(asking.asked)} questions"
        notices.append(f"{count} count as they were found without reranking. The last: {why}")
    if partial:
        notices.append(
            f"Stopped after {len(asking.asked)} of {len(trial.questions)} questions: "
            "these figures are of those alone."
        )
    return Evaluation(
        trial.name,
        options,
        len(trial.questions),
        trial.documents,
        trial.chunks,
        tuple(summarise(values)),
        values,
        asking.stages,
        trial.index_seconds,
        tuple(notices),
        column.chunked,
        asking.asked,
        partial,
        trial.tokens,
        seconds,
        asking.generation,
        by_kind(values, trial.kinds),
    )


def evaluate(
    given: QuestionSet,
    settings: Settings,
    options: SearchOptions,
    root: Path,
    reporter: Reporter | None = None,
    *,
    whole_rows: bool = False,
) -> Evaluation:
    """Index a question set into an empty directory and ask everything in one way.

    Raises:
        EvaluationError: nothing could be indexed or asked.
    """
    with temporary_trial(given, settings, root, reporter, whole_rows=whole_rows) as trial:
        return measure(trial, ColumnSettings(options), reporter)


class _Asking:
    """Asks the questions, and remembers the times and what could not be asked."""

    def __init__(
        self, trial: Experiment, column: ColumnSettings, reporter: Reporter, timed: bool
    ) -> None:
        self._trial = trial
        self._column = column
        self._timed = timed
        self._reporter = reporter
        self._times: dict[str, list[float]] = {}
        self.kept: dict[str, Any] = {}
        self.asked: dict[str, str] = {}
        self.refused: list[str] = []
        self.usual: dict[str, str] = {}
        self.generation = ""

    def run(self, phase: str) -> bool:
        """Ask in turn; True when somebody stopped it after the first answer."""
        try:
            self._reporter.start(phase, len(self._trial.questions))
            for question in self._trial.questions:
                self._take(question)
                self._reporter.step(question.text[:60])
        except (JobCancelled, KeyboardInterrupt):
            if not self.asked:
                raise
            return len(self.asked) < len(self._trial.questions)
        return False

    def _take(self, question: Question) -> None:
        """Times are taken from searches as a person makes them, not from deeper ones.

        The deeper one goes first: it pays for what is opened or taken apart only once.
        """
        judge, shown = self._trial.judge, None
        try:
            self.kept[question.id] = self._looked(question)
            if self._timed:
                shown = ask(self._trial.searched, question.text, self._column)
        except QueryError:
            self.refused.append(question.id)
            self.kept[question.id] = judge.nothing(question)
            shown = None
        self.asked[question.id] = question.text
        if shown is not None:
            self._take_times(shown)
            self.generation = shown.trace.generation or self.generation

    def _looked(self, question: Question) -> Any:
        """What the judge keeps. Where reranking fails now and then, the usual order counts."""
        judge, column = self._trial.judge, self._column
        try:
            return judge.look(question, column)
        except ModelError as error:
            # Of a model that has not answered at all no figure says anything.
            if column.options.rerank is Rerank.NONE or len(self.usual) == len(self.asked):
                raise
            self.usual[question.id] = str(error)
        options = replace(column.options, rerank=Rerank.NONE)
        return judge.look(question, replace(column, options=options))

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
