"""Conversations with assistants: exports of ChatGPT and Claude, and transcripts of agents.

Their turns consist of text, pictures, tool calls and tool results.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragkit.formatting import bounded_line
from ragkit.reading.conversations.messages import Conversation, Message, moment
from ragkit.reading.reading_parts import attached, inner, joined, objects, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

NAMES = {"user": "User", "human": "User", "assistant": "Assistant", "model": "Assistant"}
"""Names of the two sides, by role, for exports without names."""

_LONGEST_TOOL_TEXT = 300
_TEXTS = ("text", "input_text", "output_text")

_CHATGPT_NAMES = {"user": "User", "assistant": "ChatGPT"}
_CHATGPT_HIDDEN = (
    "user_editable_context", "model_editable_context", "thoughts", "reasoning_recap",
)  # fmt: skip
_CLAUDE_NAMES = {"human": "User", "assistant": "Claude"}

_ROLES = frozenset({"user", "assistant", "human", "system", "developer", "tool", "model"})
_CALLS = frozenset({"function_call", "tool_call", "tool_use", "server_tool_use"})
_RESULTS = frozenset({"function_call_output", "tool_result"})
_TURNS_SHARE = 0.3


# -- the content of a turn -----------------------------------------------------------------


def block_texts(content: Any) -> Iterator[str]:
    """Yield the texts of a turn's content, which is a text or a list of blocks."""
    if isinstance(content, str):
        yield content
        return
    for block in content if isinstance(content, list) else []:
        if isinstance(block, str):
            yield block
        elif isinstance(block, dict):
            yield _block_text(block)


def _block_text(block: Mapping[str, Any]) -> str:
    """Return one block of a turn as text, or ``""`` for hidden thoughts."""
    kind = words(block, "type")
    if kind in _TEXTS:
        return words(block, "text")
    if kind in _CALLS:
        call = block["function"] if isinstance(block.get("function"), dict) else block
        arguments = call.get("input", call.get("arguments", ""))
        return f"(tool {call.get('name') or 'call'}: {_shortened(arguments)})"
    if kind in _RESULTS:
        content = block.get("content", block.get("output", ""))
        return _result("\n".join(block_texts(content)) or content)
    if "image" in kind:
        return "(picture)"
    if kind in ("document", "file"):
        return f"(file {words(block, 'title', 'name')})".replace(" )", ")")
    return ""


def _shortened(value: Any) -> str:
    """Return a value on one line of bounded length."""
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False)
    return bounded_line(value, _LONGEST_TOOL_TEXT)


def _result(value: Any) -> str:
    """Return the result of a tool, shortened and in brackets; ``""`` if it is empty."""
    return f"(result: {_shortened(value)})" if value else ""


# -- the exports of ChatGPT and Claude: a conversation, or a list of them -------------------


def read_assistant(value: Any) -> Conversation | None:
    """Read the conversations of ChatGPT or Claude, each as a session under its own title.

    Returns ``None`` if the JSON is neither a ``conversations.json`` nor a conversation of it.
    """
    listed = value if isinstance(value, list) else [value]
    for platform, key, kind, title_key, messages_of in (
        ("ChatGPT", "mapping", dict, "title", _chatgpt_messages),
        ("Claude", "chat_messages", list, "name", _claude_messages),
    ):
        if not any(isinstance(entry.get(key), kind) for entry in objects(listed[:20])):
            continue
        entries = [entry for entry in objects(listed) if isinstance(entry.get(key), kind)]
        title = words(entries[0], title_key) if len(entries) == 1 else ""
        messages = [
            replace(message, session=words(entry, title_key) or "Untitled conversation")
            for entry in entries
            for message in messages_of(entry)
        ]
        return Conversation(title or f"{platform} conversations", platform, messages)
    return None


def _chatgpt_messages(entry: Mapping[str, Any]) -> Iterator[Message]:
    """Yield the messages of the current branch of a tree of turns."""
    for turn in _branch(entry["mapping"], entry.get("current_node")):
        author = inner(turn, "author")
        role = words(author, "role")
        hidden = inner(turn, "metadata").get("is_visually_hidden_from_conversation")
        if role == "system" or hidden:
            continue
        text = _chatgpt_text(inner(turn, "content"))
        if role == "tool":
            text = _result(text)
        elif role == "assistant" and turn.get("recipient") not in (None, "all"):
            text = f"(tool {turn['recipient']}: {_shortened(text)})" if text else ""
        yield Message(
            author=_CHATGPT_NAMES.get(role) or words(author, "name") or role or "ChatGPT",
            at=moment(turn.get("create_time")),
            text=text,
        )


def _branch(mapping: dict[str, Any], key: Any) -> list[Mapping[str, Any]]:
    """Return the turns from the first to the current one (``key``), without other branches."""
    if key not in mapping:
        key = _newest_leaf(mapping)
    turns: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    while isinstance(key, str) and key not in seen:
        seen.add(key)
        node = inner(mapping, key)
        if isinstance(node.get("message"), dict):
            turns.append(node["message"])
        key = node.get("parent")
    turns.reverse()
    return turns


def _newest_leaf(mapping: Mapping[str, Any]) -> str | None:
    """Return the key of the newest turn without a successor."""

    def created(key: str) -> float:
        time = inner(mapping[key], "message").get("create_time")
        return float(time) if isinstance(time, int | float) else 0.0

    leaves = [
        key for key, node in mapping.items() if isinstance(node, dict) and not node.get("children")
    ]
    return max(reversed(leaves), key=created, default=None)


def _chatgpt_text(content: Mapping[str, Any]) -> str:
    """Return the text, code or transcribed speech of a turn, with a mark for each picture."""
    kind = words(content, "content_type")
    if kind in _CHATGPT_HIDDEN:
        return ""
    pieces = [_chatgpt_part(part) for part in content.get("parts") or []]
    if not pieces and content.get("text"):
        text = words(content, "text")
        language = words(content, "language").replace("unknown", "")
        pieces = [f"```{language}\n{text}\n```" if kind == "code" and "```" not in text else text]
    return joined(pieces or [words(content, "result")])


def _chatgpt_part(part: Any) -> str:
    if not isinstance(part, dict):
        return part if isinstance(part, str) else ""
    picture = "(picture)" if "image" in words(part, "content_type") else ""
    return words(part, "text") or picture


def _claude_messages(entry: Mapping[str, Any]) -> Iterator[Message]:
    for turn in objects(entry["chat_messages"]):
        sender = words(turn, "sender")
        text = joined(block_texts(turn.get("content")), "\n\n") or words(turn, "text")
        files = [*attached(turn.get("attachments"), "file_name")]
        files += attached(turn.get("files"), "file_name")
        yield Message(
            author=_CLAUDE_NAMES.get(sender) or sender,
            at=moment(turn.get("created_at")),
            text=joined([text, *dict.fromkeys(files)]),
        )


# -- agents: turns with roles, in JSON lines or lists --------------------------------------


def are_turns(objects: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether enough of the objects are turns with roles; some hold only metadata."""
    sample = objects[:50]
    fitting = sum(1 for line in sample if _turns_inside(line))
    return fitting >= max(1, _TURNS_SHARE * len(sample)) and any(
        str(turn.get("role")) in NAMES for line in sample for turn in _turns_inside(line)
    )


def turn_messages(objects: Sequence[Mapping[str, Any]]) -> Iterator[Message]:
    """Yield the messages of turns without instructions to the model, tool output shortened."""
    many = sum(1 for line in objects if isinstance(line.get("messages"), list)) > 1
    for number, line in enumerate(objects, 1):
        at = moment(line.get("timestamp") or line.get("created_at"))
        session = f"Conversation {number}" if many else ""
        for turn in _turns_inside(line):
            role = words(turn, "role")
            if role in ("system", "developer"):
                continue
            text = joined(_turn_texts(turn), "\n\n")
            if role == "tool":
                text = _result(text)
            if text:
                author = words(turn, "name") if role == "tool" else ""
                yield Message(
                    author=author or NAMES.get(role) or role.capitalize(),
                    at=moment(turn.get("timestamp")) or at,
                    text=text,
                    session=session,
                )


def _turns_inside(line: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the turns in a line: itself, its message or payload, or its messages."""
    if isinstance(line.get("messages"), list):
        return [turn for turn in objects(line["messages"]) if _is_turn(turn)]
    for turn in (line, inner(line, "message"), inner(line, "payload")):
        if _is_turn(turn):
            return [turn]
        kind = words(turn, "type")
        if kind in _CALLS | _RESULTS:
            return [{"role": "assistant" if kind in _CALLS else "tool", "content": [turn]}]
    return []


def _is_turn(value: Mapping[str, Any]) -> bool:
    return words(value, "role") in _ROLES and ("content" in value or "tool_calls" in value)


def _turn_texts(turn: Mapping[str, Any]) -> Iterator[str]:
    """Yield the content of a turn and its tool calls."""
    yield from block_texts(turn.get("content"))
    yield from block_texts(
        [{**call, "type": "tool_call"} for call in objects(turn.get("tool_calls"))]
    )
