"""Experiments: a question set together with the library that answers it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from ragkit.catalog import Catalog
from ragkit.catalog.context_records import ContextCounts
from ragkit.catalog.records import CollectionRecord
from ragkit.errors import EvaluationError
from ragkit.evaluation.answers import AnswerQuestion, answer_questions, first_questions
from ragkit.evaluation.corpus import Question, QuestionSet
from ragkit.evaluation.ephemeral_library import EphemeralLibrary
from ragkit.evaluation.measured_grading import MeasuredGrading
from ragkit.evaluation.question_sets import JudgedQuestion, collect, optimism_notice
from ragkit.evaluation.recorded_contexts import RecordedContexts, RecordedModel
from ragkit.evaluation.restriction import read_filter
from ragkit.evaluation.row_documents import RowPlaces, RowsAs
from ragkit.evaluation.scorers import (
    DocumentScorer,
    RowScorer,
    Scorer,
    Spans,
    SpanScorer,
    right_places,
)
from ragkit.evaluation.set_files import counted
from ragkit.formatting import plural
from ragkit.indexes.protocol import IndexBackend
from ragkit.indexing.progress import Reporter
from ragkit.retrieval.multi_query import SearchTarget
from ragkit.retrieval.search import SearchEngine
from ragkit.settings import Settings


@dataclass(frozen=True, slots=True)
class Experiment:
    """A question set and the library that answers it.

    ``grading`` is the grader with which ``engine`` reranks. ``contexts`` counts the model contexts
    of the chunks; ``tokens`` and ``seconds`` are what they cost. ``kinds`` maps a question's id to
    its type, if there are types. ``answers`` holds the questions with the places that answer them,
    then the unanswerable ones.
    """

    name: str
    engine: SearchEngine
    grading: MeasuredGrading
    indexes: IndexBackend
    catalog: Catalog
    collection: str
    questions: tuple[Question, ...]
    scorer: Scorer
    documents: int
    chunks: int
    contexts: ContextCounts = field(default_factory=ContextCounts)
    tokens: int = 0
    seconds: float = 0.0
    index_seconds: float = 0.0
    notices: tuple[str, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    answers: tuple[AnswerQuestion, ...] = ()

    def text_of(self, document_id: int) -> str:
        """Return the stored text of a document."""
        return self.catalog.documents.text(document_id)

    def first(self, count: int) -> Experiment:
        """Return the experiment with only its first questions, of each kind."""
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

    Sets with excerpts are scored by the passages shown, others by the corpus rows of chunks.

    Raises:
        EvaluationError: nothing could be indexed, or the set does not allow these arguments.
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
        if questions.excerpts:
            library.add_folder(questions.folder / "docs", reporter)
            corpus = _indexed_files(library, questions)
        else:
            places = library.add_rows(
                questions.rows, reporter, whole=whole_rows, rows_as=rows_as, structural=structural
            )
            corpus = _indexed_rows(library, questions, places)
        seconds = time.perf_counter() - started
        notices += corpus.notices
        if contexts is not None:
            counts = library.write_contexts(RecordedModel(questions.rows, contexts), reporter)
            notices += contexts.notices
            if counts.failed:
                error = library.catalog.contexts.last_error()
                notices.append(f"{counts.failed} chunks have no context; the last one: {error}")
        yield _experiment(
            questions.name, library.engine, library.grading, library.indexes, library.catalog,
            library.collection, questions.questions, corpus.scorer,
            index_seconds=seconds, notices=tuple(notices),
            answers=answer_questions(
                [(each, corpus.marked.get(each.id, {})) for each in questions.questions],
                questions.unanswerable,
            ),
        )  # fmt: skip
    finally:
        library.close()


@dataclass(frozen=True, slots=True)
class _IndexedCorpus:
    """The scorer of an indexed set, and the right places of each question."""

    scorer: Scorer
    marked: Mapping[str, Spans]
    notices: tuple[str, ...] = ()


def _indexed_files(library: EphemeralLibrary, questions: QuestionSet) -> _IndexedCorpus:
    """Return the scorer of a set of files with excerpts, by the spans of the excerpts."""
    right, lost = right_places(library.catalog, library.collection.id, questions.excerpts)
    occur = "does not occur" if lost == 1 else "do not occur"
    notices = (f"{plural(lost, 'excerpt')} {occur} in the text as it was read.",) if lost else ()
    return _IndexedCorpus(SpanScorer(library.engine, right), right, notices)


def _indexed_rows(
    library: EphemeralLibrary, questions: QuestionSet, places: RowPlaces
) -> _IndexedCorpus:
    """Return the scorer of a set of rows."""
    marked: Mapping[str, Spans] = {
        question: {library.catalog.documents.get(document).path: () for document in documents}
        for question, documents in places.documents(questions.judgments).items()
    }
    blank = f"{places.blank} rows of the corpus hold no text and are left out."
    scorer = RowScorer(library.engine, places, questions.judgments, questions.same)
    return _IndexedCorpus(scorer, marked, (blank,) if places.blank else ())


def _experiment(
    name: str,
    engine: SearchEngine,
    grading: MeasuredGrading,
    indexes: IndexBackend,
    catalog: Catalog,
    collection: CollectionRecord,
    questions: tuple[Question, ...],
    scorer: Scorer,
    **others: Any,
) -> Experiment:
    """Build an experiment over a collection, with the cost of its contexts."""
    counts, cost = catalog.documents.counts(collection.id), catalog.contexts.cost(collection.id)
    return Experiment(
        name, engine, grading, indexes, catalog, collection.name, questions, scorer,
        counts.indexed, counts.chunks, catalog.contexts.counts(collection.id),
        cost.tokens, cost.seconds, **others,
    )  # fmt: skip


class Indexed(SearchTarget, Protocol):
    """A library, as far as experiments need it."""

    @property
    def indexes(self) -> IndexBackend:
        """The open indexes."""
        ...


def judged_experiment(
    library: Indexed, catalog: Catalog, collection: str, question_set: str = ""
) -> Experiment:
    """Build an experiment of a collection's question set over that collection.

    Documents are scored by their paths; a duplicate folded into another document counts as found.

    Raises:
        NotFoundError: there is no such collection.
        EvaluationError: there is no such set, or none of its questions can be asked.
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
    # A separate engine: the library's answer cache would falsify the times.
    asked, notices = _restricted(judged.asked, catalog, record)
    shared = library.engine
    grading = MeasuredGrading(shared.open_grader)
    engine = SearchEngine(
        catalog, library.indexes, shared.embedder, grading, shared.open_query_writer
    )
    return _experiment(
        question_set or "judged", engine, grading, library.indexes, catalog, record,
        tuple(asked[question.key] for question in judged.questions if question.key in asked),
        DocumentScorer(engine, judged.qrels),
        notices=(
            *judged.notices, *notices,
            *([optimism_notice(judged.writers)] if judged.writers else []),
        ),
        kinds={question.key: question.kind for question in judged.questions},
        answers=answer_questions(
            (
                (asked[question.key], question.places)
                for question in judged.questions
                if question.key in asked
            ),
            (asked[question.key] for question in judged.unanswerable if question.key in asked),
        ),
    )  # fmt: skip


@contextmanager
def bare_experiment(
    experiment: Experiment, settings: Settings, root: Path, reporter: Reporter | None = None
) -> Iterator[Experiment]:
    """Index the documents of an experiment into an empty directory as bare texts.

    The result has the same questions, and serves as a baseline: its chunks have no context.

    Raises:
        TypeError: the experiment is not scored by documents.
    """
    if not isinstance(experiment.scorer, DocumentScorer):
        raise TypeError("only an experiment that is scored by documents can be asked elsewhere")
    judgments = experiment.scorer.judgments
    engine = experiment.engine
    library = EphemeralLibrary(
        root,
        settings,
        embedder=engine.embedder,
        grading=experiment.grading,
        open_query_writer=engine.open_query_writer,
    )
    try:
        started = time.perf_counter()
        collection = experiment.catalog.collections.get(experiment.collection)
        library.add_texts(experiment.catalog, collection.id, reporter or Reporter())
        yield replace(
            experiment,
            engine=library.engine,
            indexes=library.indexes,
            catalog=library.catalog,
            collection=library.collection.name,
            scorer=DocumentScorer(library.engine, judgments),
            contexts=library.catalog.contexts.counts(library.collection.id),
            tokens=0,
            seconds=0.0,
            index_seconds=time.perf_counter() - started,
        )
    finally:
        library.close()


def _restricted(
    judged: Iterable[JudgedQuestion], catalog: Catalog, collection: CollectionRecord
) -> tuple[dict[str, Question], list[str]]:
    """Return questions with parsed filters by key, and notices on invalid filters."""
    fields = catalog.filters.field_names([collection])
    questions, refused = {}, []
    for question in judged:
        try:
            filters = read_filter(question.filter, fields)
        except EvaluationError:
            refused.append(question.key)
            continue
        questions[question.key] = Question(question.key, question.text, question.filter, filters)
    return questions, counted(refused, "questions have an invalid filter and are not asked")
