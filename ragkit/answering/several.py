"""Several questions in one message: each as it is searched for by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from ragkit.answering.elliptic import stand_alone
from ragkit.answers import Source, Turn
from ragkit.errors import QueryError
from ragkit.results import Answer, Result
from ragkit.retrieval.parents import best_first
from ragkit.retrieval.query.parser import parse_query
from ragkit.retrieval.query_segmentation.question_units import find_sentences
from ragkit.retrieval.query_segmentation.topics import find_units, questions_of

if TYPE_CHECKING:
    from ragkit.retrieval.multi_query import ChunkedAnswer, TopicAnswer

MOST_SENTENCES = 2
"""How many sentences answer one question of a message at most."""

MOST_QUESTIONS = 8
"""How many questions of a message are answered, each with one search; the first ones."""


@dataclass(frozen=True, slots=True)
class OneOfSeveral:
    """A question of a message: as it is typed, and as it stands alone, with filters."""

    typed: str
    asked: str


def questions_in(
    answer: Answer | ChunkedAnswer, known_fields: Sequence[str] = ()
) -> tuple[OneOfSeveral, ...]:
    """Return the questions of a message of several, or those that topics of a long text ask.

    One that leans on what precedes it ("And how much is it?") takes over its words. Filters and
    exclusions of a message hold for each. ``known_fields`` are fields of front matter.
    """
    if not isinstance(answer, Answer):
        return _of_topics(answer.topics, known_fields)
    return () if answer.listed else questions_of_message(answer.query, known_fields)


def questions_of_message(
    message: str, known_fields: Sequence[str] = ()
) -> tuple[OneOfSeveral, ...]:
    """Return the questions of a message; a conversation, which others answer, has none."""
    try:
        parsed = parse_query(message, known_fields)
    except QueryError:
        return ()
    exchanges = questions_of(parsed.text)[:MOST_QUESTIONS]
    if len(exchanges) < 2 or any(unit.role for unit in find_units(parsed.text)):
        return ()
    filters = dict.fromkeys(message[slice(*each.span)].strip() for each in parsed.restrictions)
    questions: list[OneOfSeveral] = []
    before = ""
    for exchange in exchanges:
        before = _alone(exchange.question, exchange.lead or before, known_fields)
        questions.append(OneOfSeveral(exchange.question, " ".join([before, *filters])))
    return tuple(questions)


def _of_topics(
    topics: Sequence[TopicAnswer], known_fields: Sequence[str]
) -> tuple[OneOfSeveral, ...]:
    """Return the questions that ask for topics; a topic of other texts, or a weak one, has none."""
    questions: list[OneOfSeveral] = []
    for topic in topics:
        segment = topic.topic.segments[0]
        sentences = find_sentences(segment.text)
        asking = [at for at, sentence in enumerate(sentences) if sentence.asks]
        if topic.weak or len(topic.topic.segments) > 1 or not asking:
            continue
        question, before = segment.text, segment.background
        if len(asking) == 1:
            question = sentences[asking[0]].text
            lead = (sentence.text for sentence in sentences[: asking[0]])
            before = " ".join(filter(None, (before, *lead)))
        questions.append(OneOfSeveral(segment.text, _alone(question, before, known_fields)))
    return tuple(questions[:MOST_QUESTIONS])


def _alone(question: str, before: str, known_fields: Sequence[str]) -> str:
    turns = [Turn(before, before)] if before else []
    return stand_alone(question, turns, known_fields)


def best_of_each(answered: Iterable[tuple[str, Sequence[Source]]]) -> Iterator[Source]:
    """Yield the best sentences for each question, with it; ``answered`` has those of one in order.

    The best of a question may have answered an earlier one too; the others are new.
    """
    said: list[Source] = []
    for question, best in answered:
        kept = [*best[:1], *(source for source in best[1:] if source not in said)][:MOST_SENTENCES]
        said += kept
        yield from (replace(source, question=question) for source in kept)


def joined(results_of_each: Iterable[Sequence[Result]]) -> tuple[Result, ...]:
    """Join the results of each question: each document once, with all passages found in it."""
    by_document: dict[int, Result] = {}
    for result in chain.from_iterable(results_of_each):
        known = by_document.setdefault(result.document.id, result)
        if known is not result:
            passages = {each.start: each for each in (*result.passages, *known.passages)}
            chunks = {each.index: each for each in (*result.matched_chunks, *known.matched_chunks)}
            by_document[result.document.id] = replace(
                known,
                passages=tuple(passages[start] for start in sorted(passages)),
                matched_chunks=tuple(sorted(chunks.values(), key=best_first, reverse=True)),
            )
    return tuple(by_document.values())
