"""Answers that were given lately, kept in memory."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict

from ragkit.results import Answer

_CACHED_ANSWERS, _CACHED_SECONDS = 64, 300.0
_REST_AFTER_FAILURE, _SLOW_SECONDS = 10, 1.0


class AnswerCache:
    """Keeps the answers used last: pages are drawn often, and ask the same each time.

    Each is kept for a time of its own. Safe to share between threads.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._answers: OrderedDict[object, tuple[float, Answer]] = OrderedDict()

    def get(self, key: object) -> Answer | None:
        """Return the answer kept under a key, unless its time has run out."""
        with self._guard:
            entry = self._answers.get(key)
            if entry is None or time.monotonic() > entry[0]:
                return None
            self._answers.move_to_end(key)
            return entry[1]

    def put(self, key: object, answer: Answer, seconds: float) -> None:
        """Keep an answer for so many seconds; not at all for 0."""
        if seconds <= 0:
            return
        with self._guard:
            self._answers[key] = (time.monotonic() + seconds, answer)
            while len(self._answers) > _CACHED_ANSWERS:
                self._answers.popitem(last=False)


def seconds_kept(answer: Answer) -> float:
    """Return for how many seconds an answer may be cached: less where a model failed at it."""
    seconds = _CACHED_SECONDS
    for stage, outcome in (("reranking", answer.rerank), ("phrasings", answer.phrasings)):
        if outcome and outcome.failure:
            # A page is drawn often: what took long to fail is not tried each time.
            took = sum(each.ms for each in answer.trace.stages if each.name == stage) / 1000
            seconds = min(seconds, _REST_AFTER_FAILURE * took) if took > _SLOW_SECONDS else 0.0
    return seconds
