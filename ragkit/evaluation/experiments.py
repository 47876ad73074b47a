"""Trials: a question set together with the library that is asked, ready to be measured."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from ragkit.catalog import Catalog
from ragkit.catalog.records import ContextCounts
from ragkit.errors import EvaluationError
from ragkit.evaluation.comparison import Searchable
from ragkit.evaluation.corpus import Question, QuestionSet
from ragkit.evaluation.ephemeral_library import COLLECTION, EphemeralLibrary, RowsAs
from ragkit.evaluation.question_sets import collect, too_kind
from ragkit.evaluation.replay import RecordedContexts, Replayed
from ragkit.evaluation.scorers import DocumentScorer, RowScorer, Scorer, SpanScorer
from ragkit.evaluation.spans import GoldSpans
from ragkit.indexes.protocol import IndexBackend
from ragkit.indexing.progress import Reporter
from ragkit.models.base import Embedder
from ragkit.retrieval.search import Engine
from ragkit.settings import Settings


@dataclass(frozen=True, slots=True)
class Experiment:
    """A question set and the library that it is asked of.

    ``contexts`` say how the model contexts of its chunks stand, and ``tokens`` what they cost.
    ``structural`` is False where only texts were indexed, without titles and headings.
    ``kinds`` has the kind of each question's id, where there are kinds.
    """

    name: str
    searched: Searchable
    catalog: Catalog
    collection: str
    questions: tuple[Question, ...]
    judge: Scorer
    documents: int
    chunks: int
    contexts: ContextCounts = field(default_factory=ContextCounts)
    tokens: int = 0
    index_seconds: float = 0.0
    structural: bool = True
    notices: tuple[str, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)


@contextmanager
def temporary_trial(
    given: QuestionSet,
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

    Sets with excerpts are judged by the passages that are shown, others by chunks, mapped back
    to the rows that they are of.

    Raises:
        EvaluationError: nothing could be indexed, or it cannot be indexed in that way.
    """
    reporter = reporter or Reporter()
    if given.excerpts and (contexts or not structural):
        raise EvaluationError(
            f"{given.name} is a set of files with excerpts; that works with rows only.",
            "Take a set with corpus.jsonl and qrels.tsv.",
        )
    library = EphemeralLibrary(root, settings)
    notices = list(given.notices)
    try:
        started = time.perf_counter()
        judge: Scorer
        if given.excerpts:
            library.add_folder(given.folder / "docs", reporter)
            gold = GoldSpans.of(library.catalog, library.collection.id, given.excerpts)
            judge = SpanScorer(library, gold)
            notices += gold.notices
        else:
            places = library.add_rows(
                given.rows, reporter, whole=whole_rows, rows_as=rows_as, structural=structural
            )
            judge = RowScorer(library, places, given.judgments, given.same)
            if places.blank:
                notices.append(f"{places.blank} rows of the corpus hold no text and are left out.")
        seconds = time.perf_counter() - started
        if contexts is not None:
            stand = library.write_contexts(Replayed(given.rows, contexts), reporter)
            notices += contexts.notices
            if stand.failed:
                why = library.catalog.contexts.last_error()
                notices.append(f"{stand.failed} chunks have no context; the last one: {why}")
        documents, chunks = library.counts()
        yield Experiment(
            given.name, library, library.catalog, COLLECTION, given.questions, judge,
            documents, chunks, library.catalog.contexts.counts(library.collection.id),
            library.catalog.contexts.tokens(library.collection.id), seconds, structural,
            tuple(notices),
        )  # fmt: skip
    finally:
        library.close()


class Indexed(Searchable, Protocol):
    """What a collection's own questions are asked of: a library."""

    @property
    def indexes(self) -> IndexBackend:
        """The open indexes."""
        ...


@dataclass(frozen=True, slots=True)
class _Fresh:
    """An engine of this trial's own: what another has answered lately would tell old times."""

    engine: Engine
    embedder: Embedder


def judged_trial(
    searched: Indexed, catalog: Catalog, collection: str, question_set: str = ""
) -> Experiment:
    """A question set of a collection, asked of that collection as it stands.

    Documents are judged, by their paths; a copy that is folded into another one counts as found.

    Raises:
        NotFoundError: the collection is not there.
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
        listed = ", ".join(f'"{one}"' for one in sets if one) or "none yet"
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
    engine = Engine(catalog, searched.indexes, searched.embedder, searched.engine.open_grader)
    fresh = _Fresh(engine, searched.embedder)
    return Experiment(
        question_set or "judged",
        fresh,
        catalog,
        collection,
        tuple(Question(one.key, one.text) for one in judged.questions),
        DocumentScorer(fresh, judged.qrels),
        counts.indexed,
        counts.chunks,
        catalog.contexts.counts(record.id),
        catalog.contexts.tokens(record.id),
        notices=(*judged.notices, *([too_kind(judged.writers)] if judged.writers else [])),
        kinds={one.key: one.kind for one in judged.questions},
    )
