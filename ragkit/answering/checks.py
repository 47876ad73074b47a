"""Checks of a written sentence against the sentences that it cites, without a model.

They name what is not there: a figure, a date, a name, an identifier, a quotation. That is a warning
and no verdict, and finding nothing proves nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from ragkit.answering.citations import CitedSentence
from ragkit.answering.figures import Date, agrees, dates_in, figures_in, numbers_in
from ragkit.answers import Check, CheckKind
from ragkit.types import Span

_MOST = 6
_LONG_NAME = 6
_QUOTED = re.compile(
    r"“([^“”\n]{2,400})”|„([^„“”\n]{2,400})[“”]|\"([^\"\n]{2,400})\"|«([^«»\n]{2,400})»|"
    r"[「『]([^「」『』\n]{2,400})[」』]"
)
_ELLIPSIS = re.compile(r"\[?(?:…|\.\.\.)\]?")
_TOKEN = re.compile(r"[^\W_][^\s\0\"“”„«»<>()（）,;，、。「」『』]{0,600}")
_MEASURED = re.compile(
    r"[\d.,:]+(?:[-–]?(?:[^\W\d_]{1,12}\b\.?|%|°\w?))?(?:[-/–][\d.,]*[^\W\d_]*)?$"
)
_LETTER = re.compile(r"[^\W\d_]")
_IDENTIFIER = re.compile(
    r"://|@\w|\w_\w|\w::\w|\w\(\)$|[a-z]{2}[A-Z][a-z]|^\d+(?:\.\d+){2,}$|"
    r"[^\W\d]{2}\.[a-z]{2,5}(?:[/?#]|$)"
)
_PIECE = re.compile(r"[^\W_]+")
_CAPITAL = re.compile(r"[^\W\d_][\w'’-]*")
_QUALIFIED = re.compile(r"::|/|\.(?=\w*(?:[a-z][A-Z]|_|\(\)))")
_ACRONYM = re.compile(r"[^\W\d_a-z]{2,8}s?")
_NAMES_JOINED = re.compile(r"[\s-]+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_GERMAN = _words(
    "der die das und ist nicht ein eine mit von zu im am den dem des auf für sind wird werden "
    "sich auch bei nach oder kann wenn es sie er wie aus dass"
)
_ENGLISH = _words(
    "the a an of and is are in to for on with that it be as by or from this not can was at"
)
_NO_NAMES = _words(
    "i i'm ok yes no not must only and or all never note section chapter page table figure step "
    "document documents source sources mr mrs ms dr prof ii iii iv vi vii viii ix"
)
_DAYS = _words("monday tuesday wednesday thursday friday saturday sunday")


def check_sentence(
    sentence: CitedSentence, grounds: Sequence[str], question: str
) -> tuple[Check, ...]:
    """Return the findings against a sentence.

    ``grounds`` are what it may rest on, one for each citation. Names that the question itself
    brings are not held against it; its figures, dates and identifiers are.
    """
    if not sentence.cited:
        return (Check(CheckKind.NO_SOURCE),) if sentence.claims else ()
    missing = list(dict.fromkeys(_missing(sentence.text, _ground("\n".join(grounds)), question)))
    return tuple(Check(CheckKind.NOT_IN_SOURCE, detail) for detail in missing[:_MOST])


@dataclass(frozen=True, slots=True)
class _Ground:
    """What a cited text holds, in the forms that are compared."""

    text: str
    flat: str
    words: frozenset[str]
    numbers: frozenset[Decimal | str]
    dates: list[Date]

    def has_pieces(self, token: str) -> bool:
        """Return whether the letters and digits of an identifier occur there in a row."""
        pieces = _PIECE.findall(_folded(token))
        joined = r"[\W_]*".join(map(re.escape, pieces))
        if not pieces or re.search(rf"(?<![^\W_]){joined}(?![^\W_])", self.text):
            return True
        parts = _QUALIFIED.split(token)
        if len(parts) > 1 and all(map(self.has_pieces, parts)):
            return True
        # "Rad53-dependent" is a word made of a name, no name by itself.
        made = any(len(piece) > _LONG_NAME and piece.isalpha() for piece in pieces[1:])
        return made and "-" in token and all(self.has_name(p) for p in pieces if p.isalpha())

    def has_quotation(self, quoted: str) -> bool:
        """Return whether a quotation occurs there, whatever spaces and marks it has."""
        return all(_flat(part) in self.flat for part in _ELLIPSIS.split(quoted))

    def has_name(self, name: str) -> bool:
        """Return whether the words of a name, maybe inflected, or its initials occur there."""
        bare = _bare(name)
        if bare in self.words or (bare in _DAYS and bare[:3] in self.words):
            return True
        if len(bare) >= 4 and any(_inflected(bare, word) for word in self.words):
            return True
        flat = _flat(name)
        if len(flat) >= _LONG_NAME and flat in self.flat:
            return True
        return self.has_pieces(name) or _has_initials(name, self.text)


def _has_initials(name: str, folded: str) -> bool:
    """Return whether a text has the words that an acronym, as EU or DCs, is made of."""
    if not _ACRONYM.fullmatch(name):
        return False
    between = r"[\w']*(?:[\W_]+(?:of|and|for|the|der|und|für)\b)?[\W_]+"
    words = between.join(map(re.escape, _folded(name.rstrip("s"))))
    return bool(re.search(rf"(?<![^\W_]){words}", folded))


@lru_cache(maxsize=128)
def _ground(text: str) -> _Ground:
    text = unicodedata.normalize("NFKC", text)
    folded = _folded(text)
    words = frozenset(_bare(word) for word in _CAPITAL.findall(folded))
    words |= {part for word in words for part in word.split("-")}
    return _Ground(folded, _flat(text), words, numbers_in(text), dates_in(text))


def _missing(text: str, ground: _Ground, question: str) -> Iterator[str]:
    """Yield what a text says and its ground does not hold, in the order of kinds."""
    text = unicodedata.normalize("NFKC", text)
    for match in list(_QUOTED.finditer(text)):
        quoted = next(filter(None, match.groups()))
        if any(map(str.isalnum, quoted)):
            if not (ground.has_quotation(quoted) or _flat(quoted) in _flat(question)):
                yield match[0]
            text = _without(text, Span(*match.span()))
    for match in list(_TOKEN.finditer(text)):
        token = re.sub(r"['’]s$", "", match[0].rstrip(".:!?'’*-–/…。"))
        if _is_identifier(token):
            if not ground.has_pieces(token):
                yield token
            text = _without(text, Span(match.start(), match.start() + len(token)))
    for date in dates_in(text):
        if not agrees(date, ground.dates, ground.numbers):
            yield date.text
        text = _without(text, date.span)
    for figure in figures_in(text):
        if not figure.is_among(ground.numbers):
            yield figure.text
    yield from _missing_names(text, ground, question)


def _without(text: str, span: Span) -> str:
    """Return a text of the same length with a span made blank, as it has been looked at."""
    return text[: span.start] + "\0" * len(span) + text[span.end :]


def _is_identifier(token: str) -> bool:
    if _IDENTIFIER.search(token):
        return not dates_in(token) or bool(_LETTER.search(token))
    mixed = any(map(str.isdigit, token)) and bool(_LETTER.search(token)) and token.isascii()
    return mixed and not _MEASURED.match(token)


def _missing_names(text: str, ground: _Ground, question: str) -> Iterator[str]:
    """Yield names that are neither in the ground nor in the question."""
    words = _CAPITAL.findall(text)
    lower = [word.casefold() for word in words]
    german = sum(map(_GERMAN.__contains__, lower)) > sum(map(_ENGLISH.__contains__, lower))
    capitals = [word for word in words if word[0].isupper()]
    titled = len(words) >= 4 and len(capitals) > 0.6 * len(words)
    latin = sum(character.isascii() for character in ground.text)
    if titled or latin < 0.5 * len(ground.text):
        return
    asked = {_bare(word) for word in _CAPITAL.findall(_folded(question))}
    group: list[re.Match[str]] = []
    for match in [*_CAPITAL.finditer(text), None]:
        if match is not None and _may_be_name(match, text, german=german):
            if group and _NAMES_JOINED.fullmatch(text, group[-1].end(), match.start()):
                group.append(match)
                continue
            yield from _missing_of(group, text, ground, asked)
            group = [match]
        elif group:
            yield from _missing_of(group, text, ground, asked)
            group = []


def _may_be_name(match: re.Match[str], text: str, *, german: bool) -> bool:
    word = match[0]
    if not word[0].isupper() or _bare(word) in _NO_NAMES:
        return False
    if len(word) > 1 and word.isupper():
        return True
    before = text[: match.start()].rstrip(" (*_'‘’")
    begins = not before or before[-1] in ":.!?\0\n…/-–—•·"
    return not german and not begins and len(word) > 1


def _missing_of(
    group: Sequence[re.Match[str]], text: str, ground: _Ground, asked: set[str]
) -> Iterator[str]:
    def there(word: str) -> bool:
        bare = _bare(word)
        if bare in asked or ground.has_name(word) or _has_initials(word, _folded(text)):
            return True
        return all(part in ground.words or part in asked for part in bare.split("-"))

    if group and not all(there(match[0]) for match in group):
        yield re.sub(r"['’]s$", "", text[group[0].start() : group[-1].end()])


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")


def _flat(text: str) -> str:
    """Return the letters and digits of a text alone, to compare words whatever is between."""
    return "".join(filter(str.isalnum, _folded(text)))


def _bare(word: str) -> str:
    return re.sub(r"'s?$", "", _folded(word)).strip("'-")


def _inflected(word: str, other: str) -> bool:
    if abs(len(word) - len(other)) > 4 or len(other) < 4:
        return False
    return word.startswith(other) or other.startswith(word)
