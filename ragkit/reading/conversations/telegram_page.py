"""A chat as Telegram exports it by default: as a web page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from ragkit.reading.conversations.messages import Conversation, Message, to_reading
from ragkit.reading.formats import Format
from ragkit.reading.html import read_html
from ragkit.reading.reading_parts import joined, stem_or_folder, tidy, whole_line, without_tags
from ragkit.types import Reading

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
_TEXT = re.compile(r"<div class=\"text\">(.*?)</div>", re.S)
_FILE = re.compile(r"<div class=\"(?:title bold|description)\">(.{0,500}?)</div>", re.S)
_PHOTO = re.compile(r"<a class=\"(photo|video_file|animated|sticker)_wrap\b")
_LEFT_OUT = "Not included"
"""How Telegram begins to say that a file was not exported."""

_FORWARDED = 'class="forwarded body"'
_LINK = re.compile(r"<a\b[^<>]*?\bhref=\"([^\"]*)\"[^<>]*>(.*?)</a>", re.S)
_TAG = re.compile(r"<[^<>]*>")
_MARKS = (
    (re.compile(r"</?(?:strong|b)>"), "**"),
    (re.compile(r"</?(?:em|i)>"), "*"),
    (re.compile(r"</?code>"), "`"),
    (re.compile(r"<pre>"), "\n```\n"),
    (re.compile(r"</pre>"), "\n```\n"),
    (re.compile(r"<br\s*/?>"), "\n"),
)
_GENERIC = re.compile(r"messages\d*")


def read_chat_page(text: str, name: str, file_format: Format = Format.TELEGRAM_PAGE) -> Reading:
    """Read one page of a chat; a page without messages is a web page."""
    messages = list(_messages(text))
    if not messages:
        return read_html(text, name, file_format)
    chat = _CHAT.search(text)
    title = whole_line(without_tags(chat[1])) if chat else ""
    return to_reading(Conversation(title or stem_or_folder(name, _GENERIC), "Telegram", messages))


def _messages(text: str) -> Iterator[Message]:
    """Yield the messages in order; those of one person in a row have the name once."""
    starts = list(_MESSAGE.finditer(text))
    ends = [start.start() for start in starts[1:]] + [len(text)]
    authors: dict[str, str] = {}
    author = ""
    for start, end in zip(starts, ends, strict=True):
        if start["kind"] == "service":
            continue
        source = text[start.end() : end]
        head, is_forwarded, forwarded = source.partition(_FORWARDED)
        if own := _NAME.search(head):
            author = whole_line(without_tags(own[1]))
        authors[start["id"]] = author
        origin = _NAME.search(forwarded) if is_forwarded else None
        reply = _REPLY.search(source)
        yield Message(
            author,
            _moment(source),
            joined(
                (
                    f"(forwarded from {whole_line(without_tags(origin[1]))})" if origin else "",
                    *map(_written, _TEXT.findall(source)),
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
    parts = (whole_line(without_tags(part)) for part in _FILE.findall(source))
    about = joined((part for part in parts if not part.startswith(_LEFT_OUT)), ": ")
    photo = _PHOTO.search(source)
    what = about or (photo[1].replace("_", " ").removesuffix(" file") if photo else "")
    return f"({what})" if what else ""


def _written(source: str) -> str:
    """Return the text of a message as Markdown."""
    source = _LINK.sub(_link, source)
    for tag, mark in _MARKS:
        source = tag.sub(mark, source)
    return tidy("\n".join(line.strip() for line in without_tags(source).split("\n")))


def _link(link: re.Match[str]) -> str:
    shown = _TAG.sub("", link[2])
    is_address = link[1].startswith(("http://", "https://")) and shown not in link[1]
    return f"[{shown}]({link[1]})" if is_address else shown
