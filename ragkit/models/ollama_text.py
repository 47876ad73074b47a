"""Values that Ollama's client takes and returns, and the texts in them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypedDict

_THINKING = re.compile(r"<(think(?:ing)?)>.*?</\1>", re.S | re.I)
_CLOSING = re.compile(r"</think(?:ing)?>", re.I)
_OPENING = re.compile(r"<think(?:ing)?>", re.I)
_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)\n?```", re.S)
_DENSE = re.compile(r"[\u0e00-\u0fff\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\U0001f000-\U0003ffff]")


def without_thinking(text: str) -> str:
    """Remove a model's thoughts from a text, also where there is only one of the two tags."""
    text = _THINKING.sub("", text)
    closing = list(_CLOSING.finditer(text))
    if closing:
        text = text[closing[-1].end() :]
    opening = _OPENING.search(text)
    return (text[: opening.start()] if opening else text).strip()


def json_object(text: str) -> dict[str, Any]:
    """Decode the object that a model was asked for, also out of a fence or between words.

    Raises:
        ValueError: there is none.
    """
    fenced = _FENCED.search(text)
    first, last = text.find("{"), text.rfind("}")
    for candidate in (text, fenced[1] if fenced else "", text[first : last + 1]):
        try:
            value = json.loads(candidate, strict=False)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return value
    raise ValueError("no JSON object")


def estimate_tokens(text: str) -> int:
    """Return an estimate of the tokens of a text: within a third for most prose."""
    dense = 0 if text.isascii() else len(_DENSE.findall(text))
    words = text.split()
    plain = sum(map(len, words)) + len(words) - 1 - dense
    per_token = 3.8 if text.isascii() else 3.0
    return round(dense * 0.9 + max(plain, 0) / per_token)


def prompt_was_cut(estimated: int, counted: int, window: int) -> bool:
    """Return whether a server read less of a prompt than it was sent; all figures are tokens.

    A ``counted`` of 0 means that the server gave no figure.
    """
    if counted <= 0:
        return estimated > window
    return counted >= window or (estimated > 64 and counted < estimated * 0.5)


def sendable(text: str) -> str:
    """Return a text without NUL and characters that UTF-8 cannot encode."""
    text = text.replace("\0", " ")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def one_line(text: str, most: int = 300) -> str:
    """Return a foreign text on one bounded line, to be quoted in a message."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: most * 4]).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def with_tag(name: str) -> str:
    """Return Ollama's own name for a model that is named without a tag."""
    return name if ":" in name.rsplit("/", 1)[-1] else f"{name}:latest"


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
    less of the prompt than it was sent.
    """

    text: str
    data: Mapping[str, Any] | None
    prompt_tokens: int
    output_tokens: int
    seconds: float
    truncated: bool


@dataclass(frozen=True, slots=True)
class PullProgress:
    """How far a download is, in bytes; ``total`` is 0 while unknown."""

    status: str
    done: int
    total: int
