"""Claude's ``conversations.json``: a list of conversations with their ``chat_messages``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragkit.reading.conversations.assistants import block_texts
from ragkit.reading.conversations.message import Conversation, Message
from ragkit.reading.conversations.timestamps import moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NAMES = {"human": "User", "assistant": "Claude"}


def is_claude(value: Any) -> bool:
    """Whether JSON is such an export, or one conversation of it."""
    listed = value if isinstance(value, list) else [value]
    return any(
        isinstance(one, dict) and isinstance(one.get("chat_messages"), list) for one in listed[:20]
    )


def read_claude(value: Any) -> Conversation:
    """Read all conversations, each as a session under its own name."""
    listed = value if isinstance(value, list) else [value]
    kept = [
        one
        for one in listed
        if isinstance(one, dict) and isinstance(one.get("chat_messages"), list)
    ]
    messages = [message for one in kept for message in _conversation(one)]
    title = str(kept[0].get("name") or "") if len(kept) == 1 else ""
    return Conversation(title or "Claude conversations", "Claude", messages)


def _conversation(one: Mapping[str, Any]) -> Iterator[Message]:
    session = str(one.get("name") or "Untitled conversation")
    for turn in one["chat_messages"]:
        if not isinstance(turn, dict):
            continue
        sender = str(turn.get("sender") or "")
        said = "\n\n".join(filter(None, block_texts(turn.get("content"))))
        parts = [said or str(turn.get("text") or ""), *_files(turn)]
        yield Message(
            author=_NAMES.get(sender) or sender,
            at=moment(turn.get("created_at")),
            text="\n".join(filter(None, parts)),
            session=session,
        )


def _files(turn: Mapping[str, Any]) -> Iterator[str]:
    """Names of what was attached, once each."""
    named: dict[str, None] = {}
    for key in ("attachments", "files"):
        for file in turn.get(key) or []:
            if isinstance(file, dict):
                named[str(file.get("file_name") or "file")] = None
    for name in named:
        yield f"(attached: {name})"
