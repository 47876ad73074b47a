"""Experiments: a question set with the library that answers it, and its evaluation."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ragkit.catalog import Catalog
from ragkit.catalog.records import CollectionRecord, ContextCounts
from ragkit.errors import EvaluationError, ModelError, QueryError
from ragkit.evaluation.answers import AnswerQuestion, answer_questions, first_questions
from ragkit.evaluation.comparison import ask
from ragkit.evaluation.corpus import Question, QuestionSet
from ragkit.evaluation.ephemeral_library import (
    EphemeralLibrary,
    RecordedContexts,
    RecordedModel,
    RowsAs,
)
from ragkit.evaluation.metrics import Metric, TypeFigures, Values, figures_by_type, summarise
from ragkit.evaluation.question_sets import JudgedQuestion, collect, optimism_notice
from ragkit.evaluation.restriction import read_filter
from ragkit.evaluation.scorers import (
    DocumentScorer,
    RowScorer,
    Scorer,
    Spans,
    SpanScorer,
    right_places,
)
from ragkit.evaluation.search_config import SearchConfig
from ragkit.evaluation.set_files import counted
from ragkit.indexes.protocol import IndexBackend
from ragkit.indexing.progress import JobCancelled, Reporter
from ragkit.options import Phrasings, Rerank, SearchOptions
from ragkit.retrieval.multi_query import SearchTarget
from ragkit.retrieval.search import SearchEngine
from ragkit.settings import Settings


@dataclass(frozen=True, slots=True)
class Experiment:
    """A question set and the library that answers it.

    ``contexts`` counts the model contexts of its chunks, ``tokens`` is what they cost.
    ``kinds`` holds the type of each question's id, where there are types. ``answers`` are the
    questions with the places that answer them, and then those that nothing answers.
    """

    name: str
    engine: SearchEngine
    catalog: Catalog
    collection: str
    questions: tuple[Question, ...]
    scorer: Scorer
    documents: int
    chunks: int
    contexts: ContextCounts = field(default_factory=ContextCounts)
    tokens: int = 0
    index_seconds: float = 0.0
    notices: tuple[str, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    answers: tuple[AnswerQuestion, ...] = ()

    def text_of(self, document_id: int) -> str:
        """Return the stored text of a document."""
        return self.catalog.documents.text(document_id)

    def first(self, count: int) -> Experiment:
        """Return the experiment with its first questions alone, of each kind of answers."""
        answers = first_questions(self.answers, count)
        return replace(self, questions=self.questions[:count], answers=answers)


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
            "Choose a set with corpus.jsonl and qrels.tsv.",
        )
    library = EphemeralLibrary(root, settings)
    notices = list(questions.notices)
    try:
        started = time.perf_counter()
        scorer: Scorer
        marked: Mapping[str, Spans]
        if questions.excerpts:
            library.add_folder(questions.folder / "docs", reporter)
            right, lost = right_places(library.catalog, library.collection.id, questions.excerpts)
            scorer = SpanScorer(library.engine, right)
            marked = right
            if lost:
                notices.append(f"{lost} excerpts do not stand in the text as it was read.")
        else:
            places = library.add_rows(
                questions.rows, reporter, whole=whole_rows, rows_as=rows_as, structural=structural
            )
            scorer = RowScorer(library.engine, places, questions.judgments, questions.same)
            marked = {
                question: {library.catalog.documents.get(one).path: () for one in documents}
                for question, documents in places.documents(questions.judgments).items()
            }
            if places.blank:
                notices.append(f"{places.blank} rows of the corpus hold no text and are left out.")
        seconds = time.perf_counter() - started
        if contexts is not None:
            counts = library.write_contexts(RecordedModel(questions.rows, contexts), reporter)
            notices += contexts.notices
            if counts.failed:
                error = library.catalog.contexts.last_error()
                notices.append(f"{counts.failed} chunks have no context; the last one: {error}")
        yield _experiment(
            questions.name, library.engine, library.catalog, library.collection,
            questions.questions, scorer, index_seconds=seconds, notices=tuple(notices),
            answers=answer_questions(
                ((one, marked.get(one.id, {})) for one in questions.questions),
                questions.unanswerable,
            ),
        )  # fmt: skip
    finally:
        library.close()


def _experiment(
    name: str,
    engine: SearchEngine,
    catalog: Catalog,
    collection: CollectionRecord,
    questions: tuple[Question, ...],
    scorer: Scorer,
    **others: Any,
) -> Experiment:
    """Build an experiment over a collection as it is, with what its contexts cost."""
    counts = catalog.documents.counts(collection.id)
    return Experiment(
        name, engine, catalog, collection.name, questions, scorer, counts.indexed, counts.chunks,
        catalog.contexts.counts(collection.id), catalog.contexts.tokens(collection.id), **others,
    )  # fmt: skip


class Indexed(SearchTarget, Protocol):
    """What a collection's own questions are asked of: a library."""

    @property
    def indexes(self) -> IndexBackend:
        """The open indexes."""
        ...


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
                f"Nothing is rated in {collection} yet.",
                "Rate results on the Search or Compare page, or import a set with "
                "ragkit judgments import.",
            )
        listed = ", ".join(f'"{name}"' for name in sets if name) or "none yet"
        raise EvaluationError(
            f'There is no question set "{question_set}" in {collection}.', f"Available: {listed}."
        )
    judged = collect(catalog, record.id, question_set)
    if not judged.questions:
        raise EvaluationError(
            "No relevant document of this set is indexed any more.",
            " ".join(judged.notices) or "Rate some results as relevant.",
        )
    # An engine of its own: the answer cache of the library's would falsify the times.
    asked, notices = _restricted((*judged.questions, *judged.unanswerable), catalog, record)
    usual = library.engine
    engine = SearchEngine(
        catalog, library.indexes, usual.embedder, usual.open_grader, usual.open_query_writer
    )
    return _experiment(
        question_set or "judged", engine, catalog, record,
        tuple(asked[one.key] for one in judged.questions if one.key in asked),
        DocumentScorer(engine, judged.qrels),
        notices=(
            *judged.notices, *notices,
            *([optimism_notice(judged.writers)] if judged.writers else []),
        ),
        kinds={question.key: question.kind for question in judged.questions},
        answers=answer_questions(
            ((asked[one.key], one.places) for one in judged.questions if one.key in asked),
            (asked[one.key] for one in judged.unanswerable if one.key in asked),
        ),
    )  # fmt: skip


def _restricted(
    judged: Iterable[JudgedQuestion], catalog: Catalog, collection: CollectionRecord
) -> tuple[dict[str, Question], list[str]]:
    """Return questions with what their filters mean, by key; the rest is told."""
    fields = catalog.filters.field_names(collection)
    questions, refused = {}, []
    for one in judged:
        try:
            filters = read_filter(one.filter, fields)
        except EvaluationError:
            refused.append(one.key)
            continue
        questions[one.key] = Question(one.key, one.text, one.filter, filters)
    return questions, counted(refused, "questions have an invalid filter and are not asked")


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
    ``filters`` are those of the asked questions that have one, as they are written. ``kinds`` has
    the metrics by question type, where there are several.
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
            one.id: one.filter
            for one in experiment.questions
            if one.filter and one.id in session.asked
        },
    )


@dataclass(slots=True)
class _Session:
    """Asks the questions of an experiment and collects observations, times and failures."""

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
        """Ask one question after the other; True when cancelled after the first answer."""
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
        """Observe one question; its times are those of a search as a person makes it.

        The longer list of the scorer goes first: it pays for what is opened only once.
        """
        answer = None
        options = self.config.options
        if question.filter:
            options = replace(options, filters=question.filters)
        config = replace(self.config, options=options)
        try:
            self.observed[question.id] = self._observe(question, config)
            if self.timed:
                answer = ask(self.experiment.engine, question.text, config)
        except QueryError:
            self.refused.append(question.id)
            self.observed[question.id] = self.experiment.scorer.nothing
        self.asked[question.id] = question.text
        if answer is not None:
            self.generation = answer.trace.generation or self.generation
            times = {"total": answer.trace.ms}
            for stage in answer.trace.stages:
                times[stage.name] = times.get(stage.name, 0.0) + stage.ms
            for name, ms in times.items():
                self.times.setdefault(name, []).append(ms)

    def _observe(self, question: Question, config: SearchConfig) -> Any:
        """Return the scorer's observation; where a model fails at times, that without it."""
        scorer = self.experiment.scorer
        try:
            return scorer.observe(question, config)
        except ModelError as error:
            # Figures of a model that has not answered at all would say nothing.
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
        """The quantiles of every stage's times; the whole search comes first."""
        return tuple(
            StageTime(name, *(float(ms) for ms in np.quantile(times, [0.5, 0.95])))
            for name, times in self.times.items()
        )

    def notices(self, *, partial: bool) -> Iterator[str]:
        """Yield sentences on what restricts the figures."""
        yield from counted(self.refused, "questions have an invalid filter and found nothing")
        grader = self.experiment.engine.open_grader
        options = self.config.options
        if options.rerank is not Rerank.NONE and grader is not None:
            yield f"{grader().name} reranked the first {options.rerank_depth} chunks."
        if self.not_reranked:
            last = list(self.not_reranked.values())[-1]
            count = f"{len(self.not_reranked)} of {len(self.asked)} questions"
            missing = "other words" if options.rerank is Rerank.NONE else "reranking"
            yield f"{count} count as they were found without {missing}. The last: {last}"
        if partial:
            yield (
                f"Stopped after {len(self.asked)} of {len(self.experiment.questions)} questions: "
                "these figures are of those alone."
            )
