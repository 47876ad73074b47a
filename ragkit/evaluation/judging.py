"""Judging: what a person says of a passage, and where that passage stands now.

A judgment is a span of a document's stored text with the words that stood there, so that another
way of cutting chunks cannot lose it. When a text has changed, the words are looked for again.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ragkit.catalog import Catalog
from ragkit.catalog.judgments import JudgmentDraft, JudgmentRecord, Origin, VoteRecord
from ragkit.catalog.records import DocumentRecord
from ragkit.errors import EvaluationError
from ragkit.types import Span, Status

GRADES = {2: "Right", 1: "Partly", 0: "No"}
"""What a grade is called on the pages."""

_BY_HAND = (Origin.SEARCH, Origin.COMPARE)


class Standing(StrEnum):
    """Whether a judged place is still there."""

    HERE = "here"
    FOUND_AGAIN = "found again"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class Placed:
    """A judgment with where it stands now; ``span`` is ``None`` for a whole document.

    ``document_id`` and ``path`` are the document's own now. What is stale keeps those it had, and
    ``why`` says in a sentence what became of it.
    """

    record: JudgmentRecord
    document_id: int
    path: str
    span: Span | None
    standing: Standing = Standing.HERE
    why: str = ""

    @property
    def grade(self) -> int:
        """2 (right), 1 (partly) or 0 (not)."""
        return self.record.judged.grade


@dataclass(frozen=True, slots=True)
class Grades:
    """What has been said of the documents that one question found, oldest first."""

    placed: tuple[Placed, ...] = ()

    def of(self, document_id: int, span: Span | None = None) -> int | None:
        """The last grade of a place; ``None`` when it has not been judged.

        A passage counts as judged when one that shares more than half of the shorter of the two
        was, or else when its whole document was.
        """
        mine = [
            one
            for one in reversed(self.placed)
            if one.document_id == document_id and one.standing is not Standing.STALE
        ]
        if span is not None:
            for one in mine:
                if one.span is not None and _same_place(one.span, span):
                    return one.grade
        return next((one.grade for one in mine if one.span is None), None)


class Judging:
    """Keeps judgments and votes, and says where they stand. Safe to share between threads."""

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
    ) -> JudgmentRecord:
        """Say how well a passage, or a whole document without one, answers a question.

        Raises:
            EvaluationError: the question is empty, or there is no such grade or place.
            NotFoundError: the document is gone.
        """
        asked = folded_question(question)
        if not asked:
            raise EvaluationError("There is no question to judge for.", "Ask something first.")
        if grade not in GRADES:
            raise EvaluationError(f"There is no grade {grade}.", "Grades are 2, 1 and 0.")
        record = self._catalog.documents.get(document_id)
        if record.collection_id != collection_id:
            raise EvaluationError(
                f"{record.path} is in another collection.", "Judge it where it was found."
            )
        start, end, quote = 0, 0, ""
        if span is not None:
            start, end = span.start, span.end
            if 0 <= start < end:
                quote = self._catalog.passages.slices([(document_id, start, end)])[0]
            if not quote or len(quote) != end - start:
                raise EvaluationError(
                    f"{record.path} has changed since it was shown.", "Ask again, then judge."
                )
        judged = JudgmentDraft(
            asked, document_id, record.path, record.hash, start, end, quote, grade, origin
        )
        return JudgmentRecord(self._catalog.judgments.add(collection_id, [judged])[0], judged)

    def undo(self, collection_id: int) -> JudgmentRecord | None:
        """Take back the last judgment that was made by hand; what was said before holds again."""
        last = self._catalog.judgments.last(collection_id, _BY_HAND)
        if last is not None:
            self._catalog.judgments.remove([last.id])
        return last

    def grades(self, collection_id: int, question: str) -> Grades:
        """What people said of the documents that a question found."""
        found = self._catalog.judgments.current(
            collection_id, question_set="", question=folded_question(question)
        )
        return Grades(tuple(self.place(collection_id, found)))

    def place(self, collection_id: int, records: Sequence[JudgmentRecord]) -> list[Placed]:
        """Find where each judgment stands now, in the same order."""
        with self._catalog.connections.read():
            documents = self._documents(collection_id, [one.judged for one in records])
            spans = [
                (home.id, one.judged.start, one.judged.end)
                for one, home in zip(records, documents, strict=True)
                if home is not None and not one.judged.whole
            ]
            slices = iter(self._catalog.passages.slices(spans))
            return [
                self._placed(one, home, slices)
                for one, home in zip(records, documents, strict=True)
            ]

    def vote(
        self, collection_id: int, question: str, settings: Sequence[str], winner: int | None
    ) -> int:
        """Keep which of the settings answered better (an index), or ``None`` for none of them.

        Raises:
            EvaluationError: fewer than two settings, or the winner is not one of them.
        """
        asked = folded_question(question)
        known = winner is None or 0 <= winner < len(settings)
        if not asked or len(settings) < 2 or not known:
            raise EvaluationError(
                "A vote needs a question and two settings to choose from.", "Compare two columns."
            )
        return self._catalog.judgments.vote(collection_id, asked, settings, winner)

    def votes(self, collection_id: int) -> list[VoteRecord]:
        """Every vote, oldest first."""
        return self._catalog.judgments.votes(collection_id)

    def _documents(
        self, collection_id: int, judged: Sequence[JudgmentDraft]
    ) -> list[DocumentRecord | None]:
        """The documents now: by id, or, when removed and added again, by path or content."""
        known = self._catalog.documents.get_many({one.document_id for one in judged})
        lost = [one for one in judged if one.document_id not in known]
        others: Iterable[DocumentRecord] = ()
        if lost:
            others = self._catalog.documents.list(collection_id, status=Status.INDEXED)
        by_path = {one.path: one for one in others}
        by_hash = {one.hash: one for one in others}
        return [
            known.get(one.document_id)
            or by_path.get(one.path)
            or (by_hash.get(one.content_hash) if one.content_hash else None)
            for one in judged
        ]

    def _placed(
        self, record: JudgmentRecord, home: DocumentRecord | None, slices: Iterator[str]
    ) -> Placed:
        judged = record.judged
        span = None if judged.whole else Span(judged.start, judged.end)
        if home is None or home.status is not Status.INDEXED:
            if home is not None and span is not None:
                next(slices)
            why = f"{judged.path} is no longer indexed."
            return Placed(record, judged.document_id, judged.path, span, Standing.STALE, why)
        if span is None or next(slices) == judged.quote:
            return Placed(record, home.id, home.path, span)
        again = find_quote(self._catalog.documents.text(home.id), judged.quote, judged.start)
        if again is None:
            why = f"{home.path} no longer holds what was judged."
            return Placed(record, home.id, home.path, span, Standing.STALE, why)
        return Placed(record, home.id, home.path, again, Standing.FOUND_AGAIN)


def folded_question(question: str) -> str:
    """A question as judgments are kept under: NFC, each run of white space one space."""
    whole = question.encode("utf-8", "replace").decode("utf-8")
    return " ".join(unicodedata.normalize("NFC", whole).split())


def find_quote(text: str, quote: str, near: int = 0) -> Span | None:
    """Where a quotation stands in a text, nearest to a place; white space may differ."""
    if not quote.strip():
        return None
    exact = re.compile(re.escape(quote))
    loose = re.compile(r"\s+".join(map(re.escape, quote.split())))
    for pattern in (exact, loose):
        found = [match.span() for match in pattern.finditer(text)]
        if found:
            return Span(*min(found, key=lambda one: (abs(one[0] - near), one[0])))
    return None


def _same_place(one: Span, other: Span) -> bool:
    shared = min(one.end, other.end) - max(one.start, other.start)
    return 2 * shared > min(len(one), len(other))
