"""How a search went, under *Details*: scores, what found the candidates, stages. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping

from pages.parts.common.markup import name, number, text
from ragkit.formatting import plural
from ragkit.traces import Metrics, Spread, Trace

_SOURCES = {
    "both": "both indexes",
    "vector": "semantic only",
    "keyword": "keyword only",
    "named": "a named document",
}
LEVELS = {
    "block": "table, list or code",
    "chunk": "chunk",
    "context": "AI context",
    "question": "question",
    "section": "section",
    "document": "document",
}
"""What entries of each level are called."""


def trace_view(trace: Trace) -> str:
    """Return all of a trace: its metrics as pictures, and its stages as a table."""
    metrics = trace.metrics
    return (_metrics(metrics) if metrics else "") + stages(trace)


def _metrics(metrics: Metrics) -> str:
    rows = [
        _scores("Candidates", metrics.candidates),
        _scores("Shown", metrics.shown),
        _shares("Found by", metrics.sources, _SOURCES),
        _shares("Found as", metrics.levels, LEVELS),
    ]
    return f'<dl class="rk-metrics">{"".join(rows)}</dl>'


def _scores(label: str, spread: Spread | None) -> str:
    """Return the scores from 0 to 1 as a line, their middle half as a box on it."""
    if spread is None:
        return ""
    scores = (
        f"Scores from {spread.low:.2f} to {spread.high:.2f}; half of them from "
        f"{spread.lower:.2f} to {spread.upper:.2f}, the median {spread.median:.2f}"
    )
    places = {"low": spread.low, "lower": spread.lower, "median": spread.median,
              "upper": spread.upper, "high": spread.high}  # fmt: skip
    style = ";".join(f"--{name}:{min(max(at, 0.0), 1.0):.3f}" for name, at in places.items())
    return (
        f"<div><dt>{label}</dt><dd>"
        f'<span class="rk-spread" role="img" aria-label="{scores}" title="{scores}" '
        f'style="{style}"><i></i><b></b><u></u></span>'
        f"<span>{number(spread.count)} · scores {spread.low:.2f}–{spread.high:.2f}, "
        f"median {spread.median:.2f}</span></dd></div>"
    )


def _shares(label: str, counts: Mapping[str, int], names: Mapping[str, str]) -> str:
    """Return counts as parts of a bar, with their names and numbers; one alone needs no bar."""
    shares = [(place, names[key], counts[key]) for place, key in enumerate(names) if key in counts]
    if not shares:
        return ""
    bar = "".join(
        f'<i data-part="{place}" style="flex-grow:{count}"></i>' for place, _, count in shares
    )
    key = "".join(
        f'<span><i data-part="{place}"></i>{text(name)} {number(count)}</span>'
        for place, name, count in shares
    )
    total = plural(sum(count for *_, count in shares), "candidate")
    return (
        f'<div><dt>{label}</dt><dd><span class="rk-shares" aria-hidden="true" title="{total}">{bar}'
        f'</span><span class="rk-shares-key">{key}</span></dd></div>'
    )


def stages(trace: Trace) -> str:
    """Return a table of the stages with what went in and came out, and how long each took."""
    most = max((stage.ms for stage in trace.stages), default=0.0) or 1.0
    rows = "".join(
        f"<tr><th scope=row>{name(stage.name)}</th>"
        f"<td>{number(stage.count_in)} → {number(stage.count_out)}</td>"
        f'<td class="rk-ms">{stage.ms:.1f} ms'
        f'<i style="width:{100 * stage.ms / most:.0f}%"></i></td>'
        f"<td>{name(stage.note)}</td></tr>"
        for stage in trace.stages
    )
    index = f"Index {text(trace.generation)}. " if trace.generation else ""
    return (
        '<div class="rk-wide" tabindex="0" role="region" aria-label="Stages">'
        '<table class="rk-stages"><thead><tr><th>Stage</th>'
        "<th>In → out</th><th>Time</th><th>What it did</th></tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
        f'<p class="rk-soft">{index}Times are for this search alone, on this machine.</p>'
    )
