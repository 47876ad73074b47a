"""The Qdrant backend: what a server holds is brought up to its source before each search.

Several processes may do that at once, be slow, or be killed: every step may be repeated, and none
undoes another's. An entry is inserted only if it was never there; one that goes stays, marked with
the version at which it went; what is noted of the server holds for ever, whoever notes it last.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from itertools import chain

from ragkit.errors import IndexCorruptError, IndexServerError
from ragkit.indexes.protocol import Changes, Collection, EntrySource
from ragkit.indexes.qdrant.index import QdrantIndex, new_holding
from ragkit.indexes.qdrant.server import Server
from ragkit.indexes.qdrant.store import Points, ensure_collection, read_holding
from ragkit.indexes.rows import EntryRows
from ragkit.models.base import Embedder
from ragkit.types import INDEXED_LEVELS, Level, Version

logger = logging.getLogger(__name__)

_SCHEMA = 1
"""Of the points; another gives other Qdrant collections."""

_TRIES = 5
_MOST_OPEN = 256


@dataclass
class _Open:
    """One index as this process knows it, and what is to be told of its repair."""

    guard: threading.Lock = field(default_factory=threading.Lock)
    index: QdrantIndex | None = None
    notice: str = ""


class QdrantBackend:
    """The indexes of a library's collections (``IndexBackend``). Safe to share between threads."""

    def __init__(
        self,
        source: EntrySource,
        embedder: Embedder,
        server: Server,
    ) -> None:
        self._source = source
        self._embedder = embedder
        self._server = server
        self._open: OrderedDict[tuple[int, Level], _Open] = OrderedDict()
        self._there: set[str] = set()
        self._guard = threading.Lock()

    def current(self, collection: Collection, level: Level = Level.CHUNK) -> QdrantIndex:
        """Return the index of exactly the collection's present entries of that level."""
        place = self._place(collection.id, level)
        with place.guard:
            index = place.index
            if index is None or index.version != self._source.version(collection.id):
                index = place.index = self._refreshed(collection, level, place)
            return index

    def generation(self, collection: Collection) -> str:
        """Return the name of the engine behind the chunk index; empty before it was asked."""
        index = self._place(collection.id, Level.CHUNK).index
        return f"qdrant-{index.points.holding.epoch}" if index else ""

    def pop_notice(self, collection: Collection) -> str:
        """Return a notice of a repair, once; an empty string if there is none."""
        notice = ""
        for level in INDEXED_LEVELS:
            place = self._place(collection.id, level)
            notice, place.notice = notice or place.notice, ""
        return notice

    def save(self, collection: Collection, *, always: bool = False) -> int:
        """Bring the server up to date, and delete what nobody needs there any more.

        A server that is away is brought up to date by whoever asks it next, unless ``always``.
        """
        saved = 0
        try:
            for level in INDEXED_LEVELS:
                index = self.current(collection, level)
                index.points.purge(everything=not index.entries)
                saved += 1
        except IndexServerError as error:
            if always:
                raise
            logger.warning("collection %s: %s", collection.name, error)
        return saved

    def rebuild(self, collection: Collection) -> None:
        """Write every index of a collection from its source. Only the writer calls this."""
        for level in INDEXED_LEVELS:
            place = self._place(collection.id, level)
            with place.guard:
                place.index = self._anew(collection, level, place, "")

    def forget(self, collection_id: int) -> None:
        """Close a collection's indexes."""
        with self._guard:
            for level in INDEXED_LEVELS:
                self._open.pop((collection_id, level), None)

    def _place(self, collection_id: int, level: Level) -> _Open:
        key = collection_id, level
        with self._guard:
            place = self._open.setdefault(key, _Open())
            self._open.move_to_end(key)
            if len(self._open) > _MOST_OPEN:
                self._open.popitem(last=False)
            return place

    def _names(self, collection: Collection, level: Level) -> tuple[str, str]:
        """Return the name of the Qdrant collection, and that of the owner in it."""
        told = hashlib.blake2b(self._embedder.fingerprint.encode(), digest_size=8).hexdigest()
        name = f"ragkit{_SCHEMA}-{told}-{level.value}"
        if name not in self._there:
            ensure_collection(self._server, name, self._embedder.dimensions)
            self._there.add(name)
        return name, f"{self._source.library()}/{collection.id}"

    def _refreshed(self, collection: Collection, level: Level, place: _Open) -> QdrantIndex:
        """Return the index at the present version of the collection."""
        name, owner = self._names(collection, level)
        for _ in range(_TRIES):
            holding = read_holding(self._server, name, owner)
            if holding is None:
                return self._anew(collection, level, place, "")
            try:
                changes = self._changes(collection, level, holding.version, holding.last)
            except IndexCorruptError as error:
                logger.warning("collection %s: %s", collection.name, error)
                return self._anew(collection, level, place, error.message)
            index = QdrantIndex(
                Points(self._server, name, owner, holding), self._embedder.dimensions
            )
            if changes.version != holding.version or len(changes.added):
                index = index.changed([changes.added], changes.removed.tolist(), changes.version)
            if index.entries == self._source.count(collection.id, INDEXED_LEVELS[level]):
                return index
            if self._source.version(collection.id) == index.version:
                return self._anew(collection, level, place, "some of its entries were missing.")
        return index

    def _anew(self, collection: Collection, level: Level, place: _Open, why: str) -> QdrantIndex:
        """Write a collection's index beside what the server holds of it."""
        name, owner = self._names(collection, level)
        if why:
            place.notice = f"The index was written again from the catalog: {why}"
        everything = self._source.everything(
            collection.id,
            INDEXED_LEVELS[level],
            fingerprint=self._embedder.fingerprint,
            dimensions=self._embedder.dimensions,
        )
        with everything as snapshot:
            empty = EntryRows.empty(self._embedder.dimensions)
            first = next(snapshot.rows.slices, empty)
            points = Points(self._server, name, owner, new_holding(first))
            # Whoever comes after a writer that was killed goes on with what it began.
            points.note()
            index = QdrantIndex(points, self._embedder.dimensions)
            return index.changed(chain([first], snapshot.rows.slices), (), snapshot.version)

    def _changes(self, collection: Collection, level: Level, since: Version, after: int) -> Changes:
        return self._source.changes(
            collection.id,
            INDEXED_LEVELS[level],
            fingerprint=self._embedder.fingerprint,
            dimensions=self._embedder.dimensions,
            since=since,
            after=after,
        )
