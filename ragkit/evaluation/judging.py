"""Judgments: how people grade passages, and where those passages are now.

A judgment refers to a span of a document's stored text and quotes it, so that it does not depend on
chunks. If the text has changed, the quotation is searched for again.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ragkit.catalog import Catalog
from ragkit.catalog.judgments import JudgmentDraft, JudgmentRecord, Origin
from ragkit.catalog.records import DocumentRecord
from ragkit.errors import EvaluationError
from ragkit.types import Span, Status

GRADES = {2: "Relevant", 1: "Partly", 0: "Not relevant"}
"""The names of the grades on the pages."""

_BY_HAND = (Origin.SEARCH, Origin.COMPARE)


class PlaceState(StrEnum):
    """Whether a judged place still exists."""

    HERE = "here"
    FOUND_AGAIN = "found again"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class Placed:
    """A judgment with its current place; ``span`` is ``None`` for a whole document.

    ``document_id`` and ``path`` are the document's current ones. A stale judgment keeps its old
    ones, and ``why`` says what happened.
    """

    record: JudgmentRecord
    document_id: int
    path: str
    span: Span | None
    state: PlaceState = PlaceState.HERE
    why: str = ""

    @property
    def grade(self) -> int:
        """2 (relevant), 1 (partly) or 0 (not relevant)."""
        return self.record.judged.grade


@dataclass(frozen=True, slots=True)
class Grades:
    """The judgments on one question's documents, oldest first."""

    placed: tuple[Placed, ...] = ()

    def of(self, document_id: int, span: Span | None = None) -> int | None:
        """Return the last grade of a place, or ``None`` if it was not judged.

        A passage has the grade of a judged passage that shares more than half of the shorter one
        with it, or else of its whole document.
        """
        judgments = [
            placed
            for placed in reversed(self.placed)
            if placed.document_id == document_id and placed.state is not PlaceState.STALE
        ]
        if span is not None:
            for placed in judgments:
                if placed.span is not None and _same_place(placed.span, span):
                    return placed.grade
        return next((placed.grade for placed in judgments if placed.span is None), None)


class Judging:
    """Stores and locates judgments, and stores votes. Safe to share between threads."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def judge(
        self,
        collection_id: int,
        question: str,
        document_id: int,
        grade: int,
        *,
        span: Span | None = None,
        origin: Origin = Origin.SEARCH,
        question_set: str = "",
        filter_: str = "",
    ) -> JudgmentRecord:
        """Store how well a passage, or a whole document, answers a question.

        ``filter_`` is the restriction of the question in the query language.

        Raises:
            EvaluationError: the question is empty, or the grade or the place does not exist.
            NotFoundError: the document no longer exists.
        """
        asked = normalised_question(question)
        if not asked:
            raise EvaluationError(
                "There is no question to rate results for.", "Search for something first."
            )
        if grade not in GRADES:
            raise EvaluationError(f"Invalid grade: {grade}.", "Grades are 2, 1 and 0.")
        record = self._catalog.documents.get(document_id)
        if record.collection_id != collection_id:
            raise EvaluationError(
                f"{record.path} is in another collection.", "Rate it in that collection."
            )
        start, end, quote = 0, 0, ""
        if span is not None:
            start, end = span.start, span.end
            quote = self._quote(record, span)
        # A question that was imported keeps its id.
        same = self._catalog.judgments.current(
            collection_id, question_set=question_set, question=asked, filter_=filter_
        )
        judged = JudgmentDraft(
            asked, document_id, record.path, record.hash, start, end, quote, grade, origin,
            question_set, same[-1].judged.key if same else "", filter=filter_,
        )  # fmt: skip
        return JudgmentRecord(self._catalog.judgments.add(collection_id, [judged])[0], judged)

    def _quote(self, record: DocumentRecord, span: Span) -> str:
        """Return the text of a passage.

        Raises:
            EvaluationError: the document has no such passage.
        """
        start, end = span.start, span.end
        if not 0 <= start < end:
            raise EvaluationError(
                f"There is no passage from {start} to {end}.", "A passage ends after it begins."
            )
        quote = self._catalog.documents.slices([(record.id, start, end)])[0]
        if len(quote) != end - start:
            raise EvaluationError(
                f"{record.path} has {record.characters} characters, and no passage from {start} "
                f"to {end}.",
                "If it has changed since it was shown, search again, then rate it.",
            )
        return quote

    def undo(self, collection_id: int, *, question_set: str = "") -> JudgmentRecord | None:
        """Remove a set's last judgment made by hand, so that the previous one counts again."""
        last = self._catalog.judgments.last(collection_id, _BY_HAND, question_set)
        if last is not None:
            self._catalog.judgments.remove([last.id])
        return last

    def grades(
        self, collection_id: int, question: str, *, question_set: str = "", filter_: str = ""
    ) -> Grades:
        """Return the judgments on the documents that a question found under a filter."""
        records = self._catalog.judgments.current(
            collection_id,
            question_set=question_set,
            question=normalised_question(question),
            filter_=filter_,
        )
        return Grades(tuple(self.place(collection_id, records)))

    def place(self, collection_id: int, records: Sequence[JudgmentRecord]) -> list[Placed]:
        """Locate each judgment in the current texts, in the same order."""
        with self._catalog.connections.read():
            documents = self._documents(collection_id, [record.judged for record in records])
            spans = [
                (document.id, record.judged.start, record.judged.end)
                for record, document in zip(records, documents, strict=True)
                if document is not None and not record.judged.whole
            ]
            slices = dict(zip(spans, self._catalog.documents.slices(spans), strict=True))
            return [
                self._placed(record, document, slices)
                for record, document in zip(records, documents, strict=True)
            ]

    def vote(
        self, collection_id: int, question: str, settings: Sequence[str], winner: int | None
    ) -> int:
        """Store which configuration answered better (its index); ``None``: none of them.

        Raises:
            EvaluationError: there are fewer than two, or the winner is not one of them.
        """
        asked = normalised_question(question)
        valid = winner is None or 0 <= winner < len(settings)
        if not asked or len(settings) < 2 or not valid:
            raise EvaluationError(
                "A vote needs a question and two settings to choose from.", "Compare two columns."
            )
        return self._catalog.judgments.vote(collection_id, asked, settings, winner)

    def _documents(
        self, collection_id: int, judged: Sequence[JudgmentDraft]
    ) -> list[DocumentRecord | None]:
        """Find the documents by id, or if they were added again, by path or content."""
        by_id = self._catalog.documents.get_many({draft.document_id for draft in judged})
        others: Iterable[DocumentRecord] = ()
        if any(draft.document_id not in by_id for draft in judged):
            others = self._catalog.documents.list(collection_id, status=Status.INDEXED)
        by_path = {document.path: document for document in others}
        by_hash = {document.hash: document for document in others}
        return [
            by_id.get(draft.document_id)
            or by_path.get(draft.path)
            or (by_hash.get(draft.content_hash) if draft.content_hash else None)
            for draft in judged
        ]

    def _placed(
        self,
        record: JudgmentRecord,
        document: DocumentRecord | None,
        slices: Mapping[tuple[int, int, int], str],
    ) -> Placed:
        judged = record.judged
        span = None if judged.whole else Span(judged.start, judged.end)
        if document is None or document.status is not Status.INDEXED:
            why = f"{judged.path} is no longer indexed."
            return Placed(record, judged.document_id, judged.path, span, PlaceState.STALE, why)
        if span is None or slices[document.id, span.start, span.end] == judged.quote:
            return Placed(record, document.id, document.path, span)
        moved = find_quote(self._catalog.documents.text(document.id), judged.quote, judged.start)
        if moved is None:
            why = f"{document.path} no longer holds what was judged."
            return Placed(record, document.id, document.path, span, PlaceState.STALE, why)
        return Placed(record, document.id, document.path, moved, PlaceState.FOUND_AGAIN)


def normalised_question(question: str) -> str:
    """Return a question as judgments store it: NFC, with single spaces."""
    whole = question.encode("utf-8", "replace").decode("utf-8")
    return " ".join(unicodedata.normalize("NFC", whole).split())


def find_quote(text: str, quote: str, near: int = 0) -> Span | None:
    """Find the occurrence of a quotation nearest to an offset; white space may differ."""
    if not quote.strip():
        return None
    exact = re.compile(re.escape(quote))
    loose = re.compile(r"\s+".join(map(re.escape, quote.split())))
    for pattern in (exact, loose):
        matches = [match.span() for match in pattern.finditer(text)]
        if matches:
            return Span(*min(matches, key=lambda span: (abs(span[0] - near), span[0])))
    return None


def _same_place(left: Span, right: Span) -> bool:
    shared = min(left.end, right.end) - max(left.start, right.start)
    return 2 * shared > min(len(left), len(right))
