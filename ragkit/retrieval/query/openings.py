"""Questions without the phrases that only ask: "how do I get", "kannst du mir sagen, wo"."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from ragkit.indexes.tokenizer import query_tokens
from ragkit.retrieval.query.asking_words import without_asking_words
from ragkit.retrieval.query.opening_phrases import ENDINGS, GREETINGS, OBJECTS, OPENINGS

_MOST_OPENINGS = 4
_LONGEST_ENDING = 60
_SPACE = r"[\s,]+"
_EDGE = r"[\s¿¡\"“„«'(,.;:!–-]*+"


@lru_cache(maxsize=64)
def subject_of(question: str) -> str:
    """Return what is to be searched for, without what only asks; the question if nothing is left.

    Quick answers keep English verbs: "get" is met by "receives".
    """
    about = without_asking_words(question)
    rest = _without_opening(about)
    return rest if query_tokens(rest) else about


def _without_opening(question: str) -> str:
    """Return a question without the phrases that it begins with, and the verb that ends them.

    Of "Can you tell me how to get a refund?" it leaves "a refund?"; any other text comes back as
    it is.
    """
    openings, following, ending = _patterns()
    start = 0
    for _ in range(_MOST_OPENINGS):
        patterns = (*openings, following) if start else openings
        matches = (pattern.match(question, start) for pattern in patterns)
        end = max((match.end() for match in matches if match), default=0)
        if not end:
            break
        start = end
    if not start:
        return question
    last = ending.search(question, max(start, len(question) - _LONGEST_ENDING))
    return question[start : last.start() if last else len(question)]


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], ...], re.Pattern[str], re.Pattern[str]]:
    """Return a pattern of each language, one for what may stand behind them, and for the end."""
    bound = r"(?![\w'’-])"
    greeting = f"(?:{_any_of(GREETINGS)}{bound}{_EDGE})?"
    openings = (_any_of(lines) for lines in OPENINGS.values())
    return (
        tuple(
            re.compile(rf"{_EDGE}{greeting}{opening}{bound}", re.IGNORECASE) for opening in openings
        ),
        re.compile(rf"{_EDGE}{_any_of(OBJECTS)}{bound}", re.IGNORECASE),
        re.compile(rf"\s+{_any_of(ENDINGS)}[\s.?!…]*$", re.IGNORECASE),
    )


def _any_of(lines: str) -> str:
    """Return a pattern for any of these lines."""
    phrases = "|".join(filter(None, lines.replace("\\\n", "").split("\n")))
    groups = re.sub(r"\((?!\?)", "(?:", phrases)
    return f"(?:{groups.replace(' ', _SPACE)})"
