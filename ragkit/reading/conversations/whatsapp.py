"""Text exports of WhatsApp from Android and iOS, with the date formats of many countries."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from ragkit.reading.conversations.messages import Conversation, Message, hour_of_day, name_of
from ragkit.reading.reading_parts import stem_or_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

_MARK = "[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
_MARKS = re.compile(_MARK)
_DATE = r"(?P<a>\d{1,4})(?P<sep>[./-])\s?(?P<b>\d{1,2})(?P=sep)\s?(?P<c>\d{1,4})\.?(?:\sг\.)?"
_JOIN = r"[,،]?\s(?:(?:à|at|um|às|alle|klo|kl\.|om|a\slas)\s)?"
_TIME = r"(?P<early>上午|下午|오전|오후)?\s?(?P<hour>\d{1,2})[:.](?P<minute>\d{2})"
_SECOND = r"(?:[:.](?P<second>\d{2}))?"
_HALF = (
    r"(?:\s?(?:(?P<half>[AaPp])\.?\s?[Mm]\b\.?|(?P<arabic>[صم])|(?P<greek>[πμ])\.μ\.))?(?:\sч\.)?"
)
_ANDROID = re.compile(rf"{_DATE}{_JOIN}{_TIME}{_HALF}\s[-–]\s(?P<rest>.*)")
_IOS = re.compile(rf"\[{_DATE}{_JOIN}{_TIME}{_SECOND}{_HALF}\]\s(?P<rest>.*)")
_HALVES = ("half", "arabic", "greek", "early")
_YEAR_FIRST_DAYS = 400
"""How many days fewer a chat must span for its dates to begin with a year of two digits."""

_BUDDHIST, _LAST_YEAR = 543, 2400
_STAMP_LENGTH = 48
_AUTHOR = re.compile(rf"{_MARK}*(?P<author>[^\n:]{{1,100}}?){_MARK}*:(?:\s|$)(?P<text>.*)")
_NOTICE = re.compile('["“”„«»]')
_WHOLE_IN_ANGLES = re.compile(rf"(?:{_MARK})*<([^<>\n]{{1,200}})>$", re.MULTILINE)
_ENCRYPTED = re.compile(r"end-to-end|Ende-zu-Ende|bout en bout|extremo a extremo|ponta a ponta")
_LOG_WORDS = re.compile(
    r"\b(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE|FATAL|CRITICAL|NOTICE)\b|[\[\]{}=\\/|]"
)
_FIRST_LINES = 20
_GENERIC = re.compile("_chat|chat|index")
_SAVED_AS = re.compile(r"WhatsApp Chat (?:with|-) (.+)|Chat de WhatsApp con (.+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Line:
    """The parts of a line that begins a message; ``date`` has its three numbers as written.

    ``american``: it is written as in the United States, "2/3/26, 2:05 PM".
    """

    date: tuple[str, str, str]
    clock: tuple[int, int, int]
    rest: str
    american: bool


def read_whatsapp(text: str, name: str) -> Conversation | None:
    """Read an exported chat, or return ``None`` if the text is not one.

    The order of day, month and year is one that fits every date of the file; of several, the one in
    which time goes backwards least often.
    """
    entries = _entries(text)
    if len(entries) < 2:
        return None
    spoken = [_AUTHOR.match(line.rest) for line, _ in entries]
    authors = [match["author"] for match in spoken if match]
    odd = sum(1 for author in authors if _LOG_WORDS.search(author))
    if len(authors) * 2 < len(entries) or odd * 5 > len(authors):
        return None
    american = sum(1 for line, _ in entries if line.american) * 2 > len(entries)
    order = _date_order([line.date for line, _ in entries], american=american)
    if order is None:
        return None
    messages = []
    for line, more in entries:
        author, first = _speaker(line.rest)
        whole = "\n".join([first, *more])
        if not author and _ENCRYPTED.search(whole):
            continue
        messages.append(Message(author, _moment(line, order), _plain(whole)))
    return Conversation(_title(name), _platform(entries, text, name), messages)


def _entries(text: str) -> list[tuple[_Line, list[str]]]:
    """Split the text into messages: the line that begins each, and its further lines."""
    entries: list[tuple[_Line, list[str]]] = []
    for number, line in enumerate(text.split("\n")):
        begins = _begins(line)
        if begins:
            entries.append((begins, []))
        elif entries:
            entries[-1][1].append(line)
        elif number > _FIRST_LINES:
            break
    return entries


def _begins(line: str) -> _Line | None:
    """Parse a line that begins a message; return ``None`` for any other line."""
    if not any(letter.isdigit() for letter in line[:6]):
        return None
    line = _MARKS.sub("", line[:_STAMP_LENGTH]) + line[_STAMP_LENGTH:]
    match = _ANDROID.match(line) or _IOS.match(line)
    if not match:
        return None
    parts = match.groupdict()
    hour, minute, second = (int(parts.get(key) or 0) for key in ("hour", "minute", "second"))
    hour = hour_of_day(hour, next(filter(None, map(parts.get, _HALVES)), ""))
    if hour > 23 or minute > 59 or second > 59:
        return None
    american = parts["sep"] == "/" and len(parts["c"]) == 2 and parts["half"] in ("A", "P")
    return _Line(
        (match["a"], match["b"], match["c"]), (hour, minute, second), match["rest"], american
    )


def _date_order(dates: Sequence[tuple[str, str, str]], *, american: bool) -> str | None:
    """Choose which part is the day, the month and the year: "dmy", "mdy" or "ymd"."""
    unique = list(dict.fromkeys(dates))
    costs: dict[str, float] = {}
    for order in ("mdy", "dmy", "ymd") if american else ("dmy", "mdy", "ymd"):
        days = [day for date in unique if (day := _day(date, order))]
        if len(days) < len(unique):
            continue
        backwards = sum(1 for day, after in pairwise(days) if after < day)
        # If time goes forward in two orders, the one that spans fewer days is likelier.
        span = (max(days) - min(days)).days
        if order == "ymd" and len(unique[0][0]) < 4:
            span += _YEAR_FIRST_DAYS
        costs[order] = backwards + span / 1e6
    return min(costs, key=lambda order: costs[order], default=None)


@lru_cache(maxsize=4096)
def _day(date: tuple[str, str, str], order: str) -> datetime | None:
    """Return the day of a date in that order, or ``None`` if there is no such day."""
    parts = dict(zip(order, date, strict=True))
    if len(parts["d"]) > 2 or len(parts["m"]) > 2 or len(parts["y"]) not in (2, 4):
        return None
    year = int(parts["y"])
    if year > _LAST_YEAR:  # as the calendar of Thailand counts them
        year -= _BUDDHIST
    try:
        return datetime(year + 2000 if year < 100 else year, int(parts["m"]), int(parts["d"]))
    except ValueError:
        return None


def _moment(line: _Line, order: str) -> datetime | None:
    day = _day(line.date, order)
    hour, minute, second = line.clock
    return day and day.replace(hour=hour, minute=minute, second=second)


def _speaker(rest: str) -> tuple[str, str]:
    """Split a line into author and text; the author is empty for notices of the program."""
    match = _AUTHOR.match(rest)
    if not match or _NOTICE.search(match["author"]):
        return "", rest
    return name_of(match["author"].lstrip("~\u202f\u00a0 ")), match["text"]


def _plain(text: str) -> str:
    """Remove invisible marks, and put placeholders of media in round brackets."""
    text = _WHOLE_IN_ANGLES.sub(r"(\1)", text)
    return text.replace("\u200e", "").replace("\u202f", " ").strip()


def _platform(entries: Sequence[tuple[_Line, list[str]]], text: str, name: str) -> str:
    """Return "Signal" for exports with "[year-month-day hour:minute]", or "WhatsApp"."""
    first_lines = text.split("\n", _FIRST_LINES)[:_FIRST_LINES]
    bracketed = next((line for line in first_lines if line.startswith("[")), "")
    year_first = len(entries[0][0].date[0]) == 4
    without_seconds = bool(re.match(r"\[[\d-]+,?\s\d\d:\d\d\]", bracketed))
    if "signal" in name.lower() or (year_first and without_seconds):
        return "Signal"
    return "WhatsApp"


def _title(name: str) -> str:
    """Return a title from the file's name, or its folder's if that is generic."""
    title = stem_or_folder(name, _GENERIC)
    saved = _SAVED_AS.fullmatch(title)
    return (saved[1] or saved[2]) if saved else title
