"""What the catalog holds of hits beside their scores, read for all of them at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragkit.catalog import Catalog
from ragkit.catalog.records import ChunkRecord
from ragkit.retrieval.ranking import Hit

Vectors: TypeAlias = Mapping[int, NDArray[np.floating]]
"""Entry ids with their vectors, each of the same shape ``(dimensions,)``."""


class HitLookups:
    """Looks up keys, sections, texts and vectors of hits, by entry id. For one search."""

    def __init__(self, catalog: Catalog, fingerprint: str) -> None:
        """``fingerprint`` is that of the embedder whose vectors count."""
        self._catalog = catalog
        self._fingerprint = fingerprint
        self._keys: dict[int, bytes] = {}

    def content_keys(self, hits: Sequence[Hit]) -> Mapping[int, bytes]:
        """Return names of the hits' own texts; what was read once is not read again."""
        ids = [hit.entry_id for hit in hits]
        if not self._keys.keys() >= set(ids):
            self._keys.update(self._catalog.entries.content_keys(ids))
        return {entry: self._keys[entry] for entry in ids if entry in self._keys}

    def sections(self, hits: Sequence[Hit]) -> Mapping[int, int]:
        """Return the indexes of the hits' sections."""
        chunks = self._chunks(hits)
        return {entry: record.chunk.section for entry, record in chunks.items()}

    def texts(self, hits: Sequence[Hit]) -> Mapping[int, str]:
        """Return the hits' own texts."""
        return self._texts(hits, self._chunks(hits))

    def situated(self, hits: Sequence[Hit]) -> Mapping[int, str]:
        """Return the hits' own texts after their documents' titles and headings."""
        from ragkit.chunking.structural_context import contextualised, structural_context

        chunks = self._chunks(hits)
        texts = self._texts(hits, chunks)
        documents = self._catalog.documents.get_many({hit.document_id for hit in hits})
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
        embedder_id = self._catalog.embedders.find(self._fingerprint)
        if embedder_id is None:
            return {}
        vectors = self._catalog.vectors.of_entries([hit.entry_id for hit in hits], embedder_id)
        return {
            entry: np.frombuffer(data, "<f2").astype(np.float32) for entry, data in vectors.items()
        }

    def _texts(self, hits: Sequence[Hit], chunks: Mapping[int, ChunkRecord]) -> dict[int, str]:
        held = [hit for hit in hits if hit.entry_id in chunks]
        spans = [
            (hit.document_id, chunks[hit.entry_id].chunk.start, chunks[hit.entry_id].chunk.end)
            for hit in held
        ]
        slices = self._catalog.documents.slices(spans)
        return {hit.entry_id: text for hit, text in zip(held, slices, strict=True)}

    def _chunks(self, hits: Sequence[Hit]) -> dict[int, ChunkRecord]:
        """Return the chunks of hits, by entry id."""
        indexes: dict[int, set[int]] = {}
        for hit in hits:
            indexes.setdefault(hit.document_id, set()).add(hit.chunk_index)
        records = self._catalog.documents.chunks_at(
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
