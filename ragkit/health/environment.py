"""Checks of a library's environment: worker, jobs, folders, disk space, log."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path

import psutil

from ragkit.catalog.background_state import read_embedder_state, read_recognition_state
from ragkit.catalog.model_choice import rerank_model_name
from ragkit.catalog.records import JobState, SourceRecord, WorkerRecord
from ragkit.errors import ModelFolderError, WebError
from ragkit.formatting import byte_size, plural
from ragkit.health.findings import Depth, Finding, Parts
from ragkit.indexing.writer import lock_holder, lock_is_held
from ragkit.models.base import FOLDER
from ragkit.models.model_folder import INSTALL, find_folder, is_installed
from ragkit.reading.tesseract import Tesseract
from ragkit.web.addresses import SERVICES, address_of

_SLOW_SECONDS = 30.0
"""Without a heartbeat for this long, a worker of this machine counts as unresponsive."""

_GIGABYTE = 1_000_000_000
_LOG_TAIL_BYTES = 64_000
_LOG_SECONDS = 24 * 3600
_MOST_SOURCES, _MOST_REASONS = 50, 5
"""If there are more, only those in trouble are named."""

_REPEATABLE = ("sync", "compact", "rebuild_indexes", "reread")


def _worker(parts: Parts) -> Iterator[Finding]:
    record = parts.catalog.jobs.worker()
    waiting = len(parts.catalog.jobs.open())
    name = "worker"
    if not lock_is_held(parts.paths.lock):
        if parts.paths.machine and record is not None and record.works:
            text = (
                "No worker runs here, but one with this folder's id was heard of "
                f"{record.silent:.0f} seconds ago: {record.notes.get('host')}, "
                f"{record.notes.get('folder')}."
            )
            fix = f"if one folder is a copy of the other, delete {parts.paths.server} in the copy"
            yield Finding(name, False, text, fix, waiting)
        elif record is not None and record.state != "stopped":
            text = f"The worker (process {record.pid}) stopped unexpectedly."
            yield Finding(name, False, text, "worker", waiting)
        elif waiting:
            text = f"{plural(waiting, 'job')} waiting, but the worker is not running."
            yield Finding(name, False, text, "worker", waiting)
        else:
            yield Finding(
                name, True, "The worker is not running: changes in folders are not seen.", "worker"
            )
        return
    holder = lock_holder(parts.paths.lock)
    if record is None or (holder is not None and holder.pid != record.pid):
        who = f"The {holder.role} (process {holder.pid})" if holder else "Another process"
        yield Finding(name, True, f"{who} is writing.", count=waiting)
        return
    if not _is_alive(record) or record.silent > _SLOW_SECONDS:
        text = (
            f"The worker (process {record.pid}) has not answered for {record.silent:.0f} seconds."
        )
        yield Finding(name, False, text, f"stop process {record.pid}, then start it again", waiting)
        return
    text = f"The worker (process {record.pid}) is {record.state}."
    yield Finding(name, True, text, count=waiting)


def _machines(parts: Parts) -> Iterator[Finding]:
    """Report the other machines that work on a library on a server."""
    if not parts.paths.machine:
        return
    for other in parts.catalog.jobs.others():
        who = f"{other.notes.get('host')}, {other.notes.get('folder')}"
        if other.works:
            yield Finding("machines", True, f"Another worker is {other.state}: {who}.")
        elif other.state != "stopped":
            text = f"Another worker has been silent for {other.silent:.0f} seconds: {who}."
            yield Finding("machines", False, text, "start it again there, if it is needed")
    yield Finding("machines", True, f"The library lies on {parts.catalog.connections.server}.")


def _is_alive(record: WorkerRecord) -> bool:
    try:
        return abs(psutil.Process(record.pid).create_time() - record.started_at) < 5
    except psutil.Error:
        return False


def _jobs(parts: Parts) -> Iterator[Finding]:
    recent = parts.catalog.jobs.recent(200)
    ended = (JobState.DONE, JobState.FAILED)
    last = {job.kind: job for job in reversed(recent) if job.state in ended}
    failed = [job for job in last.values() if job.state is JobState.FAILED]
    waiting = sum(job.state in (JobState.PENDING, JobState.RUNNING) for job in recent)
    for job in failed:
        again = job.kind if job.kind in _REPEATABLE else ""
        yield Finding("jobs", False, f'The last "{job.kind}" failed: {job.message}', again, 1)
    if not failed:
        queue = f"{plural(waiting, 'job')} running or waiting."
        text = queue if waiting else "No jobs are waiting, and none failed."
        yield Finding("jobs", True, text, count=waiting)


def _sources(parts: Parts) -> Iterator[Finding]:
    workers = [
        worker
        for worker in parts.catalog.jobs.workers()
        if worker.machine == parts.paths.machine or worker.works
    ]
    watched = {
        number: how for worker in reversed(workers) for number, how in worker.watched().items()
    }
    collections, machine = parts.catalog.collections, parts.paths.machine
    sources = collections.sources(parts.collection_id, limit=_MOST_SOURCES + 1)
    more = others = 0
    if len(sources) > _MOST_SOURCES:
        remarked = [number for number, (mode, _) in watched.items() if mode == "offline"]
        sources, troubled, others = collections.troubled_sources(
            parts.collection_id, machine, remarked=remarked, seen=watched, limit=_MOST_SOURCES
        )
        more = troubled - len(sources)
    for source in sources:
        if source.id not in watched and source.machine != machine:
            yield _unseen(source, parts.catalog.jobs.host_of(source.machine))
        else:
            yield from _source(source, *watched.get(source.id, ("", "")))
    if more:
        text = f"{plural(more, 'more folder')} offline, or not visible to any worker."
        yield Finding("sources", False, text, "sync", more)
    if others:
        polled = Counter(reason for mode, reason in watched.values() if mode == "polling")
        for reason, count in polled.most_common(_MOST_REASONS):
            yield Finding("sources", True, f"{plural(count, 'folder')}: {reason}")
        yield Finding("sources", True, f"{plural(others, 'other folder')} without problems.")
    elif not sources:
        yield Finding("sources", True, "No folders yet.")


def _unseen(source: SourceRecord, host: str) -> Finding:
    """Report a source that no running worker of a library on a server can see."""
    if source.kind == "uploads":
        text = (
            f"Files uploaded on {host}: they stay searchable while its worker is not running; "
            "changes to them wait for it."
        )
        return Finding("sources", True, text, count=source.documents)
    text = f"{source.root}: no running worker reads it, so changes are not noticed."
    text += f" It belongs to {host}." if host else ""
    fix = "start the worker there, or add the folder on another machine"
    return Finding("sources", False, text, fix, source.documents)


def _source(source: SourceRecord, mode: str, why: str) -> Iterator[Finding]:
    """Report a source that a worker keeps up to date; ``why`` says why it is not watched."""
    name = "Uploads" if source.kind == "uploads" else source.root
    if source.state == "offline":
        named = source.root in source.reason
        text = source.reason if named else f"{name} is offline: {source.reason}"
        yield Finding("sources", False, text, "sync", source.documents)
        return
    # Whether it is there is what a sync found; the watcher knows of its return a while later.
    notes = [note for note in (source.reason, "" if mode == "offline" else why) if note]
    if notes:
        text = f"{name}: {' '.join(notes)}"
    else:
        how = {"watching": ", watched", "polling": ", checked regularly"}
        verb = "are" if source.kind == "uploads" else "is"
        text = f"{name} {verb} {source.state}{how.get(mode, '')}."
    fix = "sync" if source.reason else ""
    yield Finding("sources", not source.reason, text, fix, source.documents)


def _documents(parts: Parts) -> Iterator[Finding]:
    counts = parts.catalog.documents.counts(parts.collection_id)
    text = (
        f"{counts.indexed:,} indexed, {counts.pending:,} pending, {counts.skipped:,} skipped, "
        f"{counts.failed:,} failed."
    )
    if outdated := parts.catalog.retries.outdated(parts.collection_id):
        text += f" {plural(outdated, 'indexed file')} unreadable now; search uses the last version."
    failed = counts.failed + outdated
    yield Finding("documents", True, text, "retry" if failed else "", failed)


def _scans(parts: Parts) -> Iterator[Finding]:
    """Report what becomes of scanned PDFs."""
    writing = lock_is_held(parts.paths.lock)
    if (state := read_recognition_state(parts.catalog, writing=writing)).sentence:
        yield Finding("scans", True, state.sentence, count=state.waiting)
        return
    count = parts.catalog.files.count_scanned(parts.collection_id)
    if not count:
        yield Finding("scans", True, "No scanned PDF waits for its text to be recognised.")
        return
    text = f"{plural(count, 'PDF')} without text: all pages are pictures."
    fix, wanted = "", parts.settings.reading.ocr_languages
    if not parts.settings.reading.ocr:
        fix = "set reading.ocr to have their text recognised"
    elif (tesseract := Tesseract.find()) is None:
        fix = "install Tesseract: ragkit then recognises their text in the background"
    elif not tesseract.chosen(wanted):
        fix = f"install Tesseract's data for the languages {', '.join(wanted)}"
    yield Finding("scans", True, text, fix, count)


def _contexts(parts: Parts) -> Iterator[Finding]:
    contexts = parts.catalog.contexts
    failed = contexts.count_failed(parts.collection_id)
    if not failed:
        yield Finding("contexts", True, "No contexts failed.")
        return
    chunks = contexts.counts(parts.collection_id).chunks
    text = f"{plural(failed, 'context')} of {plural(chunks, 'chunk')} failed"
    error = contexts.failures(parts.collection_id, limit=1)[0].error
    text = f"{text}. The last error: {error}" if error else f"{text}."
    yield Finding("contexts", True, text, "retry_contexts", failed)


def _models(parts: Parts) -> Iterator[Finding]:
    """Report whether the models in use that are in folders exist, without reading them."""
    used = {rerank_model_name(parts.catalog, parts.settings.models): "reranks"}
    choice = parts.catalog.embedders.choice()
    embedders = (choice.active.name, choice.target) if choice else ()
    in_folder = any(name.startswith(FOLDER) for name in embedders)
    if in_folder and not read_embedder_state(parts.catalog).message:
        # Otherwise documents wait for it, which another finding reports.
        used |= dict.fromkeys(embedders, "embeds")
    for name, does in used.items():
        if not name.startswith(FOLDER):
            continue
        try:
            folder = find_folder(name)
        except ModelFolderError as error:
            text = f"The model that {does} cannot be used. {error.message}"
            yield Finding("models", False, text, error.cure)
            continue
        if folder.static or is_installed():
            yield Finding("models", True, f"The model that {does} is in its folder, {folder.path}.")
        else:
            text = f"The model that {does} needs onnxruntime, which is not installed."
            yield Finding("models", False, text, INSTALL)


def _disk(parts: Parts) -> Iterator[Finding]:
    free = shutil.disk_usage(parts.paths.root).free
    file = parts.catalog.connections.file
    # Each index is a folder, and measuring 50,000 of them takes seconds.
    glance = file if parts.depth is Depth.GLANCE else None
    size = glance.stat().st_size if glance else folder_size(parts.paths.root)
    text = (
        f"{byte_size(free)} free; the {'catalog' if glance else 'library'} takes {byte_size(size)}."
    )
    short = free < max(_GIGABYTE, 2 * size)
    if short:
        text += " Compacting and exporting may need more space."
    yield Finding("disk", not short, text, "free some space, or compact" if short else "", free)


def _privacy(parts: Parts) -> Iterator[Finding]:
    opened = parts.paths.open_to_others()
    if opened:
        text = f"Other users of this machine can open {plural(len(opened), 'file')} of the library."
        yield Finding("privacy", False, text, "make_private", len(opened))
    else:
        yield Finding(
            "privacy", True, "No other user of this machine can open the library's files."
        )


def _web(parts: Parts) -> Iterator[Finding]:
    settings = parts.settings.web
    if not settings.engine:
        yield Finding("web", True, "Web search is off.")
        return
    try:
        host = address_of(settings).shown
    except WebError as error:
        yield Finding("web", False, error.message, error.cure)
        return
    text = f"Web search is on: what you send goes to {host} ({SERVICES[settings.engine]})."
    yield Finding("web", True, text)


def folder_size(folder: Path) -> int:
    """Return the size of the files below a folder, in bytes."""
    total = 0
    for path in folder.rglob("*"):
        try:
            status = path.lstat()
        except OSError:
            continue
        total += status.st_size if not path.is_dir() else 0
    return total


def _log(parts: Parts) -> Iterator[Finding]:
    since = time.time() - _LOG_SECONDS
    # The worker, the server and the commands have a log each.
    errors = [
        (error, file)
        for file in parts.paths.logs.glob("*.log")
        for error in last_errors(file, since)
    ]
    if errors:
        last, file = max(errors)
        text = f"{plural(len(errors), 'error')} in the logs in the last day: {last}"
        yield Finding("log", False, text, f"read {file}", len(errors))
    else:
        yield Finding("log", True, "No errors in the logs in the last day.")


def last_errors(file: Path, since: float) -> list[str]:
    """Return the error lines at the end of a log since a time in seconds since the epoch."""
    try:
        with file.open("rb") as stream:
            stream.seek(max(0, file.stat().st_size - _LOG_TAIL_BYTES))
            lines = stream.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    errors = []
    for line in lines:
        stamp, _, message = line.partition(" ERROR ")
        if not message:
            continue
        try:
            when = datetime.strptime(stamp, "%Y-%m-%d %H:%M:%S,%f").astimezone().timestamp()
        except ValueError:
            continue
        if when >= since:
            errors.append(line[:500])
    return errors


ENVIRONMENT_CHECKS: Mapping[str, Callable[[Parts], Iterator[Finding]]] = {
    "worker": _worker,
    "machines": _machines,
    "jobs": _jobs,
    "sources": _sources,
    "documents": _documents,
    "scans": _scans,
    "contexts": _contexts,
    "models": _models,
    "disk": _disk,
    "privacy": _privacy,
    "web": _web,
    "log": _log,
}
"""The checks of the environment by the name of their findings."""
