"""Figures from the log of searches: durations, searches in vain, repeated questions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from ragkit.library.search_log import LoggedSearch, question_key


@dataclass(frozen=True, slots=True)
class SearchFigures:
    """The number of searches, how many were in vain, and how long they took.

    Times are in milliseconds, without answers from memory; ``None`` if there are none.
    """

    searches: int
    in_vain: int
    median_ms: float | None
    p95_ms: float | None


@dataclass(frozen=True, slots=True)
class Repeated:
    """A question that was asked several times; ``last`` is its newest search."""

    last: LoggedSearch
    times: int
    median_ms: float | None


def figures(searches: Sequence[LoggedSearch]) -> SearchFigures:
    """Return the figures of searches."""
    times = _times(searches)
    in_vain = sum(search.in_vain for search in searches)
    p95 = times[min(len(times) - 1, round(0.95 * (len(times) - 1)))] if times else None
    return SearchFigures(len(searches), in_vain, median(times) if times else None, p95)


def slowest(searches: Iterable[LoggedSearch]) -> list[LoggedSearch]:
    """Return the searches that were not answered from memory, slowest first."""
    return sorted(
        (search for search in searches if not search.from_memory), key=lambda search: -search.ms
    )


def repeated(searches: Iterable[LoggedSearch]) -> list[Repeated]:
    """Return the questions that were asked more than once, most repeated first, then newest first.

    Questions that differ only in case and spaces count as one.
    """
    by_question: dict[str, list[LoggedSearch]] = {}
    for search in sorted(searches, key=lambda search: -search.at):
        by_question.setdefault(question_key(search.question), []).append(search)
    questions = [
        Repeated(same[0], len(same), median(times) if (times := _times(same)) else None)
        for same in by_question.values()
        if len(same) > 1
    ]
    return sorted(questions, key=lambda question: (-question.times, -question.last.at))


def _times(searches: Iterable[LoggedSearch]) -> list[float]:
    return sorted(search.ms for search in searches if not search.from_memory)
