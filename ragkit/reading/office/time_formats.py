"""Formats of times in workbooks: durations such as "36:15", and times of day."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

_LITERAL = re.compile(
    r'"[^"]*"|\\.|_.|\*.|\[\$[^\]]*\]|\[(?:Black|Blue|Cyan|Green|Magenta|Red|White|Yellow)\]', re.I
)
_ELAPSED = re.compile(r"\[(h+|m+|s+)\]")
_TIME = re.compile(r"(?:am/pm|a/p|[hms:., /-]|(?<=s\.)0{1,3})+")
_LONGEST = 300
_DAY = 86_400


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


def parse(code: str) -> TimeFormat | None:
    """Return what a format code says; ``None`` if it formats no times, or dates as well."""
    bare = _LITERAL.sub("", code[:_LONGEST]).split(";")[0].lower()
    elapsed = _ELAPSED.search(bare)
    rest = _ELAPSED.sub("", bare)
    if (rest and not _TIME.fullmatch(rest)) or not (elapsed or "h" in rest or "s" in rest):
        return None
    return TimeFormat(elapsed[1][0] if elapsed else "", "s" in rest)
