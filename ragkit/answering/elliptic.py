"""Questions that lean on the one before, such as "and for faulty ones?", made to stand alone.

By rules, for where no model rewrites them: English and German, and the shortest of French and
Spanish. Nothing is guessed; words of the question before are added, or nothing is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ragkit.answers import Turn
from ragkit.errors import QueryError
from ragkit.indexes.tokenizer import index_tokens
from ragkit.retrieval.query.parser import ParsedQuery, parse_query
from ragkit.retrieval.query_segmentation.leaning import (
    AGREEMENTS,
    ONES,
    has_pointer,
    is_sentence,
    kept_words,
    leading_cut,
    leans,
    telling,
    words_of,
)

_YEAR = re.compile(r"(?:\s(?:in|from|of|since|im|von|aus|seit|en|de|del))?\s+(?:19|20)\d\d\b", re.I)
_LONGEST_BASE = 200
_MOST_CARRIED = 4
"""Telling words that are added."""


def stand_alone(question: str, turns: Sequence[Turn], known_fields: Sequence[str] = ()) -> str:
    """Return a question with what it leaves out, taken from the turns before it.

    A question that leans on nothing comes back as it is. Filters of the question before hold on,
    but for those that it names itself. ``known_fields`` are fields of front matter.
    """
    if not turns:
        return question
    own = _parsed(question, known_fields)
    if not leans(own.text) and (own.text or not own.restrictions):
        return question
    rest = leading_cut(own.text)
    words = set(words_of(rest))
    if is_sentence(rest) or (has_pointer(rest) and not words & ONES):
        base = _parsed(turns[-1].asked, known_fields)
        text = f"{rest}: {_telling(base.text, rest)}".removesuffix(": ")
    else:
        fragment = rest if telling(rest) and not words <= AGREEMENTS else ""
        base = _parsed(_base(turns, replaced=bool(fragment)).asked, known_fields)
        before = base.text.rstrip(" ?!.,;:")
        if len(before) > _LONGEST_BASE:
            before = _telling(before, fragment)
        if _YEAR.search(f" {fragment}"):
            before = _YEAR.sub("", f" {before}").strip()
        text = f"{before}, {fragment}?" if fragment else base.text
    return " ".join([text, *_filters(question, own, turns[-1].asked, known_fields)]).strip()


def _base(turns: Sequence[Turn], *, replaced: bool) -> Turn:
    """Return the turn that a fragment continues: the last that did not lean on another itself.

    What says nothing new, such as "yes", continues the last one, whatever that was.
    """
    alone = (turn for turn in reversed(turns) if not leans(turn.question))
    return next(alone, turns[0]) if replaced else turns[-1]


def _telling(text: str, other: str) -> str:
    """Return the words of a question that carry its subject and that ``other`` lacks."""
    there = telling(other)
    words = [word for word in kept_words(text) if not there.issuperset(index_tokens(word))]
    return " ".join(list(dict.fromkeys(words))[:_MOST_CARRIED])


def _filters(question: str, own: ParsedQuery, before: str, fields: Sequence[str]) -> Iterator[str]:
    """Yield the filters of the question before that hold on, and the question's own."""
    named = {restriction.name for restriction in own.restrictions}
    earlier = (each for each in _parsed(before, fields).restrictions if each.name not in named)
    for text, kept in ((before, earlier), (question, iter(own.restrictions))):
        yield from dict.fromkeys(text[slice(*restriction.span)].strip() for restriction in kept)


def _parsed(question: str, known_fields: Sequence[str]) -> ParsedQuery:
    try:
        return parse_query(question, known_fields)
    except QueryError:
        return ParsedQuery(question)
