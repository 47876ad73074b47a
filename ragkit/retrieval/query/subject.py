"""What a question is about: the question without all that only asks.

Phrases that begin or end it ("how do I get"), questions for the meaning of a term ("what does …
mean"), and words that only ask in Chinese, Japanese and Korean; ``question_words`` has them by
language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import NamedTuple

from ragkit.indexes.tokenizer import fold, index_tokens, query_tokens
from ragkit.retrieval.query.han_variants import writings
from ragkit.retrieval.query.question_words import LANGUAGES
from ragkit.retrieval.query.question_words.chinese import CHINESE
from ragkit.retrieval.query.question_words.english import ENGLISH
from ragkit.retrieval.query.question_words.japanese import JAPANESE
from ragkit.retrieval.query.question_words.korean import KOREAN
from ragkit.retrieval.query.question_words.language import Language, phrases_in
from ragkit.retrieval.query.word_forms import is_function_word

ARTICLE = (
    r"(?:(?:an?|the|eine?|d(?:er|ie|as)|une?|l[ae]s?|els?|l[io]s?|una|un[oa]s?|gli|il|uma?|[oa]s?"
    r"|een|de|het|e[in]|ett?|az|egy|ο|η|το|οι|τα|ένας?|μία|μια|ένα)\s+|[ld]['’]\s?)"
)
"""A pattern for an article, with what parts it from the term behind it."""

_MOST_OPENINGS = 4
_LONGEST_ENDING = 60
_LONGEST_CLOSING = 120
_FEW_WORDS = 4
_LONGEST_FOR_MEANING = 200
_LONGEST_TERM = 5
_KANA = re.compile("[\u3041-\u30fa]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_SPACE = r"[\s,]+"
_EDGE = r"[\s¿¡\"“„«'(,.;:!–-]*+"
_EDGE_OF_TERM = r"[\s¿¡?!.;,؟。？！\"“”„«»「」']*"
# Vowels of some scripts are marks, which are no letters.
_WORD = re.compile(
    r"(?:[^\W_]|[\u0300-\u036f\u0591-\u05c7\u064b-\u0655\u0900-\u0dff\u0e31-\u0e4e])+"
)
_ONE_OF = re.compile(r"(?:an?|eine?|une?|un[ao]|uma?|een|e[nti]|ett|egy|ένας?|μία|μια|ένα)\s", re.I)
_NAMED = re.compile(
    rf"(?P<article>{ARTICLE})?(?P<term>\S.*?)"
    r"(?P<field>\s(?:in|im|en|dans|nella?|n[oa]|(?-i:[ivwву]|σε))\s.*)?",
    re.IGNORECASE,
)
_TERM = r"(\S.*?)"


@lru_cache(maxsize=64)
def subject_of(question: str) -> str:
    """Return what is to be searched for, without what only asks; the question if nothing is left.

    Quick answers keep English verbs: "get" is met by "receives".
    """
    about = _without_measures(without_asking_words(question))
    rest = _without_phrases(about)
    return rest if query_tokens(rest) else about


def without_asking_words(question: str) -> str:
    """Return a question without words that only ask; as it is if nothing else is left.

    In Chinese, Japanese and Korean few words are dropped from indexes, since words have no bounds
    there: the pairs of what only asks would outweigh those of what is asked for. In other languages
    it is what asks for a meaning, but not in English, whose function words are not indexed.
    """
    text = written = _without_foreign_asking(question)
    if _KANA.search(text):
        pattern = _asking_pattern(JAPANESE)
    elif _HANGUL.search(text):
        pattern = _asking_pattern(KOREAN)
    elif simplified := writings(text):
        written, pattern = simplified[0], _asking_pattern(CHINESE)
    else:
        return text
    kept = list(text)
    for match in pattern.finditer(written):
        kept[match.start() : match.end()] = " " * len(match[0])
    rest = "".join(kept)
    return rest if query_tokens(rest) else text


@lru_cache(maxsize=64)
def without_asking(question: str) -> str:
    """Return what a question for a meaning is about, without the words that only ask for it.

    "what does the word bitt mean" is about "the word bitt"; any other text comes back as it is.
    """
    if len(question) > _LONGEST_FOR_MEANING:
        return question
    return _about(question, _meanings())


def defined_term(question: str) -> tuple[str, ...]:
    """Return the words of the term whose meaning a question asks for; none if it asks for else.

    In "what is a factor in R" it is the factor, in "what is the limit in Spain" all of it.
    """
    about = without_asking(question)
    named = _NAMED.fullmatch(about) if about != question else None
    if named is None:
        return ()
    article, term, field = (named[name] or "" for name in ("article", "term", "field"))
    if field and article and not _ONE_OF.match(article):
        term += field
    words = tuple(_WORD.findall(term))
    return words if len(words) <= _LONGEST_TERM and index_tokens(term) else ()


def _without_phrases(question: str) -> str:
    """Return a question without the phrases that it begins and ends with.

    Of "Can you tell me how to get a refund?" it leaves "a refund?", and of "Vergi iadesi hakkında
    bilgi almak istiyorum" "Vergi iadesi"; any other text comes back as it is.
    """
    patterns = _phrases()
    start = 0
    for _ in range(_MOST_OPENINGS):
        openings = (*patterns.openings, patterns.following) if start else patterns.openings
        matches = (pattern.match(question, start) for pattern in openings)
        end = max((match.end() for match in matches if match), default=0)
        if not end:
            break
        start = end
    length = len(question)
    closing = patterns.closing.search(question, max(start, length - _LONGEST_CLOSING))
    if closing and _says_something(question[start : closing.start()]):
        beside = patterns.beside.match(question, start, closing.start())
        return question[beside.end() if beside else start : closing.start()]
    if not start:
        return question
    last = patterns.ending.search(question, max(start, length - _LONGEST_ENDING))
    return question[start : last.start() if last else length]


def _without_measures(question: str) -> str:
    """Return a question without what behind its question word only asks for an amount."""
    rest = _measures().sub(lambda match: match[0].split()[0], question)
    return rest if _says_something(rest) else question


@cache
def _measures() -> re.Pattern[str]:
    """Return a pattern for a question word with what asks for an amount behind it."""
    lines = (language.measures.split() for language in LANGUAGES if language.measures)
    asking = (rf"{word}\s+(?:{'|'.join(measures)})" for word, *measures in lines)
    return _compiled(rf"\b(?:{'|'.join(asking)})\b")


def _says_something(text: str) -> bool:
    """Return whether a text begins with more than function words."""
    return not all(map(is_function_word, text.split(maxsplit=_FEW_WORDS)[:_FEW_WORDS]))


def _without_foreign_asking(question: str) -> str:
    """Return the same as ``without_asking``; what is asked in English comes back as it is."""
    about = without_asking(question)
    if about != question and _about(question, _meanings(ENGLISH)) != question:
        return question
    return about


def _about(question: str, meanings: Iterable[re.Pattern[str]]) -> str:
    asked = (pattern.fullmatch(question) for pattern in meanings)
    return next((match[1] for match in asked if match), question)


class _Phrases(NamedTuple):
    openings: tuple[re.Pattern[str], ...]
    """One for each language."""
    following: re.Pattern[str]
    """For what may stand behind them."""
    ending: re.Pattern[str]
    closing: re.Pattern[str]
    beside: re.Pattern[str]
    """For what may stand before a question that has a closing."""


@cache
def _phrases() -> _Phrases:
    bound = r"(?![\w'’-])"
    greetings = _any_of(each.greetings for each in LANGUAGES)
    greeting = f"(?:{greetings}{bound}{_EDGE})?"
    openings = _by_language((each, each.openings) for each in LANGUAGES)
    closings = "|".join(_by_language((each, each.closings) for each in LANGUAGES))
    beside = _any_of(each.beside_closings for each in LANGUAGES)
    objects = _any_of(each.objects for each in LANGUAGES)
    endings = _any_of(each.endings for each in LANGUAGES)
    before_the_end = rf"(?:{closings})(?:[\s,.?!…]+{beside})?"
    return _Phrases(
        tuple(_compiled(f"{_EDGE}{greeting}{opening}{bound}") for opening in openings),
        _compiled(f"{_EDGE}{objects}{bound}"),
        _compiled(rf"\s+{endings}[\s.?!…]*$"),
        _compiled(rf"[\s,.:;–-]+{before_the_end}[\s.?!…]*+$"),
        _compiled(f"(?:{_EDGE}{beside}{bound})+{_EDGE}"),
    )


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _by_language(phrases: Iterable[tuple[Language, str]]) -> Iterable[str]:
    """Return a pattern for the phrases of each language, or of those that share them."""
    return dict.fromkeys(
        _any_of([_typed_plainly(lines) if language.typed_plainly else lines])
        for language, lines in phrases
        if lines
    )


def _typed_plainly(lines: str) -> str:
    """Return lines that also fit what is typed without accents; "ı" is an "i" in any case."""
    return re.sub(r"[^\0-\x7fı]", lambda letter: f"[{letter[0]}{fold(letter[0])}]", lines)


def _any_of(texts: Iterable[str]) -> str:
    """Return a pattern for any of the lines of texts."""
    phrases = "|".join(phrases_in(texts))
    groups = re.sub(r"\((?!\?)", "(?:", phrases)
    return f"(?:{groups.replace(' ', _SPACE)})"


@cache
def _meanings(*languages: Language) -> tuple[re.Pattern[str], ...]:
    """Return patterns with a group for the term: behind what asks, before it, and in its midst.

    They are for questions in these languages, or in any.
    """
    asked = phrases_in(each.meanings for each in languages or LANGUAGES)
    lines = [line.replace("(", "(?:").replace(" ", r"\s+") for line in asked]
    behind = [line.removesuffix("X") for line in lines if line.endswith("X")]
    before = [line.removeprefix("X") for line in lines if line.startswith("X")]
    rest = [line.replace("X", _TERM) for line in lines if not re.match("X|.*X$", line)]
    forms = (f"(?:{'|'.join(behind)}){_TERM}", f"{_TERM}(?:{'|'.join(before)})", *rest)
    return tuple(_compiled(f"{_EDGE_OF_TERM}{each}{_EDGE_OF_TERM}") for each in forms)


@cache
def _asking_pattern(language: Language) -> re.Pattern[str]:
    """Return a pattern of what only asks, the longest first."""
    longest_first = sorted(language.asking_words.split(), key=len, reverse=True)
    return re.compile(language.asking_pattern.replace("{words}", "|".join(longest_first)))
