"""Tables of what kept runs reached, by metric and by kind of question. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pages.parts.common.markup import moment, name, plural, text, took
from ragkit.catalog.runs import RunRecord
from ragkit.evaluation.metrics import HEADLINES, Metric, TypeFigures, unnamed_last

MEANINGS: Mapping[str, str] = {
    "ndcg@10": "How near the top the right documents are, among the first ten. 1 is perfect.",
    "mrr": "One divided by the rank of the first right document, on average.",
    "recall@10": "Which share of the right documents is among the first ten.",
    "hit@1": "How often the very first document is right.",
}


def table(records: Sequence[RunRecord]) -> str:
    """Settings by metrics: the best in bold, 95 % intervals below, and the time of a search."""
    known = [one for one in HEADLINES if any(one in record.run.means for record in records)]
    whole = [one for one in records if not one.run.partial] or list(records)
    best = {one: max(record.run.means.get(one, 0.0) for record in whole) for one in known}
    heads = "".join(
        f'<th scope="col" title="{text(MEANINGS.get(one, one))}">{text(one)}</th>' for one in known
    )
    rows = "".join(_row(one, known, best) for one in records)
    return (
        '<div class="rk-wide"><table class="rk-measures"><thead><tr><th scope="col">Settings</th>'
        f'{heads}<th scope="col" title="Half of the searches were faster; 95 % were faster than '
        f'the second number.">Time</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _row(record: RunRecord, known: Sequence[str], best: Mapping[str, float]) -> str:
    run = record.run
    measured = {one[0]: Metric(*one) for one in run.metrics}
    cells = "".join(_measured(measured.get(one), best[one], partial=run.partial) for one in known)
    stopped = f", stopped after {run.asked} of {run.questions}" if run.partial else ""
    about = f"run {record.id}, {moment(run.at)}, {plural(run.asked, 'question')}{stopped}"
    return (
        f'<tr><th scope="row">{text(run.name)}<small>{text(about)}</small></th>'
        f"{cells}<td>{_time(run.stages)}</td></tr>"
    )


def kinds_table(
    records: Sequence[RunRecord], figures: Mapping[int, Sequence[TypeFigures]], metric: str
) -> str:
    """Settings by kinds of question: the best in bold, and 95 % intervals below.

    ``figures`` has for each run's id what it reached by ``metric``; without any, empty.
    """
    counts: dict[str, int] = {}
    for one in (kind for of_run in figures.values() for kind in of_run):
        counts[one.kind] = max(one.questions, counts.get(one.kind, 0))
    if not counts:
        return ""
    kinds = sorted(counts, key=unnamed_last)
    reached = {
        run.id: {one.kind: found for one in figures.get(run.id, ()) for found in one.metrics}
        for run in records
    }
    whole = [one for one in records if not one.run.partial] or list(records)
    best = {
        kind: max(
            (reached[one.id][kind].value for one in whole if kind in reached[one.id]), default=0
        )
        for kind in kinds
    }
    heads = "".join(
        f'<th scope="col"><bdi>{name(one or "not named")}</bdi>'
        f"<small>{plural(counts[one], 'question')}</small></th>"
        for one in kinds
    )
    rows = "".join(_kinds_row(one, reached[one.id], best) for one in records)
    return (
        f'<h2>By kind of question ({text(metric)})</h2><div class="rk-wide">'
        '<table class="rk-measures rk-kinds"><thead><tr><th scope="col">Settings</th>'
        f"{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _kinds_row(record: RunRecord, reached: Mapping[str, Metric], best: Mapping[str, float]) -> str:
    cells = "".join(
        _measured(reached.get(kind), most, partial=record.run.partial)
        for kind, most in best.items()
    )
    named = f"{text(record.run.name)}<small>run {record.id}</small>"
    return f'<tr><th scope="row">{named}</th>{cells}</tr>'


def _measured(metric: Metric | None, best: float, *, partial: bool) -> str:
    if metric is None:
        return "<td>–</td>"
    shown = f"{metric.value:.3f}"
    if metric.value == best and not partial:
        shown = f"<b>{shown}</b>"
    return f"<td>{shown}<small>{metric.low:.2f} – {metric.high:.2f}</small></td>"


def _time(stages: Sequence[tuple[str, float, float]]) -> str:
    total = {name_: (p50, p95) for name_, p50, p95 in stages}.get("total")
    return f"{took(total[0])}<small>{took(total[1])}</small>" if total else "–"
