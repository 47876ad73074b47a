"""From one folded word to its tokens: identifiers, numbers, stems, pairs of characters."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import accumulate, chain
from operator import add
from typing import NamedTuple

from ragkit.indexes.days import periods_of
from ragkit.indexes.languages import FOREIGN_STOP_WORDS, JAPANESE_FUNCTION_PAIRS, stem

LONGEST_TOKEN = 64
"""Longer tokens are cut and end in a hash of the whole."""

CONNECTORS = "(?:[.'\\-/\\\\@&]|::)"
"""What may occur once between two parts of one identifier, address or path."""

# Han, kana, Hangul, bopomofo; Thai, Lao, Burmese, Khmer.
SPACELESS = (
    "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u3005-\u3007\u3021-\u3029\u3031-\u3035"
    "\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Letters of scripts written without spaces, as the inside of a class."""

FIGURE = (
    rf"[1-9]\d{{0,2}}(?:,\d{{3}}){{1,8}}(?:\.\d+)?(?![^\W{SPACELESS}]|,)"
    r"|(?<!\d,)(?:[1-9]\d{0,2}(?:(?:\.\d{3}){1,8}|(?: \d{3}){1,8})|\d+),\d+(?!\w|[.,]\d)"
)
"""A number with a comma: "1,234.50", or as most of Europe writes it, "1.234,50" or "1 234,50".

"円" and other letters written without spaces may follow the first at once. It has few groups,
since a list of numbers would else be gone through again from each of them.
"""

_STOP = """
a about am an and are as at be been being but by can could did do does for from had has have he how
i if in into is it its me my no not of on or our she should so such than that the their then there
these they this to was we were what when where which who whom whose why will with would you your
"""
STOP_WORDS = frozenset(_STOP.split())
"""English words that carry no meaning in a search, question words included."""

_ALL_STOP_WORDS = STOP_WORDS | FOREIGN_STOP_WORDS
_LONGEST_WORD = 1000
_CONNECTOR = re.compile(CONNECTORS)
_EDGES = ".'-/\\@&:"
# A token of these alone is none.
_SIGNS = _EDGES + "_"
# "well-known": its words say it all; an identifier has a digit, a dot or another sign.
_HYPHENATED = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
_SEPARATORS = re.compile(r"[/\\@]")
# Two segments or more, and no sign that makes more of a word than a path.
_PATH = re.compile(r"[^/\\@,#+]+(?:[/\\@][^/\\@,#+]+)+")
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_VERSION = re.compile(r"[vV](\d+(?:\.\d+)+)")
_NUMBER = re.compile(r"\d+(?:\.\d+)+")
_GROUPED_BY_COMMAS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_GROUPED_BY_POINTS = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+")
_ELISION = re.compile(r"(?:[ldjmtsnc]|qu|dell|nell|all|sull|dall|un)'(?=\w{2})", re.IGNORECASE)
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_BLANK = re.compile("_{3,}")
# Capitals of several things; a letter and a number, such as B7, of which neither says anything.
_WHOLE_NAME = re.compile(r"[A-Z]{2,}s|[A-Za-z][0-9]{1,2}")
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
_RUN = re.compile(f"[{SPACELESS}]+")
HAN = re.compile("[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
"""A Chinese character, which can be a word by itself."""


class Piece(NamedTuple):
    """A token, and the slice ``[start, end)`` of the word that it was made of."""

    token: str
    start: int
    end: int


def analyse(word: str) -> tuple[Piece, ...]:
    """Return the tokens of one match of the word pattern: the whole first, then its parts."""
    if word.isascii() and word.isalpha() and (word.islower() or word[1:].islower()):
        return (Piece(_stem(word.lower()), 0, len(word)),)
    periods = (Piece(*period) for period in periods_of(word))
    pieces = dict.fromkeys((*_pieces(word), *periods))
    return tuple(piece for piece in pieces if piece.token.strip(_SIGNS))


def tokens_of(word: str) -> tuple[str, ...]:
    """Return the tokens of ``analyse`` alone, quickly for long runs without spaces."""
    if not word.isascii() and _RUN.fullmatch(word) and not _OTHER_DIGIT.search(word):
        units = _units(word)
        alone = units if len(units) == 1 else filter(HAN.match, units)
        return (*alone, *map(add, units, units[1:]))
    return tuple(piece.token for piece in analyse(word))


def content_tokens(word: str) -> tuple[str, ...]:
    """Return the tokens of ``analyse`` without those of stop words."""
    if word.isascii() and word.isalpha() and (word.islower() or word[1:].islower()):
        lower = word.lower()
        return () if lower in STOP_WORDS else (_stem(lower),)
    if not word.isascii() and _RUN.search(word):
        return tuple(token for token in tokens_of(word) if token not in JAPANESE_FUNCTION_PAIRS)
    short = word.isascii() and len(word) <= _LONGEST_WORD
    if short and _PATH.fullmatch(word) and "__" not in word and word.strip(_SIGNS):
        segments = filter(None, _SEPARATORS.split(word))
        whole = _bounded(word.replace("\\", "/").casefold())
        parts = chain.from_iterable(map(_content_of_segment, segments))
        return (whole, *parts, *(month for month, _, _ in periods_of(word)))
    return _content(word, analyse(word))


@lru_cache(maxsize=20_000)
def _content_of_segment(segment: str) -> tuple[str, ...]:
    """Return a segment's tokens; addresses and paths repeat most of their segments."""
    return _content(segment, dict.fromkeys(_dotted(segment, 0)))


def _content(word: str, pieces: Iterable[Piece]) -> tuple[str, ...]:
    dropped = STOP_WORDS if word.isascii() else _ALL_STOP_WORDS
    return tuple(
        piece.token
        for piece in pieces
        if piece.token.strip(_SIGNS) and word[piece.start : piece.end].casefold() not in dropped
    )


def _pieces(word: str) -> Iterator[Piece]:
    """Yield the pieces of runs without spaces, and of the rest."""
    if "___" in word:
        yield from _beside_blanks(word)
        return
    if word.isascii():
        is_name = len(word) <= _LONGEST_WORD and word.replace("_", "a").isalnum()
        yield from _name(word, 0) if is_name else _compound(word, 0)
        return
    word = _OTHER_DIGIT.sub(lambda digit: str(unicodedata.decimal(digit.group())), word)
    last = 0
    for run in _RUN.finditer(word):
        yield from _between(word, last, run.start())
        yield from _pairs(run.group(), run.start())
        last = run.end()
    yield from _between(word, last, len(word))


def _beside_blanks(word: str) -> Iterator[Piece]:
    """Yield the pieces of a word with blanks to fill in, such as ``Name_____``; they end words."""
    for part, at in _split(word, _BLANK):
        inner = part.strip(_EDGES)
        if any(map(str.isalnum, inner)):
            at += part.index(inner)
            for token, start, end in _pieces(inner):
                yield Piece(token, at + start, at + end)


def _between(word: str, start: int, end: int) -> Iterator[Piece]:
    """Yield the pieces beside a run, without the connectors next to it."""
    inner = word[start:end].strip(_EDGES)
    if inner:
        yield from _compound(inner, word.index(inner, start))


def _pairs(run: str, at: int) -> Iterator[Piece]:
    """Yield overlapping pairs of characters, and each Han character, since it can be a word."""
    units = _units(run)
    ends = list(accumulate(map(len, units), initial=at))
    for i, unit in enumerate(units):
        if len(units) == 1 or HAN.match(unit):
            yield Piece(unit, ends[i], ends[i + 1])
    for i in range(len(units) - 1):
        yield Piece(units[i] + units[i + 1], ends[i], ends[i + 2])


def _units(run: str) -> Sequence[str]:
    """Return the characters of a run, each with the marks that belong to it."""
    return _marked_unit().findall(run) if _any_mark().search(run) else run


def _compound(word: str, at: int) -> Iterator[Piece]:
    """Yield an identifier, address, path or number, whole and in parts."""
    size = len(word)
    if "," in word:
        yield from _figure(word, at)
        return
    if word.endswith("#") or "++" in word:
        yield from _symbolic(word, at)
        return
    if size > _LONGEST_WORD:
        yield from _simple_parts(word, at)
        return
    segments = _split(word, _SEPARATORS)
    if len(segments) > 1:
        yield Piece(_bounded(word.replace("\\", "/").casefold()), at, at + size)
    for segment, offset in segments:
        yield from _dotted(segment, at + offset)


def in_points(figure: str) -> str:
    """Return a number that ``FIGURE`` matches without groups, and with a point for a comma."""
    if _GROUPED_BY_COMMAS.fullmatch(figure):
        return figure.replace(",", "")
    whole, _, decimals = figure.rpartition(",")
    return f"{whole.replace('.', '').replace(' ', '')}.{decimals}"


def _figure(word: str, at: int) -> Iterator[Piece]:
    """Yield a number with a comma as digits with a point.

    Without groups, the comma may also separate two numbers, which then come as well.
    """
    number = in_points(word)
    yield Piece(_bounded(number), at, at + len(word))
    whole, _, decimals = word.rpartition(",")
    if f"{whole}.{decimals}" == number:
        yield Piece(_bounded(whole), at, at + len(whole))
        yield Piece(_bounded(decimals), at + len(whole) + 1, at + len(word))


def _symbolic(word: str, at: int) -> Iterator[Piece]:
    """Yield ``C++``, ``C++17``, ``C#``, ``notepad++``: the sign belongs to the name."""
    name = re.split(r"\+\+|#", word, maxsplit=1)[0]
    signed = word[: len(name) + (1 if word[len(name)] == "#" else 2)]
    yield Piece(_bounded(word.casefold()), at, at + len(word))
    yield Piece(_bounded(signed.casefold()), at, at + len(signed))
    if len(signed) < len(word):
        yield Piece(word[len(signed) :][:LONGEST_TOKEN], at + len(signed), at + len(word))
    if len(name) > 1:
        yield from _compound(name, at)


def _dotted(word: str, at: int) -> Iterator[Piece]:
    """Yield a segment without separators: names joined by dots, hyphens or apostrophes."""
    size = len(word)
    if _INITIALS.fullmatch(word):
        yield Piece(_bounded(word.replace(".", "").casefold()), at, at + size)
        return
    version = _VERSION.fullmatch(word)
    if version or _NUMBER.fullmatch(word):
        yield Piece(_bounded(word.casefold()), at, at + size)
        if version:
            yield Piece(_bounded(version.group(1)), at + 1, at + size)
        elif _GROUPED_BY_POINTS.fullmatch(word):
            yield Piece(_bounded(word.replace(".", "")), at, at + size)
        return
    elision = _ELISION.match(word)
    if elision:
        yield from _dotted(word[elision.end() :], at + elision.end())
        return
    if "'" in word:
        word = word[:-2] if word.endswith(("'s", "'S")) else word
    names = _split(word, _CONNECTOR)
    if (len(names) > 1 and not _HYPHENATED.fullmatch(word)) or word.startswith("."):
        whole = word.replace("'", "").casefold()
        yield Piece(_stem(whole) if whole.isalpha() else _bounded(whole), at, at + len(word))
        if "'" in word and len(names) == 2:
            return
    for name, offset in names:
        yield from _name(name, at + offset)


def _name(word: str, at: int) -> Iterator[Piece]:
    """Yield one name: ``snake_case``, ``camelCase``, letters with digits, or a plain word."""
    whole = word.casefold()
    size = len(word)
    parts = [] if size > LONGEST_TOKEN else _parts(word)
    plain = len(parts) < 2 or _WHOLE_NAME.fullmatch(word) is not None
    yield Piece(_stem(whole) if whole.isalpha() else _bounded(whole), at, at + size)
    if plain and (len(parts) != 1 or parts[0][0] == word):
        return
    for i, (part, offset) in enumerate(parts):
        if _before_number(parts, i):
            continue
        lower = part.casefold()
        token = _stem(lower) if lower.isalpha() else _bounded(lower)
        yield Piece(token, at + offset, at + offset + len(part))


def _before_number(parts: Sequence[tuple[str, int]], i: int) -> bool:
    """Return whether a part is two letters of a number: the ``FY`` of ``FY2022`` is no word."""
    part, start = parts[i]
    if len(part) != 2 or not part.isalpha() or i + 1 == len(parts):
        return False
    following, at = parts[i + 1]
    return at == start + 2 and following.isdigit()


def _parts(name: str) -> list[tuple[str, int]]:
    """Cut a name at underscores, between letters and digits, and where its case changes."""
    if name.isascii():
        return [(part.group(), part.start()) for part in _PART.finditer(name)]
    parts = []
    for run in _run_of_letters().finditer(name):
        letters, start = run.group(), 0
        for i in range(1, len(letters) + 1):
            if i == len(letters) or (letters[i].isupper() and letters[i - 1].islower()):
                parts.append((letters[start:i], run.start() + start))
                start = i
    return parts


def _simple_parts(word: str, at: int) -> Iterator[Piece]:
    """Cut an overlong word at its connectors only."""
    for name, offset in _split(word, _CONNECTOR):
        yield Piece(_bounded(name.casefold()), at + offset, at + offset + len(name))


def _split(word: str, pattern: re.Pattern[str]) -> list[tuple[str, int]]:
    """Split at a pattern, keeping each part's offset; empty parts are left out."""
    parts = []
    last = 0
    for match in pattern.finditer(word):
        if match.start() > last:
            parts.append((word[last : match.start()], last))
        last = match.end()
    if last < len(word):
        parts.append((word[last:], last))
    return parts


def _bounded(token: str) -> str:
    """Cut a token that is too long to keep; a hash keeps it distinct."""
    if len(token) <= LONGEST_TOKEN:
        return token
    digest = hashlib.blake2b(token.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{token[: LONGEST_TOKEN - 17]}~{digest}"


@cache
def _any_mark() -> re.Pattern[str]:
    """A combining mark."""
    return re.compile(f"[{marks()}]")


@cache
def _marked_unit() -> re.Pattern[str]:
    """One character with the marks that belong to it."""
    return re.compile(f".[{marks()}]*", re.DOTALL)


@cache
def _run_of_letters() -> re.Pattern[str]:
    """Letters with their marks, or digits."""
    return re.compile(rf"(?:[^\W\d_]|[{marks()}])+|\d+")


def _stem(word: str) -> str:
    """Stem a word; an overlong one is cut."""
    return stem(word) if len(word) <= LONGEST_TOKEN else _bounded(word)


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
