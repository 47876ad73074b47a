"""Suggestions while a question is typed: past searches, documents and filters."""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from pathlib import PurePath
from typing import TYPE_CHECKING

from ragkit.indexes.analyzer import SPACELESS
from ragkit.library.names import folded
from ragkit.retrieval.query.parser import FILTER_NAMES, format_filter

if TYPE_CHECKING:
    from ragkit.catalog import Catalog
    from ragkit.catalog.records import CollectionRecord
    from ragkit.library.names import DocumentNames
    from ragkit.library.searches import SearchHistory

LONGEST = 300
"""Nothing is suggested after more characters than these before the cursor."""

_MOST_SEARCHES, _MOST_FILTERS, _MOST_DOCUMENTS, _MOST_VALUES = 4, 3, 5, 8
_LEAST_LETTERS, _MOST_TOPICS = 2, 2000
_LAST_TOKEN = re.compile(r'(?<!\S)(?:[^\s"]|"[^"]*(?:"|\Z))+\Z')
_FILTERED = re.compile(r'(?<!\S)[^\s:"]+:(?:[^\s"]|"[^"]*")+')
# Filters whose values are not listed, with a hint: they take any text or day.
_FREE = {
    "title": "words of a title", "subject": "words of a subject", "in": "a heading",
    "date": "2025-01", "after": "2025-01", "before": "2025",
}  # fmt: skip
_AGES = ("7d", "1m", "6m", "1y")


class Kind(StrEnum):
    """The kind of a suggestion."""

    SEARCH = "search"
    DOCUMENT = "document"
    FILTER = "filter"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggestion.

    If chosen, the box contains ``text`` with the cursor after ``cursor`` characters, or the
    document of that id is opened. ``count`` is the number of documents with a value.
    """

    kind: Kind
    label: str
    text: str = ""
    cursor: int = 0
    detail: str = ""
    count: int | None = None
    document: int | None = None
    pinned: bool = False


class SuggestionService:
    """Suggests from the contents of a library, without a model."""

    def __init__(self, catalog: Catalog, names: DocumentNames, history: SearchHistory) -> None:
        self._catalog = catalog
        self._names = names
        self._history = history

    def suggest(
        self, text: str, collections: Sequence[str] = (), cursor: int | None = None
    ) -> tuple[Suggestion, ...]:
        """Return suggestions for ``text`` with the cursor at a position, by default at its end.

        They are the values of a filter if one is being typed, or else past searches, names of
        filters, and documents of these collections, or of all, by title. An empty text only
        prepares the names of documents.
        """
        records = self._catalog.collections.apart(collections)
        before, after = text[:cursor], text[len(text[:cursor]) :]
        if len(before) > LONGEST:
            return ()
        token = _LAST_TOKEN.search(before)
        word = token[0] if token else ""
        head = before[: len(before) - len(word)]
        name, colon, value = word.partition(":")
        if colon:
            values = self._values(name.casefold(), collections, records)
            return tuple(_completed(head, name, value, after, values))
        if len(before.strip()) < _LEAST_LETTERS:
            self._names.prepare(collections)
            return ()
        return (
            *self._searches(before),
            *self._filters(head, word, after, collections, records),
            *self._documents(before, collections),
        )

    def _searches(self, text: str) -> Iterator[Suggestion]:
        """Yield past searches that contain the text, from the beginning of a word on."""
        start = re.compile(rf"(?<![^\W{SPACELESS}]){re.escape(folded(' '.join(text.split())))}")
        searches = [past for past in self._history.list() if start.search(folded(past.question))]
        for past in searches[:_MOST_SEARCHES]:
            yield Suggestion(
                Kind.SEARCH, past.question, past.question, len(past.question), pinned=past.pinned
            )

    def _filters(
        self,
        head: str,
        word: str,
        after: str,
        collections: Sequence[str],
        records: Sequence[CollectionRecord],
    ) -> Iterator[Suggestion]:
        """Yield the filters whose names begin with a word and that have values here."""
        if len(word) < _LEAST_LETTERS:
            return
        fields = self._catalog.filters.facets(records).fields
        names = [name for name in (*FILTER_NAMES, *fields) if name.startswith(word.lower())]
        for name in names[:_MOST_FILTERS]:
            values = [value for value, _ in self._values(name, collections, records).most_common(3)]
            if values or name in _FREE:
                text = f"{head}{name}:"
                detail = ", ".join(values) if values else _FREE[name]
                yield Suggestion(Kind.FILTER, f"{name}:", text + after, len(text), detail)

    def _documents(self, text: str, collections: Sequence[str]) -> Iterator[Suggestion]:
        """Yield the documents whose names match the typed words, without filters."""
        text = _FILTERED.sub(" ", text)
        for document in self._names.matching(text, collections, _MOST_DOCUMENTS):
            yield Suggestion(
                Kind.DOCUMENT, document.title, detail=document.path, document=document.id
            )

    def _values(
        self, name: str, collections: Sequence[str], records: Sequence[CollectionRecord]
    ) -> Counter[str]:
        """Return the values of a filter with counts of documents, or 0 if those are not counted."""
        if name == "path":
            return self._names.folders(collections)
        if name == "collection":
            many = any(record.is_everything for record in records)
            names = self._catalog.collections.names() if many else [each.name for each in records]
            return Counter(dict.fromkeys(names, 0))
        if name == "topic":
            topics = (self._catalog.notes.topics(record.id, _MOST_TOPICS) for record in records)
            return Counter(dict.fromkeys(chain.from_iterable(topics), 0))
        if name in ("newer_than", "older_than"):
            return Counter(dict.fromkeys(_AGES, 0))
        if name == "source":
            folders = self._catalog.collections.folders()
            return Counter(dict.fromkeys((PurePath(root).name for root in folders), 0))
        values = Counter(dict(self._catalog.filters.facets(records).values(name)))
        return values | self._names.suffixes(collections) if name == "type" else values


def _completed(
    head: str, name: str, typed: str, after: str, values: Counter[str]
) -> Iterator[Suggestion]:
    """Yield the values that have a word beginning with the last alternative that is typed."""
    alternatives, comma, last = typed.rpartition(",")
    prefix = folded(last.strip('"'))
    begins = re.compile(rf"(?<!\w){re.escape(prefix)}")
    matching = []
    for value, count in values.items():
        plain = folded(value)
        if plain != prefix and begins.search(plain):
            matching.append((not plain.startswith(prefix), -count, value))
    for _, _, value in heapq.nsmallest(_MOST_VALUES, matching):
        text = (
            f"{head}{name}:{alternatives}{comma}{format_filter(name, (value,)).partition(':')[2]} "
        )
        yield Suggestion(
            Kind.VALUE, f"{name}:{value}", text + after.lstrip(), len(text),
            count=values[value] or None,
        )  # fmt: skip
