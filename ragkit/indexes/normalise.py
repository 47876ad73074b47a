"""Unicode: how text is made comparable before it is cut into words."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

# Soft hyphens, joiners, direction marks and variation selectors are not seen by a reader.
_UNSEEN = [0xAD, 0x200C, 0x200D, 0x200E, 0x200F, 0x2060, 0xFEFF, *range(0xFE00, 0xFE10)]
_UNSEEN += [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]

# Letters that NFKD leaves alone although people type them without the stroke, and punctuation
# that typesetting changes.
_ALIKE = {
    "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "ħ": "h",
    "Ħ": "H", "ı": "i", "þ": "th", "Þ": "Th", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE",
    "‘": "'", "’": "'", "ʼ": "'", "‛": "'", "‐": "-", "‑": "-", "‒": "-", "\u200b": " ",
    "–": " ", "—": " ", "“": '"', "”": '"', "…": " ", "™": " ", "®": " ", "©": " ", "•": " ",
}  # fmt: skip
_BEFORE: dict[int, str] = {**dict.fromkeys(_UNSEEN, ""), **{ord(a): b for a, b in _ALIKE.items()}}

_ACCENTS = re.compile("[\u0300-\u036f]+")
# Han, kana and Hangul syllables: never joined to what stands before them.
_STANDALONE = re.compile("[\u3041-\u3096\u30a1-\u30fa\u3400-\u9fff\uac00-\ud7a3]")

CONNECTORS = "(?:[.'\\-/\\\\@&]|::)"
"""What may stand once between two parts of one identifier, address or path."""


def fold(text: str) -> str:
    """Unify compatibility forms and drop the accents of Latin, Greek and Cyrillic letters.

    Case is kept, because it tells the parts of ``camelCase`` apart. Marks of other scripts,
    where they carry meaning, are kept.
    """
    if text.isascii():
        return text
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.translate(_BEFORE)))
    return plain if plain.isascii() else unicodedata.normalize("NFC", plain)


def fold_with_offsets(text: str) -> tuple[str, list[int], list[int]]:
    """Return the folded text, and where the original of each of its characters starts and ends."""
    if text.isascii():
        return text, list(range(len(text))), list(range(1, len(text) + 1))
    folded: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    while at < len(text):
        end = _cluster_end(text, at)
        plain = _fold_cluster(text[at:end])
        folded.append(plain)
        starts.extend([at] * len(plain))
        ends.extend([end] * len(plain))
        at = end
    return "".join(folded), starts, ends


@lru_cache(maxsize=20_000)
def _fold_cluster(cluster: str) -> str:
    """Fold a slice of one or a few characters."""
    return fold(cluster)


def _cluster_end(text: str, start: int) -> int:
    """Find the end of the shortest slice that folds the same alone as within the text."""
    end = start + 1
    while end < len(text):
        following = text[end]
        if following.isascii() or _STANDALONE.match(following):
            break
        if ord(following) not in _BEFORE and not unicodedata.category(following).startswith("M"):
            cluster = text[start:end]
            apart = _fold_cluster(cluster) + _fold_cluster(following)
            if _fold_cluster(cluster + following) == apart:
                break
        elif _BEFORE.get(ord(following), "") != "":
            break
        end += 1
    return end


@cache
def marks() -> str:
    """Return the combining marks outside Latin, Greek and Cyrillic, as the inside of a class."""
    ranges = []
    first = last = -2
    for code in range(0x483, 0x1E94B):
        if unicodedata.category(chr(code)).startswith("M"):
            if code != last + 1:
                if first >= 0:
                    ranges.append((first, last))
                first = code
            last = code
    ranges.append((first, last))
    return "".join(f"{chr(a)}-{chr(b)}" for a, b in ranges)


def word_pattern(folded: str) -> re.Pattern[str]:
    """Return the pattern of a word, identifier, address or path in a folded text."""
    return _ascii_word() if folded.isascii() else _any_word()


@cache
def _any_word() -> re.Pattern[str]:
    return re.compile(_word(rf"[\w{marks()}]+"))


@cache
def _ascii_word() -> re.Pattern[str]:
    """The same for ASCII alone, where it is two to three times as fast."""
    return re.compile(_word(r"\w++"), re.ASCII)


def _word(run: str) -> str:
    """Runs of letters and digits with single connectors between them, and numbers."""
    rest = rf"(?:{CONNECTORS}{run})*(?:\+\+\d*|\#(?!\w))?"
    return (
        r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w,])"
        rf"|(?:(?<![\w.)\]'\"/])\.(?=[A-Za-z]))?{run}{rest}"
    )
