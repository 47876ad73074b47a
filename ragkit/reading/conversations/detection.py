"""Recognises conversations in texts, JSON and exported archives, and reads them."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from ragkit.errors import SkippedError
from ragkit.reading.conversations.assistants import are_turns, read_assistant, turn_messages
from ragkit.reading.conversations.meetings import read_meeting
from ragkit.reading.conversations.message_rows import are_rows, load_json, load_lines, row_messages
from ragkit.reading.conversations.messages import Conversation, in_order, to_reading
from ragkit.reading.conversations.messengers import (
    SLACK_LISTS,
    read_discord,
    read_facebook,
    read_slack_day,
    read_slack_export,
    read_telegram,
)
from ragkit.reading.conversations.posts import read_mastodon
from ragkit.reading.conversations.saved_chats import read_saved_chat
from ragkit.reading.conversations.skype import read_skype
from ragkit.reading.conversations.transcript import mark_messages, read_transcript
from ragkit.reading.conversations.whatsapp import read_whatsapp
from ragkit.reading.decode import SOME_REPLACED, clean, decode
from ragkit.reading.formats import SLACK_DAY, Format
from ragkit.reading.limits import check_text
from ragkit.reading.markdown import read_markdown
from ragkit.reading.reading_parts import objects, stem, words
from ragkit.reading.zip_container import open_archive

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragkit.reading.limits import Limits
    from ragkit.types import Reading

_SOME_OLDER = "Some lines are not UTF-8; they were read as Windows-1252."
_HINT = re.compile(
    r"\"(?:ts|chat_messages|mapping|messages|chats|author|sender|from|from_name|role|speaker"
    r"|user|username|user_name|sender_?name|display_name|nickname|participant|creator"
    r"|orderedItems)\"\s*:",
    re.IGNORECASE,
)
_HINT_CHARACTERS = 50_000
_LOG_SUFFIX = ".log"
_WHATSAPP = re.compile(r"_chat\.txt|.*WhatsApp.*\.txt")
_SINGLE = ("conversations.json", "result.json")


def read_conversation(text: str, name: str, file_format: Format = Format.TEXT) -> Reading | None:
    """Read cleaned text as a conversation, or return ``None`` if it is not one.

    ``file_format`` is one of ``CONVERSATION_FORMATS``, ``name`` the file's relative path.
    """
    reading = read_export(text, name, file_format)
    if reading is None and file_format is Format.MARKDOWN:
        return mark_messages(read_markdown(text, name))
    return reading


def read_export(
    text: str, name: str, file_format: Format, data: bytes = b"", warnings: tuple[str, ...] = ()
) -> Reading | None:
    """Read any conversation except Markdown transcripts, which ``mark_messages`` handles.

    ``warnings`` are those of decoding ``data``. If characters were replaced, each line is decoded
    separately: concatenated files may mix UTF-8 with a legacy encoding.
    """
    conversation = _conversation(text, name, file_format)
    if conversation is None or not conversation.messages:
        return None
    if SOME_REPLACED in warnings:
        by_line = _conversation(clean(_decoded_by_line(data)), name, file_format)
        if by_line is not None:
            conversation, warnings = by_line, (_SOME_OLDER,)
    reading = to_reading(conversation)
    return replace(reading, warnings=(*warnings, *reading.warnings))


def _conversation(text: str, name: str, file_format: Format) -> Conversation | None:
    """Return the conversation in a text of one of the formats, or ``None``."""
    if file_format in (Format.JSON, Format.JSONL):
        return _of_data(text, name, file_format)
    if name.lower().endswith(_LOG_SUFFIX):
        return None
    return read_whatsapp(text, name) if file_format is Format.MARKDOWN else of_text(text, name)


def of_text(text: str, name: str) -> Conversation | None:
    """Return the conversation in a plain text, or ``None``."""
    known = read_saved_chat(text, name) or read_whatsapp(text, name)
    return known or read_meeting(text, name) or read_transcript(text, name)


def of_json(value: Any, name: str) -> Conversation | None:
    """Return the conversation in a JSON value, or ``None``."""
    known = read_assistant(value) or read_discord(value) or read_telegram(value)
    known = known or read_skype(value) or read_mastodon(value)
    known = known or read_slack_day(value, name) or read_facebook(value, name)
    if known:
        return known
    if isinstance(value, dict):
        return _of_objects(value.get("messages"), words(value, "title", "name") or stem(name))
    return _of_objects(value, stem(name))


def _of_data(text: str, name: str, file_format: Format) -> Conversation | None:
    """Return the conversation in JSON or JSON lines, with warnings about broken parts."""
    if not _HINT.search(text, 0, _HINT_CHARACTERS):
        return None
    value, warnings = (None, ()) if file_format is Format.JSONL else load_json(text)
    if value is None:
        rows, warnings = load_lines(text)
        conversation = _of_objects(rows, stem(name))
    else:
        conversation = of_json(value, name)
    return conversation and replace(conversation, warnings=(*warnings, *conversation.warnings))


def _of_objects(values: Any, title: str) -> Conversation | None:
    """Return the conversation whose messages or turns are the objects of a list."""
    rows = objects(values)
    if are_turns(rows):
        return Conversation(title, "assistant", list(turn_messages(rows)))
    if are_rows(rows):
        messages = in_order(list(row_messages(rows)))
        platforms = {str(row["platform"]) for row in rows if row.get("platform")}
        return Conversation(title, platforms.pop() if len(platforms) == 1 else "", messages)
    return None


def _decoded_by_line(data: bytes) -> str:
    """Decode each line separately: as UTF-8, or else as Windows-1252."""
    lines = []
    for line in data.split(b"\n"):
        try:
            lines.append(line.decode())
        except UnicodeDecodeError:
            lines.append(line.decode("cp1252", "replace"))
    return "\n".join(lines)


# -- exports that come as zip archives: Slack, WhatsApp, Telegram, ChatGPT, Claude ---------


def read_archive(data: bytes, name: str, limits: Limits) -> Reading:
    """Read the conversations of an exported archive as one document.

    Raises:
        SkippedError: it contains no conversation.
        ReadingError: it is damaged, a bomb, locked, or contains too much text.
    """
    with open_archive(data, limits, Format.EXPORT.label) as archive:
        files = _Files(archive, limits)
        days = [file for file in files.names if SLACK_DAY.fullmatch(file)]
        single = [file for file in files.names if PurePosixPath(file).name in _SINGLE]
        chats = [file for file in files.names if _WHATSAPP.fullmatch(PurePosixPath(file).name)]
        if single:
            value, warnings = files.json(min(single, key=len))
            found = of_json(value, name)
            conversation = found and replace(found, warnings=(*warnings, *found.warnings))
        elif days:
            conversation = _slack(files, days, stem(name))
        else:
            # An archive of several chats is none of WhatsApp's own.
            conversation = of_text(files.text(chats[0]), name) if len(chats) == 1 else None
    if conversation is None or not conversation.messages:
        raise SkippedError("Archives are not read.", "Unpack it into the folder.")
    return to_reading(conversation)


@dataclass(frozen=True, slots=True)
class _Files:
    """The files of an archive."""

    archive: zipfile.ZipFile
    limits: Limits

    @property
    def names(self) -> list[str]:
        """The names of the files, sorted, without metadata of macOS."""
        return sorted(name for name in self.archive.namelist() if not name.startswith("__MACOSX/"))

    def text(self, name: str) -> str:
        """Return the text of a file.

        Raises:
            ReadingError: it contains too much text.
        """
        text, _ = decode(self.archive.read(name))
        check_text((text,), self.limits)
        return clean(text)

    def json(self, name: str) -> tuple[Any, tuple[str, ...]]:
        """Return the value of a JSON file, and warnings if it is broken."""
        value, warnings = load_json(self.text(name))
        if value is None:
            return None, (f"{name} is not valid JSON and was left out.",)
        return value, tuple(f"{name}: {warning}" for warning in warnings)

    def named(self, base: str) -> Any:
        """Return the value of the first JSON file of that name in any folder, or ``None``."""
        name = next((name for name in self.names if PurePosixPath(name).name == base), None)
        return self.json(name)[0] if name else None


def _slack(files: _Files, days: Iterable[str], title: str) -> Conversation:
    """Read a complete export of Slack."""
    lists = {base: files.named(base) for base in SLACK_LISTS}
    values = {day: files.json(day) for day in days}
    warnings = [warning for _, wrong in values.values() for warning in wrong]
    return read_slack_export(
        title, lists, {day: value for day, (value, _) in values.items()}, warnings
    )
