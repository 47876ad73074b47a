"""Embedders by name: opened at once, or when they are first used."""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING

from ragkit.errors import ModelUnsuitableError, SettingsError
from ragkit.models.base import BUILT_IN, EMBEDDERS, FOLDER, OLLAMA

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ragkit.models.base import Embedder
    from ragkit.models.wordllama import WordLlamaEmbedder
    from ragkit.settings import ModelSettings

_QUESTION_REST_SECONDS = 2.0


def open_embedder(settings: ModelSettings) -> Embedder:
    """Open the embedder that the settings name.

    Raises:
        SettingsError: there is no such embedder.
        ModelError: its files cannot be read, or Ollama cannot embed with it now.
    """
    return open_named(settings.embedder, settings)


def open_named(name: str, settings: ModelSettings) -> Embedder:
    """Open an embedder by its name.

    Raises:
        SettingsError: there is no such embedder.
        ModelError: its files cannot be read, or Ollama cannot embed with it now.
    """
    if name == BUILT_IN:
        return local_embedder()
    if name == "hash":
        from ragkit.models.hashing import HashEmbedder

        return HashEmbedder()
    if is_remote(name):
        return _open_ollama(settings, name.removeprefix(OLLAMA))
    if name.startswith(FOLDER):
        from ragkit.models.folder_embedder import open_folder_embedder

        return open_folder_embedder(name)
    raise SettingsError(
        f'Unknown embedding model: "{name}".',
        f"Available: {', '.join(EMBEDDERS)}.",
    )


def open_known(
    name: str,
    fingerprint: str,
    dimensions: int,
    settings: ModelSettings,
    name_now: Callable[[], str] | None = None,
) -> Embedder:
    """Return the embedder that made the vectors of a library, opened only when it is first used.

    An error that it raises then says why. Nothing is retried. ``name_now`` returns the name that
    it has by then: a folder may have been moved.
    """
    if name in EMBEDDERS:
        opened = open_named(name, settings)
        if opened.fingerprint == fingerprint:
            return opened
    once = settings.model_copy(update={"retries": 0, "rest_seconds": _QUESTION_REST_SECONDS})
    return LazyEmbedder(
        name, fingerprint, dimensions, lambda: open_named(name_now() if name_now else name, once)
    )


def is_remote(name: str) -> bool:
    """Return whether an embedder of that name asks a server, which may be slow or away."""
    return name.startswith(OLLAMA)


def is_brought(name: str) -> bool:
    """Return whether an embedder of that name is not one of ragkit's own.

    It may be away, and slow; how its cosines lie is not known.
    """
    return name.startswith((OLLAMA, FOLDER))


def full_name(name: str) -> str:
    """Return an embedder's name as it calls itself: with its tag, or with its whole path."""
    name = name.strip()
    if name.startswith(FOLDER):
        from ragkit.models.model_folder import folder_name

        return folder_name(name)
    if not is_remote(name):
        return name
    from ragkit.models.ollama_text import with_tag

    return OLLAMA + with_tag(name.removeprefix(OLLAMA))


@cache
def local_embedder() -> WordLlamaEmbedder:
    """Return the built-in embedder, opened once for the whole process.

    Raises:
        ModelError: its files cannot be read.
    """
    from ragkit.models.wordllama import WordLlamaEmbedder

    return WordLlamaEmbedder.open()


def _open_ollama(settings: ModelSettings, model: str) -> Embedder:
    from ragkit.models.ollama import OllamaClient
    from ragkit.models.ollama_embedder import OllamaEmbedder

    if not model.strip():
        raise SettingsError(
            "models.embedder does not name an Ollama model.",
            "Set it to something like ollama:embeddinggemma.",
        )
    client = OllamaClient(settings)
    try:
        return OllamaEmbedder.open(client, model)
    except BaseException:
        client.close()
        raise


class LazyEmbedder:
    """Stands for an embedder whose name, fingerprint and dimensions are known.

    Its vectors are those of that fingerprint or none: a model that was replaced is not asked.
    Safe between threads.
    """

    def __init__(
        self, name: str, fingerprint: str, dimensions: int, open_: Callable[[], Embedder]
    ) -> None:
        """Keep the values; nothing is opened before the first text."""
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

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed questions, (n, d).

        Raises:
            RagkitError: it cannot be opened, or is another one than it was.
        """
        return self._inner().embed_queries(texts)

    def _inner(self) -> Embedder:
        with self._guard:
            if self._opened is None:
                opened = self._open()
                check_unchanged(opened, self.name, self.fingerprint)
                self._opened = opened
            return self._opened


def check_unchanged(opened: Embedder, name: str, fingerprint: str) -> None:
    """Check that an embedder is the one that made the vectors of that fingerprint.

    Raises:
        ModelUnsuitableError: it is another version.
    """
    if opened.fingerprint != fingerprint:
        raise ModelUnsuitableError(
            f"{name} is another version than the one that made this library's vectors.",
            f"Run ragkit embedder {name} to re-embed everything.",
        )


def is_lazy(embedder: Embedder) -> bool:
    """Return whether its vectors are made in the background, not while documents are read."""
    return isinstance(embedder, LazyEmbedder)
