"""Questions of the log of searches, as candidates of a question set that a person rates."""

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
from ragkit.retrieval.filter_syntax import format_filters
from ragkit.retrieval.query_parser import parse_query
from ragkit.types import Span, Status

LOGGED = "searches"
"""The default name of a set of logged questions."""

MOST_PLACES = 10
"""Of what a question showed, over all the times it was asked, so much is offered to be rated."""

UNRATED = "?"
"""The grade of what is not rated yet, in a file; an import leaves it out, and says so."""


@dataclass(frozen=True, slots=True)
class LoggedQuestion:
    """A question that was asked, and where its searches led.

    ``filter`` is what it was restricted to, in the query language. ``times`` counts its searches,
    ``at`` is when the last was made. ``shown`` are the places of all of them, the newest search's
    first. ``rated`` says that something of it is rated in the set.
    """

    question: str
    filter: str
    times: int
    at: float
    shown: tuple[Shown, ...]
    rated: bool = False


@dataclass(frozen=True, slots=True)
class OfferedPlace:
    """A place that a logged question showed, as it stands now: its text, and its grade if any.

    Without a span it is the whole document, and ``text`` how that begins.
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

    Left out are long texts, and what showed nothing: there is nothing to rate. A question that
    differs in case and spaces only is the same.
    """
    fields = catalog.filters.field_names([record])
    current = catalog.judgments.current(record.id, question_set=question_set)
    rated = {
        (question_key(judgment.judged.question), judgment.judged.filter): judgment.judged.question
        for judgment in current
    }
    asked: dict[tuple[str, str], list[tuple[str, LoggedSearch]]] = {}
    for search in sorted(searches, key=lambda search: -search.at):
        is_of_it = search.everywhere or record.name in search.collections
        if is_of_it and search.shown and search.chunked is None and not search.cut:
            question, filter_ = _apart(search, fields)
            if question:
                asked.setdefault((question_key(question), filter_), []).append((question, search))
    questions = []
    for key, same in asked.items():
        # As it stands in the set, however it was typed since.
        question = rated.get(key, normalised_question(same[0][0]))
        shown = dict.fromkeys(place for _, search in same for place in _unscored(search.shown))
        questions.append(
            LoggedQuestion(
                question, key[1], len(same), same[0][1].at, tuple(shown), key in rated
            )
        )  # fmt: skip
    return tuple(sorted(questions, key=lambda logged: (-logged.times, -logged.at)))


def offered_places(
    catalog: Catalog, record: CollectionRecord, asked: LoggedQuestion, question_set: str
) -> tuple[OfferedPlace, ...]:
    """Return the places of the collection that a question showed, as its documents are now.

    Documents that are gone are left out; of a text that has become shorter, the whole is offered.
    """
    judging = Judging(catalog)
    grades = judging.grades(record.id, asked.question, question_set=question_set)
    documents = catalog.documents.get_many({shown.document_id for shown in asked.shown})
    places: dict[tuple[int, Span | None], OfferedPlace] = {}
    for shown in asked.shown:
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


def as_csv(asked: Iterable[tuple[LoggedQuestion, Sequence[OfferedPlace]]]) -> str:
    """Return questions and places as a CSV file to be rated and then imported.

    What is not rated has the grade ``?``. No cell is what a spreadsheet takes for a formula.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["question", "grade", "path", "quote", "filter"])
    for one, places in asked:
        for place in places:
            quote = place.text if place.span else ""
            cells = one.question, place.path, quote, one.filter
            question, path, quote, filter_ = map(_cell, cells)
            grade = UNRATED if place.grade is None else place.grade
            writer.writerow([question, grade, path, quote, filter_])
    return out.getvalue()


def _cell(text: str) -> str:
    """Return a cell that is no formula; an import strips the space."""
    return f" {text}" if text[:1] in "=+-@\t\r" else text


def _apart(search: LoggedSearch, fields: Sequence[str]) -> tuple[str, str]:
    """Return the words of a search, and its filters; all as typed where it asks for more."""
    try:
        parsed = parse_query(search.question, fields)
    except QueryError:
        return search.question, search.filters
    if parsed.required or parsed.excluded or parsed.collections or parsed.notices:
        return search.question, search.filters
    return parsed.text, " ".join(filter(None, (format_filters(parsed.filters), search.filters)))


def _unscored(shown: Iterable[Shown]) -> list[Shown]:
    """Return places that are equal where they are the same: scores are of one search each."""
    return [Shown(place.document_id, 0.0, place.span) for place in shown]
