"""Work beside the pages: in a thread of its own, one piece at a time, told how far it is."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from ragkit.errors import RagkitError
from ragkit.indexing.progress import Progress

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WorkStanding:
    """How far a piece of work is; ``problem`` and ``cure`` say what went wrong with it.

    ``cancelled`` says that it stops as soon as it can; ``round`` counts those of this process.
    """

    running: bool = False
    progress: Progress = Progress()  # noqa: RUF009 - it is frozen
    problem: str = ""
    cure: str = ""
    cancelled: bool = False
    round: int = 0


Known = TypeVar("Known", bound=WorkStanding)


class BackgroundWork(Generic[Known]):
    """Does one piece of work in a thread of its own. Safe to share between threads."""

    def __init__(self, standing: Known, name: str) -> None:
        """Take how it stands before anything was begun, and what the thread is called."""
        self._guard = threading.Lock()
        self._standing = standing
        self._name = name
        self._thread: threading.Thread | None = None

    @property
    def standing(self) -> Known:
        """How it stands now."""
        with self._guard:
            return self._standing

    def cancel(self) -> None:
        """Ask it to stop after what is at hand; what was done is kept."""
        self._say(cancelled=True)

    def wait(self, seconds: float) -> bool:
        """Wait for the end; True when it is over."""
        if self._thread is not None:
            self._thread.join(seconds)
        return not self.standing.running

    def _begin(self, standing: Known, work: Callable[[], None]) -> bool:
        """Begin, to stand like this at first; False when another piece is not done yet."""
        with self._guard:
            if self._standing.running:
                return False
            self._standing = replace(standing, running=True, round=self._standing.round + 1)
            self._thread = threading.Thread(
                target=self._run, args=(work,), name=self._name, daemon=True
            )
            self._thread.start()
        return True

    def _run(self, work: Callable[[], None]) -> None:
        try:
            work()
        except RagkitError as error:
            self._say(problem=error.message, cure=error.cure)
        except Exception:
            logger.exception("%s failed", self._name)
            self._say(problem="Something unexpected went wrong.", cure="The log says what it was.")
        finally:
            self._say(running=False)

    def _tell(self, progress: Progress) -> bool:
        """Say how far it is; False when it is to stop."""
        self._say(progress=progress)
        return not self.standing.cancelled

    def _say(self, **changes: object) -> None:
        with self._guard:
            self._standing = replace(self._standing, **changes)  # type: ignore[arg-type]
