"""Transcripts in plain text and Markdown: "Name: text", "**Name** (14:05)" and similar."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import pairwise
from typing import TYPE_CHECKING

from ragkit.reading.conversations.messages import (
    Conversation,
    Message,
    metadata_of,
    moment,
    name_of,
)
from ragkit.reading.formats import Format
from ragkit.reading.markdown import fenced_lines
from ragkit.reading.reading_parts import stem
from ragkit.types import MessageSpan, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_STAMPED = re.compile(
    r"\*\*(?P<name>(?:[^*\n]|\\\*){1,120})\*\* · (?P<when>[^·\n]{4,60}?)(?P<rest> · .*)?[ \t]*$"
)
_BOLD = re.compile(
    r"\*\*(?P<name>[^*\n:(\[]{1,60}?)(?P<in>:)?\*\*"
    r"(?:\s*[(\[](?P<when>[^)\]\n]{3,40})[)\]])?(?P<out>\s?:)?(?:\s(?P<text>.*))?$"
)
_PLAIN = re.compile(
    r"(?:[(\[]?(?P<before>\d{1,2}:\d{2}(?::\d{2})?)[)\]]?\s+)?"
    r"(?P<name>[^\W\d_][^\n:*<>{}()\[\]|=/\\#\"]{0,39}?)"
    r"(?:\s*[(\[](?P<when>[^)\]\n]{3,40})[)\]])?:\s+(?P<text>\S.*)$"
)
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(?P<title>.*)")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")
_DAY = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}\.? [^\W\d_]{3,12} \d{4}|[^\W\d_]{3,12} \d{1,2}, \d{4}")
_SENTENCE = re.compile(r"[.?!…。？！\"'”’)]\s*$")
_NO_NAMES = frozenset({
    "note", "notes", "warning", "tip", "hint", "example", "todo", "important", "caution",
    "danger", "info", "summary", "subject", "from", "to", "cc", "date", "time", "attendees",
    "participants", "agenda", "action", "actions", "decision", "decisions", "topic", "title",
    "author", "status", "version", "location", "place", "step", "result", "results", "input",
    "output", "usage", "error",
})  # fmt: skip
_FEWEST = 6
_FEWEST_STAMPED = 2
_BEGINNING = 20_000
_MOST_SPEAKERS = 20
_COVERED = 0.6


@dataclass(frozen=True, slots=True)
class _Turn:
    """The start of a message: its offset, author, time, and the ``text`` on the same line."""

    offset: int
    name: str
    at: datetime | None
    text: str


def read_transcript(text: str, name: str) -> Conversation | None:
    """Read plain text in which people take turns, or return ``None`` if it is not that."""
    turns = _find_turns(text, None)
    if not turns or turns[0].offset > len(text) * (1 - _COVERED):
        return None
    ends = [turn.offset for turn in turns[1:]] + [len(text)]
    messages = []
    before = text[: turns[0].offset].strip()
    if before:
        messages.append(Message("", None, before))
    for turn, end in zip(turns, ends, strict=True):
        _, _, below = text[turn.offset : end].partition("\n")
        body = f"{turn.text}\n{below}".strip("\n")
        messages.append(Message(turn.name, turn.at, body))
    return Conversation(stem(name), "transcript", messages)


def mark_messages(reading: Reading) -> Reading | None:
    """Return a Markdown transcript with its messages marked, or ``None`` if it is not one."""
    text = reading.text
    day = moment(str(reading.metadata.get("date", "")))
    today = day.date() if day else None
    turns = _find_turns(text, today)
    if not turns:
        return None
    spans = tuple(_spans(text, turns))
    if sum(span.end - span.start for span in spans) < _COVERED * len(text.strip()):
        return None
    return replace(
        reading,
        format=Format.CONVERSATION,
        metadata={**reading.metadata, **metadata_of(spans, "transcript")},
        messages=spans,
    )


def _find_turns(text: str, today: date | None) -> list[_Turn]:
    """Return the turns in the first known form that makes the text a conversation."""
    # The beginning of a file shows that it is not a transcript; most are not.
    beginning = text[:_BEGINNING]
    for form, convinced in ((_STAMPED, _stamped), (_BOLD, _talk), (_PLAIN, _talk)):
        turns = list(_turns(beginning, form, today))
        if convinced(turns) and len(text) > _BEGINNING:
            turns = list(_turns(text, form, today))
        if convinced(turns):
            return turns
    return []


def _turns(text: str, form: re.Pattern[str], today: date | None) -> Iterator[_Turn]:
    """Yield the lines that begin a message; a heading with a date sets the day."""
    for offset, line, fenced in fenced_lines(text):
        if fenced or not line:
            continue
        heading = _HEADING.match(line[:300]) if line.lstrip(" ").startswith("#") else None
        if heading:
            today = _day_in(heading["title"]) or today
            continue
        match = form.match(line)
        if match is None:
            continue
        parts = match.groupdict()
        when = parts.get("when") or parts.get("before") or ""
        at = _moment(when, today)
        colon = parts.get("in") or parts.get("out")
        if "in" in parts and not colon and (at is None or parts.get("text")):
            continue
        name = name_of(parts["name"].replace("\\*", "*"))
        yield _Turn(offset, name, at, (parts.get("text") or "").strip())


def _stamped(turns: Sequence[_Turn]) -> bool:
    """Return whether nearly all turns have a time."""
    timed = sum(1 for turn in turns if turn.at)
    return len(turns) >= _FEWEST_STAMPED and timed >= 0.8 * len(turns)


def _talk(turns: Sequence[_Turn]) -> bool:
    """Return whether a few people take turns in sentences, unlike lists of fields or terms."""
    names = Counter(turn.name for turn in turns)
    if len(turns) < _FEWEST or not 2 <= len(names) <= _MOST_SPEAKERS:
        return False
    if any(name.casefold() in _NO_NAMES or len(name.split()) > 4 for name in names):
        return False
    if any(name[:1].islower() for name in names):
        return False
    again = sum(count for count in names.values() if count > 1)
    changes = sum(1 for turn, next_turn in pairwise(turns) if turn.name != next_turn.name)
    if again < 0.9 * len(turns) or changes * 3 < len(turns):
        return False
    if sum(1 for turn in turns if turn.at) >= 0.8 * len(turns):
        return True
    spoken = [turn.text for turn in turns if turn.text]
    sentences = sum(1 for text in spoken if _SENTENCE.search(text))
    words = sum(len(text.split()) for text in spoken)
    return sentences * 2 >= len(turns) and words >= 4 * len(turns)


def _spans(text: str, turns: Sequence[_Turn]) -> Iterator[MessageSpan]:
    """Yield the span of each message, which ends at the next message or heading."""
    headings = (
        offset
        for offset, line, fenced in fenced_lines(text)
        if not fenced and _HEADING.match(line[:300])
    )
    borders = sorted({*headings, *(turn.offset for turn in turns), len(text)})
    following = dict(pairwise(borders))
    for turn in turns:
        end = following[turn.offset]
        end = turn.offset + len(text[turn.offset : end].rstrip())
        yield MessageSpan(turn.offset, end, turn.name, turn.at.isoformat() if turn.at else "")


def _moment(written: str, today: date | None) -> datetime | None:
    """Parse a time; one without a date belongs to ``today``."""
    clock = _CLOCK.fullmatch(written.strip())
    if clock is None:
        return moment(written)
    hour, minute, second = (int(part or 0) for part in clock.groups())
    if today is None or hour > 23 or minute > 59 or second > 59:
        return None
    return datetime(today.year, today.month, today.day, hour, minute, second)


def _day_in(title: str) -> date | None:
    """Return the date that a heading names."""
    day = _DAY.search(title)
    at = moment(day[0]) if day else None
    return at.date() if at else None
