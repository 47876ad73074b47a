"""Which embedder answers, which one a library is moved to, and which texts lack a vector of one."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ragkit.catalog.connection import Connections
from ragkit.catalog.entries import copy_entry, drop_entries, next_version
from ragkit.catalog.vectors import put_vectors

_EMBEDDER = "SELECT id, name, fingerprint, dimensions FROM embedders"
_NO_VECTOR = (
    "NOT EXISTS (SELECT 1 FROM vectors v WHERE v.text_hash = e.text_hash AND v.embedder_id = ?)"
)
_MOST_PARAMETERS = 500


@dataclass(frozen=True, slots=True)
class EmbedderRecord:
    """An embedder that has made vectors here."""

    id: int
    name: str
    fingerprint: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class EmbedderChoice:
    """Which embedder answers. ``previous`` did so before, and going back to it is free.

    ``target`` is the name of the one that the library is moved to, or empty; ``target_id`` its
    number, once it has been opened. ``paused``: no vectors are made in the background now.
    """

    active: EmbedderRecord
    previous: EmbedderRecord | None = None
    target: str = ""
    target_id: int | None = None
    paused: bool = False


@dataclass(frozen=True, slots=True)
class Lacking:
    """How much has no vector of an embedder, and of how many texts that is."""

    texts: int
    documents: int
    of: int


class Embedding:
    """Queries about the choice of an embedder and the vectors that are still to be made."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    # -- the choice ------------------------------------------------------------------------

    def active_id(self) -> int | None:
        """The number of the embedder that answers; cheap enough for every search."""
        row = self._connections.row("SELECT active FROM embedder_choice")
        return int(row[0]) if row else None

    def choice(self) -> EmbedderChoice | None:
        """What is chosen, or ``None`` before anything has been written."""
        row = self._connections.row(
            "SELECT active, previous, target, target_id, paused FROM embedder_choice"
        )
        if row is None:
            return None
        active = self.record(int(row[0]))
        if active is None:
            return None
        previous = self.record(int(row[1])) if row[1] is not None else None
        return EmbedderChoice(active, previous, str(row[2]), row[3], bool(row[4]))

    def record(self, embedder_id: int) -> EmbedderRecord | None:
        """One embedder by its number."""
        row = self._connections.row(f"{_EMBEDDER} WHERE id = ?", (embedder_id,))
        return EmbedderRecord(*row) if row else None

    def newest_named(self, name: str) -> EmbedderRecord | None:
        """The newest embedder of that name; one name may have had several fingerprints."""
        row = self._connections.row(f"{_EMBEDDER} WHERE name = ? ORDER BY id DESC LIMIT 1", (name,))
        return EmbedderRecord(*row) if row else None

    def known(self) -> list[EmbedderRecord]:
        """Every embedder that has made vectors here, the newest of each name, by name."""
        rows = self._connections.rows(
            f"{_EMBEDDER} WHERE id IN (SELECT MAX(id) FROM embedders GROUP BY name) ORDER BY name"
        )
        return [EmbedderRecord(*row) for row in rows]

    def begin(self, embedder_id: int, target: str = "") -> None:
        """Make the first choice; one that has been made stays."""
        with self._connections.write() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO embedder_choice (id, active, target, changed_at) "
                "VALUES (1, ?, ?, ?)",
                (embedder_id, target, time.time()),
            )

    def set_target(self, target: str) -> None:
        """Have the library moved to that embedder; an empty name stops moving."""
        self._set("target = ?, target_id = NULL, paused = 0", target)

    def found_target(self, target: str, embedder_id: int) -> None:
        """Note the number of the embedder that the library is moved to."""
        with self._connections.write() as connection:
            connection.execute(
                "UPDATE embedder_choice SET target_id = ? WHERE target = ? AND target_id IS NOT ?",
                (embedder_id, target, embedder_id),
            )

    def pause(self, paused: bool) -> None:
        """Let the making of vectors rest, or go on."""
        self._set("paused = ?", int(paused))

    def go_back(self) -> bool:
        """Let the previous embedder answer again, at once; False when there is none."""
        with self._connections.write() as connection:
            return (
                connection.execute(
                    "UPDATE embedder_choice SET active = previous, previous = active, "
                    "target = '', target_id = NULL, paused = 0, changed_at = ? "
                    "WHERE previous IS NOT NULL",
                    (time.time(),),
                ).rowcount
                > 0
            )

    def switch(self, embedder_id: int, underivable: Collection[bytes] = ()) -> bool:
        """Let the embedder answer to which the library was moved, if no text lacks its vector.

        ``underivable`` texts do not count: they cannot be made from what is stored.
        """
        with self._connections.write() as connection:
            left = connection.execute(
                f"SELECT DISTINCT e.text_hash FROM entries e WHERE {_NO_VECTOR} LIMIT ?",
                (embedder_id, len(underivable) + 1),
            ).fetchall()
            if any(bytes(row[0]) not in underivable for row in left):
                return False
            return (
                connection.execute(
                    "UPDATE embedder_choice SET previous = active, active = target_id, "
                    "target = '', target_id = NULL, changed_at = ? WHERE target_id = ?",
                    (time.time(), embedder_id),
                ).rowcount
                > 0
            )

    def _set(self, what: str, value: object) -> None:
        with self._connections.write() as connection:
            connection.execute(
                f"UPDATE embedder_choice SET {what}, changed_at = ?", (value, time.time())
            )

    # -- what lacks a vector ---------------------------------------------------------------

    def pulse(self) -> tuple[object, ...]:
        """A value that is another one whenever there may be new work; cheap enough to poll."""
        row = self._connections.row(
            "SELECT (SELECT TOTAL(version) FROM collections), active, target, paused "
            "FROM embedder_choice"
        )
        return tuple(row or ())

    def lacking(self, embedder_id: int | None, after: int = 0) -> Lacking:
        """How many texts and documents have no vector of that embedder, and of how many texts.

        With ``after``, only entries of higher numbers are looked at.
        """
        number = -1 if embedder_id is None else embedder_id
        row = self._connections.row(
            "SELECT COUNT(DISTINCT e.text_hash), COUNT(DISTINCT e.document_id), "
            "(SELECT COUNT(DISTINCT text_hash) FROM entries WHERE id > ?) "
            f"FROM entries e WHERE e.id > ? AND {_NO_VECTOR}",
            (after, after, number),
        )
        return Lacking(int(row[0]), int(row[1]), int(row[2]))

    def last_entry(self) -> int:
        """The highest number that an entry has had."""
        row = self._connections.row("SELECT seq FROM sqlite_sequence WHERE name = 'entries'")
        return int(row[0]) if row else 0

    def lacking_since(self, embedder_id: int, entry_id: int) -> int:
        """How many documents have entries after that one without a vector of that embedder."""
        row = self._connections.row(
            f"SELECT COUNT(DISTINCT e.document_id) FROM entries e WHERE e.id > ? AND {_NO_VECTOR}",
            (entry_id, embedder_id),
        )
        return int(row[0])

    def lacking_documents(self, embedder_id: int, limit: int = -1, after: int = 0) -> list[int]:
        """Documents with entries that have no vector of that embedder, the newest first.

        With ``after``, only entries of higher numbers are looked at.
        """
        rows = self._connections.rows(
            "SELECT d.id FROM documents d WHERE d.id IN (SELECT e.document_id FROM entries e "
            f"WHERE e.id > ? AND {_NO_VECTOR}) ORDER BY d.changed_at DESC, d.id DESC LIMIT ?",
            (after, embedder_id, limit),
        )
        return [row[0] for row in rows]

    def lacking_texts(self, document_id: int, embedder_id: int) -> set[bytes]:
        """The names of a document's texts that have no vector of that embedder."""
        rows = self._connections.rows(
            f"SELECT e.text_hash FROM entries e WHERE e.document_id = ? AND {_NO_VECTOR}",
            (document_id, embedder_id),
        )
        return {bytes(row[0]) for row in rows}

    def put(self, embedder_id: int, vectors: Mapping[bytes, bytes], *, renew: bool) -> None:
        """Store vectors by text, in one transaction.

        With ``renew`` the entries of these texts are put anew, so that readers who have them
        without a vector find them again with one.
        """
        with self._connections.write() as connection:
            put_vectors(connection, embedder_id, dict(vectors))
            if renew:
                _renew(connection, list(vectors))


def _renew(connection: sqlite3.Connection, hashes: list[bytes]) -> None:
    """Put entries of those texts anew, with those of the same place, in their order."""
    rows: set[tuple[int, int]] = set()
    for at in range(0, len(hashes), _MOST_PARAMETERS):
        part = hashes[at : at + _MOST_PARAMETERS]
        marks = ",".join("?" * len(part))
        rows.update(
            connection.execute(
                "SELECT o.id, o.collection_id FROM entries e JOIN entries o "
                "ON o.document_id = e.document_id AND o.position = e.position "
                f"WHERE e.text_hash IN ({marks})",
                part,
            )
        )
    gone: dict[int, list[int]] = {}
    for entry_id, collection_id in sorted(rows):
        connection.execute(
            "UPDATE entry_tokens SET entry_id = ? WHERE entry_id = ?",
            (copy_entry(connection, entry_id), entry_id),
        )
        gone.setdefault(collection_id, []).append(entry_id)
    for collection_id, entry_ids in gone.items():
        drop_entries(connection, collection_id, next_version(connection, collection_id), entry_ids)
