"""The protocol of embedders, and how they are named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EMBEDDERS = ("wordllama", "hash", "ollama:MODEL", "folder:PATH")
"""What ``models.embedder`` may be."""

BUILT_IN = "wordllama"
"""The embedder that is always there."""

OLLAMA = "ollama:"
"""The prefix of names of Ollama's models."""

FOLDER = "folder:"
"""The prefix of paths of folders with a model."""


@runtime_checkable
class Embedder(Protocol):
    """Turns text into vectors. May be shared between threads.

    ``fingerprint`` identifies everything that decides a vector: model, weights, pooling,
    prefixes. Vectors of different fingerprints must never meet in one index.
    """

    @property
    def name(self) -> str:
        """What the settings call it."""
        ...

    @property
    def fingerprint(self) -> str:
        """A short hash; equal only when the same text gives the same vector."""
        ...

    @property
    def dimensions(self) -> int:
        """How long each vector is."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts to be searched, (n, d): unit rows, or zeros for a text without content."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed questions, (n, d): unit rows, or zeros for one without content."""
        ...


def to_unit_length(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale each row to length 1; rows of zeros, or with NaN or infinity, become zeros."""
    import numpy as np

    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    usable = np.isfinite(lengths) & (lengths > 1e-12)
    scale = (1.0 / np.where(usable, lengths, 1.0)).astype(np.float32)
    if not usable.all():
        vectors = np.where(usable[:, None], vectors, np.float32(0.0))
    scaled: NDArray[np.float32] = vectors * scale[:, None]
    return scaled
