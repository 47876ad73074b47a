"""Messages of a conversation: their times, and their form as Markdown.

A session is a heading, and a message a block: a line ``**Author** · 2026-02-03 14:05 · in reply to
Other`` with the text below it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ragkit import months
from ragkit.reading.dates import in_english, parsed_twice
from ragkit.reading.decode import clean
from ragkit.reading.formats import Format
from ragkit.reading.markdown import strip_embedded
from ragkit.reading.reading_parts import nonempty, one_line
from ragkit.types import Markup, MessageSpan, OutlineEntry, Reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ragkit.types import Metadata

_MOST_PARTICIPANTS = 200
_LONGEST_NAME = 120
_PART_SECONDS = 300
_MARKS = re.compile("[\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
_HEADER = re.compile(r"\*\*.{1,200}\*\*(?: · .*)?[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_RISKY = re.compile(
    r" {0,3}(?:#{1,6}(?:[ \t]|$)|=+[ \t]*$|-+[ \t]*$"
    r"|<(?:[!?]|(?:script|pre|style|textarea)(?:[\s>]|$)))",
    re.IGNORECASE,
)
_WORTH_A_LOOK = re.compile(r"^(?:\*\*| {0,3}(?:#|=|-+[ \t]*$|```|~~~|<[!?sSpPtT]))", re.MULTILINE)

_LONGEST_TIME = 60
_SECONDS_BELOW = 1e11
_AFTERNOON = frozenset(("p", "م", "μ", "下午", "午後", "오후"))
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

    ``author`` is empty for notices of the program. ``at`` is aware if the export has the offset,
    and ``None`` without a time. ``reply_to`` is the author of the message that this one answers.
    ``session`` is the export's name for a part of the conversation; if empty, each day is a part.
    """

    author: str
    at: datetime | None
    text: str
    reply_to: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages of one export in order. ``warnings`` are sentences for people."""

    title: str
    platform: str
    messages: Sequence[Message]
    warnings: tuple[str, ...] = ()


def in_order(messages: Sequence[Message]) -> list[Message]:
    """Sort messages by time within their sessions, unless some times cannot be compared.

    Sessions keep the order of their first messages.
    """
    aware = {None if message.at is None else message.at.tzinfo is not None for message in messages}
    if len(aware) != 1 or None in aware:
        return list(messages)
    places: dict[str, int] = {}
    for message in messages:
        places.setdefault(message.session, len(places))
    return sorted(messages, key=lambda message: (places[message.session], message.at))


# -- times, in the many forms of exports -----------------------------------------------------


def moment(value: Any) -> datetime | None:
    """Parse a time: a ``datetime``, a number since 1970, or a text; ``None`` for anything else.

    Numbers may count seconds, milliseconds, microseconds or nanoseconds, and are in UTC. A
    text without an offset stays without one.
    """
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime.combine(value, time())
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return _since_1970(float(value))
    text = str(value).strip()
    if not text or len(text) > _LONGEST_TIME or not any(letter.isdigit() for letter in text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        pass
    try:
        return _since_1970(float(text))
    except ValueError:
        return _parsed_loosely(text)


def day_title(day: date) -> str:
    """Write a day as people do: "Saturday, 14 March 2026"."""
    return f"{_DAYS[day.weekday()]}, {day.day} {months.ENGLISH[day.month - 1]} {day.year}"


def hour_of_day(hour: int, half: str) -> int:
    """Return an hour of 24; ``half`` is how the half of the day is written, if it is."""
    return hour % 12 + 12 * (half.lower() in _AFTERNOON) if half else hour


def recording_part(seconds: float) -> str:
    """Return when the five minutes of a recording begin in which a second is, as h:mm:00."""
    minutes = int(seconds // _PART_SECONDS) * _PART_SECONDS // 60
    return f"{minutes // 60}:{minutes % 60:02}:00"


def _since_1970(number: float) -> datetime | None:
    """Return the time of a number, whose magnitude shows its unit; ``None`` if it is too small."""
    if not math.isfinite(number) or number < 1e8:
        return None
    while number >= _SECONDS_BELOW:
        number /= 1000
    try:
        return datetime.fromtimestamp(number, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _parsed_loosely(text: str) -> datetime | None:
    """Parse a text such as "3 May 2021 14:05"; ``None`` if its date is incomplete.

    Names of months may be of other languages, as in ``iso_date``.
    """
    for written in dict.fromkeys((text, in_english(text))):
        first, second = parsed_twice(written)
        if first is not None and first == second:
            return first
    return None


# -- Markdown ------------------------------------------------------------------------------


def to_reading(conversation: Conversation) -> Reading:
    """Write a conversation as a document."""
    title = one_line(clean(conversation.title))
    text, spans, outline = write(conversation.messages, title)
    return Reading(
        text=text,
        title=title,
        format=Format.CONVERSATION,
        markup=Markup.MARKDOWN,
        outline=outline,
        metadata=metadata_of(spans, conversation.platform),
        warnings=conversation.warnings,
        messages=spans,
    )


def write(
    messages: Iterable[Message], title: str = ""
) -> tuple[str, tuple[MessageSpan, ...], tuple[OutlineEntry, ...]]:
    """Write messages as Markdown; return text, spans of the messages, and outline of sessions."""
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


def metadata_of(spans: Sequence[MessageSpan], platform: str) -> Metadata:
    """Return participants, first and last day, platform and number of messages."""
    authors = dict.fromkeys(span.author for span in spans if span.author)
    days = [span.at[:10] for span in spans if span.at]
    return nonempty(
        participants=list(authors)[:_MOST_PARTICIPANTS],
        date=min(days, default=""),
        last_date=max(days, default=""),
        platform=platform,
        messages=len(spans),
    )


@lru_cache(maxsize=4096)
def name_of(author: str) -> str:
    """Return a name on one line without the invisible marks of some exports."""
    return one_line(_MARKS.sub("", clean(author)))[:_LONGEST_NAME].strip()


def safe_text(text: str) -> str:
    """Escape lines of a message that would start a section or another message.

    Closed code fences stay as they are; one that is never closed is escaped.
    """
    text = strip_embedded(clean(text)).strip("\n").rstrip()
    if not text.strip():
        return ""
    if not _WORTH_A_LOOK.search(text):
        return text
    lines = text.split("\n")
    inside = _fenced_rows(lines)
    for row, line in enumerate(lines):
        if _HEADER.match(line):
            lines[row] = f" {line}"
        elif row not in inside and (_RISKY.match(line) or _FENCE.match(line)):
            bare = line.lstrip(" ")
            lines[row] = f"{line[: len(line) - len(bare)]}\\{bare}"
    return "\n".join(lines)


def _fenced_rows(lines: list[str]) -> set[int]:
    """Return the numbers of the lines of closed code blocks, including their fences."""
    inside: set[int] = set()
    opened, fence = -1, ""
    for row, line in enumerate(lines):
        mark = _FENCE.match(line)
        if not mark:
            continue
        if fence:
            if mark[1].startswith(fence) and not mark[2].strip():
                inside.update(range(opened, row + 1))
                fence = ""
        elif not (mark[1][0] == "`" and "`" in mark[2]):
            opened, fence = row, mark[1]
    return inside


def _session(message: Message) -> str:
    """Return the title of a message's session: the export's own, or the day, or ``""``."""
    if message.session:
        return one_line(clean(message.session))
    return day_title(message.at.date()) if message.at else ""


def _header(author: str, message: Message) -> str:
    """Write the line above a message's text."""
    when = written_time(message.at) if message.at else ""
    if not author:
        return f"*{when}*" if when else "*Note*"
    parts = [f"**{author.replace('*', chr(92) + '*')}**", when]
    if message.reply_to:
        parts.append(f"in reply to {name_of(message.reply_to)}")
    return " · ".join(filter(None, parts))


def written_time(at: datetime) -> str:
    """Write a time for the line above a message."""
    written = f"{at.year:04}-{at.month:02}-{at.day:02} {at.hour:02}:{at.minute:02}"
    if at.tzinfo is not None and (offset := at.strftime("%z")):
        zero = not offset.strip("+-0:")
        written += " UTC" if zero else f" {offset[:3]}:{offset[3:5]}"
    return written
