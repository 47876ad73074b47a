"""The files of sources: their state when last read, and the outcome."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ragkit.catalog.connection import IN_LIST, Connections, conditions, id_list
from ragkit.catalog.document_writing import clear_document, upsert_document
from ragkit.catalog.lineage import next_version
from ragkit.catalog.records import KnownFile, ScannedFile
from ragkit.catalog.retries import keep_indexed, postpone, settle
from ragkit.reading.limits import (
    NEEDS_OCR,
    NOT_RECOGNISED,
    OCR,
    SCANNED,
    awaits_ocr,
    needs_ocr,
)
from ragkit.types import FileState, Status

_WITHOUT_TEXT = "(status <> 'indexed' AND reason LIKE ?)"
"""A scanned file whose text has not been recognised; its reason begins with ``SCANNED``."""


class Files:
    """Queries about files. Only the writer calls methods that change something."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def known(self, source_id: int) -> dict[str, KnownFile]:
        """Return the known files of a source, by path."""
        rows = self._connections.rows(
            "SELECT d.id, d.path, d.size, d.mtime_ns, d.stamp, d.hash, d.recipe, d.markup, "
            "d.status, r.retry_at FROM documents d LEFT JOIN retries r ON r.document_id = d.id "
            "WHERE d.source_id = ?",
            (source_id,),
        )
        return {
            row[1]: KnownFile(
                row[0], FileState(*row[1:5]), row[5], row[6], row[7], Status(row[8]), row[9]
            )
            for row in rows
        }

    def scanned(self) -> list[ScannedFile]:
        """Return the files with scanned pages, whether or not their text was recognised."""
        unread = f"({_WITHOUT_TEXT} OR warnings LIKE ?)"
        rows = self._connections.rows(
            f"SELECT id, source_id, path, size, hash, status, {unread} FROM documents "
            f"WHERE hash <> '' AND ({_WITHOUT_TEXT} OR status = 'failed' AND reason LIKE ? "
            "OR status = 'indexed' AND warnings LIKE ?) ORDER BY changed_at DESC, id",
            (f"{SCANNED}%", f"%{NEEDS_OCR}%", f"{SCANNED}%", f"{NOT_RECOGNISED}%", f"%{OCR}%"),
        )
        return [
            ScannedFile(number, source_id, path, size, content_hash, Status(status), bool(unread))
            for number, source_id, path, size, content_hash, status, unread in rows
        ]

    def count_scanned(self, collection_id: int | None = None) -> int:
        """Count the files without text whose pages are pictures."""
        where, values = conditions(("collection_id = ?", collection_id))
        row = self._connections.row(
            f"SELECT COUNT(*) FROM documents WHERE {_WITHOUT_TEXT}{where}",
            (f"{SCANNED}%", *values),
        )
        return int(row[0])

    def set_awaiting_ocr(self, document_ids: Sequence[int], awaiting: bool) -> None:
        """Make scanned files without text pending, since it will be recognised, or failed."""
        status, error = (Status.PENDING, awaits_ocr()) if awaiting else (Status.FAILED, needs_ocr())
        with self._connections.write() as connection:
            connection.execute(
                f"UPDATE documents SET status = ?, reason = ? WHERE {_WITHOUT_TEXT} "
                f"AND hash <> '' AND id {IN_LIST}",
                (status.value, str(error), f"{SCANNED}%", id_list(document_ids)),
            )

    def has_content(self, content_hash: str) -> bool:
        """Return whether a file with this content is known."""
        row = self._connections.row(
            "SELECT EXISTS (SELECT 1 FROM documents WHERE hash = ?)", (content_hash,)
        )
        return bool(row[0])

    def add_pending(self, source_id: int, collection_id: int, files: Sequence[FileState]) -> None:
        """Add files as pending documents, except those that are known."""
        now = time.time()
        with self._connections.write() as connection:
            connection.executemany(
                "INSERT INTO documents "
                "(source_id, collection_id, path, status, size, mtime_ns, stamp, changed_at) "
                "VALUES (?, ?, ?, 'pending', ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                [
                    (source_id, collection_id, file.path, file.size, file.mtime_ns, file.stamp, now)
                    for file in files
                ],
            )

    def set_outcome(
        self,
        source_id: int,
        collection_id: int,
        file: FileState,
        status: Status,
        reason: str,
        *,
        content_hash: str = "",
        pipeline_fingerprint: str = "",
        passing: bool = False,
    ) -> int:
        """Record that a file is pending, skipped or failed; return the id of its document.

        What was indexed of it is deleted, unless the failure is ``passing``; then the file is also
        tried again.
        """
        columns = {
            "status": status.value,
            "reason": reason,
            "hash": content_hash,
            "recipe": pipeline_fingerprint,
        }
        with self._connections.write() as connection:
            kept = keep_indexed(connection, source_id, file.path, reason) if passing else None
            if kept is not None:
                return kept
            indexed = connection.execute(
                "SELECT 1 FROM documents WHERE source_id = ? AND path = ? AND status = 'indexed'",
                (source_id, file.path),
            ).fetchone()
            version = next_version(connection, collection_id) if indexed else 0
            values = {**columns, "version": version}
            document_id = upsert_document(connection, source_id, collection_id, file, values)
            clear_document(connection, document_id, collection_id, version)
            if passing:
                postpone(connection, document_id, time.time())
            else:
                settle(connection, document_id)
        return document_id

    def touch(self, document_id: int, file: FileState) -> None:
        """Store the new size, time and stamp of a file whose bytes are the same."""
        with self._connections.write() as connection:
            dated = connection.execute(
                "SELECT collection_id FROM documents "
                "WHERE id = ? AND status = 'indexed' AND mtime_ns <> ?",
                (document_id, file.mtime_ns),
            ).fetchone()
            version = next_version(connection, dated[0]) if dated else 0
            connection.execute(
                "UPDATE documents SET size = ?, mtime_ns = ?, stamp = ?, "
                "version = CASE ? WHEN 0 THEN version ELSE ? END, "
                "reason = CASE status WHEN 'indexed' THEN '' ELSE reason END WHERE id = ?",
                (file.size, file.mtime_ns, file.stamp, version, version, document_id),
            )
            settle(connection, document_id)

    def forget_attempt(self, document_ids: Sequence[int]) -> None:
        """Make the next sync read the files of these documents again, whatever their status."""
        with self._connections.write() as connection:
            connection.execute(
                "UPDATE documents SET hash = '', mtime_ns = 0, stamp = '', "
                "status = CASE status WHEN 'indexed' THEN status ELSE 'pending' END "
                f"WHERE id {IN_LIST}",
                (id_list(document_ids),),
            )
