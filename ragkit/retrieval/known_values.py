"""What the searched collections hold, as ``intent.KnownValues`` asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ragkit.catalog import Catalog
from ragkit.catalog.connection import folded
from ragkit.catalog.document_writing import speaker_key
from ragkit.catalog.records import CollectionRecord
from ragkit.options import Filters
from ragkit.retrieval.query_parser import parse_query


class LibraryValues:
    """Looked up in the catalog, each when it is asked for."""

    def __init__(self, catalog: Catalog, collections: Sequence[CollectionRecord]) -> None:
        self._catalog = catalog
        self._collections = collections

    @cached_property
    def total(self) -> int:
        """How many documents are indexed."""
        counts = self._catalog.documents.counts
        return sum(counts(one.id).indexed for one in self._collections)

    def count(self, filters: str) -> int:
        """Return how many documents pass filters, as they are typed."""
        return self._passing(parse_query(filters).filters)

    def is_sender(self, name: str) -> bool:
        """Return whether somebody who wrote or spoke here has all words of a name, side by side."""
        key = speaker_key(name)
        return bool(key) and any(
            key in speaker_key(person)
            for one in self._collections
            for person in self._catalog.filters.senders_with(one.id, name)
        )

    def has_folder(self, name: str) -> bool:
        """Return whether a folder is called so; case and accents do not matter."""
        wanted = f"{folded(name)}/"
        return any(
            folded(folder) == wanted
            for one in self._collections
            for folder in self._catalog.filters.folders(one)
        )

    def has_title(self, phrase: str) -> bool:
        """Return whether the title of a document holds a phrase."""
        return self._passing(Filters(titles=(phrase,))) > 0

    def _passing(self, filters: Filters) -> int:
        documents = self._catalog.filters.documents
        return sum(len(documents(one.id, filters)) for one in self._collections)
