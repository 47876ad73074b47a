"""Trials: a question set together with the library that is asked, ready to be measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from ragkit.catalog import Catalog
from ragkit.catalog.context_records import ContextCounts
from ragkit.errors import EvaluationError
from ragkit.evaluation.comparing import Searchable
from ragkit.evaluation.corpus import Question, QuestionSet
from ragkit.evaluation.metrics import PASS_AT, Values, pass_at, score
from ragkit.evaluation.question_sets import collect
from ragkit.evaluation.replay import RecordedContexts, Replayed
from ragkit.evaluation.spans import GoldSpans, score_spans
from ragkit.evaluation.temporary import COLLECTION, RowPlaces, RowsAs, TemporaryLibrary
from ragkit.indexing.progress import Reporter
from ragkit.results import Answer, Expansion, SearchOptions
from ragkit.settings import Settings

DEPTH = 100
"""How deep rankings are judged."""


class Judge(Protocol):
    """Says how good answers are. What it keeps of an answer is its own affair."""

    def options(self, options: SearchOptions) -> SearchOptions:
        """How to ask for what is judged, where that is more than a person sees."""
        ...

    def kept(self, question: Question, answer: Answer) -> Any:
        """What is needed of an answer to judge it."""
        ...

    def values(self, kept: Mapping[str, Any]) -> Values:
        """Each metric for each question, from what was kept by their ids."""
        ...


@dataclass(frozen=True, slots=True)
class RankingJudge:
    """Judges the order of rows or documents. ``ranking`` gives the ids that an answer holds.

    ``by_chunk``: each chunk is a result of its own.
    """

    judgments: Mapping[str, Mapping[str, int]]
    ranking: Callable[[Answer], list[str]]
    same: Mapping[str, str] = field(default_factory=dict)
    by_chunk: bool = True

    def options(self, options: SearchOptions) -> SearchOptions:
        """Ask for a hundred, with nothing around what was found."""
        deep = replace(
            options,
            limit=DEPTH,
            candidates=max(options.candidates, DEPTH),
            expansion=Expansion.CHUNK,
        )
        return replace(deep, per_document=0) if self.by_chunk else deep

    def kept(self, _question: Question, answer: Answer) -> list[str]:
        """The ids in their order."""
        return self.ranking(answer)[:DEPTH]

    def values(self, kept: Mapping[str, Any]) -> Values:
        """The usual metrics; also Pass@k where rows may count as the same."""
        values = score(kept, self.judgments)
        if self.same:
            values.update(pass_at(kept, self.judgments, self.same, PASS_AT))
        return values


@dataclass(frozen=True, slots=True)
class SpanJudge:
    """Judges the passages that are shown, by the marked places that they hold."""

    gold: GoldSpans

    def options(self, options: SearchOptions) -> SearchOptions:
        """What is shown is what is judged."""
        return options

    def kept(self, question: Question, answer: Answer) -> dict[str, float]:
        """The metrics of one answer."""
        return score_spans(answer, self.gold.of_question(question.id))

    def values(self, kept: Mapping[str, Any]) -> Values:
        """The same by metric."""
        values: Values = {}
        for question, found in kept.items():
            for name, value in found.items():
                values.setdefault(name, {})[question] = value
        return values


@dataclass(frozen=True, slots=True)
class Trial:
    """A question set and the library that it is asked of.

    ``contexts`` say how the model contexts of its chunks stand, and ``tokens`` what they cost.
    ``structural`` is False where only texts were indexed, without titles and headings.
    """

    name: str
    searched: Searchable
    catalog: Catalog
    collection: str
    questions: tuple[Question, ...]
    judge: Judge
    documents: int
    chunks: int
    contexts: ContextCounts = field(default_factory=ContextCounts)
    tokens: int = 0
    index_seconds: float = 0.0
    structural: bool = True
    notices: tuple[str, ...] = ()


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
) -> Iterator[Trial]:
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
    library = TemporaryLibrary(root, settings)
    notices = list(given.notices)
    try:
        started = time.perf_counter()
        judge: Judge
        if given.excerpts:
            library.add_folder(given.folder / "docs", reporter)
            gold = GoldSpans.of(library.catalog, library.collection.id, given.excerpts)
            judge = SpanJudge(gold)
            notices += gold.notices
        else:
            places = library.add_rows(
                given.rows, reporter, whole=whole_rows, rows_as=rows_as, structural=structural
            )
            judge = RankingJudge(given.judgments, _rows_of(places), given.same)
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
        yield Trial(
            given.name, library, library.catalog, COLLECTION, given.questions, judge,
            documents, chunks, library.catalog.contexts.counts(library.collection.id),
            library.catalog.contexts.tokens(library.collection.id), seconds, structural,
            tuple(notices),
        )  # fmt: skip
    finally:
        library.close()


def judged_trial(
    searched: Searchable, catalog: Catalog, collection: str, question_set: str = ""
) -> Trial:
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
    return Trial(
        question_set or "judged",
        searched,
        catalog,
        collection,
        tuple(Question(one.key, one.text) for one in judged.questions),
        RankingJudge(judged.qrels, _paths_of, by_chunk=False),
        counts.indexed,
        counts.chunks,
        catalog.contexts.counts(record.id),
        catalog.contexts.tokens(record.id),
        notices=judged.notices,
    )


def _rows_of(places: RowPlaces) -> Callable[[Answer], list[str]]:
    def ranking(answer: Answer) -> list[str]:
        return places.ranking(
            (result.document.id, result.matched_chunks[0].index) for result in answer.results
        )

    return ranking


def _paths_of(answer: Answer) -> list[str]:
    found: dict[str, None] = {}
    for result in answer.results:
        found.update(dict.fromkeys((result.document.path, *result.also_at)))
    return list(found)
