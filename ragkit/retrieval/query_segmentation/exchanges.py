"""Questions of a text, each with what leads to it and what is said after it.

A question that leans on the one before is asked together with it. Where questions have answers,
neighbouring ones on one subject are a conversation, and its last question asks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from operator import attrgetter
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragkit.retrieval.query.word_forms import (
    LONGEST_JUDGED,
    foreign_language,
    function_tokens,
    has_other_letters,
)
from ragkit.retrieval.query_segmentation.asking import without_mark
from ragkit.retrieval.query_segmentation.leaning import has_pointer, leans, telling
from ragkit.retrieval.query_segmentation.message_roles import Unit
from ragkit.retrieval.query_segmentation.question_units import Sentence, find_sentences, mostly_asks
from ragkit.retrieval.query_segmentation.topic_names import telling_tokens

Embed: TypeAlias = Callable[[Sequence[str]], NDArray[np.float32]]
"""Turns texts into unit vectors, (n, d)."""

_LONGEST_LEAD = 40
_LONGEST_ALONE = 12
_RECENT = 3
_UNLIKE = 0.4
_LEANING = 0.15
_PER_WORD = 0.2
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
    asking = _asking(sentences)
    leads = [
        _lead(sentences[before + 1 : at], sentences[at].paragraph)
        for before, at in pairwise([-1, *asking])
    ]
    firsts = [at - len(lead) for at, lead in zip(asking, leads, strict=True)]
    return [
        Exchange(
            sentences[first].start,
            sentences[following - 1].end,
            without_mark(sentences[at].text),
            _joined(lead),
            _joined(sentences[at + 1 : following]),
        )
        for first, following, at, lead in zip(
            firsts, [*firsts[1:], len(sentences)], asking, leads, strict=False
        )
    ]


def _asking(sentences: Sequence[Sentence]) -> list[int]:
    """Return the numbers of the sentences that ask: questions, notes beside them, or a list."""
    questions = [
        at
        for at, sentence in enumerate(sentences)
        if sentence.asks and (telling(sentence.text) or (at and has_pointer(sentence.text)))
    ]
    if _is_list(sentences):
        return [at for at, item in enumerate(sentences) if item.is_item and telling(item.text)]
    if len(questions) < 2:
        return questions
    above = ["", *(sentence.text for sentence in sentences)]
    # What follows below "Best wishes," is a name.
    notes = {
        at
        for at, sentence in enumerate(sentences)
        if _is_note(sentence) and not above[at].endswith(",")
    }
    return sorted(notes.union(questions))


def _is_list(sentences: Sequence[Sentence]) -> bool:
    """Return whether half of the words or more are items of lists, and nothing else asks."""
    words = Counter[bool]()
    for sentence in sentences:
        words[sentence.is_item] += len(sentence.text.split())
    others_ask = any(sentence.asks for sentence in sentences if not sentence.is_item)
    return words[True] > 0 and words[True] >= words[False] and not others_ask


def _is_note(sentence: Sentence) -> bool:
    """Return whether a sentence is set apart and has a few words to look for."""
    return (
        sentence.is_apart
        and not sentence.text.endswith((",", ":"))
        and len(sentence.text.split()) <= _LONGEST_ALONE
        and len(telling_tokens(sentence.text)) > 1
    )


def _joined(sentences: Iterable[Sentence]) -> str:
    return " ".join(sentence.text for sentence in sentences)


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
    texts: list[str] = []
    for at, exchange in enumerate(exchanges):
        background = ""
        if leans(exchange.question):
            base = exchange.lead
            if not base and at:
                base = texts[at - 1] or exchanges[at - 1].question
            background = f"{base} {exchange.question}" if base else ""
        texts.append(background)
    return texts


def exchanges_between(text: str, units: Sequence[Unit], asking: Collection[str]) -> list[Exchange]:
    """Return what the asking roles say, each message with what the others say after it.

    Messages without a word to look for ("Thanks!") belong to what was asked before.
    """
    exchanges: list[Exchange] = []
    for unit in units:
        if unit.role in asking and (telling_tokens(unit.text) or not exchanges):
            exchanges += _asked_in(text, unit)
        elif exchanges:
            last = exchanges[-1]
            answer = last.answer + ("" if unit.role in asking else f" {unit.text}")
            exchanges[-1] = replace(last, end=unit.end, answer=answer)
    return exchanges


def _asked_in(text: str, unit: Unit) -> list[Exchange]:
    """Return a message whole, or the paragraphs of it that ask, with those that lead to each."""
    by_paragraph = _paragraphs(find_sentences(unit.text))
    if sum(map(_any_asks, by_paragraph)) < 2:
        return [Exchange(unit.start, unit.end, unit.text)]
    exchanges: list[Exchange] = []
    question, start = "", unit.start
    for sentences in by_paragraph:
        first = sentences[0]
        if not question and exchanges:
            start = max(start, text.find(unit.text[first.start : first.end], start, unit.end))
            exchanges[-1] = replace(exchanges[-1], end=start)
        question = f"{question} {_joined(sentences)}".strip()
        if _any_asks(sentences):
            exchanges.append(Exchange(start, unit.end, question))
            question = ""
    return exchanges


def _any_asks(sentences: Iterable[Sentence]) -> bool:
    return any(sentence.asks for sentence in sentences)


def transcript_of(sentences: Sequence[Sentence]) -> list[Exchange]:
    """Return questions with their answers, where much is said after most of many; else none."""
    turns = _paragraphs(sentences)
    if len(turns) < _FEWEST_TURNS:
        turns = [[sentence] for sentence in sentences]
    texts = [_joined(turn) for turn in turns]
    exchanges: list[Exchange] = []
    for turn, text, next_text in zip(turns, texts, [*texts[1:], ""], strict=True):
        # A short paragraph above a long one is a question without a mark.
        is_heading = (
            len(turn) == 1
            and _is_note(turn[0])
            and (not next_text or len(next_text) > _LONGER * len(text))
        )
        if (is_heading or mostly_asks(turn)) and telling(text):
            exchanges.append(Exchange(turn[0].start, turn[-1].end, text))
        elif exchanges:
            last = exchanges[-1]
            exchanges[-1] = replace(last, end=turn[-1].end, answer=f"{last.answer} {text}")
    lengths = sorted(len(exchange.answer.split()) for exchange in exchanges)
    if len(exchanges) < _FEWEST_TURNS or lengths[len(lengths) // 2] < _ANSWERED_WORDS:
        return []
    return exchanges


def _paragraphs(sentences: Sequence[Sentence]) -> list[list[Sentence]]:
    return [list(group) for _, group in groupby(sentences, key=attrgetter("paragraph"))]


def conversations(
    exchanges: Sequence[Exchange], embed: Embed | None, *, by_roles: bool
) -> list[list[Exchange]]:
    """Group neighbouring exchanges by what they are about.

    What is unlike the last few exchanges begins a conversation of its own. ``by_roles``, where it
    is known who says what, questions that nobody answered end one; if there are any before the
    last, nothing else does.
    """
    by_answers = by_roles and any(not exchange.answer for exchange in exchanges[:-1])
    likeness = np.ones(len(exchanges)) if by_answers or not embed else _likeness(exchanges, embed)
    groups: list[list[Exchange]] = []
    for exchange, like in zip(exchanges, likeness.tolist(), strict=True):
        if groups and like >= _UNLIKE and not (by_answers and not groups[-1][-1].answer):
            groups[-1].append(exchange)
        else:
            groups.append([exchange])
    return groups


def _likeness(exchanges: Sequence[Exchange], embed: Embed) -> NDArray[np.float64]:
    """Return how much each exchange, and its question alone, are like one of the few before, (n,).

    The first, which has none before it, counts as like. In other languages than English vectors are
    alike whatever is said, and the words that exchanges share decide.
    """
    texts = [f"{exchange.question} {exchange.answer}" for exchange in exchanges]
    beginning = " ".join(texts)[:LONGEST_JUDGED]
    stemmer = foreign_language(beginning)
    if stemmer or has_other_letters(beginning):
        likeness = _PER_WORD * _shared_words(texts, function_tokens(stemmer))
    else:
        likeness = _by_vectors(texts, [exchange.question for exchange in exchanges], embed)
    likeness += _LEANING * np.array([leans(exchange.question) for exchange in exchanges])
    likeness[:1] = 1.0
    return likeness


def _by_vectors(
    texts: Sequence[str], questions: Sequence[str], embed: Embed
) -> NDArray[np.float64]:
    n = len(texts)
    vectors = embed([*texts, *questions]).astype(np.float64)
    products = (vectors[:n] + 0.5 * vectors[n:]) @ vectors[:n].T
    return np.array([max([0.0, *products[at, max(0, at - _RECENT) : at]]) for at in range(n)])


def _shared_words(texts: Sequence[str], left_out: Collection[str]) -> NDArray[np.float64]:
    """Return how many telling words each text shares with one of the few before, (n,)."""
    tokens = [telling_tokens(text).difference(left_out) for text in texts]
    return np.array(
        [
            max((len(own & before) for before in tokens[max(0, at - _RECENT) : at]), default=0)
            for at, own in enumerate(tokens)
        ],
        np.float64,
    )


def last_questions(groups: Sequence[Sequence[Exchange]]) -> list[tuple[Exchange, str]]:
    """Return the last question of each conversation, with those before it as its background."""
    return [
        (
            replace(group[-1], start=group[0].start),
            " ".join(exchange.question for exchange in group[-_MOST_TOGETHER:])
            if len(group) > 1
            else "",
        )
        for group in groups
    ]
