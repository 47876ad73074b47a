"""The days and months of a question, as documents may write them otherwise.

A table's "2024-03-03" is one word, which "3 March 2024" does not have. It has the token "2024-03",
too, as every day in digits has that of its month.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import chain, islice

from ragkit import months
from ragkit.indexes.tokenizer import fold, query_tokens

_LONGEST, _MOST_DATES = 500, 4
_HOLDS_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
_HAN = r"(?<!\d)(?P<y>\d{4})\s?[年년]\s?(?P<m>\d{1,2})\s?[月월]"
_YEAR = r"(?P<y>\d{4})(?!\d)"
_BEFORE_YEAR = r"\.?,?\s+(?:of\s+|de\s+|del\s+)?"
_DAYS_IN_DIGITS = (
    re.compile(r"(?<![\w.])(?P<y>\d{4})(?P<s>[-/.])(?P<m>\d{1,2})(?P=s)(?P<d>\d{1,2})(?![\w-])"),
    re.compile(r"(?<![\w.])(?P<d>\d{1,2})(?P<s>[-/.])(?P<m>\d{1,2})(?P=s)(?P<y>\d{4})(?![\w-])"),
    re.compile(_HAN + r"\s?(?P<d>\d{1,2})\s?[日일]"),
)
_MONTHS_IN_DIGITS = (
    re.compile(r"(?<![\w./-])(?P<y>1\d{3}|20\d\d)[-/](?P<m>0[1-9]|1[0-2])(?![\w/-])"),
    re.compile(r"(?<![\w./-])(?P<m>0?[1-9]|1[0-2])[/.](?P<y>1\d{3}|20\d\d)(?![\w/-])"),
    re.compile(_HAN),
)


@lru_cache(64)
def date_forms(text: str) -> Mapping[str, tuple[str, ...]]:
    """Return the tokens of other ways to write the days and months of a text, which name the year.

    Each with the text's own tokens for which it stands. Of "3/4/2024" both readings count.
    """
    text = text[:_LONGEST]
    if not _HOLDS_YEAR.search(text):
        return {}
    folded = fold(text).casefold()
    own = set(query_tokens(text))
    forms: dict[str, tuple[str, ...]] = {}
    days = [match for pattern in _day_patterns() for match in pattern.finditer(folded)]
    for match in days[:_MOST_DATES]:
        day = tuple(query_tokens(match[0]))
        for reading in _readings(match):
            forms.update((form, day) for form in _in_digits(*reading) if form not in own)
    months_alone = (
        match
        for pattern in _month_patterns()
        for match in pattern.finditer(folded)
        if not any(day.start() < match.end() and match.start() < day.end() for day in days)
    )
    for match in islice(months_alone, _MOST_DATES):
        month = tuple(query_tokens(match[0]))
        forms.update((form, of) for form, of in _of_month(match, month) if form not in own)
    return forms


def with_date_forms(forms: Mapping[str, str], text: str) -> Mapping[str, tuple[str, ...]]:
    """Return other forms of a text's words and of its days, each with the tokens it stands for.

    ``forms`` are those of words, each with the token of the word.
    """
    return {**{form: (own,) for form, own in forms.items()}, **date_forms(text)}


def _of_month(
    match: re.Match[str], month: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield other forms of a month with its year, with the tokens for which each stands.

    The name of a month that is written in digits says nothing of the year.
    """
    year, number = match["y"], _month_of(match)
    for form in (f"{year}-{number:02}", f"{year}/{number:02}"):
        yield form, month
    for written in dict.fromkeys((f"{number:02}", str(number))):
        yield from ((f"{written}/{year}", month), (f"{written}.{year}", month))
    if "m" in match.groupdict():
        of_month = tuple(token for token in month if token != year)
        yield from ((form, of_month) for form in _names_of(number))


@cache
def _names_of(number: int) -> tuple[str, ...]:
    """Return the tokens of a month's names, and of what English shortens it to."""
    names = {**months.named(), **months.shortened("en")}
    tokens = (query_tokens(name) for name, own in names.items() if own == number)
    return tuple(dict.fromkeys(chain.from_iterable(tokens)))


def _month_of(match: re.Match[str]) -> int:
    found = match.groupdict()
    return int(found["m"]) if "m" in found else _month_numbers()[found["name"]]


def _readings(match: re.Match[str]) -> Iterator[tuple[int, int, int]]:
    """Yield the year, month and day of a match, also the other way round where that may be."""
    year, day = int(match["y"]), int(match["d"])
    month = _month_of(match)
    orders = [(month, day)]
    if match.groupdict().get("s") == "/" and match.start("y") > match.start("d"):
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
def _day_patterns() -> tuple[re.Pattern[str], ...]:
    return (
        re.compile(
            rf"(?<![\w.])(?P<d>\d{{1,2}})(?:st|nd|rd|th|er|\.)?[\s-]+(?:of\s+|de\s+|di\s+)?"
            rf"{_name()}\b(?:{_BEFORE_YEAR}|-){_YEAR}"
        ),
        re.compile(rf"\b{_name()}\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+{_YEAR}"),
        *_DAYS_IN_DIGITS,
    )


@cache
def _month_patterns() -> tuple[re.Pattern[str], ...]:
    return (re.compile(rf"\b{_name()}\b(?:{_BEFORE_YEAR}|-){_YEAR}"), *_MONTHS_IN_DIGITS)


def _name() -> str:
    return f"(?P<name>{'|'.join(sorted(_month_numbers(), key=len, reverse=True))})"
