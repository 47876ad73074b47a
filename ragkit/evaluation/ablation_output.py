"""An ablation as text, as JSON, and as a chart (SVG, drawn by hand: no library is needed)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from ragkit import __version__
from ragkit.evaluation.ablation import Ablation, Cell
from ragkit.evaluation.run import Evaluation
from ragkit.evaluation.runs import revision, settings_of

_WIDTH, _LEFT, _RIGHT, _ROW, _TOP = 760, 250, 70, 24, 56
_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1f2328}.soft{fill:#656d76}.head{font-weight:600}"
    ".axis{stroke:#d0d7de}.range{stroke:#0b6e99;stroke-width:2}.dot{fill:#0b6e99}"
    ".paper{fill:#fff}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.soft{fill:#9198a1}"
    ".axis{stroke:#3d444d}.range{stroke:#6cb6d9}.dot{fill:#6cb6d9}.paper{fill:#0d1117}}"
)


def as_text(found: Ablation) -> list[str]:
    """The tables as lines; the best of each metric in a table has a star."""
    lines: list[str] = []
    shown = found.shown
    for title, cells in found.tables().items():
        wide = max(len(_title(one)) for one in cells)
        best = {
            name: max((one.means[name] for one in cells if name in one.means), default=None)
            for name in shown
        }
        heads = "".join(f"{name:>17}" for name in shown)
        lines += ["", f"{title:<{wide}}{heads}"]
        for one in cells:
            if one.found is None:
                lines.append(f"{_title(one):<{wide}}    not run: {one.reason}")
                continue
            values = (
                f"{one.means[name]:>16.4f}{'*' if one.means[name] == best[name] else ' '}"
                for name in shown
            )
            lines.append(f"{_title(one):<{wide}}{''.join(values)}".rstrip())
    return lines[1:]


def as_json(found: Ablation) -> dict[str, Any]:
    """All cells with their settings, means and intervals."""
    return {
        "version": __version__,
        "revision": revision(),
        "name": found.name,
        "metric": found.metric,
        "partial": found.partial,
        "notices": list(found.notices),
        "cells": [_cell(one) for one in found.cells],
    }


def as_svg(found: Ablation) -> str:
    """A chart of the metric that tells most: a dot a cell, a line for its 95 % interval."""
    values = [
        (metric.low, metric.high)
        for one in found.cells
        if one.found
        for metric in one.found.metrics
        if metric.name == found.metric
    ]
    least = int(10 * min((low for low, _ in values), default=0.0)) / 10
    most = min(1.0, int(10 * max((high for _, high in values), default=1.0) + 1) / 10)
    scale = (_WIDTH - _LEFT - _RIGHT) / max(most - least, 0.1)

    def place(value: float) -> float:
        return _LEFT + scale * (value - least)

    parts: list[str] = []
    y = _TOP
    for title, cells in found.tables().items():
        y += _ROW
        parts.append(f'<text class="head" x="16" y="{y}">{escape(title)}</text>')
        for one in cells:
            y += _ROW
            parts.append(f'<text x="16" y="{y}">{escape(_title(one))}</text>')
            if one.found is None:
                why = escape(_short(one.reason))
                parts.append(f'<text class="soft" x="{_LEFT}" y="{y}">{why}</text>')
            else:
                parts.append(_mark(one.found, found.metric, y - 4, place))
        y += _ROW // 2
    height = y + _ROW
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(found.metric)} of '
        f'{escape(found.name)}"><style>{_STYLE}</style>'
        f'<rect class="paper" width="{_WIDTH}" height="{height}"/>'
        f'<text class="head" x="16" y="24">{escape(found.name)}: {escape(found.metric)}, with '
        "95 % intervals</text>"
    )
    steps = round((most - least) * 10)
    axis = "".join(
        f'<line class="axis" x1="{_LEFT + scale * step / 10:.1f}" y1="{_TOP}" '
        f'x2="{_LEFT + scale * step / 10:.1f}" y2="{height - 12}"/>'
        f'<text class="soft" text-anchor="middle" x="{_LEFT + scale * step / 10:.1f}" '
        f'y="{_TOP - 8}">{least + step / 10:.1f}</text>'
        for step in range(steps + 1)
    )
    return f"{head}{axis}{''.join(parts)}</svg>\n"


def _mark(found: Evaluation, name: str, y: int, x: Callable[[float], float]) -> str:
    one = next((metric for metric in found.metrics if metric.name == name), None)
    if one is None:
        return ""
    return (
        f'<line class="range" x1="{x(one.low):.1f}" y1="{y}" x2="{x(one.high):.1f}" y2="{y}"/>'
        f'<circle class="dot" cx="{x(one.value):.1f}" cy="{y}" r="5"/>'
        f'<text x="{_WIDTH - 16}" y="{y + 4}" text-anchor="end">{one.value:.3f}</text>'
    )


def _cell(one: Cell) -> dict[str, Any]:
    cell: dict[str, Any] = {
        "table": one.plan.table, "name": one.plan.name, "label": one.plan.label,
    }  # fmt: skip
    if one.found is None:
        return {**cell, "reason": one.reason}
    metrics = {
        metric.name: {"value": metric.value, "low": metric.low, "high": metric.high}
        for metric in one.found.metrics
    }
    return {
        **cell,
        "settings": settings_of(one.found.column),
        "questions": len(one.found.asked),
        "metrics": metrics,
        "stages": [[stage.name, stage.p50, stage.p95] for stage in one.found.stages],
    }


def _title(one: Cell) -> str:
    return one.plan.label if " × " in one.plan.name else f"{one.plan.name}  {one.plan.label}"


def _short(reason: str, most: int = 64) -> str:
    return reason if len(reason) <= most else f"{reason[: most - 1]}…"


def rows_as_text(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align the columns of a table: the first to the left, the others to the right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))] if rows else []
    return [
        "  ".join(
            text.ljust(width) if at == 0 else text.rjust(width)
            for at, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
