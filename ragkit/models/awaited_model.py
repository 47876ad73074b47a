"""A model of Ollama's that a search waits for: asked once, and soon left alone when it fails."""

from __future__ import annotations

from collections.abc import Callable

from ragkit.models.context_writer import writing_model
from ragkit.models.ollama import OllamaClient
from ragkit.settings import ModelSettings

_FAILURES, _REST_SECONDS = 2, 10.0


class AwaitedModel:
    """The client and the model that is chosen or, without a choice, the best that is there.

    Nothing is connected before the first question, and nothing tried twice.
    """

    def __init__(self, settings: ModelSettings, chosen_model: Callable[[], str]) -> None:
        """Keep the settings, and a function that returns the chosen model, or an empty string.

        Raises:
            SettingsError: Ollama's address is none, or another machine's without leave.
        """
        once = {"retries": 0, "rest_after": _FAILURES, "rest_seconds": _REST_SECONDS}
        self.client = OllamaClient(settings.model_copy(update=once))
        self.chosen = chosen_model
        self._last = ""

    @property
    def name(self) -> str:
        """The chosen model, or else the last used."""
        return self.chosen() or self._last

    def take(self, chosen: str) -> str:
        """Return the name of the model to ask, the best that is there where ``chosen`` is empty.

        Raises:
            OllamaError: Ollama does not answer, or has no such model.
        """
        self._last = writing_model(self.client, chosen).name
        return self._last
