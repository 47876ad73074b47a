"""The llama-index pipeline: readings in, chunks with context and vectors out.

Importing this module imports llama_index (about 3 s), so only the writer does, and only when a
file has to be read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser.interface import NodeParser
from llama_index.core.schema import BaseNode, Document, MetadataMode, TextNode, TransformComponent
from pydantic import PrivateAttr

from ragkit.catalog.records import ChunkRecord
from ragkit.chunking import divide, structural_context
from ragkit.chunking.sizes import ChunkSizes
from ragkit.chunking.structural_context import (
    chunk_text,
    document_name,
    document_text,
    section_text,
    text_hash,
)
from ragkit.indexing.preparation import DocumentWords, Prepared
from ragkit.models.base import Embedder
from ragkit.models.llama_index import LlamaIndexEmbedding
from ragkit.settings import ChunkingSettings
from ragkit.types import Chunk, Divided, Level, Reading

_READING, _DIVIDED, _PARENT, _NAME = "reading", "divided", "parent", "name"
_PREPARED = "prepared"
_LEVEL, _CHUNKS, _CONTEXT, _HASH = "level", "chunks", "context", "hash"


@dataclass(frozen=True, slots=True)
class EmbeddedText:
    """A text that was embedded for a level: the chunks that it stands for, and its hash.

    ``context`` is the structural context that was embedded with it.
    """

    level: Level
    chunks: tuple[Chunk, ...]
    context: str
    text_hash: bytes


@dataclass(frozen=True, slots=True)
class Processed:
    """What the pipeline makes of one reading: chunks first, then sections, then the document.

    ``vectors`` holds float16 little-endian bytes for those texts that had no vector yet;
    ``words`` are the words of its chunks, where they are known already.
    """

    reading: Reading
    divided: Divided
    embedded: tuple[EmbeddedText, ...]
    vectors: dict[bytes, bytes]
    words: DocumentWords | None = None

    @property
    def chunks(self) -> tuple[ChunkRecord, ...]:
        """The chunks with their structural contexts, in order."""
        return tuple(
            ChunkRecord(one.chunks[0], one.context)
            for one in self.embedded
            if one.level is Level.CHUNK
        )


class ChunkParser(NodeParser):
    """Cuts each document into the project's own sections, blocks and chunks."""

    _sizes: ChunkSizes = PrivateAttr()

    def __init__(self, settings: ChunkingSettings, **fields: Any) -> None:
        super().__init__(include_metadata=False, include_prev_next_rel=False, **fields)
        self._sizes = ChunkSizes.of(settings)

    def _parse_nodes(
        self,
        nodes: Sequence[BaseNode],
        show_progress: bool = False,  # noqa: ARG002 - the base class asks for it
        **_: Any,
    ) -> list[BaseNode]:
        parsed: list[BaseNode] = []
        for node in nodes:
            reading: Reading = node.metadata[_READING]
            prepared: Prepared | None = node.metadata[_PREPARED]
            divided = prepared.divided if prepared else divide(reading, self._sizes)
            node.metadata[_DIVIDED] = divided
            for chunk in divided.chunks:
                text = reading.text[chunk.start : chunk.end]
                parsed.append(_node(text, node, Level.CHUNK, (chunk,)))
        return parsed

    def _postprocess_parsed_nodes(
        self,
        nodes: list[BaseNode],
        parent_doc_map: dict[str, Document],  # noqa: ARG002 - the base class asks for it
    ) -> list[BaseNode]:
        """Leave the nodes alone: their spans are known already."""
        return nodes


class StructuralContext(TransformComponent):
    """Puts title, headings and page before each chunk's text."""

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        """Add the context to each node."""
        for node in nodes:
            reading: Reading = node.metadata[_READING]
            chunk: Chunk = node.metadata[_CHUNKS][0]
            context = structural_context(node.metadata[_NAME], chunk, reading.pages)
            _set_text(node, context, chunk_text(context, reading.text, chunk))
        return nodes


class CoarserLevels(TransformComponent):
    """Adds a node for each section and one for each document, made of their chunks."""

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        """Add the nodes after the chunks of all documents."""
        added: list[BaseNode] = []
        for _parent, found in groupby(nodes, key=lambda node: node.metadata[_PARENT]):
            chunks = list(found)
            sections = groupby(chunks, key=lambda node: node.metadata[_CHUNKS][0].section)
            added += [_section_node(list(inside)) for _number, inside in sections]
            added.append(_document_node(chunks))
        return [*nodes, *added]


class EmbedMissing(TransformComponent):
    """Embeds each text once, and only those that have no vector yet."""

    _embedding: LlamaIndexEmbedding = PrivateAttr()
    _known: Callable[[Iterable[bytes]], set[bytes]] = PrivateAttr()

    def __init__(
        self, embedding: LlamaIndexEmbedding, known: Callable[[Iterable[bytes]], set[bytes]]
    ) -> None:
        super().__init__()
        self._embedding = embedding
        self._known = known

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        """Set the embedding of the nodes whose text is new."""
        first: dict[bytes, BaseNode] = {}
        for node in nodes:
            first.setdefault(node.metadata[_HASH], node)
        known = self._known(first)
        missing = [node for text, node in first.items() if text not in known]
        texts = [node.get_content(MetadataMode.NONE) for node in missing]
        for node, vector in zip(
            missing, self._embedding.get_text_embedding_batch(texts), strict=True
        ):
            node.embedding = vector
        return nodes


class Pipeline:
    """Runs readings through the three steps, a batch at a time."""

    def __init__(
        self,
        embedder: Embedder,
        settings: ChunkingSettings,
        known: Callable[[Iterable[bytes]], set[bytes]],
    ) -> None:
        self._pipeline = IngestionPipeline(
            transformations=[
                ChunkParser(settings),
                StructuralContext(),
                CoarserLevels(),
                EmbedMissing(LlamaIndexEmbedding(embedder), known),
            ],
            disable_cache=True,
        )

    def run(
        self,
        readings: Sequence[Reading],
        paths: Sequence[str] = (),
        prepared: Sequence[Prepared | None] = (),
    ) -> list[Processed]:
        """Process a batch of readings, in their order; ``paths`` are those of their files.

        Readings that were cut when they were read come with what was ``prepared`` of them.
        """
        documents = [
            Document(
                text="",
                metadata={
                    _READING: reading,
                    _NAME: document_name(reading.title, reading.markup, path),
                    _PREPARED: before,
                },
            )
            for reading, path, before in zip(
                readings,
                paths or [""] * len(readings),
                prepared or [None] * len(readings),
                strict=True,
            )
        ]
        nodes = self._pipeline.run(documents=documents)
        by_document: dict[str, list[BaseNode]] = {}
        for node in nodes:
            by_document.setdefault(node.metadata[_PARENT], []).append(node)
        return [_processed(one, by_document.get(one.node_id, [])) for one in documents]


def _node(text: str, parent: BaseNode, level: Level, chunks: tuple[Chunk, ...]) -> TextNode:
    owner = parent.metadata.get(_PARENT, parent.node_id)
    metadata = {
        _READING: parent.metadata[_READING],
        _NAME: parent.metadata[_NAME],
        _PARENT: owner,
        _LEVEL: level,
        _CHUNKS: chunks,
    }
    # Named here, since making random names takes as long as all the rest of a node.
    return TextNode(id_=f"{owner}/{level}/{chunks[0].index}", text=text, metadata=metadata)


def _set_text(node: BaseNode, context: str, text: str) -> None:
    node.set_content(text)
    node.metadata[_CONTEXT] = context
    node.metadata[_HASH] = text_hash(text)


def _section_node(inside: Sequence[BaseNode]) -> TextNode:
    """Stand for a section: its context and its beginning; of one chunk, the same text."""
    first = inside[0]
    reading: Reading = first.metadata[_READING]
    chunks = tuple(node.metadata[_CHUNKS][0] for node in inside)
    node = _node("", first, Level.SECTION, chunks)
    context: str = first.metadata[_CONTEXT]
    _set_text(node, context, section_text(context, reading.text, chunks))
    return node


def _document_node(chunks: Sequence[BaseNode]) -> TextNode:
    """Stand for a document: its title, its headings and its beginning."""
    reading: Reading = chunks[0].metadata[_READING]
    spans = tuple(node.metadata[_CHUNKS][0] for node in chunks)
    node = _node("", chunks[0], Level.DOCUMENT, spans)
    title: str = node.metadata[_NAME]
    _set_text(node, title, document_text(title, reading.text, spans))
    return node


def _processed(document: Document, nodes: Sequence[BaseNode]) -> Processed:
    vectors = {
        node.metadata[_HASH]: np.asarray(node.embedding, dtype="<f2").tobytes()
        for node in nodes
        if node.embedding is not None
    }
    embedded = tuple(
        EmbeddedText(
            node.metadata[_LEVEL],
            node.metadata[_CHUNKS],
            node.metadata[_CONTEXT],
            node.metadata[_HASH],
        )
        for node in nodes
    )
    prepared: Prepared | None = document.metadata[_PREPARED]
    return Processed(
        document.metadata[_READING],
        document.metadata[_DIVIDED],
        embedded,
        vectors,
        prepared.words if prepared else None,
    )
