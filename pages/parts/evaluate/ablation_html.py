"""HTML of ablations on the Evaluate page. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pages.parts.common.markup import name, number, text, took
from pages.parts.evaluate.evaluation_html import hints, how_it_ended, meter_line, metric_name
from ragkit.evaluation.ablation_figures import AblationFigures, Cell
from ragkit.evaluation.background import AblationStatus
from ragkit.evaluation.metrics import Metric
from ragkit.formatting import byte_size, local_time, plural
from ragkit.surfaces.render_ablation import SIGNIFICANT

INTRODUCTION = (
    "Searches with each field, each kind of vector and each kind of context by itself, with the "
    "questions of the chosen set. For comparison, the texts alone are indexed once more, and "
    "deleted afterwards."
)
_MARKS = "▲ better and ▼ worse than the first, beyond chance; lines are 95 % intervals."
_EXPLAINED = (
    ("Change", "The mean difference to the first row, question by question; of contexts, to the "
     "same search without context. In bold where chance alone would hardly make it (p below 0.05, "
     "paired permutation test)."),
    ("Time", "Of one search: the median, and below it the 95th percentile."),
    ("Model", "Tokens and seconds that models took: for the contexts, and for reranking these "
     "questions."),
    ("Index", "What is kept of the vectors and words that the search reads."),
)  # fmt: skip


def progress_line(status: AblationStatus) -> str:
    """Return ``F2 (3 of 26): 12 of 40 · question · 5 s left`` with a meter."""
    now = status.progress
    what = now.phase.removeprefix("Asking: ") or "Preparing"
    stopping = "stopping after this question" if status.cancelled else ""
    return meter_line(what, number(now.total), now, now.current[-120:], stopping)


def ended(status: AblationStatus) -> str:
    """Return how the last ablation ended, where the tables do not show it."""
    notice = "Stopped. What was measured is kept, but never in place of a complete ablation."
    return how_it_ended(status, notice if status.stopped else "")


def about(figures: AblationFigures) -> str:
    """Return which questions were run and when, with notes on what limits the figures."""
    summary = f"{name(figures.questions)} · {local_time(figures.at)}. {_MARKS}"
    notes = hints(plural(len(figures.notices), "note"), map(name, figures.notices))
    return f'<p class="rk-soft">{summary}</p>{notes}'


def chart_rows(cells: Sequence[Cell], metric: str) -> list[dict[str, Any]]:
    """Return a row for each measured cell: mean, interval, and change from the first cell."""
    rows = []
    for cell in cells:
        mean = cell.metric(metric)
        if mean is None:
            continue
        paired, change = cell.difference, "no clear change"
        if paired is not None and paired.p < SIGNIFICANT:
            change = "better" if paired.value > 0 else "worse"
        rows.append(
            {
                "settings": cell.title,
                "value": round(mean.value, 4),
                "low": round(mean.low, 4),
                "high": round(mean.high, 4),
                "change": change,
                "difference": f"{paired.value:+.3f}" if paired else "first",
            }
        )
    return rows


def table(title: str, cells: Sequence[Cell], figures: AblationFigures) -> str:
    """Build the table of one part: the best of each metric in bold; what was not run says why."""
    heads = "".join(f'<th scope="col">{metric_name(metric)}</th>' for metric in figures.shown)
    measured = [cell for cell in cells if not cell.reason]
    rows = "".join(_row(cell, measured, figures.shown) for cell in measured)
    body = (
        f'<div class="rk-wide" tabindex="0" role="region" aria-label="{text(title)}">'
        '<table class="rk-measures rk-parts"><thead><tr><th scope="col">Search</th>'
        f'{heads}<th scope="col">Change</th><th scope="col">Time</th><th scope="col">Model</th>'
        f'<th scope="col">Index</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )
    return (body if rows else "") + _not_run(cells)


def explained(figures: AblationFigures) -> str:
    """Return an explanation of the columns, folded."""
    main = ("Intervals", f"95 %, of {text(metric_name(figures.metric))}.")
    items = (f"<dfn>{head}</dfn>: {meaning}" for head, meaning in (main, *_EXPLAINED))
    return hints("What the columns mean", items)


def _row(cell: Cell, beside: Sequence[Cell], shown: Sequence[str]) -> str:
    values = ""
    for place, metric in enumerate(shown):
        every = [measured.value for each in beside if (measured := each.metric(metric)) is not None]
        values += _metric(cell.metric(metric), max(every, default=0.0), interval=place == 0)
    paired = cell.difference
    change = "–"
    if paired is not None:
        change = "=" if abs(paired.value) < 5e-4 else f"{paired.value:+.3f}"
        if paired.p < SIGNIFICANT:
            mark, style = ("▲ ", "") if paired.value > 0 else ("▼ ", ' class="rk-worse"')
            change = f"<b{style}>{mark}{change}</b>"
        change += f"<small>{paired.low:+.2f} to {paired.high:+.2f}, p {paired.p:.3f}</small>"
    model = "–"
    if cell.tokens or cell.seconds:
        model = f"{number(cell.tokens)}<small>{took(1000 * cell.seconds)}</small>"
    return (
        f'<tr><th scope="row">{text(cell.title)}</th>{values}<td>{change}</td>'
        f"<td>{took(cell.p50)}<small>{took(cell.p95)}</small></td><td>{model}</td>"
        f"<td>{byte_size(cell.index_bytes)}</td></tr>"
    )


def _metric(metric: Metric | None, best: float, *, interval: bool) -> str:
    if metric is None:
        return "<td>–</td>"
    shown = f"<b>{metric.value:.3f}</b>" if metric.value == best else f"{metric.value:.3f}"
    within = f"<small>{metric.low:.2f} – {metric.high:.2f}</small>" if interval else ""
    return f"<td>{shown}{within}</td>"


def _not_run(cells: Sequence[Cell]) -> str:
    """Return which cells were not run, grouped by reason."""
    reasons: dict[str, list[str]] = {}
    for cell in cells:
        if cell.reason:
            reasons.setdefault(cell.reason, []).append(cell.title)
    return "".join(
        f'<p class="rk-notice">Not run: {text("; ".join(titles))}. {name(reason)}</p>'
        for reason, titles in reasons.items()
    )
