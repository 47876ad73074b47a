"""HTML of the Evaluate page: question sets, tables of runs, differences. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from pages.parts.common.markup import (
    as_label,
    attributes,
    left,
    moment,
    name,
    number,
    plural,
    text,
    took,
)
from pages.parts.library.source_tables import with_meter
from ragkit.catalog.judgments import Origin
from ragkit.catalog.runs import RunRecord
from ragkit.evaluation.background import RunStatus, WritingStatus
from ragkit.evaluation.metrics import HEADLINES, Metric, TypeFigures, unnamed_last
from ragkit.evaluation.runs import Difference, QuestionChange, in_words
from ragkit.evaluation.search_config import from_text
from ragkit.models.ollama_monitor import OllamaLook

if TYPE_CHECKING:
    from altair import FacetChart, LayerChart

SETTINGS: Mapping[str, str] = {
    address: in_words(from_text(address)[0])
    for address in (
        "mode:hybrid",
        "mode:keyword",
        "mode:vector",
        "mode:hybrid,contexts:structural",
        "mode:hybrid,fusion:rrf",
        "mode:hybrid,granularity:auto",
    )
}
"""What may be run, as an address writes it, and what it is called."""

MEANINGS: Mapping[str, str] = {
    "ndcg@10": "How near the top the right documents are, among the first ten. 1 is perfect.",
    "mrr": "One divided by the rank of the first right document, on average.",
    "recall@10": "Which share of the right documents is among the first ten.",
    "hit@1": "How often the very first document is right.",
}

_SIGNIFICANT = 0.05
# Each has enough contrast on the light and on the dark ground.
_COLOURS = ("#16897f", "#c26a1a", "#8263d2", "#c74b80", "#3f86cf", "#84851f")
_LISTED = 12


def set_title(question_set: str) -> str:
    """Return a question set's name for a list whose labels are read as Markdown."""
    if not question_set:
        return "Judged on the pages"
    return as_label(" ".join(question_set.split()))


def set_caption(
    counts: tuple[int, int], origins: frozenset[Origin], writers: Sequence[str] = ()
) -> str:
    """Return ``5 questions, 12 judgments, imported``; it is read as Markdown."""
    questions, places = counts
    origin = "judged"
    if Origin.MODEL in origins:
        origin = f"written by {as_label(' and '.join(writers)) or 'a model'}"
    elif Origin.IMPORT in origins:
        origin = "imported"
    return f"{plural(questions, 'question')}, {plural(places, 'judgment')}, {origin}"


def latest(records: Sequence[RunRecord]) -> list[RunRecord]:
    """Return the newest whole run of each setting, best first; else a partial one."""
    chosen: dict[str, RunRecord] = {}
    for record in sorted(records, key=lambda record: (not record.run.partial, record.id)):
        chosen[record.run.address] = record
    return sorted(chosen.values(), key=_best_first)


def _best_first(record: RunRecord) -> tuple[float, str, int]:
    return -record.run.means.get(HEADLINES[0], 0.0), record.run.name, record.id


def progress_line(status: RunStatus) -> str:
    """``Keyword (2 of 3): question 12 of 40 · 5 s left`` with a meter."""
    now = status.progress
    which = f" ({status.number} of {status.count})" if status.count > 1 else ""
    what = f"{status.name}{which}" if status.name else "Getting ready"
    counted = f": {number(now.done)} of {plural(now.total, 'question')}" if now.total else ""
    parts = [f"<b>{text(what)}{counted}</b>"]
    if now.current:
        parts.append(f"<bdi>{name(now.current)}</bdi>")
    parts += filter(None, [left(now.seconds_left)])
    return with_meter(parts, what, now)


def ended(status: RunStatus) -> str:
    """Return how the last run ended, where the table does not show it."""
    if status.problem:
        return _problem(status.problem, status.cure)
    if status.stopped:
        kept = "What was asked is kept, marked as stopped." if status.kept else "Nothing is kept."
        return f'<p class="rk-notice" role="status">Stopped. {kept}</p>'
    return ""


def _problem(problem: str, cure: str) -> str:
    return f'<p class="rk-notice rk-error-text" role="alert">{name(problem)} {name(cure)}</p>'


def writing_line(status: WritingStatus) -> str:
    """``Writing questions: 4 of 20 · a.md · 5 s left`` with a meter."""
    now = status.progress
    what = "Writing questions" if now.phase else "Getting ready to write questions"
    counted = f": {number(now.done)} of {number(now.total)}" if now.total else ""
    parts = [f"<b>{text(what)}{counted}</b>"]
    if status.cancelled:
        parts.append("stopping after this passage")
    elif now.current:
        parts.append(f"<bdi>{name(now.current[-120:])}</bdi>")
    if not status.cancelled:
        parts += filter(None, [left(now.seconds_left)])
    return with_meter(parts, what, now)


def writing_ended(status: WritingStatus) -> str:
    """Return the report on the set that was written last; empty when none was."""
    if status.problem:
        return _problem(status.problem, status.cure)
    if status.report is None:
        return ""
    return f'<p class="rk-notice" role="status">{name(" ".join(status.report.sentences))}</p>'


def nobody_writes(look: OllamaLook | None) -> str:
    """Return why no model can write questions now, with the cure; empty when one can."""
    if look is None:
        return '<p class="rk-soft" role="status">Looking for Ollama …</p>'
    instead = "Sets from elsewhere are imported with: ragkit judgments import FILE"
    if not look.health.reachable:
        return (
            f'<p class="rk-notice" role="status">{name(look.health.sentence)} '
            f"{name(look.health.cure)} {instead}</p>"
        )
    if not look.writers:
        return (
            '<p class="rk-notice" role="status">Ollama has no model that writes text. Get one on '
            f"the Health page. {instead}</p>"
        )
    return ""


def run_label(record: RunRecord) -> str:
    """Return a run's label in a list to choose from."""
    stopped = " (stopped)" if record.run.partial else ""
    return f"Run {record.id}: {record.run.name}, {moment(record.run.at)}{stopped}"


def runs_table(records: Sequence[RunRecord]) -> str:
    """Build the table of metrics: the best in bold, with 95 % intervals and times."""
    metrics = [name for name in HEADLINES if any(name in record.run.means for record in records)]
    whole = _whole(records)
    best = {name: max(record.run.means.get(name, 0.0) for record in whole) for name in metrics}
    heads = "".join(
        f'<th scope="col" title="{text(MEANINGS.get(name, name))}">{text(name)}</th>'
        for name in metrics
    )
    rows = "".join(_run_row(record, best) for record in records)
    return (
        '<div class="rk-wide"><table class="rk-measures"><thead><tr><th scope="col">Settings</th>'
        f'{heads}<th scope="col" title="Half of the searches were faster; 95 % were faster than '
        f'the second number.">Time</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _whole(records: Sequence[RunRecord]) -> Sequence[RunRecord]:
    """Return the runs that were not stopped; all of them where there is none."""
    return [record for record in records if not record.run.partial] or records


def _run_row(record: RunRecord, best: Mapping[str, float]) -> str:
    run = record.run
    metrics = {values[0]: Metric(*values) for values in run.metrics}
    cells = "".join(
        _metric_cell(metrics.get(name), most, partial=run.partial) for name, most in best.items()
    )
    stopped = f", stopped after {run.asked} of {run.questions}" if run.partial else ""
    about = f"run {record.id}, {moment(run.at)}, {plural(run.asked, 'question')}{stopped}"
    return (
        f'<tr><th scope="row">{text(run.name)}<small>{text(about)}</small></th>'
        f"{cells}<td>{_time(run.stages)}</td></tr>"
    )


def types_table(
    records: Sequence[RunRecord], figures: Mapping[int, Sequence[TypeFigures]], metric: str
) -> str:
    """Build the table of one metric by question type: the best in bold, with 95 % intervals.

    ``figures`` holds each run's figures by ``metric``, by run id; empty without any.
    """
    counts: dict[str, int] = {}
    for of_type in chain.from_iterable(figures.values()):
        counts[of_type.kind] = max(of_type.questions, counts.get(of_type.kind, 0))
    if not counts:
        return ""
    kinds = sorted(counts, key=unnamed_last)
    metrics = {
        record.id: {
            of_type.kind: value
            for of_type in figures.get(record.id, ())
            for value in of_type.metrics
        }
        for record in records
    }
    whole = [metrics[record.id] for record in _whole(records)]
    best = {
        kind: max((of_run[kind].value for of_run in whole if kind in of_run), default=0)
        for kind in kinds
    }
    heads = "".join(
        f'<th scope="col"><bdi>{name(kind or "not named")}</bdi>'
        f"<small>{plural(counts[kind], 'question')}</small></th>"
        for kind in kinds
    )
    rows = "".join(_types_row(record, metrics[record.id], best) for record in records)
    return (
        f'<h2>By kind of question ({text(metric)})</h2><div class="rk-wide">'
        '<table class="rk-measures rk-kinds"><thead><tr><th scope="col">Settings</th>'
        f"{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _types_row(record: RunRecord, metrics: Mapping[str, Metric], best: Mapping[str, float]) -> str:
    cells = "".join(
        _metric_cell(metrics.get(kind), most, partial=record.run.partial)
        for kind, most in best.items()
    )
    settings = f"{text(record.run.name)}<small>run {record.id}</small>"
    return f'<tr><th scope="row">{settings}</th>{cells}</tr>'


def _metric_cell(metric: Metric | None, best: float, *, partial: bool) -> str:
    if metric is None:
        return "<td>–</td>"
    shown = f"{metric.value:.3f}"
    if metric.value == best and not partial:
        shown = f"<b>{shown}</b>"
    return f"<td>{shown}<small>{metric.low:.2f} – {metric.high:.2f}</small></td>"


def _time(stages: Sequence[tuple[str, float, float]]) -> str:
    total = {stage: (p50, p95) for stage, p50, p95 in stages}.get("total")
    return f"{took(total[0])}<small>{took(total[1])}</small>" if total else "–"


def points(records: Sequence[RunRecord], metric: str) -> list[dict[str, Any]]:
    """Return the points of the chart: one for each setting with the metric and a time."""
    drawn = []
    for record in records:
        times = {stage: p50 for stage, p50, _p95 in record.run.stages}
        ranges = {n: (value, low, high) for n, value, low, high in record.run.metrics}
        if metric in ranges and "total" in times:
            value, low, high = ranges[metric]
            drawn.append(
                {
                    "settings": record.run.name,
                    "ms": round(times["total"], 2),
                    "value": round(value, 4),
                    "low": round(low, 4),
                    "high": round(high, 4),
                }
            )
    return drawn


def chart(drawn: Sequence[Mapping[str, Any]], metric: str) -> LayerChart | FacetChart:
    """Draw quality against time, with 95 % intervals."""
    import altair

    longest = max((point["ms"] for point in drawn), default=1.0)
    base = altair.Chart(altair.InlineData(values=list(map(dict, drawn)))).encode(
        x=altair.X(
            "ms:Q", title="time of a search, ms (half are faster)",
            scale=altair.Scale(domain=[0, longest * 1.3]),
        ),
        tooltip=[
            altair.Tooltip("settings:N"), altair.Tooltip("value:Q", title=metric),
            altair.Tooltip("ms:Q", title="ms"),
        ],
    )  # fmt: skip
    scale = altair.Scale(domain=[0, 1])
    legend = altair.Legend(title=None, orient="bottom", columns=1, labelLimit=340, symbolOpacity=1)
    names = [point["settings"] for point in drawn]
    colour = altair.Color(
        "settings:N", legend=legend, sort=names, scale=altair.Scale(range=list(_COLOURS))
    )
    ranges = base.mark_rule(strokeWidth=2, opacity=0.6).encode(
        y=altair.Y("low:Q", title=metric, scale=scale), y2="high:Q", color=colour
    )
    dots = base.mark_point(filled=True, size=110, opacity=1).encode(
        y=altair.Y("value:Q", scale=scale),
        color=colour,
        shape=altair.Shape("settings:N", legend=legend, sort=names),
    )
    return altair.layer(ranges, dots).properties(height=260 + 30 * len(drawn))


def difference_html(difference: Difference, collection: str) -> str:
    """Build the metrics before and now, and the questions that got better and worse."""
    rows = "".join(
        f'<tr><th scope="row" title="{text(MEANINGS[metric.name])}">{text(metric.name)}</th>'
        f"<td>{metric.before:.3f}</td><td>{metric.after:.3f}</td>"
        f"<td>{_change(metric.after - metric.before)}</td><td>{_chance(metric.p)}</td></tr>"
        for metric in difference.metrics
        if metric.name in HEADLINES
    )
    explained = (
        "How often chance alone would make a change as large (paired randomisation test). "
        "Below 0.05 it is marked."
    )
    return (
        '<div class="rk-wide"><table class="rk-measures rk-change"><thead><tr>'
        '<th scope="col">Metric</th><th scope="col">Before</th><th scope="col">Now</th>'
        f'<th scope="col">Change</th><th scope="col" title="{explained}">By chance</th>'
        f"</tr></thead><tbody>{rows}</tbody></table></div>"
        f'{_listed("Got better", difference.better, collection)}'
        f'{_listed("Got worse", difference.worse, collection)}'
    )  # fmt: skip


def _change(value: float) -> str:
    return "=" if abs(value) < 5e-4 else f"{value:+.3f}"


def _chance(p: float) -> str:
    return f"<b>{p:.3f}</b>" if p < _SIGNIFICANT else f"{p:.3f}"


def _listed(title: str, changes: Sequence[QuestionChange], collection: str) -> str:
    head = f"<h3>{title}: {plural(len(changes), 'question')}</h3>"
    items = "".join(
        f"<li>{question_link(change.question, collection)} "
        f'<span class="rk-soft">{change.before:.2f} → {change.after:.2f}</span></li>'
        for change in changes[:_LISTED]
    )
    rest = len(changes) - _LISTED
    more = f'<p class="rk-soft">and {rest} more: ragkit eval --json has all</p>' if rest > 0 else ""
    return f'<section class="rk-moved">{head}<ul>{items}</ul>{more}</section>'


def question_link(question: str, collection: str) -> str:
    """Link a question to its results on the Search page."""
    target = attributes(
        href=f"./?{urlencode({'q': question[:2000]})}",
        data_question=question[:2000],
        data_collection=collection,
    )
    return (
        f'<a class="rk-link" target="_self" data-rk="ask"{target}><bdi>{name(question)}</bdi></a>'
    )
