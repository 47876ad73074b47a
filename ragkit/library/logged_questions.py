"""Questions from the log of searches, with the places they showed, to be rated by a person."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ragkit.catalog import Catalog
from ragkit.catalog.records import CollectionRecord
from ragkit.errors import QueryError
from ragkit.evaluation.judging import Judging, normalised_question
from ragkit.library.search_log import LoggedSearch, Shown, question_key
from ragkit.retrieval.query.filter_syntax import format_filters
from ragkit.retrieval.query.parser import parse_query
from ragkit.types import Span, Status

LOGGED = "searches"
"""The default name of a set of logged questions."""

MOST_PLACES = 10
"""The most places of one question that are offered to be rated."""

UNRATED = "?"
"""The grade of a place that is not rated yet, in a file; an import skips it and says so."""


@dataclass(frozen=True, slots=True)
class LoggedQuestion:
    """A question that was searched for, and the places that it showed.

    ``filter`` restricted it, in the query language. ``times`` counts its searches, ``at`` is the
    time of the last one. ``shown`` are the places of all its searches, the newest search's first.
    ``rated`` says that the set has a judgment of it.
    """

    question: str
    filter: str
    times: int
    at: float
    shown: tuple[Shown, ...]
    rated: bool = False


@dataclass(frozen=True, slots=True)
class OfferedPlace:
    """A place that a logged question showed, with its current text and its grade, if any.

    Without a span it is the whole document, and ``text`` is its beginning.
    """

    document_id: int
    path: str
    title: str
    span: Span | None
    text: str
    grade: int | None = None


def logged_questions(
    catalog: Catalog, record: CollectionRecord, searches: Iterable[LoggedSearch], question_set: str
) -> tuple[LoggedQuestion, ...]:
    """Return the questions of a collection's searches, those asked most often first.

    Long texts and searches without results are left out. Questions that differ only in case and
    spaces count as one.
    """
    fields = catalog.filters.field_names([record])
    current = catalog.judgments.current(record.id, question_set=question_set)
    rated = {
        (question_key(judgment.judged.question), judgment.judged.filter): judgment.judged.question
        for judgment in current
    }
    searched: dict[tuple[str, str], list[tuple[str, LoggedSearch]]] = {}
    for search in sorted(searches, key=lambda search: -search.at):
        is_of_it = search.everywhere or record.name in search.collections
        if is_of_it and search.shown and search.chunked is None and not search.cut:
            question, filter_ = _apart(search, fields)
            if question:
                key = question_key(question), filter_
                searched.setdefault(key, []).append((question, search))
    questions = []
    for key, same in searched.items():
        # In the spelling of the set, however it was typed since.
        question = rated.get(key, normalised_question(same[0][0]))
        shown = dict.fromkeys(place for _, search in same for place in _unscored(search.shown))
        questions.append(
            LoggedQuestion(
                question, key[1], len(same), same[0][1].at, tuple(shown), key in rated
            )
        )  # fmt: skip
    return tuple(sorted(questions, key=lambda logged: (-logged.times, -logged.at)))


def offered_places(
    catalog: Catalog, record: CollectionRecord, logged: LoggedQuestion, question_set: str
) -> tuple[OfferedPlace, ...]:
    """Return the places in a collection that a question showed, with their current texts.

    Documents that are gone are left out. Where a span no longer exists, the whole document is
    offered.
    """
    judging = Judging(catalog)
    grades = judging.grades(
        record.id, logged.question, question_set=question_set, filter_=logged.filter
    )
    documents = catalog.documents.get_many({shown.document_id for shown in logged.shown})
    places: dict[tuple[int, Span | None], OfferedPlace] = {}
    for shown in logged.shown:
        document = documents.get(shown.document_id)
        if (
            document is None
            or document.collection_id != record.id
            or document.status is not Status.INDEXED
        ):
            continue
        span = shown.span
        start, end = (span.start, span.end) if span else (0, 0)
        text = catalog.documents.slices([(document.id, start, end)])[0] if span else ""
        if span is None or len(text) != end - start or not text.strip():
            span, text = None, catalog.documents.slices([(document.id, 0, 2000)])[0]
        grade = grades.of(document.id, span)
        place = OfferedPlace(document.id, document.path, document.title, span, text, grade)
        places.setdefault((document.id, span), place)
    return tuple(places.values())[:MOST_PLACES]


def as_csv(questions: Iterable[tuple[LoggedQuestion, Sequence[OfferedPlace]]]) -> str:
    """Return questions and their places as a CSV file to be rated and then imported.

    Unrated places have the grade ``?``. No cell is what a spreadsheet would read as a formula.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["question", "grade", "path", "quote", "filter"])
    for logged, places in questions:
        for place in places:
            quote = place.text if place.span else ""
            cells = logged.question, place.path, quote, logged.filter
            question, path, quote, filter_ = map(_cell, cells)
            grade = UNRATED if place.grade is None else place.grade
            writer.writerow([question, grade, path, quote, filter_])
    return out.getvalue()


def _cell(text: str) -> str:
    """Return a cell that is no formula; the import strips the space."""
    return f" {text}" if text[:1] in "=+-@\t\r" else text


def _apart(search: LoggedSearch, fields: Sequence[str]) -> tuple[str, str]:
    """Return a search's words and its filters; words as typed if they hold more than filters."""
    try:
        parsed = parse_query(search.question, fields)
    except QueryError:
        return search.question, search.filters
    if parsed.required or parsed.excluded or parsed.collections or parsed.notices:
        return search.question, search.filters
    return parsed.text, " ".join(filter(None, (format_filters(parsed.filters), search.filters)))


def _unscored(shown: Iterable[Shown]) -> list[Shown]:
    """Return places without their scores, so that the same places of two searches are equal."""
    return [Shown(place.document_id, 0.0, place.span) for place in shown]
