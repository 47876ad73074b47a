"""What is checked of an index after it was opened, beside the searches that it answers already."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable

logger = logging.getLogger(__name__)

BEGIN_SECONDS = 2.0
"""Checks begin so long after an index was opened: a command has ended by then."""


class LateChecks:
    """Runs checks one after the other in a thread that no process waits for at its end."""

    def __init__(self) -> None:
        self._waiting: deque[Callable[[], None]] = deque()
        self._guard = threading.Lock()
        self._runs = False

    def add(self, check: Callable[[], None]) -> None:
        """Have a check run soon."""
        with self._guard:
            self._waiting.append(check)
            if not self._runs:
                self._runs = True
                threading.Thread(target=self._run, name="ragkit-checks", daemon=True).start()

    def _run(self) -> None:
        time.sleep(BEGIN_SECONDS)
        while True:
            with self._guard:
                if not self._waiting:
                    self._runs = False
                    return
                check = self._waiting.popleft()
            try:
                check()
            except Exception:
                logger.exception("a check of an index failed")
