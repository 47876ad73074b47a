"""The stages of a search, timed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragkit.traces import Stage

if TYPE_CHECKING:
    from types import TracebackType

    from ragkit.results import Result
    from ragkit.traces import Metrics


@dataclass(slots=True)
class RunningStage:
    """A stage while it runs; what it fills in: how many came ``out``, a ``note`` for the trace."""

    _stages: list[Stage]
    _name: str
    _count_in: int
    out: int = 0
    note: str = ""
    _started: float = 0.0

    def __enter__(self) -> RunningStage:
        self._started = time.perf_counter()
        return self

    def __exit__(
        self,
        error: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        if error is None:
            ms = (time.perf_counter() - self._started) * 1000
            self._stages.append(Stage(self._name, ms, self._count_in, self.out, self.note))


@dataclass
class StageTimer:
    """Collects the stages of one search, in order, and what the person should know of them.

    ``measure`` returns the metrics of its last rankings, given the results that came of them.
    """

    stages: list[Stage] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    measure: Callable[[Sequence[Result]], Metrics] | None = None

    def stage(self, name: str, count_in: int) -> RunningStage:
        """Return a context manager that times a block as one stage."""
        return RunningStage(self.stages, name, count_in)
