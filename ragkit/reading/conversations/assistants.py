"""Conversations with assistants: the exports of ChatGPT and Claude, and transcripts of agents.

All have turns made of text, pictures, calls of tools and their results.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ragkit.reading.conversations.messages import Conversation, Message, moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

NAMES = {"user": "User", "human": "User", "assistant": "Assistant", "model": "Assistant"}
"""Names of the two sides where the export has none."""

_LONGEST_TOOL_TEXT = 300
_TEXTS = ("text", "input_text", "output_text")
_USES = ("tool_use", "server_tool_use", "function_call", "tool_call")

_CHATGPT_NAMES = {"user": "User", "assistant": "ChatGPT"}
_CHATGPT_HIDDEN = (
    "user_editable_context", "model_editable_context", "thoughts", "reasoning_recap",
)  # fmt: skip
_CLAUDE_NAMES = {"human": "User", "assistant": "Claude"}

_ROLES = frozenset({"user", "assistant", "human", "system", "developer", "tool", "model"})
_SPOKEN = frozenset({"user", "assistant", "human", "model"})
_CALLS = frozenset({"function_call", "tool_call", "tool_use"})
_RESULTS = frozenset({"function_call_output", "tool_result"})
_TURNS_SHARE = 0.3


# -- the content of a turn -----------------------------------------------------------------


def block_texts(content: Any) -> Iterator[str]:
    """Yield the texts of a turn's content: a text, or a list of blocks."""
    if isinstance(content, str):
        yield content
        return
    for block in content if isinstance(content, list) else []:
        if isinstance(block, str):
            yield block
        elif isinstance(block, dict):
            yield _block_text(block)


def _block_text(block: Mapping[str, Any]) -> str:
    """Return one block of a turn as text; hidden thoughts are left out."""
    kind = str(block.get("type") or "")
    if kind in _TEXTS:
        return str(block.get("text") or "")
    if kind in _USES:
        function = block.get("function")
        call: Mapping[str, Any] = function if isinstance(function, dict) else block
        arguments = call.get("input", call.get("arguments", ""))
        return f"(tool {call.get('name') or 'call'}: {_shortened(arguments)})"
    if kind in ("tool_result", "function_call_output"):
        content = block.get("content", block.get("output", ""))
        return _result("\n".join(block_texts(content)) or content)
    if "image" in kind:
        return "(picture)"
    if kind in ("document", "file"):
        return f"(file {block.get('title') or block.get('name') or ''})".replace(" )", ")")
    return ""


def _shortened(value: Any) -> str:
    """Return a value on one line of bounded length."""
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False)
    line = " ".join(value[: _LONGEST_TOOL_TEXT * 4].split())
    if len(line) <= _LONGEST_TOOL_TEXT:
        return line
    return f"{line[: _LONGEST_TOOL_TEXT - 1].rstrip()}…"


def _result(value: Any) -> str:
    """Return the result of a tool in brackets, shortened; an empty one as an empty string."""
    return f"(result: {_shortened(value)})" if value else ""


# -- ChatGPT: trees of turns, of which the branch last seen is read ------------------------


def is_chatgpt(value: Any) -> bool:
    """Return whether JSON is ChatGPT's ``conversations.json``, or one conversation of it."""
    return any(_holds(entry, "mapping", dict) for entry in _listed(value)[:20])


def read_chatgpt(value: Any) -> Conversation:
    """Read all conversations of ChatGPT, each as a session under its own title."""
    entries = [entry for entry in _listed(value) if _holds(entry, "mapping", dict)]
    messages = [message for entry in entries for message in _chatgpt_messages(entry)]
    title = str(entries[0].get("title") or "") if len(entries) == 1 else ""
    return Conversation(title or "ChatGPT conversations", "ChatGPT", messages)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _holds(entry: Any, key: str, kind: type) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get(key), kind)


def _chatgpt_messages(entry: Mapping[str, Any]) -> Iterator[Message]:
    session = str(entry.get("title") or "Untitled conversation")
    for turn in _branch(entry):
        author = turn.get("author")
        role = str(author.get("role") or "") if isinstance(author, dict) else ""
        metadata = turn.get("metadata")
        hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation")
        if role == "system" or hidden:
            continue
        text = _chatgpt_text(turn.get("content"))
        if role == "tool":
            text = _result(text)
        elif role == "assistant" and turn.get("recipient") not in (None, "all"):
            text = f"(tool {turn['recipient']}: {_shortened(text)})" if text else ""
        name = str(author.get("name") or "") if isinstance(author, dict) else ""
        yield Message(
            author=_CHATGPT_NAMES.get(role) or name or role or "ChatGPT",
            at=moment(turn.get("create_time")),
            text=text,
            session=session,
        )


def _branch(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the turns from the first to the current one, without abandoned branches."""
    mapping: dict[str, Any] = entry["mapping"]
    key = entry.get("current_node")
    if key not in mapping:
        key = _newest_leaf(mapping)
    turns: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    while isinstance(key, str) and key not in seen:
        seen.add(key)
        node = mapping.get(key)
        if not isinstance(node, dict):
            break
        if isinstance(node.get("message"), dict):
            turns.append(node["message"])
        key = node.get("parent")
    turns.reverse()
    return turns


def _newest_leaf(mapping: Mapping[str, Any]) -> str | None:
    """Return the key of the last turn by time among those that nothing follows."""
    newest, newest_time = None, -1.0
    for key, node in mapping.items():
        if isinstance(node, dict) and not node.get("children"):
            message = node.get("message")
            created = message.get("create_time") if isinstance(message, dict) else None
            time = float(created) if isinstance(created, int | float) else 0.0
            if time >= newest_time:
                newest, newest_time = key, time
    return newest


def _chatgpt_text(content: Any) -> str:
    """Return the words of a turn: text, code, transcribed speech; a mark for each picture."""
    if not isinstance(content, dict):
        return ""
    kind = str(content.get("content_type") or "")
    if kind in _CHATGPT_HIDDEN:
        return ""
    pieces = [_chatgpt_part(part) for part in content.get("parts") or []]
    if not pieces and content.get("text"):
        text = str(content["text"])
        language = str(content.get("language") or "").replace("unknown", "")
        pieces = [f"```{language}\n{text}\n```" if kind == "code" and "```" not in text else text]
    if not pieces and content.get("result"):
        pieces = [str(content["result"])]
    return "\n".join(filter(None, pieces))


def _chatgpt_part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return ""
    if part.get("text"):
        return str(part["text"])
    return "(picture)" if "image" in str(part.get("content_type")) else ""


# -- Claude: a list of conversations with their messages -----------------------------------


def is_claude(value: Any) -> bool:
    """Return whether JSON is Claude's ``conversations.json``, or one conversation of it."""
    return any(_holds(entry, "chat_messages", list) for entry in _listed(value)[:20])


def read_claude(value: Any) -> Conversation:
    """Read all conversations of Claude, each as a session under its own name."""
    entries = [entry for entry in _listed(value) if _holds(entry, "chat_messages", list)]
    messages = [message for entry in entries for message in _claude_messages(entry)]
    title = str(entries[0].get("name") or "") if len(entries) == 1 else ""
    return Conversation(title or "Claude conversations", "Claude", messages)


def _claude_messages(entry: Mapping[str, Any]) -> Iterator[Message]:
    session = str(entry.get("name") or "Untitled conversation")
    for turn in entry["chat_messages"]:
        if not isinstance(turn, dict):
            continue
        sender = str(turn.get("sender") or "")
        text = "\n\n".join(filter(None, block_texts(turn.get("content"))))
        parts = [text or str(turn.get("text") or ""), *_claude_files(turn)]
        yield Message(
            author=_CLAUDE_NAMES.get(sender) or sender,
            at=moment(turn.get("created_at")),
            text="\n".join(filter(None, parts)),
            session=session,
        )


def _claude_files(turn: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the attached files, each once."""
    names: dict[str, None] = {}
    for key in ("attachments", "files"):
        for file in turn.get(key) or []:
            if isinstance(file, dict):
                names[str(file.get("file_name") or "file")] = None
    for name in names:
        yield f"(attached: {name})"


# -- agents: turns with roles, in JSON lines or lists --------------------------------------


def are_turns(objects: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether enough of the objects are turns with roles; others only keep the books."""
    sample = objects[:50]
    fitting = sum(1 for line in sample if _turns_inside(line))
    return fitting >= max(1, _TURNS_SHARE * len(sample)) and any(
        str(turn.get("role")) in _SPOKEN for line in sample for turn in _turns_inside(line)
    )


def turn_messages(objects: Sequence[Mapping[str, Any]]) -> Iterator[Message]:
    """Yield the messages of turns; instructions to the model are left out, tools shortened."""
    many = sum(1 for line in objects if isinstance(line.get("messages"), list)) > 1
    for number, line in enumerate(objects, 1):
        at = moment(line.get("timestamp") or line.get("created_at"))
        session = f"Conversation {number}" if many else ""
        for turn in _turns_inside(line):
            role = str(turn.get("role") or "")
            if role in ("system", "developer"):
                continue
            text = "\n\n".join(filter(None, _turn_texts(turn)))
            if role == "tool":
                text = _result(text)
            if text:
                author = str(turn.get("name") or "") if role == "tool" else ""
                yield Message(
                    author=author or NAMES.get(role) or role.capitalize(),
                    at=moment(turn.get("timestamp")) or at,
                    text=text,
                    session=session,
                )


def _turns_inside(line: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the turns of a line: the line itself, its message or payload, or its messages."""
    if isinstance(line.get("messages"), list):
        return [turn for turn in line["messages"] if isinstance(turn, dict) and _is_turn(turn)]
    for inner in (line, line.get("message"), line.get("payload")):
        if isinstance(inner, dict):
            if _is_turn(inner):
                return [inner]
            if inner.get("type") in _CALLS | _RESULTS:
                role = "assistant" if inner.get("type") in _CALLS else "tool"
                return [{"role": role, "content": [inner]}]
    return []


def _is_turn(value: Mapping[str, Any]) -> bool:
    return value.get("role") in _ROLES and ("content" in value or "tool_calls" in value)


def _turn_texts(turn: Mapping[str, Any]) -> Iterator[str]:
    """Yield the content of a turn, and the calls that stand beside it."""
    yield from block_texts(turn.get("content"))
    calls = turn.get("tool_calls")
    if isinstance(calls, list):
        yield from block_texts(
            [{**call, "type": "tool_call"} for call in calls if isinstance(call, dict)]
        )
