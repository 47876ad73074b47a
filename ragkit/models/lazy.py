"""An embedder that is known from what it made, and opened only when it is asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ragkit.errors import ModelUnsuitableError
from ragkit.models.base import Embedder, embed_queries

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class LazyEmbedder:
    """Stands for an embedder of which name, fingerprint and dimensions are known.

    Its vectors are those of that fingerprint or none: a model that was replaced is not asked.
    Safe between threads.
    """

    def __init__(
        self, name: str, fingerprint: str, dimensions: int, open_: Callable[[], Embedder]
    ) -> None:
        """Keep what is known; nothing is opened before the first text."""
        self.name = name
        self.fingerprint = fingerprint
        self.dimensions = dimensions
        self._open = open_
        self._opened: Embedder | None = None
        self._guard = threading.Lock()

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts to be searched, (n, d).

        Raises:
            RagkitError: it cannot be opened, or is another one than it was.
        """
        return self._inner().embed_passages(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a question, (d,).

        Raises:
            RagkitError: it cannot be opened, or is another one than it was.
        """
        return self._inner().embed_query(text)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed several questions together, (n, d).

        Raises:
            RagkitError: it cannot be opened, or is another one than it was.
        """
        return embed_queries(self._inner(), texts)

    def _inner(self) -> Embedder:
        with self._guard:
            if self._opened is None:
                opened = self._open()
                check_unchanged(opened, self.name, self.fingerprint)
                self._opened = opened
            return self._opened


def check_unchanged(opened: Embedder, name: str, fingerprint: str) -> None:
    """Make sure that an embedder is the one that made the vectors of that fingerprint.

    Raises:
        ModelUnsuitableError: it is another version.
    """
    if opened.fingerprint != fingerprint:
        raise ModelUnsuitableError(
            f"{name} is another version than the one that made the vectors here.",
            f"Choose it again, so that everything is embedded anew: ragkit embedder {name}.",
        )


def is_lazy(embedder: Embedder) -> bool:
    """Whether its vectors are made in the background, and not while documents are read."""
    return isinstance(embedder, LazyEmbedder)
