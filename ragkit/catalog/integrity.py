"""Consistency checks of the catalog, its size on disk, and whole copies of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.catalog.connection import IN_LIST, Connections, conditions, id_list
from ragkit.catalog.documents import Documents
from ragkit.catalog.entry_rows import AT_LEVELS
from ragkit.catalog.entry_writing import fill_counts, miscounted
from ragkit.catalog.failures import as_library_error
from ragkit.catalog.records import ChunkRecord
from ragkit.types import LEVEL_CODES, BlockKind, InnerBlock, Level, Markup, Section

_MOST_PROBLEMS = 20
_TOKEN_ROWS = 4_000

_TORN = """
SELECT d.id FROM documents d LEFT JOIN texts t ON t.document_id = d.id
WHERE d.status = 'indexed'{where} AND (
    t.document_id IS NULL OR length(t.text) <> d.characters
    OR (SELECT COUNT(*) FROM chunks k WHERE k.document_id = d.id) <> d.chunks
    OR (SELECT COUNT(*) FROM entries e WHERE e.document_id = d.id AND e.level = {chunk}) <> d.chunks
    OR EXISTS (SELECT 1 FROM chunks k WHERE k.document_id = d.id
               AND (k.start < 0 OR k.stop <= k.start OR k.stop > d.characters))
    OR EXISTS (SELECT 1 FROM sections s WHERE s.document_id = d.id
               AND (s.start < 0 OR s.stop < s.start OR s.stop > d.characters))
    OR EXISTS (SELECT 1 FROM entries e WHERE e.document_id = d.id
               AND (e.collection_id <> d.collection_id OR e.level = {chunk} AND NOT EXISTS
                    (SELECT 1 FROM chunks k WHERE k.document_id = d.id AND k.idx = e.position)))
) ORDER BY d.id
"""
_LEFT_OVER = """
SELECT d.id FROM documents d WHERE d.status <> 'indexed'{where}
AND (EXISTS (SELECT 1 FROM texts WHERE document_id = d.id)
     OR EXISTS (SELECT 1 FROM chunks WHERE document_id = d.id)
     OR EXISTS (SELECT 1 FROM sections WHERE document_id = d.id)
     OR EXISTS (SELECT 1 FROM entries WHERE document_id = d.id)) ORDER BY d.id
"""


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """An entry as it is stored; ``level`` is a level code."""

    level: int
    position: int
    text_hash: bytes


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """An indexed document with everything that was made of it."""

    id: int
    source_id: int
    collection_id: int
    path: str
    pipeline_fingerprint: str
    title: str
    markup: Markup
    text: str
    sections: tuple[Section, ...]
    chunks: tuple[ChunkRecord, ...]
    entries: tuple[StoredEntry, ...]
    blocks: tuple[InnerBlock, ...]


@dataclass(frozen=True, slots=True)
class Words:
    """Entries with token ids that the vocabulary lacks, and how many of its tokens are unused."""

    broken_entries: tuple[int, ...]
    unused: int


class Integrity:
    """Queries that find damage and what is no longer needed, and maintenance of the file."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    # -- looking ---------------------------------------------------------------------------

    def damage(self, *, whole: bool = False) -> list[str]:
        """Return the faults that SQLite finds in its file; ``whole`` also compares the indexes."""
        check = "integrity_check" if whole else "quick_check"
        rows = self._connections.rows(f"PRAGMA {check}({_MOST_PROBLEMS})")
        return [str(row[0]) for row in rows if row[0] != "ok"]

    def broken_references(self) -> int:
        """Count rows that refer to a missing row."""
        return len(self._connections.rows("PRAGMA foreign_key_check"))

    def torn_documents(self, collection_id: int | None = None) -> list[int]:
        """Return indexed documents whose text, sections, chunks and entries do not fit together."""
        where, values = conditions(("d.collection_id = ?", collection_id))
        query = _TORN.format(where=where, chunk=LEVEL_CODES[Level.CHUNK])
        return self._connections.column(query, values)

    def left_over(self, collection_id: int | None = None) -> list[int]:
        """Return documents that are not indexed but have text, sections, chunks or entries."""
        where, values = conditions(("d.collection_id = ?", collection_id))
        return self._connections.column(_LEFT_OVER.format(where=where), values)

    def without_vectors(
        self, embedder_id: int | None, collection_id: int | None = None
    ) -> dict[int, int]:
        """Count entries without a vector of the embedder, by document."""
        where, values = conditions(("e.collection_id = ?", collection_id))
        rows = self._connections.rows(
            f"SELECT e.document_id, COUNT(*) FROM entries e WHERE 1{where} AND NOT EXISTS "
            "(SELECT 1 FROM vectors v WHERE v.text_hash = e.text_hash AND v.embedder_id = ?) "
            "GROUP BY 1",
            (*values, -1 if embedder_id is None else embedder_id),
        )
        return dict(rows)

    def embedders(self) -> list[tuple[int, str, str, int]]:
        """Return (id, name, fingerprint, number of vectors) of every embedder that has some."""
        return self._connections.rows(
            "SELECT m.id, m.name, m.fingerprint, COUNT(*) FROM embedders m "
            "JOIN vectors v ON v.embedder_id = m.id GROUP BY m.id ORDER BY m.id"
        )

    def misshapen_vectors(self) -> int:
        """Count vectors whose length is not that of their embedder."""
        return self._number(
            "SELECT COUNT(*) FROM vectors v JOIN embedders m ON m.id = v.embedder_id "
            "WHERE length(v.data) <> 2 * m.dimensions"
        )

    def orphaned_vectors(self) -> int:
        """Count vectors of texts that no entry has."""
        return self._number(
            "SELECT COUNT(*) FROM vectors v WHERE NOT EXISTS "
            "(SELECT 1 FROM entries e WHERE e.text_hash = v.text_hash)"
        )

    def living_removed(self, collection_id: int | None = None) -> list[int]:
        """Return entries that exist although they are recorded as removed."""
        where, values = conditions(("r.collection_id = ?", collection_id))
        return self._connections.column(
            "SELECT DISTINCT e.id FROM removed_entries r JOIN entries e ON e.id = r.entry_id "
            f"WHERE 1{where}",
            values,
        )

    def miscounted(self, collection_id: int | None = None) -> list[int]:
        """Return collections for which ``entry_counts`` is wrong, by counting every entry."""
        with self._connections.read() as connection:
            collection_ids = miscounted(connection)
        return [number for number in collection_ids if collection_id in (None, number)]

    def removals(self, collection_id: int | None = None) -> int:
        """Count recorded removals."""
        where, values = conditions(("collection_id = ?", collection_id))
        return self._number(f"SELECT COUNT(*) FROM removed_entries WHERE 1{where}", *values)

    def stale(
        self, fingerprint: str, own: Mapping[int, str], collection_id: int | None = None
    ) -> set[int]:
        """Return indexed documents of another pipeline, which the next sync reads again.

        ``fingerprint`` is the library's pipeline, ``own`` those of collections with another.
        """
        query = "SELECT id, collection_id FROM documents WHERE status = 'indexed' AND recipe <> ?"
        where, values = conditions(("collection_id = ?", collection_id))
        rows = self._connections.rows(query + where, (fingerprint, *values))
        document_ids = {id_ for id_, owner in rows if owner not in own}
        for owner, recipe in own.items():
            if collection_id in (None, owner):
                rows = self._connections.rows(f"{query} AND collection_id = ?", (recipe, owner))
                document_ids |= {id_ for id_, _owner in rows}
        return document_ids

    def entry_ids(self, collection_id: int, levels: Sequence[Level]) -> NDArray[np.int64]:
        """Return ids of a collection's entries of some levels: ascending int64, (n,)."""
        ids = self._connections.column(
            f"SELECT id FROM entries WHERE collection_id = ? AND {AT_LEVELS} ORDER BY id",
            (collection_id, json.dumps([LEVEL_CODES[level] for level in levels])),
        )
        return np.array(ids, dtype=np.int64)

    def words(self) -> Words:
        """Compare the tokens of all entries with the vocabulary; reads every entry."""
        broken: set[int] = set()
        with self._connections.read() as connection:
            ids = [row[0] for row in connection.execute("SELECT id FROM vocabulary")]
            in_vocabulary = np.zeros(max(ids, default=0) + 2, dtype=np.bool_)
            in_vocabulary[ids] = True
            used = np.zeros(len(in_vocabulary), dtype=np.bool_)
            after = (0, 0)
            # In batches, since a server sends the whole result of a query.
            while rows := connection.execute(
                "SELECT entry_id, field, ids FROM entry_tokens WHERE (entry_id, field) > (?, ?) "
                "ORDER BY entry_id, field LIMIT ?",
                (*after, _TOKEN_ROWS),
            ).fetchall():
                after = rows[-1][:2]
                places = _places(b"".join(row[2] for row in rows), len(in_vocabulary))
                used[places] = True
                if not in_vocabulary[places].all():
                    broken.update(
                        entry
                        for entry, _field, own in rows
                        if not in_vocabulary[_places(own, len(in_vocabulary))].all()
                    )
        return Words(tuple(sorted(broken)), int(np.count_nonzero(in_vocabulary & ~used)))

    def owners(self, entry_ids: Iterable[int]) -> set[int]:
        """Return the documents of some entries."""
        return set(
            self._connections.column(
                f"SELECT DISTINCT document_id FROM entries WHERE id {IN_LIST}",
                (id_list(entry_ids),),
            )
        )

    def document_ids(self, collection_id: int | None = None) -> list[int]:
        """Return ids of all indexed documents."""
        where, values = conditions(("collection_id = ?", collection_id))
        return self._connections.column(
            f"SELECT id FROM documents WHERE status = 'indexed'{where} ORDER BY id", values
        )

    def stored(self, document_id: int) -> StoredDocument | None:
        """Return one indexed document, read from one snapshot; ``None`` when it is gone."""
        key = (document_id,)
        with self._connections.read() as connection:
            head = connection.execute(
                "SELECT d.source_id, d.collection_id, d.path, d.recipe, d.title, d.markup, "
                "coalesce(t.text, '') FROM documents d LEFT JOIN texts t ON t.document_id = d.id "
                "WHERE d.id = ? AND d.status = 'indexed'",
                key,
            ).fetchone()
            if head is None:
                return None
            documents = Documents(self._connections)
            sections = documents.sections(document_id)
            chunks = documents.chunks(document_id)
            blocks = connection.execute(
                "SELECT b.start, b.stop, b.kind, e.position, b.section FROM blocks b "
                "JOIN entries e ON e.id = b.entry_id WHERE e.document_id = ? ORDER BY e.id",
                key,
            ).fetchall()
            entries = connection.execute(
                "SELECT level, position, text_hash FROM entries WHERE document_id = ? ORDER BY id",
                key,
            ).fetchall()
        source_id, collection_id, path, recipe, title, markup, text = head
        return StoredDocument(
            document_id, source_id, collection_id, path, recipe, title, Markup(markup), text,
            tuple(sections),
            tuple(chunks),
            tuple(StoredEntry(level, position, bytes(key)) for level, position, key in entries),
            tuple(
                InnerBlock(start, end, BlockKind(kind), chunk, section)
                for start, end, kind, chunk, section in blocks
            ),
        )  # fmt: skip

    def upload_paths(self) -> Iterator[tuple[str, str]]:
        """Yield root and path of every indexed document that was uploaded."""
        yield from self._connections.rows(
            "SELECT s.root, d.path FROM documents d JOIN sources s ON s.id = d.source_id "
            "WHERE s.kind = 'uploads' AND d.status = 'indexed'"
        )

    # -- repair ----------------------------------------------------------------------------

    def drop_misshapen_vectors(self) -> int:
        """Delete vectors whose length is not that of their embedder; return how many."""
        with self._connections.write() as connection:
            return connection.execute(
                "DELETE FROM vectors WHERE length(data) <> "
                "(SELECT 2 * m.dimensions FROM embedders m WHERE m.id = embedder_id)"
            ).rowcount

    def count_entries(self) -> None:
        """Count the entries of all collections anew."""
        with self._connections.write() as connection:
            fill_counts(connection)

    # -- size ------------------------------------------------------------------------------

    def version(self) -> int:
        """Return the version of the catalog's schema."""
        return self._number("PRAGMA user_version")

    def space(self) -> tuple[int, int]:
        """Return the bytes of the file, and how many of them are free."""
        size = self._number("PRAGMA page_size")
        pages = self._number("PRAGMA page_count")
        return pages * size, self._number("PRAGMA freelist_count") * size

    def shrink(self) -> None:
        """Return free space to the disk. Others can read meanwhile, and wait to write."""
        # Otherwise the new file is built in memory (``temp_store`` in sqlite.py).
        self._connections.rows("PRAGMA temp_store = FILE")
        try:
            self._connections.rows("VACUUM")
        finally:
            self._connections.rows("PRAGMA temp_store = MEMORY")
        self.settle()

    def settle(self) -> None:
        """Move the write-ahead log into the file, as far as no reader needs it."""
        self._connections.rows("PRAGMA optimize")
        self._connections.rows("PRAGMA wal_checkpoint(TRUNCATE)")

    # -- copies ----------------------------------------------------------------------------

    def copy(self, target: Path) -> None:
        """Write a snapshot of the catalog to a new file, without jobs and heartbeat."""
        try:
            with closing(sqlite3.connect(target)) as copy:
                self._connections.get().backup(copy)
                copy.execute("PRAGMA foreign_keys = ON")
                copy.execute("DELETE FROM jobs")
                copy.execute("DELETE FROM workers")
                copy.commit()
                copy.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.Error as error:
            raise as_library_error(error, target) from error

    def _number(self, query: str, *parameters: Any) -> int:
        return int(self._connections.row(query, parameters)[0])


def _places(ids: bytes, size: int) -> NDArray[np.int64]:
    """Return packed token ids as indexes of a table, whose last row stands for all larger ids."""
    return np.minimum(np.frombuffer(ids, dtype="<u4").astype(np.int64), size - 1)
