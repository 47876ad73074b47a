"""Dates and times as documents write them."""

from __future__ import annotations

import re
import warnings
from contextlib import suppress
from datetime import date, datetime
from functools import cache
from typing import Any

from ragkit import months

# The day comes first wherever people write a date with dots.
_DOTTED = re.compile(r"\d{1,2}\. ?\d{1,2}\. ?\d")
_FIRST_DEFAULT, _SECOND_DEFAULT = datetime(2000, 2, 3), datetime(2001, 3, 4)
_ORDINAL = re.compile(r"(?<=\d)(?:er|º|°|ª)(?=\s)|(?<=\d)\.(?=\s*[^\W\d_])")
_INTRODUCTION = re.compile(r"^(?:[^\W\d_]+\.?,?\s+){1,3}(?=\d)")
_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
_BEFORE_CLOCK = re.compile(r"(?<=\d{4})(?:,?\s+[^\W\d_]+\.?,?){1,2}\s+(?=\d\d?:\d\d)")
_OF = re.compile(r"(?<=\w)\s+(?:de|del|di|van)\s+(?=\w)", re.IGNORECASE)
_STAMP = re.compile(r"[<\[](\d{4}-\d\d-\d\d)(?: [^\W\d]+\.?)?(?: (\d\d:\d\d))?[^<>\[\]]*[>\]]")
"""A date as Org writes it, with the day of the week."""

_LONGEST = 60

_DAY_IN_NAME = re.compile(
    r"(?<!\d)(?:((?:19|20)\d\d)([-_.]?)(\d\d)\2(\d\d)(?:\d{4}(?:\d\d)?)?"
    r"|(\d\d?)\.(\d\d?)\.((?:19|20)\d\d))(?!\d)"
)
"""Year, month and day, also with the time behind them, or day, month and year."""

_MONTH_IN_NAME = re.compile(r"(?<!\d)((?:19|20)\d\d)[-_](0[1-9]|1[0-2])(?![-_.]?\d)")


def iso_date(value: Any) -> str:
    """Return a date, or a text that is a date, in ISO form; ``""`` for anything else.

    A date without a day is the month, and one without a month is the year. Names of months may be
    English, German, French, Spanish, Italian, Portuguese or Dutch.
    """
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    text = str(value).strip()
    if stamp := _STAMP.match(text):
        text = " ".join(filter(None, stamp.groups()))
    if not text or len(text) > _LONGEST or not any(letter.isdigit() for letter in text):
        return ""
    try:
        moment = datetime.fromisoformat(text)
        return moment.date().isoformat() if len(text) <= 10 else moment.isoformat()
    except ValueError:
        return _loose_date(text) or _loose_date(in_english(text))


def date_in_name(name: str) -> str:
    """Return the day, or else the month, in the name of a file, in ISO form.

    Such are "2024-03-11 Minutes", "20240311", "202403111405", "11.3.2024" and "bill_2024-03".
    Without any, and with several, it is ``""``.
    """
    dates = set()
    for year, _, month, day, first, second, last in _DAY_IN_NAME.findall(name):
        with suppress(ValueError):
            dates.add(date(int(year or last), int(month or second), int(day or first)).isoformat())
    dates = dates or {"-".join(month) for month in _MONTH_IN_NAME.findall(name)}
    return dates.pop() if len(dates) == 1 else ""


def _loose_date(text: str) -> str:
    """Return the ISO form of a date like "3 May 2021"; a number counts only as a year."""
    if text.isdigit():
        return text if len(text) == 4 else ""
    first, second = parsed_twice(text)
    if first is None or second is None or first.year != second.year:
        return ""
    if first.month != second.month:
        return f"{first.year:04}"
    return f"{first:%Y-%m}" if first.day != second.day else first.date().isoformat()


def in_english(text: str) -> str:
    """Return a date with the English name of its month, and without words before the day.

    Without a year there is none, as people often mean something else.
    """
    if not _YEAR.search(text):
        return ""
    month = _month_name().search(text)
    if month is None:
        return _INTRODUCTION.sub("", text)
    name = months.ENGLISH[_month_numbers()[month[1].lower()] - 1]
    before = _INTRODUCTION.sub("", text[: month.start()])
    after = _BEFORE_CLOCK.sub(" ", text[month.end() :])
    return _OF.sub(" ", _ORDINAL.sub("", f"{before}{name}{after}"))


@cache
def _month_numbers() -> dict[str, int]:
    return {**months.shortened(), **months.named()}


@cache
def _month_name() -> re.Pattern[str]:
    names = "|".join(sorted(_month_numbers(), key=len, reverse=True))
    return re.compile(rf"(?<![^\W\d_])({names})(?![^\W\d_])\.?", re.IGNORECASE)


def parsed_twice(text: str) -> tuple[datetime | None, datetime | None]:
    """Parse a date or time in common notation with two defaults; ``None`` where that fails.

    The results differ in whatever the text does not say.
    """
    return _parsed(text, _FIRST_DEFAULT), _parsed(text, _SECOND_DEFAULT)


def _parsed(text: str, default: datetime) -> datetime | None:
    from dateutil import parser

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            moment = parser.parse(text, default=default, dayfirst=bool(_DOTTED.match(text)))
        moment.utcoffset()  # raises an error if it is a day or more
        return moment
    except (ValueError, OverflowError, TypeError, AttributeError):
        return None
