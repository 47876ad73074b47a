"""What the Health page says of findings and jobs. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence

from pages.parts.common.markup import name, text
from pages.parts.library.source_tables import ago
from ragkit.catalog.records import JobRecord, JobState
from ragkit.health.checks import Finding

MEND_WORDS = {
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


def headline(findings: Sequence[Finding]) -> str:
    """All in one sentence."""
    bad = sum(not one.ok for one in findings)
    said = "All is well." if not bad else f"Not well: {bad} of {len(findings)}."
    return f'<p class="{"rk-error-text" if bad else "rk-soft"}" role="status">{said}</p>'


def line(one: Finding) -> str:
    """A finding: what it is about, and what is the case."""
    mark = "Well" if one.ok else "Not well"
    style = "rk-soft" if one.ok else "rk-error-text"
    advice = "" if one.fix in MEND_WORDS else one.fix.rstrip(".")
    mend = f'<br><span class="rk-soft">To mend it: {text(advice)}.</span>' if advice else ""
    return (
        f'<p class="rk-source"><b>{text(_TITLES.get(one.name, one.name))}</b> '
        f'<span class="{style}">{mark}</span><br>{name(one.sentence[:_MOST_CHARACTERS])}{mend}</p>'
    )


def jobs_table(jobs: Sequence[JobRecord]) -> str:
    """The last jobs, the newest first."""
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
