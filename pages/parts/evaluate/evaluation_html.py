"""HTML of the Evaluate page: question sets, tables of runs, differences. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from urllib.parse import urlencode

from pages.parts.common.markup import as_label, attributes, left, name, number, text, took
from pages.parts.library.source_tables import with_meter
from ragkit.catalog.judgments import Origin
from ragkit.catalog.runs import RunRecord
from ragkit.errors import RagkitError
from ragkit.evaluation.background import RunStatus, TaskStatus, WritingStatus
from ragkit.evaluation.metrics import HEADLINES, JUDGED, Metric, TypeFigures, unnamed_last
from ragkit.evaluation.question_sets import Imported
from ragkit.evaluation.runs import Difference, QuestionChange, in_words
from ragkit.evaluation.search_config import from_text
from ragkit.formatting import local_time, plural
from ragkit.indexing.progress import Progress
from ragkit.models.ollama_monitor import OllamaLook

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

METRICS: Mapping[str, tuple[str, str]] = {
    "ndcg@10": ("nDCG@10", "How near the top the relevant documents are; 1 is perfect."),
    "mrr": ("MRR", "1 divided by the rank of the first relevant document, on average."),
    "recall@10": ("Recall@10", "The share of the relevant documents among the first ten."),
    "hit@1": ("Hit@1", "How often the first document is relevant."),
}
"""What a metric is called, and what it says."""

ENOUGH_QUESTIONS = 30

_UNRATED = "The share of the first ten results without a rating; they count as not relevant."
_UNEVEN = 0.2
_SIGNIFICANT = 0.05
_LISTED = 12


def metric_name(metric: str) -> str:
    """Return ``nDCG@10`` for ``ndcg@10``."""
    return METRICS.get(metric, (metric, ""))[0]


def set_title(question_set: str) -> str:
    """Return a question set's name for a list whose labels are read as Markdown."""
    if not question_set:
        return "Rated on the pages"
    return as_label(" ".join(question_set.split()))


def set_caption(
    counts: tuple[int, int], origins: frozenset[Origin], writers: Sequence[str] = ()
) -> str:
    """Return ``5 questions · 12 ratings · imported``; it is read as Markdown."""
    questions, places = counts
    origin = "by you"
    if Origin.MODEL in origins:
        origin = f"written by {as_label(' and '.join(writers)) or 'a model'}"
    elif Origin.IMPORT in origins:
        origin = "imported"
    return f"{plural(questions, 'question')} · {plural(places, 'rating')} · {origin}"


def latest(records: Sequence[RunRecord]) -> list[RunRecord]:
    """Return each setting's newest complete run, or else its newest partial one; best first."""
    ordered = sorted(records, key=lambda record: (not record.run.partial, record.id))
    chosen = {record.run.address: record for record in ordered}.values()
    best = HEADLINES[0]
    return sorted(
        chosen, key=lambda record: (-record.run.means.get(best, 0.0), record.run.name, record.id)
    )


def progress_line(status: RunStatus) -> str:
    """Return ``Keyword (2 of 3): question 12 of 40 · 5 s left`` with a meter."""
    now = status.progress
    which = f" ({status.number} of {status.count})" if status.count > 1 else ""
    what = f"{status.name}{which}" if status.name else "Preparing"
    return meter_line(what, plural(now.total, "question"), now, now.current)


def writing_line(status: WritingStatus) -> str:
    """Return ``Writing questions: 4 of 20 · a.md · 5 s left`` with a meter."""
    now = status.progress
    what = "Writing questions" if now.phase else "Preparing to write questions"
    stopping = "stopping after this passage" if status.cancelled else ""
    return meter_line(what, number(now.total), now, now.current[-120:], stopping)


def meter_line(what: str, total: str, now: Progress, current: str, stopping: str = "") -> str:
    """Return the step, its progress, its present item and the time left, with a meter."""
    counted = f": {number(now.done)} of {total}" if now.total else ""
    at_hand = f"<bdi>{name(current)}</bdi>" if current else ""
    details = [stopping] if stopping else [at_hand, left(now.seconds_left)]
    parts = [f"<b>{text(what)}{counted}</b>", *filter(None, details)]
    return with_meter(parts, what, now)


def ended(status: RunStatus) -> str:
    """Return how the last run ended, where the table does not show it."""
    kept = "The questions run so far are kept." if status.kept else "Nothing was kept."
    return how_it_ended(status, f"Stopped. {kept}" if status.stopped else "")


def writing_ended(status: WritingStatus) -> str:
    """Return the report on the set that was written last; empty when none was."""
    return how_it_ended(status, " ".join(status.report.sentences) if status.report else "")


def how_it_ended(status: TaskStatus, report: str) -> str:
    """Return why a task failed, with the cure; else its report as a notice."""
    if status.problem:
        sentence = f"{name(status.problem)} {name(status.cure)}"
        return f'<p class="rk-notice rk-error-text" role="alert">{sentence}</p>'
    return f'<p class="rk-notice" role="status">{name(report)}</p>' if report else ""


def nobody_writes(look: OllamaLook | None) -> str:
    """Return why no model can write questions now, with the cure; empty when one can."""
    if look is None:
        return '<p class="rk-soft" role="status">Looking for Ollama …</p>'
    instead = "You can import a question set instead."
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
    return f"Run {record.id}: {record.run.name}, {local_time(record.run.at)}{stopped}"


def refused(error: RagkitError) -> str:
    """Return why a question set could not be imported, with the cure."""
    sentence = f"{name(error.message)} {name(error.cure)}"
    return f'<p class="rk-notice rk-error-text" role="alert">{sentence}</p>'


def imported_notice(imported: Imported) -> str:
    """Return a notice of what an import stored and left out."""
    parts = [
        f"Imported {plural(imported.questions, 'question')} with "
        f"{plural(imported.judgments, 'rating')}.",
        *imported.notices,
    ]
    return f'<p class="rk-notice" role="status">{name(" ".join(parts))}</p>'


def cautions(records: Sequence[RunRecord], rated: int, *, self_made: bool) -> list[str]:
    """Return warnings about figures that are less reliable than they look.

    ``rated`` counts the questions of the set; ``self_made``: they were rated on the pages, where
    one sees only what some settings find.
    """
    run = min(record.run.asked for record in records)
    sentences = []
    if run < ENOUGH_QUESTIONS:
        sentences.append(f"Too few to tell ({run}). {ENOUGH_QUESTIONS} or more are better.")
    used = max(record.run.questions for record in records)
    if used < rated:
        sentences.append(
            f"{used} of {rated} rated questions are run: the others have no relevant result, "
            "or were rated later."
        )
    if self_made:
        shares = {record.run.name: record.run.means.get(JUDGED) for record in records}
        measured = {label: share for label, share in shares.items() if share is not None}
        most = max(measured, key=measured.__getitem__, default="")
        if measured and measured[most] - min(measured.values()) > _UNEVEN:
            sentences.append(
                f"These ratings were made on results of {most}: other settings look worse than "
                "they are."
            )
        else:
            sentences.append(
                "These ratings were made on results that were shown: settings that find other "
                "documents look worse than they are."
            )
    return sentences


def unused_html(record: RunRecord) -> str:
    """Return the parts of a set that could not be used, folded."""
    return hints(f"Notes on run {record.id}", map(name, record.run.notices))


def hints(summary: str, items: Iterable[str]) -> str:
    """Return a folded list of HTML items; empty without any."""
    listed = "".join(f"<li>{item}</li>" for item in items)
    folded = f'<details class="rk-hints"><summary>{summary}</summary><ul>{listed}</ul></details>'
    return folded if listed else ""


def runs_table(records: Sequence[RunRecord]) -> str:
    """Build the table of metrics: the best in bold, with 95 % intervals and times."""
    heads = {
        metric: f'<th scope="col" title="{METRICS[metric][1]}">{METRICS[metric][0]}</th>'
        for metric in HEADLINES
        if any(metric in record.run.means for record in records)
    }
    metrics = {
        record.id: {values[0]: Metric(*values) for values in record.run.metrics}
        for record in records
    }
    meanings = [*(METRICS[metric] for metric in heads), ("Unrated", _UNRATED)]
    explained = (f"<dfn>{head}</dfn>: {meaning}" for head, meaning in meanings)
    table = _measures(records, metrics, heads, times=True)
    return table + hints("What the metrics mean", explained)


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
    heads = {
        kind: f'<th scope="col"><bdi>{name(kind or "not named")}</bdi>'
        f"<small>{plural(counts[kind], 'question')}</small></th>"
        for kind in sorted(counts, key=unnamed_last)
    }
    metrics = {
        record.id: {
            of_type.kind: value
            for of_type in figures.get(record.id, ())
            for value in of_type.metrics
        }
        for record in records
    }
    table = _measures(records, metrics, heads, style=" rk-kinds")
    return f"<h2>By kind of question ({text(metric_name(metric))})</h2>{table}"


def _measures(
    records: Sequence[RunRecord],
    metrics: Mapping[int, Mapping[str, Metric]],
    heads: Mapping[str, str],
    *,
    times: bool = False,
    style: str = "",
) -> str:
    """Build a table with a row for each run; ``metrics`` are by run and column.

    The best of a column is in bold, but for runs that were stopped where there are others.
    """
    label = "Results by setting" if times else "Results by kind of question"
    whole = [record for record in records if not record.run.partial] or records
    best = {
        column: max(
            (of[column].value for of in (metrics[record.id] for record in whole) if column in of),
            default=0.0,
        )
        for column in heads
    }
    rows = []
    for record in records:
        run, about = record.run, f"run {record.id}"
        cells = [
            _metric_cell(metrics[record.id].get(column), most, partial=run.partial)
            for column, most in best.items()
        ]
        if times:
            stopped = f", stopped after {run.asked} of {run.questions}" if run.partial else ""
            about += f", {local_time(run.at)}, {plural(run.asked, 'question')}{stopped}"
            total = next((times for stage, *times in run.stages if stage == "total"), None)
            shown = f"{took(total[0])}<small>{took(total[1])}</small>" if total else "–"
            judged = metrics[record.id].get(JUDGED)
            cells.append(f"<td>{f'{100 * (1 - judged.value):.0f} %' if judged else '–'}</td>")
            cells.append(f"<td>{shown}</td>")
        title = f"{text(run.name)}<small>{text(about)}</small>"
        rows.append(f'<tr><th scope="row">{title}</th>{"".join(cells)}</tr>')
    time = (
        f'<th scope="col" title="{_UNRATED}">Unrated</th>'
        '<th scope="col" title="The median, and below it the 95th percentile.">Time (median)</th>'
    )
    return (
        f'<div class="rk-wide" tabindex="0" role="region" aria-label="{label}">'
        f'<table class="rk-measures{style}"><thead><tr>'
        f'<th scope="col">Settings</th>{"".join(heads.values())}{time if times else ""}'
        f"</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _metric_cell(metric: Metric | None, best: float, *, partial: bool) -> str:
    if metric is None:
        return "<td>–</td>"
    shown = f"{metric.value:.3f}"
    if metric.value == best and not partial:
        shown = f"<b>{shown}</b>"
    return f"<td>{shown}<small>{metric.low:.2f} – {metric.high:.2f}</small></td>"


def difference_table(difference: Difference) -> str:
    """Build the table of the metrics of both runs, their change and its p-value."""
    rows = ""
    for metric in difference.metrics:
        if metric.name in HEADLINES:
            change = metric.after - metric.before
            shown = "=" if abs(change) < 5e-4 else f"{change:+.3f}"
            chance = f"<b>{metric.p:.3f}</b>" if metric.p < _SIGNIFICANT else f"{metric.p:.3f}"
            rows += (
                f'<tr><th scope="row" title="{text(METRICS[metric.name][1])}">'
                f"{text(METRICS[metric.name][0])}</th><td>{metric.before:.3f}</td><td>{metric.after:.3f}</td>"
                f"<td>{shown}</td><td>{chance}</td></tr>"
            )
    explained = (
        "How often chance alone would make as large a change (paired permutation test). "
        "Below 0.05 it is in bold."
    )
    return (
        '<div class="rk-wide" tabindex="0" role="region" aria-label="Change of the metrics">'
        '<table class="rk-measures rk-change"><thead><tr>'
        '<th scope="col">Metric</th><th scope="col">Baseline</th><th scope="col">Run</th>'
        f'<th scope="col">Change</th><th scope="col" title="{explained}">p-value</th>'
        f"</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def moved_html(difference: Difference, collection: str) -> str:
    """List the questions that got better and worse; each leads to its results."""
    by = metric_name(difference.metric)
    return (
        f'<div class="rk-moves">{_listed("Better", by, difference.better, collection)}'
        f"{_listed('Worse', by, difference.worse, collection)}</div>"
    )


def _listed(title: str, by: str, changes: Sequence[QuestionChange], collection: str) -> str:
    head = f"<h3>{title} by {text(by)}: {plural(len(changes), 'question')}</h3>"
    items = [
        f"{_question_link(f'{change.question} {change.filter}'.rstrip(), collection)} "
        f'<span class="rk-soft">{change.before:.2f} → {change.after:.2f}</span>'
        for change in changes
    ]
    first, rest = "".join(f"<li>{item}</li>" for item in items[:_LISTED]), items[_LISTED:]
    more = hints(f"{len(rest)} more", rest)
    return f'<section class="rk-moved">{head}<ul>{first}</ul>{more}</section>'


def _question_link(question: str, collection: str) -> str:
    """Link a question, with its filter, to its results on the Search page."""
    target = attributes(
        href=f"./?{urlencode({'q': question[:2000], 'collection': collection})}", target="_self"
    )
    return f'<a class="rk-link"{target}><bdi>{name(question)}</bdi></a>'
