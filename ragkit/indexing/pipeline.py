"""The llama-index pipeline: readings in, chunks with context and vectors out.

Importing this module imports llama_index (about 3 s), so only the writer does, and only when a
file has to be read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser.interface import NodeParser
from llama_index.core.schema import BaseNode, Document, MetadataMode, TextNode, TransformComponent
from pydantic import PrivateAttr

from ragkit.catalog.records import ChunkRecord
from ragkit.chunking import contextualised, divide, structural_context
from ragkit.models.base import Embedder
from ragkit.models.llama_index import LlamaIndexEmbedding
from ragkit.settings import ChunkingSettings
from ragkit.types import Chunk, Divided, Reading

_READING, _DIVIDED, _CHUNK, _CONTEXT, _HASH = "reading", "divided", "chunk", "context", "hash"


@dataclass(frozen=True, slots=True)
class EmbeddedChunk:
    """A chunk, its structural context, and the hash of the text that was embedded."""

    record: ChunkRecord
    text_hash: bytes


@dataclass(frozen=True, slots=True)
class Processed:
    """What the pipeline makes of one reading.

    ``vectors`` holds float16 little-endian bytes for those texts that had no vector yet.
    """

    reading: Reading
    divided: Divided
    chunks: tuple[EmbeddedChunk, ...]
    vectors: dict[bytes, bytes]


class ChunkParser(NodeParser):
    """Cuts each document into the project's own sections, blocks and chunks."""

    _settings: ChunkingSettings = PrivateAttr()

    def __init__(self, settings: ChunkingSettings, **fields: Any) -> None:
        super().__init__(include_metadata=False, include_prev_next_rel=False, **fields)
        self._settings = settings

    def _parse_nodes(
        self,
        nodes: Sequence[BaseNode],
        show_progress: bool = False,  # noqa: ARG002 - the base class asks for it
        **_: Any,
    ) -> list[BaseNode]:
        parsed: list[BaseNode] = []
        for node in nodes:
            reading: Reading = node.metadata[_READING]
            divided = divide(reading, self._settings)
            node.metadata[_DIVIDED] = divided
            for chunk in divided.chunks:
                text = reading.text[chunk.start : chunk.end]
                parsed.append(_node(text, {_READING: reading, _CHUNK: chunk}, node.node_id))
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
            chunk: Chunk = node.metadata[_CHUNK]
            context = structural_context(reading.title, chunk, reading.pages)
            node.metadata[_CONTEXT] = context
            text = contextualised(context, reading.text[chunk.start : chunk.end])
            node.set_content(text)
            node.metadata[_HASH] = text_hash(text)
        return nodes


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
                EmbedMissing(LlamaIndexEmbedding(embedder), known),
            ],
            disable_cache=True,
        )

    def run(self, readings: Sequence[Reading]) -> list[Processed]:
        """Process a batch of readings, in their order."""
        documents = [Document(text="", metadata={_READING: reading}) for reading in readings]
        nodes = self._pipeline.run(documents=documents)
        by_document: dict[str, list[BaseNode]] = {}
        for node in nodes:
            by_document.setdefault(node.metadata["parent"], []).append(node)
        return [_processed(one, by_document.get(one.node_id, [])) for one in documents]


def text_hash(text: str) -> bytes:
    """The name of an embedded text: 16 bytes of BLAKE2b."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _node(text: str, metadata: dict[str, Any], parent: str) -> TextNode:
    return TextNode(text=text, metadata={**metadata, "parent": parent})


def _processed(document: Document, nodes: Sequence[BaseNode]) -> Processed:
    vectors = {
        node.metadata[_HASH]: np.asarray(node.embedding, dtype="<f2").tobytes()
        for node in nodes
        if node.embedding is not None
    }
    chunks = tuple(
        EmbeddedChunk(
            ChunkRecord(node.metadata[_CHUNK], node.metadata[_CONTEXT]), node.metadata[_HASH]
        )
        for node in nodes
    )
    return Processed(document.metadata[_READING], document.metadata[_DIVIDED], chunks, vectors)
