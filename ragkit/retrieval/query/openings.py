"""Questions without the phrases that only ask: "how do I get", "kannst du mir sagen, wo"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from ragkit.indexes.tokenizer import fold, query_tokens
from ragkit.retrieval.query.asking_words import without_asking_words
from ragkit.retrieval.query.closing_phrases import BESIDE_CLOSINGS, CLOSINGS
from ragkit.retrieval.query.opening_phrases import ENDINGS, GREETINGS, OBJECTS, OPENINGS
from ragkit.retrieval.query.word_forms import is_function_word

_MOST_OPENINGS = 4
_LONGEST_ENDING = 60
_LONGEST_CLOSING = 120
_FEW_WORDS = 4
_TYPED_PLAINLY = ("hu", "tr")
"""Languages in which many type without accents."""
_SPACE = r"[\s,]+"
_EDGE = r"[\s¿¡\"“„«'(,.;:!–-]*+"


@lru_cache(maxsize=64)
def subject_of(question: str) -> str:
    """Return what is to be searched for, without what only asks; the question if nothing is left.

    Quick answers keep English verbs: "get" is met by "receives".
    """
    about = without_asking_words(question)
    rest = _without_phrases(about)
    return rest if query_tokens(rest) else about


def _without_phrases(question: str) -> str:
    """Return a question without the phrases that it begins and ends with.

    Of "Can you tell me how to get a refund?" it leaves "a refund?", and of "Vergi iadesi hakkında
    bilgi almak istiyorum" "Vergi iadesi"; any other text comes back as it is.
    """
    patterns = _patterns()
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


def _says_something(text: str) -> bool:
    """Return whether a text begins with more than function words."""
    return not all(map(is_function_word, text.split(maxsplit=_FEW_WORDS)[:_FEW_WORDS]))


class _Patterns(NamedTuple):
    openings: tuple[re.Pattern[str], ...]
    """One for each language."""
    following: re.Pattern[str]
    """For what may stand behind them."""
    ending: re.Pattern[str]
    closing: re.Pattern[str]
    beside: re.Pattern[str]
    """For what may stand before a question that has a closing."""


@cache
def _patterns() -> _Patterns:
    bound = r"(?![\w'’-])"
    greeting = f"(?:{_any_of(GREETINGS)}{bound}{_EDGE})?"
    closings = "|".join(_each(CLOSINGS))
    beside = _any_of(BESIDE_CLOSINGS)
    before_the_end = rf"(?:{closings})(?:[\s,.?!…]+{beside})?"
    return _Patterns(
        tuple(_compiled(f"{_EDGE}{greeting}{opening}{bound}") for opening in _each(OPENINGS)),
        _compiled(f"{_EDGE}{_any_of(OBJECTS)}{bound}"),
        _compiled(rf"\s+{_any_of(ENDINGS)}[\s.?!…]*$"),
        _compiled(rf"[\s,.:;–-]+{before_the_end}[\s.?!…]*+$"),
        _compiled(f"(?:{_EDGE}{beside}{bound})+{_EDGE}"),
    )


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _each(phrases: Mapping[str, str]) -> Iterator[str]:
    """Return a pattern for the phrases of each language, where many do, also without accents."""
    for language, lines in phrases.items():
        yield _any_of(_typed_plainly(lines) if language in _TYPED_PLAINLY else lines)


def _typed_plainly(lines: str) -> str:
    """Return lines that also fit what is typed without accents; "ı" is an "i" in any case."""
    return re.sub(r"[^\0-\x7fı]", lambda letter: f"[{letter[0]}{fold(letter[0])}]", lines)


def _any_of(lines: str) -> str:
    """Return a pattern for any of these lines."""
    phrases = "|".join(filter(None, lines.replace("\\\n", "").split("\n")))
    groups = re.sub(r"\((?!\?)", "(?:", phrases)
    return f"(?:{groups.replace(' ', _SPACE)})"
