"""Embeddings from Ollama, with each model's prefixes for questions and passages."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ragkit.errors import ModelUnsuitableError, OllamaAnswerError
from ragkit.models.base import to_unit_length
from ragkit.models.ollama import OllamaClient
from ragkit.models.ollama_text import ModelInfo
from ragkit.models.prefixes import prefixes_of

SAME_MODEL_SECONDS = 30.0
"""How often it is checked that the model has not been replaced."""

_RECIPE = "1"
_PROBE = "ragkit"


class OllamaEmbedder:
    """Embeds with a model of Ollama's. Safe between threads."""

    def __init__(
        self,
        client: OllamaClient,
        info: ModelInfo,
        dimensions: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Keep a model that exists and the length of its vectors."""
        self.name = f"ollama:{info.name}"
        self.dimensions = dimensions
        self.prefixes = prefixes_of(info.name)
        self._client = client
        self._info = info
        self._clock = clock
        self._checked = clock()
        parts = (
            _RECIPE,
            info.name,
            info.digest,
            self.prefixes.query,
            self.prefixes.passage,
            str(dimensions),
        )
        digest = hashlib.blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()
        self.fingerprint = f"ollama-{dimensions}-{digest}"

    @classmethod
    def open(cls, client: OllamaClient, model: str) -> OllamaEmbedder:
        """Find the model and embed one word with it, to see that it works.

        Raises:
            OllamaError: Ollama does not answer, or the model is missing or cannot embed.
        """
        info = client.model(model, fresh=True)
        if not info.embeds:
            client.check_known(info.name)
            raise ModelUnsuitableError(
                f'The model "{info.name}" is not an embedding model.',
                "Choose an embedding model, such as embeddinggemma or nomic-embed-text.",
            )
        probe = client.embed([prefixes_of(info.name).passage + _PROBE], info.name)
        return cls(client, info, int(probe.shape[1]))

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts to be searched, (n, d): unit rows, or zeros for a text of white space.

        Raises:
            OllamaError: there are no usable vectors of this model.
        """
        return self._embed(texts, self.prefixes.passage)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed questions, (n, d): unit rows, or zeros for white space.

        Raises:
            OllamaError: there are no usable vectors within the time for a question.
        """
        return self._embed(texts, self.prefixes.query, patient=False)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _embed(
        self, texts: Sequence[str], prefix: str, *, patient: bool = True
    ) -> NDArray[np.float32]:
        self._check_unchanged()
        prefixed = [prefix + text if text and not text.isspace() else "" for text in texts]
        if not any(prefixed):
            return np.zeros((len(texts), self.dimensions), dtype=np.float32)
        vectors = self._client.embed(prefixed, self._info.name, patient=patient)
        if vectors.shape[1] != self.dimensions:
            raise OllamaAnswerError(
                f'"{self._info.name}" returned vectors of {vectors.shape[1]} dimensions instead of '
                f"{self.dimensions}.",
                "Choose the model again to re-embed everything.",
            )
        return to_unit_length(vectors)

    def _check_unchanged(self) -> None:
        """Check that the model was not replaced: vectors of two models must not mix."""
        now = self._clock()
        if now - self._checked < SAME_MODEL_SECONDS:
            return
        if self._client.model(self._info.name, fresh=True).digest != self._info.digest:
            raise ModelUnsuitableError(
                f'Ollama\'s model "{self._info.name}" was replaced by another version.',
                "Choose it again to re-embed everything.",
            )
        self._checked = now
