"""A channel of Discord as DiscordChatExporter and programs like it write it by default.

The class of each part says what it is; newer pages leave out the quotation marks around it. The
time of a message is part of its id, and so does not depend on how the page writes times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from ragkit.reading.conversations.messages import Conversation, Message, moment
from ragkit.reading.conversations.page_markup import as_markdown, name_in, parts, title_in
from ragkit.reading.reading_parts import attached, joined, quoted, stem

_PART = re.compile(
    r"<\w+\b[^<>]*?\bclass=\"?(?:postamble|chatlog__(?P<kind>message-group|message-container"
    r"|message|author-name|author-tag|author|bot-tag|reply-author|reply-content|reference-author"
    r"|reference-content|reply|reference|header|timestamp|content|forwarded-content"
    r"|forwarded-timestamp|edited-timestamp|attachment|embed|sticker|reactions"
    r"|system-notification-author|system-notification-content|system-notification-timestamp))"
    r"(?![\w-])[^<>]*>"
)
_BETWEEN = ("message-group", None)
"""Parts that end a message: the next author's messages, and what stands below all of them."""
_ID = re.compile(r"\bdata-message-id=\"?(\d{1,20})")
_ATTACHED = re.compile(
    r"\btitle=\"?(?:Image|Video|Audio): (?P<titled>[^\"<>]{1,300}?) \("
    r"|\bAttachment: (?P<plain>[^<>]{1,300}?) \("
    r"|attachment-generic-name\"?>\s*(?:<a\b[^<>]*>)?\s*(?P<generic>[^<>]{1,300})"
)
_STICKER = re.compile(r"\btitle=\"?([^\"<>]{1,300})")
_AGES_AGO = 1_420_070_400_000
"""When Discord's clock begins, in milliseconds since 1970."""


@dataclass
class _Open:
    """A message that is being read. ``author`` is empty for notices."""

    at: datetime | None
    author: str = ""
    reply_to: str = ""
    texts: list[str] = field(default_factory=list)

    def closed(self) -> Message:
        return Message(self.author, self.at, joined(self.texts), reply_to=self.reply_to)


def read_discord_page(text: str, name: str) -> Conversation:
    """Read the messages of a page, if it has any; those of one person in a row have one name."""
    return Conversation(title_in(text) or stem(name), "Discord", list(_messages(text)))


def _messages(text: str) -> Iterator[Message]:
    author = ""
    message: _Open | None = None
    for part, inside in parts(_PART, text):
        kind, number = part["kind"], _ID.search(part[0])
        if (number or kind in _BETWEEN) and message is not None:
            yield message.closed()
            message = None
        if kind in _BETWEEN:
            author = ""
        elif number:
            message = _Open(_moment(int(number[1])), author)
        elif kind in ("author", "author-name"):
            author = name_in(inside.partition("</span>")[0])
            if message is not None:
                message.author = author
        elif message is not None:
            _add(message, part, inside)
    if message is not None:
        yield message.closed()


def _add(message: _Open, part: re.Match[str], inside: str) -> None:
    """Add what a part says to a message."""
    kind = part["kind"]
    if kind in ("reply-author", "reference-author"):
        message.reply_to = name_in(inside)
    elif kind == "system-notification-author":
        message.author = ""
        message.texts = [name_in(inside)]
    elif kind == "system-notification-content":
        message.texts = [joined([*message.texts, name_in(inside)], " ")]
    elif kind in ("content", "forwarded-content"):
        message.texts.append(as_markdown(inside))
    elif kind == "embed":
        message.texts.append(quoted(as_markdown(inside)))
    elif kind == "attachment":
        found = _ATTACHED.search(inside)
        file = found["titled"] or found["plain"] or found["generic"] if found else ""
        message.texts += attached([{"name": name_in(file)}], "name")
    elif kind == "sticker":
        named = _STICKER.search(part[0])
        message.texts.append(f"(sticker: {name_in(named[1])})" if named else "(sticker)")


def _moment(number: int) -> datetime | None:
    """Return the time that a message's id holds; ``None`` for numbers that are no such ids."""
    milliseconds = number >> 22
    return moment((milliseconds + _AGES_AGO) // 1000) if milliseconds else None
