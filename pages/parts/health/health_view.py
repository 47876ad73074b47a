"""The Health page as HTML: findings, jobs, contexts and what writes them. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, islice

from pages.parts.common.markup import ago, left, meter, name, number, text
from ragkit.catalog.background_state import BackfillState, BackgroundPhase
from ragkit.catalog.context_records import ContextCost, ContextCounts, FailedContext
from ragkit.catalog.copies import Backup
from ragkit.catalog.records import JobRecord, JobState
from ragkit.formatting import byte_size, local_time, plural
from ragkit.health.findings import Finding, Severity
from ragkit.models.ollama_monitor import Download, OllamaLook
from ragkit.settings import ServerSettings
from ragkit.surfaces.addresses import document_url
from ragkit.surfaces.http.place import place_of

FIX_LABELS = {
    "worker": "Start the worker",
    "retry": "Retry failed files",
    "retry_contexts": "Retry failed contexts",
    "sync": "Check all folders",
    "compact": "Compact",
    "rebuild_indexes": "Rebuild the indexes",
    "make_private": "Make its files private",
    "reread": "Re-index damaged documents",
    "backup": "Back up now",
    "adopt_uploads": "Index them",
}
_TITLES = {
    "worker": "Worker",
    "machines": "Machines",
    "jobs": "Jobs",
    "sources": "Folder",
    "documents": "Documents",
    "scans": "Scanned PDFs",
    "contexts": "Contexts",
    "models": "Model",
    "disk": "Disk",
    "privacy": "Privacy",
    "web": "Web search",
    "log": "Log",
    "embedder": "Embedder",
    "indexes": "Indexes",
    "catalog": "Catalog",
    "contents": "Contents",
    "vectors": "Vectors",
    "removals": "Removals",
    "counts": "Counts",
    "uploads": "Uploads",
    "backups": "Backups",
    "leftovers": "Leftovers",
    "words": "Words",
}
_SEVERITIES = {
    Severity.PROBLEM: ("\u2715", "Problem"),
    Severity.ATTENTION: ("!", "Needs attention"),
    Severity.OK: ("\u2713", "OK"),
}
_JOBS = {
    "sync": "Check folders",
    "retry": "Re-index",
    "remove_documents": "Remove documents",
    "remove_uploads": "Delete uploaded files",
    "remove_source": "Remove a folder",
    "remove_collection": "Delete a collection",
    "adopt_uploads": "Index uploads",
    "recall_contexts": "Load sample contexts",
}
_STATE_WORDS = {
    JobState.PENDING: "waiting",
    JobState.RUNNING: "running",
    JobState.DONE: "done",
    JobState.FAILED: "failed",
    JobState.CANCELLED: "cancelled",
}
_MOST_CHARACTERS, _MOST_FOLDED, _MOST_LINES = 300, 50, 15
_COUNTS = (
    ("written", "Chunks that have a context, which is searched."),
    ("pending", "Chunks whose context is still to be written."),
    ("failed", "Chunks for which the model wrote nothing usable."),
    ("truncated", "Written, but the prompt did not fit the model's window."),
)


def concerns(findings: Sequence[Finding]) -> Sequence[Finding]:
    """Return the findings that need something, the worst first."""
    concerning = [finding for finding in findings if finding.severity is not Severity.OK]
    return sorted(concerning, key=lambda finding: finding.severity is not Severity.PROBLEM)


def headline(findings: Sequence[Finding], *, verified: bool = False) -> str:
    """Return all findings in one line: ``Search works · 659 contexts failed``.

    ``verified``: they are those of the whole library, read from end to end.
    """
    fine = "Every text, vector and word is as it should be" if verified else "Everything works"
    worst, sentence = Severity.OK, f"<b>{fine}</b>"
    if concerning := concerns(findings):
        worst = concerning[0].severity
        shown = [finding for finding in concerning if finding.severity is worst]
        word = "Search works" if worst is Severity.ATTENTION else plural(len(shown), "problem")
        reasons = list(dict.fromkeys(map(_reason, shown)))
        sentence = " · ".join((f"<b>{text(word)}</b>", *map(text, reasons)))
    return f'<p class="rk-severity rk-{worst}" role="status">{_mark(worst)} {sentence}</p>'


def _reason(finding: Finding) -> str:
    """Return a finding's problem in a few words."""
    if finding.severity is Severity.ATTENTION:
        if finding.fix == "retry_contexts":
            return f"{plural(finding.count, 'context')} failed"
        if finding.fix == "retry":
            return f"{plural(finding.count, 'file')} could not be read"
        if finding.fix == "worker":
            return "changes are not picked up"
    return _title(finding)


def _title(finding: Finding) -> str:
    return _TITLES.get(finding.name, finding.name)


def _mark(severity: Severity) -> str:
    return f'<span class="rk-sign" aria-hidden="true">{_SEVERITIES[severity][0]}</span>'


def line(finding: Finding) -> str:
    """Return a finding: its subject, severity and fix."""
    advice = "" if finding.fix in FIX_LABELS else finding.fix.rstrip(".")
    cure = f'<br><span class="rk-soft">To fix it: {text(advice)}.</span>' if advice else ""
    sentence = name(finding.sentence[:_MOST_CHARACTERS])
    severity = finding.severity
    return (
        f'<p class="rk-source rk-severity rk-{severity}">{_mark(severity)} '
        f'<b>{text(_title(finding))}</b> <span class="rk-word">{_SEVERITIES[severity][1]}</span>'
        f"<br>{sentence}{cure}</p>"
    )


def folded(findings: Sequence[Finding]) -> str:
    """Return checks that need nothing in one line, with details: ``9 checks OK``."""
    if not findings:
        return ""
    more = len(findings) - _MOST_FOLDED
    others = f'<p class="rk-soft">and {number(more)} more</p>' if more > 0 else ""
    return (
        f'<details class="rk-why" id="checks-ok"><summary>{plural(len(findings), "check")} OK'
        f"</summary>{''.join(map(line, findings[:_MOST_FOLDED]))}{others}</details>"
    )


def readers(server: ServerSettings) -> str:
    """Return who can open these pages, and who can use the API."""
    programs = (
        "Programs also need a token: <code>ragkit token</code> prints it, and "
        "<code>ragkit token --new</code> replaces it and signs every browser out."
    )
    if place_of(1, server.host).reach:
        sentence = (
            "Other machines of the network, once they have signed in with a code or the token, "
            "unencrypted. <code>ragkit open</code> makes a code. They can change this library, and "
            "add any folder of yours to it."
        )
    elif server.locked:
        sentence = (
            "Locked: a browser is let in by a one-time link of this library. "
            "<code>ragkit open</code> makes one."
        )
    else:
        sentence = (
            "Everybody with an account on this machine can open these pages while ragkit runs, "
            "even if they cannot open the library's files; web sites and other machines cannot. "
            "On a machine that you share, use <code>ragkit serve --locked</code>."
        )
    return f'<p class="rk-source"><b>Who can read this</b><br>{sentence} {programs}</p>'


def backups_list(kept: Sequence[Backup]) -> str:
    """Return the backups of the catalog with their size, newest first."""
    if not kept:
        return '<p class="rk-soft">No backup yet. One is made each day.</p>'
    items = "".join(
        f"<li>{local_time(backup.at)} · {byte_size(backup.size)} "
        f'<span class="rk-soft">{name(backup.file.name)}</span></li>'
        for backup in kept
    )
    return (
        f'<details class="rk-why" id="backups"><summary>{plural(len(kept), "backup")} of the '
        f'catalog</summary><ul>{items}</ul><p class="rk-soft">To go back to one: '
        "<code>ragkit restore</code>.</p></details>"
    )


def jobs_table(jobs: Sequence[JobRecord]) -> str:
    """Return the last jobs as a table, newest first; equal ones in a row are one line of it."""
    rows = ""
    groups = groupby(jobs, lambda job: (job.kind, job.state, job.message))
    for (kind, state, message), group in islice(groups, _MOST_LINES):
        newest, *others = group
        result = name(message, _MOST_CHARACTERS)
        if others:
            result = f"{result.removesuffix('.')} ({len(others) + 1} times)."
        rows += (
            f"<tr><td>{text(_job_name(kind))}</td><td>{_STATE_WORDS[state]}</td>"
            f"<td>{ago(newest.finished_at or newest.started_at or newest.created_at)}</td>"
            f"<td>{result}</td></tr>"
        )
    return (
        '<div class="rk-wide" tabindex="0" role="region" aria-label="Jobs">'
        '<table class="rk-stages rk-stacked"><thead><tr><th>Job</th><th>State</th>'
        f"<th>When</th><th>Result</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _job_name(kind: str) -> str:
    return _JOBS.get(kind, kind.replace("_", " ").capitalize())


# -- contexts and the model that writes them --------------------------------------------------


def contexts_status(state: BackfillState, switched_on: bool, reachable: bool | None = None) -> str:
    """Return what the worker does about contexts, its progress, and the cost so far.

    ``reachable`` is whether Ollama answers now, ``None`` while that is not known: the worker's
    last report may be of some seconds ago.
    """
    counts = state.counts
    return (
        '<div class="rk-progress" id="contexts-standing" role="status">'
        f"{_activity(state, switched_on, reachable)}"
        f"{meter('Contexts written', _available(state), counts.chunks)}</div>{_counted(counts)}"
        f"{cost_line(state.cost)}"
    )


def cost_line(cost: ContextCost) -> str:
    """Return the cost of contexts in a line; empty where no model wrote any."""
    if not cost.in_words:
        return ""
    hint = "Tokens that the model read and wrote for the contexts that are kept, and its time."
    return (
        f'<p class="rk-soft" id="contexts-cost" title="{text(hint)}">'
        f"Cost: {text(cost.in_words)}</p>"
    )


def _activity(state: BackfillState, switched_on: bool, reachable: bool | None) -> str:
    counts = state.counts
    if not counts.chunks:
        return "<b>Nothing to write</b> · no documents are indexed yet"
    share = f"{number(_available(state))} of {plural(counts.chunks, 'chunk')}"
    if not switched_on:
        return f"<b>Off</b> · {share} · turn it on with models.contexts in the settings file"
    if state.paused:
        gone = "" if state.running else " · the worker is not running"
        return f"<b>Paused</b> · {share} · searches use those that are written{gone}"
    if not counts.pending:
        if counts.failed:
            return f"<b>Finished</b> · {share}, {number(counts.failed)} failed"
        return f"<b>Complete</b> · {share}"
    return _progress(state, share, reachable)


def _progress(state: BackfillState, share: str, reachable: bool | None) -> str:
    """Return how far the writing is, or what it waits for."""
    if not state.running:
        return (
            f"<b>Stopped</b> · {share} · the worker is not running; what is written is kept, "
            "and the rest follows when it runs again"
        )
    if reachable is False:
        return f"<b>Waiting for Ollama</b> · {share}"
    if state.phase is BackgroundPhase.WORKING:
        parts = [f"<b>Writing</b> {share}"]
        if state.per_minute:
            parts.append(f"{_pace(state.per_minute)} a minute")
        if remaining := left(state.seconds_left):
            parts.append(remaining)
        if state.current:
            parts.append(f"<bdi>{name(state.current[-120:])}</bdi>")
        return " · ".join(parts)
    if (
        state.phase is BackgroundPhase.WAITING
        and state.message
        and not (reachable and "does not answer" in state.message)
    ):
        return f"<b>Waiting</b> · {share} · {name(state.message)}"
    return f"<b>Starting</b> · {share}"


def _available(state: BackfillState) -> int:
    """Count chunks with a context, including those about to be indexed."""
    counts = state.counts
    return counts.complete + counts.truncated + min(state.ready, counts.pending)


def _pace(per_minute: float) -> str:
    return f"{per_minute:.1f}" if per_minute < 10 else number(round(per_minute))


def _counted(counts: ContextCounts) -> str:
    """Return how many chunks have a context, and those of other states where there are any."""
    values = (counts.complete, counts.pending, counts.failed, counts.truncated)
    items = "".join(
        f'<li title="{text(why)}"><b>{number(value)}</b> {word}</li>'
        for value, (word, why) in zip(values, _COUNTS, strict=True)
        if value or word == "written"
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
        f'<span class="rk-soft">{local_time(failure.changed_at)}, '
        f"{plural(failure.attempts, 'attempt')}</span><br>{name(failure.error, 300)}</li>"
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
        f"{cure}<br>Ollama is a free program that runs models on this machine. Install it from "
        "ollama.com and leave it running: ragkit finds it within half a minute. Until then, "
        "titles and headings are the only context.</div>"
    )


def _writer(look: OllamaLook, chosen: str) -> str:
    """Return which model writes, or that the chosen one is missing."""
    model = chosen or look.best
    if not model:
        return " None of its models writes text." if look.health.models else ""
    if any(writer.name in (model, f"{model}:latest") for writer in look.writers):
        return f" <b>{name(model)}</b> writes contexts."
    return f' <span class="rk-error-text">{name(model)} is chosen, but not installed.</span>'


def download_line(download: Download) -> str:
    """Return how far a download is, or how it ended."""
    model = f"<b>{name(download.model)}</b>"
    if download.cancelled:
        sentence = f"{model} · cancelled; what was downloaded is kept for next time"
    elif download.problem:
        sentence = f'<span class="rk-error-text">{name(download.problem)}</span>'
    elif download.ended:
        sentence = f"{model} is installed and writes contexts from now on."
    else:
        far = f"{byte_size(download.done)} of {byte_size(download.total)}" if download.total else ""
        sentence = " · ".join(filter(None, (f"Downloading {model}", text(download.status), far)))
    if download.ended:
        return f'<div class="rk-progress" role="status">{sentence}</div>'
    bar = meter("Download", download.done, download.total)
    return f'<div class="rk-progress" role="status">{sentence}{bar}</div>'
