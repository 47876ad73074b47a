"""Whose turn it is: searches of one process begin one after the other, in the order they came.

The interpreter runs one thread at a time. Searches that run side by side spend as long again on
taking it from each other (docs/measurements.md); one at a time has the use of a second processor
where it can (``candidates.run_concurrently``). So the next begins when the one before has ended, or
has had its turn for ``PATIENCE``.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 0.03
"""After so many seconds a search no longer keeps the next one waiting."""


class _Turn:
    """The turn of a thread. It is waited for until ``may_begin`` is released."""

    def __init__(self) -> None:
        self.began = 0.0
        self.may_begin = threading.Lock()
        self.may_begin.acquire()


class Turns:
    """Gives one thread after another its turn. Safe to share between threads.

    A thread that has its turn may take it again: a search may search.
    """

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._guard = threading.Lock()
        self._waiting: deque[_Turn] = deque()
        self._running: set[_Turn] = set()
        self._own = threading.local()

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Run the block when this thread's turn has come."""
        if getattr(self._own, "turn", None) is not None:
            yield
            return
        self._own.turn = self._begun()
        try:
            yield
        finally:
            self._end()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Run a block that waits for something else, such as a model's server, out of turn."""
        if getattr(self._own, "turn", None) is None:
            yield
            return
        self._end()
        try:
            yield
        finally:
            self._own.turn = self._begun()

    def _begun(self) -> _Turn:
        """Wait for a turn, and return it."""
        turn = _Turn()
        with self._guard:
            self._waiting.append(turn)
            self._admit()
        while not turn.may_begin.acquire(timeout=self._patience):
            # Whoever has its turn may take long: nothing but time says so.
            with self._guard:
                self._admit()
        return turn

    def _end(self) -> None:
        turn, self._own.turn = self._own.turn, None
        with self._guard:
            self._running.discard(turn)
            self._admit()

    def _admit(self) -> None:
        """Let the first that waits begin, unless another has begun just now."""
        now = time.monotonic()
        if self._waiting and all(now - turn.began >= self._patience for turn in self._running):
            turn = self._waiting.popleft()
            turn.began = now
            self._running.add(turn)
            turn.may_begin.release()


TURNS = Turns()
"""Those of this process."""
