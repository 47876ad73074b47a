"""The worker: the one process that writes to a library, doing its jobs one after another."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import psutil

from ragkit.catalog.records import JobRecord, JobState
from ragkit.indexing.jobs import run_job
from ragkit.indexing.lock import writer_lock
from ragkit.indexing.progress import Progress
from ragkit.indexing.writer import Writer

logger = logging.getLogger(__name__)

BEAT_SECONDS = 2.0
"""Time between two signs of life."""

_IDLE_SECONDS = 0.5


@dataclass
class Worker:
    """Runs the jobs of one library until it is told to stop."""

    writer: Writer
    role: str = "worker"
    stopping: threading.Event = field(default_factory=threading.Event)
    _state: str = "starting"

    def run(self, *, rescan: bool = True) -> None:
        """Hold the writer's lock and work until ``stopping`` is set.

        Raises:
            LibraryBusyError: when another process writes already.
        """
        with writer_lock(self.writer.paths.lock, self.role, wait_seconds=2.0):
            self.writer.catalog.jobs.requeue_running()
            beats = threading.Thread(target=self._beat, name="ragkit-beat", daemon=True)
            beats.start()
            try:
                self._loop(rescan)
            finally:
                self.stopping.set()
                beats.join(timeout=5)
                self._tell("stopped")

    def _loop(self, rescan: bool) -> None:
        next_scan = time.monotonic() if rescan else float("inf")
        while not self.stopping.is_set():
            if time.monotonic() >= next_scan:
                self.writer.catalog.jobs.add("sync")
                next_scan = time.monotonic() + self.writer.settings.sources.rescan_minutes * 60
            job = self.writer.catalog.jobs.claim() if self._has_work() else None
            if job is None:
                self._state = "idle"
                self.stopping.wait(_IDLE_SECONDS)
                continue
            self._state = "working"
            self._run(job)

    def _has_work(self) -> bool:
        return any(job.state is JobState.PENDING for job in self.writer.catalog.jobs.open())

    def _run(self, job: JobRecord) -> None:
        try:
            result = run_job(self.writer, job)
            logger.info("job %d %s: %s", job.id, job.kind, result.message)
        except Exception:
            logger.exception("job %d %s stopped unexpectedly", job.id, job.kind)
            self.writer.catalog.jobs.finish(
                job.id, JobState.FAILED, "Something unexpected happened; the log says what."
            )

    def _beat(self) -> None:
        while True:
            self._tell(self._state)
            if self.stopping.wait(BEAT_SECONDS):
                return

    def _tell(self, state: str) -> None:
        started = psutil.Process().create_time()
        try:
            self.writer.catalog.jobs.beat(os.getpid(), started, state, {"role": self.role})
        except Exception:
            logger.exception("the sign of life could not be written")


def work_off(
    writer: Writer, job_id: int, watch: Callable[[Progress], None] | None = None
) -> JobRecord:
    """Hold the lock and do the pending jobs up to ``job_id``; returns that job as it ended.

    Raises:
        LibraryBusyError: when another process writes.
    """
    jobs = writer.catalog.jobs
    with writer_lock(writer.paths.lock, "command", wait_seconds=2.0):
        jobs.requeue_running()
        while (job := jobs.claim()) is not None:
            run_job(writer, job, watch if job.id == job_id else None)
            if job.id >= job_id:
                break
    done = jobs.get(job_id)
    if done is None:
        raise RuntimeError("the job vanished from the catalog")
    return done
