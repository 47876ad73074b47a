"""The outcome of each dropped file, kept until the person dismisses it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from ragkit.catalog.connection import IN_LIST, Connections
from ragkit.types import Status


@dataclass(frozen=True, slots=True)
class UploadRecord:
    """The outcome of a dropped file, or of a member of a dropped archive.

    ``name`` is the one that the person gave it. Either it was stored at ``path`` below the uploads
    folder; or there is a document ``document_id`` (0: not indexed yet) with the same bytes, at the
    path ``same_as``; or it was refused for a ``reason``.
    """

    name: str
    path: str = ""
    hash: str = ""
    same_as: str = ""
    document_id: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """The document of a stored file."""

    id: int
    path: str
    status: Status
    reason: str


class UploadRecords:
    """Queries about the files dropped on one ``machine``, or on any where it is empty."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def add(self, collection_id: int, records: Iterable[UploadRecord], machine: str = "") -> None:
        """Append the outcomes of files to those that are kept."""
        now = time.time_ns()
        rows = [
            (f"{_prefix(collection_id, machine)}{now:020d} {place:05d}", json.dumps(asdict(record)))
            for place, record in enumerate(records)
        ]
        with self._connections.write(alone=False) as connection:
            connection.executemany("INSERT INTO meta VALUES (?, ?)", rows)

    def all(self, collection_id: int, machine: str = "") -> list[UploadRecord]:
        """Return the outcomes of a collection's dropped files, in the order in which they came."""
        rows = self._connections.column(
            "SELECT value FROM meta WHERE key >= ? AND key < ? ORDER BY key",
            _keys(collection_id, machine),
        )
        return [UploadRecord(**json.loads(value)) for value in rows]

    def clear(self, collection_id: int, machine: str = "") -> None:
        """Delete the outcomes that are kept for a collection."""
        with self._connections.write(alone=False) as connection:
            connection.execute(
                "DELETE FROM meta WHERE key >= ? AND key < ?", _keys(collection_id, machine)
            )

    def with_bytes(self, collection_id: int, content_hash: str) -> list[tuple[int, str, str]]:
        """Return (id, folder, path) of a collection's indexed documents with these bytes."""
        return self._connections.rows(
            "SELECT d.id, s.root, d.path FROM documents d JOIN sources s ON s.id = d.source_id "
            "WHERE d.hash = ? AND d.collection_id = ? AND d.status = 'indexed' ORDER BY d.id",
            (content_hash, collection_id),
        )

    def at(self, source_id: int, paths: Sequence[str]) -> dict[str, StoredDocument]:
        """Return the documents of a source with these paths, by path."""
        rows = self._connections.rows(
            "SELECT id, path, status, reason FROM documents WHERE source_id = ? "
            f"AND path {IN_LIST}",
            (source_id, json.dumps(list(paths))),
        )
        return {row[1]: StoredDocument(row[0], row[1], Status(row[2]), row[3]) for row in rows}


def _prefix(collection_id: int, machine: str) -> str:
    return f"upload {collection_id:012d} {machine}{' ' if machine else ''}"


def _keys(collection_id: int, machine: str) -> tuple[str, str]:
    """Return the first key of ``meta`` for a collection's files, and the first behind them."""
    prefix = _prefix(collection_id, machine)
    return prefix, prefix + chr(0x10FFFF)
