"""A tiny embedder without a model, for tests and demonstrations."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ragkit.models.base import to_unit_length

_WORD = re.compile(r"\w+")


class HashEmbedder:
    """Adds up one pseudo-random vector a word: texts with common words are close.

    The same on every machine and in every process.
    """

    name = "hash"

    def __init__(self, dimensions: int = 32) -> None:
        """Make vectors of that length."""
        self.dimensions = dimensions
        self.fingerprint = f"hash-1-{dimensions}"

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts to be searched, (n, d): unit rows, or zeros for a text without words."""
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in _WORD.findall(text.casefold()):
                rows[row] += self._word(word)
        return to_unit_length(rows)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed questions, (n, d), just as passages."""
        return self.embed_passages(texts)

    def _word(self, word: str) -> NDArray[np.float32]:
        """Return a vector of signs drawn from the word's hash."""
        key = word.encode("utf-8", "surrogatepass")
        stream = hashlib.shake_128(key).digest((self.dimensions + 7) // 8)
        bits = np.unpackbits(np.frombuffer(stream, dtype=np.uint8))[: self.dimensions]
        return bits.astype(np.float32) * 2 - 1
