"""Reranking: the best chunks are read together with the query, and put in a new order.

Scores are left alone: a grade is kept beside the score, and takes precedence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol, TypeAlias

from ragkit.errors import RagkitError
from ragkit.options import SearchOptions
from ragkit.results import RerankOutcome
from ragkit.retrieval.hit_lookups import HitLookups
from ragkit.retrieval.hits import Hit
from ragkit.retrieval.levels import COARSE
from ragkit.retrieval.turns import TURNS

BEST_GRADE = 10.0
"""The grade of a passage that answers the query fully; 0 is for one that has nothing to say."""

NOT_RERANKED = "These results are in the usual order, not reranked:"
"""What begins the notice of a search that was to be reranked and is not."""


class Grader(Protocol):
    """Grades how well passages answer a query. May be shared between threads."""

    @property
    def name(self) -> str:
        """The model that is asked, as far as it is known."""
        ...

    @property
    def tokens(self) -> int:
        """How many tokens it has read and written so far."""
        ...

    def grade(self, question: str, passages: Sequence[str]) -> Sequence[float | None]:
        """Grade each passage from 0 to 10; ``None`` where there is no usable grade.

        Raises:
            RagkitError: nothing could be graded, or not in time.
        """
        ...


OpenGrader: TypeAlias = Callable[[], Grader]
"""Returns the grader of a library, or raises a RagkitError that says what is missing."""


def failed(failure: str) -> RerankOutcome:
    """Return the outcome of a search whose results stay in the usual order."""
    notice = f"{NOT_RERANKED} {failure}"
    return RerankOutcome(0, failure, "failed: the usual order", notice)


def rerank_candidates(hits: Sequence[Hit], options: SearchOptions) -> list[int]:
    """Return the places of the hits that are graded: the first chunks that a result may show."""
    places = [
        place
        for place, hit in enumerate(hits)
        if hit.level not in COARSE and hit.score > 0.0 and hit.score >= options.min_score
    ]
    return places[: options.rerank_depth]


def in_order(
    hits: Sequence[Hit], places: Sequence[int], grades: Sequence[float | None]
) -> list[Hit]:
    """Sort the hits at ``places`` by their grades; all others stay where they are.

    The best grade comes first; equal ones keep their order, and so do hits without a grade, which
    follow after those that have one.
    """
    graded = [
        replace(hits[place], grade=grade) for place, grade in zip(places, grades, strict=True)
    ]
    graded.sort(key=lambda hit: -1.0 if hit.grade is None else hit.grade, reverse=True)
    ordered = list(hits)
    for place, hit in zip(places, graded, strict=True):
        ordered[place] = hit
    return ordered


def usable(grade: float | None) -> float | None:
    """Return a grade from 0 to 10, or ``None`` for anything else."""
    if grade is None or not math.isfinite(grade) or not 0.0 <= grade <= BEST_GRADE:
        return None
    return float(grade)


def rerank(
    query: str,
    hits: Sequence[Hit],
    options: SearchOptions,
    lookups: HitLookups,
    open_grader: OpenGrader | None,
) -> tuple[list[Hit], RerankOutcome]:
    """Have the first hits graded and sort them; they keep the usual order where that fails.

    Equal passages are graded once. With grades for fewer than half of the hits nothing is
    reordered: what is not graded would be put behind what may be worse.
    """
    usual, places = list(hits), rerank_candidates(hits, options)
    if not places:
        if any(hit.level in COARSE for hit in hits):
            return usual, failed("only chunks are. Search in chunks.")
        return usual, RerankOutcome(note="no chunks")
    if open_grader is None:
        return usual, failed("there is no model for it.")
    try:
        passages = lookups.situated([hits[place] for place in places])
        distinct = list(dict.fromkeys(passages.values()))
        with TURNS.aside():
            grader = open_grader()
            grades_of_distinct = grader.grade(query, distinct)
        name = grader.name
    except RagkitError as error:
        return usual, failed(str(error))
    count = len(grades_of_distinct)
    if count != len(distinct):
        return usual, failed(f"{name} gave {count} grades for {len(distinct)}.")
    by_text = dict(zip(distinct, map(usable, grades_of_distinct), strict=True))
    grades = [
        by_text[passages[entry]] if entry in passages else None
        for entry in (hits[place].entry_id for place in places)
    ]
    graded = sum(grade is not None for grade in grades)
    if graded * 2 < len(places):
        failure = (
            f"{name} graded only {graded} of {len(places)} passages. "
            "Search again, or choose another model."
        )
        return usual, failed(failure)
    left = len(places) - graded
    notice = f"{name} did not grade {left} of {len(places)} passages: they come after the others."
    outcome = RerankOutcome(
        graded,
        note=f"{name}: {graded} of {len(places)} graded",
        notice=notice if left else "",
    )
    return in_order(hits, places, grades), outcome
