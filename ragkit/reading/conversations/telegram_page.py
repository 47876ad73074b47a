"""A chat as Telegram exports it by default: as a web page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from ragkit.reading.conversations.messages import Conversation, Message
from ragkit.reading.conversations.page_markup import as_markdown, name_in, parts
from ragkit.reading.reading_parts import joined, stem_or_folder

_MESSAGE = re.compile(
    r"<div class=\"message (?P<kind>default|service)\b[^\"]*\" id=\"message(?P<id>-?\d+)\">"
)
_CHAT = re.compile(
    r"<div class=\"page_header\">.{0,500}?<div class=\"text bold\">(.{1,500}?)</div>", re.S
)
_DATE = re.compile(
    r"class=\"pull_right date details\" title=\"(\d\d)\.(\d\d)\.(\d{4}) ([\d:]{8})"
    r"(?: UTC([+-]\d\d:\d\d))?"
)
_NAME = re.compile(r"<div class=\"from_name\">(.{0,500}?)(?:<span\b|</div>)", re.S)
_REPLY = re.compile(r"<div class=\"reply_to details\">[^<]*<a href=\"#go_to_message(-?\d+)\"")
_TEXT = re.compile(r"<div class=\"text\">([^<]*(?:<(?!/div\b|div class=\"text\")[^<]*)*)</div>")
_FILE = re.compile(r"<div class=\"(?:title bold|description)\">(.{0,500}?)</div>", re.S)
_PHOTO = re.compile(r"<a class=\"(photo|video_file|animated|sticker)_wrap\b")
_LEFT_OUT = "Not included"
"""How Telegram begins to say that a file was not exported."""

_FORWARDED = 'class="forwarded body"'
_GENERIC = re.compile(r"messages\d*")


def read_telegram_page(text: str, name: str) -> Conversation:
    """Read the messages of one page of a chat, if it has any."""
    chat = _CHAT.search(text)
    title = name_in(chat[1]) if chat else ""
    messages = list(_messages(text))
    return Conversation(title or stem_or_folder(name, _GENERIC), "Telegram", messages)


def _messages(text: str) -> Iterator[Message]:
    """Yield the messages in order; those of one person in a row have the name once."""
    authors: dict[str, str] = {}
    author = ""
    for start, source in parts(_MESSAGE, text):
        if start["kind"] == "service":
            continue
        head, is_forwarded, forwarded = source.partition(_FORWARDED)
        if own := _NAME.search(head):
            author = name_in(own[1])
        authors[start["id"]] = author
        origin = _NAME.search(forwarded) if is_forwarded else None
        reply = _REPLY.search(source)
        yield Message(
            author,
            _moment(source),
            joined(
                (
                    f"(forwarded from {name_in(origin[1])})" if origin else "",
                    *map(as_markdown, _TEXT.findall(source)),
                    _sent(source),
                )
            ),
            reply_to=authors.get(reply[1], "") if reply else "",
        )


def _moment(source: str) -> datetime | None:
    """Return when a message was sent."""
    found = _DATE.search(source)
    if found is None:
        return None
    day, month, year, clock, offset = found.groups()
    try:
        return datetime.fromisoformat(f"{year}-{month}-{day}T{clock}{offset or ''}")
    except ValueError:
        return None


def _sent(source: str) -> str:
    """Return a mark for a file, photo, place or poll, or ``""``."""
    named = (name_in(part) for part in _FILE.findall(source))
    about = joined((part for part in named if not part.startswith(_LEFT_OUT)), ": ")
    photo = _PHOTO.search(source)
    what = about or (photo[1].replace("_", " ").removesuffix(" file") if photo else "")
    return f"({what})" if what else ""
