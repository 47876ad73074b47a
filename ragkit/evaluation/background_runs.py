"""Running evaluations beside the pages: one at a time, with progress, and stopped when asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from ragkit.catalog import Catalog
from ragkit.evaluation.background_task import BackgroundWork, WorkStanding
from ragkit.evaluation.experiments import Experiment
from ragkit.evaluation.run import measure
from ragkit.evaluation.runs import in_words, keep
from ragkit.evaluation.search_config import ColumnSettings
from ragkit.indexing.progress import JobCancelled, Progress, Reporter


@dataclass(frozen=True, slots=True)
class Standing(WorkStanding):
    """How far a run is. ``number`` of ``count`` settings is asked now, ``name`` says which.

    ``kept`` are the ids of what was kept so far.
    """

    name: str = ""
    number: int = 0
    count: int = 0
    kept: tuple[int, ...] = ()
    stopped: bool = False


class BackgroundRuns(BackgroundWork[Standing]):
    """Asks question sets in a thread of its own. Safe to share between threads."""

    def __init__(self) -> None:
        super().__init__(Standing(), "evaluation")

    def start(
        self,
        open_trial: Callable[[], Experiment],
        columns: Sequence[ColumnSettings],
        catalog: Catalog,
        collection_id: int,
    ) -> bool:
        """Begin to ask in each of the ways; False when another run is not over yet.

        One that is cancelled stops after the question at hand, and is kept as partial.
        """
        ask = partial(self._ask, open_trial, tuple(columns), catalog, collection_id)
        return self._begin(Standing(count=len(columns)), ask)

    def _ask(
        self,
        open_trial: Callable[[], Experiment],
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
                if self.standing.cancelled:
                    self._say(stopped=found.partial or number < len(columns))
                    break
        except JobCancelled:
            self._say(stopped=True)
