"""An embedder as llama_index knows one. Importing this imports llama_index (about 3 s)."""

from __future__ import annotations

from collections.abc import Sequence

from llama_index.core.embeddings import BaseEmbedding
from pydantic import PrivateAttr

from ragkit.models.base import Embedder


class LlamaIndexEmbedding(BaseEmbedding):
    """An embedding of llama_index's pipeline with the vectors of a ragkit embedder."""

    _embedder: Embedder = PrivateAttr()

    def __init__(self, embedder: Embedder, *, embed_batch_size: int = 512) -> None:
        """Wrap an embedder; ``embed_batch_size`` texts are passed on at a time (2048 at most)."""
        super().__init__(model_name=embedder.fingerprint, embed_batch_size=embed_batch_size)
        self._embedder = embedder

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which llama_index would serialise it."""
        return "ragkit"

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: Sequence[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._embedder.embed_passages(texts).tolist()
        return vectors

    def _get_query_embedding(self, query: str) -> list[float]:
        vector: list[float] = self._embedder.embed_query(query).tolist()
        return vector

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)
