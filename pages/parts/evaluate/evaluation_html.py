"""What the Evaluate page says of question sets, runs and what differs. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from pages.parts.common.markup import as_label, attributes, left, moment, name, number, plural, text
from pages.parts.evaluate.run_tables import MEANINGS
from pages.parts.library.source_tables import with_meter
from ragkit.catalog.judgments import Origin
from ragkit.catalog.runs import RunRecord
from ragkit.evaluation.background import RunStatus, WritingStatus
from ragkit.evaluation.metrics import HEADLINES
from ragkit.evaluation.runs import Difference, QuestionChange, in_words
from ragkit.evaluation.search_config import from_text
from ragkit.models.ollama_monitor import OllamaLook

if TYPE_CHECKING:
    from altair import LayerChart

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

_CERTAIN = 0.05
# Each has enough contrast on the light and on the dark ground.
_COLOURS = ("#16897f", "#c26a1a", "#8263d2", "#c74b80", "#3f86cf", "#84851f")
_LISTED = 12


def set_title(question_set: str) -> str:
    """What a question set is called, for a list whose labels are read as Markdown."""
    if not question_set:
        return "Judged on the pages"
    return as_label(" ".join(question_set.split()))


def set_caption(
    counts: tuple[int, int], origins: frozenset[Origin], writers: Sequence[str] = ()
) -> str:
    """``5 questions, 12 judgments, imported``; it is read as Markdown."""
    questions, places = counts
    made = "judged"
    if Origin.MODEL in origins:
        made = f"written by {as_label(' and '.join(writers)) or 'a model'}"
    elif Origin.IMPORT in origins:
        made = "imported"
    return f"{plural(questions, 'question')}, {plural(places, 'judgment')}, {made}"


def latest(records: Sequence[RunRecord]) -> list[RunRecord]:
    """The newest whole run of each setting, best first; a partial one where there is no other."""
    chosen: dict[str, RunRecord] = {}
    for one in sorted(records, key=lambda record: (not record.run.partial, record.id)):
        chosen[one.run.address] = one
    return sorted(chosen.values(), key=_best_first)


def _best_first(one: RunRecord) -> tuple[float, str, int]:
    return -one.run.means.get(HEADLINES[0], 0.0), one.run.name, one.id


def progress_line(status: RunStatus) -> str:
    """``Keyword (2 of 3): question 12 of 40 · 5 s left`` with a meter."""
    now = status.progress
    which = f" ({status.number} of {status.count})" if status.count > 1 else ""
    what = f"{status.name}{which}" if status.name else "Getting ready"
    counted = f": {number(now.done)} of {plural(now.total, 'question')}" if now.total else ""
    parts = [f"<b>{text(what)}{counted}</b>"]
    if now.current:
        parts.append(f"<bdi>{name(now.current)}</bdi>")
    parts += [text(one) for one in (left(now.seconds_left),) if one]
    return with_meter(parts, what, now)


def ended(status: RunStatus) -> str:
    """How the last run of this process ended, where that is not plain from the table."""
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
    parts += [text(one) for one in (left(now.seconds_left),) if one and not status.cancelled]
    return with_meter(parts, what, now)


def writing_ended(status: WritingStatus) -> str:
    """What came of the set that was written last; empty when none was."""
    if status.problem:
        return _problem(status.problem, status.cure)
    if status.report is None:
        return ""
    return f'<p class="rk-notice" role="status">{name(" ".join(status.report.sentences))}</p>'


def nobody_writes(look: OllamaLook | None) -> str:
    """Why no model can write questions now, and what to do; empty when one can."""
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
    """A run in a list to choose from."""
    stopped = " (stopped)" if record.run.partial else ""
    return f"Run {record.id}: {record.run.name}, {moment(record.run.at)}{stopped}"


def points(records: Sequence[RunRecord], metric: str) -> list[dict[str, Any]]:
    """What the chart draws: one point a setting that has the metric and a time."""
    found = []
    for one in records:
        times = {name_: p50 for name_, p50, _p95 in one.run.stages}
        ranges = {n: (value, low, high) for n, value, low, high in one.run.metrics}
        if metric in ranges and "total" in times:
            value, low, high = ranges[metric]
            found.append(
                {"settings": one.run.name, "ms": round(times["total"], 2), "value": round(value, 4),
                 "low": round(low, 4), "high": round(high, 4)}
            )  # fmt: skip
    return found


def chart(drawn: Sequence[Mapping[str, Any]], metric: str) -> LayerChart:
    """Quality against time, with 95 % intervals."""
    import altair

    longest = max((one["ms"] for one in drawn), default=1.0)
    base = altair.Chart(altair.Data(values=[dict(one) for one in drawn])).encode(
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
    names = [one["settings"] for one in drawn]
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


def difference(told: Difference, collection: str) -> str:
    """The metrics before and now, and the questions that got better and worse."""
    rows = "".join(
        f'<tr><th scope="row" title="{text(MEANINGS.get(one.name, ""))}">{text(one.name)}</th>'
        f"<td>{one.before:.3f}</td><td>{one.after:.3f}</td>"
        f"<td>{_change(one.after - one.before)}</td><td>{_chance(one.p)}</td></tr>"
        for one in told.metrics
        if one.name in HEADLINES
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
        f'{_listed("Got better", told.better, collection)}'
        f'{_listed("Got worse", told.worse, collection)}'
    )  # fmt: skip


def _change(value: float) -> str:
    return "=" if abs(value) < 5e-4 else f"{value:+.3f}"


def _chance(p: float) -> str:
    return f"<b>{p:.3f}</b>" if p < _CERTAIN else f"{p:.3f}"


def _listed(title: str, changes: Sequence[QuestionChange], collection: str) -> str:
    head = f"<h3>{title}: {plural(len(changes), 'question')}</h3>"
    items = "".join(
        f"<li>{question_link(one.question, collection)} "
        f'<span class="rk-soft">{one.before:.2f} → {one.after:.2f}</span></li>'
        for one in changes[:_LISTED]
    )
    rest = len(changes) - _LISTED
    more = f'<p class="rk-soft">and {rest} more: ragkit eval --json has all</p>' if rest > 0 else ""
    return f'<section class="rk-moved">{head}<ul>{items}</ul>{more}</section>'


def question_link(question: str, collection: str) -> str:
    """A question as a link to what it finds on the Search page."""
    target = attributes(
        href=f"./?{urlencode({'q': question[:2000]})}",
        data_question=question[:2000],
        data_collection=collection,
    )
    return (
        f'<a class="rk-link" target="_self" data-rk="ask"{target}><bdi>{name(question)}</bdi></a>'
    )
