"""What a library is read and written with, for the embedder that answers now.

Embedder, indexes and engine belong together: all of one fingerprint. When another embedder is to
answer they are made anew, and a search that is under way keeps what it began with.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragkit.background.context_model import grader_of
from ragkit.catalog import Catalog
from ragkit.catalog.vectors import EmbedderRecord
from ragkit.errors import ModelError
from ragkit.models.base import Embedder
from ragkit.models.factory import (
    BUILT_IN,
    EMBEDDERS,
    full_name,
    is_remote,
    open_embedder,
    open_known,
    open_named,
)
from ragkit.paths import LibraryPaths

if TYPE_CHECKING:
    # A command imports what it needs: looking at an unchanged folder takes no search engine.
    from ragkit.indexes.local.backend import LocalBackend
    from ragkit.indexing.writer import Writer
    from ragkit.retrieval.rerank import OpenGrader
    from ragkit.retrieval.search import Engine
    from ragkit.settings import Settings


class _Opened:
    """Indexes and engine of one embedder, opened when they are first needed."""

    def __init__(
        self,
        catalog: Catalog,
        paths: LibraryPaths,
        embedder: Embedder,
        open_grader: OpenGrader,
    ) -> None:
        self._open_grader = open_grader
        self._catalog = catalog
        self._paths = paths
        self._embedder = embedder
        self._guard = threading.RLock()
        self._indexes: LocalBackend | None = None
        self._engine: Engine | None = None

    def indexes(self) -> LocalBackend:
        with self._guard:
            if self._indexes is None:
                from ragkit.indexes.local.backend import LocalBackend

                self._indexes = LocalBackend(self._catalog.entries, self._paths, self._embedder)
            return self._indexes

    def engine(self) -> Engine:
        with self._guard:
            if self._engine is None:
                from ragkit.retrieval.search import Engine

                self._engine = Engine(
                    self._catalog, self.indexes(), self._embedder, self._open_grader
                )
            return self._engine


@dataclass(frozen=True)
class Kit:
    """All of one embedder. ``number`` is the catalog's, ``None`` before the first choice.

    ``wanted`` names an embedder that was asked for in the settings and could not be had.
    """

    embedder: Embedder
    opened: _Opened
    number: int | None = None
    wanted: str = ""

    @property
    def indexes(self) -> LocalBackend:
        """The collections' indexes with its vectors."""
        return self.opened.indexes()

    @property
    def engine(self) -> Engine:
        """What answers questions with it."""
        return self.opened.engine()


class Kits:
    """Gives the kit of the embedder that answers now. Safe to share between threads.

    A ``pinned`` embedder answers whatever the catalog says.
    """

    def __init__(
        self,
        settings: Settings,
        paths: LibraryPaths,
        catalog: Catalog,
        pinned: Embedder | None = None,
    ) -> None:
        self.settings = settings
        self._paths = paths
        self._catalog = catalog
        self._pinned = pinned
        self._guard = threading.Lock()
        self._kit: Kit | None = None
        self._beside: dict[int, Kit] = {}
        self._writer: Writer | None = None
        self._written: _Opened | None = None

    def now(self) -> Kit:
        """The kit for this search, or this job.

        Raises:
            SettingsError: the settings name no embedder.
            ModelError: the embedded model cannot be read.
        """
        with self._guard:
            kit = self._kit
            if self._pinned is not None:
                kit = kit or self._made(self._pinned)
            else:
                number = self._catalog.embedders.active_id()
                if kit is None or kit.number != number:
                    kit = self._opened(number)
            self._kit = kit
            return kit

    def of(self, record: EmbedderRecord) -> Kit:
        """The kit of any embedder whose vectors are kept, for searches beside the usual one."""
        now = self.now()
        if now.embedder.fingerprint == record.fingerprint:
            return now
        with self._guard:
            if record.id not in self._beside:
                self._beside[record.id] = self._made(self._known(record), record.id)
            return self._beside[record.id]

    def writer(self) -> Writer:
        """What writes. The first one makes the embedder at hand the library's own."""
        kit = self.now()
        writer = self._writer_of(kit)
        if self._pinned is None and kit.number is None:
            self._catalog.embedders.choose_first(writer.embedder_id, kit.wanted)
            writer = self._writer_of(self.now())
        self._renew_outdated(writer)
        return writer

    def _renew_outdated(self, writer: Writer) -> None:
        """Have everything embedded anew when the built-in embedder is newer than its vectors."""
        name = writer.embedder.name
        if writer.embeds_in_background and name in EMBEDDERS:
            choice = self._catalog.embedders.choice()
            if choice is not None and choice.active.name == name and not choice.target:
                self._catalog.embedders.set_target(name)

    def _writer_of(self, kit: Kit) -> Writer:
        from ragkit.indexing.writer import Writer

        with self._guard:
            if self._writer is None or self._written is not kit.opened:
                follow = self.writer if self._pinned is None else None
                self._writer = Writer(
                    self.settings,
                    self._paths,
                    self._catalog,
                    kit.embedder,
                    kit.opened.indexes,
                    follow,
                )
                self._written = kit.opened
            return self._writer

    def _opened(self, number: int | None) -> Kit:
        models = self.settings.models
        record = None if number is None else self._catalog.embedders.get(number)
        before = self._kit
        if (
            record is not None
            and before is not None
            and before.number is None
            and before.embedder.fingerprint == record.fingerprint
        ):
            return replace(before, number=number)
        if record is not None:
            return self._made(self._known(record), number)
        name = full_name(models.embedder)
        if not is_remote(name):
            return self._made(open_embedder(models))
        known = self._catalog.embedders.newest_named(name)
        if known is not None:
            return self._made(self._known(known))
        try:
            once = models.model_copy(update={"retries": 0, "embed_seconds": models.query_seconds})
            found = open_named(name, once)
        except ModelError:
            # Nothing is known of its vectors: the built-in one answers until it is there.
            return self._made(open_named(BUILT_IN, models), wanted=name)
        record = EmbedderRecord(0, found.name, found.fingerprint, found.dimensions)
        return self._made(self._known(record))

    def _known(self, record: EmbedderRecord) -> Embedder:
        models = self.settings.models
        return open_known(record.name, record.fingerprint, record.dimensions, models)

    def _made(self, embedder: Embedder, number: int | None = None, wanted: str = "") -> Kit:
        grader = grader_of(self.settings.models, self._catalog)
        opened = _Opened(self._catalog, self._paths, embedder, grader)
        return Kit(embedder, opened, number, wanted)
