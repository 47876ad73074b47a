"""What is meant by characters that fonts have for others: ligatures, accents, private codes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl"}

# Old figures and small capitals, as Adobe numbers them.
_VARIANTS = {0xF700 + code: chr(code) for code in (*range(0x21, 0x7F), *range(0xA1, 0x100))}

# Parts of large brackets.
_PARTS = dict.fromkeys(range(0xF8E5, 0xF8FF), "")

# Bullets and signs of the fonts Symbol and Wingdings, as Word writes them.
_SIGNS = {
    0xF02B: "+", 0xF02D: "\u2212", 0xF03D: "=", 0xF076: "\u2756", 0xF0A3: "\u2264",
    0xF0A7: "\u25aa", 0xF0A8: "\u25fb", 0xF0B0: "\u00b0", 0xF0B1: "\u00b1", 0xF0B3: "\u2265",
    0xF0B4: "\u00d7", 0xF0B7: "\u2022", 0xF0D8: "\u27a2", 0xF0E0: "\u2192", 0xF0FB: "\u2717",
    0xF0FC: "\u2713", 0xF0FD: "\u2612", 0xF0FE: "\u2611",
}  # fmt: skip

_MEANT = str.maketrans(_LIGATURES) | _VARIANTS | _PARTS | _SIGNS
_HALVES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_NOT_MEANT = re.compile(f"[{''.join(map(chr, _MEANT))}\ud800-\udbff]")

_SWAPPED = re.compile(f"[{''.join(chr(code << 8) for code in range(0x20, 0x7F))}]")
"""Characters of ASCII with their bytes the other way round."""
_SAMPLED, _FEWEST, _MOSTLY = 200, 10, 0.8
"""Text is swapped if so many of its first signs are, and more than this share of them."""

_ACCENTS = dict(
    zip(
        "`\u00b4\u02c6^\u02dc~\u00a8\u02da\u02c7\u02d8\u02d9\u00af\u02dd\u00b8\u02db",
        "\u0300\u0301\u0302\u0302\u0303\u0303\u0308\u030a\u030c\u0306\u0307\u0304\u030b\u0327\u0328",
        strict=True,
    )
)
"""The combining character of each accent that stands for itself."""

_BELOW = "\u00b8\u02db"
_ACCENTED = re.compile(
    f"[{re.escape(''.join(_ACCENTS))}](?:(?=[A-Za-z\u0131\u0237])|(?<=[A-Za-z][{_BELOW}]))"
)
_DOTLESS = str.maketrans("\u0131\u0237", "ij")


def has_not_meant(text: str) -> bool:
    """Return whether ``meant`` changes a text."""
    return not text.isascii() and _NOT_MEANT.search(text) is not None


def meant(text: str) -> str:
    """Return a text with the characters that are meant; halves of one become that one."""
    text = _HALVES.sub(
        lambda pair: pair.group().encode("utf-16", "surrogatepass").decode("utf-16"), text
    )
    return text.translate(_MEANT)


def unswapped(text: str) -> str:
    """Return a text as it is meant if the two bytes of its characters are the other way round.

    Photoshop has written the tables of fonts so. The text keeps its length.
    """
    if len(_SWAPPED.findall(text, 0, _SAMPLED)) < _FEWEST:
        return text
    sampled = "".join(text[:_SAMPLED].split())
    swapped = len(_SWAPPED.findall(sampled))
    if swapped < _FEWEST or swapped <= len(sampled) * _MOSTLY:
        return text
    return _SWAPPED.sub(lambda sign: chr(ord(sign.group()) >> 8), text)


def accented(text: str) -> Iterator[tuple[int, str]]:
    """Yield where an accent and a letter follow each other, and the two as one letter.

    They are one if they are drawn at the same place, as fonts of TeX draw them. An accent below
    may be that of the letter before it as well.
    """
    for match in _ACCENTED.finditer(text):
        at = match.start()
        accent = _ACCENTS[text[at]]
        if (after := text[at + 1 : at + 2]).isalpha():
            yield at, unicodedata.normalize("NFC", after.translate(_DOTLESS) + accent)
        if text[at] in _BELOW and (before := text[max(at - 1, 0) : at]).isalpha():
            yield at - 1, unicodedata.normalize("NFC", before + accent)
