"""Messages as Markdown: a heading for each session, a block for each message.

A block is a line ``**Author** · 2026-02-03 14:05 · in reply to Other`` with the text below it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from ragkit.reading.conversations.timestamps import day_title, shown
from ragkit.reading.decode import clean
from ragkit.reading.markdown import strip_embedded
from ragkit.reading.reading_parts import one_line, put
from ragkit.types import Markup, MessageSpan, OutlineEntry, Reading

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragkit.reading.conversations.message import Conversation, Message
    from ragkit.types import Metadata

FORMAT = "conversation"
MOST_PARTICIPANTS = 200
_LONGEST_NAME = 120
_MARKS = re.compile("[\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
_HEADER = re.compile(r"\*\*.{1,200}\*\*(?: · .*)?[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_RISKY = re.compile(
    r" {0,3}(?:#{1,6}(?:[ \t]|$)|=+[ \t]*$|-+[ \t]*$"
    r"|<(?:[!?]|(?:script|pre|style|textarea)(?:[\s>]|$)))",
    re.IGNORECASE,
)
_WORTH_A_LOOK = re.compile(r"^(?:\*\*| {0,3}(?:#|=|-+[ \t]*$|```|~~~|<[!?sSpPtT]))", re.MULTILINE)


def to_reading(conversation: Conversation) -> Reading:
    """Write a conversation out as a document."""
    title = one_line(clean(conversation.title))
    text, spans, outline = write(conversation.messages, title)
    return Reading(
        text=text,
        title=title,
        format=FORMAT,
        markup=Markup.MARKDOWN,
        outline=outline,
        metadata=metadata_of(spans, conversation.platform),
        warnings=conversation.warnings,
        messages=spans,
    )


def write(
    messages: Iterable[Message], title: str = ""
) -> tuple[str, tuple[MessageSpan, ...], tuple[OutlineEntry, ...]]:
    """Write messages as Markdown; gives the text, their spans and the sessions."""
    parts = [f"# {title}\n\n"] if title else []
    length = len(parts[0]) if parts else 0
    spans: list[MessageSpan] = []
    outline: list[OutlineEntry] = []
    current = ""
    for message in messages:
        text = safe_text(message.text)
        if not text:
            continue
        session = _session(message)
        if session and session != current:
            current = session
            if session != title:
                heading = f"## {session}\n\n"
                outline.append(OutlineEntry(length, 2, session))
                parts.append(heading)
                length += len(heading)
        author = name_of(message.author)
        block = f"{_header(author, message)}\n{text}"
        at = message.at.isoformat() if message.at else ""
        spans.append(MessageSpan(length, length + len(block), author, at))
        parts.append(f"{block}\n\n")
        length += len(block) + 2
    return "".join(parts).rstrip("\n") + "\n" if spans else "", tuple(spans), tuple(outline)


def metadata_of(spans: Iterable[MessageSpan], platform: str) -> Metadata:
    """Gather who spoke, from when to when, where, and how often."""
    authors: dict[str, None] = {}
    count, first, last = 0, "", ""
    for span in spans:
        count += 1
        if span.author:
            authors[span.author] = None
        if span.at:
            day = span.at[:10]
            first = min(first or day, day)
            last = max(last, day)
    return put(
        {},
        participants=list(authors)[:MOST_PARTICIPANTS],
        date=first,
        last_date=last,
        platform=platform,
        messages=count,
    )


@lru_cache(maxsize=4096)
def name_of(author: str) -> str:
    """Give a name on one line, without the invisible marks that exports put around it."""
    return one_line(_MARKS.sub("", clean(author)))[:_LONGEST_NAME].strip()


def safe_text(text: str) -> str:
    """Make a message's text keep to itself: nothing in it starts a section or a message.

    Whole code fences stay as they are; one that is never closed loses its meaning.
    """
    text = strip_embedded(clean(text)).strip("\n").rstrip()
    if not text.strip():
        return ""
    if not _WORTH_A_LOOK.search(text):
        return text
    lines = text.split("\n")
    inside = _fenced(lines)
    for row, line in enumerate(lines):
        if _HEADER.match(line):
            lines[row] = f" {line}"
        elif row not in inside and (_RISKY.match(line) or _FENCE.match(line)):
            bare = line.lstrip(" ")
            lines[row] = f"{line[: len(line) - len(bare)]}\\{bare}"
    return "\n".join(lines)


def _fenced(lines: list[str]) -> set[int]:
    """List the lines of the code fences that are closed, fences included."""
    inside: set[int] = set()
    opened, fence = -1, ""
    for row, line in enumerate(lines):
        found = _FENCE.match(line)
        if not found:
            continue
        if fence:
            if found[1].startswith(fence) and not found[2].strip():
                inside.update(range(opened, row + 1))
                fence = ""
        elif not (found[1][0] == "`" and "`" in found[2]):
            opened, fence = row, found[1]
    return inside


def _session(message: Message) -> str:
    """Name the session of a message: the export's own, or its day."""
    if message.session:
        return one_line(clean(message.session))
    return day_title(message.at.date()) if message.at else ""


def _header(author: str, message: Message) -> str:
    """Write the line above a message's text."""
    when = shown(message.at) if message.at else ""
    if not author:
        return f"*{when}*" if when else "*Note*"
    parts = [f"**{author.replace('*', chr(92) + '*')}**", when]
    if message.reply_to:
        parts.append(f"in reply to {name_of(message.reply_to)}")
    return " · ".join(filter(None, parts))
