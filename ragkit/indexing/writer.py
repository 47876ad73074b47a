"""What a process needs to write to a library, and the lock that lets one process write."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from ragkit.errors import LibraryBusyError, LibraryError, SourceError
from ragkit.indexes.local.files import is_current
from ragkit.sources.opening import Step, UnsettledError, ask_disk, open_regular
from ragkit.types import INDEXED_LEVELS
from ragkit.versions import CHUNKER_VERSION, ENTRIES_VERSION, READER_VERSION, TOKENIZER_VERSION

if TYPE_CHECKING:
    from ragkit.catalog import Catalog
    from ragkit.catalog.records import CollectionRecord, SourceRecord
    from ragkit.indexes.protocol import IndexBackend
    from ragkit.indexing.pipeline import Pipeline
    from ragkit.models.base import Embedder
    from ragkit.paths import LibraryPaths
    from ragkit.settings import ChunkingSettings, Settings

_PIECE_BYTES = 1 << 18
_WAIT_SECONDS = 2.0
"""How long to wait for a writer that is about to end, or for ``lock_is_held``."""


@dataclass(frozen=True)
class Writer:
    """All that writing needs. Its process holds the writer's lock.

    ``follow`` returns the writer for the embedder that is active now. ``embeds_in_background``:
    documents are stored without vectors, which are made later: their server may be unavailable.
    """

    settings: Settings
    paths: LibraryPaths
    catalog: Catalog
    embedder: Embedder
    open_indexes: Callable[[], IndexBackend]
    follow: Callable[[], Writer] | None = None
    embeds_in_background: bool = False

    def now(self) -> Writer:
        """Return the writer for the active embedder: this one, unless that has changed."""
        return self.follow() if self.follow is not None else self

    def reads(self, source: SourceRecord) -> bool:
        """Return whether this machine reads a source: its own, or a shared one that it can see."""
        if source.machine:
            return source.machine == self.paths.machine
        return not self.paths.machine or is_seen(source.root)

    @cached_property
    def indexes(self) -> IndexBackend:
        """The collections' indexes, opened when first needed."""
        return self.open_indexes()

    def is_saved(self, collection: CollectionRecord) -> bool:
        """Return whether all indexes of a collection on disk are up to date.

        A level without entries has no index: texts may lack tables, lists and code.
        """
        version = self.catalog.collections.version(collection.id)
        return all(
            is_current(
                self.paths.index(collection.id, level.value, self.embedder.fingerprint),
                fingerprint=self.embedder.fingerprint,
                tokenizer_version=TOKENIZER_VERSION,
                version=version,
            )
            or not self.catalog.entries.count(collection.id, levels)
            for level, levels in INDEXED_LEVELS.items()
        )

    @cached_property
    def embedder_id(self) -> int:
        """The catalog's number of the embedder."""
        embedder = self.embedder
        return self.catalog.embedders.ensure(
            embedder.fingerprint, embedder.name, embedder.dimensions
        )

    @cached_property
    def pipeline(self) -> Pipeline:
        """The llama-index pipeline, built when it is first needed."""
        from ragkit.indexing.pipeline import Pipeline

        return Pipeline(self.embedder, self.texts_not_to_embed)

    def texts_not_to_embed(self, hashes: Iterable[bytes]) -> set[bytes]:
        """Return which texts, by hash, need no vector now: they have one, or get it later."""
        if self.embeds_in_background:
            return set(hashes)
        return self.catalog.vectors.existing(hashes, self.embedder_id)


def is_seen(root: str) -> bool:
    """Return whether this machine can see a folder."""
    try:
        return ask_disk(Path(root), lambda _step: Path(root).is_dir())
    except (OSError, SourceError):
        return False


def chunk_settings(settings: Settings, collection: CollectionRecord) -> ChunkingSettings:
    """Return the chunk sizes of a collection: its own, or else those of the settings."""
    chunking = settings.chunking
    own = collection.settings.get("chunking")
    return type(chunking).model_validate({**chunking.model_dump(), **own}) if own else chunking


def pipeline_fingerprint(settings: Settings, collection: CollectionRecord) -> str:
    """Return a hash of everything besides its bytes that determines a file's entries."""
    parts = [
        READER_VERSION,
        CHUNKER_VERSION,
        TOKENIZER_VERSION,
        ENTRIES_VERSION,
        chunk_settings(settings, collection).model_dump(),
    ]
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=8).hexdigest()


def hash_file(path: Path, most_bytes: int | None = None, step: Step = lambda: None) -> str:
    """Return the BLAKE2b hash of a file's bytes: 32 hexadecimal digits.

    ``step`` is called after each piece.

    Raises:
        UnsettledError: it is not a regular file, or larger than ``most_bytes``.
        OSError: it cannot be read.
    """
    digest, total = hashlib.blake2b(digest_size=16), 0
    with open_regular(path) as stream:
        while piece := stream.read(_PIECE_BYTES):
            total += len(piece)
            if most_bytes is not None and total > most_bytes:
                raise UnsettledError(f"{path} is growing")
            digest.update(piece)
            step()
    return digest.hexdigest()


# -- the lock ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LockHolder:
    """The process that holds the lock. ``started_at`` is in seconds since the epoch.

    ``ends_with`` is the id of the process whose end also ends this one, if there is one.
    """

    pid: int
    started_at: float
    role: str
    ends_with: int | None = None


@contextmanager
def writer_lock(file: Path, role: str, *, ends_with: int | None = None) -> Iterator[None]:
    """Hold the lock for the block. The system releases it if the process dies.

    ``role`` and ``ends_with`` are noted for others (see ``LockHolder``).

    Raises:
        LibraryBusyError: another process holds it.
        LibraryError: the library's folder cannot be written.
    """
    lock = FileLock(str(file))
    try:
        lock.acquire(timeout=_WAIT_SECONDS)
        holder = LockHolder(os.getpid(), time.time(), role, ends_with)
        _note_file(file).write_text(json.dumps(asdict(holder)), "utf-8")
    except Timeout:
        raise _busy(file) from None
    except OSError as error:
        lock.release()
        raise LibraryError(
            f"{file.parent} cannot be written: {error.strerror or error}.",
            "Check the folder's permissions and the free disk space.",
        ) from error
    try:
        yield
    finally:
        lock.release()


def lock_is_held(file: Path) -> bool:
    """Return whether some process holds the writer's lock now."""
    if not file.exists():
        return False
    try:
        with FileLock(str(file)).acquire(timeout=0):
            return False
    except Timeout:
        return True
    except OSError:
        return False


def lock_holder(file: Path) -> LockHolder | None:
    """Return the process that took the lock last, or ``None`` if that is unknown."""
    try:
        note = json.loads(_note_file(file).read_text("utf-8"))
        pid, started_at, role = int(note["pid"]), float(note["started_at"]), str(note["role"])
        return LockHolder(pid, started_at, role, note.get("ends_with"))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _note_file(file: Path) -> Path:
    return file.with_suffix(".json")


def _busy(file: Path) -> LibraryBusyError:
    holder = lock_holder(file)
    who = f"the {holder.role} (process {holder.pid})" if holder else "another process"
    return LibraryBusyError(
        f"The library in {file.parent} is being written by {who}.",
        "Wait for it to finish, or stop it.",
    )
