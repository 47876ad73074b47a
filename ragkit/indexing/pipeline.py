"""The llama-index pipeline: files that were read in, drafts with contexts, levels and vectors out.

Importing this module imports llama_index (about 2 s), so only the writer does, and only when a
file has to be read.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
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
from ragkit.chunking.structural_context import (
    chunk_text,
    document_text,
    section_text,
    structural_context,
    text_hash,
)
from ragkit.indexing.preparation import PreparedDocument
from ragkit.indexing.writer import ReadFile
from ragkit.models.base import Embedder
from ragkit.models.llama_index import LlamaIndexEmbedding
from ragkit.types import FIELD_CODES, LEVEL_CODES, Chunk, Field, Level

_RECORD = "record"
_MOST_COARSE_WORDS = 50_000


@dataclass(frozen=True, slots=True)
class EmbeddedText:
    """What a node of the pipeline stands for: chunks of a file at a level.

    ``context`` is the structural context at the beginning of the node's text.
    """

    file: ReadFile
    level: Level
    chunks: tuple[Chunk, ...]
    context: str
    text_hash: bytes

    @property
    def span(self) -> tuple[int, int]:
        """The span of its chunks together."""
        return self.chunks[0].start, self.chunks[-1].end


class ChunkParser(TransformComponent):
    """Makes a node of each chunk of a file: title, headings and page stand before its text."""

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        """Return the chunks of all files, in order."""
        return [
            _chunk_node(file, chunk) for file in map(_file, nodes) for chunk in file.document.chunks
        ]


class CoarserLevels(TransformComponent):
    """Adds a node for each section and one for each document, made of their chunks."""

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        """Add the nodes after the chunks of all files."""
        added: list[BaseNode] = []
        for _path, of_file in groupby(map(_entry, nodes), key=lambda entry: entry.file.state.path):
            chunks = list(of_file)
            sections = groupby(chunks, key=lambda entry: entry.chunks[0].section)
            added += [_section_node(list(inside)) for _number, inside in sections]
            added.append(_document_node(chunks))
        return [*nodes, *added]


class EmbedMissing(TransformComponent):
    """Embeds each text once, and only those that have no vector yet."""

    _embedding: LlamaIndexEmbedding = PrivateAttr()
    _existing: Callable[[Iterable[bytes]], set[bytes]] = PrivateAttr()

    def __init__(
        self, embedding: LlamaIndexEmbedding, existing: Callable[[Iterable[bytes]], set[bytes]]
    ) -> None:
        super().__init__()
        self._embedding = embedding
        self._existing = existing

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        """Set the embedding of the nodes whose text is new."""
        first: dict[bytes, BaseNode] = {}
        for node in nodes:
            first.setdefault(_entry(node).text_hash, node)
        existing = self._existing(first)
        missing = [node for name, node in first.items() if name not in existing]
        texts = [node.get_content(MetadataMode.NONE) for node in missing]
        vectors = self._embedding.get_text_embedding_batch(texts)
        for node, vector in zip(missing, vectors, strict=True):
            node.embedding = vector
        return nodes


class Pipeline:
    """Turns files that were read into drafts, a batch at a time.

    ``existing`` returns which texts, by their hashes, have a vector already. With ``chunks_only``,
    sections and documents get no entries of their own.
    """

    def __init__(
        self,
        embedder: Embedder,
        existing: Callable[[Iterable[bytes]], set[bytes]],
        *,
        chunks_only: bool = False,
    ) -> None:
        levels = [] if chunks_only else [CoarserLevels()]
        embed = EmbedMissing(LlamaIndexEmbedding(embedder), existing)
        self._pipeline = IngestionPipeline(
            transformations=[ChunkParser(), *levels, embed], disable_cache=True
        )

    def run(self, files: Sequence[ReadFile]) -> list[DocumentDraft]:
        """Return the drafts of files with different paths, in their order."""
        documents = [
            Document(id_=file.state.path, text=file.document.reading.text, metadata={_RECORD: file})
            for file in files
        ]
        nodes: dict[str, list[BaseNode]] = {document.node_id: [] for document in documents}
        for node in self._pipeline.run(documents=documents):
            nodes[_entry(node).file.state.path].append(node)
        return [_draft(file, nodes[file.state.path]) for file in files]


# -- nodes ---------------------------------------------------------------------------------


def _file(node: BaseNode) -> ReadFile:
    file: ReadFile = node.metadata[_RECORD]
    return file


def _entry(node: BaseNode) -> EmbeddedText:
    entry: EmbeddedText = node.metadata[_RECORD]
    return entry


def _node(
    file: ReadFile, level: Level, chunks: tuple[Chunk, ...], context: str, text: str
) -> TextNode:
    entry = EmbeddedText(file, level, chunks, context, text_hash(text))
    # Named here, since making random names takes as long as all the rest of a node.
    name = f"{file.state.path}/{level}/{chunks[0].index}"
    return TextNode(id_=name, text=text, metadata={_RECORD: entry})


def _chunk_node(file: ReadFile, chunk: Chunk) -> TextNode:
    reading = file.document.reading
    context = structural_context(file.document.name, chunk, reading.pages)
    return _node(file, Level.CHUNK, (chunk,), context, chunk_text(context, reading.text, chunk))


def _section_node(inside: Sequence[EmbeddedText]) -> TextNode:
    """Build the node of a section: its context and its beginning; of one chunk, the same text."""
    file, context = inside[0].file, inside[0].context
    chunks = tuple(entry.chunks[0] for entry in inside)
    text = section_text(context, file.document.reading.text, chunks)
    return _node(file, Level.SECTION, chunks, context, text)


def _document_node(inside: Sequence[EmbeddedText]) -> TextNode:
    """Build the node of a document: its title, its headings and its beginning."""
    document = inside[0].file.document
    chunks = tuple(entry.chunks[0] for entry in inside)
    text = document_text(document.name, document.reading.text, chunks)
    return _node(inside[0].file, Level.DOCUMENT, chunks, document.name, text)


# -- drafts --------------------------------------------------------------------------------


def _draft(file: ReadFile, nodes: Sequence[BaseNode]) -> DocumentDraft:
    """Build what the catalog is to hold of a file; ``vectors`` are float16, little-endian."""
    document = file.document
    reading = document.reading
    entries = [_entry(node) for node in nodes]
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
        date=str(reading.metadata.get("date", ""))[:32],
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
            _entry(node).text_hash: np.asarray(node.embedding, dtype="<f2").tobytes()
            for node in nodes
            if node.embedding is not None
        },
        seconds=file.seconds,
        speakers=tuple(_speakers(document, entries)),
    )


def _entry_drafts(
    document: PreparedDocument, entries: Sequence[EmbeddedText]
) -> Iterator[EntryDraft]:
    """Yield the entries; the words of a section or document are those of its chunks.

    Title and headings stand before the text and count twice, and a chunk has them in a field of
    their own as well; pages are not searched for.
    """
    found = document.words
    texts = [np.array(indices, dtype=np.uint32) for indices in found.texts]
    headings = [np.array(indices, dtype=np.uint32) for indices in found.headings]
    for entry in entries:
        first = entry.chunks[0]
        heading = headings[first.index]
        text = np.concatenate([texts[chunk.index] for chunk in entry.chunks])
        if len(entry.chunks) > 1:
            text = text[:_MOST_COARSE_WORDS]
        numbers = np.concatenate([heading, heading, text])
        tokens: dict[int, list[str] | NumberedTokens] = {
            FIELD_CODES[Field.TEXT]: NumberedTokens(found.words, numbers)
        }
        if entry.level is Level.CHUNK:
            tokens[FIELD_CODES[Field.TITLE]] = NumberedTokens(found.words, heading)
        yield EntryDraft(
            level=LEVEL_CODES[entry.level],
            position=first.index,
            text_hash=entry.text_hash,
            content_key=found.keys[entry.span],
            tokens=tokens,
        )


def _speakers(
    document: PreparedDocument, entries: Sequence[EmbeddedText]
) -> Iterator[SpeakerRecord]:
    """Yield who speaks in the span of each entry, and on which days."""
    messages = document.reading.messages
    if not messages:
        return
    starts, ends = [message.start for message in messages], [message.end for message in messages]
    for entry in entries:
        start, end = entry.span
        inside = messages[bisect_right(ends, start) : bisect_left(starts, end)]
        for author, day in sorted({(message.author, message.at[:10]) for message in inside}):
            yield SpeakerRecord(LEVEL_CODES[entry.level], entry.chunks[0].index, author, day)
