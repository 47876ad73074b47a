"""Answers that were given lately, kept in memory."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict

from ragkit.results import Answer

_CACHED_ANSWERS = 64


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
