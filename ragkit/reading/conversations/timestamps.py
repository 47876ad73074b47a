"""When something was said: the many ways in which exports write a time."""

from __future__ import annotations

import math
import warnings
from datetime import UTC, date, datetime, time
from functools import lru_cache
from typing import Any

_LONGEST = 60
_FIRST_DEFAULT = datetime(2000, 2, 3)
_SECOND_DEFAULT = datetime(2001, 3, 4)
_SECONDS_BELOW = 1e11
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def moment(value: Any) -> datetime | None:
    """Understand a time: a ``datetime``, a number since 1970, or a text; ``None`` otherwise.

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
    if not text or len(text) > _LONGEST or not any(letter.isdigit() for letter in text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        pass
    try:
        return _since_1970(float(text))
    except ValueError:
        return _loosely(text)


def shown(at: datetime) -> str:
    """Write a time as the line above a message shows it."""
    written = f"{at.year:04}-{at.month:02}-{at.day:02} {at.hour:02}:{at.minute:02}"
    if at.tzinfo is not None and (offset := at.strftime("%z")):
        zero = not offset.strip("+-0:")
        written += " UTC" if zero else f" {offset[:3]}:{offset[3:5]}"
    return written


@lru_cache(maxsize=4096)
def day_title(day: date) -> str:
    """Write a day as people do: "Saturday, 14 March 2026"."""
    return f"{_DAYS[day.weekday()]}, {day.day} {_MONTHS[day.month - 1]} {day.year}"


def _since_1970(number: float) -> datetime | None:
    """Read a number whose size tells its unit; small numbers are no times."""
    if not math.isfinite(number) or number < 1e8:
        return None
    while number >= _SECONDS_BELOW:
        number /= 1000
    try:
        return datetime.fromtimestamp(number, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _loosely(text: str) -> datetime | None:
    """Read "3 May 2021 14:05" and its like; a text without a whole date is none."""
    from dateutil import parser

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            first = parser.parse(text, default=_FIRST_DEFAULT)
            again = parser.parse(text, default=_SECOND_DEFAULT)
    except (ValueError, OverflowError, TypeError, AttributeError):
        return None
    return first if first == again else None
