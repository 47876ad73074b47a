"""Sources, documents and jobs in words and HTML. Pure functions."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pages.parts.common import state
from pages.parts.common.markup import (
    action,
    ago,
    attributes,
    document_link,
    figure,
    meter,
    name,
    number,
    path,
    text,
)
from ragkit.catalog.records import Counts, DocumentRecord, JobRecord, JobState, SourceRecord
from ragkit.formatting import byte_size, local_time, plural
from ragkit.indexing.progress import Progress
from ragkit.types import Status

PAGE = 100
"""Documents on one page of the table."""

STATUS_WORDS = {
    Status.INDEXED: "Indexed",
    Status.PENDING: "Waiting",
    Status.SKIPPED: "Skipped",
    Status.FAILED: "Failed",
}
_JOB_PHASES = {
    "remove_source": "Removing a folder",
    "remove_documents": "Removing",
    "remove_uploads": "Removing",
    "remove_collection": "Deleting a collection",
}
_SOURCE_STATES = {
    "new": "",
    "ready": "up to date",
    "held": "needs your decision",
    "offline": "not connected",
}


def status_choices(counts: Counts) -> dict[str, str]:
    """Return the labels of the status filter, with their counts; those of none are left out."""
    by_status = {
        Status.INDEXED: counts.indexed,
        Status.FAILED: counts.failed,
        Status.SKIPPED: counts.skipped,
        Status.PENDING: counts.pending,
    }
    every = {state.EVERY_STATUS: f"All {number(counts.documents)}"}
    return every | {
        status.value: f"{STATUS_WORDS[status]} {number(count)}"
        for status, count in by_status.items()
        if count
    }


def documents_table(records: Sequence[DocumentRecord], removable: Collection[int]) -> str:
    """Return documents with their status, the reason in full, and what can be done to each.

    Those of the sources ``removable`` can be removed; ``data-path`` names the document of a row.
    """
    rows = "".join(_row(record, record.source_id in removable) for record in records)
    if not rows:
        return '<p class="rk-soft">No document has such a name.</p>'
    return (
        '<table class="rk-docs"><thead><tr><th>Document</th><th>Status</th>'
        '<th class="rk-count">Chunks</th><th class="rk-count">Size</th><th>Changed</th>'
        '<th><span class="rk-hidden">Actions</span></th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _row(record: DocumentRecord, removable: bool) -> str:
    title = f"<bdi>{path(record.path)}</bdi>"
    if record.status is Status.INDEXED:
        title = document_link(record.id, 0, "", title)
    problem = record.reason or " ".join(record.warnings)
    reason = f'<p class="rk-soft">{name(problem)}</p>' if problem else ""
    again = "Retry" if record.status is Status.FAILED else "Re-index"
    acts = ""
    if record.status is not Status.PENDING:
        acts = action("reindex", again, data_id=record.id, aria_label=f"{again} {record.path}")
    if removable:
        acts += action("remove", "Remove …", data_id=record.id, aria_label=f"Remove {record.path}")
    changed = local_time(record.mtime_ns / 1e9)
    return (
        f'<tr class="rk-{record.status}"{attributes(data_path=record.path)}><td>{title}{reason}'
        f"</td><td>{STATUS_WORDS[record.status]}</td>"
        f'<td class="rk-count">{number(record.chunks)}<span> '
        f"{'chunk' if record.chunks == 1 else 'chunks'}</span></td>"
        f'<td class="rk-count">{byte_size(record.size)}</td>'
        f'<td title="{changed}">{changed[:10]}</td><td class="rk-acts">{acts}</td></tr>'
    )


def progress_line(job: JobRecord, progress: Progress, waiting: int) -> str:
    """Return ``Reading 212 of 402 · about 40 s left`` with the file at hand and a meter."""
    kind = _JOB_PHASES.get(job.kind, "")
    phase = progress.phase or kind or ("Waiting" if job.state is JobState.PENDING else "Starting")
    far = figure(job.id, progress.done, progress.total, progress.seconds_left)
    parts = [f"<b>{text(phase)} {far}</b>" if far else f"<b>{text(phase)} …</b>"]
    if progress.failed:
        parts.append(f"{number(progress.failed)} failed")
    if waiting > 1:
        parts.append(f"{plural(waiting - 1, 'job')} after this")
    return with_meter(parts, phase, progress, progress.current)


def with_meter(parts: Sequence[str], label: str, progress: Progress, current: str = "") -> str:
    """Return the HTML ``parts`` about some work with a meter below, which ``label`` names.

    ``current`` is the file at hand, on a line of its own that is cut rather than wrapped.
    """
    file = f'<p class="rk-current"><bdi>{name(current)}</bdi></p>' if current else ""
    return (
        f'<div class="rk-progress" role="status">{" · ".join(parts)}'
        f"{meter(label, progress.done, progress.total)}{file}</div>"
    )


def last_line(job: JobRecord | None, checked_at: float | None = None, recognised: str = "") -> str:
    """Return how the last job of a collection ended, or when its folders were last checked.

    ``recognised`` says whose text is being recognised, if any is; that is newer.
    """
    if recognised:
        return f'<div class="rk-progress" role="status">{name(recognised)}</div>'
    if job is not None:
        style = " rk-error-text" if job.state is JobState.FAILED else ""
        when = f" · {ago(job.finished_at)}" if job.finished_at else ""
        return f'<div class="rk-progress{style}" role="status">{name(job.message)}{when}</div>'
    sentence = checked(checked_at).capitalize() if checked_at else ""
    return f'<div class="rk-progress" role="status">{text(sentence)}</div>'


def checked(at: float | None) -> str:
    """Return when a folder was last compared with the library."""
    return "not checked yet" if at is None else f"last checked {ago(at)}"


def source_html(source: SourceRecord, elsewhere: str = "") -> str:
    """Return a source with its state in words, and the other machine that alone reads it."""
    title = "Uploads" if source.kind == "uploads" else path(source.root)
    state = _SOURCE_STATES.get(source.state, source.state)
    parts = [plural(source.documents, "document")]
    if source.failed:
        parts.append(f'<span class="rk-error-text">{number(source.failed)} failed</span>')
    parts += [text(state)] if state else []
    parts += [f"on {name(elsewhere)}"] if elsewhere else []
    parts.append(checked(source.scanned_at))
    reason = f'<p class="rk-notice rk-warn">{text(source.reason)}</p>' if source.reason else ""
    return (
        f'<div class="rk-source"><b><bdi>{title}</bdi></b>'
        f'<p class="rk-soft">{" · ".join(parts)}</p>{reason}</div>'
    )


def loss(source: SourceRecord) -> str:
    """Return a sentence on what removing a source would lose."""
    documents = plural(source.documents, "document")
    if source.kind == "uploads":
        return (
            f"{documents} that {'was' if source.documents == 1 else 'were'} uploaded here will be "
            "deleted from the library and from disk. This cannot be undone."
        )
    return (
        f"{documents} will be removed from the index. The files stay where they are; add the "
        "folder again to index them again."
    )
