"""Texts of meetings: chats that Zoom saves, and transcripts with a line for each speaker's turn."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

from ragkit.reading.conversations.messages import Conversation, Message, name_of, recording_part
from ragkit.reading.reading_parts import stem_or_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_CLOCK = r"(?P<clock>\d{1,2}:\d{2}:\d{2})"
_TABBED = re.compile(rf"{_CLOCK}\t(?P<author>[^\t:]{{1,80}}):\t(?P<text>.*)")
# "From Anna to Everyone:", in the language of the program.
_FROM = re.compile(
    rf"(?:(?P<date>\d{{4}}-\d\d-\d\d)\s)?{_CLOCK}\s+(?:From|Von|De|Da|Van|Från|Fra|Od)\s+"
    r"(?P<author>\S[^\n:]{0,79}?)(?:\s+(?:to|an|à|a|para|aan|till|til|do)\s+(?P<to>\S[^\n:]{0,79}?))?"
    r"\s*:(?:\s|$)(?P<text>.*)"
)
# "Anna Berg   0:03", with what she said below.
_TURN = re.compile(
    r"(?P<author>[^\W\d_][^\t\n:;|]{0,59}?)(?:\t| {2,})(?P<clock>(?:\d{1,2}:)?\d{1,2}:\d{2})\s*"
)
_EVERYONE = re.compile(r"(?:everyone|alle[ns]?|tou[ts].*|todos?.*|tutti|iedereen)\b", re.I)
_PRIVATE = re.compile(r"\s*\([^()]*\)$")
_DAY = re.compile(r"(?<!\d)(20\d\d)[-._](\d\d)[-._](\d\d)(?!\d)")
_SAVED = re.compile(r"(?:meeting_)?(?:saved_)?(?:new_)?chat(?:_file)?", re.I)
_FEWEST, _FEWEST_TURNS = 2, 4
_FIRST_LINES = 20


def read_meeting(text: str, name: str) -> Conversation | None:
    """Read a saved chat or a transcript, or return ``None`` if the text is neither.

    What stands above the first message, such as a title, is a notice.
    """
    for begins in (_TABBED.fullmatch, _FROM.fullmatch):
        messages = list(_messages(text, name, begins))
        if sum(bool(message.author) for message in messages) >= _FEWEST:
            return Conversation(stem_or_folder(name, _SAVED), "Zoom", messages)
    turns = list(_messages(text, name, _TURN.fullmatch))
    if _are_turns(turns):
        return Conversation(stem_or_folder(name, _SAVED), "transcript", turns)
    return None


def _are_turns(messages: Sequence[Message]) -> bool:
    """Return whether people speak in turn, unlike the items of a schedule or a list of songs."""
    spoken = [message for message in messages if message.author]
    authors = {message.author for message in spoken}
    says = all(message.text for message in spoken)
    return says and len(spoken) >= max(_FEWEST_TURNS, 2 * len(authors))


def _messages(
    text: str, name: str, begins: Callable[[str], re.Match[str] | None]
) -> Iterator[Message]:
    """Yield the messages of a text, each from the line that begins it; none if another is first."""
    begun: re.Match[str] | None = None
    lines: list[str] = []
    for number, line in enumerate(text.split("\n")):
        if match := begins(line):
            message = _message(begun, lines, name) if begun else _notice(lines, match)
            if message.text or message.author:
                yield message
            begun, lines = match, []
        elif begun or number <= _FIRST_LINES:
            lines.append(line.removeprefix("\t"))
        else:
            return
    if begun:
        yield _message(begun, lines, name)


def _notice(lines: Sequence[str], first: re.Match[str]) -> Message:
    """Return what stands above the first message as a notice."""
    return Message("", None, "\n".join(lines).strip(), session=_part(first["clock"]))


def _message(begun: re.Match[str], lines: Sequence[str], name: str) -> Message:
    parts = begun.groupdict()
    said = "\n".join([parts.get("text") or "", *lines]).strip()
    to = _PRIVATE.sub("", parts.get("to") or "")
    if to and not _EVERYONE.match(to):
        said = f"(to {to}) {said}"
    # Turns count from the beginning of a recording, on whatever day.
    day = _DAY.search(parts.get("date") or "") or _DAY.search(name) if "text" in parts else None
    at = _moment(day, parts["clock"]) if day else None
    session = "" if at else _part(parts["clock"])
    return Message(name_of(parts["author"].strip()), at, said, session=session)


def _moment(day: re.Match[str], clock: str) -> datetime | None:
    year, month, date = map(int, day.groups())
    try:
        return datetime(year, month, date, *_hours(clock))
    except ValueError:
        return None


def _part(clock: str) -> str:
    hours, minutes, seconds = _hours(clock)
    return recording_part(hours * 3600 + minutes * 60 + seconds)


def _hours(clock: str) -> tuple[int, int, int]:
    """Return hours, minutes and seconds; a time may lack the hours."""
    hours, minutes, seconds = ([0] + [int(part) for part in clock.split(":")])[-3:]
    return hours, minutes, seconds
