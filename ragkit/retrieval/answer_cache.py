"""Answers that were given lately: pages are drawn often, and ask the same each time."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict

from ragkit.results import Answer

_MOST = 64


class AnswerCache:
    """Remembers the answers used last, each for a time of its own. Safe between threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._answers: OrderedDict[object, tuple[float, Answer]] = OrderedDict()

    def recall(self, key: object) -> Answer | None:
        """The answer to what ``key`` stands for, if its time has not run out."""
        with self._guard:
            found = self._answers.get(key)
            if found is None or time.monotonic() > found[0]:
                return None
            self._answers.move_to_end(key)
            return found[1]

    def remember(self, key: object, answer: Answer, seconds: float) -> None:
        """Keep an answer for so many seconds; not at all for 0."""
        if seconds <= 0:
            return
        with self._guard:
            self._answers[key] = (time.monotonic() + seconds, answer)
            while len(self._answers) > _MOST:
                self._answers.popitem(last=False)

    def forget(self) -> None:
        """Remember nothing."""
        with self._guard:
            self._answers.clear()
