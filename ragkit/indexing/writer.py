"""What a process needs to write to a library."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ragkit.indexes.local.manifest_check import is_current
from ragkit.types import Level
from ragkit.versions import CHUNKER_VERSION, ENTRIES_VERSION, READER_VERSION, TOKENIZER_VERSION

if TYPE_CHECKING:
    from ragkit.catalog import Catalog
    from ragkit.catalog.records import CollectionRecord, FileState
    from ragkit.indexes.protocol import IndexBackend
    from ragkit.indexing.pipeline import Pipeline
    from ragkit.models.base import Embedder
    from ragkit.paths import LibraryPaths
    from ragkit.settings import ChunkingSettings, Settings


@dataclass(frozen=True)
class Writer:
    """The one that writes. Its process holds the writer's lock."""

    settings: Settings
    paths: LibraryPaths
    catalog: Catalog
    embedder: Embedder
    open_indexes: Callable[[], IndexBackend]
    follow: Callable[[], Writer] | None = None
    _pipelines: dict[ChunkingSettings, Pipeline] = field(default_factory=dict)

    def now(self) -> Writer:
        """The writer for the embedder that answers now; this one, unless that has changed."""
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
        """True when every index of a collection lies on disk as the catalog has it now."""
        version = self.catalog.collections.version(collection.id)
        return all(
            is_current(
                self.paths.index(collection.id, level.value, self.embedder.fingerprint),
                fingerprint=self.embedder.fingerprint,
                tokenizer_version=TOKENIZER_VERSION,
                collection_version=version,
            )
            for level in (Level.CHUNK, Level.SECTION, Level.DOCUMENT)
        )

    @cached_property
    def embedder_id(self) -> int:
        """The catalog's number of the embedder."""
        one = self.embedder
        return self.catalog.embedders.ensure(one.fingerprint, one.name, one.dimensions)

    def chunking(self, collection: CollectionRecord) -> ChunkingSettings:
        """The chunk sizes of a collection: its own where it has some."""
        own = collection.settings.get("chunking", {})
        merged = {**self.settings.chunking.model_dump(), **own}
        return type(self.settings.chunking).model_validate(merged)

    def recipe(self, collection: CollectionRecord) -> str:
        """The name of everything that decides what is made of a file's bytes."""
        parts = [
            READER_VERSION,
            CHUNKER_VERSION,
            TOKENIZER_VERSION,
            ENTRIES_VERSION,
            self.chunking(collection).model_dump(),
        ]
        return hashlib.blake2b(json.dumps(parts).encode(), digest_size=8).hexdigest()

    def pipeline(self, chunking: ChunkingSettings) -> Pipeline:
        """The llama-index pipeline for those chunk sizes, made when it is first needed."""
        from ragkit.indexing.pipeline import Pipeline

        if chunking not in self._pipelines:
            self._pipelines[chunking] = Pipeline(self.embedder, chunking, self._known_texts)
        return self._pipelines[chunking]

    def _known_texts(self, hashes: Iterable[bytes]) -> set[bytes]:
        if self.embeds_in_background:
            return set(hashes)
        return self.catalog.vectors.existing(hashes, self.embedder_id)


@dataclass(frozen=True, slots=True)
class FileToWrite:
    """A file that has been read: where it stands and which bytes were read."""

    source_id: int
    collection_id: int
    file: FileState
    content_hash: str
    recipe: str
    seconds: float


def hash_file(path: Path) -> str:
    """The name of a file's bytes: BLAKE2b, 32 hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
