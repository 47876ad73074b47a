"""What a process needs to write to a library, and how one document is written."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from ragkit.catalog import Catalog
from ragkit.catalog.records import (
    CollectionRecord,
    DocumentDraft,
    EntryDraft,
    FileState,
    SpeakerRecord,
)
from ragkit.chunking import CHUNKER_VERSION, structural_context
from ragkit.indexes.tokenizer import TOKENIZER_VERSION, index_tokens
from ragkit.models.base import Embedder
from ragkit.paths import LibraryPaths
from ragkit.reading import READER_VERSION
from ragkit.retrieval.deduplication import content_key
from ragkit.retrieval.open_indexes import OpenIndexes
from ragkit.settings import ChunkingSettings, Settings
from ragkit.types import FIELD_CODES, LEVEL_CODES, Chunk, Field, Level, Reading

if TYPE_CHECKING:
    from ragkit.indexing.pipeline import Pipeline, Processed

ENTRIES_VERSION = "3"
"""Bump when other entries are made of a document than before."""

_MOST_COARSE_WORDS = 50_000


@dataclass(frozen=True)
class Writer:
    """The one that writes. Its process holds the writer's lock."""

    settings: Settings
    paths: LibraryPaths
    catalog: Catalog
    embedder: Embedder
    indexes: OpenIndexes
    _pipelines: dict[ChunkingSettings, Pipeline] = field(default_factory=dict)

    @cached_property
    def embedder_id(self) -> int:
        """The catalog's number of the embedder."""
        one = self.embedder
        return self.catalog.vectors.embedder_id(one.fingerprint, one.name, one.dimensions)

    def chunking(self, collection: CollectionRecord) -> ChunkingSettings:
        """The chunk sizes of a collection: its own where it has some."""
        own = collection.settings.get("chunking", {})
        merged = {**self.settings.chunking.model_dump(), **own}
        return ChunkingSettings.model_validate(merged)

    def recipe(self, collection: CollectionRecord) -> str:
        """The name of everything that decides what is made of a file's bytes."""
        parts = [
            READER_VERSION,
            CHUNKER_VERSION,
            TOKENIZER_VERSION,
            ENTRIES_VERSION,
            self.embedder.fingerprint,
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
        return self.catalog.vectors.known(hashes, self.embedder_id)


@dataclass(frozen=True, slots=True)
class FileToWrite:
    """A file that has been read: where it stands and which bytes were read."""

    source_id: int
    collection_id: int
    file: FileState
    content_hash: str
    recipe: str
    seconds: float


def draft(one: FileToWrite, processed: Processed) -> DocumentDraft:
    """Everything that the catalog is to hold of a document that was read."""
    reading = processed.reading
    return DocumentDraft(
        source_id=one.source_id,
        collection_id=one.collection_id,
        path=one.file.path,
        size=one.file.size,
        mtime_ns=one.file.mtime_ns,
        hash=one.content_hash,
        recipe=one.recipe,
        title=reading.title,
        format=reading.format,
        markup=reading.markup.value,
        language=reading.language,
        date=str(reading.metadata.get("date", ""))[:32],
        metadata=reading.metadata,
        pages=reading.pages,
        warnings=reading.warnings,
        text=reading.text,
        sections=processed.divided.sections,
        chunks=processed.chunks,
        entries=tuple(_entries(processed)),
        vectors=processed.vectors,
        seconds=one.seconds,
        speakers=tuple(_speakers(processed)),
    )


def _entries(processed: Processed) -> Iterator[EntryDraft]:
    """One entry a level: a section's and a document's words are those of their chunks.

    Title and headings stand before the text and count twice; pages are not searched for.
    """
    reading = processed.reading
    words: dict[int, list[str]] = {}
    headings: dict[int, list[str]] = {}
    for one in processed.embedded:
        first = one.chunks[0]
        own = reading.text[first.start : one.chunks[-1].end]
        if one.level is Level.CHUNK:
            words[first.index] = index_tokens(own)
            headings[first.index] = 2 * index_tokens(_heading(reading, first, one.context))
        yield EntryDraft(
            level=LEVEL_CODES[one.level],
            position=first.index,
            text_hash=one.text_hash,
            content_key=content_key(own),
            tokens={
                FIELD_CODES[Field.TEXT]: headings[first.index] + _joined(words, one.chunks),
            },
        )


def _speakers(processed: Processed) -> Iterator[SpeakerRecord]:
    """Who speaks in the span of each entry, and on which days."""
    messages = processed.reading.messages
    if not messages:
        return
    starts, ends = [one.start for one in messages], [one.end for one in messages]
    for one in processed.embedded:
        first = bisect_right(ends, one.chunks[0].start)
        last = bisect_left(starts, one.chunks[-1].end)
        said = {(message.author, message.at[:10]) for message in messages[first:last]}
        for author, day in sorted(said):
            yield SpeakerRecord(LEVEL_CODES[one.level], one.chunks[0].index, author, day)


def _heading(reading: Reading, chunk: Chunk, context: str) -> str:
    if chunk.pages is None:
        return context
    return structural_context(reading.title, replace(chunk, pages=None), ())


def _joined(words: Mapping[int, list[str]], chunks: Sequence[Chunk]) -> list[str]:
    if len(chunks) == 1:
        return words[chunks[0].index]
    joined = chain.from_iterable(words[chunk.index] for chunk in chunks)
    return list(islice(joined, _MOST_COARSE_WORDS))


def hash_file(path: Path) -> str:
    """The name of a file's bytes: BLAKE2b, 32 hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
