"""Example questions, each of which finds its document when it is searched for."""

from __future__ import annotations

import logging
import math
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragkit.catalog.collections import MOST_APART

if TYPE_CHECKING:
    from ragkit.catalog import Catalog
    from ragkit.catalog.records import CollectionRecord
    from ragkit.library.names import DocumentNames
    from ragkit.results import Answer
    from ragkit.types import Version

logger = logging.getLogger(__name__)

EXAMPLES = 3
_MOST_TRIED = 15
_OF_EACH_KIND = 40
_LONGEST = 90
_PAUSE_SECONDS = 20.0
# A title of fewer words only names something.
_TELLING = re.compile(r"[^\W\d_]{2,}(?:[\s\-'’,&]+[^\W_]{2,}){2,}")
_RELEVANT = 2
_LABEL = re.compile(
    r"\A(?:\d+(?:\.\d+)+[.)]?|\d+[.)]|Q\d*[.:]|(?:Example|Note|Question|FAQ)\s*\d*[.:])\s+", re.I
)
_POINTING = re.compile(r"\b(?:this|these|that|those|it|they|here|above|below)\b", re.I)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A question, and the ids of the documents that should answer it."""

    question: str
    documents: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Found:
    """Examples of some collections at their ``versions``; ``questions`` is ``None`` before any."""

    versions: tuple[Version, ...] | None
    at: float
    questions: tuple[str, ...] | None
    looking: bool


class ExampleService:
    """Finds example questions in a background thread, without a model.

    ``search`` is ``Library.search``.
    """

    def __init__(
        self,
        catalog: Catalog,
        names: DocumentNames,
        search: Callable[..., Answer],
    ) -> None:
        self._catalog = catalog
        self._names = names
        self._search = search
        self._lock = threading.Lock()
        self._found: dict[tuple[str, ...], _Found] = {}

    def of(
        self, collections: Sequence[str], offered: Sequence[tuple[str, str]] = ()
    ) -> tuple[str, ...] | None:
        """Return up to three questions about different documents; ``None`` until they are found.

        They are about these collections, or about all; none if those are very many. After a
        change, earlier examples are returned until new ones are found. ``offered`` are questions
        to be tried first, each with the path of a document that answers it.
        """
        records = self._catalog.collections.apart(collections)
        if len(records) > MOST_APART or any(record.is_everything for record in records):
            return ()  # Each search for an example would search them all.
        key = tuple(record.name for record in records)
        versions = tuple(record.version for record in records)
        with self._lock:
            last = self._found.get(key, _Found(None, 0.0, None, looking=False))
            if last.versions == versions or last.looking or _age(last) < _PAUSE_SECONDS:
                return last.questions
            self._found[key] = replace(last, versions=versions, looking=True)
            work = (key, records, tuple(offered))
            threading.Thread(target=self._look, args=work, name="examples", daemon=True).start()
        return last.questions

    def _look(
        self,
        key: tuple[str, ...],
        records: Sequence[CollectionRecord],
        offered: Sequence[tuple[str, str]],
    ) -> None:
        questions: tuple[str, ...] = ()
        try:
            questions = tuple(self._answered(key, self._candidates(records, offered)))
        except Exception:
            # The library may be closed or changed meanwhile; then there are no examples.
            logger.debug("no examples were found", exc_info=True)
        with self._lock:
            self._found[key] = replace(
                self._found[key], at=time.monotonic(), questions=questions, looking=False
            )

    def _answered(
        self, collections: tuple[str, ...], candidates: Iterable[_Candidate]
    ) -> Iterator[str]:
        """Yield the questions of candidates whose best result is one of their documents."""
        shown: set[int] = set()
        count = 0
        for tried, candidate in enumerate(candidates):
            if count == EXAMPLES or tried == _MOST_TRIED:
                return
            answer = self._search(candidate.question, collections=collections, limit=1)
            document = answer.results[0].document.id if answer.results else None
            if document in candidate.documents and document not in shown:
                shown |= candidate.documents
                count += 1
                yield candidate.question

    def _candidates(
        self, records: Sequence[CollectionRecord], offered: Sequence[tuple[str, str]]
    ) -> Iterator[_Candidate]:
        """Yield candidates, the best kind first, at most one for each document."""
        documents: set[int] = set()
        questions: set[str] = set()
        for candidate in self._kinds(records, offered):
            question = candidate.question.casefold()
            is_new = question not in questions and not candidate.documents & documents
            if is_new and len(question) <= _LONGEST:
                questions.add(question)
                documents |= candidate.documents
                yield candidate

    def _kinds(
        self, records: Sequence[CollectionRecord], offered: Sequence[tuple[str, str]]
    ) -> Iterator[_Candidate]:
        collections = [record.name for record in records]
        if offered:
            ids = self._names.ids(collections)
            for question, path in offered:
                yield _Candidate(question, frozenset(ids.get(path, ())))
        for record in records:
            for judgment in self._catalog.judgments.current(record.id):
                judged = judgment.judged
                if judged.grade >= _RELEVANT and " " in judged.question.strip():
                    yield _Candidate(judged.question, frozenset({judged.document_id}))
        for record in records:
            documents, contexts = self._catalog.documents, self._catalog.contexts
            for questions_of in (documents.question_headings, contexts.questions):
                for document_id, text in questions_of(record.id, _OF_EACH_KIND):
                    if question := question_by_itself(text):
                        yield _Candidate(question, frozenset({document_id}))
        for document in self._names.largest(collections, _OF_EACH_KIND):
            if _TELLING.fullmatch(document.title):
                yield _Candidate(document.title, frozenset({document.id}))


def question_by_itself(text: str) -> str:
    """Return a question without its number or label, or "" if it points to the text around it."""
    question = _LABEL.sub("", text.strip())
    return "" if _POINTING.search(question) else question[:1].upper() + question[1:]


def _age(examples: _Found) -> float:
    """Return the seconds since examples were last looked for, or infinity if they never were."""
    return time.monotonic() - examples.at if examples.at else math.inf
