"""Vectors by (hash of the embedded text, embedder), and the embedders that made them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from ragkit.catalog.connection import Connections
from ragkit.types import LEVEL_CODES, Level

_MOST_PARAMETERS = 500


class Vectors:
    """Queries about vectors. Data are little-endian float16, ``dimensions`` long."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def embedder_id(self, fingerprint: str, name: str, dimensions: int) -> int:
        """The number of an embedder, given one if it is new."""
        row = self._connections.row(
            "SELECT id FROM embedders WHERE fingerprint = ?", (fingerprint,)
        )
        if row:
            return int(row[0])
        with self._connections.write() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO embedders (fingerprint, name, dimensions) VALUES (?, ?, ?)",
                (fingerprint, name, dimensions),
            )
            row = connection.execute(
                "SELECT id FROM embedders WHERE fingerprint = ?", (fingerprint,)
            ).fetchone()
        return int(row[0])

    def find_embedder(self, fingerprint: str) -> int | None:
        """The number of an embedder, or ``None`` when it has made nothing here yet."""
        row = self._connections.row(
            "SELECT id FROM embedders WHERE fingerprint = ?", (fingerprint,)
        )
        return int(row[0]) if row else None

    def known(self, hashes: Iterable[bytes], embedder_id: int) -> set[bytes]:
        """Which of the texts have a vector of that embedder."""
        found: set[bytes] = set()
        for part in _parts(hashes, _MOST_PARAMETERS):
            marks = ",".join("?" * len(part))
            rows = self._connections.rows(
                f"SELECT text_hash FROM vectors WHERE embedder_id = ? AND text_hash IN ({marks})",
                (embedder_id, *part),
            )
            found.update(bytes(row[0]) for row in rows)
        return found

    def of_entries(self, entry_ids: Sequence[int], embedder_id: int) -> dict[int, bytes]:
        """The vectors of entries, by entry id; those without one are left out."""
        return dict(
            self._connections.rows(
                "SELECT e.id, v.data FROM entries e "
                "JOIN vectors v ON v.text_hash = e.text_hash AND v.embedder_id = ? "
                "WHERE e.id IN (SELECT value FROM json_each(?))",
                (embedder_id, json.dumps(list(entry_ids))),
            )
        )

    def of_document(self, document_id: int, embedder_id: int) -> bytes | None:
        """The vector that stands for a whole document, if there is one."""
        row = self._connections.row(
            "SELECT v.data FROM entries e "
            "JOIN vectors v ON v.text_hash = e.text_hash AND v.embedder_id = ? "
            "WHERE e.document_id = ? AND e.level = ?",
            (embedder_id, document_id, LEVEL_CODES[Level.DOCUMENT]),
        )
        return bytes(row[0]) if row else None

    def prune(self) -> int:
        """Drop the vectors of texts that no entry has; returns how many."""
        with self._connections.write() as connection:
            return connection.execute(
                "DELETE FROM vectors WHERE text_hash NOT IN (SELECT text_hash FROM entries)"
            ).rowcount


def put_vectors(
    connection: sqlite3.Connection, embedder_id: int, vectors: dict[bytes, bytes]
) -> None:
    """Store vectors by text hash, within the caller's transaction."""
    connection.executemany(
        "INSERT OR IGNORE INTO vectors (text_hash, embedder_id, data) VALUES (?, ?, ?)",
        [(text_hash, embedder_id, data) for text_hash, data in sorted(vectors.items())],
    )


def _parts(values: Iterable[bytes], size: int) -> Iterator[Sequence[bytes]]:
    iterator = iter(values)
    while part := list(islice(iterator, size)):
        yield part
