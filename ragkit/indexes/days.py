"""Months of the days that are written in digits: by them a day is found, and not asked for."""

from __future__ import annotations

import re

_YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)")
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})|(\d\d)([/.])(\d\d)\6(\d\d)")
_HAN_MONTH = re.compile(r"(?<!\d)(\d{4})\u5e74(\d{1,2})\u6708")
_THIS_CENTURY = 70


def periods_of(word: str) -> tuple[tuple[str, int, int], ...]:
    """Return the months of the day that a word is, as "2024-01", and its year if it is in points.

    Each with its slice of the word. Of "3/4/2024" both readings count. A word of Chinese or
    Japanese may hold several months, also without days.
    """
    if not word[:1].isdigit() or word.isalnum():
        return _han_months(word) if "\u6708" in word else ()
    if found := _YEAR_FIRST.match(word):
        year, sign, month, day = found.groups()
        readings = [(int(month), int(day))]
    elif found := _YEAR_LAST.fullmatch(word):
        one, sign, other, year = filter(None, found.groups())
        readings = [(int(other), int(one))]
        if sign == "/":
            readings.append((int(one), int(other)))
    else:
        return ()
    number = int(year)
    if len(year) == 2:
        number += 2000 if number < _THIS_CENTURY else 1900
    numbers = dict.fromkeys(month for month, day in readings if 0 < month < 13 and 0 < day < 32)
    months = tuple((f"{number}-{month:02}", 0, found.end()) for month in numbers)
    at = word.index(year)
    is_other = bool(months) and sign == "." and len(year) == 4
    return (*months, (year, at, at + 4)) if is_other else months


def _han_months(word: str) -> tuple[tuple[str, int, int], ...]:
    return tuple(
        (f"{int(found[1])}-{int(found[2]):02}", *found.span())
        for found in _HAN_MONTH.finditer(word)
        if 0 < int(found[2]) < 13
    )
