"""Chats that LINE and KakaoTalk save as texts, and iMessages as ``imessage-exporter`` writes them.

LINE and KakaoTalk on a computer name the day above its messages; KakaoTalk on a phone dates each.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time
from typing import TYPE_CHECKING

from ragkit.reading.conversations.messages import (
    Conversation,
    Message,
    day_title,
    hour_of_day,
    moment,
)
from ragkit.reading.reading_parts import one_line, stem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_CLOCK = (
    r"(?:(?P<half>午前|午後|上午|下午|오전|오후) ?)?(?P<hour>\d{1,2}):(?P<minute>\d\d)"
    r"(?:\s?(?P<after>[AaPp])\.?[Mm]\.?)?"
)
_DATE = r"\d{4}년 \d{1,2}월 \d{1,2}일|\d{4}年 ?\d{1,2}月 ?\d{1,2}日|[A-Z][a-z]+ \d{1,2}, \d{4}"

_OF_LINE = re.compile(rf"{_CLOCK}\t(?:(?P<author>[^\t]{{0,80}})\t)?(?P<text>.*)")
_OF_KAKAO = re.compile(rf"\[(?P<author>.{{1,80}}?)\] \[{_CLOCK}\] ?(?P<text>.*)")
_DATED = re.compile(
    rf"(?P<date>{_DATE})(?: at|,)?\s{_CLOCK}(?:, (?:(?P<author>.{{1,80}}?) : )?(?P<text>.*))?"
)
_OF_IMESSAGE = re.compile(
    r"(?P<at>[A-Z][a-z]{2} \d\d, \d{4} +\d{1,2}:\d\d:\d\d [AP]M)(?: \(.{1,200}\))?"
)
_YEAR_FIRST = re.compile(r"(\d{4})\D{1,3}(\d{1,2})\D{1,3}(\d{1,2})(?!\d)")
_WITH_WEEKDAY = re.compile(r"([A-Za-z]{3})[a-z]*, (\d{1,2})/(\d{1,2})/(\d{4})")
_RULED = re.compile(r"-{5,} *\S.{5,60}? *-{5,}")
_DAY_LINE = re.compile(
    r"\d{4}([/.])\d{1,2}\1\d{1,2} ?(?:[(（]\S{1,6}[)）]|\S{1,12})?"
    r"|[A-Z][a-z]{2}, \d{1,2}/\d{1,2}/\d{4}"
)
_KAKAO = re.compile(r"카카오톡 대화|KakaoTalk Chats|Talk Chats$|^저장한 날짜|^Date Saved", re.M)
_TITLE_OF_KAKAO = re.compile(
    r"^.{0,200}(?:카카오톡 대화|KakaoTalk Chats|Talk Chats).{0,200}$", re.M
)
_FIRST_CHARACTERS, _FEWEST = 1000, 2


def read_saved_chat(text: str, name: str) -> Conversation | None:
    """Read a saved chat, or return ``None`` if the text is none."""
    start = text[:_FIRST_CHARACTERS].lstrip()
    first = start.partition("\n")[0].strip()
    if first.startswith("[LINE]"):
        title = one_line(first.removeprefix("[LINE]"))
        found = Conversation(
            title or stem(name), "LINE", list(_of_days(text, _OF_LINE.fullmatch, _DAY_LINE))
        )
    elif _KAKAO.search(start):
        titled = _TITLE_OF_KAKAO.search(start)
        title = one_line(titled[0]) if titled else stem(name)
        found = Conversation(title, "KakaoTalk", list(_of_days(text, _of_kakao, _RULED)))
    elif _OF_IMESSAGE.fullmatch(first):
        found = Conversation(stem(name), "iMessage", list(_of_imessage(text)))
    else:
        return None
    return found if sum(bool(each.author) for each in found.messages) >= _FEWEST else None


def _of_days(
    text: str, begins: Callable[[str], re.Match[str] | None], names_day: re.Pattern[str]
) -> Iterator[Message]:
    """Yield messages below the lines that name their days, or with days of their own.

    Those of LINE that have several lines stand in quotation marks.
    """
    day: date | None = None
    begun: re.Match[str] | None = None
    lines: list[str] = []
    marks = 0
    for line in text.split("\n"):
        begin = begins(line)
        ends = names_day.fullmatch(line.strip()) is not None and marks % 2 == 0
        if begun and (begin or ends):
            unclosed = _days_in(lines, names_day) if marks % 2 else []
            yield _message(begun, day, lines[: unclosed[0]] if unclosed else lines)
            day = _day(lines[unclosed[-1]]) if unclosed else day
            begun = None
        if ends:
            day, marks = _day(line.strip(" -")), 0
        elif begin:
            own = begin.groupdict().get("date")
            day = _day(own) if own else day
            begun, lines = begin, [begin["text"] or ""]
            is_quoted = begin.re is _OF_LINE and lines[0].startswith('"')
            marks = lines[0].count('"') if is_quoted else 0
        elif begun:
            lines.append(line)
            marks += line.count('"') if marks else 0
    if begun:
        yield _message(begun, day, lines)


def _days_in(lines: list[str], names_day: re.Pattern[str]) -> list[int]:
    """Return which lines name a day: those of a message whose mark was never closed."""
    return [row for row, line in enumerate(lines) if names_day.fullmatch(line.strip())]


def _of_kakao(line: str) -> re.Match[str] | None:
    return _DATED.fullmatch(line) or _OF_KAKAO.fullmatch(line)


def _of_imessage(text: str) -> Iterator[Message]:
    """Yield messages whose time, author and text have lines of their own."""
    begun: re.Match[str] | None = None
    lines: list[str] = []
    for line in [*text.split("\n"), None]:
        begin = None if line is None else _OF_IMESSAGE.fullmatch(line.strip())
        if begun and lines and (begin or line is None):
            yield Message(lines[0].strip(), moment(begun["at"]), "\n".join(lines[1:]).strip())
        if begin:
            begun, lines = begin, []
        elif line is not None:
            lines.append(line)


def _message(begun: re.Match[str], day: date | None, lines: list[str]) -> Message:
    text = "\n".join(lines).strip()
    if "\n" in text and text.startswith('"') and text.endswith('"'):
        text = text[1:-1].replace('""', '"')
    return Message((begun["author"] or "").strip(), _at(day, begun), text)


def _at(day: date | None, clock: re.Match[str]) -> datetime | None:
    """Return the moment of a day that a clock shows."""
    hour = hour_of_day(int(clock["hour"]), clock["half"] or clock["after"] or "")
    minute = int(clock["minute"])
    if day is None or hour > 23 or minute > 59:
        return None
    return datetime.combine(day, time(hour, minute))


def _day(text: str) -> date | None:
    """Return a day; of two orders of its numbers, that of the weekday beside them."""
    try:
        if found := _YEAR_FIRST.search(text):
            return date(*map(int, found.groups()))
        if found := _WITH_WEEKDAY.search(text):
            return _on_weekday(found)
    except ValueError:
        return None
    at = moment(text)
    return at.date() if at else None


def _on_weekday(found: re.Match[str]) -> date | None:
    weekday, first, second, year = found[1].capitalize(), *map(int, found.groups()[1:])
    for month, day in ((first, second), (second, first)):
        if month <= 12:
            meant = date(year, month, day)
            if day_title(meant).startswith(weekday):
                return meant
    return None
