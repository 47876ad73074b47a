"""The local backend: indexes in files, brought up to their source before each search."""

from __future__ import annotations

import logging
import math
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from ragkit.errors import IndexCorruptError
from ragkit.indexes.bm25 import Bm25Parameters
from ragkit.indexes.local import packed
from ragkit.indexes.local.collection import CollectionIndex
from ragkit.indexes.local.files import generations, number_of
from ragkit.indexes.local.generation import (
    Generation,
    Manifest,
    fault_of_bytes,
    open_newest,
    prune,
    write_generation,
)
from ragkit.indexes.local.late_checks import LateChecks
from ragkit.indexes.protocol import Changes, Collection, EntrySource, Snapshot
from ragkit.indexes.tokenizer import TOKENIZER_VERSION
from ragkit.models.base import Embedder
from ragkit.paths import LibraryPaths
from ragkit.types import INDEXED_LEVELS, Level, Version

logger = logging.getLogger(__name__)

MOST_MAPPED, MOST_SMALL_ROWS = 96, 50_000
"""How many large indexes stay open, and rows of small ones; the one used longest ago goes first.

A mapped file keeps a handle. A small index has none, and takes at most some 4 KB a row.
"""

SMALL_INDEX = 5000
"""An index of so few entries is merged after every change: a tenth of a second, and exact."""

_KEPT_GENERATIONS = 2
_SELDOM = 32
_LOOK_SECONDS = 1.0
"""A reader whose changes weigh looks no more often for a generation that holds them."""


@dataclass
class _Open:
    """One index as it is in memory.

    ``newer`` is a generation that was opened beside it, to go on from; ``look_at`` is when such a
    one may be looked for again, by the monotonic clock. ``fault`` is what a check of the bytes of
    its files found after it was opened.
    """

    guard: threading.Lock = field(default_factory=threading.Lock)
    index: CollectionIndex | None = None
    high_water: int = 0
    generation: str = ""
    notice: str = ""
    fault: str = ""
    newer: Generation | None = None
    look_at: float = 0.0

    @property
    def is_mapped(self) -> bool:
        """Whether its files are mapped into memory."""
        return self.index is not None and len(self.index.base) > packed.MOST_ROWS


class LocalBackend:
    """The indexes of a library's collections (``IndexBackend``). Safe to share between threads.

    An index is opened when it is first asked for, and follows its source before each search.
    What is damaged or missing on disk is built again from the source.
    """

    def __init__(
        self,
        source: EntrySource,
        paths: LibraryPaths,
        embedder: Embedder,
        parameters: Bm25Parameters | None = None,
    ) -> None:
        self._source = source
        self._paths = paths
        self._embedder = embedder
        self._parameters = parameters or Bm25Parameters()
        self._open: OrderedDict[tuple[int, Level], _Open] = OrderedDict()
        self._guard = threading.Lock()
        self._checks = LateChecks()
        self._opened = 0

    def current(self, collection: Collection, level: Level = Level.CHUNK) -> CollectionIndex:
        """Return the index of exactly the collection's present entries of that level."""
        place = self._place(collection.id, level)
        with place.guard:
            if place.fault and place.newer is None:
                logger.warning("collection %s: %s", collection.name, place.fault)
                return self._rebuild(collection, level, place, place.fault)
            index = place.index
            moves = place.newer is not None
            if index is None or moves or index.version != self._source.version(collection.id):
                index = place.index = self._refreshed(collection, level, place)
            if index.worth_merging:
                self._look_for_newer(collection, level, place)
            return index

    def generation(self, collection: Collection) -> str:
        """Return the name of the generation of the current chunk index; empty for none."""
        return self._place(collection.id, Level.CHUNK).generation

    def pop_notice(self, collection: Collection) -> str:
        """Return a notice of a repair, once; an empty string if there is none."""
        notice = ""
        with self._guard:
            places = [self._open.get((collection.id, level)) for level in INDEXED_LEVELS]
        for place in places:
            if place is not None:
                notice, place.notice = notice or place.notice, ""
        return notice

    def save(self, collection: Collection, *, always: bool = False) -> int:
        """Write new generations where much has changed, or always; returns how many.

        The old generations answer until the new ones are whole. Only the writer calls this.
        """
        saved = 0
        for level in INDEXED_LEVELS:
            place = self._place(collection.id, level)
            index = self.current(collection, level)
            small = always or index.entries <= SMALL_INDEX
            if not (index.worth_merging or (small and index.has_changes)) and place.generation:
                continue
            if not index.entries and not place.generation:
                continue
            with place.guard:
                of_index = partial(_snapshot_of, index)
                self._write(collection, level, place, of_index)
            with suppress(IndexCorruptError):
                prune(self._folder(collection, level), _KEPT_GENERATIONS)
            saved += 1
        return saved

    def rebuild(self, collection: Collection) -> None:
        """Write every index of a collection from its source. Only the writer calls this.

        Vectors that have come to entries since they were indexed are then found.
        """
        for level in INDEXED_LEVELS:
            prune(self._folder(collection, level), 1)
            place = self._place(collection.id, level)
            with place.guard:
                self._rebuild(collection, level, place, "")

    def forget(self, collection_id: int) -> None:
        """Close a collection's indexes."""
        with self._guard:
            for level in INDEXED_LEVELS:
                self._open.pop((collection_id, level), None)

    def _place(self, collection_id: int, level: Level) -> _Open:
        key = collection_id, level
        with self._guard:
            place = self._open.get(key)
            if place is None:
                self._opened += 1
                if self._opened * _SELDOM >= len(self._open):
                    # Looking through thousands takes as long as opening one of them.
                    self._close_some()
                    self._opened = 0
                place = self._open[key] = _Open()
            self._open.move_to_end(key)
            return place

    def _close_some(self) -> None:
        """Make room for an index: close what was used longest ago. The guard is held."""
        mapped, rows = 1, 0
        for key, place in reversed(list(self._open.items())):
            if place.is_mapped:
                mapped += 1
                is_much = mapped > MOST_MAPPED
            else:
                rows += place.index.entries if place.index else 0
                is_much = rows > MOST_SMALL_ROWS
            if is_much:
                del self._open[key]

    def _folder(self, collection: Collection, level: Level) -> Path:
        return self._paths.index(collection.id, level.value, self._embedder.fingerprint)

    def _refreshed(self, collection: Collection, level: Level, place: _Open) -> CollectionIndex:
        """Return the index at the present version of the collection."""
        if place.newer is not None:
            newer, place.newer = place.newer, None
            place.index = self._taken(newer, place)
        opened = place.index
        index = opened or self._load(collection, level, place)
        try:
            changes = self._changes(collection, level, since=index.version, after=place.high_water)
        except IndexCorruptError as error:
            logger.warning("collection %s: %s", collection.name, error)
            if opened is None:
                return self._rebuild(collection, level, place, error.message)
            # The catalog was replaced while this was open; what is on disk may be of the new one.
            place.index = None
            return self._refreshed(collection, level, place)
        if changes.version != index.version:
            if len(changes.added):
                place.high_water = int(changes.added.entry_ids[-1])
            index = index.remove(changes.removed, changes.version)
            index = index.upsert(changes.added, changes.version)
        if index.entries != self._source.count(collection.id, INDEXED_LEVELS[level]):
            if self._source.version(collection.id) != index.version:
                # Documents have come since the changes were read.
                place.index = index
                return self._refreshed(collection, level, place)
            return self._rebuild(collection, level, place, "some of its entries were missing.")
        return index

    def _look_for_newer(self, collection: Collection, level: Level, place: _Open) -> None:
        """Have a newer generation opened beside, if the writer has merged the changes into one."""
        now = time.monotonic()
        if now < place.look_at:
            return
        place.look_at = now + _LOOK_SECONDS
        try:
            paths = generations(self._folder(collection, level))
        except IndexCorruptError:
            return
        if paths and (number_of(paths[-1].name) or 0) > (number_of(place.generation) or 0):
            # Checking its bytes takes seconds where files are large and cold.
            place.look_at = math.inf
            threading.Thread(
                target=self._open_newer,
                args=(collection, level, place),
                name="ragkit-generation",
                daemon=True,
            ).start()

    def _open_newer(self, collection: Collection, level: Level, place: _Open) -> None:
        newer = None
        try:
            newer = self._newest(collection, level, mapped=True)
        except (IndexCorruptError, OSError) as error:
            logger.warning("collection %s: %s", collection.name, error)
        finally:
            with place.guard:
                place.newer = newer
                place.look_at = time.monotonic() + _LOOK_SECONDS

    def _newest(self, collection: Collection, level: Level, *, mapped: bool) -> Generation | None:
        """Return the newest generation on disk, checked, also the bytes of files that are mapped.

        Those take seconds where they are many and not in memory yet.
        """
        return open_newest(
            self._folder(collection, level),
            fingerprint=self._embedder.fingerprint,
            tokenizer_version=TOKENIZER_VERSION,
            parameters=self._parameters,
            mapped=mapped,
        )

    def _taken(self, generation: Generation, place: _Open) -> CollectionIndex:
        """Return the index of a generation, which the place then goes on from."""
        place.fault = ""
        place.generation = generation.name
        place.high_water = generation.manifest.max_entry_id
        return generation.index()

    def _load(self, collection: Collection, level: Level, place: _Open) -> CollectionIndex:
        try:
            generation = self._newest(collection, level, mapped=False)
        except IndexCorruptError as error:
            logger.warning("collection %s: %s", collection.name, error)
            return self._rebuild(collection, level, place, error.message)
        if generation is None:
            return self._rebuild(collection, level, place, "")
        self._checks.add(
            partial(_check, generation.folder, generation.manifest, weakref.ref(place))
        )
        return self._taken(generation, place)

    def _rebuild(
        self, collection: Collection, level: Level, place: _Open, why: str
    ) -> CollectionIndex:
        if why:
            place.notice = f"The index was built again from the catalog: {why}"
        # Only the writer tidies up, so readers must not fill the disk while it is away.
        try:
            crowded = len(generations(self._folder(collection, level))) > _KEPT_GENERATIONS
        except IndexCorruptError:
            crowded = True
        everything = partial(
            self._source.everything,
            collection.id,
            INDEXED_LEVELS[level],
            fingerprint=self._embedder.fingerprint,
            dimensions=self._embedder.dimensions,
        )
        return self._write(collection, level, place, everything, in_memory=crowded)

    def _write(
        self,
        collection: Collection,
        level: Level,
        place: _Open,
        read: Callable[[], AbstractContextManager[Snapshot]],
        *,
        in_memory: bool = False,
    ) -> CollectionIndex:
        """Write entries to disk and open them; a reader that may not write keeps them in memory."""
        place.generation = place.fault = ""
        generation = None
        if not in_memory:
            try:
                generation = self._written(self._folder(collection, level), read)
            except (OSError, IndexCorruptError) as error:
                logger.warning("the index of %s could not be saved: %s", collection.name, error)
        if generation is not None:
            index = self._taken(generation, place)
        else:
            with read() as snapshot:
                rows = snapshot.rows.joined()
                index = CollectionIndex.build(rows, snapshot.version, self._parameters)
            place.high_water = int(rows.entry_ids[-1]) if len(rows) else 0
        place.index = index
        return index

    def _written(
        self, folder: Path, read: Callable[[], AbstractContextManager[Snapshot]]
    ) -> Generation | None:
        """Write entries as the newest generation; ``None`` without any, or if another came in."""
        with read() as snapshot:
            if not snapshot.rows.count:
                return None
            write_generation(
                folder,
                snapshot.rows,
                fingerprint=self._embedder.fingerprint,
                tokenizer_version=TOKENIZER_VERSION,
                version=snapshot.version,
                parameters=self._parameters,
            )
            generation = open_newest(folder, checksums=False)
            if generation is None or generation.manifest.version != snapshot.version:
                return None
            return generation

    def _changes(
        self, collection: Collection, level: Level, *, since: Version, after: int
    ) -> Changes:
        return self._source.changes(
            collection.id,
            INDEXED_LEVELS[level],
            fingerprint=self._embedder.fingerprint,
            dimensions=self._embedder.dimensions,
            since=since,
            after=after,
        )


def _check(path: Path, manifest: Manifest, opened: weakref.ref[_Open]) -> None:
    """Check the bytes of an opened generation; the next search finds what is wrong with it."""
    if opened() is None:
        return
    fault = fault_of_bytes(path, manifest)
    place = opened()
    if fault and place is not None:
        with place.guard:
            if place.generation == path.name:
                place.fault = fault


def _snapshot_of(index: CollectionIndex) -> AbstractContextManager[Snapshot]:
    """Return the entries of an index, as reading them from the source would."""
    return nullcontext(Snapshot(index.slices(), index.version))
