"""The facade: everything that the command line and the pages ask of a library."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ragkit.catalog import Catalog
from ragkit.catalog.filters import Facets
from ragkit.catalog.records import (
    ChunkRecord,
    CollectionRecord,
    Counts,
    DocumentRecord,
    JobRecord,
    JobState,
    SourceRecord,
    WorkerRecord,
)
from ragkit.errors import LibraryBusyError, LibraryError, RagkitError, SourceError
from ragkit.health.findings import Depth, Finding, Parts
from ragkit.indexing.lock import lock_is_held
from ragkit.indexing.progress import Progress
from ragkit.library.contexts import ContextDesk
from ragkit.library.embedders import EmbedderDesk
from ragkit.paths import LibraryPaths
from ragkit.types import Section, Status

if TYPE_CHECKING:
    # A command imports what it needs: looking at an unchanged folder takes no search engine.
    from ragkit.options import ChunkedOptions, Filters, SearchOptions
    from ragkit.results import Answer
    from ragkit.retrieval.multi_query import ChunkedAnswer
    from ragkit.retrieval.similar import Similar
    from ragkit.settings import Settings

_POLL_SECONDS = 0.2
_ENDED = (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


@dataclass(frozen=True, slots=True)
class WorkerState:
    """Whether somebody writes to the library. ``record`` is the last sign of life."""

    running: bool
    record: WorkerRecord | None


@dataclass(frozen=True, slots=True)
class DocumentDetail:
    """A whole document as the index sees it."""

    record: DocumentRecord
    text: str
    sections: list[Section]
    chunks: list[ChunkRecord]


class Library(EmbedderDesk, ContextDesk):
    """One library, opened. Safe to share between threads; holds no person's own state."""

    def __init__(self, settings: Settings, paths: LibraryPaths, catalog: Catalog) -> None:
        self.settings = settings
        self.paths = paths
        self.catalog = catalog

    @classmethod
    def open(cls, settings: Settings, *, create: bool = False) -> Library:
        """Open the library that the settings name; ``create`` makes it where there is none.

        Raises:
            LibraryError: when it is not there, damaged, or newer than this program.
        """
        paths = LibraryPaths(settings.library.expanduser().absolute())
        if create:
            try:
                paths.create()
            except OSError as error:
                raise LibraryError(
                    f"{paths.root} cannot be made: {(error.strerror or str(error)).lower()}.",
                    "Name another place with --library.",
                ) from error
        return cls(settings, paths, Catalog.open(paths.catalog, create=create))

    def close(self) -> None:
        """Close files and connections."""
        self.catalog.close()

    # -- searching -------------------------------------------------------------------------

    def options(self, **changes: Any) -> SearchOptions:
        """The search options of the settings, with changes; ``None`` means unchanged.

        A search of one collection has what that collection sets for itself.
        """
        from ragkit.settings import apply_options

        given = {name: value for name, value in changes.items() if value is not None}
        collections = given.get("collections", (self.settings.collection,))
        options = self.settings.search.options(collections=collections)
        if len(collections) == 1:
            record = self.catalog.collections.find(collections[0])
            options = apply_options(options, record.settings.get("search", {}) if record else {})
        return replace(options, **given)

    def search(self, question: str, options: SearchOptions | None = None) -> Answer:
        """Answer a question.

        Raises:
            QueryError: when its filters make no sense.
            NotFoundError: when a collection is not there.
        """
        return self.engine.search(question, options or self.options())

    def chunked_options(self, **changes: Any) -> ChunkedOptions:
        """The options of the settings for long texts, with changes; ``None`` means unchanged."""
        return self.settings.chunked.options(**changes)

    def search_chunked(
        self,
        text: str,
        options: SearchOptions | None = None,
        chunked: ChunkedOptions | None = None,
    ) -> ChunkedAnswer:
        """Answer a long text: each of its topics asks for itself, and the answers are merged.

        Raises:
            NotFoundError: when a collection is not there.
        """
        from ragkit.retrieval.multi_query import query_per_chunk

        return query_per_chunk(
            self, text, options or self.options(), chunked or self.chunked_options()
        )

    def similar(self, document_id: int, limit: int = 5) -> list[Similar]:
        """The documents of its collection that are most like a document.

        Raises:
            NotFoundError: when it is gone.
        """
        from ragkit.retrieval.similar import similar_documents

        kit = self.kit()
        return similar_documents(self.catalog, kit.indexes, kit.embedder, document_id, limit)

    # -- looking ---------------------------------------------------------------------------

    def collections(self) -> list[CollectionRecord]:
        """Every collection, by name."""
        return self.catalog.collections.all()

    def sources(self, collection: str | None = None) -> list[SourceRecord]:
        """Every source, or those of one collection."""
        found = self.catalog.collections.find(collection) if collection else None
        if collection and found is None:
            return []
        return self.catalog.collections.sources(found.id if found else None)

    def documents(
        self,
        collection: str | None = None,
        *,
        status: Status | None = None,
        containing: str = "",
        limit: int = -1,
        offset: int = 0,
    ) -> list[DocumentRecord]:
        """Documents, those with a problem first, then by path."""
        found = self.catalog.collections.get(collection) if collection else None
        return self.catalog.documents.list(
            found.id if found else None,
            status=status,
            containing=containing,
            limit=limit,
            offset=offset,
        )

    def document(self, document_id: int) -> DocumentDetail:
        """One document with its text, sections and chunks.

        Raises:
            NotFoundError: when it is gone.
        """
        documents = self.catalog.documents
        with self.catalog.connections.read():
            return DocumentDetail(
                documents.get(document_id),
                documents.text(document_id),
                documents.sections(document_id),
                documents.chunks(document_id),
            )

    def facets(self, collection: str, filters: Filters | None = None) -> Facets:
        """What the indexed documents that pass the filters are, with counts."""
        from ragkit.options import Filters

        found = self.catalog.collections.find(collection)
        return self.catalog.filters.facets(found.id, filters or Filters()) if found else Facets()

    def counts(self, collection: str | None = None) -> Counts:
        """How many documents stand how, in one collection or in all."""
        if collection is None:
            return self.catalog.documents.counts()
        found = self.catalog.collections.find(collection)
        return self.catalog.documents.counts(found.id) if found else Counts()

    # -- changing: everything goes through jobs --------------------------------------------

    def add_folder(self, folder: Path, collection: str | None = None) -> SourceRecord:
        """Make a folder a source of a collection; a sync reads it.

        Raises:
            SourceError: when it is not a folder, not allowed, or holds the library itself.
        """
        root = folder.expanduser()
        if not root.is_dir():
            raise SourceError(f"{folder} is not a folder.", "Name a folder that is there.")
        root = root.resolve()
        self._check_allowed(root)
        record = self.catalog.collections.ensure(collection or self.settings.collection)
        for other in self.catalog.collections.sources(record.id):
            place = Path(other.root)
            if other.kind == "folder" and root != place and root.is_relative_to(place):
                raise SourceError(
                    f"{root} lies in {place}, which is in this collection already.",
                    "There is nothing to add.",
                )
        return self.catalog.collections.ensure_source(record.id, "folder", str(root))

    def _check_allowed(self, root: Path) -> None:
        library = self.paths.root.resolve()
        if root.is_relative_to(library) or library.is_relative_to(root):
            raise SourceError(
                f"{root} holds the library itself, or lies in it.", "Name another folder."
            )
        allowed = [one.expanduser().resolve() for one in self.settings.sources.allowed_roots]
        if allowed and not any(root.is_relative_to(one) for one in allowed):
            names = ", ".join(str(one) for one in allowed)
            raise SourceError(
                f"{root} is not under an allowed folder ({names}).",
                "Add it to sources.allowed_roots in the settings file.",
            )

    def uploads(self, collection: str | None = None) -> SourceRecord:
        """The source that holds a collection's uploaded files."""
        record = self.catalog.collections.ensure(collection or self.settings.collection)
        folder = self.paths.collection_uploads(record.id)
        folder.mkdir(parents=True, exist_ok=True)
        return self.catalog.collections.ensure_source(record.id, "uploads", str(folder))

    def upload(self, name: str, stream: IO[bytes], collection: str | None = None) -> str:
        """Store a dropped file under a safe name; returns its path below the uploads folder.

        Another file of that name is never overwritten; the same bytes are stored once.
        """
        from ragkit.indexing.uploads import store_upload

        folder = Path(self.uploads(collection).root)
        return store_upload(folder, self.paths.temporary, name, stream)

    def ask(self, kind: str, **arguments: Any) -> int:
        """Put a job in the queue; returns its number."""
        return self.catalog.jobs.add(kind, **arguments)

    def sync(self, source: SourceRecord | None = None) -> int:
        """Ask for a source, or all, to be looked at; returns the job's number."""
        return self.ask("sync", source_id=source.id) if source else self.ask("sync")

    def wait(self, job_id: int, watch: Callable[[Progress], None] | None = None) -> JobRecord:
        """Wait until a job has ended, doing it here when nobody else writes."""
        while True:
            job = self.catalog.jobs.get(job_id)
            if job is None or job.state in _ENDED:
                break
            if not lock_is_held(self.paths.lock):
                try:
                    return self._work_off(job_id, watch)
                except LibraryBusyError:
                    continue
            if watch is not None and job.progress:
                watch(Progress.from_dict(job.progress))
            time.sleep(_POLL_SECONDS)
        if job is None:
            raise LibraryError("The job is gone.", "Ask for it again.")
        return job

    def _work_off(self, job_id: int, watch: Callable[[Progress], None] | None) -> JobRecord:
        from ragkit.background.worker import work_off

        return work_off(self.writer(), job_id, watch)

    # -- the worker ------------------------------------------------------------------------

    def worker_state(self) -> WorkerState:
        """Whether somebody writes now, and the last sign of life."""
        return WorkerState(lock_is_held(self.paths.lock), self.catalog.jobs.worker())

    def ensure_worker(self) -> bool:
        """Start the worker when nobody writes; returns True when one was started."""
        if lock_is_held(self.paths.lock):
            return False
        self.paths.logs.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, "RAGKIT_LIBRARY": str(self.paths.root)}
        with (self.paths.logs / "worker.log").open("ab") as log:
            subprocess.Popen(
                [sys.executable, "-m", "ragkit", "worker"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,
            )
        return True

    def progress(self) -> tuple[JobRecord, Progress] | None:
        """The job that runs or comes next, and how far it is; ``None`` when all is done."""
        jobs = self.catalog.jobs.open()
        return (jobs[0], Progress.from_dict(jobs[0].progress)) if jobs else None

    # -- health ----------------------------------------------------------------------------

    def health(
        self,
        depth: Depth = Depth.GLANCE,
        *,
        collection: str | None = None,
    ) -> tuple[Finding, ...]:
        """What is well and what is not; each finding names its mend. Changes nothing."""
        from ragkit.health.checks import check_library

        return check_library(self._parts(), depth, collection=collection)

    def verify(self, *, collection: str | None = None) -> tuple[Finding, ...]:
        """Read the whole library: nothing lost, nothing torn, nothing extra."""
        from ragkit.health.checks import verify_library

        return verify_library(self._parts(), collection=collection)

    def mend(self, name: str) -> int | None:
        """Do what a finding names as its mend; gives the job that was asked for, if one was."""
        from ragkit.health.checks import FIXES

        if name == "worker":
            self.ensure_worker()
            return None
        if name == "retry":
            failed = self.documents(status=Status.FAILED)
            return self.ask("retry", document_ids=[one.id for one in failed])
        return self.ask(name) if name in FIXES else None

    def _parts(self) -> Parts:
        embedder, trouble = None, ""
        try:
            embedder = self.embedder
        except RagkitError as error:
            trouble = str(error)
        return Parts(self.settings, self.paths, self.catalog, embedder, trouble)
