"""How a search went: its stages, and the scores of what it considered and showed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from ragkit.types import pickled_as_call


@pickled_as_call
@dataclass(frozen=True, slots=True)
class Stage:
    """One step of a search: how long it took and how many things went in and came out."""

    name: str
    ms: float
    count_in: int
    count_out: int
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object; times are rounded to a microsecond."""
        counts = {"in": self.count_in, "out": self.count_out}
        return {"name": self.name, "ms": round(self.ms, 3), **counts, "note": self.note}


@dataclass(frozen=True, slots=True)
class Spread:
    """How scores are distributed: their number, minimum, quartiles and maximum."""

    count: int
    low: float
    lower: float
    median: float
    upper: float
    high: float

    def __str__(self) -> str:
        """Return ``152, score 0.110 0.240 0.310 0.420 0.860``."""
        numbers = (self.low, self.lower, self.median, self.upper, self.high)
        return f"{self.count}, score {' '.join(f'{number:.3f}' for number in numbers)}"


@dataclass(frozen=True, slots=True)
class Metrics:
    """The scores of a search, and how its candidates were found.

    ``candidates`` are the fused scores of everything that the indexes returned, ``shown`` those of
    the results; ``None`` if there are none. ``sources`` counts the candidates found by "both"
    indexes or by "vector" or "keyword" alone, and as "named" those found only because the question
    names their document. ``levels`` counts candidates by the level of their index entry.
    """

    candidates: Spread | None
    shown: Spread | None
    sources: Mapping[str, int]
    levels: Mapping[str, int]

    @property
    def phrases(self) -> tuple[str, ...]:
        """The figures in up to four phrases."""
        spreads = [("candidates", self.candidates), ("shown", self.shown)]
        scores = [f"{name} {spread}" for name, spread in spreads if spread]
        counted = [
            f"{by} {', '.join(f'{name} {count}' for name, count in counts.items())}"
            for by, counts in (("found by", self.sources), ("found as", self.levels))
            if counts
        ]
        return *scores, *counted


@dataclass(frozen=True, slots=True)
class Trace:
    """The stages of a search, and the index generations that it read.

    ``measure`` computes the metrics when they are first asked for; a pickle has them computed.
    """

    stages: tuple[Stage, ...] = ()
    generation: str = ""
    measure: Callable[[], Metrics] | None = field(default=None, compare=False, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        metrics = self.metrics
        measure = partial(_made, metrics) if metrics else None
        return Trace, (self.stages, self.generation, measure)

    @property
    def ms(self) -> float:
        """The time of all stages, in milliseconds."""
        return sum(stage.ms for stage in self.stages)

    @property
    def metrics(self) -> Metrics | None:
        """The metrics; ``None`` if nothing was ranked."""
        return self.measure() if self.measure else None

    @property
    def summary(self) -> str:
        """One line for a log: times, counts and scores, but nothing of the question."""
        metrics = self.metrics
        stages = [
            f"{stage.name} {stage.ms:.1f} {stage.count_in}>{stage.count_out}"
            for stage in self.stages
        ]
        parts = [f"{self.ms:.1f} ms", *(metrics.phrases if metrics else ()), *stages]
        return "; ".join(parts)

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object; times are rounded to a microsecond."""
        metrics = self.metrics
        return {
            "generation": self.generation,
            "ms": round(self.ms, 3),
            "stages": [stage.as_json() for stage in self.stages],
            "metrics": asdict(metrics) if metrics else None,
        }


def _made(metrics: Metrics) -> Metrics:
    return metrics
