"""What a question asks for: a person, a time, an amount; and which of its words only ask."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property

from ragkit.indexes.analyzer import SPACELESS
from ragkit.indexes.tokenizer import fold, index_tokens, query_tokens, word_pattern
from ragkit.months import named
from ragkit.retrieval.figures import is_figure
from ragkit.retrieval.query.question_words import LANGUAGES
from ragkit.retrieval.query.question_words.english import ENGLISH
from ragkit.retrieval.query.question_words.german import GERMAN
from ragkit.retrieval.query.question_words.language import phrases_in
from ragkit.retrieval.query.question_words.russian import RUSSIAN
from ragkit.retrieval.query.subject import subject_of, without_asking, without_asking_words
from ragkit.retrieval.query.word_forms import (
    LONGEST_JUDGED,
    foreign_language,
    with_infinitive,
    without_function_words,
)


class Kind(StrEnum):
    """What an answer must hold, or whether it is a yes or no."""

    AMOUNT = "amount"
    TIME = "time"
    WHO = "who"
    YES_NO = "yes or no"
    OTHER = "other"


_AMOUNT = re.compile(r"\d|[零一二三四五六七八九十百千万]")
_TIME = re.compile(
    r"\b(?:1[5-9]|20)\d\d\b|\d{1,2}[.:/-]\d{1,2}|[年月日時时]"
    r"|\b(?:jan|feb|mar|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])[a-zä]*\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b\w+(?:tag|woche?)s?\b"
    r"|\b(?:before|after|during|until|noon|midnight|morning|evening|week|day|month|year|hour)s?\b",
    re.IGNORECASE,
)
_CAPITALS = "".join(filter(str.isupper, map(chr, range(0x530))))
_NAME = re.compile(
    rf"(?<![.!?:]\s)(?<!^)(?<!\n)\b[{_CAPITALS}][\w'’-]+|[一-鿿ぁ-ヿ]{{2,}}(?:さん|先生|氏)"
)
_SHOWS = {Kind.AMOUNT: _AMOUNT, Kind.TIME: _TIME, Kind.WHO: _NAME}
_WITHOUT_BOUNDS = re.compile(rf"\[?[.{SPACELESS}]")
_WORD = re.compile(r"[^\W\d_]+")

# Words that ask for an answer without being in it.
_ASKING = frozenset(
    index_tokens(
        """
specific specifically describe described mention mentioned discuss discussed according text
study stated state provide provided outline outlined note noted main key primary major
explain tell give list name example examples kind type sort various different particular
certain document article report identified identify highlight detail details regarding
related concerning following overall mean means find please summary summarize many much long
often old year date day time percentage percent number amount total reason purpose person
people place location know need want any get use
"""
    )
)
_ASKING_COUNTS = 0.4
_MODALS = frozenset(["may", "might", "must", "shall", "ought", "darf", "kann", "muss", "soll"])
"""In small letters: May is a month, and might a power."""


@dataclass(frozen=True)
class Question:
    """A question's words: tokens without repetition, in order, and without function words."""

    text: str

    @cached_property
    def words(self) -> dict[str, str]:
        """The word that each token is of, as it is written; those that only ask are none."""
        about = without_asking(self.text[:LONGEST_JUDGED])
        # English verbs that ask count little (``factors``), and may be met by others.
        if language := foreign_language(about):
            rest = subject_of(with_infinitive(about, language))
        else:
            rest = without_asking_words(about)
        folded = fold(rest)
        words: dict[str, str] = {}
        asked = set(query_tokens(folded))
        for match in word_pattern(ascii_only=folded.isascii()).finditer(folded):
            for token in filter(asked.__contains__, index_tokens(match.group())):
                words.setdefault(token, match.group())
        return {token: words[token] for token in without_function_words(self.text, tuple(words))}

    @cached_property
    def figures(self) -> list[bool]:
        """Which of the tokens are exact figures: another one is not like them."""
        return [is_figure(token) for token in self.words]

    @cached_property
    def kind(self) -> Kind:
        """What it asks for."""
        text = fold(self.text[:LONGEST_JUDGED]).casefold().strip()
        for kind, asks in _asks(foreign_language(self.text[:LONGEST_JUDGED])).items():
            if asks.match(text) if kind is Kind.YES_NO else asks.search(text):
                return kind
        return Kind.OTHER

    @cached_property
    def _shown_by(self) -> frozenset[str]:
        """Words that are, in an answer, what the question asks for: an amount or a time."""
        words = _words_of(self.kind, foreign_language(self.text[:LONGEST_JUDGED]))
        return words.difference(_WORD.findall(self.text.casefold()))

    def factors(self) -> list[float]:
        """Return how much each token counts, besides its rarity: less where it only asks."""
        return [
            _ASKING_COUNTS if token in _ASKING or word in _MODALS else 1.0
            for token, word in self.words.items()
        ]

    def is_met_by(self, sentence: str) -> bool:
        """Return whether a sentence holds what the kind asks for, and the question does not."""
        shows = _SHOWS.get(self.kind)
        if shows is None:
            return False
        words = self._shown_by
        if words and not words.isdisjoint(_WORD.findall(sentence.casefold())):
            return True
        text = self.text.casefold()
        return any(match.group().casefold() not in text for match in shows.finditer(sentence))


@cache
def _asks(stemmer: str) -> Mapping[Kind, re.Pattern[str]]:
    """Return what tells each kind in all languages, and a yes or no in that of a stemmer if named.

    "Was" begins questions of English and of German.
    """
    own = [language for language in LANGUAGES if stemmer in ("", language.stemmer)]
    lines = {
        Kind.AMOUNT: [language.asks_amount for language in LANGUAGES],
        Kind.TIME: [language.asks_time for language in LANGUAGES],
        Kind.WHO: [language.asks_who for language in LANGUAGES],
        Kind.YES_NO: [language.asks_yes_no for language in own],
    }
    return {kind: _whole_words(phrases_in(of_kind)) for kind, of_kind in lines.items()}


def _whole_words(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(_bounded, patterns)) or "(?!)")


def _bounded(pattern: str) -> str:
    """Return a pattern of whole words, where words have bounds."""
    return pattern if _WITHOUT_BOUNDS.match(pattern) else rf"(?<!\w)(?:{pattern})(?!\w)"


@cache
def _words_of(kind: Kind, stemmer: str) -> frozenset[str]:
    """Return words for times, or for numbers of a language, of English and of Russian.

    Languages are like one another in short questions for a time, so that those of all count.
    Numbers of a language that is not told are German.
    """
    if kind is Kind.TIME:
        return frozenset(word for each in LANGUAGES for word in each.times.split()).union(named())
    if kind is not Kind.AMOUNT:
        return frozenset()
    own = [language for language in LANGUAGES if stemmer and language.stemmer == stemmer]
    languages = (ENGLISH, RUSSIAN, *(own or [GERMAN]))
    return frozenset(word for each in languages for word in each.numbers.split())
