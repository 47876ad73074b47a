"""Text messages of a phone, as SMS Backup & Restore writes them (XML): a session a contact."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape

from ragkit.reading.code import read_code
from ragkit.reading.conversations.messages import (
    Conversation,
    Message,
    in_order,
    moment,
    to_reading,
)
from ragkit.reading.formats import Format
from ragkit.reading.reading_parts import stem
from ragkit.types import Reading

_TAG = re.compile(r"<(/?)(sms|mms|part|addr)\b((?:\s+[\w.-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*)\s*/?>")
_ATTRIBUTE = re.compile(r"([\w.-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_HALVES = re.compile(r"&#(5[5-6]\d{3});&#(5[6-7]\d{3});")
_WANTED = ("address", "contact_name", "date", "type", "msg_box", "body", "ct", "text")
_SENT = frozenset("23456")
"""Sent, drafted, about to be sent, failed and queued."""

_FROM = "137"
_OWN = "Me"


@dataclass(slots=True)
class _Long:
    """A message of several parts that has begun: its attributes, its texts, and its sender."""

    known: Mapping[str, str]
    texts: list[str] = field(default_factory=list)
    sender: str = ""


def read_text_messages(
    text: str,
    name: str,
    file_format: Format = Format.TEXT_MESSAGES,  # noqa: ARG001
) -> Reading:
    """Read the messages of a phone; a file without any is code."""
    messages = in_order(list(_messages(text)))
    if not messages:
        return read_code(text, name)
    return to_reading(Conversation(stem(name), "SMS", messages))


def _messages(text: str) -> Iterator[Message]:
    """Yield the messages that have a text, in the order of the file."""
    names: dict[str, str] = {}
    long: _Long | None = None
    for tag in _TAG.finditer(text):
        known = _attributes(tag[3])
        if tag[2] == "sms":
            if known.get("body"):
                yield _message(known, known["body"], known.get("type", ""), "", names)
        elif tag[2] == "mms":
            if long and long.texts:
                kind = long.known.get("msg_box", "")
                yield _message(long.known, "\n\n".join(long.texts), kind, long.sender, names)
            long = None if tag[1] else _Long(known)
        elif long and tag[2] == "part" and known.get("ct") == "text/plain" and known.get("text"):
            long.texts.append(known["text"])
        elif long and tag[2] == "addr" and known.get("type") == _FROM:
            long.sender = known.get("address", "")


def _attributes(source: str) -> dict[str, str]:
    """Return the attributes of a tag that are needed, but those without a value."""
    found = {
        key: double or single
        for key, double, single in _ATTRIBUTE.findall(source)
        if key in _WANTED and (double or single) not in ("", "null")
    }
    # Emoji are written as the numbers of their halves, which XML forbids.
    return {key: unescape(_HALVES.sub(_whole, value)) for key, value in found.items()}


def _whole(halves: re.Match[str]) -> str:
    """Return the character that two halves are."""
    return f"&#{0x10000 + ((int(halves[1]) - 0xD800) << 10) + int(halves[2]) - 0xDC00};"


def _message(
    known: Mapping[str, str], text: str, kind: str, sender: str, names: dict[str, str]
) -> Message:
    """Return a message; ``names`` are those of the numbers so far."""
    numbers = known.get("address", "")
    name = known.get("contact_name", "").strip("()")
    if name and name != "Unknown":
        names[numbers] = name
    # Several numbers are divided by "~".
    contact = names.get(numbers) or ", ".join(
        names.get(number, number) for number in numbers.split("~")
    )
    of_group = names.get(sender, sender) if "~" in numbers else ""
    author = _OWN if kind in _SENT else of_group or contact
    seconds = known.get("date", "")
    at = moment(int(seconds)) if seconds.isdecimal() else None
    return Message(author, at, text, session=contact or "Without a number")
