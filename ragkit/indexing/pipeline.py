"""The llama-index pipeline: makes drafts with entries and vectors of files that were read.

Importing this module imports llama_index, which takes about 2 s. So only the writer imports it, and
only when a file has to be read.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import BaseNode, Document, MetadataMode, TextNode, TransformComponent
from pydantic import PrivateAttr

from ragkit.catalog.records import (
    ChunkRecord,
    DocumentDraft,
    EntryDraft,
    NumberedTokens,
    SpeakerRecord,
)
from ragkit.indexing.preparation import (
    EmbeddedText,
    PreparedDocument,
    ReadFile,
    embedded_texts,
)
from ragkit.models.base import Embedder
from ragkit.reading.dates import date_in_name
from ragkit.reading.reading_parts import stem
from ragkit.types import FIELD_CODES, LEVEL_CODES, Field, Level

_FILE, _DOCUMENT, _ENTRY = "file", "document", "entry"
_MOST_COARSE_WORDS = 50_000


class EntryParser(TransformComponent):
    """Makes the nodes of files: chunks with their contexts, inner blocks and coarser levels."""

    chunks_only: bool = False

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        """Return the nodes of all files, in order."""
        return [
            # Random ids would take as long as everything else.
            TextNode(
                id_=f"{node.node_id}/{entry.level}/{entry.chunks[0].index}/{entry.block}",
                text=entry.text,
                metadata={_FILE: node.node_id, _ENTRY: entry},
            )
            for node in nodes
            for entry in _entries(node.metadata[_DOCUMENT])
            if entry.level is Level.CHUNK or not self.chunks_only
        ]


class EmbedMissing(TransformComponent):
    """Embeds each distinct text that has no vector yet."""

    _embedder: Embedder = PrivateAttr()
    _existing: Callable[[Iterable[bytes]], set[bytes]] = PrivateAttr()

    def __init__(
        self, embedder: Embedder, existing: Callable[[Iterable[bytes]], set[bytes]]
    ) -> None:
        super().__init__()
        self._embedder = embedder
        self._existing = existing

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        """Set the embedding of the first node of each new text."""
        first: dict[bytes, BaseNode] = {}
        for node in nodes:
            first.setdefault(node.metadata[_ENTRY].text_hash, node)
        existing = self._existing(first)
        missing = [node for name, node in first.items() if name not in existing]
        texts = [node.get_content(MetadataMode.NONE) for node in missing]
        if texts:  # without texts, the embedder need not even be available
            for node, vector in zip(missing, self._embedder.embed_passages(texts), strict=True):
                node.embedding = vector.tolist()
        return nodes


class Pipeline:
    """Turns files that were read into drafts, a batch at a time.

    ``existing`` returns which of some hashes of texts have a vector already. With ``chunks_only``,
    only chunks become entries.
    """

    def __init__(
        self,
        embedder: Embedder,
        existing: Callable[[Iterable[bytes]], set[bytes]],
        *,
        chunks_only: bool = False,
    ) -> None:
        self._pipeline = IngestionPipeline(
            transformations=[
                EntryParser(chunks_only=chunks_only),
                EmbedMissing(embedder, existing),
            ],
            disable_cache=True,
        )

    def run(self, files: Sequence[ReadFile]) -> list[DocumentDraft]:
        """Return the drafts of files with different paths, in their order."""
        documents = [
            Document(
                id_=file.state.path,
                text=file.document.reading.text,
                metadata={_DOCUMENT: file.document},
            )
            for file in files
        ]
        nodes: dict[str, list[BaseNode]] = {document.node_id: [] for document in documents}
        for node in self._pipeline.run(documents=documents):
            nodes[node.metadata[_FILE]].append(node)
        return [_draft(file, nodes[file.state.path]) for file in files]


def _entries(document: PreparedDocument) -> list[EmbeddedText]:
    return embedded_texts(
        document.name,
        document.reading.text,
        document.chunks,
        document.contexts,
        document.blocks,
        [section.title for section in document.sections],
    )


def _span(document: PreparedDocument, entry: EmbeddedText) -> tuple[int, int]:
    """Return the span of an entry's block, or else of all its chunks."""
    if entry.block is not None:
        return document.blocks[entry.block].start, document.blocks[entry.block].end
    return entry.chunks[0].start, entry.chunks[-1].end


# -- drafts --------------------------------------------------------------------------------


def _draft(file: ReadFile, nodes: Sequence[BaseNode]) -> DocumentDraft:
    """Build the catalog's draft of a file; ``vectors`` are little-endian float16."""
    document = file.document
    reading = document.reading
    entries: list[EmbeddedText] = [node.metadata[_ENTRY] for node in nodes]
    return DocumentDraft(
        source_id=file.source_id,
        collection_id=file.collection_id,
        path=file.state.path,
        size=file.state.size,
        mtime_ns=file.state.mtime_ns,
        hash=file.content_hash,
        pipeline_fingerprint=file.pipeline_fingerprint,
        title=reading.title,
        format=reading.format,
        markup=reading.markup.value,
        language=reading.language,
        date=str(reading.metadata.get("date") or date_in_name(stem(file.state.path)))[:32],
        metadata=reading.metadata,
        pages=reading.pages,
        warnings=reading.warnings,
        text=reading.text,
        sections=document.sections,
        chunks=tuple(
            ChunkRecord(entry.chunks[0], entry.context)
            for entry in entries
            if entry.level is Level.CHUNK
        ),
        entries=tuple(_entry_drafts(document, entries)),
        vectors={
            entry.text_hash: np.asarray(node.embedding, dtype="<f2").tobytes()
            for node, entry in zip(nodes, entries, strict=True)
            if node.embedding is not None
        },
        seconds=file.seconds,
        stamp=file.state.stamp,
        speakers=tuple(_speakers(document, entries)),
    )


def _entry_drafts(
    document: PreparedDocument, entries: Sequence[EmbeddedText]
) -> Iterator[EntryDraft]:
    """Yield the entries of a document; a section's or document's tokens are those of its chunks.

    The text field begins with the words of title, headings and file name, twice; chunks also have
    these in the title field. All entries have the folders field. The first entry of each level also
    has the folders in its text field, so that a document is found by them without making their
    words common in the collection (``move_entries``).
    """
    words = document.words
    texts = [np.array(indices, dtype=np.uint32) for indices in words.texts]
    headings = [np.array(indices, dtype=np.uint32) for indices in words.headings]
    folders = np.array(words.folders, dtype=np.uint32)
    for entry in entries:
        first = entry.chunks[0]
        # The words of inner blocks follow those of the chunks.
        place = first.index if entry.block is None else len(document.chunks) + entry.block
        heading = headings[place]
        places = [place] if entry.block is not None else [chunk.index for chunk in entry.chunks]
        text = np.concatenate([texts[each] for each in places])
        if len(entry.chunks) > 1:
            text = text[:_MOST_COARSE_WORDS]
        cover = folders if first.index == 0 else folders[:0]
        numbers = np.concatenate([cover, heading, heading, text])
        tokens: dict[int, list[str] | NumberedTokens] = {
            FIELD_CODES[Field.TEXT]: NumberedTokens(words.words, numbers),
            FIELD_CODES[Field.FOLDERS]: NumberedTokens(words.words, folders),
        }
        if entry.level is Level.CHUNK:
            tokens[FIELD_CODES[Field.TITLE]] = NumberedTokens(words.words, heading)
        yield EntryDraft(
            level=LEVEL_CODES[entry.level],
            position=first.index,
            text_hash=entry.text_hash,
            content_key=words.keys[_span(document, entry)],
            tokens=tokens,
            block=None if entry.block is None else document.blocks[entry.block],
        )


def _speakers(
    document: PreparedDocument, entries: Sequence[EmbeddedText]
) -> Iterator[SpeakerRecord]:
    """Yield the speakers in the span of each entry, with the days on which they speak."""
    messages = document.reading.messages
    if not messages:
        return
    starts, ends = [message.start for message in messages], [message.end for message in messages]
    for entry in entries:
        if entry.block is not None:
            continue
        start, end = _span(document, entry)
        inside = messages[bisect_right(ends, start) : bisect_left(starts, end)]
        for author, day in sorted({(message.author, message.at[:10]) for message in inside}):
            yield SpeakerRecord(LEVEL_CODES[entry.level], entry.chunks[0].index, author, day)
