"""Vectors of queries within a time limit: an embedder that is away never holds up a search."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ragkit.errors import RagkitError
from ragkit.models.base import Embedder, embed_queries
from ragkit.models.factory import is_remote

logger = logging.getLogger(__name__)

LONGEST_WAIT = 2.5
"""Seconds that a search waits for a server that answered when it was last asked."""

LONGEST_WAIT_IN_TROUBLE = 0.3
"""Seconds that a search waits for one that did not."""

Vectors = Sequence[NDArray[np.float32] | None]


@dataclass
class _Request:
    """Texts that are being embedded in a thread of their own."""

    done: threading.Event = field(default_factory=threading.Event)
    vectors: NDArray[np.float32] | None = None
    trouble: str = ""


class QueryEmbedder:
    """Embeds queries. Safe to share between threads.

    A server is asked in a thread, so that a search can go on without it: the first that waits in
    vain waits ``longest`` seconds, those after it not at all while that call is under way, and
    ``LONGEST_WAIT_IN_TROUBLE`` afterwards, until the server answers again.
    """

    def __init__(self, embedder: Embedder, longest: float = LONGEST_WAIT) -> None:
        self._embedder = embedder
        self._longest = longest
        self._guard = threading.Lock()
        self._trouble = ""
        self._latest: _Request | None = None

    def embed(self, texts: Sequence[str]) -> tuple[Vectors, str]:
        """Return the vector of each text, (d,), and nothing; or none, and a sentence on why."""
        if not is_remote(self._embedder.name):
            return self._in_process(texts)
        with self._guard:
            latest, trouble = self._latest, self._trouble
            if trouble and latest is not None and not latest.done.is_set():
                return [None] * len(texts), trouble
            self._latest = current = _Request()
        thread = threading.Thread(
            target=self._request, args=(current, list(texts)), name="ragkit-question", daemon=True
        )
        thread.start()
        waited = LONGEST_WAIT_IN_TROUBLE if trouble else self._longest
        if not current.done.wait(waited):
            with self._guard:
                # Whoever asks while this call is under way gets no vector, and this sentence.
                self._trouble = trouble = trouble or _notice(
                    f"Ollama has not answered within {waited:g} s."
                )
            return [None] * len(texts), trouble
        if current.vectors is None:
            return [None] * len(texts), current.trouble
        return list(current.vectors), ""

    def _in_process(self, texts: Sequence[str]) -> tuple[Vectors, str]:
        try:
            return list(embed_queries(self._embedder, texts)), ""
        except RagkitError as error:
            return [None] * len(texts), _notice(str(error))

    def _request(self, current: _Request, texts: list[str]) -> None:
        try:
            vectors = embed_queries(self._embedder, texts)
            if vectors.shape == (len(texts), self._embedder.dimensions):
                current.vectors = vectors
            else:
                current.trouble = _notice(f"{self._embedder.name} gave vectors of another length.")
        except RagkitError as error:
            current.trouble = _notice(str(error))
        except Exception:
            logger.exception("a question could not be embedded")
            current.trouble = _notice("Something unexpected happened; the log says what.")
        with self._guard:
            self._trouble = current.trouble
            current.done.set()


def _notice(why: str) -> str:
    return f"These results are by words alone: {why}"
