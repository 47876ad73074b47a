"""Running evaluations beside the pages: one at a time, with progress, and stopped when asked."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ragkit.catalog import Catalog
from ragkit.errors import RagkitError
from ragkit.evaluation.columns import ColumnSettings
from ragkit.evaluation.run import measure
from ragkit.evaluation.runs import in_words, keep
from ragkit.evaluation.trials import Trial
from ragkit.indexing.progress import JobCancelled, Progress, Reporter

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a run is. ``number`` of ``count`` settings is asked now, ``name`` says which.

    ``kept`` are the ids of what was kept so far; ``problem`` and ``cure`` say what went wrong.
    ``round`` counts the runs of this process.
    """

    running: bool = False
    progress: Progress = Progress()  # noqa: RUF009 - it is frozen
    name: str = ""
    number: int = 0
    count: int = 0
    kept: tuple[int, ...] = ()
    problem: str = ""
    cure: str = ""
    stopped: bool = False
    round: int = 0


class BackgroundRuns:
    """Asks question sets in a thread of its own. Safe to share between threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._standing = Standing()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def standing(self) -> Standing:
        """How it stands now."""
        with self._guard:
            return self._standing

    def start(
        self,
        open_trial: Callable[[], Trial],
        columns: Sequence[ColumnSettings],
        catalog: Catalog,
        collection_id: int,
    ) -> bool:
        """Begin to ask in each of the ways; False when another run is not over yet."""
        with self._guard:
            if self._standing.running:
                return False
            self._stop.clear()
            self._standing = Standing(
                running=True, count=len(columns), round=self._standing.round + 1
            )
            self._thread = threading.Thread(
                target=self._run,
                args=(open_trial, tuple(columns), catalog, collection_id),
                name="evaluation",
                daemon=True,
            )
            self._thread.start()
        return True

    def cancel(self) -> None:
        """Ask it to stop after the question at hand; what was asked is kept as partial."""
        self._stop.set()

    def wait(self, seconds: float) -> bool:
        """Wait for the end; True when it is over."""
        if self._thread is not None:
            self._thread.join(seconds)
        return not self.standing.running

    def _run(
        self,
        open_trial: Callable[[], Trial],
        columns: Sequence[ColumnSettings],
        catalog: Catalog,
        collection_id: int,
    ) -> None:
        try:
            trial = open_trial()
            for number, column in enumerate(columns, start=1):
                self._say(number=number, name=in_words(column), progress=Progress("Asking"))
                found = measure(trial, column, Reporter(self._tell))
                record = keep(catalog, found, collection_id)
                self._say(kept=(*self.standing.kept, record.id), stopped=found.partial)
                if self._stop.is_set():
                    self._say(stopped=found.partial or number < len(columns))
                    break
        except JobCancelled:
            self._say(stopped=True)
        except RagkitError as error:
            self._say(problem=error.message, cure=error.cure)
        except Exception:
            logger.exception("an evaluation failed")
            self._say(problem="Something unexpected went wrong.", cure="The log says what it was.")
        finally:
            self._say(running=False)

    def _tell(self, progress: Progress) -> bool:
        self._say(progress=progress)
        return not self._stop.is_set()

    def _say(self, **changes: object) -> None:
        with self._guard:
            self._standing = replace(self._standing, **changes)  # type: ignore[arg-type]
