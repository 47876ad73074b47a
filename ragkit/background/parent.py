"""Ends processes that ``ragkit serve`` has started when it ends, however it ends."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

import psutil

ENDS_WITH = "RAGKIT_ENDS_WITH"
"""The environment variable with the id of the process whose end also ends this one."""

_LOOK_SECONDS = 1.0


def process_to_end_with() -> int | None:
    """Return the id of the process whose end also ends this one, or ``None``."""
    number = os.environ.get(ENDS_WITH, "")
    return int(number) if number.isdecimal() else None


def follow_parent(stop: Callable[[], object]) -> None:
    """Call ``stop`` from another thread when the process to end with has ended, if there is one.

    The signal that Linux has for that is sent when the starting thread ends, such as a page's.
    """
    number = process_to_end_with()
    if number is None:
        return
    try:
        followed = psutil.Process(number)
    except psutil.Error:
        stop()
        return

    def watch() -> None:
        while _lives(followed):
            time.sleep(_LOOK_SECONDS)
        stop()

    threading.Thread(target=watch, name="ragkit-parent", daemon=True).start()


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
