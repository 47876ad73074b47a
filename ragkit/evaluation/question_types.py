"""Figures by kind of question: where a set is answered well, and where it is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from ragkit.catalog import Catalog
from ragkit.evaluation.metrics import Metric, Values, summarise


@dataclass(frozen=True, slots=True)
class TypeFigures:
    """What the questions of one kind reached; an empty ``kind`` was not named."""

    kind: str
    questions: int
    metrics: tuple[Metric, ...]


def by_kind(values: Values, kinds: Mapping[str, str]) -> tuple[TypeFigures, ...]:
    """Average each metric over the questions of each kind, by name; those without one come last.

    ``kinds`` has one for each question's id. Nothing comes back where all are of one kind.
    """
    asked = {key: kinds.get(key, "") for of_one in values.values() for key in of_one}
    counts = Counter(asked.values())
    if len(counts) < 2:
        return ()
    return tuple(
        TypeFigures(
            kind,
            counts[kind],
            tuple(
                summarise(
                    {
                        name: {key: value for key, value in of.items() if asked[key] == kind}
                        for name, of in values.items()
                    }
                )
            ),
        )
        for kind in sorted(counts, key=unnamed_last)
    )


def unnamed_last(kind: str) -> tuple[bool, str]:
    """A key to sort kinds by."""
    return not kind, kind


def kinds_of_run(
    catalog: Catalog, run_id: int, kinds: Mapping[str, str], metric: str
) -> tuple[TypeFigures, ...]:
    """The same of a kept run, by one metric; ``kinds`` has one for each question's text."""
    kept = catalog.runs.values(run_id)
    values = {metric: {one.key: one.values[metric] for one in kept if metric in one.values}}
    return by_kind(values, {one.key: kinds.get(one.question, "") for one in kept})
