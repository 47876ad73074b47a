"""What the Library page says of sources, documents and jobs. Pure functions."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from pages.parts.common.markup import meter, name, number, plural, text
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
    """The labels of the status filter with their counts; those without any are left out."""
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
    """One row a document, for the table."""
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


def size(count: int) -> str:
    """Bytes as a person would say them."""
    if count < 1000:
        return f"{count} B"
    for unit in ("kB", "MB", "GB"):
        count_ = count / 1000
        if count_ < 1000 or unit == "GB":
            return f"{count_:.0f} {unit}" if count_ >= 10 else f"{count_:.1f} {unit}"
        count = int(count_)
    return ""


def ago(then: float | None, now: float | None = None) -> str:
    """``4 minutes ago``."""
    if then is None:
        return "never"
    seconds = (time.time() if now is None else now) - then
    for most, one, word in ((90, 1, ""), (5400, 60, "minute"), (129600, 3600, "hour")):
        if seconds < most:
            return "just now" if not word else f"{plural(max(1, round(seconds / one)), word)} ago"
    return f"{plural(round(seconds / 86400), 'day')} ago"


def moment(at: float) -> str:
    """A time of this machine, to the minute; it stays the same, unlike ``ago``."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def left(seconds: float | None) -> str:
    """``40 s left``; empty while nobody knows."""
    if seconds is None:
        return ""
    if seconds < 90:
        return f"{max(1, round(seconds))} s left"
    return f"{round(seconds / 60)} min left"


def progress_line(job: JobRecord, progress: Progress, waiting: int) -> str:
    """``Reading 212 of 402 · handbook/security.pdf · 40 s left`` with a meter."""
    what = {"remove_source": "Removing a folder", "remove_documents": "Removing"}.get(job.kind, "")
    phase = progress.phase or what or ("Waiting" if job.state is JobState.PENDING else "Starting")
    parts = [f"<b>{text(phase)}</b>"]
    if progress.total:
        parts[0] = f"<b>{text(phase)} {number(progress.done)} of {number(progress.total)}</b>"
    if progress.current:
        parts.append(f"<bdi>{name(progress.current[-120:])}</bdi>")
    parts += [text(one) for one in (left(progress.seconds_left),) if one]
    if progress.failed:
        parts.append(f"{number(progress.failed)} failed")
    if waiting > 1:
        parts.append(f"{plural(waiting - 1, 'job')} after this")
    return with_meter(parts, phase, progress)


def with_meter(parts: Sequence[str], what: str, progress: Progress) -> str:
    """What is said of some work, in HTML, with a meter below; ``what`` names the meter."""
    return (
        f'<div class="rk-progress" role="status">{" · ".join(parts)}'
        f"{meter(what, progress.done, progress.total)}</div>"
    )


def last_line(job: JobRecord | None) -> str:
    """How the last job ended."""
    if job is None or not job.message:
        return '<div class="rk-progress"></div>'
    style = " rk-error-text" if job.state is JobState.FAILED else ""
    when = f" · {ago(job.finished_at)}" if job.finished_at else ""
    return f'<div class="rk-progress{style}" role="status">{name(job.message)}{when}</div>'


def source_html(source: SourceRecord) -> str:
    """A source with its state in words."""
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
    """What removing a source would lose, in a sentence."""
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
