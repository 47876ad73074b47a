"""Pieces of an answer in OpenAI's form: as chunks of a stream, or as one object."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ragkit.surfaces.http.openai.answering import End, Piece, Usage
from ragkit.surfaces.http.openai.errors import Problem

LAST = b"data: [DONE]\n\n"
BEAT = b": the answer is on its way\n\n"
"""A comment, which clients ignore and which keeps the connection open."""


def as_bytes(value: object) -> bytes:
    """Return a value as JSON; lone surrogates become question marks."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")


def as_event(value: object) -> bytes:
    """Return a value as a server-sent event."""
    return b"data: " + as_bytes(value) + b"\n\n"


@dataclass(slots=True)
class Completion:
    """One answer in OpenAI's form. ``usage`` says whether a stream ends with token counts."""

    model: str
    usage: bool = False
    id: str = field(default_factory=lambda: f"chatcmpl-{secrets.token_hex(12)}")
    created: int = field(default_factory=lambda: int(time.time()))
    _text: list[str] = field(default_factory=list)
    _annotations: list[dict[str, Any]] = field(default_factory=list)
    _end: End = field(default_factory=End)

    # -- a stream --------------------------------------------------------------------------

    def opening(self) -> bytes:
        """Return the first chunk, which has the role."""
        return self._chunk({"role": "assistant", "content": ""})

    def chunks(self, piece: Piece) -> Iterator[bytes]:
        """Yield the chunks of a piece in a stream."""
        if piece.cited is not None:
            # In one chunk, so that Open WebUI takes event and annotation for the same source.
            annotations = [piece.cited.as_annotation(piece.start)]
            yield self._chunk({"annotations": annotations}, event=piece.cited.as_event())
        if piece.text:
            yield self._chunk({"content": piece.text})
        if piece.end is not None:
            yield self._chunk({}, _reason(piece.end))
            if self.usage:
                usage = {"usage": _usage(piece.end.usage)}
                yield as_event({**self._head("chat.completion.chunk"), "choices": [], **usage})
            yield LAST

    def broken(self, problem: Problem) -> bytes:
        """Return the end of a stream that failed."""
        return as_event(problem.as_json()) + LAST

    def _chunk(self, delta: dict[str, Any], reason: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        usage = {"usage": None} if self.usage else {}
        head = self._head("chat.completion.chunk")
        return as_event({**head, "choices": [choice], **usage, **more})

    # -- one object ------------------------------------------------------------------------

    def add(self, piece: Piece) -> None:
        """Add the next piece of an answer that is sent as one object."""
        self._text += [piece.text] if piece.text else []
        if piece.cited is not None:
            self._annotations.append(piece.cited.as_annotation(piece.start))
        self._end = piece.end or self._end

    def whole(self) -> dict[str, Any]:
        """Return the answer as one object."""
        message = {
            "role": "assistant",
            "content": "".join(self._text),
            "refusal": None,
            "annotations": self._annotations,
        }
        reason = _reason(self._end)
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reason}
        head, usage = self._head("chat.completion"), _usage(self._end.usage)
        return {**head, "choices": [choice], "usage": usage}

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}


def _reason(end: End) -> str:
    return "length" if end.cut else "stop"


def _usage(usage: Usage) -> dict[str, Any]:
    """Return token counts; ``estimated`` is an extension of ragkit's."""
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.output,
        "total_tokens": usage.prompt + usage.output,
        "estimated": usage.estimated,
    }
