"""Example questions that a library answers: each has found its document before it is shown."""

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
_TELLING = re.compile(r"[^\W\d_]{2,}(?:[\s\-'’,&]+[^\W_]{2,})+")
_RELEVANT = 2


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A question, and the ids of the documents that should answer it."""

    question: str
    documents: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Found:
    """The examples of some collections as they were at these versions; ``None``: not yet found."""

    versions: tuple[Version, ...] | None
    at: float
    questions: tuple[str, ...] | None
    looking: bool


class ExampleService:
    """Finds example questions in a thread, without a model, once for each state of a library.

    ``search`` is that of the library.
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
        """Return up to three questions of different documents; ``None`` while they are found.

        They are of these collections, or of all; there are none where those are very many.
        After a change of the library the earlier ones are returned until others are found.
        ``offered`` are questions with the path of a document that answers them, tried first.
        """
        records = self._catalog.collections.apart(collections)
        if len(records) > MOST_APART or any(record.is_everything for record in records):
            return ()  # Each is found by a search of them all.
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
            # The library may be closed or changed meanwhile; there are no examples then.
            logger.debug("no examples were found", exc_info=True)
        with self._lock:
            self._found[key] = replace(
                self._found[key], at=time.monotonic(), questions=questions, looking=False
            )

    def _answered(
        self, collections: tuple[str, ...], candidates: Iterable[_Candidate]
    ) -> Iterator[str]:
        """Yield the first candidates whose search puts a document of theirs first."""
        shown: set[int] = set()
        count = 0
        for tried, example in enumerate(candidates):
            if count == EXAMPLES or tried == _MOST_TRIED:
                return
            answer = self._search(example.question, collections=collections, limit=1)
            document = answer.results[0].document.id if answer.results else None
            if document in example.documents and document not in shown:
                shown |= example.documents
                count += 1
                yield example.question

    def _candidates(
        self, records: Sequence[CollectionRecord], offered: Sequence[tuple[str, str]]
    ) -> Iterator[_Candidate]:
        """Yield what is worth asking, the best kind first, at most one of each document."""
        used: set[int] = set()
        asked: set[str] = set()
        for example in self._kinds(records, offered):
            words = example.question.casefold()
            if words in asked or example.documents & used or len(words) > _LONGEST:
                continue
            asked.add(words)
            used |= example.documents
            yield example

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
            for document, question in self._catalog.documents.question_headings(
                record.id, _OF_EACH_KIND
            ):
                yield _Candidate(question, frozenset({document}))
            for document, question in self._catalog.contexts.questions(record.id, _OF_EACH_KIND):
                yield _Candidate(question, frozenset({document}))
        for named in self._names.largest(collections, _OF_EACH_KIND):
            if _TELLING.fullmatch(named.title):
                yield _Candidate(named.title, frozenset({named.id}))


def _age(examples: _Found) -> float:
    """Return the seconds since examples were last looked for; endless if they never were."""
    return time.monotonic() - examples.at if examples.at else math.inf
