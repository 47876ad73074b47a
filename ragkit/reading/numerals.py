"""Numbers as lists write them: "4", "d", "IV"."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

DEEPEST = 9
_PLACE = re.compile(r"%([1-9])")
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
    (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_LARGEST_ROMAN = 3999


@dataclass(frozen=True, slots=True)
class Level:
    """A level of a list of Word: its first number, its kind, and a text such as "%1.%2"."""

    start: int = 1
    kind: str = "decimal"
    text: str = ""
    legal: bool = False


@dataclass(slots=True)
class NumberedList:
    """A list of Word: its levels from 0, and new beginnings.

    Lists of one kind share their ``counters``.
    """

    levels: dict[int, Level]
    counters: dict[int, int]
    restarts: dict[int, int] = field(default_factory=dict)

    def next(self, level: int) -> str | None:
        """Count a paragraph; return its number with what is around it, ``None`` of a bullet."""
        own = self.levels.get(level)
        if own is None:
            return None
        if level in self.restarts:
            self.counters[level] = self.restarts.pop(level)
        else:
            self.counters[level] = self.counters.get(level, own.start - 1) + 1
        for deeper in range(level + 1, DEEPEST):
            self.counters.pop(deeper, None)
        if own.kind == "bullet":
            return None
        label = _PLACE.sub(lambda place: self._number(int(place[1]) - 1, own.legal), own.text)
        return label.strip() if any(map(str.isalnum, label)) else None

    def _number(self, level: int, legal: bool) -> str:
        of = self.levels.get(level, Level())
        counted = self.counters.setdefault(level, of.start)
        return written(counted, "decimal" if legal else of.kind)


def written(number: int, kind: str) -> str:
    """Return a number as a ``kind`` of list writes it, by its name in Word; others are digits."""
    if kind in ("lowerLetter", "upperLetter") and number > 0:
        letter = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letter if kind == "lowerLetter" else letter.upper()
    if kind in ("lowerRoman", "upperRoman") and 0 < number <= _LARGEST_ROMAN:
        roman, left = "", number
        for value, letters in _ROMAN:
            roman += letters * (left // value)
            left %= value
        return roman if kind == "lowerRoman" else roman.upper()
    if kind == "decimalZero":
        return f"{number:02}"
    return "" if kind == "none" else str(number)
