"""Ends child processes: those that take too long, with everything that they started."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess


class ChildClock:
    """Kills a child that exceeds its time. One thread serves all files: starting one is slow."""

    def __init__(self) -> None:
        self.rang = False
        self._changed = threading.Condition()
        self._deadline: float | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._wakes_at = 0.0
        self._over = False
        self._thread: threading.Thread | None = None

    def start(self, seconds: float, child: subprocess.Popen[bytes]) -> None:
        """Set the deadline, counted from now."""
        with self._changed:
            self.rang = False
            self._child, self._deadline = child, time.monotonic() + seconds
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="ragkit-clock", daemon=True)
                thread.start()
                self._thread = thread
            elif self._deadline < self._wakes_at:
                self._changed.notify()

    def stop(self) -> None:
        """Clear the deadline."""
        with self._changed:
            self._deadline = self._child = None

    def end(self) -> None:
        """End the thread."""
        with self._changed:
            self._over, self._deadline, self._child = True, None, None
            self._changed.notify()

    def _run(self) -> None:
        """Sleep until the deadline, which a new file usually moves first."""
        with self._changed:
            while not self._over:
                if self._deadline is None or self._child is None:
                    self._wakes_at = math.inf
                    self._changed.wait()
                    continue
                self._wakes_at = self._deadline
                left = self._deadline - time.monotonic()
                if left > 0:
                    self._changed.wait(left)
                else:
                    self.rang, self._deadline = True, None
                    kill_group(self._child)


def kill_group(child: subprocess.Popen[bytes]) -> None:
    """Kill a child and everything that it started."""
    if child.returncode is not None:
        return
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
