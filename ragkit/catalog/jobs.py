"""Jobs for the writer, and the worker's heartbeat."""

from __future__ import annotations

import json
import time
from typing import Any

from ragkit.catalog.connection import Connections
from ragkit.catalog.records import JobRecord, JobState, WorkerRecord

_JOB = (
    "SELECT id, kind, arguments, state, progress, message, cancelled, attempts, "
    "created_at, started_at, finished_at FROM jobs"
)

_DUE = (
    "(state = 'pending' "
    "AND coalesce(CAST(json_extract(arguments, '$.not_before') AS REAL), 0) <= ?)"
)


class Jobs:
    """Queries about jobs and the worker.

    A job with an argument ``not_before``, in seconds since the epoch, waits until then.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def add(self, kind: str, **arguments: Any) -> int:
        """Add a job and return its id; the same pending job is not added twice."""
        packed = json.dumps(arguments, sort_keys=True)
        with self._connections.write() as connection:
            row = connection.execute(
                "SELECT id FROM jobs WHERE kind = ? AND arguments = ? AND state = 'pending'",
                (kind, packed),
            ).fetchone()
            if row:
                return int(row[0])
            cursor = connection.execute(
                "INSERT INTO jobs (kind, arguments, created_at) VALUES (?, ?, ?) RETURNING id",
                (kind, packed, time.time()),
            )
            return int(cursor.fetchone()[0])

    def claim(self) -> JobRecord | None:
        """Mark the oldest job that is due as running and return it; ``None`` when there is none."""
        now = (time.time(),)
        # Asked first without the catalog's write lock, since the worker polls.
        if self._connections.row(f"SELECT 1 FROM jobs WHERE {_DUE} LIMIT 1", now) is None:
            return None
        with self._connections.write() as connection:
            row = connection.execute(
                f"SELECT id FROM jobs WHERE {_DUE} ORDER BY id LIMIT 1", now
            ).fetchone()
            if row is None:
                return None
            connection.execute(
                "UPDATE jobs SET state = 'running', attempts = attempts + 1, started_at = ? "
                "WHERE id = ?",
                (time.time(), row[0]),
            )
        return self.get(int(row[0]))

    def get(self, job_id: int) -> JobRecord | None:
        """Return one job, or ``None`` when it is long gone."""
        row = self._connections.row(f"{_JOB} WHERE id = ?", (job_id,))
        return _job(row) if row else None

    def open(self) -> list[JobRecord]:
        """Return running jobs and those that are due, in that order, by id."""
        rows = self._connections.rows(
            f"{_JOB} WHERE state = 'running' OR {_DUE} ORDER BY state DESC, id", (time.time(),)
        )
        return [_job(row) for row in rows]

    def unfinished(self, kind: str) -> list[JobRecord]:
        """Return the running and pending jobs of a kind, also those that are not due, by id."""
        rows = self._connections.rows(
            f"{_JOB} WHERE kind = ? AND state IN ('running', 'pending') ORDER BY id", (kind,)
        )
        return [_job(row) for row in rows]

    def recent(self, limit: int = 20) -> list[JobRecord]:
        """Return the newest jobs, whatever their state."""
        rows = self._connections.rows(f"{_JOB} ORDER BY id DESC LIMIT ?", (limit,))
        return [_job(row) for row in rows]

    def report(self, job_id: int, progress: dict[str, Any]) -> bool:
        """Store a job's progress; return False when it has been cancelled."""
        with self._connections.write() as connection:
            connection.execute(
                "UPDATE jobs SET progress = ? WHERE id = ?", (json.dumps(progress), job_id)
            )
            row = connection.execute(
                "SELECT cancelled FROM jobs WHERE id = ?", (job_id,)
            ).fetchone()
        return not (row and row[0])

    def finish(self, job_id: int, state: JobState, message: str = "") -> None:
        """Mark a job as ended, and delete all but the newest few hundred ended ones."""
        with self._connections.write() as connection:
            connection.execute(
                "UPDATE jobs SET state = ?, message = ?, finished_at = ? WHERE id = ?",
                (state.value, message, time.time(), job_id),
            )
            connection.execute(
                "DELETE FROM jobs WHERE state IN ('done', 'failed', 'cancelled') AND id <= ?",
                (job_id - 500,),
            )

    def requeue(self, job_id: int) -> None:
        """Put a running job back into the queue, as if it had not been started."""
        with self._connections.write() as connection:
            connection.execute(
                "UPDATE jobs SET state = 'pending', attempts = attempts - 1, progress = '{}' "
                "WHERE id = ? AND state = 'running'",
                (job_id,),
            )

    def withdraw(self, job_id: int) -> bool:
        """Cancel a job unless it was started; return whether it is cancelled."""
        with self._connections.write() as connection:
            return bool(connection.execute(
                "UPDATE jobs SET cancelled = 1, state = 'cancelled', finished_at = ? "
                "WHERE id = ? AND state = 'pending'",
                (time.time(), job_id),
            ).rowcount)  # fmt: skip

    def cancel(self, job_id: int) -> None:
        """Cancel a job: a pending one at once, a running one when it next reports."""
        if self.withdraw(job_id):
            return
        with self._connections.write() as connection:
            connection.execute(
                "UPDATE jobs SET cancelled = 1 WHERE id = ? AND state = 'running'", (job_id,)
            )

    def requeue_running(self, most_attempts: int = 3) -> int:
        """Recover from a crash: put running jobs back, or fail those that crashed too often.

        Those that were being cancelled are cancelled. The worker that ran them has stopped.
        Returns how many are pending again.
        """
        with self._connections.write() as connection:
            connection.execute("UPDATE worker SET state = 'stopped' WHERE state != 'stopped'")
            connection.execute(
                "UPDATE jobs SET state = 'cancelled', finished_at = ? "
                "WHERE state = 'running' AND cancelled = 1",
                (time.time(),),
            )
            connection.execute(
                "UPDATE jobs SET state = 'failed', finished_at = ?, "
                "message = 'The worker stopped each time it tried this.' "
                "WHERE state = 'running' AND attempts >= ?",
                (time.time(), most_attempts),
            )
            return connection.execute(
                "UPDATE jobs SET state = 'pending', progress = '{}' WHERE state = 'running'"
            ).rowcount

    def heartbeat(self, pid: int, started_at: float, state: str, notes: dict[str, Any]) -> None:
        """Store the worker's heartbeat."""
        with self._connections.write() as connection:
            connection.execute(
                "INSERT INTO worker (id, pid, started_at, heartbeat, state, notes) "
                "VALUES (1, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET pid = excluded.pid, "
                "started_at = excluded.started_at, heartbeat = excluded.heartbeat, "
                "state = excluded.state, notes = excluded.notes",
                (pid, started_at, time.time(), state, json.dumps(notes, sort_keys=True)),
            )

    def worker(self) -> WorkerRecord | None:
        """Return the worker's last heartbeat, or ``None``."""
        row = self._connections.row(
            "SELECT pid, started_at, heartbeat, state, notes FROM worker WHERE id = 1"
        )
        if row is None:
            return None
        return WorkerRecord(int(row[0]), row[1], row[2], str(row[3]), json.loads(row[4]))


def _job(row: tuple[Any, ...]) -> JobRecord:
    return JobRecord(
        id=int(row[0]),
        kind=str(row[1]),
        arguments=json.loads(row[2]),
        state=JobState(row[3]),
        progress=json.loads(row[4]),
        message=str(row[5]),
        cancelled=bool(row[6]),
        attempts=int(row[7]),
        created_at=row[8],
        started_at=row[9],
        finished_at=row[10],
    )
