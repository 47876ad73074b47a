"""Log files of a library, and unexpected errors: a sentence for people, the traceback in the log.

Each search is one line in the log of its process, with times, scores and counts but without the
question: questions are only kept in the log of searches, which a person can see and clear
(``SearchHistory``).
"""

from __future__ import annotations

import logging
import sys
import threading
from logging.handlers import RotatingFileHandler
from pathlib import Path

from ragkit.errors import unforeseen

_LOG_BYTES, _OLDER_LOGS = 5_000_000, 3
_handlers: list[RotatingFileHandler] = []

logger = logging.getLogger(__name__)


def log_to(file: Path) -> None:
    """Log to a file, which is created with the first entry and rotated.

    From third-party packages, only warnings are logged.
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
    """Send the tracebacks of failing threads to the log, and print none if logging fails.

    The same goes for errors that nothing can catch, such as those of a stream that is closed by
    itself; when its reader has gone, that is none.
    """

    def note(failed: threading.ExceptHookArgs) -> None:
        if failed.exc_value is not None:
            logger.error("a thread failed", exc_info=failed.exc_value)

    def note_uncaught(failed: sys.UnraisableHookArgs) -> None:
        if failed.exc_value is not None and not isinstance(failed.exc_value, BrokenPipeError):
            logger.error("an error could not be raised", exc_info=failed.exc_value)

    threading.excepthook = note
    sys.unraisablehook = note_uncaught
    logging.raiseExceptions = False


def noted(error: Exception) -> str:
    """Log an unexpected error; return a sentence for the person."""
    logger.error("something unexpected happened", exc_info=error)
    where = f" Details are in {_handlers[0].baseFilename}." if _handlers else ""
    return f"{unforeseen(error)}{where}"
