"""ChatGPT's ``conversations.json``: trees of turns, of which the branch last seen is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragkit.reading.conversations.assistants import shortened
from ragkit.reading.conversations.message import Conversation, Message
from ragkit.reading.conversations.timestamps import moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NAMES = {"user": "User", "assistant": "ChatGPT"}
_HIDDEN = ("user_editable_context", "model_editable_context", "thoughts", "reasoning_recap")


def is_chatgpt(value: Any) -> bool:
    """Whether JSON is such an export, or one conversation of it."""
    listed = value if isinstance(value, list) else [value]
    return any(
        isinstance(one, dict) and isinstance(one.get("mapping"), dict) for one in listed[:20]
    )


def read_chatgpt(value: Any) -> Conversation:
    """Read all conversations, each as a session under its own title."""
    listed = value if isinstance(value, list) else [value]
    kept = [one for one in listed if isinstance(one, dict) and isinstance(one.get("mapping"), dict)]
    messages = [message for one in kept for message in _conversation(one)]
    title = str(kept[0].get("title") or "") if len(kept) == 1 else ""
    return Conversation(title or "ChatGPT conversations", "ChatGPT", messages)


def _conversation(one: Mapping[str, Any]) -> Iterator[Message]:
    session = str(one.get("title") or "Untitled conversation")
    for turn in _branch(one):
        author = turn.get("author")
        role = str(author.get("role") or "") if isinstance(author, dict) else ""
        meta = turn.get("metadata")
        hidden = isinstance(meta, dict) and meta.get("is_visually_hidden_from_conversation")
        if role == "system" or hidden:
            continue
        text = _text(turn.get("content"))
        if role == "tool":
            text = f"(result: {shortened(text)})" if text else ""
        elif role == "assistant" and turn.get("recipient") not in (None, "all"):
            text = f"(tool {turn['recipient']}: {shortened(text)})" if text else ""
        named = str(author.get("name") or "") if isinstance(author, dict) else ""
        yield Message(
            author=_NAMES.get(role) or named or role or "ChatGPT",
            at=moment(turn.get("create_time")),
            text=text,
            session=session,
        )


def _branch(one: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The turns from the first to the current one, whatever else was tried on the way."""
    mapping: dict[str, Any] = one["mapping"]
    at = one.get("current_node")
    if at not in mapping:
        at = _newest_leaf(mapping)
    turns: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    while isinstance(at, str) and at not in seen:
        seen.add(at)
        node = mapping.get(at)
        if not isinstance(node, dict):
            break
        if isinstance(node.get("message"), dict):
            turns.append(node["message"])
        at = node.get("parent")
    turns.reverse()
    return turns


def _newest_leaf(mapping: Mapping[str, Any]) -> str | None:
    """The last turn by time among those that nothing follows."""
    best, newest = None, -1.0
    for key, node in mapping.items():
        if isinstance(node, dict) and not node.get("children"):
            message = node.get("message")
            created = message.get("create_time") if isinstance(message, dict) else None
            when = float(created) if isinstance(created, int | float) else 0.0
            if when >= newest:
                best, newest = key, when
    return best


def _text(content: Any) -> str:
    """The words of a turn: text, code, transcribed speech; a mark for each picture."""
    if not isinstance(content, dict):
        return ""
    kind = str(content.get("content_type") or "")
    if kind in _HIDDEN:
        return ""
    pieces = [_part(part) for part in content.get("parts") or []]
    if not pieces and content.get("text"):
        text = str(content["text"])
        language = str(content.get("language") or "").replace("unknown", "")
        pieces = [f"```{language}\n{text}\n```" if kind == "code" and "```" not in text else text]
    if not pieces and content.get("result"):
        pieces = [str(content["result"])]
    return "\n".join(filter(None, pieces))


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return ""
    if part.get("text"):
        return str(part["text"])
    return "(picture)" if "image" in str(part.get("content_type")) else ""
