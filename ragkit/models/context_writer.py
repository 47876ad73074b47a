"""Writes contexts, which situate a chunk in its document, with a model, and checks them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from ragkit.errors import ModelMissingError
from ragkit.models.context_checks import (
    WrittenContext,
    WrittenSummary,
    checked_context,
    checked_summary,
)
from ragkit.models.context_prompt import (
    CONTEXT_KINDS,
    ContextRequest,
    Prompt,
    PromptKind,
    answer_schema,
    build_messages,
    build_summary_messages,
    prompt_of,
    wants_summary,
)
from ragkit.models.ollama import OllamaClient
from ragkit.models.ollama_text import ModelInfo, one_line

_LARGEST_CHOICE = 6_000_000_000
_FOR_OTHER_THINGS = re.compile(r"cod(?:er|e)\b|guard|ocr|math|vision|embed|-vl|llava|r1|qwq", re.I)
_LATER_TEMPERATURE = 0.4
_NO_PROMPTS: Mapping[str, str] = MappingProxyType({})


def choose_model(models: Iterable[ModelInfo], name: str = "") -> ModelInfo | None:
    """Return the model of that name; without a name, the best for contexts on this machine.

    That is the largest general one under 6 GB that answers at once, or else the smallest.
    """
    local = [model for model in models if model.writes and not model.remote]
    if name:
        names = (name, f"{name}:latest")
        return next((model for model in local if model.name in names), None)

    def rank(model: ModelInfo) -> tuple[bool, bool, bool, int, str]:
        large = model.size > _LARGEST_CHOICE
        special = bool(_FOR_OTHER_THINGS.search(model.name))
        thinks = "thinking" in model.capabilities
        return (special, large, thinks, model.size if large else -model.size, model.name)

    return min(local, key=rank, default=None)


def writing_model(client: OllamaClient, name: str = "") -> ModelInfo:
    """Return the model of that name; without a name, the best for writing.

    Raises:
        OllamaError: Ollama does not answer, does not say what it has, or has no such model.
    """
    model = client.model(name) if name else choose_model(client.models())
    if model is None or not model.writes:
        client.check_known(model.name if model else "")
        which = f' "{one_line(name, 80)}" that writes text' if name else " that writes text"
        raise ModelMissingError(
            f"Ollama has no model{which}.", "Download one, for example: ollama pull llama3.2:3b."
        )
    return model


@dataclass(frozen=True, slots=True)
class ContextWriter:
    """Writes contexts with one model and a prompt for each kind. Safe between threads."""

    client: OllamaClient
    model: str
    prompts: Mapping[PromptKind, Prompt]

    @classmethod
    def open(
        cls, client: OllamaClient, model: str = "", own: Mapping[str, str] = _NO_PROMPTS
    ) -> ContextWriter:
        """Choose the model of that name, or without one the best that is there.

        ``own`` holds the prompts that a person wrote, by kind.

        Raises:
            OllamaError: Ollama does not answer, or has no such model.
            SettingsError: a prompt is wrong.
        """
        kinds: tuple[PromptKind, ...] = (*CONTEXT_KINDS, "summary")
        prompts = {kind: prompt_of(kind, own.get(kind, "")) for kind in kinds}
        return cls(client, writing_model(client, model).name, prompts)

    def prompt_hash(self, kind: PromptKind) -> str:
        """Return the hash of the prompt that is used for a kind."""
        return self.prompts[kind].hash

    def write(self, request: ContextRequest, attempt: int = 0) -> WrittenContext:
        """Write the context of one chunk.

        The first attempt (0) always asks the same; each later one lets the model vary.

        Raises:
            ContextRejectedError: what it wrote cannot be used.
            OllamaError: it wrote nothing; ``concerns_all`` says whether to go on with other chunks.
        """
        prompt = self.prompts[request.kind]
        reply = self.client.chat(
            build_messages(request, prompt, self.client.room(self.model)),
            self.model,
            schema=answer_schema(request.kind),
            temperature=_LATER_TEMPERATURE if attempt else 0.0,
            seed=attempt,
        )
        written = checked_context(reply.data or {}, request, any_language=prompt.own)
        return replace(
            written,
            tokens=reply.prompt_tokens + reply.output_tokens,
            seconds=reply.seconds,
            truncated=reply.truncated,
        )

    def summarise(self, request: ContextRequest, attempt: int = 0) -> WrittenSummary | None:
        """Summarise the document of a request; ``None`` where its prompt can show all of it.

        Attempts are those of ``write``.

        Raises:
            ContextRejectedError: what it wrote cannot be used.
            OllamaError: it wrote nothing; ``concerns_all`` says whether to go on with others.
        """
        room = self.client.room(self.model)
        if not wants_summary(request, self.prompts[request.kind], room):
            return None
        prompt = self.prompts["summary"]
        reply = self.client.chat(
            build_summary_messages(request, prompt, room),
            self.model,
            schema=answer_schema("summary"),
            temperature=_LATER_TEMPERATURE if attempt else 0.0,
            seed=attempt,
        )
        text = checked_summary(reply.data or {}, request, any_language=prompt.own)
        return WrittenSummary(text, reply.prompt_tokens + reply.output_tokens, reply.seconds)
