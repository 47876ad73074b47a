"""Figures of the log of searches: how long they took, how many were in vain, which come again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from ragkit.library.search_log import LoggedSearch, question_key


@dataclass(frozen=True, slots=True)
class SearchFigures:
    """How many searches there were, how many in vain, and how long half and 95 % of them took.

    Times are in milliseconds, of answers that were made and not remembered; ``None`` without any.
    """

    searches: int
    in_vain: int
    median_ms: float | None
    p95_ms: float | None


@dataclass(frozen=True, slots=True)
class Repeated:
    """A question that was asked several times; ``last`` is the newest of these searches."""

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
    """Return the searches that were not answered from memory, the slowest first."""
    return sorted(
        (search for search in searches if not search.from_memory), key=lambda search: -search.ms
    )


def repeated(searches: Iterable[LoggedSearch]) -> list[Repeated]:
    """Return the questions that were asked more than once, the most repeated first.

    Where two were asked as often, the one asked last comes first. Letters' case does not count.
    """
    asked: dict[str, list[LoggedSearch]] = {}
    for search in sorted(searches, key=lambda search: -search.at):
        asked.setdefault(question_key(search.question), []).append(search)
    questions = [
        Repeated(same[0], len(same), median(times) if (times := _times(same)) else None)
        for same in asked.values()
        if len(same) > 1
    ]
    return sorted(questions, key=lambda question: (-question.times, -question.last.at))


def _times(searches: Iterable[LoggedSearch]) -> list[float]:
    return sorted(search.ms for search in searches if not search.from_memory)
