"""Sections of number formats: how numbers of one kind (positive, negative, zero) are shown."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|_.|\*.|\[\$(?P<currency>[^\]-]*)[^\]]*\]'
    r"|\[(?:Black|Blue|Cyan|Green|Magenta|Red|White|Yellow|Color ?\d+)\]"
    r"|(?P<digits>[0#?](?:[0#?,]*[0#?])?(?:\.[0#?]*)?,*|\.[0#?]+)|(?P<sign>[^\w/@.\\\"\[\]]|[^\x00-\x7f])",
    re.IGNORECASE | re.DOTALL,
)
_QUOTIENT = re.compile(
    r'(?:(?P<whole>[#0?]+)(?:\\? |" +"|_.)+)?[#0?]+ ?/ ?(?P<bottom>[#0?]{1,3}|[1-9]\d{0,3})(?!\d)'
)
_POWER = re.compile(r"[0#?](?:\.(?P<decimals>[0#?]*))?E(?P<sign>[+-])(?P<power>0{1,3})")
_GROUP = re.compile(r"[0#?]+")
_MOST_DECIMALS = 10


@dataclass(frozen=True, slots=True)
class Words:
    """Words that stand for any number."""

    before: str = ""
    after: str = ""

    def digits(self, value: Decimal) -> str:  # noqa: ARG002
        """Return the digits of a number that is not negative."""
        return ""


@dataclass(frozen=True, slots=True)
class Plain(Words):
    """Digits, perhaps with decimals and in thousands.

    ``least`` and ``most`` are its decimals, ``whole`` the least digits before them; ``power`` is
    that of ten it is multiplied by.
    """

    whole: int = 0
    least: int = 0
    most: int = 0
    grouped: bool = False
    power: int = 0

    def digits(self, value: Decimal) -> str:
        """Return the digits, in thousands and with decimals."""
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
class Groups(Words):
    """Digits with other signs between them, such as those of telephones: "(555) 123-4567".

    ``pattern`` has a place for each digit and the signs, and whether each is such a place; the
    last may have ``decimals``.
    """

    pattern: tuple[tuple[bool, str], ...] = ()
    decimals: Plain = Plain()

    def digits(self, value: Decimal) -> str:
        """Return the digits in their places, of which the first has all that are left over."""
        left, _, decimals = self.decimals.digits(value).partition(".")
        places = [place for place, (is_digit, _) in enumerate(self.pattern) if is_digit]
        text = ""
        for place, (is_digit, sign) in reversed([*enumerate(self.pattern)]):
            if not is_digit:
                text = sign + text
                continue
            taken = len(left) if place == places[0] else 1
            text = (left[-taken:] if left else "0" * (sign == "0")) + text
            left = left[:-taken] if left else ""
        text = text.lstrip()
        return f"{text}.{decimals}" if decimals else text


@dataclass(frozen=True, slots=True)
class Quotient(Words):
    """A fraction such as "1 1/5", with denominators up to ``most``, or with ``bottom``."""

    mixed: bool = False
    most: int = 0
    bottom: int = 0

    def digits(self, value: Decimal) -> str:
        """Return the nearest fraction."""
        exact = Fraction(value)
        bottom = self.bottom or exact.limit_denominator(self.most).denominator
        top = int(exact * bottom + Fraction(1, 2))
        whole, rest = divmod(top, bottom) if self.mixed else (0, top)
        if self.mixed and not rest:
            return str(whole)
        return f"{whole} {rest}/{bottom}" if whole else f"{rest}/{bottom}"


@dataclass(frozen=True, slots=True)
class Power(Words):
    """A number times a power of ten, such as "2.59E-05"; whole ones are often codes, and stay."""

    least: int = 0
    most: int = 0
    width: int = 0
    signed: bool = False

    def digits(self, value: Decimal) -> str:
        """Return the number and the power of ten."""
        if value == value.to_integral_value():
            return f"{value:f}"
        number, _, power = f"{float(value):.{self.most}E}".partition("E")
        whole, _, decimals = number.partition(".")
        while len(decimals) > self.least and decimals.endswith("0"):
            decimals = decimals[:-1]
        sign = "-" if power.startswith("-") else "+" if self.signed else ""
        shown = f"{whole}.{decimals}" if decimals else whole
        return f"{shown}E{sign}{power.lstrip('+-0').zfill(self.width)}"


def section(code: str) -> Words | None:
    """Return a section; ``None`` if it is not understood or shows nothing."""
    pieces: list[tuple[bool, str]] = []
    special: Words | None = None
    at = percents = 0
    while at < len(code):
        found = _QUOTIENT.match(code, at) or _POWER.match(code, at)
        token = found or _TOKEN.match(code, at)
        if token is None:
            return None
        at = token.end()
        if found:
            special = _quotient(found) if "/" in found[0] else _power(found)
            pieces.append((True, found[0]))
            continue
        shown = token["quoted"] or token["escaped"] or token["currency"] or token["sign"] or ""
        if not shown and token[0].startswith("_"):
            shown = " "
        pieces.append((True, token["digits"]) if token["digits"] else (False, shown))
        percents += token["sign"] == "%"
    places = [place for place, (is_digits, _) in enumerate(pieces) if is_digits]
    if not places:
        before = "".join(shown for _, shown in pieces)
        return Words(before) if before.strip() else None
    before = "".join(shown for _, shown in pieces[: places[0]])
    after = "".join(shown for _, shown in pieces[places[-1] + 1 :])
    if len(places) == 1:
        digits = special or _plain(pieces[places[0]][1], percents)
        return replace(digits, before=before, after=after)
    whole, _, decimals = pieces[places[-1]][1].partition(".")
    inside = [*pieces[places[0] : places[-1]], (True, whole)]
    if special or percents or not all(_GROUP.fullmatch(text) for is_one, text in inside if is_one):
        return None
    pattern = ((is_one, sign) for is_one, text in inside for sign in (text if is_one else (text,)))
    return Groups(before, after, tuple(pattern), _plain(f"#.{decimals}", 0))


def _plain(code: str, percents: int) -> Plain:
    bare = code.rstrip(",")
    whole, _, decimals = bare.partition(".")
    return Plain(
        whole=whole.count("0"),
        least=min(decimals.count("0"), _MOST_DECIMALS),
        most=min(len(decimals), _MOST_DECIMALS),
        grouped="," in whole,
        power=2 * percents - 3 * (len(code) - len(bare)),
    )


def _quotient(code: re.Match[str]) -> Quotient:
    bottom = code["bottom"]
    fixed = int(bottom) if bottom[0] in "123456789" else 0
    return Quotient(mixed=bool(code["whole"]), most=10 ** len(bottom) - 1, bottom=fixed)


def _power(code: re.Match[str]) -> Power:
    decimals = (code["decimals"] or "")[:_MOST_DECIMALS]
    return Power(
        least=decimals.count("0"),
        most=len(decimals),
        width=len(code["power"]),
        signed=code["sign"] == "+",
    )
