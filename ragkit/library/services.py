"""What a library searches and writes with: the embedder, its indexes and the search engine.

When another embedder becomes active, new services are opened; a running search keeps the old ones.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ragkit.catalog import Catalog
from ragkit.catalog.vectors import EmbedderRecord
from ragkit.errors import ModelError, NotFoundError
from ragkit.models.base import BUILT_IN, EMBEDDERS, Embedder
from ragkit.models.factory import (
    full_name,
    is_brought,
    is_lazy,
    open_embedder,
    open_known,
    open_named,
)
from ragkit.options import Phrasings, Rerank, SearchOptions
from ragkit.paths import LibraryPaths

if TYPE_CHECKING:
    # A command imports only what it needs: checking an unchanged folder takes no search engine.
    from ragkit.indexes.protocol import IndexBackend
    from ragkit.indexing.writer import Writer
    from ragkit.library.search_pool import SearchPool
    from ragkit.results import Answer
    from ragkit.retrieval.search import SearchEngine
    from ragkit.settings import Settings


class SearchServices:
    """An embedder with its indexes and search engine. Safe to share between threads.

    ``embedder_id`` is its id in the catalog, ``None`` before an embedder has been chosen.
    ``requested`` names an embedder of the settings that could not be opened, or is empty.
    ``readers`` returns the processes that answer searches, if there are any.
    """

    def __init__(
        self,
        settings: Settings,
        paths: LibraryPaths,
        catalog: Catalog,
        embedder: Embedder,
        embedder_id: int | None = None,
        requested: str = "",
        readers: Callable[[], SearchPool | None] = lambda: None,
    ) -> None:
        self.embedder = embedder
        self.embedder_id = embedder_id
        self.requested = requested
        self._settings = settings
        self._paths = paths
        self._catalog = catalog
        self._readers = readers
        self._guard = threading.RLock()
        self._indexes: IndexBackend | None = None
        self._engine: SearchEngine | None = None

    @property
    def indexes(self) -> IndexBackend:
        """The collections' indexes of this embedder's vectors, opened when first needed."""
        with self._guard:
            if self._indexes is None:
                from ragkit.indexes import open_backend

                self._indexes = open_backend(
                    self._catalog.entries, self._paths, self.embedder, self._settings.index
                )
            return self._indexes

    @property
    def engine(self) -> SearchEngine:
        """The search engine over these indexes, opened when first needed."""
        with self._guard:
            if self._engine is None:
                from ragkit.background.context_model import grader_of, query_writer_of
                from ragkit.retrieval.search import SearchEngine

                grader = grader_of(self._settings.models, self._catalog)
                writer = query_writer_of(self._settings.models, self._catalog)
                self._engine = SearchEngine(
                    self._catalog, self.indexes, self.embedder, grader, writer, self._answered
                )
            return self._engine

    def elsewhere(self, what: str, *arguments: Any) -> Any:
        """Return the answer of another process (``SearchPool.ask``), or ``None`` if none can."""
        readers = self._readers()
        return readers.ask(what, self.embedder.fingerprint, *arguments) if readers else None

    def _answered(self, question: str, options: SearchOptions) -> tuple[Answer, float] | None:
        if options.rerank is not Rerank.NONE or options.phrasings is not Phrasings.NONE:
            # It would block a process for seconds while a model works.
            return None
        answer: tuple[Answer, float] | None = self.elsewhere("search", question, options)
        return answer


class ActiveServices:
    """Opens the search services of the active embedder. Safe to share between threads.

    A pinned embedder is active whatever the catalog says. ``readers`` are the processes that answer
    searches, if there are any.
    """

    def __init__(self, settings: Settings, paths: LibraryPaths, catalog: Catalog) -> None:
        self._settings = settings
        self._paths = paths
        self._catalog = catalog
        self._guard = threading.Lock()
        self.readers: SearchPool | None = None
        self._pinned: Embedder | None = None
        self._current: SearchServices | None = None
        self._compared: dict[int, SearchServices] = {}
        self._writer: Writer | None = None
        self._written: SearchServices | None = None
        self._opened_for = catalog.connections.identity

    @property
    def usual_name(self) -> str:
        """The name of the embedder that is active before one has been chosen."""
        return full_name(self._pinned.name if self._pinned else self._settings.models.embedder)

    def pin(self, embedder: Embedder) -> None:
        """Use an embedder from now on, whatever the catalog says."""
        with self._guard:
            self._pinned = embedder
            self._current = self._writer = self._written = None
            self._compared.clear()

    def current(self) -> SearchServices:
        """Return the services of the embedder that the catalog names as active.

        Raises:
            SettingsError: the settings name no embedder.
            ModelError: the built-in model cannot be read.
        """
        self._catalog.connections.get()
        with self._guard:
            if self._opened_for != self._catalog.connections.identity:
                # The catalog was replaced, and with it the ids of embedders.
                self._opened_for = self._catalog.connections.identity
                self._current = self._writer = self._written = None
                self._compared.clear()
            if self._pinned is not None:
                self._current = self._current or self._services(self._pinned)
            else:
                embedder_id = self._catalog.embedders.active_id()
                if self._current is None or self._current.embedder_id != embedder_id:
                    self._current = self._open(embedder_id)
            return self._current

    def last_seen(self) -> SearchServices:
        """Return the services of the embedder that was active when a collection was last read.

        Reads the catalog only if that embedder has changed.
        """
        services, seen = self._current, self._catalog.collections.active_embedder
        if self._opened_for != self._catalog.connections.identity:
            return self.current()
        if services is not None and (self._pinned is not None or services.embedder_id == seen):
            return services
        return self.current()

    def named(self, name: str) -> SearchServices:
        """Return the services of the named embedder, by default of the active one.

        Raises:
            NotFoundError: some text has no vector of it.
        """
        current = self.current()
        if not name or full_name(name) == current.embedder.name:
            return current
        record = self._catalog.embedders.newest_named(full_name(name))
        missing = self._catalog.vectors.missing(record.id if record else None)
        if record is None or missing.texts:
            every = self._catalog.vectors.texts_in_all()
            raise NotFoundError(
                f"{missing.texts} of {every} texts have no vector of {full_name(name)}.",
                "Choose it as the embedder on the Library page first; switching back is instant.",
            )
        if current.embedder.fingerprint == record.fingerprint:
            return current
        with self._guard:
            if record.id not in self._compared:
                self._compared[record.id] = self._services(self._embedder_of(record), record.id)
            return self._compared[record.id]

    def writer(self) -> Writer:
        """Return the writer; the first one records the current embedder as the library's."""
        services = self.current()
        writer = self._writer_of(services)
        if self._pinned is None and services.embedder_id is None:
            self._catalog.embedders.choose_first(writer.embedder_id, services.requested)
            writer = self._writer_of(self.current())
        self._renew_outdated(writer)
        return writer

    def _renew_outdated(self, writer: Writer) -> None:
        """Have everything embedded again if the built-in embedder is newer than its vectors."""
        name = writer.embedder.name
        if writer.embeds_in_background and name in EMBEDDERS:
            choice = self._catalog.embedders.choice()
            if choice is not None and choice.active.name == name and not choice.target:
                self._catalog.embedders.set_target(name)

    def _writer_of(self, services: SearchServices) -> Writer:
        from ragkit.indexing.writer import Writer

        with self._guard:
            if self._writer is None or self._written is not services:
                self._writer = Writer(
                    self._settings,
                    self._paths,
                    self._catalog,
                    services.embedder,
                    lambda: services.indexes,
                    self.writer if self._pinned is None else None,
                    self._pinned is None and is_lazy(services.embedder),
                )
                self._written = services
            return self._writer

    def _open(self, embedder_id: int | None) -> SearchServices:
        record = None if embedder_id is None else self._catalog.embedders.get(embedder_id)
        if record is not None:
            before = self._current
            first_choice = before is not None and before.embedder_id is None
            if before and first_choice and before.embedder.fingerprint == record.fingerprint:
                before.embedder_id = embedder_id
                return before
            return self._services(self._embedder_of(record), embedder_id)
        models = self._settings.models
        name = full_name(models.embedder)
        if not is_brought(name):
            return self._services(open_embedder(models))
        newest = self._catalog.embedders.newest_named(name)
        if newest is not None:
            return self._services(self._embedder_of(newest))
        limits = {"retries": 0, "embed_seconds": models.query_seconds}
        try:
            opened = open_named(name, models.model_copy(update=limits))
        except ModelError:
            # Nothing is known about its vectors, so the built-in one is used until it answers.
            return self._services(open_named(BUILT_IN, models), requested=name)
        record = EmbedderRecord(0, opened.name, opened.fingerprint, opened.dimensions)
        return self._services(self._embedder_of(record))

    def _embedder_of(self, record: EmbedderRecord) -> Embedder:
        def name_now() -> str:
            return (self._catalog.embedders.get(record.id) or record).name

        models = self._settings.models
        return open_known(record.name, record.fingerprint, record.dimensions, models, name_now)

    def _services(
        self, embedder: Embedder, embedder_id: int | None = None, requested: str = ""
    ) -> SearchServices:
        return SearchServices(
            self._settings, self._paths, self._catalog, embedder, embedder_id, requested,
            lambda: self.readers,
        )  # fmt: skip
