"""Tokens of documents and queries alike, and their places in the original text.

Text is made comparable first (``fold``), and then cut into words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from typing import TypeVar

from ragkit.indexes.analyzer import (
    CONNECTORS,
    FIGURE,
    SPACELESS,
    STOP_WORDS,
    Piece,
    analyse,
    content_tokens,
    in_points,
    marks,
    tokens_of,
)
from ragkit.indexes.days import periods_of
from ragkit.versions import TOKENIZER_VERSION

__all__ = [
    "TOKENIZER_VERSION",
    "TokenSpan",
    "fold",
    "fold_with_offsets",
    "index_tokens",
    "query_tokens",
    "token_spans",
    "tokenize",
    "without_stop_words",
]

_CACHED_WORDS = 20_000
_LONGEST_CACHED = 64

_Made = TypeVar("_Made")

# Soft hyphens, tatweels, joiners, direction marks and variation selectors are not seen by a reader.
_UNSEEN = [0xAD, 0x640, 0x200C, 0x200D, 0x200E, 0x200F, 0x2060, 0xFEFF, *range(0xFE00, 0xFE10)]
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

_NOT_ASCII = re.compile(r"[^\0-\x7f]+")
# Also the signs of vowels and of recitation of Hebrew and Arabic, which few write; \u0439 is a
# letter, and its breve no accent.
_UNWRITTEN = (
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
)
_ACCENTS = re.compile(
    f"(?<![\u0438\u0418])[\u0300-\u036f{_UNWRITTEN}]+|[\u0300-\u0305\u0307-\u036f]+"
)
# Letters of Arabic script that are written in several ways.
_ARABIC = re.compile("[\u0629\u0649\u0671\u06a9\u06cc]")
_ARABIC_ALIKE = str.maketrans("\u0629\u0649\u0671\u06a9\u06cc", "\u0647\u064a\u0627\u0643\u064a")
# Han, kana and Hangul syllables: never joined to what precedes them.
_STANDALONE = re.compile("[\u3041-\u3096\u30a1-\u30fa\u3400-\u9fff\uac00-\ud7a3]")


@dataclass(frozen=True, slots=True)
class TokenSpan:
    """A token and the slice ``[start, end)`` of the original text that it was made of."""

    token: str
    start: int
    end: int


def tokenize(text: str) -> list[str]:
    """Return the tokens of a text, in reading order.

    An identifier comes whole first and then in parts; a run of Chinese, Japanese, Korean or Thai
    comes as overlapping pairs. No word is dropped: stop words are kept.
    """
    folded = fold(text)
    words = word_pattern(ascii_only=folded.isascii()).findall(folded)
    return list(chain.from_iterable(map(_tokens_of.__getitem__, words)))


def index_tokens(text: str) -> list[str]:
    """Return the tokens to index and to search for: those of ``tokenize`` without stop words.

    A query of stop words alone has none, so that its vector alone answers it.
    """
    folded = fold(text)
    words = word_pattern(ascii_only=folded.isascii()).findall(folded)
    return list(chain.from_iterable(map(_index_tokens_of.__getitem__, words)))


def query_tokens(text: str) -> list[str]:
    """Return the tokens to search for: those of ``index_tokens``, of a number only the whole.

    A day is not searched for by its month. A text of stop words alone keeps them.
    """
    figures = _figure_pattern().sub(lambda figure: in_points(figure[0]), fold(text))
    words = word_pattern(ascii_only=figures.isascii()).findall(figures)
    tokens: list[str] = []
    for word in words:
        periods = {period for period, _, _ in periods_of(word)}
        tokens += (token for token in _index_tokens_of[word] if token not in periods)
    return tokens or tokenize(figures)


def token_spans(text: str) -> list[TokenSpan]:
    """Return the tokens of a text with their offsets in it; the same tokens as ``tokenize``.

    Spans may overlap, as an identifier's do with those of its parts. Meant for the few passages
    that are shown: far slower than ``tokenize`` on text that is not ASCII.
    """
    folded, starts, ends = fold_with_offsets(text)
    spans = []
    for match in word_pattern(ascii_only=folded.isascii()).finditer(folded):
        at = match.start()
        for piece in _pieces_of[match.group()]:
            first, last = at + piece.start, at + piece.end - 1
            spans.append(TokenSpan(piece.token, starts[first], ends[last]))
    return spans


def without_stop_words(tokens: Iterable[str]) -> list[str]:
    """Return the tokens without English stop words, unless there are no others."""
    kept = list(tokens)
    content = [token for token in kept if token not in STOP_WORDS]
    return content or kept


def fold(text: str) -> str:
    """Unify compatibility forms and drop the accents of Latin, Greek and Cyrillic letters.

    Vowel signs of Hebrew and Arabic go, and Arabic letters that are written in several ways are
    unified. Case is kept, because it tells the parts of ``camelCase`` apart. Marks of other
    scripts, where they carry meaning, are kept.
    """
    if text.isascii():
        return text
    # Nothing joins across ASCII: most marks after it go, and the others go with no such letter.
    return _NOT_ASCII.sub(_fold_match, text)


def _fold_match(run: re.Match[str]) -> str:
    text = run[0]
    return _fold_short(text) if len(text) <= _LONGEST_CACHED else _fold_run(text)


@lru_cache(maxsize=_CACHED_WORDS)
def _fold_short(text: str) -> str:
    """Fold a few characters."""
    return _fold_run(text)


def _fold_run(text: str) -> str:
    """Fold a text as a whole, also one that is ASCII."""
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.translate(_BEFORE)))
    if _ARABIC.search(plain):
        plain = plain.translate(_ARABIC_ALIKE)
    return unicodedata.normalize("NFC", plain)


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
        plain = _fold_short(text[at:end])
        folded.append(plain)
        starts.extend([at] * len(plain))
        ends.extend([end] * len(plain))
        at = end
    return "".join(folded), starts, ends


def _cluster_end(text: str, start: int) -> int:
    """Find the end of the shortest slice that folds the same alone as within the text."""
    end = start + 1
    while end < len(text):
        following = text[end]
        if following.isascii() or _STANDALONE.match(following):
            break
        if ord(following) not in _BEFORE and not unicodedata.category(following).startswith("M"):
            cluster = text[start:end]
            apart = _fold_short(cluster) + _fold_short(following)
            if _fold_short(cluster + following) == apart:
                break
        elif _BEFORE.get(ord(following), "") != "":
            break
        end += 1
    return end


@cache
def _figure_pattern() -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W{SPACELESS}]|[.])(?:{FIGURE})")


@cache
def word_pattern(*, ascii_only: bool) -> re.Pattern[str]:
    """Return the pattern of a word, identifier, address, path or number in a folded text.

    For ASCII alone there is one that is two to three times as fast.
    """
    run = r"\w++" if ascii_only else rf"[\w{marks()}]+"
    # Runs of letters and digits with single connectors between them.
    rest = rf"(?:{CONNECTORS}{run})*(?:\+\+\d*|\#(?!\w))?"
    before_figure = "" if ascii_only else rf"|[{SPACELESS}]++(?={FIGURE})"
    return re.compile(
        rf"{FIGURE}{before_figure}"
        rf"|(?:(?<![\w.)\]'\"/])\.(?=[A-Za-z]))?{run}{rest}",
        re.ASCII if ascii_only else 0,
    )


class _WordCache(dict[str, _Made]):
    """What was made of words seen before. Full, it keeps those asked for since it was last full.

    Thus words that come once, as in questions they do for ever, drive out no common ones.
    """

    def __init__(self, make: Callable[[str], _Made]) -> None:
        super().__init__()
        self._make = make
        self._before: dict[str, _Made] = {}

    def __missing__(self, word: str) -> _Made:
        made = self._before.get(word)
        if made is None:
            made = self._make(word)
        if len(word) <= (_LONGEST_CACHED if word.isascii() else _LONGEST_CACHED // 4):
            if len(self) >= _CACHED_WORDS:
                self._before = dict(self)
                self.clear()
            self[word] = made
        return made


_pieces_of: _WordCache[Sequence[Piece]] = _WordCache(analyse)
_tokens_of: _WordCache[Sequence[str]] = _WordCache(tokens_of)
_index_tokens_of: _WordCache[Sequence[str]] = _WordCache(content_tokens)
