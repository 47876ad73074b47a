"""How like sentences and words are, by the vectors of an embedder that is quick."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ragkit.models.base import Embedder

Floats = NDArray[np.float32]

_MOST_WORDS = 8_000


class Meaning:
    """Vectors of sentences and of single words, which are remembered. Safe between threads."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._words: dict[str, Floats] = {}

    def sentences(self, texts: Sequence[str]) -> Floats:
        """Return the vectors of sentences, (n, d)."""
        return self._embedder.embed_passages(texts)

    def question(self, text: str) -> Floats:
        """Return the vector of a question, (d,)."""
        vector: Floats = self._embedder.embed_queries([text])[0]
        return vector

    def words(self, words: Sequence[str]) -> Floats:
        """Return the vectors of words, (n, d)."""
        vectors = self._words
        new = [word for word in dict.fromkeys(words) if word not in vectors]
        if len(vectors) + len(new) > _MOST_WORDS:
            # Another thread may still use the earlier ones.
            vectors = {word: vectors[word] for word in words if word in vectors}
        if new:
            vectors = {**vectors, **dict(zip(new, self._embedder.embed_passages(new), strict=True))}
        self._words = vectors
        if not words:
            return np.zeros((0, self._embedder.dimensions), np.float32)
        return np.stack([vectors[word] for word in words])
