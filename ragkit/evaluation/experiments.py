"""Experiments: a question set with the library that answers it, and its evaluation."""

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
from ragkit.indexes.protocol import IndexBackend
from ragkit.indexing.progress import Reporter
from ragkit.retrieval.multi_query import SearchTarget
from ragkit.retrieval.search import SearchEngine
from ragkit.settings import Settings


@dataclass(frozen=True, slots=True)
class Experiment:
    """A question set and the library that answers it.

    ``contexts`` counts the model contexts of its chunks, ``tokens`` and ``seconds`` are what models
    took for them.
    ``kinds`` holds the type of each question's id, where there are types. ``answers`` are the
    questions with the places that answer them, and then those that nothing answers. ``grading``
    is what its engine reranks with.
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
    """What scores results over an indexed set, and what is marked as right for each question."""

    scorer: Scorer
    marked: Mapping[str, Spans]
    notices: tuple[str, ...] = ()


def _indexed_files(library: EphemeralLibrary, questions: QuestionSet) -> _IndexedCorpus:
    """Return how a set of files with excerpts is scored: by the excerpts' spans."""
    right, lost = right_places(library.catalog, library.collection.id, questions.excerpts)
    notices = (f"{lost} excerpts do not stand in the text as it was read.",) if lost else ()
    return _IndexedCorpus(SpanScorer(library.engine, right), right, notices)


def _indexed_rows(
    library: EphemeralLibrary, questions: QuestionSet, places: RowPlaces
) -> _IndexedCorpus:
    """Return how a set of rows is scored: by the documents that the rows are in."""
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
    """Build an experiment over a collection as it is, with what its contexts cost."""
    counts, cost = catalog.documents.counts(collection.id), catalog.contexts.cost(collection.id)
    return Experiment(
        name, engine, grading, indexes, catalog, collection.name, questions, scorer,
        counts.indexed, counts.chunks, catalog.contexts.counts(collection.id),
        cost.tokens, cost.seconds, **others,
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
    grading = MeasuredGrading(usual.open_grader)
    engine = SearchEngine(
        catalog, library.indexes, usual.embedder, grading, usual.open_query_writer
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
    """Ask the same questions of the same documents, indexed into an empty directory as bare texts.

    What a library's own experiment is compared with: chunks without title, headings and places.

    Raises:
        TypeError: it is not scored by documents, as those of published sets are not.
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
    """Return questions with what their filters mean, by key; the rest is told."""
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
