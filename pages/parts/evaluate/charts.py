"""Charts of the Evaluate page. Altair is imported only when one is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ragkit.catalog.runs import RunRecord
from ragkit.evaluation.runs import Difference

if TYPE_CHECKING:
    from altair import FacetChart, LayerChart

MOST_BARS = 60
_ROW, _PART_ROW, _BAR = 38, 26, 14
_LABEL = 190
# Each has enough contrast on the light and on the dark ground.
_ACCENT, _WORSE = "#16897f", "#c26a1a"


def metric_rows(records: Sequence[RunRecord], metric: str) -> list[dict[str, Any]]:
    """Return a row for each run that has the metric: its mean and 95 % interval."""
    rows = []
    for record in records:
        metric_values = next((values for values in record.run.metrics if values[0] == metric), None)
        if metric_values is not None:
            value, low, high = (round(figure, 4) for figure in metric_values[1:])
            rows.append({"settings": record.run.name, "value": value, "low": low, "high": high})
    return rows


def latency_rows(records: Sequence[RunRecord]) -> list[dict[str, Any]]:
    """Return a row for each run with times: median and 95th percentile, in milliseconds."""
    rows = []
    for record in records:
        total = next((times for stage, *times in record.run.stages if stage == "total"), None)
        if total is not None:
            rows.append(
                {
                    "settings": record.run.name,
                    "median": round(total[0], 1),
                    "p95": round(total[1], 1),
                }
            )
    return rows


def difference_rows(difference: Difference) -> list[dict[str, Any]]:
    """Return a row for each question that changed most, from the largest gain to the worst loss."""
    changes = sorted(
        (*difference.better, *difference.worse),
        key=lambda change: -abs(change.after - change.before),
    )[:MOST_BARS]
    changes.sort(key=lambda change: (change.before - change.after, change.key))
    return [
        {
            "place": place,
            "question": change.question[:200],
            "before": round(change.before, 3),
            "after": round(change.after, 3),
            "change": round(change.after - change.before, 3),
        }
        for place, change in enumerate(changes, start=1)
    ]


def metric_chart(rows: Sequence[dict[str, Any]], metric: str) -> LayerChart | FacetChart:
    """Draw a metric by setting: a dot for the mean, a line for the 95 % interval."""
    import altair

    base = _base(rows)
    across = altair.X("low:Q", title=metric, scale=altair.Scale(domain=[0, 1]))
    tooltip = [
        altair.Tooltip("settings:N", title="Settings"),
        altair.Tooltip("value:Q", title=metric, format=".3f"),
        altair.Tooltip("low:Q", title="95 % interval from", format=".3f"),
        altair.Tooltip("high:Q", title="to", format=".3f"),
    ]
    ranges = base.mark_rule(strokeWidth=3, opacity=0.55, color=_ACCENT).encode(
        x=across, x2="high:Q", tooltip=tooltip
    )
    dots = base.mark_point(filled=True, size=110, opacity=1, color=_ACCENT).encode(
        x=altair.X("value:Q", title=metric), tooltip=tooltip
    )
    described = "; ".join(
        f"{row['settings']}: {row['value']:.3f} ({row['low']:.2f} to {row['high']:.2f})"
        for row in rows
    )
    return altair.layer(ranges, dots).properties(
        height=_height(rows), description=f"{metric} by setting. {described}"
    )


def parts_chart(rows: Sequence[dict[str, Any]], metric: str) -> LayerChart | FacetChart:
    """Draw a metric by part of a search: a mark for the mean, a line for the 95 % interval.

    Marks of what is better or worse than the first row point up or down and have their colours.
    """
    import altair

    base = _base(rows)
    lowest = math.floor(10 * min(row["low"] for row in rows)) / 10
    highest = math.ceil(10 * max(row["high"] for row in rows)) / 10
    across = altair.Scale(domain=[lowest, max(highest, lowest + 0.1)], zero=False)
    kinds = ["better", "no clear change", "worse"]
    colour = altair.Color(
        "change:N",
        scale=altair.Scale(domain=kinds, range=[_ACCENT, _ACCENT, _WORSE]),
        legend=None,
    )
    shape = altair.Shape(
        "change:N",
        scale=altair.Scale(domain=kinds, range=["triangle-up", "circle", "triangle-down"]),
        legend=None,
    )
    tooltip = [
        altair.Tooltip("settings:N", title="Search"),
        altair.Tooltip("value:Q", title=metric, format=".3f"),
        altair.Tooltip("low:Q", title="95 % interval from", format=".3f"),
        altair.Tooltip("high:Q", title="to", format=".3f"),
        altair.Tooltip("difference:N", title="Change"),
    ]
    ranges = base.mark_rule(strokeWidth=3, opacity=0.55).encode(
        x=altair.X("low:Q", title=metric, scale=across, axis=altair.Axis(tickCount=6)),
        x2="high:Q",
        color=colour,
        tooltip=tooltip,
    )
    marks = base.mark_point(filled=True, size=120, opacity=1).encode(
        x=altair.X("value:Q", title=metric), color=colour, shape=shape, tooltip=tooltip
    )
    described = "; ".join(f"{row['settings']}: {row['value']:.3f}, {row['change']}" for row in rows)
    return altair.layer(ranges, marks).properties(
        height=_height(rows, _PART_ROW), description=f"{metric} by part. {described}"
    )


def latency_chart(rows: Sequence[dict[str, Any]]) -> LayerChart | FacetChart:
    """Draw the time of a search by setting: a dot for the median, a tick for 95 %."""
    import altair

    base = _base(rows)
    longest = max((row["p95"] for row in rows), default=1.0) * 1.1
    across = altair.X(
        "median:Q", title="Time of a search, ms", scale=altair.Scale(domain=[0, longest])
    )
    tooltip = [
        altair.Tooltip("settings:N", title="Settings"),
        altair.Tooltip("median:Q", title="Median, ms"),
        altair.Tooltip("p95:Q", title="95th percentile, ms"),
    ]
    lines = base.mark_rule(strokeWidth=3, opacity=0.4, color=_ACCENT).encode(
        x=across, x2="p95:Q", tooltip=tooltip
    )
    dots = base.mark_point(filled=True, size=110, opacity=1, color=_ACCENT).encode(
        x=across, tooltip=tooltip
    )
    ticks = base.mark_tick(thickness=3, size=16, color=_ACCENT).encode(
        x=altair.X("p95:Q"), tooltip=tooltip
    )
    described = "; ".join(f"{row['settings']}: {row['median']} ms, {row['p95']} ms" for row in rows)
    return altair.layer(lines, dots, ticks).properties(
        height=_height(rows),
        description=f"Median and 95th percentile of the time of a search. {described}",
    )


def difference_chart(rows: Sequence[dict[str, Any]], metric: str) -> LayerChart | FacetChart:
    """Draw a bar for each question that changed, better ones first; hovering names it."""
    import altair

    base = altair.Chart(altair.InlineData(values=list(rows))).encode(
        y=altair.Y("place:O", axis=None, sort="ascending"),
        tooltip=[
            altair.Tooltip("question:N", title="Question"),
            altair.Tooltip("before:Q", title="Before", format=".3f"),
            altair.Tooltip("after:Q", title="After", format=".3f"),
        ],
    )
    bars = base.mark_bar().encode(
        x=altair.X("change:Q", title=f"Change of {metric}", scale=altair.Scale(domain=[-1, 1])),
        color=altair.condition("datum.change > 0", altair.value(_ACCENT), altair.value(_WORSE)),
    )
    better = sum(row["change"] > 0 for row in rows)
    return altair.layer(bars).properties(
        height=max(90, _BAR * len(rows) + 40),
        description=(
            f"Change of {metric} by question: {better} better, {len(rows) - better} worse. "
            "The questions are listed below."
        ),
    )


def _base(rows: Sequence[dict[str, Any]]) -> Any:
    import altair

    names = [row["settings"] for row in rows]
    axis = altair.Axis(title=None, labelLimit=_LABEL, labelOverlap=False)
    return altair.Chart(altair.InlineData(values=list(rows))).encode(
        y=altair.Y("settings:N", sort=names, axis=axis)
    )


def _height(rows: Sequence[dict[str, Any]], row: int = _ROW) -> int:
    return 60 + row * len(rows)
