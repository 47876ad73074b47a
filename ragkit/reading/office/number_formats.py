"""Number formats of workbooks: what people see of a number, such as "1,234.50 €" or "00042"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|_.|\*.|\[\$(?P<currency>[^\]-]*)[^\]]*\]'
    r"|\[(?:Black|Blue|Cyan|Green|Magenta|Red|White|Yellow|Color ?\d+)\]"
    r"|(?P<digits>[0#?](?:[0#?,]*[0#?])?(?:\.[0#?]*)?,*|\.[0#?]+)|(?P<sign>[^\w/@.\\\"\[\]]|[^\x00-\x7f])",
    re.IGNORECASE | re.DOTALL,
)
_SECTION = re.compile(r'(?:"[^"]*"|\\.|_.|\*.|\[[^\]]*\]|[^;"\\_*\[])*', re.DOTALL)
_CONDITION = re.compile(r"\[[<>=]")
_SPACE = re.compile(r"\s+")
_LONGEST = 300
_MOST_DECIMALS = 10
_EXACT = 15


@dataclass(frozen=True, slots=True)
class _Section:
    """How numbers of one kind (positive, negative, zero) are shown.

    ``digits`` says whether the number itself is shown; ``least`` and ``most`` are its decimals,
    ``whole`` the least digits before them; ``power`` is that of ten it is multiplied by.
    """

    before: str
    after: str
    digits: bool
    whole: int = 0
    least: int = 0
    most: int = 0
    grouped: bool = False
    power: int = 0

    def shown(self, value: Decimal) -> str:
        step = Decimal(1).scaleb(-self.most)
        rounded = value.scaleb(self.power).quantize(step, ROUND_HALF_UP)
        whole, _, decimals = f"{rounded:f}".partition(".")
        while len(decimals) > self.least and decimals.endswith("0"):
            decimals = decimals[:-1]
        whole = whole.lstrip("0").zfill(self.whole)
        if self.grouped and whole:
            whole = f"{int(whole):,}".rjust(len(whole), "0")
        return f"{whole}.{decimals}" if decimals else whole


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """A number format; a section that is ``None`` shows something else than digits.

    The usual one has no sections: it says nothing but that 0.1 + 0.2 is 0.3.
    """

    sections: tuple[_Section | None, ...] = ()

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
        kinds = len(self.sections)
        index = 1 if value < 0 and kinds > 1 else 2 if value == 0 and kinds > 2 else 0
        section = self.sections[index]
        if section is None:
            return None
        digits = section.shown(abs(value)) if section.digits else ""
        is_negative = value < 0 and index == 0 and any(map("123456789".__contains__, digits))
        text = f"{'-' if is_negative else ''}{section.before}{digits}{section.after}"
        return _SPACE.sub(" ", text).strip() or None


def parse(code: str) -> NumberFormat | None:
    """Return what a format code says; ``None`` if it formats no plain numbers.

    Dates, fractions, powers of ten, conditions and digits in several groups are not understood.
    """
    if code.casefold() == "general":
        return NumberFormat()
    if len(code) > _LONGEST or _CONDITION.search(code):
        return None
    sections: list[_Section | None] = []
    at = 0
    while at <= len(code) and len(sections) < 3:
        found = _SECTION.match(code, at)
        end = found.end() if found else at
        if end < len(code) and code[end] != ";":
            return None
        sections.append(_section(code[at:end]))
        at = end + 1
    return NumberFormat(tuple(sections)) if any(sections) else None


def _section(code: str) -> _Section | None:
    """Return a section; ``None`` if it is not understood or shows nothing."""
    before = after = digits = ""
    at = percents = 0
    while at < len(code):
        token = _TOKEN.match(code, at)
        if token is None or (token["digits"] and digits):
            return None
        at = token.end()
        digits = token["digits"] or digits
        shown = token["quoted"] or token["escaped"] or token["currency"] or token["sign"] or ""
        if not shown and token[0].startswith("_"):
            shown = " "
        before, after = (before, after + shown) if digits else (before + shown, after)
        percents += token["sign"] == "%"
    if not digits:
        return _Section(before, "", digits=False) if before.strip() else None
    bare = digits.rstrip(",")
    whole, _, decimals = bare.partition(".")
    return _Section(
        before,
        after,
        digits=True,
        whole=whole.count("0"),
        least=min(decimals.count("0"), _MOST_DECIMALS),
        most=min(len(decimals), _MOST_DECIMALS),
        grouped="," in whole,
        power=2 * percents - 3 * (len(digits) - len(bare)),
    )
