"""The models that an Ollama server has, and what each can do."""

from __future__ import annotations

import logging
import re
from typing import Any

from ragkit.errors import (
    ModelMissingError,
    ModelUnsuitableError,
    OllamaAnswerError,
    OllamaError,
    OllamaServerError,
)
from ragkit.models.ollama_errors import missing, not_ollama
from ragkit.models.ollama_text import Health, JsonObject, ModelInfo, one_line, with_tag
from ragkit.models.ollama_wire import QUICK_SECONDS, OllamaWire
from ragkit.settings import ModelSettings

logger = logging.getLogger(__name__)

OLDEST_VERSION = (0, 5)
"""The first version that keeps to a JSON schema."""

_RUNS_ELSEWHERE = re.compile(r"[-:]cloud$")
_POSSIBLE_NAME = re.compile(r"[\w][\w.:/-]{0,200}")


class OllamaModels:
    """Lists models and remembers them; safe between threads."""

    def __init__(self, wire: OllamaWire, url: str, settings: ModelSettings) -> None:
        self._wire = wire
        self._url = url
        self._settings = settings
        self._shown: dict[tuple[str, str], ModelInfo] = {}
        self._known: dict[str, ModelInfo] = {}

    def health(self) -> Health:
        """Return within about three seconds whether Ollama answers; never raises."""
        try:
            version = self._wire.get("/api/version").get("version")
            if not isinstance(version, str):
                raise not_ollama(self._url)
            models = tuple(model.name for model in self.listed())
        except OllamaError as error:
            return Health(False, "", (), error.message, error.cure)
        self._wire.breaker.answered()
        count = "1 model" if len(models) == 1 else f"{len(models)} models"
        sentence = f"Ollama {one_line(version, 30)} answers with {count}."
        if _version(version) < OLDEST_VERSION:
            oldest = ".".join(str(part) for part in OLDEST_VERSION)
            return Health(True, version, models, sentence, f"Update Ollama to {oldest} or later.")
        cure = "" if models else "Get a model, for example with: ollama pull llama3.2:3b."
        return Health(True, version, models, sentence, cure)

    def listed(self) -> list[ModelInfo]:
        """List the models at one try, without what they can do.

        Raises:
            OllamaError: they cannot be listed.
        """
        entries = self._wire.get("/api/tags").get("models") or []
        if not isinstance(entries, list):
            raise not_ollama(self._url)
        return [_listed(entry) for entry in entries if isinstance(entry, dict)]

    def all(self) -> tuple[ModelInfo, ...]:
        """List the models by name; what they can do is asked for once.

        Raises:
            OllamaError: they cannot be listed.
        """
        models = []
        for listed in self._wire.again(self.listed):
            key = (listed.name, listed.digest)
            if key not in self._shown:
                try:
                    self._shown[key] = self._show(listed)
                except (ModelMissingError, OllamaAnswerError, OllamaServerError) as error:
                    logger.warning("What %s can do is not known: %s", listed.name, error)
                    models.append(listed)
                    continue
            models.append(self._shown[key])
        self._known = {model.name: model for model in models}
        return tuple(sorted(models, key=lambda model: model.name))

    def find(self, name: str, *, fresh: bool = False) -> ModelInfo:
        """Find a model; the answer is remembered unless it is to be ``fresh``.

        Raises:
            ModelMissingError: Ollama does not have it.
            ModelUnsuitableError: it runs elsewhere, and that is not allowed.
        """
        full = with_tag(name)
        if fresh or full not in self._known:
            self.all()
        info = self._known.get(full)
        if info is None:
            raise missing(name)
        if (info.remote or _RUNS_ELSEWHERE.search(full)) and not self._settings.allow_remote:
            raise ModelUnsuitableError(
                f'The model "{one_line(name)}" runs on another machine: '
                "your texts would leave this one.",
                "Choose a local model, or set models.allow_remote to true.",
            )
        return info

    def check_name(self, name: str) -> None:
        """Make sure that a name may be downloaded.

        Raises:
            ModelUnsuitableError: it is no name, or that of a model that runs elsewhere.
        """
        elsewhere = _RUNS_ELSEWHERE.search(name) and not self._settings.allow_remote
        if not _POSSIBLE_NAME.fullmatch(name) or ".." in name or elsewhere:
            raise ModelUnsuitableError(
                f'"{one_line(name, 80)}" is not the name of a local model.',
                "Give a name such as llama3.2:3b.",
            )

    def forget(self) -> None:
        """Clear the cached list, so that Ollama is asked again."""
        self._known = {}

    def _show(self, listed: ModelInfo) -> ModelInfo:
        """Return a model with its capabilities, as Ollama reports them."""
        client = self._wire.client(QUICK_SECONDS)
        shown = self._wire.again(lambda: client.show(listed.name), listed.name)
        details = shown.modelinfo or {}
        capabilities = tuple(shown.capabilities or ())
        if not capabilities:
            embeds = any(key.endswith("pooling_type") for key in details)
            capabilities = ("embedding",) if embeds else ("completion",)
        return ModelInfo(
            name=listed.name,
            capabilities=capabilities,
            context_length=_number(details, ".context_length"),
            dimensions=_number(details, ".embedding_length"),
            size=listed.size,
            digest=listed.digest,
            remote=listed.remote,
        )


def _listed(entry: JsonObject) -> ModelInfo:
    return ModelInfo(
        name=str(entry.get("model") or entry.get("name") or ""),
        size=int(entry.get("size") or 0),
        digest=str(entry.get("digest") or ""),
        remote=bool(entry.get("remote_host") or entry.get("remote_model")),
    )


def _number(details: Any, ending: str) -> int:
    """Find a figure whose name begins with the model's architecture."""
    for key, value in details.items():
        if str(key).endswith(ending) and isinstance(value, int | float) and value > 0:
            return int(value)
    return 0


def _version(text: str) -> tuple[int, ...]:
    """Read the leading numbers of a version; an unreadable one counts as new."""
    numbers = re.match(r"(\d+)\.(\d+)", text)
    return (int(numbers[1]), int(numbers[2])) if numbers else OLDEST_VERSION
