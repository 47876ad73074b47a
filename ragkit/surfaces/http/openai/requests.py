"""Parsing a client's request.

Fields that would change the meaning of an answer, and are not supported, are refused; others are
ignored, since clients send many (LibreChat a temperature). docs/openai.md lists both.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from ragkit.errors import RagkitError
from ragkit.models.ollama_text import Message, one_line, sendable

LARGEST_BODY = 4_000_000
"""Bytes of a request."""

PREFIX, WITH_LIST = "ragkit/", "ragkit-sources/"
"""Prefixes of model names, before the collection's name; the second adds a list of sources."""

_TASK = "### Task:"
_ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "",
    "function": "",
}
_TEXTS = ("text", "input_text", "refusal")


class RequestError(RagkitError):
    """A request that cannot be answered; ``param`` is the invalid field."""

    def __init__(
        self, message: str, cure: str, param: str = "", *, status: int = 400, code: str = ""
    ) -> None:
        super().__init__(message, cure)
        self.param, self.status, self.code = param, status, code


def no_such_model() -> RequestError:
    """Return the error for a model that is no collection."""
    return RequestError(
        "There is no such model.",
        "GET /v1/models lists them: one for each collection.",
        "model",
        status=404,
        code="model_not_found",
    )


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request for an answer.

    ``messages`` are oldest first, and ``asked`` is the index of the question. ``longest`` limits
    the answer, in tokens; ``usage`` says whether a stream should end with token counts.
    """

    model: str
    messages: tuple[Message, ...]
    asked: int
    stream: bool = False
    usage: bool = False
    longest: int | None = None

    @property
    def question(self) -> str:
        """The question."""
        return self.messages[self.asked]["content"]

    @property
    def is_task(self) -> bool:
        """Whether a front end, such as Open WebUI, asks for a title, tags and the like."""
        return self.question.lstrip().startswith(_TASK)

    @property
    def collection(self) -> str:
        """The collection that the model stands for; empty if its name has no known prefix."""
        prefix = next((start for start in (PREFIX, WITH_LIST) if self.model.startswith(start)), "")
        return self.model.removeprefix(prefix) if prefix else ""

    @property
    def lists_sources(self) -> bool:
        """Whether the answer should end with a list of its sources."""
        return self.model.startswith(WITH_LIST)


def read_request(body: bytes) -> ChatRequest:
    """Parse a client's request.

    Raises:
        RequestError: it is not valid, or asks for something unsupported.
    """
    value = _decoded(body)
    model = value.get("model")
    if not isinstance(model, str) or not model:
        raise RequestError("No model is named.", "GET /v1/models lists them.", "model")
    _refuse_what_cannot_be(value)
    messages, asked = _messages(value.get("messages"))
    stream, usage = _flag(value, "stream"), _flag(_stream_options(value), "include_usage")
    return ChatRequest(model, messages, asked, stream, usage, _longest(value))


def _decoded(body: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(body, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        reason = one_line(str(error), 120)
        raise RequestError(
            f"The request is not JSON: {reason}.", "Send one JSON object.", code="invalid_json"
        ) from error
    if not isinstance(value, dict):
        raise RequestError("The request is not a JSON object.", "Send model and messages in one.")
    return value


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON's")


def _refuse_what_cannot_be(value: Mapping[str, Any]) -> None:
    """Refuse unsupported fields that would change the answer."""
    given = value.get
    called, form = "Leave it to the answer: send auto.", given("response_format")
    refused = {
        "n": (given("n") not in (None, 1), "One question has one answer.", "Leave n out."),
        "stop": (bool(given("stop")), "No word ends an answer.", "Send max_tokens instead."),
        "logprobs": (given("logprobs") is True, "Probabilities are not known.", "Leave it out."),
        "tool_choice": (_must_call(given("tool_choice")), "ragkit calls no tool.", called),
        "function_call": (_must_call(given("function_call")), "ragkit calls no function.", called),
        "response_format": (_is_formed(form), "Answers are text.", "Send text."),
    }
    for param, (wrong, message, cure) in refused.items():
        if wrong:
            raise RequestError(message, cure, param, code="unsupported_parameter")


def _must_call(choice: object) -> bool:
    return choice not in (None, "auto", "none")


def _is_formed(form: object) -> bool:
    return form is not None and not (isinstance(form, Mapping) and form.get("type") == "text")


def _stream_options(value: Mapping[str, Any]) -> Mapping[str, Any]:
    options = value.get("stream_options")
    if options is not None and not isinstance(options, Mapping):
        raise RequestError(
            "stream_options is no object.", "Send one, or leave it out.", "stream_options"
        )
    return options or {}


def _flag(value: Mapping[str, Any], name: str) -> bool:
    flag = value.get(name)
    if flag is not None and not isinstance(flag, bool):
        raise RequestError(f"{name} is neither true nor false.", "Send one of them.", name)
    return bool(flag)


def _longest(value: Mapping[str, Any]) -> int | None:
    for name in ("max_completion_tokens", "max_tokens"):
        tokens = value.get(name)
        if tokens is None:
            continue
        if not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < 1:
            raise RequestError(f"{name} is not a whole number above 0.", "Say how many.", name)
        return tokens
    return None


def _messages(value: object) -> tuple[tuple[Message, ...], int]:
    """Return the messages, and the index of the question: the user's last message."""
    if not isinstance(value, list) or not value:
        raise RequestError("There are no messages.", "Send at least one user message.", "messages")
    roles = [_role(message, at) for at, message in enumerate(value)]
    last = max((at for at, role in enumerate(roles) if role == "user"), default=-1)
    messages: list[Message] = []
    asked = 0
    for at, (role, message) in enumerate(zip(roles, value, strict=True)):
        if at == last:
            asked = len(messages)
        if role:
            text = _text(message.get("content"), at, strict=at == last)
            known_role = cast(Literal["system", "user", "assistant"], role)
            messages.append({"role": known_role, "content": text})
    if last < 0 or not messages[asked]["content"].strip():
        raise RequestError("There is no question.", "Send a user message.", "messages")
    return tuple(messages), asked


def _role(message: object, at: int) -> str:
    role = message.get("role") if isinstance(message, Mapping) else None
    if not isinstance(role, str) or role not in _ROLES:
        raise RequestError(
            "A message has no role that is known.",
            f"Roles are {', '.join(_ROLES)}.",
            f"messages[{at}].role",
        )
    return _ROLES[role]


def _text(content: object, at: int, *, strict: bool) -> str:
    """Return a message's text. Other parts are refused if ``strict``, and ignored otherwise.

    Lone surrogates, which clients leave when they cut a text, are replaced.
    """
    param = f"messages[{at}].content"
    if content is None and not strict:
        return ""
    if isinstance(content, str):
        return sendable(content)
    if not isinstance(content, Sequence):
        raise RequestError("A message is no text.", "Send a text, or a list of parts.", param)
    texts = []
    for part in content:
        kind = part.get("type") if isinstance(part, Mapping) else None
        text = part.get(kind if kind == "refusal" else "text") if kind in _TEXTS else None
        if isinstance(text, str):
            texts.append(sendable(text))
        elif strict:
            what = one_line(kind, 40) if isinstance(kind, str) else "nothing that is known"
            raise RequestError(
                f"ragkit reads text, and a part of the message is {what}.",
                "Ask in words, and add files to the library instead.",
                param,
                code="unsupported_content",
            )
    return "\n".join(texts)
