"""Figures and dates of a text, in any notation.

A figure has several readings ("1.000" is a thousand or one), and two figures agree if they share
one. Texts that are cited are read generously: what is there in any form is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from ragkit.answering.number_words import (
    GERMAN_TENS,
    GERMAN_UNITS,
    MONTHS,
    NUMBER_WORDS,
    ORDINALS,
    SCALES,
    TENS,
    UNITS,
)
from ragkit.types import Span

_SCALE = (
    r"(?:hundred|hundert|thousand|tausend|millionen|millions?|mio|mn|milliarden?|mrd|billion|bn)"
    r"(?![^\W\d_])|[kKmM](?![\w])|[百千万億亿]"
)
_NUMBER = re.compile(
    r"(?<![\w.,])(?P<digits>\d{1,3}(?:[ \u00a0\u202f'’]\d{3})+(?!\d)(?:[.,]\d+)?"
    r"|\d+(?:[.,]\d+)*)"
    rf"(?:[\s\u00a0-]?(?P<scale>{_SCALE}))?(?P<percent>\s?%|\s?percent\b|\s?Prozent\b)?",
    re.I,
)
_UNIT_WORD = (
    r"(?:day|week|month|year|hour|minute|second|time|percent|per cent|euro|dollar|pound|cent|"
    r"met(?:er|re)|mile|litre|liter|gram|kilo|page|people|person|"
    r"tag|woche|monat|jahr|stunde|minute|sekunde|prozent|seite|mal)\w{0,3}"
)
_WORD = "|".join(sorted({*NUMBER_WORDS} - {"a", "an"}, key=len, reverse=True))
_SPELT = re.compile(
    rf"\b(?:(?P<tens>{'|'.join(TENS)})[\s-](?P<unit>{'|'.join(UNITS[1:10])})"
    rf"|(?P<eins>ein|{'|'.join(GERMAN_UNITS[1:10])})und(?P<zig>{'|'.join(GERMAN_TENS)})"
    rf"|(?P<word>{_WORD}|an?(?=\s(?:{_UNIT_WORD}|hundred|thousand|million|dozen)\b)))"
    rf"(?:\s?(?P<scale>hundred|hundert|thousand|tausend|millionen|millions?|billion|dozen))?"
    rf"\b(?P<counted>[\s-]+{_UNIT_WORD}\b)?",
    re.I,
)
_HAN = "〇一二三四五六七八九"
_HAN_NUMBER = re.compile(r"[〇一二三四五六七八九十]{1,4}")
_TIME = re.compile(
    r"(?<![\w.:])(?P<hour>\d{1,2})(?:[:.h](?P<minute>\d{2}))?"
    r"(?::\d{2})?\s?(?P<half>[ap]\.?m\b\.?)?(?![\w:]|[.,]\d)",
    re.I,
)
_CLOCK = re.compile(
    r"(?<![\w.:])(?P<hour>\d{1,2}):(?P<minute>\d{2})(?:\s?[ap]\.?m\b\.?)?(?![\w:])", re.I
)
_COUNTED_UP_TO = 12
"""Larger numbers in words are figures; of smaller ones only those before a unit."""

_MONTH = "(?:" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\b\.?"
_DATES = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"(?<!\d)(?P<y>\d{4})[-/.年]\s?(?P<m>\d{1,2})[-/.月]\s?(?P<d>\d{1,2})(?!\d|\.\d)日?",
        r"(?<![\d.])(?P<a>\d{1,2})(?P<s>[./-])\s?(?P<b>\d{1,2})(?P=s)\s?(?P<y>\d{4}|\d{2})(?!\d|\.\d)",
        rf"(?<![\d.,])(?P<d>\d{{1,2}})(?:st|nd|rd|th|er|º|\.)?\s+(?:of\s+|de\s+)?(?P<name>{_MONTH})"
        r"(?:,?\s+(?:de\s+|of\s+)?(?P<y>\d{4})(?!\d))?",
        rf"\b(?P<name>{_MONTH})\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s+(?P<y>\d{{4}})(?!\d))?",
        rf"\b(?P<name>{_MONTH}),?\s+(?:de\s+|of\s+)?(?P<y>\d{{4}})(?!\d)",
    )
)
_MONTH_ALONE = re.compile(rf"\b(?P<name>{_MONTH})", re.I)


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure in a text, with everything that it can mean: numbers, and times of day."""

    span: Span
    text: str
    readings: frozenset[Decimal | str]

    def is_among(self, numbers: frozenset[Decimal | str]) -> bool:
        """Return whether numbers hold it; spaces in it may also divide several figures."""
        if not self.readings.isdisjoint(numbers):
            return True
        parts = self.text.split()
        return len(parts) > 1 and all(p.isdecimal() and Decimal(p) in numbers for p in parts)


@dataclass(frozen=True, slots=True)
class Date:
    """A date in a text, with what it can mean: (year, month, day), 0 for what it leaves out."""

    span: Span
    text: str
    readings: frozenset[tuple[int, int, int]]


def dates_in(text: str) -> list[Date]:
    """Return the dates of a text, and the months that stand alone with a capital letter."""
    dates: list[Date] = []
    taken: list[Span] = []
    for pattern in (*_DATES, _MONTH_ALONE):
        for match in pattern.finditer(text):
            span = Span(*match.span())
            readings = frozenset(_readings_of(match))
            alone = pattern is _MONTH_ALONE
            if not readings or (alone and (match[0][:1].islower() or span.start == 0)):
                continue
            if any(other.start < span.end and span.start < other.end for other in taken):
                continue
            taken.append(span)
            dates.append(Date(span, match[0].rstrip("."), readings))
    return sorted(dates, key=lambda date: date.span.start)


def _readings_of(match: re.Match[str]) -> Iterator[tuple[int, int, int]]:
    parts = match.groupdict()
    year = int(parts.get("y") or 0)
    year += 2000 if 0 < year < 70 else 1900 if 70 <= year < 100 else 0
    if name := parts.get("name"):
        orders = [(MONTHS[name.casefold().rstrip(".")], int(parts.get("d") or 0))]
    elif parts.get("a"):
        first, second = int(parts["a"]), int(parts["b"])
        orders = [(second, first), (first, second)]
    else:
        orders = [(int(parts["m"]), int(parts["d"]))]
    for month, day in orders:
        if 1 <= month <= 12 and 0 <= day <= 31:
            yield year, month, day


def agrees(date: Date, dates: list[Date], numbers: frozenset[Decimal | str]) -> bool:
    """Return whether a date is among others; what one of them leaves out may be elsewhere."""
    for year, month, day in date.readings:
        for other in dates:
            for other_year, other_month, other_day in other.readings:
                if (
                    month == other_month
                    and (not day or day == other_day or (not other_day and Decimal(day) in numbers))
                    and (not year or year == other_year or Decimal(year) in numbers)
                ):
                    return True
    return False


def figures_in(text: str) -> list[Figure]:
    """Return the figures that a sentence states, also in words where they are amounts."""
    figures = []
    for match in _CLOCK.finditer(text):
        readings = _time_readings(text, match.start())
        if readings and match["minute"] == "00":
            readings.add(Decimal(match["hour"]))
        if readings:
            figures.append(Figure(Span(*match.span()), match[0].strip(), frozenset(readings)))
            text = text[: match.start()] + "\0" * len(match[0]) + text[match.end() :]
    for match in _NUMBER.finditer(text):
        if match.start() and text[match.start() - 1] == "(" and text[match.end() :][:1] == ")":
            continue
        readings = set(_number_readings(match))
        if match["scale"]:
            readings |= set(_digit_readings(match["digits"]))
        readings |= _time_readings(text, match.start())
        figures.append(Figure(Span(*match.span()), match[0].strip(), frozenset(readings)))
    for match in _SPELT.finditer(text):
        value = _spelt_value(match)
        if not match["counted"] and (value <= _COUNTED_UP_TO or match["word"] == "dozen"):
            continue
        span = Span(match.start(), match.end() - len(match["counted"] or ""))
        if match["word"] and match["word"].casefold() in ("a", "an", *ORDINALS):
            continue
        either = {value, value * 100} if value < 1 else {value}
        figures.append(Figure(span, text[span.start : span.end], frozenset(either)))
    return figures


def numbers_in(text: str) -> frozenset[Decimal | str]:
    """Return all numbers that a text holds in any form, and its times of day."""
    numbers: set[Decimal | str] = set()
    for match in _NUMBER.finditer(text):
        numbers.update(_number_readings(match))
        numbers |= _time_readings(text, match.start())
        digits = match["digits"]
        if not match["scale"] and not re.fullmatch(r"\d{1,3}(?:['’.,]\d{3})+", digits):
            numbers.update(Decimal(run) for run in re.findall(r"\d+", digits))
    # Also those inside of names and dates.
    numbers.update(
        Decimal(run) for run in re.findall(r"(?<=[^\W\d]|[-/_:])\d+|\d+(?=[-/_:])", text)
    )
    for match in _SPELT.finditer(text):
        value = _spelt_value(match)
        numbers |= {value, value * 100} if value < 1 else {value}
    for han in _HAN_NUMBER.findall(text):
        numbers.add(_han_value(han))
    for date in dates_in(text):
        for year, month, day in date.readings:
            numbers |= {Decimal(part) for part in (year, month, day) if part}
    return frozenset(numbers)


def _number_readings(match: re.Match[str]) -> Iterator[Decimal]:
    scale = SCALES.get((match["scale"] or "").casefold(), Decimal(1))
    for value in _digit_readings(match["digits"]):
        yield value * scale
        if match["percent"]:
            yield value / 100


def _digit_readings(digits: str) -> set[Decimal]:
    """Return what digits with separators can mean: in "1.000" the point groups, or divides."""
    plain = re.sub(r"[ \u00a0\u202f'’]", "", digits)
    marks = re.findall(r"[.,]", plain)
    if not marks:
        return {Decimal(plain)}
    last = marks[-1]
    whole, _, part = plain.rpartition(last)
    grouped = bool(re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", plain)) and len(set(marks)) == 1
    readings = {Decimal(re.sub(r"[.,]", "", plain))} if grouped else set()
    if marks.count(last) == 1:
        readings.add(Decimal(f"{re.sub(r'[.,]', '', whole)}.{part}"))
    return readings or {Decimal(re.sub(r"[.,]", "", plain))}


def _time_readings(text: str, start: int) -> set[Decimal | str]:
    match = _TIME.match(text, start)
    if match is None or (not match["minute"] and not match["half"]):
        return set()
    hour, minute = int(match["hour"]), int(match["minute"] or 0)
    half = (match["half"] or "").casefold()
    if half.startswith("p") and hour < 12:
        hour += 12
    return {f"{hour}:{minute:02}"} if hour < 25 and minute < 60 else set()


def _spelt_value(match: re.Match[str]) -> Decimal:
    if match["tens"]:
        value = NUMBER_WORDS[match["tens"].casefold()] + NUMBER_WORDS[match["unit"].casefold()]
    elif match["zig"]:
        value = NUMBER_WORDS[match["zig"].casefold()] + NUMBER_WORDS[match["eins"].casefold()]
    else:
        value = NUMBER_WORDS[match["word"].casefold()]
    scale = (match["scale"] or "").casefold()
    return value * SCALES.get(scale, Decimal(1))


def _han_value(han: str) -> Decimal:
    if "十" not in han:
        return Decimal("".join(str(_HAN.index(digit)) for digit in han))
    tens, _, units = han.partition("十")
    high = _HAN.index(tens[-1]) if tens else 1
    low = _HAN.index(units[0]) if units and units[0] in _HAN else 0
    return Decimal(high * 10 + low)
