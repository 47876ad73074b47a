"""How a search went: its stages, and what it looked at before it chose what is shown."""

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


@dataclass(frozen=True, slots=True)
class Spread:
    """How scores are distributed: how many there are, the least, the quartiles and the best."""

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
    """What the scores of a search were, and through what its candidates were found.

    ``candidates`` are the fused scores of all that the indexes returned, ``shown`` those of the
    results; ``None`` where there are none. ``sources`` counts the candidates that "both" indexes
    found, or only "vector" or "keyword"; "named" are those that only a document brought which the
    question names. ``levels`` counts the entries that they were found as.
    """

    candidates: Spread | None
    shown: Spread | None
    sources: Mapping[str, int]
    levels: Mapping[str, int]

    @property
    def phrases(self) -> tuple[str, ...]:
        """Return it in up to four phrases."""
        spreads = [("candidates", self.candidates), ("shown", self.shown)]
        scores = [f"{name} {one}" for name, one in spreads if one]
        counted = [
            f"{by} {', '.join(f'{name} {count}' for name, count in counts.items())}"
            for by, counts in (("found by", self.sources), ("found as", self.levels))
            if counts
        ]
        return *scores, *counted


@dataclass(frozen=True, slots=True)
class Trace:
    """The stages of a search, and the index generations that it read.

    ``measure`` makes the metrics when somebody looks at them. Pickled with its metrics made.
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
        """Return the time of all stages, in milliseconds."""
        return sum(stage.ms for stage in self.stages)

    @property
    def metrics(self) -> Metrics | None:
        """Return the metrics; ``None`` where nothing was ranked."""
        return self.measure() if self.measure else None

    @property
    def summary(self) -> str:
        """Return it in a line for a log: times, counts and scores, and nothing of the question."""
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
            "stages": [
                {
                    "name": stage.name,
                    "ms": round(stage.ms, 3),
                    "in": stage.count_in,
                    "out": stage.count_out,
                    "note": stage.note,
                }
                for stage in self.stages
            ],
            "metrics": asdict(metrics) if metrics else None,
        }


def _made(metrics: Metrics) -> Metrics:
    return metrics
