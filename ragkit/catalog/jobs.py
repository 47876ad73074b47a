"""The queue of jobs, which machine has claimed what, and the heartbeats of the workers."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable
from typing import Any

from ragkit.catalog.connection import Connections, Transaction
from ragkit.catalog.records import SILENT_SECONDS, JobRecord, JobState, WorkerRecord

_JOB = (
    "SELECT id, kind, arguments, state, progress, message, cancelled, attempts, "
    "created_at, started_at, finished_at, claimed_by FROM jobs"
)

MOST_ATTEMPTS = 3
"""A job that was started this often, and never ended, fails."""

_ALIVE = "SELECT machine FROM workers WHERE heartbeat > now_seconds() - ?"
"""Machines with a live worker, by the one clock of the catalog's host."""

_DUE = (
    "(state = 'pending' "
    "AND coalesce(CAST(json_extract(arguments, '$.not_before') AS REAL), 0) <= ?)"
)


class Jobs:
    """Queries about jobs and workers.

    A job with an argument ``not_before``, in seconds since the epoch, is due only then. Claims are
    made in the name of ``machine``, which is empty for a library in a file: its one worker holds
    the library's lock.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self.machine = ""

    def add(self, kind: str, **arguments: Any) -> int:
        """Add a job and return its id, or that of a pending job with the same arguments."""
        packed = json.dumps(arguments, sort_keys=True)
        with self._connections.write() as connection:
            row = connection.execute(
                "SELECT id FROM jobs WHERE kind = ? AND arguments = ? AND state = 'pending'",
                (kind, packed),
            ).fetchone()
            if row:
                return int(row[0])
            row = connection.execute(
                "INSERT INTO jobs (kind, arguments, created_at) VALUES (?, ?, ?) RETURNING id",
                (kind, packed, time.time()),
            ).fetchone()
        return int(row[0])

    def claim(self, suits: Callable[[JobRecord], bool] = lambda _: True) -> JobRecord | None:
        """Mark the oldest due job that ``suits`` as running here, and return it, or ``None``."""
        rows = self._connections.rows(f"{_JOB} WHERE {_DUE} ORDER BY id", (time.time(),))
        for job in filter(suits, map(_job, rows)):
            if self._take(job.id):
                return self.get(job.id)
        return None

    def _take(self, job_id: int) -> bool:
        locked = self._connections.skip_locked
        with self._connections.write(alone=False) as connection:
            free = connection.execute(
                f"SELECT id FROM jobs WHERE id = ? AND state = 'pending' {locked}",
                (job_id,),
            ).fetchone()
            if free is not None:
                connection.execute(
                    "UPDATE jobs SET state = 'running', attempts = attempts + 1, "
                    "started_at = ?, claimed_by = ? WHERE id = ?",
                    (time.time(), self.machine, job_id),
                )
        return free is not None

    def get(self, job_id: int) -> JobRecord | None:
        """Return one job, or ``None`` where it has been deleted."""
        row = self._connections.row(f"{_JOB} WHERE id = ?", (job_id,))
        return _job(row) if row else None

    def open(self) -> list[JobRecord]:
        """Return the running jobs, then those that are due, each by id."""
        rows = self._connections.rows(
            f"{_JOB} WHERE state = 'running' OR {_DUE} ORDER BY state DESC, id", (time.time(),)
        )
        return [_job(row) for row in rows]

    def unfinished(self, kind: str) -> list[JobRecord]:
        """Return the running and pending jobs of a kind by id, whether they are due or not."""
        rows = self._connections.rows(
            f"{_JOB} WHERE kind = ? AND state IN ('running', 'pending') ORDER BY id", (kind,)
        )
        return [_job(row) for row in rows]

    def recent(self, limit: int = 20) -> list[JobRecord]:
        """Return the newest jobs of any state."""
        rows = self._connections.rows(f"{_JOB} ORDER BY id DESC LIMIT ?", (limit,))
        return [_job(row) for row in rows]

    def report(self, job_id: int, progress: dict[str, Any]) -> bool:
        """Store a job's progress; return False if it is cancelled or claimed elsewhere."""
        with self._connections.write(alone=False) as connection:
            row = connection.execute(
                "UPDATE jobs SET progress = ? WHERE id = ? AND claimed_by = ? RETURNING cancelled",
                (json.dumps(progress), job_id, self.machine),
            ).fetchone()
        return bool(row and not row[0])

    def finish(self, job_id: int, state: JobState, message: str = "") -> None:
        """Mark a job as ended, unless another machine has claimed it.

        Ended jobs whose ids are lower by 500 or more are deleted.
        """
        with self._connections.write(alone=False) as connection:
            connection.execute(
                "UPDATE jobs SET state = ?, message = ?, finished_at = ? "
                "WHERE id = ? AND claimed_by = ?",
                (state.value, message, time.time(), job_id, self.machine),
            )
            connection.execute(
                "DELETE FROM jobs WHERE state IN ('done', 'failed', 'cancelled') AND id <= ?",
                (job_id - 500,),
            )

    def requeue(self, job_id: int) -> None:
        """Put a running job back into the queue, without counting the attempt."""
        with self._connections.write(alone=False) as connection:
            connection.execute(
                "UPDATE jobs SET state = 'pending', attempts = attempts - 1, progress = '{}', "
                "claimed_by = '' WHERE id = ? AND state = 'running' AND claimed_by = ?",
                (job_id, self.machine),
            )

    def withdraw(self, job_id: int) -> bool:
        """Cancel a job unless it has been started; return whether it is cancelled."""
        with self._connections.write(alone=False) as connection:
            return bool(connection.execute(
                "UPDATE jobs SET cancelled = 1, state = 'cancelled', finished_at = ? "
                "WHERE id = ? AND state = 'pending'",
                (time.time(), job_id),
            ).rowcount)  # fmt: skip

    def cancel(self, job_id: int) -> None:
        """Cancel a job: a pending one at once, a running one when it reports next."""
        if self.withdraw(job_id):
            return
        with self._connections.write(alone=False) as connection:
            connection.execute(
                "UPDATE jobs SET cancelled = 1 WHERE id = ? AND state = 'running'", (job_id,)
            )

    def requeue_running(self) -> int:
        """Release what an earlier worker of this machine had claimed, as after a crash.

        To be called when the worker starts, with the library's lock: no other runs these jobs. They
        become pending again, those that were being cancelled are cancelled, and those that were
        started too often fail. Returns how many are pending again.
        """
        with self._connections.write() as connection:
            connection.execute(
                "UPDATE workers SET state = 'stopped' WHERE machine = ? AND state <> 'stopped'",
                (self.machine,),
            )
            connection.execute("DELETE FROM claims WHERE machine = ?", (self.machine,))
            return _requeue(connection, "claimed_by = ?", (self.machine,))

    def requeue_silent(self) -> int:
        """Release the jobs of machines without a live worker, as ``requeue_running`` does."""
        abandoned = f"claimed_by NOT IN ({_ALIVE})"
        query = f"SELECT 1 FROM jobs WHERE state = 'running' AND {abandoned}"
        if self._connections.row(query, (SILENT_SECONDS,)) is None:
            return 0
        with self._connections.write() as connection:
            return _requeue(connection, abandoned, (SILENT_SECONDS,))

    # -- workers ---------------------------------------------------------------------------

    def hold(self, what: str) -> bool:
        """Claim a name for this machine; return False while another live machine has claimed it.

        A library in a file has one machine, so that it always succeeds.
        """
        if not self._connections.server:
            return True
        if self.is_held_elsewhere(what):
            return False
        with self._connections.write(alone=False) as connection:
            connection.execute(
                "INSERT INTO claims (what, machine) VALUES (?, ?) ON CONFLICT (what) DO UPDATE "
                "SET machine = excluded.machine WHERE claims.machine = excluded.machine "
                f"OR claims.machine NOT IN ({_ALIVE})",
                (what, self.machine, SILENT_SECONDS),
            )
            row = connection.execute("SELECT machine FROM claims WHERE what = ?", (what,))
            return bool(row.fetchone()[0] == self.machine)

    def is_held_elsewhere(self, what: str) -> bool:
        """Return whether another live machine has claimed a name."""
        held = f"SELECT 1 FROM claims WHERE what = ? AND machine <> ? AND machine IN ({_ALIVE})"
        return self._connections.row(held, (what, self.machine, SILENT_SECONDS)) is not None

    def release(self, what: str) -> None:
        """Give up this machine's claim of a name."""
        if self._connections.server:
            with self._connections.write(alone=False) as connection:
                connection.execute(
                    "DELETE FROM claims WHERE what = ? AND machine = ?", (what, self.machine)
                )

    def heartbeat(self, pid: int, started_at: float, state: str, notes: dict[str, Any]) -> bool:
        """Store that this machine's worker is alive; return False if another live one has its id.

        The note ``run`` identifies the process. Two machines have one id where a machine's folder
        was copied.
        """
        with self._connections.write(alone=False) as connection:
            return connection.execute(
                "INSERT INTO workers (machine, pid, started_at, heartbeat, state, notes) "
                "VALUES (?, ?, ?, now_seconds(), ?, ?) ON CONFLICT (machine) DO UPDATE SET "
                "pid = excluded.pid, started_at = excluded.started_at, state = excluded.state, "
                "heartbeat = excluded.heartbeat, notes = excluded.notes "
                "WHERE workers.machine = '' OR workers.state = 'stopped' "
                "OR workers.heartbeat <= now_seconds() - ? OR "
                "coalesce(json_extract(workers.notes, '$.run'), '') = "
                "coalesce(json_extract(excluded.notes, '$.run'), '')",
                (self.machine, pid, started_at, state, json.dumps(notes, sort_keys=True),
                 SILENT_SECONDS),
            ).rowcount == 1  # fmt: skip

    def worker(self) -> WorkerRecord | None:
        """Return the last heartbeat of this machine's worker, or ``None``."""
        return next((worker for worker in self.workers() if worker.machine == self.machine), None)

    def others(self) -> list[WorkerRecord]:
        """Return the last heartbeats of the other machines' workers."""
        return [worker for worker in self.workers() if worker.machine != self.machine]

    def host_of(self, machine: str) -> str:
        """Return the host name of another machine; empty for this one, and for ``""``.

        The folder is added where this machine has the same host name.
        """
        if machine in ("", self.machine):
            return ""
        worker = next((other for other in self.others() if other.machine == machine), None)
        if worker is None:
            return "another machine"
        host = str(worker.notes.get("host", ""))
        return f"{host}, {worker.notes.get('folder')}" if host == platform.node() else host

    def workers(self) -> list[WorkerRecord]:
        """Return the last heartbeat of each machine's worker."""
        rows = self._connections.rows(
            "SELECT machine, pid, started_at, heartbeat, state, notes, "
            "now_seconds() - heartbeat FROM workers ORDER BY machine"
        )
        return [
            WorkerRecord(machine, pid, started_at, heartbeat, state, json.loads(notes), silent)
            for machine, pid, started_at, heartbeat, state, notes, silent in rows
        ]


def _requeue(connection: Transaction, whose: str, parameters: tuple[Any, ...]) -> int:
    """Release the running jobs that meet a condition; return how many are pending again."""
    now = time.time()
    connection.execute(
        "UPDATE jobs SET state = 'cancelled', finished_at = ? "
        f"WHERE state = 'running' AND cancelled = 1 AND {whose}",
        (now, *parameters),
    )
    connection.execute(
        "UPDATE jobs SET state = 'failed', finished_at = ?, "
        "message = 'The worker stopped each time it tried this.' "
        f"WHERE state = 'running' AND attempts >= ? AND {whose}",
        (now, MOST_ATTEMPTS, *parameters),
    )
    return connection.execute(
        "UPDATE jobs SET state = 'pending', progress = '{}', claimed_by = '' "
        f"WHERE state = 'running' AND {whose}",
        parameters,
    ).rowcount


def _job(row: tuple[Any, ...]) -> JobRecord:
    id_, kind, arguments, state, progress, message, cancelled, *rest = row
    return JobRecord(
        id_, kind, json.loads(arguments), JobState(state), json.loads(progress), message,
        bool(cancelled), *rest,
    )  # fmt: skip
