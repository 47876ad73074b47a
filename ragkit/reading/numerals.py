"""Numbers as lists write them: "4", "d", "IV"."""

from __future__ import annotations

_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
    (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_LARGEST_ROMAN = 3999


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
