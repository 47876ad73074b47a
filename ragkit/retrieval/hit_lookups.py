"""What grouping and reranking need to know of hits beside their scores, read from the catalog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragkit.catalog import Catalog
from ragkit.catalog.records import ChunkRecord
from ragkit.retrieval.hits import Hit
from ragkit.types import Level

Vectors: TypeAlias = Mapping[int, NDArray[np.floating]]
"""Entry ids with their vectors, each of the same shape ``(dimensions,)``."""


@dataclass(frozen=True, slots=True)
class HitLookups:
    """What the catalog holds of hits, by entry id, read for all of them at once. For one search.

    ``fingerprint`` is that of the embedder whose vectors count.
    """

    catalog: Catalog
    fingerprint: str

    def files(self, hits: Sequence[Hit]) -> Mapping[int, tuple[str, str]]:
        """Return the paths and formats of the hits' documents, by document id."""
        return self.catalog.documents.files({hit.document_id for hit in hits})

    def sections(self, hits: Sequence[Hit]) -> Mapping[int, int]:
        """Return the indexes of the hits' sections."""
        chunks = self._chunks(hits)
        return {entry: record.chunk.section for entry, record in chunks.items()}

    def parents(self, hits: Sequence[Hit]) -> Mapping[int, int]:
        """Return the numbers of the hits' parents."""
        chunks = self._chunks(hits)
        return {entry: record.chunk.parent for entry, record in chunks.items()}

    def texts(self, hits: Sequence[Hit]) -> Mapping[int, str]:
        """Return the hits' own texts."""
        return self._texts(hits, self._chunks(hits))

    def situated(self, hits: Sequence[Hit]) -> Mapping[int, str]:
        """Return the hits' own texts after their documents' titles and headings."""
        from ragkit.chunking.structural_context import contextualised, structural_context

        chunks = self._chunks(hits)
        texts = self._texts(hits, chunks)
        documents = self.catalog.documents.get_many({hit.document_id for hit in hits})
        situated = {}
        for hit in hits:
            document = documents.get(hit.document_id)
            if document is not None and hit.entry_id in texts:
                chunk = chunks[hit.entry_id].chunk
                context = structural_context(document.title, chunk, document.pages)
                situated[hit.entry_id] = contextualised(context, texts[hit.entry_id])
        return situated

    def vectors(self, hits: Sequence[Hit]) -> Vectors:
        """Return the hits' vectors, float32 (d,)."""
        embedder_id = self.catalog.embedders.find(self.fingerprint)
        if embedder_id is None:
            return {}
        vectors = self.catalog.vectors.of_entries([hit.entry_id for hit in hits], embedder_id)
        return {
            entry: np.frombuffer(data, "<f2").astype(np.float32) for entry, data in vectors.items()
        }

    def _texts(self, hits: Sequence[Hit], chunks: Mapping[int, ChunkRecord]) -> dict[int, str]:
        held = [hit for hit in hits if hit.entry_id in chunks]
        inner = [hit.entry_id for hit in held if hit.level is Level.BLOCK]
        blocks = self.catalog.entries.blocks(inner) if inner else {}
        spans = []
        for hit in held:
            own = blocks.get(hit.entry_id, chunks[hit.entry_id].chunk)
            spans.append((hit.document_id, own.start, own.end))
        slices = self.catalog.documents.slices(spans)
        return {hit.entry_id: text for hit, text in zip(held, slices, strict=True)}

    def _chunks(self, hits: Sequence[Hit]) -> dict[int, ChunkRecord]:
        """Return the chunks of hits, by entry id."""
        indexes: dict[int, set[int]] = {}
        for hit in hits:
            indexes.setdefault(hit.document_id, set()).add(hit.chunk_index)
        records = self.catalog.documents.chunks_at(
            {document: sorted(of_document) for document, of_document in indexes.items()}
        )
        chunks = {
            (document, record.chunk.index): record
            for document, of_document in records.items()
            for record in of_document
        }
        return {
            hit.entry_id: chunks[hit.document_id, hit.chunk_index]
            for hit in hits
            if (hit.document_id, hit.chunk_index) in chunks
        }
