"""Measures the cost of reranking in an evaluation, and caches grades."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ragkit.errors import ModelError
from ragkit.retrieval.rerank import Grader, OpenGrader


def _nothing_grades() -> Grader:
    raise ModelError("There is no model that reranks.", "Choose one with ragkit models.")


class MeasuredGrading:
    """Wraps the grader of an experiment; it is also the function that opens it.

    A question is asked twice, once to be scored and once to be timed, but its passages are graded
    once. ``seconds`` and ``tokens`` are the cost since ``forget``; ``saved`` is the time in seconds
    that cached grades have saved.
    """

    def __init__(self, open_grader: OpenGrader | None) -> None:
        self._open = open_grader or _nothing_grades
        self._kept: dict[tuple[str, ...], tuple[Sequence[float | None], float]] = {}
        self.seconds = self.saved = 0.0
        self.tokens = 0

    def __call__(self) -> MeasuredGrading:
        """Return itself; the grader is opened when first asked."""
        return self

    @property
    def name(self) -> str:
        """The model that grades."""
        return self._open().name

    def forget(self) -> None:
        """Drop all grades and reset the counters."""
        self._kept.clear()
        self.seconds = self.saved = 0.0
        self.tokens = 0

    def grade(self, question: str, passages: Sequence[str]) -> Sequence[float | None]:
        """Grade each passage from 0 to 10.

        Raises:
            RagkitError: nothing could be graded, or not in time.
        """
        key = (question, *passages)
        if key in self._kept:
            grades, seconds = self._kept[key]
            self.saved += seconds
            return grades
        grader = self._open()
        started, before = time.perf_counter(), grader.tokens
        grades = grader.grade(question, passages)
        seconds = time.perf_counter() - started
        self.seconds += seconds
        self.tokens += grader.tokens - before
        self._kept[key] = (grades, seconds)
        return grades
