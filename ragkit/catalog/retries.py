"""Files that cannot be read at present, and when each is tried again."""

from __future__ import annotations

import time
from datetime import datetime

from ragkit.catalog.connection import Connections, Transaction, conditions
from ragkit.types import Status

DELAYS = (60.0, 300.0, 1800.0)
"""Seconds from a first, second and third failure to the next attempt; later, full scans try."""


class Retries:
    """Queries about files that are tried again."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def due(self, now: float) -> dict[int, list[str]]:
        """Return the paths to try now, by source; those left to full scans are not among them."""
        rows = self._connections.rows(
            "SELECT d.source_id, d.path, r.retry_at "
            "FROM retries r JOIN documents d ON d.id = r.document_id "
            "JOIN sources s ON s.id = d.source_id "
            "WHERE r.attempts <= ? AND s.state = 'ready' ORDER BY d.source_id, d.path",
            (len(DELAYS),),
        )
        due: dict[int, list[str]] = {}
        for source_id, path, retry_at in rows:
            if is_due(retry_at, now):
                due.setdefault(source_id, []).append(path)
        return due

    def failed(self, collection_id: int | None = None) -> list[int]:
        """Return the documents whose files could not be read, or not since they changed."""
        where, values = conditions(("d.collection_id = ?", collection_id))
        return self._connections.column(
            f"SELECT d.id FROM documents d WHERE d.status = ?{where} "
            "UNION SELECT r.document_id FROM retries r JOIN documents d ON d.id = r.document_id "
            f"WHERE 1{where} ORDER BY 1",
            (Status.FAILED.value, *values, *values),
        )

    def outdated(self, collection_id: int | None = None) -> int:
        """Count the indexed documents whose files could not be read since they changed."""
        where, values = conditions(("collection_id = ?", collection_id))
        row = self._connections.row(
            "SELECT COUNT(*) FROM documents WHERE id IN (SELECT document_id FROM retries) "
            f"AND status = ?{where}",
            (Status.INDEXED.value, *values),
        )
        return int(row[0])


def is_due(retry_at: float | None, now: float) -> bool:
    """Return whether it is time to try a file again; a clock that was set back delays nothing."""
    return retry_at is not None and not now < retry_at <= now + DELAYS[-1]


def postpone(connection: Transaction, document_id: int, now: float) -> float:
    """Record that a file could not be read now; return the time of the first such failure."""
    connection.execute(
        "INSERT INTO retries (document_id, since, attempts, retry_at) VALUES (?, ?, 0, ?) "
        "ON CONFLICT DO NOTHING",
        (document_id, now, now),
    )
    since, attempts = connection.execute(
        "UPDATE retries SET attempts = attempts + 1 WHERE document_id = ? "
        "RETURNING since, attempts",
        (document_id,),
    ).fetchone()
    delay = DELAYS[attempts - 1] if attempts <= len(DELAYS) else 0.0
    connection.execute(
        "UPDATE retries SET retry_at = ? WHERE document_id = ?", (now + delay, document_id)
    )
    return float(since)


def keep_indexed(connection: Transaction, source_id: int, path: str, reason: str) -> int | None:
    """Keep an indexed document whose file could not be read, with a note of that.

    Returns its id, or ``None`` if the path has no indexed document.
    """
    row = connection.execute(
        "SELECT id FROM documents WHERE source_id = ? AND path = ? AND status = ?",
        (source_id, path, Status.INDEXED.value),
    ).fetchone()
    if row is None:
        return None
    since = datetime.fromtimestamp(postpone(connection, row[0], time.time())).astimezone()
    note = f"Could not be read since {since:%Y-%m-%d %H:%M}; this is its earlier text. {reason}"
    connection.execute("UPDATE documents SET reason = ? WHERE id = ?", (note, row[0]))
    return int(row[0])


def settle(connection: Transaction, document_id: int) -> None:
    """Delete the record that a file could not be read."""
    connection.execute("DELETE FROM retries WHERE document_id = ?", (document_id,))
