"""Questions of a text, each with what leads to it and what is said after it.

A question that leans on the one before is asked together with it. Where questions have answers,
neighbouring ones on one subject are a conversation, and its last question asks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragkit.retrieval.leaning import has_pointer, leans, telling
from ragkit.retrieval.message_roles import Unit
from ragkit.retrieval.question_units import Sentence, find_sentences, mostly_asks
from ragkit.retrieval.topic_names import telling_tokens

Embed: TypeAlias = Callable[[Sequence[str]], NDArray[np.float32]]
"""Turns texts into unit vectors, (n, d)."""

_LONGEST_LEAD = 40
_LONGEST_ALONE = 12
_RECENT = 3
_UNLIKE = 0.4
_LEANING = 0.15
_MOST_TOGETHER = 4
_FEWEST_TURNS, _ANSWERED_WORDS, _LONGER = 6, 20, 2


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
    asking = [
        at
        for at, one in enumerate(sentences)
        if one.asks and (telling(one.text) or (at and has_pointer(one.text)))
    ]
    if len(asking) > 1:
        above = ["", *(one.text for one in sentences)]
        asking = [
            at
            for at, one in enumerate(sentences)
            # What stands below "Best wishes," is a name.
            if at in asking or (_is_note(one) and not above[at].endswith(","))
        ]
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
        and len(telling_tokens(one.text)) > 1
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


def exchanges_between(text: str, units: Sequence[Unit], asking: Collection[str]) -> list[Exchange]:
    """Return what the asking roles say, each message with what the others say after it.

    Messages without a word to look for ("Thanks!") belong to what was asked before.
    """
    found: list[Exchange] = []
    for unit in units:
        if unit.role in asking and (telling_tokens(unit.text) or not found):
            found += _asked_in(text, unit)
        elif found:
            answer = found[-1].answer + ("" if unit.role in asking else f" {unit.text}")
            found[-1] = replace(found[-1], end=unit.end, answer=answer)
    return found


def _asked_in(text: str, unit: Unit) -> list[Exchange]:
    """Return a message whole, or the paragraphs of it that ask, with those that lead to each."""
    by_paragraph = _paragraphs(find_sentences(unit.text))
    if sum(any(one.asks for one in sentences) for sentences in by_paragraph) < 2:
        return [Exchange(unit.start, unit.end, unit.text)]
    found: list[Exchange] = []
    said, start = "", unit.start
    for sentences in by_paragraph:
        first = sentences[0]
        if not said and found:
            start = max(start, text.find(unit.text[first.start : first.end], start, unit.end))
            found[-1] = replace(found[-1], end=start)
        said = " ".join([said, *(one.text for one in sentences)]).strip()
        if any(one.asks for one in sentences):
            found.append(Exchange(start, unit.end, said))
            said = ""
    return found


def transcript_of(sentences: Sequence[Sentence]) -> list[Exchange]:
    """Return questions with their answers, where much is said after most of many; else none."""
    turns = _paragraphs(sentences)
    if len(turns) < _FEWEST_TURNS:
        turns = [[one] for one in sentences]
    said_in = [" ".join(one.text for one in turn) for turn in turns]
    found: list[Exchange] = []
    for turn, said, following in zip(turns, said_in, [*said_in[1:], ""], strict=True):
        # A short paragraph above a long one is a question without a mark.
        note = (
            len(turn) == 1
            and _is_note(turn[0])
            and (not following or len(following) > _LONGER * len(said))
        )
        if (note or mostly_asks(turn)) and telling(said):
            found.append(Exchange(turn[0].start, turn[-1].end, said))
        elif found:
            found[-1] = replace(found[-1], end=turn[-1].end, answer=f"{found[-1].answer} {said}")
    words = sorted(len(one.answer.split()) for one in found)
    if len(found) < _FEWEST_TURNS or words[len(words) // 2] < _ANSWERED_WORDS:
        return []
    return found


def _paragraphs(sentences: Sequence[Sentence]) -> list[list[Sentence]]:
    return [list(of) for _, of in groupby(sentences, key=lambda one: one.paragraph)]


def conversations(
    exchanges: Sequence[Exchange], embed: Embed | None, *, by_roles: bool
) -> list[list[Exchange]]:
    """Group neighbouring exchanges by what they are about.

    What is unlike the last few exchanges begins a conversation of its own. ``by_roles``, where it
    is known who says what, questions that nobody answered end one; if there are any before the
    last, nothing else does.
    """
    known = by_roles and any(not one.answer for one in exchanges[:-1])
    likeness = np.ones(len(exchanges)) if known or not embed else _likeness(exchanges, embed)
    groups: list[list[Exchange]] = []
    for one, like in zip(exchanges, likeness.tolist(), strict=True):
        if groups and like >= _UNLIKE and not (known and not groups[-1][-1].answer):
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _likeness(exchanges: Sequence[Exchange], embed: Embed) -> NDArray[np.float64]:
    """Return how much each exchange, and its question alone, are like one of the few before it."""
    n = len(exchanges)
    texts = [f"{one.question} {one.answer}" for one in exchanges]
    vectors = embed([*texts, *(one.question for one in exchanges)]).astype(np.float64)
    likeness = (vectors[:n] + 0.5 * vectors[n:]) @ vectors[:n].T
    found = np.ones(n)
    for at in range(1, n):
        found[at] = max(0.0, likeness[at, max(0, at - _RECENT) : at].max())
        found[at] += _LEANING * leans(exchanges[at].question)
    return found


def last_questions(groups: Sequence[Sequence[Exchange]]) -> list[tuple[Exchange, str]]:
    """Return the last question of each conversation, with those before it as its background."""
    return [
        (
            replace(group[-1], start=group[0].start),
            " ".join(one.question for one in group[-_MOST_TOGETHER:]) if len(group) > 1 else "",
        )
        for group in groups
    ]
