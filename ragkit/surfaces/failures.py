"""Logs of a library, and failures that nobody foresaw: a sentence for people, the rest there.

Each search is a line of the log of the process that made it, with its times, scores and counts.
What was asked never stands in a log: past searches are the one place for that, which a person sees
and clears (``SearchHistory``).
"""

from __future__ import annotations

import logging
import threading
from logging.handlers import RotatingFileHandler
from pathlib import Path

from ragkit.errors import unforeseen

_LOG_BYTES, _OLDER_LOGS = 5_000_000, 3
_handlers: list[RotatingFileHandler] = []

logger = logging.getLogger(__name__)


def log_to(file: Path) -> None:
    """Log to a file, which is begun with the first entry and kept short.

    Of other libraries only warnings are logged.
    """
    handler = RotatingFileHandler(
        file, maxBytes=_LOG_BYTES, backupCount=_OLDER_LOGS, encoding="utf-8", delay=True
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    handler.setLevel(logging.INFO)
    root = logging.getLogger()
    while _handlers:
        before = _handlers.pop()
        root.removeHandler(before)
        before.close()
    _handlers.append(handler)
    root.addHandler(handler)
    logging.getLogger("ragkit").setLevel(logging.INFO)
    for name in ("faiss", "httpx"):
        logging.getLogger(name).setLevel(logging.WARNING)


def keep_tracebacks_from_the_terminal() -> None:
    """Have threads that fail write their tracebacks to the log, and a failing log write none."""

    def note(failed: threading.ExceptHookArgs) -> None:
        if failed.exc_value is not None:
            logger.error("a thread failed", exc_info=failed.exc_value)

    threading.excepthook = note
    logging.raiseExceptions = False


def noted(error: Exception) -> str:
    """Log a failure that nobody foresaw; return what to tell the person."""
    logger.error("something unexpected happened", exc_info=error)
    where = f" The whole story is in {_handlers[0].baseFilename}." if _handlers else ""
    return f"{unforeseen(error)}{where}"
