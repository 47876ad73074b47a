"""Work on a library: the job queue, the worker process, and checks with their fixes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragkit.catalog import Catalog
from ragkit.catalog.background_state import RecognitionState, read_recognition_state
from ragkit.catalog.records import JobRecord, JobState, WorkerRecord
from ragkit.errors import LibraryBusyError, NotFoundError, QueryError, RagkitError
from ragkit.health.findings import Depth, Finding, Parts
from ragkit.indexing.progress import NOTHING_NEW, Progress
from ragkit.indexing.writer import lock_is_held
from ragkit.paths import LibraryPaths

if TYPE_CHECKING:
    # A command imports only what it needs: checking an unchanged folder takes no search engine.
    from ragkit.catalog.copies import Backup
    from ragkit.indexing.writer import Writer
    from ragkit.library.services import ActiveServices
    from ragkit.settings import Settings

_POLL_SECONDS = 0.2
_MOST_LOOKED_AT = 50
_LONGEST_START_SECONDS = 60.0
"""A worker that has no lock by then hangs, and another one is started."""
_ABOUT_DOCUMENTS = ("sync", "retry", "remove_documents")
_ENDED = (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


class JobService:
    """The queue of everything that changes a library."""

    def __init__(
        self, paths: LibraryPaths, catalog: Catalog, open_writer: Callable[[], Writer]
    ) -> None:
        self._paths = paths
        self._catalog = catalog
        self._jobs = catalog.jobs
        self._collections = catalog.collections
        self._open_writer = open_writer

    def add(self, kind: str, **arguments: Any) -> int:
        """Queue a job; return its number.

        Raises:
            QueryError: there is no job of this kind.
        """
        from ragkit.background.job_handlers import handler_of

        if handler_of(kind) is None:
            raise QueryError(
                f'There is no job of the kind "{kind}".', "library.jobs.recent(20) shows some."
            )
        return self._jobs.add(kind, **arguments)

    def get(self, job_id: int) -> JobRecord | None:
        """Return a job, or ``None`` if it is gone."""
        return self._jobs.get(job_id)

    def recent(self, limit: int) -> list[JobRecord]:
        """Return the last jobs, newest first."""
        return self._jobs.recent(limit)

    def open(self) -> list[JobRecord]:
        """Return running and waiting jobs, the running ones first."""
        return self._jobs.open()

    def cancel(self, job_id: int) -> None:
        """Cancel a job; a running one stops after the current document."""
        self._jobs.cancel(job_id)

    def progress(self) -> tuple[JobRecord, Progress] | None:
        """Return the running or next job with its progress; ``None`` if there are no jobs.

        If all jobs wait for machines on which no worker runs, the progress names one of them.
        """
        jobs = self._jobs.open()
        hosts = []
        for job in jobs[:_MOST_LOOKED_AT]:
            hosts.append(self._waits_for(job))
            if not hosts[-1]:
                return job, Progress.from_dict(job.progress)
        return (jobs[0], Progress(f"Waiting for {hosts[0]}")) if jobs else None

    def recognition(self) -> RecognitionState:
        """Return how far the recognition of scanned files is, which is no job."""
        return read_recognition_state(self._catalog, writing=lock_is_held(self._paths.lock))

    def _waits_for(self, job: JobRecord) -> str:
        """Return the machine that alone has a job's files if no worker runs there, or nothing."""
        if not self._paths.machine or job.state is not JobState.PENDING:
            return ""
        from ragkit.background.job_handlers import sources_of

        machines = {source.machine for source in sources_of(self._catalog, job)}
        if job.kind == "remove_uploads":
            machines = {str(job.arguments["machine"])}
        running = {other.machine for other in self._jobs.others() if other.works}
        if not machines or machines & {"", self._paths.machine, *running}:
            return ""
        return self._jobs.host_of(min(machines))

    def last(self, collection: str) -> JobRecord | None:
        """Return the newest ended job about this collection alone that changed something."""
        for job in self._jobs.recent(_MOST_LOOKED_AT):
            has_news = job.message and not job.message.startswith(NOTHING_NEW)
            if job.state in _ENDED and has_news and self.is_about(job, collection):
                return job
        return None

    def is_about(self, job: JobRecord, collection: str) -> bool:
        """Return whether a job is about this collection alone, or about the only one there is."""
        named = job.arguments.get("collection")
        if named is not None:
            return bool(named == collection)
        record = self._collections.find(collection)
        number = job.arguments.get("source_id")
        if number is not None:
            sources = self._collections.sources(record.id) if record else []
            return number in {source.id for source in sources}
        if job.kind not in _ABOUT_DOCUMENTS:
            return False
        return record is not None and self._collections.count() == 1

    def wait(self, job_id: int, watch: Callable[[Progress], None] | None = None) -> JobRecord:
        """Wait until a job has ended; do it in this process if no other one is writing.

        Raises:
            NotFoundError: there is no such job, or it is gone.
        """
        while True:
            job = self._jobs.get(job_id)
            if job is None or job.state in _ENDED:
                break
            if not lock_is_held(self._paths.lock) and self._is_free(job):
                from ragkit.background.job_handlers import work_off

                try:
                    job = work_off(self._open_writer(), job_id, watch)
                except LibraryBusyError:
                    continue
                if job.state in _ENDED:
                    return job
            if watch is not None and job.progress:
                watch(Progress.from_dict(job.progress))
            time.sleep(_POLL_SECONDS)
        if job is None:
            raise NotFoundError(f"There is no job {job_id}.", "Start it again.")
        return job

    def _is_free(self, job: JobRecord) -> bool:
        """Return whether this process may do a job that has not ended yet."""
        if not self._paths.machine:
            return True
        from ragkit.background.job_handlers import can_do

        self._jobs.requeue_silent()
        mine = job.state is JobState.PENDING or job.claimed_by == self._jobs.machine
        return mine and can_do(self._open_writer(), job)


@dataclass(frozen=True, slots=True)
class WorkerState:
    """Whether a process is writing to the library now, and the last heartbeat of a worker."""

    running: bool
    record: WorkerRecord | None


class WorkerService:
    """The worker: the process that does queued jobs and watches the folders."""

    def __init__(self, settings: Settings, paths: LibraryPaths, catalog: Catalog) -> None:
        self._backend = settings.backend.get_secret_value()
        self._paths = paths
        self._jobs = catalog.jobs
        self._starting = threading.Lock()
        self._started: subprocess.Popen[bytes] | None = None
        self._started_at = 0.0

    def state(self) -> WorkerState:
        """Return whether a process is writing now, and the last heartbeat."""
        return WorkerState(lock_is_held(self._paths.lock), self._jobs.worker())

    def ensure_running(self) -> bool:
        """Start the worker if no process is writing; return whether one was started.

        None is started while the last one is still on its way to the lock.
        """
        # If the library was moved away, a worker would create an empty one in its place.
        proof = self._paths.server if self._backend else self._paths.catalog
        with self._starting:
            if lock_is_held(self._paths.lock) or not proof.exists() or self._on_its_way():
                return False
            self._started, self._started_at = self._start(), time.monotonic()
        return True

    def _on_its_way(self) -> bool:
        recent = time.monotonic() - self._started_at < _LONGEST_START_SECONDS
        return self._started is not None and self._started.poll() is None and recent

    def _start(self) -> subprocess.Popen[bytes]:
        self._paths.logs.mkdir(parents=True, exist_ok=True)
        environment = {
            **os.environ,
            "RAGKIT_LIBRARY": str(self._paths.root),
            "RAGKIT_BACKEND": self._backend,
        }
        # The worker rotates its own log; this file gets what it prints when it crashes.
        with (self._paths.logs / "worker-output.log").open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-P", "-m", "ragkit", "worker"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,
            )


class HealthService:
    """Checks of a library, each with its fix."""

    def __init__(
        self,
        settings: Settings,
        paths: LibraryPaths,
        catalog: Catalog,
        services: ActiveServices,
        worker: WorkerService,
    ) -> None:
        self._settings = settings
        self._paths = paths
        self._catalog = catalog
        self._services = services
        self._worker = worker

    def check(
        self, depth: Depth = Depth.GLANCE, *, collection: str | None = None
    ) -> tuple[Finding, ...]:
        """Return findings, good and bad, each with its fix if there is one. Changes nothing."""
        from ragkit.health.checks import check_library

        return check_library(self._parts(), depth, collection=collection)

    def verify(self, *, collection: str | None = None) -> tuple[Finding, ...]:
        """Check every document, chunk, vector and index entry of the library."""
        from ragkit.health.checks import verify_library

        return verify_library(self._parts(), collection=collection)

    def fix(self, name: str) -> int | None:
        """Apply the fix that a finding names; return the number of the queued job, if any."""
        from ragkit.health.findings import FIXES

        if name == "worker":
            self._worker.ensure_running()
            return None
        if name == "retry":
            return self._catalog.jobs.add("retry", document_ids=self._catalog.retries.failed())
        return self._catalog.jobs.add(name) if name in FIXES else None

    @property
    def server(self) -> str:
        """The address of the library's server, without its password; empty if it has none."""
        return self._catalog.connections.server

    def backups(self) -> list[Backup]:
        """Return the backups of the catalog, newest first; none if it lies on a server."""
        from ragkit.catalog.copies import backups

        return [] if self.server else backups(self._paths)

    def read_what_is_lost(self) -> None:
        """Have the next sync read the documents again that a recovery could not save completely."""
        from ragkit.health.recovery import forget_gaps

        forget_gaps(self._catalog)

    def _parts(self) -> Parts:
        embedder, trouble = None, ""
        try:
            embedder = self._services.current().embedder
        except RagkitError as error:
            trouble = str(error)
        return Parts(self._settings, self._paths, self._catalog, embedder, trouble)
