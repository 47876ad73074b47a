"""Work in a second thread, beside that of the thread that asks."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_A = TypeVar("_A")
_B = TypeVar("_B")

_THREADS = 2


class Beside:
    """Does two things at once where there are two processors. Safe to share between threads."""

    def __init__(self, processors: int | None = None) -> None:
        """Take how many processors there are; ``None`` counts them."""
        self._processors = processors or os.cpu_count() or 1
        self._threads: ThreadPoolExecutor | None = None
        self._guard = threading.Lock()

    def both(self, here: Callable[[], _A], beside: Callable[[], _B]) -> tuple[_A, _B]:
        """Give what both give; ``here`` runs in this thread, and should let others run.

        What no thread has begun when ``here`` is done is done in this thread, so that nobody
        waits behind somebody else's work. An error of either is raised.
        """
        if self._processors < 2:
            return here(), beside()
        later = self._pool().submit(beside)
        try:
            first = here()
        finally:
            unbegun = later.cancel()
        return first, beside() if unbegun else later.result()

    def _pool(self) -> ThreadPoolExecutor:
        with self._guard:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(_THREADS, "ragkit-beside")
            return self._threads
