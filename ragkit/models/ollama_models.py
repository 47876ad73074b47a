"""The models that an Ollama server has: what each can do, and downloading them."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any, Self

from ragkit.errors import (
    ModelMissingError,
    ModelUnsuitableError,
    OllamaAnswerError,
    OllamaError,
    OllamaServerError,
)
from ragkit.formatting import plural
from ragkit.models.ollama_errors import broke_off, checked_address, missing, not_ollama
from ragkit.models.ollama_text import (
    Health,
    JsonObject,
    ModelInfo,
    PullProgress,
    one_line,
    with_tag,
)
from ragkit.models.ollama_wire import OllamaWire
from ragkit.settings import ModelSettings

logger = logging.getLogger(__name__)

OLDEST_VERSION = (0, 5)
"""The first version that keeps to a JSON schema."""

_RUNS_ELSEWHERE = re.compile(r"[-:]cloud$")
_POSSIBLE_NAME = re.compile(r"[\w][\w.:/-]{0,200}")


class OllamaModels:
    """Lists, remembers and downloads the models of a server. Safe between threads."""

    def __init__(
        self,
        settings: ModelSettings,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Keep the settings; nothing is connected before the first call.

        Raises:
            SettingsError: the address is none, or another machine's without leave.
        """
        self.url = checked_address(settings.ollama_url, settings.allow_remote)
        self.settings = settings
        self._clock = clock
        self._wire = OllamaWire(self.url, settings, clock, sleep)
        self._shown: dict[tuple[str, str], ModelInfo] = {}
        self._known: dict[str, ModelInfo] = {}
        self._unknown: dict[str, OllamaError] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections; a later call opens new ones."""
        self._wire.close()

    def health(self) -> Health:
        """Return within about three seconds whether Ollama answers; never raises."""
        try:
            version = self._wire.get("/api/version").get("version")
            if not isinstance(version, str):
                raise not_ollama(self.url)
            models = tuple(model.name for model in self._listed())
        except OllamaError as error:
            return Health(False, "", (), error.message, error.cure)
        self._wire.breaker.answered()
        sentence = f"Ollama {one_line(version, 30)} answers with {plural(len(models), 'model')}."
        cure = "" if models else "Download a model, for example: ollama pull llama3.2:3b."
        if _version(version) < OLDEST_VERSION:
            cure = f"Update Ollama to {'.'.join(map(str, OLDEST_VERSION))} or later."
        return Health(True, version, models, sentence, cure)

    def models(self) -> tuple[ModelInfo, ...]:
        """List the models that Ollama has, by name; what they can do is asked for once.

        Raises:
            OllamaError: they cannot be listed.
        """
        models = []
        self._unknown.clear()
        for listed in self._wire.again(self._listed):
            key = (listed.name, listed.digest)
            if key not in self._shown:
                try:
                    self._shown[key] = self._show(listed)
                except (ModelMissingError, OllamaAnswerError, OllamaServerError) as error:
                    logger.warning("What %s can do is not known: %s", listed.name, error)
                    self._unknown[listed.name] = error
                    models.append(listed)
                    continue
            models.append(self._shown[key])
        self._known = {model.name: model for model in models}
        return tuple(sorted(models, key=lambda model: model.name))

    def model(self, name: str, *, fresh: bool = False) -> ModelInfo:
        """Find a model; the answer is remembered unless it is to be ``fresh``.

        Raises:
            ModelMissingError: Ollama does not have it.
            ModelUnsuitableError: it runs elsewhere, and that is not allowed.
        """
        full = with_tag(name)
        if fresh or full not in self._known or full in self._unknown:
            self.models()
        info = self._known.get(full)
        if info is None:
            raise missing(name)
        if (info.remote or _RUNS_ELSEWHERE.search(full)) and not self.settings.allow_remote:
            raise ModelUnsuitableError(
                f'The model "{one_line(name)}" runs on another machine: '
                "your texts would leave this machine.",
                "Choose a local model, or set models.allow_remote to true.",
            )
        return info

    def check_known(self, name: str) -> None:
        """Return when it is known what a model can do, or without a name, what each can.

        Raises:
            OllamaError: what kept Ollama from saying it.
        """
        errors = [error for model, error in self._unknown.items() if name in ("", model)]
        if errors:
            raise errors[0]

    def pull(self, name: str) -> Generator[PullProgress, None, None]:
        """Download a model to Ollama; yield progress until it is there.

        Raises:
            OllamaError: while iterating; what was downloaded is kept for the next try.
        """
        elsewhere = _RUNS_ELSEWHERE.search(name) and not self.settings.allow_remote
        if not _POSSIBLE_NAME.fullmatch(name) or ".." in name or elsewhere:
            raise ModelUnsuitableError(
                f'"{one_line(name, 80)}" is not the name of a local model.',
                "Give a name such as llama3.2:3b.",
            )
        client = self._wire.client(self.settings.pull_seconds)
        status = ""
        for part in self._wire.parts(lambda: client.pull(name, stream=True), name):
            status = part.status or ""
            yield PullProgress(one_line(status, 100), part.completed or 0, part.total or 0)
        if status != "success":
            raise broke_off(self.url)
        self._forget()

    def _forget(self) -> None:
        """Clear the cached list, so that Ollama is asked again."""
        self._known = {}

    def _listed(self) -> list[ModelInfo]:
        """List the models at one try, without what they can do."""
        entries = self._wire.get("/api/tags").get("models") or []
        if not isinstance(entries, list):
            raise not_ollama(self.url)
        return [_listed(entry) for entry in entries if _is_model(entry)]

    def _show(self, listed: ModelInfo) -> ModelInfo:
        """Return a model with its capabilities, as Ollama reports them."""
        client = self._wire.quick_client()
        shown = self._wire.again(lambda: client.show(listed.name), listed.name)
        details = shown.modelinfo or {}
        capabilities = tuple(shown.capabilities or ())
        if not capabilities:
            embeds = any(key.endswith("pooling_type") for key in details)
            capabilities = ("embedding",) if embeds else ("completion",)
        return replace(
            listed,
            capabilities=capabilities,
            context_length=_number(details, ".context_length"),
            dimensions=_number(details, ".embedding_length"),
        )


def _is_model(entry: Any) -> bool:
    """Return whether an entry of a list of models can be used; others may stand beside it."""
    return isinstance(entry, dict) and isinstance(entry.get("model") or entry.get("name"), str)


def _listed(entry: JsonObject) -> ModelInfo:
    size = entry.get("size")
    return ModelInfo(
        name=str(entry.get("model") or entry.get("name")),
        size=size if isinstance(size, int) else 0,
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
