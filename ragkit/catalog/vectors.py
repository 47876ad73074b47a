"""Vectors, by the hash of the text and the embedder, and the choice of the embedder in use."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ragkit.catalog.connection import IN_LIST, Connections, Transaction, id_list, key_batches
from ragkit.catalog.entry_writing import (
    copy_entry,
    put_vectors,
    remove_entries,
)
from ragkit.catalog.lineage import next_version
from ragkit.catalog.marker import CURE
from ragkit.errors import CatalogError
from ragkit.types import LEVEL_CODES, Level

_NO_VECTOR = (
    "NOT EXISTS (SELECT 1 FROM vectors v WHERE v.text_hash = e.text_hash AND v.embedder_id = ?)"
)

_MAY_LACK = f"e.id > ? AND {_NO_VECTOR}"


@dataclass(frozen=True, slots=True)
class MissingVectors:
    """How many texts have no vector of an embedder, and in how many documents."""

    texts: int
    documents: int


@dataclass(frozen=True, slots=True)
class EmbedderRecord:
    """An embedder that has made vectors here."""

    id: int
    name: str
    fingerprint: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class EmbedderChoice:
    """The ``active`` embedder, which encodes questions, and the one before it.

    ``target`` is the name of the embedder that the library migrates to, or empty; ``target_id``
    its id, once it has been opened. ``paused``: no vectors are made in the background.
    """

    active: EmbedderRecord
    previous: EmbedderRecord | None = None
    target: str = ""
    target_id: int | None = None
    paused: bool = False


class Vectors:
    """Queries about vectors, which are stored as ``dimensions`` little-endian float16."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        # The id up to which all entries have a vector, by catalog and embedder.
        self._complete: dict[tuple[object, int | None], int] = {}

    def existing(self, hashes: Iterable[bytes], embedder_id: int) -> set[bytes]:
        """Return those of the text hashes that have a vector of the embedder."""
        existing: set[bytes] = set()
        for among, batch in key_batches(hashes):
            column = self._connections.column(
                f"SELECT text_hash FROM vectors WHERE embedder_id = ? AND text_hash {among}",
                (embedder_id, *batch),
            )
            existing.update(map(bytes, column))
        return existing

    def of_entries(self, entry_ids: Sequence[int], embedder_id: int) -> dict[int, bytes]:
        """Return vectors by entry id; entries without one are left out."""
        return dict(
            self._connections.rows(
                "SELECT e.id, v.data FROM entries e "
                "JOIN vectors v ON v.text_hash = e.text_hash AND v.embedder_id = ? "
                f"WHERE e.id {IN_LIST}",
                (embedder_id, id_list(entry_ids)),
            )
        )

    def of_document(self, document_id: int, embedder_id: int) -> bytes | None:
        """Return the vector of the entry for the document as a whole, or ``None``."""
        row = self._connections.row(
            "SELECT v.data FROM entries e "
            "JOIN vectors v ON v.text_hash = e.text_hash AND v.embedder_id = ? "
            "WHERE e.document_id = ? AND e.level = ?",
            (embedder_id, document_id, LEVEL_CODES[Level.DOCUMENT]),
        )
        return bytes(row[0]) if row else None

    def of_language(
        self, collection_id: int, language: str, embedder_id: int, most: int
    ) -> list[bytes]:
        """Return the vectors of some documents as a whole that are in a language, by its code."""
        rows = self._connections.rows(
            "SELECT v.data FROM documents d JOIN entries e ON e.document_id = d.id AND e.level = ? "
            "JOIN vectors v ON v.text_hash = e.text_hash AND v.embedder_id = ? "
            "WHERE d.collection_id = ? AND d.language = ? LIMIT ?",
            (LEVEL_CODES[Level.DOCUMENT], embedder_id, collection_id, language, most),
        )
        return [bytes(row[0]) for row in rows]

    def is_complete(self, embedder_id: int | None) -> bool:
        """Return whether every entry has a vector of the embedder.

        Those known to have one are not checked again before ``recheck``, since vectors in use are
        never deleted.
        """
        with self._connections.read() as connection:
            (last,) = connection.execute("SELECT coalesce(MAX(id), 0) FROM entries").fetchone()
            # Newest first, where one that is missing is most likely.
            lacking = connection.execute(
                f"SELECT e.id FROM entries e WHERE {_MAY_LACK} ORDER BY e.id DESC LIMIT 1",
                self._unchecked(embedder_id),
            ).fetchone()
        if lacking is None:
            self._complete[self._connections.identity, embedder_id] = int(last)
        return lacking is None

    def recheck(self, embedder_id: int) -> None:
        """Check every entry again when a missing vector of the embedder is next asked for."""
        self._complete.pop((self._connections.identity, embedder_id), None)

    def _unchecked(self, embedder_id: int | None) -> tuple[int, int]:
        """Return the parameters of ``_MAY_LACK``."""
        key = (self._connections.identity, embedder_id)
        return self._complete.get(key, 0), -1 if embedder_id is None else embedder_id

    def missing(self, embedder_id: int | None) -> MissingVectors:
        """Count the texts without a vector of the embedder, and their documents."""
        texts = documents = 0
        if not self.is_complete(embedder_id):
            texts, documents = self._connections.row(
                "SELECT COUNT(DISTINCT e.text_hash), COUNT(DISTINCT e.document_id) "
                f"FROM entries e WHERE {_MAY_LACK}",
                self._unchecked(embedder_id),
            )
        return MissingVectors(int(texts), int(documents))

    def texts_in_all(self) -> int:
        """Count the texts that an embedder makes vectors of, which reads every entry."""
        return int(self._connections.row("SELECT COUNT(DISTINCT text_hash) FROM entries")[0])

    def documents_missing(self, embedder_id: int, limit: int = -1) -> list[int]:
        """Return documents with entries that have no vector of the embedder, newest first."""
        return self._connections.column(
            "SELECT d.id FROM documents d WHERE d.id IN (SELECT e.document_id FROM entries e "
            f"WHERE {_MAY_LACK}) ORDER BY d.changed_at DESC, d.id DESC LIMIT ?",
            (*self._unchecked(embedder_id), limit),
        )

    def texts_missing(self, document_id: int, embedder_id: int) -> set[bytes]:
        """Return hashes of the document's texts that have no vector of the embedder."""
        rows = self._connections.rows(
            f"SELECT e.text_hash FROM entries e WHERE e.document_id = ? AND {_NO_VECTOR}",
            (document_id, embedder_id),
        )
        return {bytes(row[0]) for row in rows}

    def put(self, embedder_id: int, vectors: Mapping[bytes, bytes], *, renew: bool) -> None:
        """Store vectors by text hash, in one transaction.

        With ``renew``, the entries of these texts get new ids, so that indexes that hold them
        without a vector read them again.
        """
        with self._connections.write() as connection:
            put_vectors(connection, embedder_id, vectors)
            if renew:
                _renew_entries(connection, vectors)

    def prune(self) -> int:
        """Delete vectors of texts that no entry has; return how many."""
        with self._connections.write() as connection:
            return connection.execute(
                "DELETE FROM vectors WHERE text_hash NOT IN (SELECT text_hash FROM entries)"
            ).rowcount


class Embedders:
    """Queries about embedders, and about which is in use."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def find(self, fingerprint: str) -> int | None:
        """Return the id of an embedder, or ``None`` if it has made no vector here."""
        row = self._connections.row(
            "SELECT id FROM embedders WHERE fingerprint = ?", (fingerprint,)
        )
        return int(row[0]) if row else None

    def ensure(self, fingerprint: str, name: str, dimensions: int) -> int:
        """Return the id of an embedder, adding it if it is new."""
        embedder_id = self.find(fingerprint)
        if embedder_id is not None:
            return embedder_id
        with self._connections.write() as connection:
            row = connection.execute(
                "INSERT INTO embedders (fingerprint, name, dimensions) VALUES (?, ?, ?) "
                "ON CONFLICT (fingerprint) DO UPDATE SET fingerprint = excluded.fingerprint "
                "RETURNING id",
                (fingerprint, name, dimensions),
            ).fetchone()
        return int(row[0])

    def rename(self, fingerprint: str, name: str) -> None:
        """Give an embedder another name, if it is known here, after its files were moved."""
        with self._connections.write() as connection:
            connection.execute(
                "UPDATE embedders SET name = ? WHERE fingerprint = ? AND name <> ?",
                (name, fingerprint, name),
            )

    def get(self, embedder_id: int) -> EmbedderRecord | None:
        """Return one embedder, or ``None``."""
        return next(iter(self._records("id = ?", embedder_id)), None)

    def newest_named(self, name: str) -> EmbedderRecord | None:
        """Return the newest embedder of that name, which may have had several fingerprints."""
        return next(iter(self._records("name = ? ORDER BY id DESC LIMIT 1", name)), None)

    def all(self) -> list[EmbedderRecord]:
        """Return the embedders that have made vectors here by name, the newest of each name."""
        return self._records("id IN (SELECT MAX(id) FROM embedders GROUP BY name) ORDER BY name")

    def _records(self, which: str, *values: object) -> list[EmbedderRecord]:
        query = f"SELECT id, name, fingerprint, dimensions FROM embedders WHERE {which}"
        return [EmbedderRecord(*row) for row in self._connections.rows(query, values)]

    def active_id(self) -> int | None:
        """Return the id of the active embedder, if any; cheap enough for every search.

        Raises:
            CatalogError: a damaged row does not say it.
        """
        row = self._connections.row("SELECT active FROM embedder_choice")
        if row and row[0] is None:
            raise CatalogError("The catalog is damaged: it names no active embedder.", CURE)
        return int(row[0]) if row else None

    def choice(self) -> EmbedderChoice | None:
        """Return the choice of embedders, or ``None`` before the first."""
        row = self._connections.row(
            "SELECT active, previous, target, target_id, paused FROM embedder_choice"
        )
        active = self.get(int(row[0])) if row else None
        if active is None:
            return None
        previous = self.get(int(row[1])) if row[1] is not None else None
        return EmbedderChoice(active, previous, str(row[2]), row[3], bool(row[4]))

    def choose_first(self, embedder_id: int, target: str = "") -> None:
        """Make the first choice, unless there is one."""
        with self._connections.write() as connection:
            connection.execute(
                "INSERT INTO embedder_choice (id, active, target, changed_at) "
                "VALUES (1, ?, ?, ?) ON CONFLICT DO NOTHING",
                (embedder_id, target, time.time()),
            )

    def set_target(self, target: str) -> None:
        """Start the migration to the embedder of that name; stop it if the name is empty."""
        self._set("target = ?, target_id = NULL, paused = 0", target)

    def set_target_id(self, target: str, embedder_id: int) -> None:
        """Store the id of the embedder that the library migrates to."""
        with self._connections.write() as connection:
            connection.execute(
                "UPDATE embedder_choice SET target_id = ? WHERE target = ? "
                "AND (target_id IS NULL OR target_id <> ?)",
                (embedder_id, target, embedder_id),
            )

    def set_paused(self, paused: bool) -> None:
        """Pause or resume the making of vectors."""
        self._set("paused = ?", int(paused))

    def revert(self) -> bool:
        """Exchange the active embedder and the one before it; return False if there is none."""
        return self._set(
            "active = previous, previous = active, target = ?, target_id = NULL, paused = 0",
            "",
            "WHERE previous IS NOT NULL",
        )

    def switch(self, embedder_id: int, underivable: Collection[bytes] = ()) -> bool:
        """Make the target of the migration the active embedder; return whether that was done.

        It is not while a text lacks a vector of it, other than the ``underivable`` ones, which
        cannot be rebuilt from what is stored, nor if the target is another one by now.
        """
        with self._connections.write() as connection:
            missing = connection.execute(
                f"SELECT DISTINCT e.text_hash FROM entries e WHERE {_NO_VECTOR} LIMIT ?",
                (embedder_id, len(underivable) + 1),
            ).fetchall()
            if any(bytes(row[0]) not in underivable for row in missing):
                return False
            cursor = connection.execute(
                "UPDATE embedder_choice SET previous = active, active = target_id, "
                "target = '', target_id = NULL, changed_at = ? WHERE target_id = ?",
                (time.time(), embedder_id),
            )
            return cursor.rowcount > 0

    def change_token(self) -> tuple[object, ...]:
        """Return a value that changes whenever there may be new work; cheap enough to poll."""
        row = self._connections.row(
            "SELECT (SELECT TOTAL(version) FROM collections), active, target, paused "
            "FROM embedder_choice"
        )
        return tuple(row or ())

    def _set(self, assignments: str, value: object, where: str = "") -> bool:
        """Update the choice; return whether there was one."""
        with self._connections.write() as connection:
            cursor = connection.execute(
                f"UPDATE embedder_choice SET {assignments}, changed_at = ? {where}",
                (value, time.time()),
            )
            return cursor.rowcount > 0


def _renew_entries(connection: Transaction, hashes: Iterable[bytes]) -> None:
    """Replace the entries of these texts, and all at their positions, by copies in order of id."""
    rows: set[tuple[int, int]] = set()
    for among, batch in key_batches(hashes):
        rows.update(
            connection.execute(
                "SELECT o.id, o.collection_id FROM entries e JOIN entries o "
                "ON o.document_id = e.document_id AND o.position = e.position "
                f"WHERE e.text_hash {among}",
                batch,
            )
        )
    replaced: dict[int, list[int]] = {}
    for entry_id, collection_id in sorted(rows):
        connection.execute(
            "UPDATE entry_tokens SET entry_id = ? WHERE entry_id = ?",
            (copy_entry(connection, entry_id), entry_id),
        )
        replaced.setdefault(collection_id, []).append(entry_id)
    for collection_id, entry_ids in replaced.items():
        version = next_version(connection, collection_id)
        connection.execute(
            "UPDATE documents SET version = ? "
            f"WHERE id IN (SELECT document_id FROM entries WHERE id {IN_LIST})",
            (version, id_list(entry_ids)),
        )
        remove_entries(connection, collection_id, version, entry_ids)
