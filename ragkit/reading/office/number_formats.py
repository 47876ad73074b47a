"""Number formats of workbooks: what people see of a number, such as "1,234.50 €" or "00042"."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from ragkit.reading.office.number_sections import Words, section

if TYPE_CHECKING:
    from collections.abc import Callable

_SECTION = re.compile(r'(?:"[^"]*"|\\.|_.|\*.|\[[^\]]*\]|[^;"\\_*\[])*', re.DOTALL)
_CONDITION = re.compile(r"\[(<=|>=|<>|<|>|=)(\d{1,15}(?:\.\d{1,15})?)\]")
_COMPARED: dict[str, Callable[[Decimal, Decimal], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq,
    "<>": operator.ne,
}  # fmt: skip
_SPACE = re.compile(r"\s+")
_LONGEST = 300
_EXACT = 15
_SEEN = frozenset("123456789")


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """A number format; a section that is ``None`` shows something else than digits.

    The usual one has no sections: it says nothing but that 0.1 + 0.2 is 0.3. ``conditions`` say
    which numbers a section is for: how they compare with which number.
    """

    sections: tuple[Words | None, ...] = ()
    conditions: tuple[tuple[str, str], ...] = ()

    def shown(self, number: str) -> str | None:
        """Return a number as it is shown; ``None`` if the format says nothing of it.

        ``number`` is as it is stored. Like Excel, this counts 15 of its digits; a whole number of
        more, which other programs store, is none to be rounded.
        """
        if number.isdecimal() and len(number) > _EXACT:
            return None
        if not self.sections and len(number) <= _EXACT:
            return None
        try:
            value = Decimal(f"{float(number):.{_EXACT}g}")
            return self._shown(value)
        except (InvalidOperation, ValueError, OverflowError):
            return None

    def _shown(self, value: Decimal) -> str | None:
        if not self.sections:
            text = str(value)
            return None if "E" in text else text
        index = self._index(value)
        found = None if index is None else self.sections[index]
        if found is None:
            return None
        digits = found.digits(abs(value))
        is_negative = value < 0 and index == 0 and not _SEEN.isdisjoint(digits)
        text = f"{'-' if is_negative else ''}{found.before}{digits}{found.after}"
        return _SPACE.sub(" ", text).strip() or None

    def _index(self, value: Decimal) -> int | None:
        """Return which section is for a number; ``None`` for one below zero where others count."""
        kinds = len(self.sections)
        if not self.conditions:
            return 1 if value < 0 and kinds > 1 else 2 if value == 0 and kinds > 2 else 0
        if value < 0:
            return None
        for index, (compared, with_) in enumerate(self.conditions):
            if _COMPARED[compared](value, Decimal(with_)):
                return index
        return len(self.conditions) if len(self.conditions) < kinds else None


def parse(code: str) -> NumberFormat | None:
    """Return what a format code says; ``None`` if it formats no numbers, but dates.

    Conditions are understood where all sections but the last have one.
    """
    if code.casefold() == "general":
        return NumberFormat()
    if len(code) > _LONGEST:
        return None
    sections: list[Words | None] = []
    conditions: list[tuple[str, str]] = []
    at = 0
    while at <= len(code) and len(sections) < 3:
        found = _SECTION.match(code, at)
        end = found.end() if found else at
        if end < len(code) and code[end] != ";":
            return None
        part = code[at:end]
        if condition := _CONDITION.search(part):
            if len(conditions) < len(sections):
                return None
            conditions.append((condition[1], condition[2]))
            part = part.replace(condition[0], "", 1)
        sections.append(section(part))
        at = end + 1
    if not any(sections) or 0 < len(conditions) < len(sections) - 1:
        return None
    return NumberFormat(tuple(sections), tuple(conditions))
