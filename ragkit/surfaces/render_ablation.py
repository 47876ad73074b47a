"""Ablations as text, Markdown, CSV and a chart.

The chart is hand-written SVG, which a browser shows offline; altair would need a JavaScript runtime
(see decisions.md).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from ragkit.formatting import byte_size, csv_text

if TYPE_CHECKING:
    from ragkit.evaluation.ablation_figures import AblationFigures, Cell
    from ragkit.evaluation.metrics import Metric

SIGNIFICANT = 0.05
"""Below this p a difference is marked."""

_WIDTH, _LEFT, _RIGHT, _ROW, _TOP = 760, 250, 130, 24, 72
_REASON_CHARACTERS = 64
_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1f2328}.soft{fill:#656d76}.head{font-weight:600}"
    ".axis{stroke:#d0d7de}.range{stroke:#0b6e99;stroke-width:2}.dot{fill:#0b6e99}"
    ".paper{fill:#fff}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.soft{fill:#9198a1}"
    ".axis{stroke:#3d444d}.range{stroke:#6cb6d9}.dot{fill:#6cb6d9}.paper{fill:#0d1117}}"
)


def ablation_as_text(figures: AblationFigures) -> list[str]:
    """Return the tables as lines; the best value of each metric in a table has a star."""
    lines: list[str] = []
    for title, cells in figures.tables().items():
        rows = [[title, *_heads(figures)], *(_row(cell, figures, cells) for cell in cells)]
        whole = [row for row in rows if len(row) > 2]
        widths = [max(map(len, column)) for column in zip(*whole, strict=True)]
        widths[0] = max(len(row[0]) for row in rows)
        lines.append("")
        for first, *others in rows:
            if len(others) > 1:
                shown = "  ".join(
                    text.rjust(width) for text, width in zip(others, widths[1:], strict=True)
                )
            else:
                shown = f"not run: {others[0]}"
            lines.append(f"{first:<{widths[0]}}  {shown}".rstrip())
    return [*lines[1:], "", *_legend(figures)]


def ablation_as_markdown(figures: AblationFigures) -> str:
    """Return a document with a table for each part of the ablation."""
    lines = [f"# Ablation: {_plain(figures.name)}", "", *_legend(figures)]
    heads = _heads(figures)
    for title, cells in figures.tables().items():
        lines += ["", f"## {title}", "", _line([title, *heads]), "|" + " --- |" * (len(heads) + 1)]
        for cell in cells:
            row = _row(cell, figures, cells)
            if len(row) == 2:
                row = [row[0], f"not run: {row[1]}", *[""] * (len(heads) - 1)]
            lines.append(_line(row))
    if figures.notices:
        lines += ["", *(f"- {_plain(notice)}" for notice in figures.notices)]
    return "\n".join([*lines, ""])


def _legend(figures: AblationFigures) -> Iterator[str]:
    if figures.questions:
        yield f"Asked: {_plain(figures.questions)}."
    yield (
        f"Difference: of {figures.metric} to the first row (of contexts: to the same search "
        "without context), question by question, with its 95 % interval; p by a paired test. "
        "Time: of a search, median and 95th percentile. Model: what it took for contexts and "
        "reranking. * is the best of a column."
    )


def _heads(figures: AblationFigures) -> list[str]:
    main = [f"{name} (95 %)" if name == figures.metric else name for name in figures.shown]
    return [*main, "difference (95 %)", "p", "tokens", "model s", "p50 ms", "p95 ms", "index"]


def _row(cell: Cell, figures: AblationFigures, beside: Sequence[Cell]) -> list[str]:
    """Return a cell as a row of texts: its title and figures, or why it was not run."""
    if cell.reason:
        return [cell.title, cell.reason]
    row = [cell.title]
    for name in figures.shown:
        metric = cell.metric(name)
        every = [measured.value for each in beside if (measured := each.metric(name)) is not None]
        row.append(_metric(metric, max(every), whole=name == figures.metric) if metric else "–")
    paired = cell.difference
    if paired is None:
        row += ["–", "–"]
    else:
        interval = f"({paired.low:+.3f} to {paired.high:+.3f})"
        row += [f"{paired.value:+.3f} {interval}", f"{paired.p:.3f}"]
    asked = cell.tokens or cell.seconds
    row += [f"{cell.tokens:,}", f"{cell.seconds:.1f}"] if asked else ["–", "–"]
    return [*row, f"{cell.p50:.1f}", f"{cell.p95:.1f}", byte_size(cell.index_bytes)]


def _metric(metric: Metric, best: float, *, whole: bool) -> str:
    star = "*" if metric.value == best else " "
    interval = f" ({metric.low:.2f}–{metric.high:.2f})" if whole else ""
    return f"{metric.value:.4f}{star}{interval}"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_plain(cell).strip() for cell in cells) + " |"


def _plain(text: str) -> str:
    """Return a text on one line that cannot break a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def ablation_as_csv(figures: AblationFigures) -> str:
    """Return a CSV file with a line for each cell."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    metrics = [name + end for name in figures.shown for end in ("", "_low", "_high")]
    writer.writerow(
        ["table", "name", "title", "reason", "questions", *metrics, "compared_with", "difference",
         "difference_low", "difference_high", "p", "p50_ms", "p95_ms", "model_tokens",
         "model_seconds", "index_bytes"]
    )  # fmt: skip
    for cell in figures.cells:
        head = [csv_text(part) for part in (cell.table, cell.name, cell.title, cell.reason)]
        if cell.reason:
            writer.writerow(head)
            continue
        values: list[object] = []
        for name in figures.shown:
            metric = cell.metric(name)
            values += [metric.value, metric.low, metric.high] if metric else ["", "", ""]
        paired = cell.difference
        values += [csv_text(cell.first)] if paired else [""]
        values += [paired.value, paired.low, paired.high, paired.p] if paired else [""] * 4
        writer.writerow(
            [*head, cell.questions, *values, f"{cell.p50:.3f}", f"{cell.p95:.3f}", cell.tokens,
             f"{cell.seconds:.3f}", cell.index_bytes]
        )  # fmt: skip
    return out.getvalue()


# -- a chart -------------------------------------------------------------------------------------


def ablation_as_svg(figures: AblationFigures) -> str:
    """Return a chart of the main metric: a dot for each variant, with its 95 % interval.

    Beside it is the difference to the first variant, with a star if it is significant.
    """
    metrics = {
        cell.name: metric for cell in figures.cells if (metric := cell.metric(figures.metric))
    }
    least = int(10 * min((metric.low for metric in metrics.values()), default=0.0)) / 10
    highest = max((metric.high for metric in metrics.values()), default=1.0)
    most = min(1.0, int(10 * highest + 1) / 10)
    scale = (_WIDTH - _LEFT - _RIGHT) / max(most - least, 0.1)
    parts: list[str] = []
    y = _TOP
    for title, cells in figures.tables().items():
        y += _ROW
        parts.append(f'<text class="head" x="16" y="{y}">{escape(title)}</text>')
        for cell in cells:
            y += _ROW
            parts.append(f'<text x="16" y="{y}">{escape(cell.title)}</text>')
            mark = metrics.get(cell.name)
            if mark is not None:
                at = [_LEFT + scale * (x - least) for x in (mark.low, mark.high, mark.value)]
                parts += _mark(y, at, mark.value, cell)
            elif cell.reason:
                long = len(cell.reason) > _REASON_CHARACTERS
                cut = cell.reason[: _REASON_CHARACTERS - 1] + "…" if long else cell.reason
                parts.append(f'<text class="soft" x="{_LEFT}" y="{y}">{escape(cut)}</text>')
        y += _ROW // 2
    height = y + _ROW
    name, by = escape(figures.name), escape(figures.metric)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{by} of {name}">'
        f'<style>{_STYLE}</style><rect class="paper" width="{_WIDTH}" height="{height}"/>'
        f'<text class="head" x="16" y="24">{name}: {by}, with 95 % intervals</text>'
        f'<text class="soft" x="{_WIDTH - 16}" y="44" text-anchor="end">change to the first; '
        "* p below 0.05</text>"
    )
    axis = "".join(
        f'<line class="axis" x1="{_LEFT + scale * step / 10:.1f}" y1="{_TOP}" '
        f'x2="{_LEFT + scale * step / 10:.1f}" y2="{height - 12}"/>'
        f'<text class="soft" text-anchor="middle" x="{_LEFT + scale * step / 10:.1f}" '
        f'y="{_TOP - 8}">{least + step / 10:.1f}</text>'
        for step in range(round((most - least) * 10) + 1)
    )
    return f"{head}{axis}{''.join(parts)}</svg>\n"


def _mark(y: int, at: Sequence[float], value: float, cell: Cell) -> Iterator[str]:
    """Yield the line, the dot and the numbers of a cell in a row of the chart."""
    low, high, middle = (f"{x:.1f}" for x in at)
    yield f'<line class="range" x1="{low}" y1="{y - 4}" x2="{high}" y2="{y - 4}"/>'
    yield f'<circle class="dot" cx="{middle}" cy="{y - 4}" r="5"/>'
    yield f'<text x="{_WIDTH - 80}" y="{y}" text-anchor="end">{value:.3f}</text>'
    if cell.difference is not None:
        star = "*" if cell.difference.p < SIGNIFICANT else ""
        shown = f"{cell.difference.value:+.3f}{star}"
        yield f'<text class="soft" x="{_WIDTH - 16}" y="{y}" text-anchor="end">{shown}</text>'
