"""What the searched collections hold: what words of a question may name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ragkit.catalog import Catalog
from ragkit.catalog.connection import folded
from ragkit.catalog.document_values import DocumentValues
from ragkit.catalog.records import CollectionRecord
from ragkit.options import Filters
from ragkit.retrieval.query.parser import parse_query


class LibraryValues:
    """Types, dates, senders, folders and titles, looked up in what the catalog keeps in memory."""

    def __init__(self, catalog: Catalog, collections: Sequence[CollectionRecord]) -> None:
        self._catalog = catalog
        self._collections = collections

    @cached_property
    def _values(self) -> list[DocumentValues]:
        return [self._catalog.values.of(collection) for collection in self._collections]

    @property
    def total(self) -> int:
        """How many documents are indexed."""
        return sum(values.total for values in self._values)

    def count(self, filters: str) -> int:
        """Return how many documents pass filters, as they are typed."""
        parsed = parse_query(filters).filters
        if parsed == Filters(types=parsed.types):
            return sum(values.of_types(parsed.types) for values in self._values)
        if parsed == Filters(after=parsed.after, before=parsed.before):
            return sum(values.dated(parsed.after, parsed.before) for values in self._values)
        documents = self._catalog.filters.documents
        return sum(len(documents(collection.id, parsed)) for collection in self._collections)

    def is_sender(self, name: str) -> bool:
        """Return whether somebody who wrote or spoke here has all words of a name, side by side."""
        return any(values.has_sender(name) for values in self._values)

    def has_folder(self, name: str) -> bool:
        """Return whether a folder has this name; case and accents do not matter."""
        return any(folded(name) in values.folders for values in self._values)

    def has_title(self, phrase: str) -> bool:
        """Return whether the title of a document holds a phrase."""
        return any(values.has_title(phrase) for values in self._values)
