"""The worker: the one process that writes to a library, doing its jobs one after another."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ragkit.background.job_handlers import run_job
from ragkit.catalog.records import JobRecord, JobState
from ragkit.errors import RagkitError
from ragkit.indexing.lock import writer_lock
from ragkit.indexing.progress import Progress

if TYPE_CHECKING:
    from ragkit.background.context_model import OpenModel
    from ragkit.background.graphs import GraphBuilder
    from ragkit.indexing.writer import Writer
    from ragkit.sources.watch import Change, FolderWatcher

logger = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 2.0

_IDLE_SECONDS = 0.5
_LONGEST_FAREWELL = 2.0
"""A model may take minutes to answer; it is asked again by the next worker."""


@dataclass
class Worker:
    """Runs the jobs of one library, and watches its folders, until ``stopping`` is set."""

    writer: Writer
    role: str = "worker"
    stopping: threading.Event = field(default_factory=threading.Event)
    open_model: OpenModel | None = None
    _state: str = "starting"
    _graphs: GraphBuilder | None = None
    _watched: dict[str, dict[str, str]] = field(default_factory=dict)

    def run(self, *, watch: bool = True) -> None:
        """Hold the writer's lock and work until ``stopping`` is set.

        Raises:
            LibraryBusyError: when another process writes already.
        """
        with writer_lock(self.writer.paths.lock, self.role, wait_seconds=2.0):
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
                self._report("stopped")

    def _start_loops(self) -> list[threading.Thread]:
        """Start the loops that write contexts, make vectors and build graphs beside the jobs."""
        from ragkit.background.contexts import write_contexts
        from ragkit.background.graphs import GraphBuilder
        from ragkit.background.vectors import EmbedderMigration

        arguments = self.writer, self.stopping, self._is_working, self.open_model
        self._graphs = GraphBuilder(self.writer, self.stopping)
        vectors = EmbedderMigration(self.writer, self._is_working, self.stopping)
        return [
            _start("ragkit-contexts", partial(write_contexts, *arguments)),
            _start("ragkit-vectors", vectors.run),
            _start("ragkit-graphs", self._graphs.run),
        ]

    def _is_working(self) -> bool:
        return self._state == "working"

    def _watch_and_work(self) -> None:
        from ragkit.indexing.ingest import import_pipeline
        from ragkit.sources.watch import FolderWatcher

        settings = self.writer.settings.sources
        _start("ragkit-import", import_pipeline)
        with FolderWatcher(settings.debounce_seconds, gitignore=settings.gitignore) as watcher:
            next_scan = time.monotonic()

            def wait() -> None:
                nonlocal next_scan
                self._follow(watcher)
                if time.monotonic() >= next_scan:
                    self.writer.catalog.jobs.add("sync")
                    next_scan = time.monotonic() + settings.rescan_minutes * 60
                    return
                for change in watcher.changes(_IDLE_SECONDS):
                    self._add_job(change)

            self._work(wait)

    def _work(self, wait: Callable[[], object]) -> None:
        """Run jobs while there are any; else wait, which may bring new ones."""
        while not self.stopping.is_set():
            job = self.writer.catalog.jobs.claim()
            if job is None:
                self._state = "idle"
                wait()
            else:
                self._state = "working"
                self._run(job)

    def _follow(self, watcher: FolderWatcher) -> None:
        """Watch the folders that the catalog lists now, and note how each is watched."""
        roots = {
            source: Path(root) for source, root in self.writer.catalog.collections.roots().items()
        }
        watcher.watch(roots)
        states = {source: watcher.state(source) for source in roots}
        self._watched = {
            str(source): {"mode": state.mode, "reason": state.reason}
            for source, state in states.items()
        }

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
        except Exception:
            logger.exception("job %d %s stopped unexpectedly", job.id, job.kind)
            self.writer.catalog.jobs.finish(
                job.id, JobState.FAILED, "Something unexpected happened; the log says what."
            )
        if self._graphs is not None:
            from ragkit.health.repair import HANDLERS

            self._graphs.look_again(everywhere=job.kind in HANDLERS)

    def _send_heartbeats(self) -> None:
        while True:
            self._report(self._state)
            if self.stopping.wait(HEARTBEAT_SECONDS):
                return

    def _report(self, state: str) -> None:
        import psutil

        started = psutil.Process().create_time()
        notes = {"role": self.role, "watched": self._watched}
        try:
            self.writer.catalog.jobs.heartbeat(os.getpid(), started, state, notes)
        except RagkitError:
            logger.exception("the heartbeat could not be written")


def _start(name: str, target: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=target, name=name, daemon=True)
    thread.start()
    return thread


def work_off(
    writer: Writer, job_id: int, watch: Callable[[Progress], None] | None = None
) -> JobRecord:
    """Hold the lock and run the pending jobs up to ``job_id``; return that job as it ended.

    Raises:
        LibraryBusyError: when another process writes.
    """
    jobs = writer.catalog.jobs
    with writer_lock(writer.paths.lock, "command", wait_seconds=2.0):
        jobs.requeue_running()
        while (job := jobs.claim()) is not None:
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
