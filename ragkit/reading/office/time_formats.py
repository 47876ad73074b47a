"""Formats of times in workbooks and charts: durations such as "36:15", times of day, dates."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation

_LITERAL = re.compile(
    r'"[^"]*"|\\.|_.|\*.|\[\$[^\]]*\]|\[(?:Black|Blue|Cyan|Green|Magenta|Red|White|Yellow)\]', re.I
)
_ELAPSED = re.compile(r"\[(h+|m+|s+)\]")
_TIME = re.compile(r"(?:am/pm|a/p|[hms:., /-]|(?<=s\.)0{1,3})+")
_DATE = re.compile(r"[ymd]")
_OTHER = re.compile(r"[#?@]|\[[<>=]")
_LONGEST = 300
_DAY, _FEBRUARY_1900 = 86_400, 60


@dataclass(frozen=True, slots=True)
class TimeFormat:
    """A format that shows a part of a day, or with ``elapsed`` ("h", "m" or "s") any time in it."""

    elapsed: str
    seconds: bool

    def shown(self, number: str) -> str | None:
        """Return a number of days as a time; ``None`` for one that a time of day does not show."""
        try:
            seconds = round(Decimal(number) * _DAY)
        except (InvalidOperation, ValueError, OverflowError):
            return None
        if seconds < 0 or (not self.elapsed and seconds >= _DAY):
            return None
        minutes, second = divmod(seconds, 60)
        hours, minute = divmod(minutes, 60)
        if not self.elapsed:
            return f"{hours:02}:{minute:02}:{second:02}"
        if self.elapsed == "s":
            return str(seconds)
        first = f"{hours}:{minute:02}" if self.elapsed == "h" else str(minutes)
        return f"{first}:{second:02}" if self.seconds else first


@dataclass(frozen=True, slots=True)
class DateFormat:
    """A format of dates, counted in days from 1900 on, or from 1904 as Excel on a Mac did."""

    from_1904: bool

    def shown(self, number: str) -> str | None:
        """Return the date of a number of days, with its time; ``None`` for one that is none.

        Before March 1900 Excel counts a day that there was not.
        """
        try:
            seconds = round(Decimal(number) * _DAY)
            if not self.from_1904 and seconds <= _FEBRUARY_1900 * _DAY:
                return None
            first = datetime(1904, 1, 1) if self.from_1904 else datetime(1899, 12, 30)
            return str(first + timedelta(seconds=seconds)).removesuffix(" 00:00:00")
        except (InvalidOperation, ValueError, OverflowError):
            return None


def parse_date(code: str, *, from_1904: bool) -> DateFormat | None:
    """Return what a format code says; ``None`` if it formats no dates."""
    bare = _LITERAL.sub("", code[:_LONGEST]).lower()
    return DateFormat(from_1904) if _DATE.search(bare) and not _OTHER.search(bare) else None


def parse(code: str) -> TimeFormat | None:
    """Return what a format code says; ``None`` if it formats no times, or dates as well."""
    bare = _LITERAL.sub("", code[:_LONGEST]).split(";")[0].lower()
    elapsed = _ELAPSED.search(bare)
    rest = _ELAPSED.sub("", bare)
    if (rest and not _TIME.fullmatch(rest)) or not (elapsed or "h" in rest or "s" in rest):
        return None
    return TimeFormat(elapsed[1][0] if elapsed else "", "s" in rest)
