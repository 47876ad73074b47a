"""Fields of Word documents and rich text files: their links, and what is drawn instead of them."""

from __future__ import annotations

import re

_LINK = re.compile(r'\s*HYPERLINK\s+"((?:https?://|mailto:)[^"\s<>()]{1,1000})"')
_EQUATION = re.compile(r"\s*EQ\s", re.IGNORECASE)
_LOOKS = re.compile(r"\\\*\s*(?:\"[^\"]*\"|[^\s\\]+(?:\s*\"[^\"]*\")?)")
_READING = re.compile(
    r"\\o(?:\\a\w)?\s*\(\\s\\up\s?\d*\s*\((?P<reading>[^()]*)\)\s*[,;](?P<word>[^()]*)\)", re.I
)
_FRACTION = re.compile(r"\\f\s*\(([^(),;]*)[,;]([^(),;]*)\)", re.IGNORECASE)
_SWITCH = re.compile(r"\\(?:[a-z]+\s?-?\d*\s?)?", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s(),;]+")
_LONGEST = 2000


def target_of_field(code: str) -> str:
    """Return where the link goes that a field's code makes, or ``""`` if it makes none."""
    link = _LINK.match(code)
    return link[1] if link else ""


def drawn_by_field(code: str) -> str:
    """Return what Word draws of a field's code, which has no result; ``""`` for other fields.

    Those are words with their reading above them, as in Japanese ("漢字(かんじ)"), and formulas.
    """
    if len(code) > _LONGEST or not _EQUATION.match(code):
        return ""
    if reading := _READING.search(code):
        return f"{reading['word']}({reading['reading']})"
    formula = _FRACTION.sub(r"\1/\2", _LOOKS.sub("", _EQUATION.sub("", code)))
    return _BETWEEN.sub(" ", _SWITCH.sub("", formula)).strip()
