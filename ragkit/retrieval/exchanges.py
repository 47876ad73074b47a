"""Questions of a text, each with what leads to it and what is said after it.

A question that leans on the one before is asked together with it. Where questions have answers,
neighbouring ones on one subject are a conversation, and its last question asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ragkit.retrieval.leaning import leans, telling
from ragkit.retrieval.question_units import Sentence
from ragkit.retrieval.topic_names import telling_tokens

_LONGEST_LEAD = 40
_LONGEST_ALONE = 12


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question, what was said before it on the same subject, and what was said after it."""

    start: int
    end: int
    question: str
    lead: str = ""
    answer: str = ""


def exchanges_of(sentences: Sequence[Sentence]) -> list[Exchange]:
    """Return the questions among sentences that no roles are written for.

    Sentences between two questions lead to the second if they share its paragraph, else they are
    said after the first.
    """
    asking = [at for at, one in enumerate(sentences) if one.asks and telling(one.text)]
    if len(asking) > 1:
        asking = [at for at, one in enumerate(sentences) if at in asking or _is_note(one)]
    leads = [
        _lead(sentences[before + 1 : at], sentences[at].paragraph)
        for before, at in pairwise([-1, *asking])
    ]
    firsts = [at - len(lead) for at, lead in zip(asking, leads, strict=True)]
    return [
        Exchange(
            sentences[first].start,
            sentences[following - 1].end,
            sentences[at].text,
            " ".join(one.text for one in lead),
            " ".join(one.text for one in sentences[at + 1 : following]),
        )
        for first, following, at, lead in zip(
            firsts, [*firsts[1:], len(sentences)], asking, leads, strict=False
        )
    ]


def _is_note(one: Sentence) -> bool:
    """Return whether a sentence is a line of its own with a few words to look for."""
    return (
        one.is_line
        and not one.text.endswith((",", ":"))
        and len(one.text.split()) <= _LONGEST_ALONE
        and bool(telling_tokens(one.text))
    )


def _lead(before: Sequence[Sentence], paragraph: int) -> Sequence[Sentence]:
    """Return the last sentences before a question in its paragraph, up to a number of words."""
    words, first = 0, len(before)
    while first and before[first - 1].paragraph == paragraph:
        words += len(before[first - 1].text.split())
        if words > _LONGEST_LEAD:
            break
        first -= 1
    return before[first:]


def backgrounds(exchanges: Sequence[Exchange]) -> list[str]:
    """Return for each question what it leans on, with the question; empty where it stands alone."""
    found: list[str] = []
    for at, one in enumerate(exchanges):
        background = ""
        if leans(one.question):
            base = one.lead
            if not base and at:
                base = found[at - 1] or exchanges[at - 1].question
            background = f"{base} {one.question}" if base else ""
        found.append(background)
    return found
