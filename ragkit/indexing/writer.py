"""What a process needs to write to a library."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ragkit.indexes.local.files import is_current
from ragkit.types import INDEXED_LEVELS
from ragkit.versions import CHUNKER_VERSION, ENTRIES_VERSION, READER_VERSION, TOKENIZER_VERSION

if TYPE_CHECKING:
    from ragkit.catalog import Catalog
    from ragkit.catalog.records import CollectionRecord, FileState
    from ragkit.indexes.protocol import IndexBackend
    from ragkit.indexing.pipeline import Pipeline
    from ragkit.indexing.preparation import PreparedDocument
    from ragkit.models.base import Embedder
    from ragkit.paths import LibraryPaths
    from ragkit.settings import ChunkingSettings, Settings


@dataclass(frozen=True)
class Writer:
    """All that writing needs. Its process holds the writer's lock."""

    settings: Settings
    paths: LibraryPaths
    catalog: Catalog
    embedder: Embedder
    open_indexes: Callable[[], IndexBackend]
    follow: Callable[[], Writer] | None = None

    def now(self) -> Writer:
        """Return the writer for the active embedder; this one, unless that has changed."""
        return self.follow() if self.follow is not None else self

    @property
    def embeds_in_background(self) -> bool:
        """Whether vectors are made later: no document waits for a server that may be away."""
        from ragkit.models.factory import is_lazy

        return self.follow is not None and is_lazy(self.embedder)

    @cached_property
    def indexes(self) -> IndexBackend:
        """The collections' indexes; a job that changes nothing asks for none."""
        return self.open_indexes()

    def is_saved(self, collection: CollectionRecord) -> bool:
        """Return whether every index on disk holds a collection's present entries."""
        version = self.catalog.collections.version(collection.id)
        return all(
            is_current(
                self.paths.index(collection.id, level.value, self.embedder.fingerprint),
                fingerprint=self.embedder.fingerprint,
                tokenizer_version=TOKENIZER_VERSION,
                collection_version=version,
            )
            for level in INDEXED_LEVELS
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
        """Return which texts need no vector now: they have one, or get it in the background."""
        if self.embeds_in_background:
            return set(hashes)
        return self.catalog.vectors.existing(hashes, self.embedder_id)


def chunk_settings(settings: Settings, collection: CollectionRecord) -> ChunkingSettings:
    """Return the chunk sizes of a collection: its own where it has some."""
    own = collection.settings.get("chunking", {})
    merged = {**settings.chunking.model_dump(), **own}
    return type(settings.chunking).model_validate(merged)


def pipeline_fingerprint(settings: Settings, collection: CollectionRecord) -> str:
    """Return a hash of everything that decides what is made of a file's bytes."""
    parts = [
        READER_VERSION,
        CHUNKER_VERSION,
        TOKENIZER_VERSION,
        ENTRIES_VERSION,
        chunk_settings(settings, collection).model_dump(),
    ]
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file that has been read and cut: where it stands, its bytes' hash, and its document.

    ``seconds`` is how long reading took.
    """

    source_id: int
    collection_id: int
    state: FileState
    content_hash: str
    pipeline_fingerprint: str
    document: PreparedDocument
    seconds: float = 0.0


def hash_file(path: Path) -> str:
    """Return the BLAKE2b hash of a file's bytes: 32 hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
