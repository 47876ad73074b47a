"""Writing documents: their rows and everything made of them, within the caller's transaction."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping
from typing import Any

from ragkit.catalog.entries import TokenIds, next_version, put_entries, remove_entries
from ragkit.catalog.filters import put_speakers
from ragkit.catalog.records import DocumentDraft, FileState
from ragkit.catalog.vectors import put_vectors
from ragkit.types import Status

CHUNK_COLUMNS = "idx, start, stop, section, heading_path, page_first, page_last, context"
_EMPTY = {
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


def put_document(
    connection: sqlite3.Connection, token_ids: TokenIds, draft: DocumentDraft, embedder_id: int
) -> int:
    """Write a document in place of what was stored for its path; return its id."""
    document_id = upsert_document(
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
            "metadata": _json(draft.metadata),
            "pages": _json([[p.number, p.label, p.start, p.end] for p in draft.pages]),
            "warnings": _json(draft.warnings),
            "chunks": len(draft.chunks),
            "characters": len(draft.text),
            "seconds": draft.seconds,
        },
    )
    version = next_version(connection, draft.collection_id)
    clear_document(connection, document_id, draft.collection_id, version)
    _put_contents(connection, document_id, draft)
    put_speakers(connection, document_id, draft.speakers)
    put_vectors(connection, embedder_id, draft.vectors)
    put_entries(connection, token_ids, draft.collection_id, document_id, draft.entries)
    return document_id


def upsert_document(
    connection: sqlite3.Connection,
    source_id: int,
    collection_id: int,
    file: FileState,
    columns: Mapping[str, Any],
) -> int:
    """Insert or replace the row of a file, unnamed columns becoming empty; return its id."""
    values = {
        **_EMPTY,
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


def clear_document(
    connection: sqlite3.Connection, document_id: int, collection_id: int, version: int
) -> None:
    """Delete what was made of a document; its entries are recorded as removed in ``version``."""
    remove_entries(connection, document_id, collection_id, version)
    for table in ("texts", "sections", "chunks", "speakers"):
        connection.execute(f"DELETE FROM {table} WHERE document_id = ?", (document_id,))


def _put_contents(connection: sqlite3.Connection, document_id: int, draft: DocumentDraft) -> None:
    connection.execute("INSERT INTO texts VALUES (?, ?)", (document_id, draft.text))
    connection.executemany(
        "INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?)",
        [
            (
                document_id,
                section.index,
                section.start,
                section.end,
                section.level,
                _json(section.path),
            )
            for section in draft.sections
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
                _json(record.chunk.heading_path),
                *(record.chunk.pages or (None, None)),
                record.context,
            )
            for record in draft.chunks
        ],
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
