"""The worker: the one process that writes to a library's folder, one job after another.

A library on a server has one worker for each machine's folder. Each claims jobs, and reads the
sources that only it can see.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ragkit.background import presence
from ragkit.background.job_handlers import can_do, run_job
from ragkit.background.parent import process_to_end_with
from ragkit.catalog.copies import backup_is_due
from ragkit.catalog.records import JobRecord, JobState, watched_notes
from ragkit.errors import LibraryBusyError, LibraryError, ServerAwayError
from ragkit.indexing.writer import is_seen, lock_is_held, writer_lock
from ragkit.types import Version

if TYPE_CHECKING:
    from ragkit.background.graphs import GraphBuilder
    from ragkit.indexing.writer import Writer
    from ragkit.sources.folders import Change
    from ragkit.sources.watch import FolderWatcher

logger = logging.getLogger(__name__)

_IDLE_SECONDS = 0.5
_WAIT_SECONDS = 1.0
_RETRY_SECONDS = 10.0
_SAVE_SECONDS = 15.0
_FOLLOW_SHARE = 100
"""Reading the list of folders takes at most 1/100 of a core."""

_LONGEST_FAREWELL = 2.0
"""Seconds to wait for a loop at the end; a model may take minutes, and is asked again later."""


@dataclass
class _Due:
    """The monotonic time at which something is due."""

    at: float = 0.0

    def is_now(self) -> bool:
        """Return whether it is due now."""
        return time.monotonic() >= self.at

    def again_in(self, seconds: float) -> None:
        """Make it due again after some seconds."""
        self.at = time.monotonic() + seconds


@dataclass
class Worker:
    """Runs the jobs of one library, and watches its folders, until ``stopping`` is set."""

    writer: Writer
    role: str = "worker"
    stopping: threading.Event = field(default_factory=threading.Event)
    _state: str = "starting"
    _graphs: GraphBuilder | None = None
    _watcher: FolderWatcher | None = None
    _listed: tuple[tuple[int, int], dict[int, str]] = ((0, 0), {})
    _saved: Version = field(default=Version(0))
    _catalog_file: tuple[int, int] | None = None

    def run(self, *, watch: bool = True, wait: bool = False) -> None:
        """Hold the writer's lock and work until ``stopping`` is set.

        ``wait``: wait for another process that writes, instead of raising an error.

        Raises:
            LibraryBusyError: another process writes already.
            LibraryError: the library was moved or deleted meanwhile.
        """
        lock = self.writer.paths.lock
        self._catalog_file = self._place()
        while self._is_there() and not self.stopping.is_set():
            if wait and lock_is_held(lock):
                self.stopping.wait(_WAIT_SECONDS)
                continue
            try:
                self._hold_the_lock(watch)
            except LibraryBusyError:
                if not wait:
                    raise
        if not self._is_there():
            raise LibraryError(
                f"The library in {self.writer.paths.root} was moved or deleted; the worker ended.",
                "Start the worker again where the library is now.",
            )

    def _hold_the_lock(self, watch: bool) -> None:
        ends_with = process_to_end_with()
        lock = self.writer.paths.lock
        with writer_lock(lock, self.role, ends_with=ends_with):
            presence.begin(self.writer, self.role)
            self.writer.catalog.jobs.requeue_running()
            heartbeat = _start("ragkit-heartbeat", self._send_heartbeats)
            loops = self._start_loops()
            try:
                if watch:
                    self._watch_and_work()
                else:
                    self._work(lambda: self.stopping.wait(_IDLE_SECONDS))
            finally:
                self.stopping.set()
                for loop in loops:
                    loop.join(timeout=_LONGEST_FAREWELL)
                heartbeat.join(timeout=5)
                if self._is_there():
                    presence.report(self.writer, self.role, "stopped", {})

    def _start_loops(self) -> list[threading.Thread]:
        """Start the loops that work beside the jobs: on contexts, vectors, graphs and scans."""
        from ragkit.background.contexts import write_contexts
        from ragkit.background.graphs import GraphBuilder
        from ragkit.background.ocr import TextRecognition
        from ragkit.background.vectors import EmbedderMigration

        contexts = partial(write_contexts, self.writer, self.stopping, self._is_working)
        self._graphs = GraphBuilder(self.writer, self.stopping)
        vectors = EmbedderMigration(self.writer, self._is_working, self.stopping)
        recognition = TextRecognition(self.writer, self._is_working, self.stopping)
        return [
            _start("ragkit-contexts", contexts),
            _start("ragkit-vectors", vectors.run),
            _start("ragkit-graphs", self._graphs.run),
            _start("ragkit-ocr", recognition.run),
        ]

    def _is_working(self) -> bool:
        return self._state == "working"

    def _watch_and_work(self) -> None:
        from ragkit.indexing.ingest import import_pipeline
        from ragkit.sources.watch import FolderWatcher

        settings = self.writer.settings.sources
        _start("ragkit-import", import_pipeline)
        with FolderWatcher(settings.debounce_seconds, gitignore=settings.gitignore) as watcher:
            self._watcher, self._listed = watcher, ((0, 0), {})
            listing, scans, retries, saves = _Due(), _Due(), _Due(), _Due()
            saves.again_in(_SAVE_SECONDS)

            def wait() -> None:
                self._follow(watcher, listing)
                if scans.is_now():
                    self._add_scans()
                    self._add_backup()
                    scans.again_in(settings.rescan_minutes * 60)
                    return
                if retries.is_now():
                    self._retry_failed()
                    retries.again_in(_RETRY_SECONDS)
                if self.writer.paths.machine and saves.is_now():
                    self._save_what_others_wrote()
                    saves.again_in(_SAVE_SECONDS)
                for change in watcher.changes(_IDLE_SECONDS):
                    self._add_job(change)

            self._work(wait)

    def _add_scans(self) -> None:
        """Add scans of the folders that this machine reads and no other has just scanned."""
        collections, jobs = self.writer.catalog.collections, self.writer.catalog.jobs
        if not self.writer.paths.machine:
            jobs.add("sync")
            return
        recent = time.time() - self.writer.settings.sources.rescan_minutes * 60
        for source in collections.sources():
            by_another = not source.machine and (source.scanned_at or 0) > recent
            if not by_another and self.writer.reads(source):
                jobs.add("sync", source_id=source.id)

    def _add_backup(self) -> None:
        """Add a backup of the catalog once a day, unless it is empty."""
        if self.writer.paths.machine:
            return  # The server is backed up where it runs.
        if self.writer.catalog.documents.any() and backup_is_due(self.writer.paths):
            self.writer.catalog.jobs.add("backup")

    def _save_what_others_wrote(self) -> None:
        """Save indexes of collections changed by other machines, only to speed up searches."""
        for collection in self.writer.catalog.collections.changed_since(self._saved):
            if self.stopping.is_set():
                return
            self._saved = collection.version
            writer = self.writer.now()
            if not writer.is_saved(collection):
                writer.indexes.save(collection)

    def _work(self, wait: Callable[[], object]) -> None:
        """Run jobs while there are any, or else wait, which may add new ones.

        If the server is unavailable, wait for it; jobs that ran here then are queued again.
        """
        lost = False
        while not self.stopping.is_set():
            try:
                if lost:
                    self.writer.catalog.jobs.requeue_running()
                lost = False
                self._work_once(wait)
            except ServerAwayError as error:
                logger.warning("waiting for the server: %s", error)
                lost = True
                self.stopping.wait(_WAIT_SECONDS)

    def _work_once(self, wait: Callable[[], object]) -> None:
        jobs = self.writer.catalog.jobs
        if self.writer.paths.machine:
            jobs.requeue_silent()
        job = jobs.claim(partial(can_do, self.writer))
        if job is None:
            self._state = "idle"
            wait()
        else:
            self._state = "working"
            self._run(job)

    def _follow(self, watcher: FolderWatcher, listing: _Due) -> None:
        """Watch the folders that the catalog lists now.

        A new or removed source is noticed at once, a changed path when ``listing`` is due.
        """
        collections, machine = self.writer.catalog.collections, self.writer.paths.machine
        last = collections.last_source()
        if last == self._listed[0] and not listing.is_now():
            return
        started = time.thread_time()
        listed = collections.roots(machine)
        roots = {
            number: root
            for number, (root, shared) in listed.items()
            if not (machine and shared) or is_seen(root)
        }
        is_same = roots == self._listed[1]
        listing.again_in(_FOLLOW_SHARE * (time.thread_time() - started))
        if not is_same:
            watcher.watch({number: Path(root) for number, root in roots.items()})
        self._listed = last, roots

    def _retry_failed(self) -> None:
        """Add jobs for files whose reading failed and is due to be retried."""
        for source_id, paths in self.writer.catalog.retries.due(time.time()).items():
            self.writer.catalog.jobs.add("sync", source_id=source_id, paths=paths)

    def _add_job(self, change: Change) -> None:
        if change.everything:
            self.writer.catalog.jobs.add("sync", source_id=change.source_id)
        elif change.paths:
            paths = list(change.paths)
            self.writer.catalog.jobs.add("sync", source_id=change.source_id, paths=paths)

    def _run(self, job: JobRecord) -> None:
        try:
            result = run_job(self.writer.now(), job, stopping=self.stopping)
            logger.info("job %d %s: %s", job.id, job.kind, result.message)
        except ServerAwayError:
            raise
        except Exception:
            logger.exception("job %d %s stopped unexpectedly", job.id, job.kind)
            self.writer.catalog.jobs.finish(
                job.id,
                JobState.FAILED,
                "Something unexpected happened. Try again; the log has the details.",
            )
        if self._graphs is not None:
            from ragkit.health.repair import HANDLERS

            self._graphs.look_again(everywhere=job.kind in HANDLERS)

    def _send_heartbeats(self) -> None:
        presence.send_heartbeats(self.writer, self.role, self.stopping, self._sign_of_life)

    def _sign_of_life(self) -> tuple[str, dict[str, object]]:
        if not self._is_there():
            self.stopping.set()
        states = self._watcher.states().items() if self._watcher else ()
        watched = ((state.mode, state.reason, sources) for state, sources in states)
        return self._state, {"watching": watched_notes(watched)}

    def _is_there(self) -> bool:
        """Return whether the library is still the one with which this worker began."""
        return self._place() == self._catalog_file

    def _place(self) -> tuple[int, int] | None:
        """Return the identity of the catalog's file; on a server, of this folder's note."""
        paths = self.writer.paths
        return _identity(paths.server if paths.machine else paths.catalog)


def _identity(file: Path) -> tuple[int, int] | None:
    """Return (device, inode) of a file, or ``None`` if it is missing."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _start(name: str, target: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=target, name=name, daemon=True)
    thread.start()
    return thread
