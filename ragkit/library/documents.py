"""Contents of a library: its collections, their sources, and the documents in them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ragkit.catalog import Catalog
from ragkit.catalog.filters import Facets
from ragkit.catalog.records import (
    ChunkRecord,
    CollectionRecord,
    Counts,
    DocumentRecord,
    SourceRecord,
)
from ragkit.errors import SourceError
from ragkit.paths import LibraryPaths
from ragkit.types import Section, Status

if TYPE_CHECKING:
    from ragkit.library.services import ActiveServices
    from ragkit.retrieval.similar import Similar
    from ragkit.settings import Settings


class CollectionService:
    """The collections of a library: isolated search scopes with settings of their own."""

    def __init__(self, catalog: Catalog) -> None:
        self._collections = catalog.collections

    def list(self) -> list[CollectionRecord]:
        """Return every collection, by name."""
        return self._collections.all()

    def get(self, name: str) -> CollectionRecord:
        """Return the collection of that name.

        Raises:
            NotFoundError: naming the collections that there are.
        """
        return self._collections.get(name)

    def find(self, name: str) -> CollectionRecord | None:
        """Return the collection of that name, or ``None``."""
        return self._collections.find(name)

    def set_search(self, name: str, options: Mapping[str, Any]) -> CollectionRecord:
        """Replace the search options that a collection sets itself; returns it as it was before.

        Raises:
            NotFoundError: there is no such collection.
        """
        record = self.get(name)
        others = {key: value for key, value in record.settings.items() if key != "search"}
        settings = {**others, "search": dict(options)} if options else others
        self._collections.set_settings(record.id, settings)
        return record


class SourceService:
    """The folders and uploads that a library indexes."""

    def __init__(self, settings: Settings, paths: LibraryPaths, catalog: Catalog) -> None:
        self._settings = settings
        self._paths = paths
        self._catalog = catalog

    def list(self, collection: str | None = None) -> list[SourceRecord]:
        """Return every source, or those of one collection, oldest first."""
        if collection is None:
            return self._catalog.collections.sources()
        record = self._catalog.collections.find(collection)
        return self._catalog.collections.sources(record.id) if record else []

    def add_folder(self, folder: Path | str, collection: str | None = None) -> SourceRecord:
        """Make a folder a source of a collection; a sync reads it.

        Raises:
            SourceError: it is not a folder, not allowed, or holds the library itself.
        """
        root = Path(folder).expanduser()
        if not root.is_dir():
            raise SourceError(f"{folder} is not a folder.", "Name a folder that is there.")
        root = root.resolve()
        self._check_allowed(root)
        record = self._catalog.collections.ensure(collection or self._settings.collection)
        for other in self._catalog.collections.sources(record.id):
            place = Path(other.root)
            if other.kind == "folder" and root != place and root.is_relative_to(place):
                raise SourceError(
                    f"{root} lies in {place}, which is in this collection already.",
                    "There is nothing to add.",
                )
        return self._catalog.collections.ensure_source(record.id, "folder", str(root))

    def uploads(self, collection: str | None = None) -> SourceRecord:
        """Return the source that holds a collection's uploaded files, made when first needed."""
        record = self._catalog.collections.ensure(collection or self._settings.collection)
        folder = self._paths.collection_uploads(record.id)
        folder.mkdir(parents=True, exist_ok=True)
        return self._catalog.collections.ensure_source(record.id, "uploads", str(folder))

    def upload(self, name: str, stream: IO[bytes], collection: str | None = None) -> str:
        """Store a file under a safe name; returns its path below the uploads folder.

        Another file of that name is never overwritten; the same bytes are stored once.
        """
        from ragkit.indexing.uploads import store_upload

        folder = Path(self.uploads(collection).root)
        return store_upload(folder, self._paths.temporary, name, stream)

    def sync(self, source: SourceRecord | None = None) -> int:
        """Queue a source, or all, to be compared with its files; returns the job's number."""
        arguments = {"source_id": source.id} if source else {}
        return self._catalog.jobs.add("sync", **arguments)

    def remove(self, source_id: int) -> int:
        """Queue a source to be removed with its documents; returns the job's number."""
        return self._catalog.jobs.add("remove_source", source_id=source_id)

    def _check_allowed(self, root: Path) -> None:
        library = self._paths.root.resolve()
        if root.is_relative_to(library) or library.is_relative_to(root):
            raise SourceError(
                f"{root} holds the library itself, or lies in it.", "Name another folder."
            )
        allowed = [path.expanduser().resolve() for path in self._settings.sources.allowed_roots]
        if allowed and not any(root.is_relative_to(path) for path in allowed):
            names = ", ".join(map(str, allowed))
            raise SourceError(
                f"{root} is not under an allowed folder ({names}).",
                "Add it to sources.allowed_roots in the settings file.",
            )


@dataclass(frozen=True, slots=True)
class DocumentDetail:
    """A whole document as it is indexed."""

    record: DocumentRecord
    text: str
    sections: list[Section]
    chunks: list[ChunkRecord]


class DocumentService:
    """The documents of a library."""

    def __init__(self, catalog: Catalog, services: ActiveServices) -> None:
        self._catalog = catalog
        self._services = services

    def list(
        self,
        collection: str | None = None,
        *,
        status: Status | None = None,
        containing: str = "",
        limit: int = -1,
        offset: int = 0,
    ) -> list[DocumentRecord]:
        """Return documents, those with a problem first, then by path.

        Raises:
            NotFoundError: there is no such collection.
        """
        record = self._catalog.collections.get(collection) if collection else None
        return self._catalog.documents.list(
            record.id if record else None,
            status=status,
            containing=containing,
            limit=limit,
            offset=offset,
        )

    def get(self, document_id: int) -> DocumentDetail:
        """Return one document with its text, sections and chunks.

        Raises:
            NotFoundError: it is gone.
        """
        documents = self._catalog.documents
        with self._catalog.connections.read():
            return DocumentDetail(
                documents.get(document_id),
                documents.text(document_id),
                documents.sections(document_id),
                documents.chunks(document_id),
            )

    def records(self, document_ids: Collection[int]) -> dict[int, DocumentRecord]:
        """Return the records of documents by id, in one query; those gone are left out."""
        return self._catalog.documents.get_many(document_ids)

    def chunks_at(self, places: Mapping[int, Sequence[int]]) -> Mapping[int, Sequence[ChunkRecord]]:
        """Return the chunks of each document id at those chunk indexes, in order, in one query."""
        return self._catalog.documents.chunks_at(places)

    def counts(self, collection: str | None = None) -> Counts:
        """Return how many documents have each status, in one collection or in all."""
        if collection is None:
            return self._catalog.documents.counts()
        record = self._catalog.collections.find(collection)
        return self._catalog.documents.counts(record.id) if record else Counts()

    def facets(self, collection: str) -> Facets:
        """Return the values that the indexed documents can be filtered by, with counts.

        Read again only when the collection has changed.
        """
        record = self._catalog.collections.find(collection)
        return self._catalog.filters.facets(record) if record else Facets()

    def field_names(self, collections: Sequence[str] = ()) -> Sequence[str]:
        """Return the front-matter fields of these collections, or of all, sorted.

        Read again only when a collection has changed.
        """
        return sorted(
            {
                name
                for record in self._catalog.collections.all()
                if not collections or record.name in collections
                for name in self._catalog.filters.field_names(record)
            }
        )

    def similar(self, document_id: int, limit: int = 5) -> Sequence[Similar]:
        """Return the documents of its collection that are most similar to a document.

        Raises:
            NotFoundError: it is gone.
        """
        from ragkit.retrieval.similar import similar_documents

        services = self._services.current()
        return similar_documents(
            self._catalog, services.indexes, services.embedder, document_id, limit
        )

    def retry(self, document_ids: Sequence[int]) -> int:
        """Queue documents to be read again; returns the job's number."""
        return self._catalog.jobs.add("retry", document_ids=list(document_ids))

    def remove(self, document_ids: Sequence[int]) -> int:
        """Queue uploaded documents to be removed with their files; returns the job's number."""
        return self._catalog.jobs.add("remove_documents", document_ids=list(document_ids))
