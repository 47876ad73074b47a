"""Transcripts of agents, in JSON lines or lists: roles, blocks of content, calls of tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragkit.reading.conversations.assistants import NAMES, block_texts, shortened
from ragkit.reading.conversations.message import Message
from ragkit.reading.conversations.timestamps import moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_ROLES = frozenset({"user", "assistant", "human", "system", "developer", "tool", "model"})
_SPOKEN = frozenset({"user", "assistant", "human", "model"})
_CALLS = frozenset({"function_call", "tool_call", "tool_use"})
_RESULTS = frozenset({"function_call_output", "tool_result"})
_ENOUGH = 0.3


def are_turns(objects: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the objects are turns with roles, among others that only keep the books."""
    seen = objects[:50]
    fitting = sum(1 for one in seen if _turns_inside(one))
    return fitting >= max(1, _ENOUGH * len(seen)) and any(
        str(turn.get("role")) in _SPOKEN for one in seen for turn in _turns_inside(one)
    )


def turn_messages(objects: Sequence[Mapping[str, Any]]) -> Iterator[Message]:
    """Turn lines into messages; instructions to the model are left out, tools shortened."""
    many = sum(1 for one in objects if isinstance(one.get("messages"), list)) > 1
    for number, one in enumerate(objects, 1):
        at = moment(one.get("timestamp") or one.get("created_at"))
        session = f"Conversation {number}" if many else ""
        for turn in _turns_inside(one):
            role = str(turn.get("role") or "")
            if role in ("system", "developer"):
                continue
            text = "\n\n".join(filter(None, _texts(turn)))
            if role == "tool":
                text = f"(result: {shortened(text)})" if text else ""
            if text:
                author = str(turn.get("name") or "") if role == "tool" else ""
                yield Message(
                    author=author or NAMES.get(role) or role.capitalize(),
                    at=moment(turn.get("timestamp")) or at,
                    text=text,
                    session=session,
                )


def _turns_inside(one: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The turns of a line: the line itself, its message or payload, or its list of messages."""
    if isinstance(one.get("messages"), list):
        return [turn for turn in one["messages"] if isinstance(turn, dict) and _is_turn(turn)]
    for inner in (one, one.get("message"), one.get("payload")):
        if isinstance(inner, dict):
            if _is_turn(inner):
                return [inner]
            if inner.get("type") in _CALLS | _RESULTS:
                called = inner.get("type") in _CALLS
                return [{"role": "assistant" if called else "tool", "content": [inner]}]
    return []


def _is_turn(value: Mapping[str, Any]) -> bool:
    return value.get("role") in _ROLES and ("content" in value or "tool_calls" in value)


def _texts(turn: Mapping[str, Any]) -> Iterator[str]:
    """The content of a turn, and the calls that stand beside it."""
    yield from block_texts(turn.get("content"))
    calls = turn.get("tool_calls")
    if isinstance(calls, list):
        yield from block_texts(
            [{**call, "type": "tool_call"} for call in calls if isinstance(call, dict)]
        )
