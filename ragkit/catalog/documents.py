"""Documents: what was read of each file, written and removed one transaction at a time."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ragkit.catalog.connection import Connections
from ragkit.catalog.entries import (
    TokenIds,
    Vocabulary,
    next_version,
    put_entries,
    remove_entries,
)
from ragkit.catalog.filters import put_speakers
from ragkit.catalog.records import (
    ChunkRecord,
    Counts,
    DocumentDraft,
    DocumentRecord,
    FileState,
    KnownFile,
)
from ragkit.catalog.vectors import put_vectors
from ragkit.errors import NotFoundError
from ragkit.types import Chunk, Page, Section, Status

_DOCUMENT = """
SELECT d.id, d.source_id, d.collection_id, c.name, s.root, d.path, d.status, d.reason, d.size,
       d.mtime_ns, d.hash, d.recipe, d.title, d.format, d.markup, d.language, d.date, d.metadata,
       d.pages, d.warnings, d.chunks, d.characters, d.changed_at
FROM documents d JOIN collections c ON c.id = d.collection_id JOIN sources s ON s.id = d.source_id
"""
_NOTHING_READ = {
    "title": "",
    "format": "",
    "markup": "",
    "language": "",
    "date": "",
    "metadata": "{}",
    "pages": "[]",
    "warnings": "[]",
    "chunks": 0,
    "characters": 0,
    "seconds": 0.0,
}
CHUNK_COLUMNS = "idx, start, stop, section, heading_path, page_first, page_last, context"


class Documents:
    """Queries about documents. Only the writer calls the methods that change something."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._vocabulary = Vocabulary()

    # -- reading ---------------------------------------------------------------------------

    def known_files(self, source_id: int) -> dict[str, KnownFile]:
        """What the catalog remembers of each file of a source, by path."""
        rows = self._connections.rows(
            "SELECT id, path, size, mtime_ns, hash, recipe, markup, status FROM documents "
            "WHERE source_id = ?",
            (source_id,),
        )
        return {row[1]: KnownFile(*[*row[:-1], Status(row[-1])]) for row in rows}

    def get(self, document_id: int) -> DocumentRecord:
        """One document.

        Raises:
            NotFoundError: when it is gone.
        """
        found = self.get_many([document_id])
        if not found:
            raise NotFoundError(f"There is no document {document_id}.", "It may have been removed.")
        return found[document_id]

    def get_many(self, document_ids: Iterable[int]) -> dict[int, DocumentRecord]:
        """Documents by id; those that are gone are left out."""
        rows = self._connections.rows(
            f"{_DOCUMENT} WHERE d.id IN (SELECT value FROM json_each(?))", (_packed(document_ids),)
        )
        return {row[0]: _document(row) for row in rows}

    def counts(self, collection_id: int | None = None) -> Counts:
        """How many documents stand how."""
        where = "" if collection_id is None else "WHERE collection_id = ?"
        parameters = () if collection_id is None else (collection_id,)
        rows = self._connections.rows(
            f"SELECT status, COUNT(*), SUM(chunks) FROM documents {where} GROUP BY status",
            parameters,
        )
        by_status = {row[0]: int(row[1]) for row in rows}
        entries = self._connections.row(f"SELECT COUNT(*) FROM entries {where}", parameters)
        return Counts(
            **{status.value: by_status.get(status.value, 0) for status in Status},
            chunks=sum(int(row[2] or 0) for row in rows),
            entries=int(entries[0]),
        )

    def text(self, document_id: int) -> str:
        """A document's stored text; empty when it has none."""
        return self.texts([document_id]).get(document_id, "")

    def texts(self, document_ids: Iterable[int]) -> dict[int, str]:
        """Stored texts by document, in one query."""
        rows = self._connections.rows(
            "SELECT document_id, text FROM texts "
            "WHERE document_id IN (SELECT value FROM json_each(?))",
            (_packed(document_ids),),
        )
        return {row[0]: row[1] for row in rows}

    def sections(self, document_id: int) -> list[Section]:
        """A document's sections in order."""
        rows = self._connections.rows(
            "SELECT idx, start, stop, level, path FROM sections WHERE document_id = ? ORDER BY idx",
            (document_id,),
        )
        return [Section(*[*row[:-1], tuple(json.loads(row[-1]))]) for row in rows]

    def chunks(self, document_id: int) -> list[ChunkRecord]:
        """A document's chunks in order."""
        return self.chunks_of([document_id]).get(document_id, [])

    def chunks_of(self, document_ids: Sequence[int]) -> dict[int, list[ChunkRecord]]:
        """The chunks of several documents in order, in one query."""
        rows = self._connections.rows(
            f"SELECT document_id, {CHUNK_COLUMNS} FROM chunks "
            "WHERE document_id IN (SELECT value FROM json_each(?)) ORDER BY document_id, idx",
            (_packed(document_ids),),
        )
        found: dict[int, list[ChunkRecord]] = {}
        for row in rows:
            found.setdefault(row[0], []).append(chunk_of_row(row[1:]))
        return found

    def list(
        self,
        collection_id: int | None = None,
        *,
        source_id: int | None = None,
        status: Status | None = None,
        containing: str = "",
        limit: int = -1,
        offset: int = 0,
    ) -> list[DocumentRecord]:
        """Documents by path, those with a problem first."""
        where = ["1"]
        parameters: list[Any] = []
        for condition, value in (
            ("d.collection_id = ?", collection_id),
            ("d.source_id = ?", source_id),
            ("d.status = ?", status.value if status else None),
        ):
            if value is not None:
                where.append(condition)
                parameters.append(value)
        if containing:
            where.append("(instr(folded(d.path), folded(?)) OR instr(folded(d.title), folded(?)))")
            parameters += [containing, containing]
        rows = self._connections.rows(
            f"{_DOCUMENT} WHERE {' AND '.join(where)} ORDER BY "
            "CASE d.status WHEN 'failed' THEN 0 WHEN 'pending' THEN 1 ELSE 2 END, d.path, d.id "
            "LIMIT ? OFFSET ?",
            (*parameters, limit, offset),
        )
        return [_document(row) for row in rows]

    # -- writing ---------------------------------------------------------------------------

    def put(self, draft: DocumentDraft, embedder_id: int) -> int:
        """Write a document that was read, in place of what was known of its path."""
        return self.put_many([draft], embedder_id)[0]

    def put_many(self, drafts: Sequence[DocumentDraft], embedder_id: int) -> Sequence[int]:
        """Write documents that were read, all in one transaction: all are kept, or none is."""
        with self._vocabulary.transaction() as token_ids, self._connections.write() as connection:
            return [_put(connection, token_ids, draft, embedder_id) for draft in drafts]

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
    ) -> int:
        """Record that a file is pending, skipped or failed; what was indexed of it goes."""
        with self._connections.write() as connection:
            document_id = _upsert(
                connection,
                source_id,
                collection_id,
                file,
                {
                    "status": status.value,
                    "reason": reason,
                    **_NOTHING_READ,
                    "hash": content_hash,
                    "recipe": pipeline_fingerprint,
                },
            )
            had = connection.execute(
                "SELECT 1 FROM entries WHERE document_id = ? LIMIT 1", (document_id,)
            ).fetchone()
            if had:
                version = next_version(connection, collection_id)
                _clear(connection, document_id, collection_id, version)
            else:
                _clear(connection, document_id, collection_id, 0)
        return document_id

    def add_pending(self, source_id: int, collection_id: int, files: Sequence[FileState]) -> None:
        """Show files that were found and not yet read; known ones are left as they are."""
        now = time.time()
        with self._connections.write() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO documents "
                "(source_id, collection_id, path, status, size, mtime_ns, changed_at) "
                "VALUES (?, ?, ?, 'pending', ?, ?, ?)",
                [(source_id, collection_id, f.path, f.size, f.mtime_ns, now) for f in files],
            )

    def rename(self, document_id: int, path: str, *, stale: bool) -> None:
        """Follow a file that was moved within its source: the document stays the same one.

        ``stale`` says that its path or name is part of what was indexed, so that it is read
        again, by this look or, after a crash, by the next.
        """
        with self._connections.write() as connection:
            connection.execute(
                "UPDATE documents SET path = ?, recipe = CASE WHEN ? THEN '' ELSE recipe END "
                "WHERE id = ?",
                (path, stale, document_id),
            )

    def touch(self, document_id: int, file: FileState) -> None:
        """Remember a file's new size and time when its bytes are the same."""
        with self._connections.write() as connection:
            connection.execute(
                "UPDATE documents SET size = ?, mtime_ns = ? WHERE id = ?",
                (file.size, file.mtime_ns, document_id),
            )

    def forget_attempt(self, document_ids: Sequence[int]) -> None:
        """Make the next sync read these files again, whatever came of them."""
        with self._connections.write() as connection:
            connection.execute(
                "UPDATE documents SET hash = '', mtime_ns = 0, "
                "status = CASE status WHEN 'indexed' THEN status ELSE 'pending' END "
                "WHERE id IN (SELECT value FROM json_each(?))",
                (_packed(document_ids),),
            )

    def remove(self, document_ids: Sequence[int]) -> int:
        """Remove documents with everything that was made of them; returns how many."""
        removed = 0
        with self._connections.write() as connection:
            versions: dict[int, int] = {}
            for document_id in document_ids:
                row = connection.execute(
                    "SELECT collection_id FROM documents WHERE id = ?", (document_id,)
                ).fetchone()
                if row is None:
                    continue
                collection_id = int(row[0])
                if collection_id not in versions:
                    versions[collection_id] = next_version(connection, collection_id)
                remove_entries(connection, document_id, collection_id, versions[collection_id])
                connection.execute("DELETE FROM documents WHERE id = ?", (document_id,))
                removed += 1
        return removed


def _put(
    connection: sqlite3.Connection, token_ids: TokenIds, draft: DocumentDraft, embedder_id: int
) -> int:
    document_id = _upsert(
        connection,
        draft.source_id,
        draft.collection_id,
        FileState(draft.path, draft.size, draft.mtime_ns),
        {
            "status": Status.INDEXED.value,
            "reason": "",
            "hash": draft.hash,
            "recipe": draft.pipeline_fingerprint,
            "title": draft.title,
            "format": draft.format,
            "markup": draft.markup,
            "language": draft.language,
            "date": draft.date,
            "metadata": json.dumps(draft.metadata, ensure_ascii=False),
            "pages": json.dumps(
                [[p.number, p.label, p.start, p.end] for p in draft.pages],
                ensure_ascii=False,
            ),
            "warnings": json.dumps(draft.warnings, ensure_ascii=False),
            "chunks": len(draft.chunks),
            "characters": len(draft.text),
            "seconds": draft.seconds,
        },
    )
    version = next_version(connection, draft.collection_id)
    _clear(connection, document_id, draft.collection_id, version)
    _put_contents(connection, document_id, draft)
    put_vectors(connection, embedder_id, draft.vectors)
    put_entries(connection, token_ids, draft.collection_id, document_id, draft.entries)
    return document_id


def _upsert(
    connection: sqlite3.Connection,
    source_id: int,
    collection_id: int,
    file: FileState,
    columns: Mapping[str, Any],
) -> int:
    values = {
        "source_id": source_id,
        "collection_id": collection_id,
        "path": file.path,
        "size": file.size,
        "mtime_ns": file.mtime_ns,
        "changed_at": time.time(),
        **columns,
    }
    names = ", ".join(values)
    marks = ", ".join("?" * len(values))
    updates = ", ".join(f"{name} = excluded.{name}" for name in values if name != "source_id")
    row = connection.execute(
        f"INSERT INTO documents ({names}) VALUES ({marks}) "
        f"ON CONFLICT (source_id, path) DO UPDATE SET {updates} RETURNING id",
        tuple(values.values()),
    ).fetchone()
    return int(row[0])


def _clear(
    connection: sqlite3.Connection, document_id: int, collection_id: int, version: int
) -> None:
    remove_entries(connection, document_id, collection_id, version)
    for table in ("texts", "sections", "chunks", "speakers"):
        connection.execute(f"DELETE FROM {table} WHERE document_id = ?", (document_id,))


def _put_contents(connection: sqlite3.Connection, document_id: int, draft: DocumentDraft) -> None:
    put_speakers(connection, document_id, draft.speakers)
    connection.execute("INSERT INTO texts VALUES (?, ?)", (document_id, draft.text))
    connection.executemany(
        "INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?)",
        [
            (document_id, s.index, s.start, s.end, s.level, json.dumps(s.path, ensure_ascii=False))
            for s in draft.sections
        ],
    )
    connection.executemany(
        f"INSERT INTO chunks (document_id, {CHUNK_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                document_id,
                record.chunk.index,
                record.chunk.start,
                record.chunk.end,
                record.chunk.section,
                json.dumps(record.chunk.heading_path, ensure_ascii=False),
                *(record.chunk.pages or (None, None)),
                record.context,
            )
            for record in draft.chunks
        ],
    )


def chunk_of_row(row: Sequence[Any]) -> ChunkRecord:
    """Read a chunk from a row of ``CHUNK_COLUMNS``."""
    pages = None if row[5] is None else (int(row[5]), int(row[6]))
    chunk = Chunk(row[0], row[1], row[2], row[3], _headings(row[4]), pages)
    return ChunkRecord(chunk, str(row[7]))


@lru_cache(maxsize=4096)
def _headings(packed: str) -> tuple[str, ...]:
    return tuple(json.loads(packed))


def _document(row: Sequence[Any]) -> DocumentRecord:
    values = list(row)
    values[6] = Status(row[6])
    values[17] = json.loads(row[17]) if row[17] != "{}" else {}
    values[18] = tuple(Page(*page) for page in json.loads(row[18])) if row[18] != "[]" else ()
    values[19] = tuple(json.loads(row[19])) if row[19] != "[]" else ()
    return DocumentRecord(*values)


def _packed(ids: Iterable[int]) -> str:
    """Ids as the JSON list that a query takes apart."""
    return json.dumps([int(one) for one in ids])
