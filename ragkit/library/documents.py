"""The sources of a library's collections, and the documents in them."""

from __future__ import annotations

import operator
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragkit.catalog import Catalog
from ragkit.catalog.records import (
    ChunkRecord,
    CollectionRecord,
    Counts,
    DocumentRecord,
    SourceRecord,
)
from ragkit.errors import NotFoundError, QueryError, SourceError
from ragkit.formatting import plural
from ragkit.library.collections import valid_name
from ragkit.library.document_links import DocumentLinks
from ragkit.library.nested_folders import take_over
from ragkit.paths import LibraryPaths
from ragkit.sources.allowed import check_folder
from ragkit.types import Section, Status

if TYPE_CHECKING:
    from ragkit.catalog.facets import Facets
    from ragkit.indexes.rows import Ids
    from ragkit.library.services import ActiveServices
    from ragkit.options import Filters
    from ragkit.results import Passage
    from ragkit.retrieval.similar import SimilarDocuments
    from ragkit.settings import Settings


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

    def any(self, folder: Path | None = None) -> bool:
        """Return whether there is any source, or one for that folder."""
        return self._catalog.collections.has_sources(str(folder.resolve()) if folder else None)

    def unsettled(self) -> dict[str, int]:
        """Return how many sources are ``held``, and how many ``offline``."""
        return self._catalog.collections.unsettled_sources()

    def add_folder(
        self, folder: Path | str, collection: str | None = None, *, confirmed: bool = True
    ) -> SourceRecord:
        """Make a folder a source of a collection; it is read by the next ``sync``.

        A folder of the collection that lies in it becomes this one, with its documents.

        Raises:
            UnconfirmedError: it lies outside the person's home, and is not ``confirmed``.
            SourceError: it is not a folder, is not allowed, or contains the library itself; or it
                is inside a folder of the collection, or contains several.
            SettingsError: no collection can have this name.
        """
        root = Path(folder).expanduser()
        if not root.is_dir():
            raise SourceError(f"{folder} is not a folder.", "Check the path.")
        root = root.resolve()
        library = self._paths.root.resolve()
        if root.is_relative_to(library):
            raise SourceError(
                f"{root} belongs to the library itself.", "Choose the folder of your documents."
            )
        if library.is_relative_to(root):
            raise SourceError(
                f"{root} contains the library itself ({library}).",
                "Choose a folder in it, or move the library elsewhere.",
            )
        check_folder(root, self._settings.sources.allowed_roots, confirmed=confirmed)
        record = self._home(collection)
        take_over(self._catalog, record, root, self._paths.machine)
        return self._ensured(record.id, "folder", root)

    def uploads(self, collection: str | None = None) -> SourceRecord:
        """Return the source of a collection's uploaded files; it is created when first needed."""
        record = self._home(collection)
        folder = self._paths.collection_uploads(record.id)
        folder.mkdir(parents=True, exist_ok=True)
        return self._ensured(record.id, "uploads", folder)

    def _home(self, collection: str | None) -> CollectionRecord:
        """Return the collection of that name, or of the settings; it is made if necessary."""
        name = collection or self._settings.collection
        found = self._catalog.collections.find(name)
        return found or self._catalog.collections.ensure(valid_name(name))

    def _ensured(self, collection_id: int, kind: str, root: Path) -> SourceRecord:
        """Return the source of a folder, creating it if necessary.

        Raises:
            SourceError: another machine has a folder of that name in the collection.
        """
        shared = self._settings.sources.shares(root)
        machine = "" if shared else self._paths.machine
        collections = self._catalog.collections
        source = collections.ensure_source(collection_id, kind, str(root), machine)
        if source.machine in ("", machine):
            return source
        others = self._catalog.jobs.others()
        owner = next((other for other in others if other.machine == source.machine), None)
        if not shared and owner is not None and owner.is_heard:
            raise SourceError(
                f"{root} is already a folder of another machine ({self.elsewhere(source)}).",
                "If both see the same files, add it to sources.shared_roots on both; if not, "
                "put this one in another collection.",
            )
        collections.set_source_place(source.id, source.root, machine)
        return collections.source(source.id)

    def sync(
        self,
        source: SourceRecord | None = None,
        *,
        paths: Sequence[str] | None = None,
        reread: bool = False,
        accept_removals: bool = False,
    ) -> int:
        """Queue one source, or all, to be compared with their files; return the job's number.

        ``paths`` restricts it to these paths of the source. ``reread`` also reads files that look
        unchanged. ``accept_removals`` removes documents that are held because their files may come
        back.
        """
        arguments: dict[str, Any] = {"source_id": source.id} if source else {}
        if paths is not None:
            arguments["paths"] = list(paths)
        if reread:
            arguments["reread"] = True
        if accept_removals:
            arguments["accept_removals"] = True
        return self._catalog.jobs.add("sync", **arguments)

    def elsewhere(self, source: SourceRecord) -> str:
        """Return the name of the machine that alone reads a source; empty if this one can."""
        return self._catalog.jobs.host_of(source.machine)

    def place_of(self, path: Path | str, collection: str | None = None) -> tuple[int, str]:
        """Return the id of the source that contains a path, and the path in it ("" for its root).

        Raises:
            NotFoundError: it lies in no source.
        """
        absolute = Path(path).expanduser().absolute()
        spellings = (absolute, absolute.parent.resolve() / absolute.name)
        folders = {str(folder) for file in spellings for folder in (file, *file.parents)}
        for source in self._catalog.collections.sources_at(folders):
            if collection not in (None, source.collection):
                continue
            for file in spellings:
                if file.is_relative_to(source.root):
                    inside = file.relative_to(source.root).as_posix()
                    return source.id, "" if inside == "." else inside
        raise NotFoundError(
            f"{path} is not in any folder of the library.",
            "Add its folder first: ragkit add FOLDER.",
        )

    def remove(self, source_id: int) -> int:
        """Queue the removal of a source with its documents; return the job's number."""
        return self._catalog.jobs.add("remove_source", source_id=source_id)


@dataclass(frozen=True, slots=True)
class DocumentDetail:
    """A whole document as it is indexed.

    ``elsewhere`` is the name of the machine that has its file, if that is not this one.
    """

    record: DocumentRecord
    text: str
    sections: list[Section]
    chunks: list[ChunkRecord]
    elsewhere: str = ""


class DocumentService:
    """The documents of a library.

    Methods raise a NotFoundError if a document is gone, or if there is no such collection;
    ``counts``, ``facets`` and ``field_names`` take one that does not exist for an empty one.
    """

    def __init__(self, catalog: Catalog, services: ActiveServices) -> None:
        self._catalog = catalog
        self._services = services

    def list(
        self,
        collection: str | None = None,
        *,
        status: Status | str | None = None,
        containing: str = "",
        limit: int = -1,
        offset: int = 0,
    ) -> list[DocumentRecord]:
        """Return documents by path, those with a problem first; a ``limit`` of -1 means all.

        ``containing`` is a part of the path or title, in any case.

        Raises:
            QueryError: there is no such status, or the limit or offset is negative.
        """
        if limit < -1 or offset < 0:
            raise QueryError("A limit or offset cannot be negative.", "A limit of -1 lists all.")
        try:
            status = None if status is None else Status(status)
        except ValueError as error:
            known = ", ".join(Status)
            raise QueryError(f"There is no status {status!r}.", f"There are {known}.") from error
        record = self._catalog.collections.get(collection) if collection else None
        return self._catalog.documents.list(
            record.id if record else None,
            status=status,
            containing=containing,
            limit=limit,
            offset=offset,
        )

    def filtered(
        self, filters: Filters, collections: Sequence[str], *, limit: int, offset: int = 0
    ) -> Sequence[DocumentRecord]:
        """Return the indexed documents that pass filters, newest first."""
        from ragkit.options import SearchOptions

        options = SearchOptions(
            filters=filters,
            collections=tuple(collections),
            limit=offset + limit,
            show_content=False,
        )
        results = self._services.current().engine.search("", options).results[offset:]
        ids = [result.document.id for result in results]
        records = self.records(ids)
        return [records[number] for number in ids if number in records]

    def failed(self, collection: str | None = None) -> Sequence[DocumentRecord]:
        """Return the documents whose files could not be read, or not in their current version."""
        record = self._catalog.collections.get(collection) if collection else None
        ids = self._catalog.retries.failed(record.id if record else None)
        return list(self._catalog.documents.get_many(ids).values())

    def get(self, document_id: int) -> DocumentDetail:
        """Return one document with its text, sections and chunks."""
        document_id = operator.index(document_id)  # Not "1", for which the catalog has a document.
        documents = self._catalog.documents
        with self._catalog.connections.read():
            record = documents.get(document_id)
            return DocumentDetail(
                record,
                documents.text(document_id),
                documents.sections(document_id),
                documents.chunks(document_id),
                self._catalog.jobs.host_of(self._catalog.collections.machine_of(record.source_id)),
            )

    def passage(self, document_id: int, start: int = 0, end: int | None = None) -> Passage:
        """Return the slice ``[start:end]`` of a document's stored text, with its headings and page.

        It is at most 100,000 characters long; ``cut`` says that more was asked for. An end beyond
        the text stands for its end.

        Raises:
            QueryError: the start is negative or beyond the text, or the end lies before it.
        """
        from ragkit.retrieval.spans import LONGEST_PASSAGE, passage_at

        documents = self._catalog.documents
        with self._catalog.connections.read():
            record = documents.get(document_id)
            stop = record.characters if end is None else min(end, record.characters)
            if not 0 <= start <= record.characters or (end is not None and end < start):
                to = "" if end is None else f" to {end}"
                raise QueryError(
                    f"There is no text from {start}{to}.",
                    f"Ask for a part of 0 to {record.characters}.",
                )
            within = max(start, min(stop, start + LONGEST_PASSAGE))
            (text,) = documents.slices([(document_id, start, within)])
            return passage_at(
                start,
                text,
                documents.chunks(document_id),
                documents.sections(document_id),
                record.pages,
                cut=within < stop,
            )

    def neighbours(self, document_id: int, chunk: int, reach: int = 1) -> Passage:
        """Return a chunk, by its index from 0, with ``reach`` chunks on each side, as one passage.

        Raises:
            NotFoundError: the document is gone, or has no such chunk.
            QueryError: the reach is negative.
        """
        if reach < 0:
            raise QueryError(f"A chunk has no {reach} neighbours.", "Ask for 0 or more.")
        total = self._catalog.documents.get(document_id).chunks
        if not 0 <= chunk < total:
            raise NotFoundError(
                f"Document {document_id} has no chunk {chunk}.",
                f"It has {plural(total, 'chunk')}, counted from 0.",
            )
        reach = min(reach, total)
        indexes = range(max(0, chunk - reach), min(total, chunk + reach + 1))
        chunks = self._catalog.documents.chunks_at({document_id: indexes})[document_id]
        if not chunks:
            raise NotFoundError(f"Document {document_id} is gone.", "Search again.")
        return self.passage(document_id, chunks[0].chunk.start, chunks[-1].chunk.end)

    def records(self, document_ids: Collection[int]) -> dict[int, DocumentRecord]:
        """Return documents by id, in one query; those that are gone are left out."""
        return self._catalog.documents.get_many(document_ids)

    def chunks_at(self, places: Mapping[int, Sequence[int]]) -> Mapping[int, Sequence[ChunkRecord]]:
        """Return chunks by document id, those at the given chunk indexes, in one query."""
        return self._catalog.documents.chunks_at(places)

    def any(self) -> bool:
        """Return whether there is any document; cheaper than counting them."""
        return self._catalog.documents.any()

    def counts(self, collection: str | None = None) -> Counts:
        """Return how many documents have each status, in one collection or in all."""
        if collection is None:
            return self._catalog.documents.counts()
        record = self._catalog.collections.find(collection)
        return self._catalog.documents.counts(record.id) if record else Counts()

    def counts_of_each(self) -> dict[int, Counts]:
        """Count the documents of every collection that has any, by its id."""
        return self._catalog.documents.counts_of_each()

    def facets(self, *collections: str, among: Ids | None = None) -> Facets:
        """Return the values by which documents of these collections can be filtered, with counts.

        Without collections, they are those of all. ``among`` restricts the counts to some document
        ids. Cached until a collection changes.
        """
        records = self._catalog.collections.apart(collections)
        return self._catalog.filters.facets(records, among)

    def field_names(self, collections: Sequence[str] = ()) -> Sequence[str]:
        """Return the names of front-matter fields in these collections, or in all, sorted.

        Cached until a collection changes.
        """
        records = self._catalog.collections.apart(collections)
        return self._catalog.filters.field_names(records)

    def similar(self, document_id: int, limit: int = 5) -> SimilarDocuments:
        """Return the documents of the same collection that are most like one, and its copies."""
        from ragkit.retrieval.similar import similar_documents

        services = self._services.current()
        return similar_documents(
            self._catalog, services.indexes, services.embedder, document_id, limit
        )

    def links(self, document_id: int, path: str) -> DocumentLinks:
        """Return what finds the documents to which links of a document lead, by its path."""
        documents = self._catalog.documents
        beside = partial(documents.beside, document_id)
        return DocumentLinks(document_id, path, beside, documents.sections)

    def retry(self, document_ids: Sequence[int]) -> int:
        """Queue documents to be read again; return the job's number."""
        return self._catalog.jobs.add("retry", document_ids=list(document_ids))

    def remove(self, document_ids: Sequence[int]) -> int:
        """Queue the removal of uploaded documents with their files; return the job's number.

        Raises:
            SourceError: one is in a watched folder, and so the next sync would add it again.
        """
        from ragkit.background.job_handlers import refuse_watched

        numbers = list(document_ids)
        records = self.records(numbers)
        for number in numbers:
            if number not in records:
                self._catalog.documents.get(number)
        refuse_watched(self._catalog, records.values())
        return self._catalog.jobs.add("remove_documents", document_ids=numbers)
