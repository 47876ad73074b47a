"""Sources, documents and jobs in words and HTML. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pages.parts.common.markup import ago, left, meter, name, number, plural, size, text
from ragkit.catalog.records import Counts, DocumentRecord, JobRecord, JobState, SourceRecord
from ragkit.indexing.progress import Progress
from ragkit.types import Status

STATUS_WORDS = {
    Status.INDEXED: "Indexed",
    Status.PENDING: "Waiting",
    Status.SKIPPED: "Skipped",
    Status.FAILED: "Failed",
}
_SOURCE_STATES = {"new": "not read yet", "ready": "up to date", "offline": "not there now"}


def status_choices(counts: Counts) -> dict[str, Status | None]:
    """Return the labels of the status filter with their counts; empty ones are left out."""
    by_status = {
        Status.INDEXED: counts.indexed,
        Status.FAILED: counts.failed,
        Status.SKIPPED: counts.skipped,
        Status.PENDING: counts.pending,
    }
    choices: dict[str, Status | None] = {f"All {number(counts.documents)}": None}
    for status, count in by_status.items():
        if count:
            choices[f"{STATUS_WORDS[status]} {number(count)}"] = status
    return choices


def rows(records: Sequence[DocumentRecord]) -> list[dict[str, Any]]:
    """Return one row for each document, for the table."""
    return [
        {
            "Document": record.path,
            "Status": STATUS_WORDS[record.status],
            "Reason": record.reason or " ".join(record.warnings),
            "Chunks": record.chunks,
            "Size": size(record.size),
            "Changed": record.mtime_ns / 1e9,
        }
        for record in records
    ]


def progress_line(job: JobRecord, progress: Progress, waiting: int) -> str:
    """Return ``Reading 212 of 402 · handbook/security.pdf · 40 s left`` with a meter."""
    kind = {"remove_source": "Removing a folder", "remove_documents": "Removing"}.get(job.kind, "")
    phase = progress.phase or kind or ("Waiting" if job.state is JobState.PENDING else "Starting")
    parts = [f"<b>{text(phase)}</b>"]
    if progress.total:
        parts[0] = f"<b>{text(phase)} {number(progress.done)} of {number(progress.total)}</b>"
    if progress.current:
        parts.append(f"<bdi>{name(progress.current[-120:])}</bdi>")
    if remaining := left(progress.seconds_left):
        parts.append(text(remaining))
    if progress.failed:
        parts.append(f"{number(progress.failed)} failed")
    if waiting > 1:
        parts.append(f"{plural(waiting - 1, 'job')} after this")
    return with_meter(parts, phase, progress)


def with_meter(parts: Sequence[str], label: str, progress: Progress) -> str:
    """Return the HTML ``parts`` about some work with a meter below, which ``label`` names."""
    return (
        f'<div class="rk-progress" role="status">{" · ".join(parts)}'
        f"{meter(label, progress.done, progress.total)}</div>"
    )


def last_line(job: JobRecord | None) -> str:
    """Return how the last job ended."""
    if job is None or not job.message:
        return '<div class="rk-progress"></div>'
    style = " rk-error-text" if job.state is JobState.FAILED else ""
    when = f" · {ago(job.finished_at)}" if job.finished_at else ""
    return f'<div class="rk-progress{style}" role="status">{name(job.message)}{when}</div>'


def source_html(source: SourceRecord) -> str:
    """Return a source with its state in words."""
    title = "Dropped files" if source.kind == "uploads" else source.root
    state = _SOURCE_STATES.get(source.state, source.state)
    parts = [plural(source.documents, "document")]
    if source.failed:
        parts.append(f'<span class="rk-error-text">{number(source.failed)} failed</span>')
    parts += [text(state), f"looked at {ago(source.scanned_at)}"]
    reason = f'<p class="rk-notice rk-warn">{text(source.reason)}</p>' if source.reason else ""
    return (
        f'<div class="rk-source"><b><bdi>{name(title)}</bdi></b>'
        f'<p class="rk-soft">{" · ".join(parts)}</p>{reason}</div>'
    )


def loss(source: SourceRecord) -> str:
    """Return what removing a source would lose, in a sentence."""
    documents = plural(source.documents, "document")
    if source.kind == "uploads":
        return (
            f"This deletes the {documents} that were dropped here, from the library and from disk. "
            "It cannot be undone."
        )
    return (
        f"The library forgets {documents} from this folder. The files themselves stay where they "
        "are, and adding the folder again reads them again."
    )
