"""The Health page as HTML: findings, jobs, contexts and what writes them. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence

from pages.parts.common.markup import (
    ago,
    document_url,
    left,
    meter,
    moment,
    name,
    number,
    plural,
    size,
    text,
)
from ragkit.catalog.background_state import BackfillState, BackgroundPhase
from ragkit.catalog.records import ContextCounts, FailedContext, JobRecord, JobState
from ragkit.health.checks import Finding
from ragkit.models.ollama_monitor import Download, OllamaLook

FIX_LABELS = {
    "worker": "Start the worker",
    "retry": "Read failed files again",
    "sync": "Sync all folders",
    "compact": "Compact",
    "rebuild_indexes": "Build the indexes again",
    "reread": "Read torn documents again",
}
_TITLES = {
    "worker": "Worker",
    "jobs": "Jobs",
    "sources": "Folder",
    "documents": "Documents",
    "disk": "Disk",
    "log": "Log",
    "embedder": "Embedder",
    "indexes": "Indexes",
    "catalog": "Catalog",
    "contents": "Contents",
    "vectors": "Vectors",
    "removals": "Removals",
    "uploads": "Uploads",
    "leftovers": "Leftovers",
    "words": "Words",
}
_STATE_WORDS = {
    JobState.PENDING: "waits",
    JobState.RUNNING: "runs",
    JobState.DONE: "done",
    JobState.FAILED: "failed",
    JobState.CANCELLED: "cancelled",
}
_MOST_CHARACTERS = 300
_COUNTS = (
    ("written", "Chunks whose context is there and searched."),
    ("waiting", "Chunks whose context is still to be written."),
    ("failed", "Chunks of which a model could write nothing of use."),
    ("cut short", "Written, but the model could not see the whole prompt."),
)


def headline(findings: Sequence[Finding]) -> str:
    """Return all findings in one sentence."""
    bad = sum(not finding.ok for finding in findings)
    sentence = "All is well." if not bad else f"Not well: {bad} of {len(findings)}."
    return f'<p class="{"rk-error-text" if bad else "rk-soft"}" role="status">{sentence}</p>'


def line(finding: Finding) -> str:
    """Return a finding: its subject, whether it is well, and how to fix it."""
    mark = "Well" if finding.ok else "Not well"
    style = "rk-soft" if finding.ok else "rk-error-text"
    advice = "" if finding.fix in FIX_LABELS else finding.fix.rstrip(".")
    cure = f'<br><span class="rk-soft">To mend it: {text(advice)}.</span>' if advice else ""
    sentence = name(finding.sentence[:_MOST_CHARACTERS])
    return (
        f'<p class="rk-source"><b>{text(_TITLES.get(finding.name, finding.name))}</b> '
        f'<span class="{style}">{mark}</span><br>{sentence}{cure}</p>'
    )


def jobs_table(jobs: Sequence[JobRecord]) -> str:
    """Return the last jobs as a table, newest first."""
    rows = "".join(
        f"<tr><td>{text(job.kind.replace('_', ' '))}</td><td>{_STATE_WORDS[job.state]}</td>"
        f"<td>{ago(job.finished_at or job.started_at or job.created_at)}</td>"
        f"<td>{name(job.message[:_MOST_CHARACTERS])}</td></tr>"
        for job in jobs
    )
    return (
        '<div class="rk-wide"><table class="rk-stages"><thead><tr><th>Job</th><th>State</th>'
        f"<th>When</th><th>What came of it</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )


# -- contexts and the model that writes them --------------------------------------------------


def contexts_status(state: BackfillState, switched_on: bool) -> str:
    """Return what the worker does about contexts, how far it is and how long it takes."""
    counts = state.counts
    return (
        '<div class="rk-progress" id="contexts-standing" role="status">'
        f"{_activity(state, switched_on)}"
        f"{meter('Contexts written', _available(state), counts.chunks)}</div>{_counted(counts)}"
    )


def _activity(state: BackfillState, switched_on: bool) -> str:
    counts = state.counts
    if not counts.chunks:
        return "<b>Nothing to write</b> · no document is indexed yet"
    share = f"{number(_available(state))} of {plural(counts.chunks, 'chunk')}"
    if not switched_on:
        return f"<b>Off</b> · {share} · switch it on with models.contexts in the settings"
    if state.paused:
        gone = "" if state.running else " · the worker is not running"
        return f"<b>Paused</b> · {share} · searches use what is written{gone}"
    if not counts.pending:
        if counts.failed:
            return f"<b>Done</b> · {share}, {number(counts.failed)} could not be written"
        return f"<b>All is written</b> · {share}"
    if not state.running:
        return (
            f"<b>Nobody writes now</b> · {share} · the worker is not running; what is written "
            "is kept, and it goes on when the worker does"
        )
    if state.phase is BackgroundPhase.WORKING:
        parts = [f"<b>Writing</b> {share}"]
        if state.per_minute:
            parts.append(f"{_pace(state.per_minute)} a minute")
        if remaining := left(state.seconds_left):
            parts.append(remaining)
        if state.current:
            parts.append(f"<bdi>{name(state.current[-120:])}</bdi>")
        return " · ".join(parts)
    if state.phase is BackgroundPhase.WAITING and state.message:
        return f"<b>Waiting</b> · {share} · {name(state.message)}"
    return f"<b>About to begin</b> · {share}"


def _available(state: BackfillState) -> int:
    """Count chunks with a context, including those about to be indexed."""
    counts = state.counts
    return counts.complete + counts.truncated + min(state.ready, counts.pending)


def _pace(per_minute: float) -> str:
    return f"{per_minute:.1f}" if per_minute < 10 else number(round(per_minute))


def _counted(counts: ContextCounts) -> str:
    values = (counts.complete, counts.pending, counts.failed, counts.truncated)
    items = "".join(
        f'<li title="{text(why)}"><b>{number(value)}</b> {word}</li>'
        for value, (word, why) in zip(values, _COUNTS, strict=True)
    )
    return f'<ul class="rk-figures" id="contexts-counts">{items}</ul>'


def failures(failed: Sequence[FailedContext], total: int) -> str:
    """Return the last errors with their cures, each with a link to its chunk."""
    if not failed:
        return ""
    items = "".join(
        '<li><a target="_self" '
        f'href="{text(document_url(failure.document_id, failure.chunk_index))}">'
        f"<bdi>{name(failure.path[-80:])}</bdi>, chunk {failure.chunk_index + 1}</a> "
        f'<span class="rk-soft">{moment(failure.changed_at)}, '
        f"{plural(failure.attempts, 'attempt')}</span><br>{name(failure.error[:300])}</li>"
        for failure in failed
    )
    rest = total - len(failed)
    more = f'<p class="rk-soft">and {number(rest)} more</p>' if rest > 0 else ""
    return (
        f'<details class="rk-why" id="contexts-failures"><summary>Last errors</summary>'
        f'<ul class="rk-errors">{items}</ul>{more}</details>'
    )


def ollama_line(look: OllamaLook | None, chosen: str) -> str:
    """Return whether Ollama answers and which model writes; if not, what to do."""
    if look is None:
        return '<p class="rk-soft" role="status">Looking for Ollama …</p>'
    health = look.health
    cure = f" {text(health.cure)}" if health.cure else ""
    if health.reachable:
        sentence = f"{text(health.sentence)}{cure}{_writer(look, chosen)}"
        return f'<p class="rk-soft" role="status">{sentence}</p>'
    return (
        f'<div class="rk-notice" id="ollama-missing" role="status"><b>{text(health.sentence)}</b>'
        f"{cure}<br>Ollama is a free program that runs models on this machine. Get it from "
        "ollama.com, install it and leave it running; ragkit finds it by itself within half a "
        "minute. Until then titles and headings are the only context.</div>"
    )


def _writer(look: OllamaLook, chosen: str) -> str:
    """Return which model writes, or that the chosen one is missing."""
    model = chosen or look.best
    if not model:
        return " None writes text." if look.health.models else ""
    if any(writer.name in (model, f"{model}:latest") for writer in look.writers):
        return f" <b>{name(model)}</b> writes contexts."
    return f' <span class="rk-error-text">{name(model)} is to write, and is not there.</span>'


def download_line(download: Download) -> str:
    """Return how far a download is, or how it ended."""
    model = f"<b>{name(download.model)}</b>"
    if download.cancelled:
        sentence = f"{model} · cancelled; what has arrived is kept for the next time"
    elif download.problem:
        sentence = f'<span class="rk-error-text">{name(download.problem)}</span>'
    elif download.ended:
        sentence = f"{model} is here and writes from now on."
    else:
        far = f"{size(download.done)} of {size(download.total)}" if download.total else ""
        sentence = " · ".join(filter(None, (f"Getting {model}", text(download.status), far)))
    if download.ended:
        return f'<div class="rk-progress" role="status">{sentence}</div>'
    bar = meter("Download", download.done, download.total)
    return f'<div class="rk-progress" role="status">{sentence}{bar}</div>'
