"""Runs the writer's jobs. Every change of a library's documents is a job."""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ragkit.background.presence import present
from ragkit.catalog.jobs import MOST_ATTEMPTS
from ragkit.catalog.records import DocumentRecord, JobRecord, JobState, SourceRecord
from ragkit.errors import NotFoundError, RagkitError, ServerAwayError, SourceError, unforeseen
from ragkit.formatting import plural
from ragkit.indexing.progress import NOTHING_NEW, JobCancelled, Progress, Reporter
from ragkit.indexing.sync import SyncReport, at_or_below, sync_source
from ragkit.indexing.writer import writer_lock

if TYPE_CHECKING:
    from ragkit.catalog import Catalog
    from ragkit.indexing.writer import Writer

_LEFT_SECONDS = 2

logger = logging.getLogger(__name__)

Handler: TypeAlias = "Callable[[Writer, Mapping[str, Any], Reporter], str]"
"""Does a job with its arguments, reports progress, and returns a sentence on the result.

Raises:
    JobCancelled: the job was stopped.
    RagkitError: the job failed.
"""


@dataclass(frozen=True, slots=True)
class JobResult:
    """How a job ended, with a sentence for people."""

    state: JobState
    message: str


def run_job(
    writer: Writer,
    job: JobRecord,
    watch: Callable[[Progress], None] | None = None,
    stopping: threading.Event | None = None,
) -> JobResult:
    """Run one job and record how it ended.

    Once ``stopping`` is set, the job is put back into the queue at its next step.
    """
    jobs = writer.catalog.jobs
    stopping = stopping or threading.Event()

    def report(progress: Progress) -> bool:
        if watch is not None:
            watch(progress)
        return jobs.report(job.id, asdict(progress)) and not stopping.is_set()

    handler = handler_of(job.kind)
    try:
        if handler is None:
            result = JobResult(JobState.FAILED, f'This version cannot do "{job.kind}".')
        else:
            result = JobResult(JobState.DONE, handler(writer, job.arguments, Reporter(report)))
    except JobCancelled:
        if stopping.is_set():
            jobs.requeue(job.id)
            return JobResult(JobState.PENDING, "It continues when the worker starts again.")
        result = JobResult(JobState.CANCELLED, "Stopped on request. What was done is kept.")
    except RagkitError as error:
        if isinstance(error, ServerAwayError) and job.attempts < MOST_ATTEMPTS:
            raise  # The worker waits for the server and runs the job again.
        result = JobResult(JobState.FAILED, str(error))
    except Exception as error:
        logger.exception("job %d %s stopped unexpectedly", job.id, job.kind)
        result = JobResult(JobState.FAILED, str(unforeseen(error)))
    jobs.finish(job.id, result.state, result.message)
    writer.catalog.mark()
    return result


def work_off(
    writer: Writer, job_id: int, watch: Callable[[Progress], None] | None = None
) -> JobRecord:
    """Hold the lock and run pending jobs up to ``job_id``; return that job afterwards.

    Raises:
        LibraryBusyError: another process writes.
    """
    jobs = writer.catalog.jobs
    lock = writer_lock(writer.paths.lock, "command")
    with lock, present(writer, "command"):
        jobs.requeue_running()
        while (job := jobs.claim(partial(can_do, writer))) is not None:
            run_job(writer.now(), job, watch if job.id == job_id else None)
            if job.id >= job_id:
                break
        if writer.now().embeds_in_background:
            from ragkit.background.vectors import EmbedderMigration

            EmbedderMigration(writer, watch=watch).run_now()
    record = jobs.get(job_id)
    if record is None:
        raise RuntimeError("the job vanished from the catalog")
    return record


def _sync(writer: Writer, arguments: Mapping[str, Any], reporter: Reporter) -> str:
    source_id = arguments.get("source_id")
    collections = writer.catalog.collections
    if source_id is not None:
        sources = [collections.source(int(source_id))]
    else:
        name = arguments.get("collection")
        sources = collections.sources(None if name is None else collections.get(str(name)).id)
    paths, accept_removals = arguments.get("paths"), bool(arguments.get("accept_removals", False))
    if arguments.get("reread"):
        for source in sources:
            _forget_attempts(writer, source, paths)
    return _sync_all(writer, sources, reporter, paths=paths, accept_removals=accept_removals)


def _forget_attempts(writer: Writer, source: SourceRecord, paths: Sequence[str] | None) -> None:
    """Forget when files of a source, or at or below ``paths``, were read: they are read again."""
    files = writer.catalog.files
    chosen = at_or_below(files.known(source.id), paths)
    files.forget_attempt([file.document_id for file in chosen.values()])


def _retry(writer: Writer, arguments: Mapping[str, Any], reporter: Reporter) -> str:
    documents = writer.catalog.documents.get_many(map(int, arguments["document_ids"]))
    writer.catalog.files.forget_attempt(list(documents))
    numbers = sorted({document.source_id for document in documents.values()})
    sources = [writer.catalog.collections.source(number) for number in numbers]
    return _sync_all(writer, sources, reporter)


def _sync_all(
    writer: Writer,
    sources: list[SourceRecord],
    reporter: Reporter,
    *,
    paths: Sequence[str] | None = None,
    accept_removals: bool = False,
) -> str:
    """Sync the sources that this machine reads; leave the others to other machines."""
    started = time.time()
    reports: list[SyncReport] = []
    for source in sources:
        if writer.reads(source) and writer.catalog.jobs.hold(claim_of(source)):
            try:
                reports.append(
                    sync_source(
                        writer, source, reporter, paths=paths, accept_removals=accept_removals
                    )
                )
            finally:
                writer.catalog.jobs.release(claim_of(source))
        else:
            _leave(writer, source, paths, accept_removals)
    if any(report.indexed for report in reports) and writer.catalog.contexts.remembers():
        from ragkit.background.context_jobs import restore_contexts

        restore_contexts(writer, started)
    _save_indexes(writer, sources, reporter)
    left = len(sources) - len(reports)
    note = f" {plural(left, 'folder')} left to other machines." if left else ""
    return f"{summary(reports, whole=paths is None)}{note}" if reports or not left else note.strip()


def _leave(
    writer: Writer, source: SourceRecord, paths: Sequence[str] | None, accept_removals: bool
) -> None:
    """Add a job that syncs a source later, on whichever machine reads it."""
    arguments: dict[str, Any] = {"source_id": source.id}
    if paths is not None:
        arguments["paths"] = list(paths)
    if accept_removals:
        arguments["accept_removals"] = True
    if writer.reads(source):
        # Another machine is syncing it, and may have looked before the files changed.
        arguments["not_before"] = round(time.time()) + _LEFT_SECONDS
    writer.catalog.jobs.add("sync", **arguments)


def claim_of(source: SourceRecord) -> str:
    """Return the name under which a machine claims a source while it reads it."""
    return f"source {source.id}"


def can_do(writer: Writer, job: JobRecord) -> bool:
    """Return whether this machine can read the sources of a job and no other is reading them."""
    if not writer.paths.machine:
        return True
    if job.kind == "remove_uploads":
        return bool(job.arguments["machine"] == writer.paths.machine)
    busy = writer.catalog.jobs.is_held_elsewhere
    sources = sources_of(writer.catalog, job)
    return not sources or any(
        writer.reads(source) and not busy(claim_of(source)) for source in sources
    )


def sources_of(catalog: Catalog, job: JobRecord) -> list[SourceRecord]:
    """Return the sources whose files a job needs; none if any machine can do it."""
    if job.kind == "sync" and "source_id" in job.arguments:
        numbers = {int(job.arguments["source_id"])}
    elif job.kind == "remove_documents":
        documents = catalog.documents.get_many(map(int, job.arguments["document_ids"]))
        numbers = {document.source_id for document in documents.values()}
    else:
        return []
    return list(catalog.collections.sources_of(numbers).values())


def refuse_watched(catalog: Catalog, documents: Collection[DocumentRecord]) -> None:
    """Refuse to remove documents of watched folders: the next sync would add them again.

    Raises:
        SourceError: there is such a document among them.
    """
    sources = catalog.collections.sources_of({document.source_id for document in documents})
    watched = [d.path for d in documents if sources[d.source_id].kind != "uploads"]
    if watched:
        others = f", and {len(watched) - 1:,} others are" if len(watched) > 1 else ""
        raise SourceError(
            f"{watched[0]} is in a watched folder{others}.",
            "Delete the file, or list it in a .ragkitignore file in the folder.",
        )


def _remove_documents(writer: Writer, arguments: Mapping[str, Any], reporter: Reporter) -> str:
    """Delete uploaded files. Documents of a watched folder stay as long as their files do."""
    documents = writer.catalog.documents.get_many(map(int, arguments["document_ids"]))
    homes = {document.source_id for document in documents.values()}
    sources = writer.catalog.collections.sources_of(homes)
    uploaded = [d for d in documents.values() if sources[d.source_id].kind == "uploads"]
    if not uploaded:
        refuse_watched(writer.catalog, documents.values())
    removable = [d for d in uploaded if writer.reads(sources[d.source_id])]
    elsewhere = [d.id for d in uploaded if not writer.reads(sources[d.source_id])]
    if elsewhere:
        writer.catalog.jobs.add("remove_documents", document_ids=elsewhere)
    for document in removable:
        Path(document.root, document.path).unlink(missing_ok=True)
    writer.catalog.documents.remove([document.id for document in removable])
    _save_indexes(writer, [sources[d.source_id] for d in removable], reporter)
    kept = len(documents) - len(uploaded)
    note = f" {kept} kept: delete or ignore the files in their watched folder." if kept else ""
    return f"Removed {plural(len(removable), 'document')}.{note}"


def _remove_source(writer: Writer, arguments: Mapping[str, Any], reporter: Reporter) -> str:
    source = writer.catalog.collections.source(int(arguments["source_id"]))
    if not writer.catalog.jobs.hold(claim_of(source)):
        raise RagkitError(
            f"{source.root} is being read by another machine.", "Try again when it has finished."
        )
    try:
        files = writer.catalog.files.known(source.id)
        reporter.start("Removing", len(files))
        writer.catalog.documents.remove([file.document_id for file in files.values()])
        if source.kind == "uploads" and writer.reads(source):
            shutil.rmtree(source.root, ignore_errors=True)
        writer.catalog.collections.delete_source(source.id)
        if source.kind == "uploads" and not writer.reads(source):
            whose = {"root": source.root, "machine": source.machine}
            writer.catalog.jobs.add("remove_uploads", **whose)
    finally:
        writer.catalog.jobs.release(claim_of(source))
    _save_indexes(writer, [source], reporter)
    return f"Removed {source.root} with {plural(len(files), 'document')}."


def _remove_uploads(writer: Writer, arguments: Mapping[str, Any], reporter: Reporter) -> str:  # noqa: ARG001
    """Delete the files of removed uploads, unless others were uploaded since."""
    root = str(arguments["root"])
    if Path(root).parent != writer.paths.uploads or writer.catalog.collections.has_sources(root):
        return "Uploaded files were kept."
    shutil.rmtree(root, ignore_errors=True)
    return "Deleted the files of uploads that were removed."


def _remove_collection(writer: Writer, arguments: Mapping[str, Any], reporter: Reporter) -> str:
    collection = writer.catalog.collections.get(str(arguments["collection"]))
    for source in writer.catalog.collections.sources(collection.id):
        _remove_source(writer, {"source_id": source.id}, reporter)
    writer.catalog.collections.delete(collection.id)
    writer.catalog.uploads.clear(collection.id)
    for folder in (
        writer.paths.collection_indexes(collection.id),
        writer.paths.collection_uploads(collection.id),
    ):
        shutil.rmtree(folder, ignore_errors=True)
    return f'Deleted the collection "{collection.name}".'


def _save_indexes(writer: Writer, sources: list[SourceRecord], reporter: Reporter) -> None:
    for collection_id in sorted({source.collection_id for source in sources}):
        try:
            collection = writer.catalog.collections.of_id(collection_id)
        except NotFoundError:
            continue
        if writer.is_saved(collection):
            continue
        reporter.start("Saving the index", 1)
        writer.indexes.save(collection)


_HANDLERS: Mapping[str, Handler] = {
    "sync": _sync,
    "retry": _retry,
    "remove_documents": _remove_documents,
    "remove_source": _remove_source,
    "remove_uploads": _remove_uploads,
    "remove_collection": _remove_collection,
}


def handler_of(kind: str) -> Handler | None:
    """Return the handler of a kind of job, or ``None``; rarer ones are imported when needed."""
    if kind in _HANDLERS:
        return _HANDLERS[kind]
    from ragkit.background import context_jobs
    from ragkit.health import recovery, repair

    rarer: dict[str, Handler] = {
        **context_jobs.HANDLERS,
        **repair.HANDLERS,
        **recovery.HANDLERS,
    }
    return rarer.get(kind)


def summary(reports: list[SyncReport], *, whole: bool = True) -> str:
    """Summarise several syncs in a sentence; ``whole``: they looked at all files."""
    counts = [
        (sum(report.indexed for report in reports), "indexed"),
        (sum(len(report.removed) for report in reports), "removed"),
        (sum(report.skipped for report in reports), "skipped"),
        (sum(report.failed for report in reports), "failed"),
        (sum(len(report.moved) for report in reports), "moved"),
        (sum(report.unsettled for report in reports), "still being written"),
    ]
    done = ", ".join(f"{count:,} {word}" for count, word in counts if count)
    unchanged = sum(report.unchanged + report.touched for report in reports)
    notes = [note for report in reports if (note := report.offline or report.held)]
    text = f"{done or NOTHING_NEW}."
    if unchanged:
        text = f"{done or NOTHING_NEW}, {unchanged:,} unchanged."
    elif whole and not done and not notes:
        text = f"{NOTHING_NEW}: no files found."
    return " ".join([text, *notes])
