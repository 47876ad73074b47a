"""From the settings, or from a name, to an embedder."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ragkit.errors import SettingsError

if TYPE_CHECKING:
    from ragkit.models.base import Embedder
    from ragkit.settings import ModelSettings

EMBEDDERS = ("wordllama", "hash", "ollama:MODEL")
"""What ``models.embedder`` may be."""

BUILT_IN = "wordllama"
"""The embedder that is always there."""

OLLAMA = "ollama:"
"""What stands before the name of a model of Ollama's."""

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
    raise SettingsError(
        f'There is no embedder called "{name}".',
        f"Name one of: {', '.join(EMBEDDERS)}.",
    )


def open_known(name: str, fingerprint: str, dimensions: int, settings: ModelSettings) -> Embedder:
    """Give the embedder that made vectors here; it is asked, and Ollama found, only when needed.

    What it raises when it is asked says why it cannot answer. Nothing is tried twice.
    """
    if name in EMBEDDERS:
        opened = open_named(name, settings)
        if opened.fingerprint == fingerprint:
            return opened
    from ragkit.models.lazy import LazyEmbedder

    once = settings.model_copy(update={"retries": 0, "rest_seconds": _QUESTION_REST_SECONDS})
    return LazyEmbedder(name, fingerprint, dimensions, lambda: open_named(name, once))


def is_remote(name: str) -> bool:
    """Whether an embedder of that name asks a server, which may be slow or away."""
    return name.startswith(OLLAMA)


def full_name(name: str) -> str:
    """An embedder's name as it calls itself: of models of Ollama's with their tag."""
    name = name.strip()
    if not is_remote(name) or ":" in name.removeprefix(OLLAMA).rsplit("/", 1)[-1]:
        return name
    return f"{name}:latest"


@cache
def local_embedder() -> Embedder:
    """The built-in embedder, opened once for the whole process.

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
            "models.embedder names no model of Ollama's.",
            "Set it to something like ollama:embeddinggemma.",
        )
    client = OllamaClient(settings)
    try:
        return OllamaEmbedder.open(client, model)
    except BaseException:
        client.close()
        raise
