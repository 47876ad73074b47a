"""The figures of an ablation, which are shown, stored as JSON and loaded again."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ragkit.evaluation.ablation import Ablation, Outcome
from ragkit.evaluation.metrics import Metric, PairedDifference, main_metric
from ragkit.evaluation.runs import revision, settings_of
from ragkit.versions import __version__

_SHOWN = (("pass@5", "pass@10", "pass@20"), ("ndcg@10", "mrr", "recall@10"),
          ("token_recall", "token_precision", "token_iou"))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cell:
    """One variant: its figures, or the ``reason`` why there are none.

    ``difference`` is the one to the cell named ``first``, by the main metric. ``p50`` and ``p95``
    are milliseconds of a search, ``tokens`` and ``seconds`` the cost of models for contexts and
    reranking, ``index_bytes`` the size of the vectors and tokens that it searches.
    """

    table: str
    name: str
    title: str
    reason: str = ""
    questions: int = 0
    metrics: tuple[Metric, ...] = ()
    first: str = ""
    difference: PairedDifference | None = None
    p50: float = 0.0
    p95: float = 0.0
    tokens: int = 0
    seconds: float = 0.0
    index_bytes: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)

    def metric(self, name: str) -> Metric | None:
        """Return one of its metrics."""
        return next((metric for metric in self.metrics if metric.name == name), None)


@dataclass(frozen=True, slots=True)
class AblationFigures:
    """The cells of an ablation; ``questions`` describes the set, ``at`` is in epoch seconds."""

    name: str
    cells: tuple[Cell, ...]
    partial: bool = False
    notices: tuple[str, ...] = ()
    questions: str = ""
    at: float = 0.0
    version: str = __version__
    revision: str = ""

    @property
    def shown(self) -> tuple[str, ...]:
        """The metrics that tables show."""
        names = {metric.name for cell in self.cells for metric in cell.metrics}
        return next((shown for shown in _SHOWN if shown[0] in names), tuple(sorted(names)[:3]))

    @property
    def metric(self) -> str:
        """The most informative metric."""
        return main_metric(self.shown)

    def tables(self) -> dict[str, list[Cell]]:
        """Group the cells by table, in order."""
        tables: dict[str, list[Cell]] = {}
        for cell in self.cells:
            tables.setdefault(cell.table, []).append(cell)
        return tables


def figures_of(ablation: Ablation, questions: str = "") -> AblationFigures:
    """Return the figures of an ablation that was measured just now."""
    return AblationFigures(
        ablation.name, tuple(map(_cell, ablation.outcomes)), ablation.partial, ablation.notices,
        questions, time.time(), revision=revision(),
    )  # fmt: skip


def _cell(outcome: Outcome) -> Cell:
    variant, evaluation = outcome.variant, outcome.evaluation
    if evaluation is None:
        return Cell(variant.table, variant.name, variant.title, outcome.reason)
    total = next((stage for stage in evaluation.stages if stage.name == "total"), None)
    return Cell(
        variant.table,
        variant.name,
        variant.title,
        questions=len(evaluation.asked),
        metrics=evaluation.metrics,
        first=variant.first,
        difference=outcome.difference,
        p50=total.p50 if total else 0.0,
        p95=total.p95 if total else 0.0,
        tokens=outcome.tokens,
        seconds=outcome.seconds,
        index_bytes=outcome.index_bytes,
        settings=settings_of(evaluation.config),
    )


# -- as JSON values ------------------------------------------------------------------------------


def as_values(figures: AblationFigures) -> dict[str, Any]:
    """Return the figures as JSON values; a cell has figures, or a ``reason``."""
    return {
        "version": figures.version,
        "revision": figures.revision,
        "at": figures.at,
        "name": figures.name,
        "questions": figures.questions,
        "metric": figures.metric,
        "partial": figures.partial,
        "notices": list(figures.notices),
        "cells": [_cell_as_values(cell) for cell in figures.cells],
    }


def _cell_as_values(cell: Cell) -> dict[str, Any]:
    head = {"table": cell.table, "name": cell.name, "title": cell.title}
    if cell.reason:
        return {**head, "reason": cell.reason}
    values: dict[str, Any] = {
        **head,
        "questions": cell.questions,
        "metrics": {
            metric.name: {"value": metric.value, "low": metric.low, "high": metric.high}
            for metric in cell.metrics
        },
        "ms": {"p50": cell.p50, "p95": cell.p95},
        "model": {"tokens": cell.tokens, "seconds": cell.seconds},
        "index_bytes": cell.index_bytes,
        "settings": dict(cell.settings),
    }
    difference = cell.difference
    if difference is not None:
        values["difference"] = {
            "from": cell.first, "value": difference.value,
            "low": difference.low, "high": difference.high,
            "p": difference.p,
        }  # fmt: skip
    return values


def from_values(values: Mapping[str, Any]) -> AblationFigures:
    """Return the figures from the output of :func:`as_values`.

    Raises:
        LookupError, TypeError: the values have another form.
    """
    return AblationFigures(
        values["name"],
        tuple(map(_cell_from_values, values["cells"])),
        values["partial"],
        tuple(values["notices"]),
        values["questions"],
        values["at"],
        values["version"],
        values["revision"],
    )


def _cell_from_values(values: Mapping[str, Any]) -> Cell:
    head = values["table"], values["name"], values["title"]
    if "reason" in values:
        return Cell(*head, values["reason"])
    difference = values.get("difference")
    return Cell(
        *head,
        questions=values["questions"],
        metrics=tuple(
            Metric(name, metric["value"], metric["low"], metric["high"])
            for name, metric in values["metrics"].items()
        ),
        first=difference["from"] if difference else "",
        difference=difference
        and PairedDifference(
            difference["value"], difference["low"], difference["high"], difference["p"]
        ),
        p50=values["ms"]["p50"],
        p95=values["ms"]["p95"],
        tokens=values["model"]["tokens"],
        seconds=values["model"]["seconds"],
        index_bytes=values["index_bytes"],
        settings=values["settings"],
    )
