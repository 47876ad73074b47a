"""From the settings to an embedder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragkit.errors import SettingsError

if TYPE_CHECKING:
    from ragkit.models.base import Embedder
    from ragkit.settings import ModelSettings

EMBEDDERS = ("wordllama", "hash", "ollama:MODEL")
"""What ``models.embedder`` may be."""


def open_embedder(settings: ModelSettings) -> Embedder:
    """Open the embedder that the settings name.

    Raises:
        SettingsError: there is no such embedder.
        ModelError: its files cannot be read, or Ollama cannot embed with it now.
    """
    if settings.embedder == "wordllama":
        from ragkit.models.wordllama import WordLlamaEmbedder

        return WordLlamaEmbedder.open()
    if settings.embedder == "hash":
        from ragkit.models.hashing import HashEmbedder

        return HashEmbedder()
    if settings.embedder.startswith("ollama:"):
        return _open_ollama(settings, settings.embedder.removeprefix("ollama:"))
    raise SettingsError(
        f'There is no embedder called "{settings.embedder}".',
        f"Set models.embedder to one of: {', '.join(EMBEDDERS)}.",
    )


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
