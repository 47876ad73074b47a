"""From the settings to an embedder."""

from __future__ import annotations

from ragkit.errors import SettingsError
from ragkit.models.base import Embedder
from ragkit.settings import ModelSettings

EMBEDDERS = ("wordllama", "hash")
"""What ``models.embedder`` may be."""


def open_embedder(settings: ModelSettings) -> Embedder:
    """Open the embedder that the settings name.

    Raises:
        SettingsError: there is no such embedder.
        ModelError: its files cannot be read.
    """
    if settings.embedder == "wordllama":
        from ragkit.models.wordllama import WordLlamaEmbedder

        return WordLlamaEmbedder.open()
    if settings.embedder == "hash":
        from ragkit.models.hashing import HashEmbedder

        return HashEmbedder()
    raise SettingsError(
        f'There is no embedder called "{settings.embedder}".',
        f"Set models.embedder to one of: {', '.join(EMBEDDERS)}.",
    )
