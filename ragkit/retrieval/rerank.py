"""Reranking: the best chunks are read together with the question, and put in a new order.

Scores are left alone: a grade stands beside the score, and decides before it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

from ragkit.errors import RagkitError
from ragkit.options import SearchOptions
from ragkit.retrieval.ranking import Hit
from ragkit.types import Level

BEST_GRADE = 10.0
"""What a passage gets that answers the question fully; 0 is for one that has nothing to say."""

NOT_RERANKED = "These results are in the usual order, not reranked:"
"""What begins a notice of a search that was to be reranked and is not."""

_COARSE = (Level.SECTION, Level.DOCUMENT)


class Grader(Protocol):
    """Says how well passages answer a question. May be shared between threads."""

    @property
    def name(self) -> str:
        """The model that is asked, as far as it is known."""
        ...

    def grade(self, question: str, passages: Sequence[str]) -> Sequence[float | None]:
        """Grade each passage from 0 to 10; ``None`` where there is no usable grade.

        Raises:
            RagkitError: nothing could be graded, or not in time.
        """
        ...


OpenGrader: TypeAlias = Callable[[], Grader]
"""Gives the grader of a library, or raises a RagkitError that says what is missing."""


class Texts(Protocol):
    """What a grader reads of hits."""

    def situated(self, hits: Sequence[Hit]) -> Mapping[int, str]:
        """The hits' texts with what situates them, by entry id."""
        ...


@dataclass(frozen=True, slots=True)
class Reranked:
    """Hits in their new order. ``note`` is for the trace, ``notice`` for the person.

    ``asked`` hits were looked at and ``graded`` of them got a grade; ``failed`` says that the order
    is the usual one, since too few did.
    """

    hits: tuple[Hit, ...]
    asked: int = 0
    graded: int = 0
    note: str = ""
    notice: str = ""
    failed: bool = False

    @property
    def why(self) -> str:
        """Why it failed."""
        return why_not(self.notice)


def why_not(notice: str) -> str:
    """The reason out of the notice of a search that is not reranked; empty for other notices."""
    return notice.removeprefix(NOT_RERANKED).strip() if notice.startswith(NOT_RERANKED) else ""


def places_of(hits: Sequence[Hit], options: SearchOptions) -> list[int]:
    """Where the hits stand that are looked at: the first chunks that a result may show."""
    places = [
        place
        for place, hit in enumerate(hits)
        if hit.level not in _COARSE and hit.score > 0.0 and hit.score >= options.min_score
    ]
    return places[: options.rerank_depth]


def in_order(
    hits: Sequence[Hit], places: Sequence[int], grades: Sequence[float | None]
) -> list[Hit]:
    """Put the hits at ``places`` in the order of their grades; all others stay where they are.

    The best grade comes first; equal ones keep their order, and so do hits without a grade, which
    follow after those that have one.
    """
    graded = [
        replace(hits[place], grade=grade) for place, grade in zip(places, grades, strict=True)
    ]
    graded.sort(key=lambda hit: -1.0 if hit.grade is None else hit.grade, reverse=True)
    found = list(hits)
    for place, hit in zip(places, graded, strict=True):
        found[place] = hit
    return found


def usable(grade: float | None) -> float | None:
    """A grade from 0 to 10, or ``None`` for what is none."""
    if grade is None or not math.isfinite(grade) or not 0.0 <= grade <= BEST_GRADE:
        return None
    return float(grade)


def rerank(
    question: str,
    hits: Sequence[Hit],
    options: SearchOptions,
    texts: Texts,
    open_grader: OpenGrader | None,
) -> Reranked:
    """Have the first hits graded and put them in order; the usual order where that fails.

    Equal passages are graded once. With grades for fewer than half of the hits nothing is
    reordered: what is not graded would be put behind what may be worse.
    """
    places = places_of(hits, options)
    if not places:
        if any(hit.level in _COARSE for hit in hits):
            return _failed(hits, 0, "only chunks are. Search in chunks.")
        return Reranked(tuple(hits), note="no chunks")
    try:
        if open_grader is None:
            return _failed(hits, len(places), "there is no model for it.")
        passages = texts.situated([hits[place] for place in places])
        distinct = list(dict.fromkeys(passages.values()))
        grader = open_grader()
        given = grader.grade(question, distinct)
        name = grader.name
    except RagkitError as error:
        return _failed(hits, len(places), str(error))
    if len(given) != len(distinct):
        return _failed(hits, len(places), f"{name} gave {len(given)} grades for {len(distinct)}.")
    by_text = dict(zip(distinct, map(usable, given), strict=True))
    grades = [
        by_text[passages[one]] if one in passages else None
        for one in (hits[place].entry_id for place in places)
    ]
    graded = sum(grade is not None for grade in grades)
    if graded * 2 < len(places):
        said = f"{name} graded only {graded} of {len(places)} passages."
        return _failed(hits, len(places), f"{said} Search again, or choose another model.")
    note = f"{name}: {graded} of {len(places)} graded"
    left = len(places) - graded
    notice = f"{name} did not grade {left} of {len(places)} passages: they come after the others."
    found = tuple(in_order(hits, places, grades))
    return Reranked(found, len(places), graded, note, notice if left else "")


def _failed(hits: Sequence[Hit], asked: int, why: str) -> Reranked:
    return Reranked(tuple(hits), asked, 0, "failed: the usual order", _usual(why), failed=True)


def _usual(why: str) -> str:
    return f"{NOT_RERANKED} {why}"
