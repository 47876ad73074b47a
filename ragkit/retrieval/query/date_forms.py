"""The days of a question, as documents may write them otherwise.

A table's "2024-03-03" is one word, which "3 March 2024" does not have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import islice

from ragkit import months
from ragkit.indexes.tokenizer import fold, index_tokens

_LONGEST, _MOST_DAYS = 500, 4
_HOLDS_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
_DIGITS = (
    re.compile(r"(?<![\w.])(?P<y>\d{4})(?P<s>[-/.])(?P<m>\d{1,2})(?P=s)(?P<d>\d{1,2})(?![\w-])"),
    re.compile(r"(?<![\w.])(?P<d>\d{1,2})(?P<s>[-/.])(?P<m>\d{1,2})(?P=s)(?P<y>\d{4})(?![\w-])"),
)


@lru_cache(64)
def date_forms(text: str) -> Mapping[str, tuple[str, ...]]:
    """Return the tokens of other ways to write the days of a text, which name the year.

    Each with the text's own tokens for which it stands. Of "3/4/2024" both readings count.
    """
    text = text[:_LONGEST]
    if not _HOLDS_YEAR.search(text):
        return {}
    folded = fold(text).casefold()
    own = set(index_tokens(text))
    forms: dict[str, tuple[str, ...]] = {}
    found = (match for pattern in _patterns() for match in pattern.finditer(folded))
    for match in islice(found, _MOST_DAYS):
        day = tuple(index_tokens(match[0]))
        for reading in _readings(match):
            forms.update((form, day) for form in _in_digits(*reading) if form not in own)
    return forms


def _readings(match: re.Match[str]) -> Iterator[tuple[int, int, int]]:
    """Yield the year, month and day of a match, also the other way round where that may be."""
    year, day = int(match["y"]), int(match["d"])
    found = match.groupdict()
    month = int(found["m"]) if "m" in found else _month_numbers()[found["name"]]
    orders = [(month, day)]
    if found.get("s") == "/" and match.start("y") > match.start("d"):
        orders.append((day, month))
    for month, day in dict.fromkeys(orders):
        if 1 <= month <= 12 and 1 <= day <= 31:
            yield year, month, day


def _in_digits(year: int, month: int, day: int) -> Iterator[str]:
    for y in (str(year), f"{year % 100:02}"):
        for d, m in ((f"{day:02}", f"{month:02}"), (str(day), str(month))):
            yield from (f"{d}.{m}.{y}", f"{d}/{m}/{y}", f"{m}/{d}/{y}")
    d, m = f"{day:02}", f"{month:02}"
    yield from (f"{year}-{m}-{d}", f"{year}/{m}/{d}", f"{year}.{m}.{d}", f"{year}{m}{d}")
    yield f"{d}-{m}-{year}"


@cache
def _month_numbers() -> Mapping[str, int]:
    named = {**months.shortened(), **months.named()}
    return {fold(name): number for name, number in named.items()}


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    name = f"(?P<name>{'|'.join(sorted(_month_numbers(), key=len, reverse=True))})"
    year = r"(?P<y>\d{4})(?!\d)"
    return (
        re.compile(
            rf"(?<![\w.])(?P<d>\d{{1,2}})(?:st|nd|rd|th|er|\.)?[\s-]+(?:of\s+|de\s+|di\s+)?{name}\b"
            rf"(?:\.?,?\s+(?:of\s+|de\s+|del\s+)?|-){year}"
        ),
        re.compile(rf"\b{name}\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+{year}"),
        *_DIGITS,
    )
