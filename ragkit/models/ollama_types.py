"""Values that Ollama's client takes and returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypedDict


class Message(TypedDict):
    """One turn of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


JsonObject: TypeAlias = dict[str, Any]
"""A decoded JSON object, or a JSON schema."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """One model that Ollama has.

    ``capabilities`` are Ollama's words: "completion", "embedding", "thinking", "vision", "tools".
    ``context_length`` counts tokens and is 0 when unknown, as is ``dimensions`` of its vectors.
    ``size`` is in bytes. A ``remote`` model runs on another machine.
    """

    name: str
    capabilities: tuple[str, ...] = ()
    context_length: int = 0
    dimensions: int = 0
    size: int = 0
    digest: str = ""
    remote: bool = False

    @property
    def writes(self) -> bool:
        """Whether it can write text."""
        return "completion" in self.capabilities

    @property
    def embeds(self) -> bool:
        """Whether it can embed text."""
        return "embedding" in self.capabilities


@dataclass(frozen=True, slots=True)
class Health:
    """Whether Ollama answers, in a sentence for the person and, if it does not, a cure."""

    reachable: bool
    version: str
    models: tuple[str, ...]
    sentence: str
    cure: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """A finished answer.

    ``data`` is the decoded object when a schema was given. ``truncated`` says that the server read
    less of the prompt than it was sent; ``done_reason`` is "length" when the answer was cut.
    """

    text: str
    data: Mapping[str, Any] | None
    prompt_tokens: int
    output_tokens: int
    seconds: float
    truncated: bool
    done_reason: str


@dataclass(frozen=True, slots=True)
class PullProgress:
    """How far a download is, in bytes; ``total`` is 0 while unknown."""

    status: str
    done: int
    total: int
