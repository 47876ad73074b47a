"""Having question sets written beside the pages: one at a time, with progress, and stopped."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from ragkit.errors import RagkitError
from ragkit.evaluation.written import WRITTEN, Home, Written, write_set
from ragkit.indexing.progress import Progress

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WritingStanding:
    """How far the writing of a set is.

    ``found`` is what came of the last one, ``problem`` and ``cure`` why nothing did. ``cancelled``
    says that it stops after the passage at hand; ``round`` counts those of this process.
    """

    running: bool = False
    progress: Progress = Progress()  # noqa: RUF009 - it is frozen
    collection: str = ""
    found: Written | None = None
    problem: str = ""
    cure: str = ""
    cancelled: bool = False
    round: int = 0


class BackgroundWriting:
    """Has sets written in a thread of its own. Safe to share between threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._standing = WritingStanding()
        self._thread: threading.Thread | None = None

    @property
    def standing(self) -> WritingStanding:
        """How it stands now."""
        with self._guard:
            return self._standing

    def start(
        self,
        home: Home,
        collection: str,
        *,
        count: int = 20,
        name: str = WRITTEN,
        model: str = "",
        seed: int = 0,
    ) -> bool:
        """Begin to write; False when another set is not done yet."""

        def write() -> Written:
            return write_set(
                home, collection, count=count, name=name, seed=seed, model=model, tell=self._tell
            )

        with self._guard:
            if self._standing.running:
                return False
            self._standing = WritingStanding(
                running=True, collection=collection, round=self._standing.round + 1
            )
            self._thread = threading.Thread(
                target=self._run, args=(write,), name="question-writing", daemon=True
            )
            self._thread.start()
        return True

    def cancel(self) -> None:
        """Ask it to stop after the passage at hand; what was written is kept."""
        self._say(cancelled=True)

    def wait(self, seconds: float) -> bool:
        """Wait for the end; True when it is over."""
        if self._thread is not None:
            self._thread.join(seconds)
        return not self.standing.running

    def _run(self, write: Callable[[], Written]) -> None:
        try:
            self._say(found=write())
        except RagkitError as error:
            self._say(problem=error.message, cure=error.cure)
        except Exception:
            logger.exception("a question set could not be written")
            self._say(problem="Something unexpected went wrong.", cure="The log says what it was.")
        finally:
            self._say(running=False)

    def _tell(self, progress: Progress) -> bool:
        self._say(progress=progress)
        return not self.standing.cancelled

    def _say(self, **changes: object) -> None:
        with self._guard:
            self._standing = replace(self._standing, **changes)  # type: ignore[arg-type]
