"""Which kind of conversation a text is, if it is one at all."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragkit.reading.conversations.agents import are_turns, turn_messages
from ragkit.reading.conversations.chatgpt import is_chatgpt, read_chatgpt
from ragkit.reading.conversations.claude import is_claude, read_claude
from ragkit.reading.conversations.discord import is_discord, read_discord
from ragkit.reading.conversations.message import Conversation, in_order
from ragkit.reading.conversations.message_rows import are_rows, row_messages
from ragkit.reading.conversations.rendering import to_reading
from ragkit.reading.conversations.salvage import load_json, load_lines
from ragkit.reading.conversations.slack import is_slack, read_slack_day
from ragkit.reading.conversations.telegram import is_telegram, read_telegram
from ragkit.reading.conversations.transcript import mark_messages, read_transcript
from ragkit.reading.conversations.whatsapp import read_whatsapp
from ragkit.reading.decode import SOME_REPLACED, clean
from ragkit.reading.markdown import read_markdown
from ragkit.reading.reading_parts import stem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragkit.types import Reading

CONVERSATION_FORMATS = ("text", "markdown", "json", "jsonl")
"""The formats whose files may hold a conversation."""

_SOME_OLDER = "Some lines are not UTF-8; they were read as Windows-1252."
_HINT = re.compile(
    r"\"(?:ts|chat_messages|mapping|messages|chats|author|sender|from|from_name|role|speaker"
    r"|user|username|user_name|sender_name|display_name|nickname|participant)\"\s*:",
    re.IGNORECASE,
)
_HINT_CHARACTERS = 50_000
_LOG_SUFFIX = ".log"


def read_conversation(text: str, name: str, file_format: str = "text") -> Reading | None:
    """Read cleaned text as a conversation; ``None`` when it is none.

    ``file_format`` is one of ``CONVERSATION_FORMATS``, ``name`` the file's relative path.
    """
    found = read_export(text, name, file_format)
    if found is None and file_format == "markdown":
        return mark_messages(read_markdown(text, name))
    return found


def read_export(
    text: str, name: str, file_format: str, data: bytes = b"", warnings: tuple[str, ...] = ()
) -> Reading | None:
    """The same, but for Markdown transcripts, which other readers read as they are.

    ``warnings`` are those of decoding ``data``. Where letters were lost, each line is decoded
    by itself: joined files have lines in an older encoding among those of UTF-8.
    """
    found = _conversation(text, name, file_format)
    if found is None or not found.messages:
        return None
    if SOME_REPLACED in warnings:
        again = _conversation(clean(_by_line(data)), name, file_format)
        if again is not None:
            found, warnings = again, (_SOME_OLDER,)
    reading = to_reading(found)
    return replace(reading, warnings=(*warnings, *reading.warnings))


def _conversation(text: str, name: str, file_format: str) -> Conversation | None:
    """The conversation that a text in one of the formats holds."""
    if file_format in ("json", "jsonl"):
        return _of_data(text, name, file_format)
    if name.lower().endswith(_LOG_SUFFIX):
        return None
    return read_whatsapp(text, name) if file_format == "markdown" else of_text(text, name)


def of_text(text: str, name: str) -> Conversation | None:
    """A conversation in plain text."""
    return read_whatsapp(text, name) or read_transcript(text, name)


def of_json(value: Any, name: str) -> Conversation | None:
    """The conversation that a JSON value is, if it is one."""
    for recognised, read in (
        (is_chatgpt, read_chatgpt),
        (is_claude, read_claude),
        (is_discord, read_discord),
        (is_telegram, read_telegram),
    ):
        if recognised(value):
            return read(value)
    if is_slack(value):
        return read_slack_day(value, name)
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        title = str(value.get("title") or value.get("name") or "")
        return _of_objects(value["messages"], title or stem(name))
    return _of_objects(value, stem(name)) if isinstance(value, list) else None


def _of_data(text: str, name: str, file_format: str) -> Conversation | None:
    """A conversation in JSON or JSON lines; broken parts are left out and named."""
    if not _HINT.search(text, 0, _HINT_CHARACTERS):
        return None
    if file_format == "jsonl":
        objects, warnings = load_lines(text)
        found = _of_objects(objects, stem(name))
    else:
        value, warnings = load_json(text)
        found = of_json(value, name)
        if found is None and value is None:
            objects, warnings = load_lines(text)
            found = _of_objects(objects, stem(name))
    return found and replace(found, warnings=(*warnings, *found.warnings))


def _of_objects(values: list[Any], title: str) -> Conversation | None:
    """A conversation whose messages, or turns, are plain objects."""
    objects: list[Mapping[str, Any]] = [one for one in values if isinstance(one, dict)]
    if are_turns(objects):
        return Conversation(title, "assistant", list(turn_messages(objects)))
    if are_rows(objects):
        messages = in_order(list(row_messages(objects)))
        platforms = {str(one["platform"]) for one in objects if one.get("platform")}
        return Conversation(title, platforms.pop() if len(platforms) == 1 else "", messages)
    return None


def _by_line(data: bytes) -> str:
    """Decode each line by itself: as UTF-8 where it is that, and else as Windows-1252."""
    lines = []
    for line in data.split(b"\n"):
        try:
            lines.append(line.decode())
        except UnicodeDecodeError:
            lines.append(line.decode("cp1252", "replace"))
    return "\n".join(lines)
