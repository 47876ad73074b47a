"""The stages of a search, timed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragkit.traces import Stage

if TYPE_CHECKING:
    from ragkit.indexes.protocol import Candidates, IndexKind
    from ragkit.retrieval.ranking import Ranking


@dataclass
class StageRecord:
    """What a stage fills in while it runs: how many came out, and a note for the trace."""

    out: int = 0
    note: str = ""


@dataclass
class StageTimer:
    """Collects the stages of one search, in order, and what the person should know of them.

    ``ranked`` are its rankings, one a level, each with the candidates that it is made of.
    """

    stages: list[Stage] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    ranked: list[tuple[Ranking, Mapping[IndexKind, Candidates]]] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str, count_in: int) -> Iterator[StageRecord]:
        """Time the block as one stage."""
        record = StageRecord()
        started = time.perf_counter()
        yield record
        ms = (time.perf_counter() - started) * 1000
        self.stages.append(Stage(name, ms, count_in, record.out, record.note))
