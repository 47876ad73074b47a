"""Writing and deleting documents with everything made of them, in the caller's transaction."""

from __future__ import annotations

import json
import re
import time
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from ragkit.catalog.connection import Transaction, folded, insertion
from ragkit.catalog.entry_writing import (
    TokenIds,
    add_to_counts,
    put_entries,
    put_vectors,
    remove_entries,
)
from ragkit.catalog.lineage import next_version
from ragkit.catalog.records import DocumentDraft
from ragkit.catalog.retries import settle
from ragkit.catalog.tags import put_tags
from ragkit.types import FileState, Status

CHUNK_COLUMNS = "idx, start, stop, section, heading_path, page_first, page_last, context, parent"
_NOT_A_WORD = re.compile(r"[\W_]+")
_COPIED = ("hash", "title", "format", "markup", "language", "date", "seconds")
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
    "version": 0,
}


def put_document(
    connection: Transaction, token_ids: TokenIds, draft: DocumentDraft, embedder_id: int
) -> int:
    """Write a document in place of the one at its path; return its id, which stays."""
    version = next_version(connection, draft.collection_id)
    document_id = upsert_document(
        connection,
        draft.source_id,
        draft.collection_id,
        FileState(draft.path, draft.size, draft.mtime_ns, draft.stamp),
        {
            "status": Status.INDEXED.value,
            "reason": "",
            "recipe": draft.pipeline_fingerprint,
            **{name: getattr(draft, name) for name in _COPIED},
            "metadata": _json(draft.metadata),
            "pages": _json([[p.number, p.label, p.start, p.end] for p in draft.pages]),
            "warnings": _json(draft.warnings),
            "chunks": len(draft.chunks),
            "characters": len(draft.text),
            "version": version,
        },
    )
    clear_document(connection, document_id, draft.collection_id, version)
    settle(connection, document_id)
    _put_contents(connection, document_id, draft)
    _put_speakers(connection, document_id, draft)
    put_tags(connection, document_id, draft.collection_id, draft.metadata)
    put_vectors(connection, embedder_id, draft.vectors)
    put_entries(connection, token_ids, draft.collection_id, document_id, draft.entries)
    return document_id


def upsert_document(
    connection: Transaction,
    source_id: int,
    collection_id: int,
    file: FileState,
    columns: Mapping[str, Any],
) -> int:
    """Insert or replace the row of a file, with other columns emptied; return its id."""
    values = {
        **_EMPTY,
        "source_id": source_id,
        "collection_id": collection_id,
        "path": file.path,
        "size": file.size,
        "mtime_ns": file.mtime_ns,
        "stamp": file.stamp,
        "changed_at": time.time(),
        **columns,
    }
    statement = insertion("documents", [*values], key="source_id, path")
    row = connection.execute(f"{statement} RETURNING id", tuple(values.values())).fetchone()
    return int(row[0])


def clear_document(
    connection: Transaction,
    document_id: int,
    collection_id: int,
    version: int | None,
) -> None:
    """Delete what was made of a document, and record that its entries were removed in a version.

    Without a ``version``, one with entries gives the collection a new one.
    """
    rows = connection.execute("SELECT id FROM entries WHERE document_id = ?", (document_id,))
    if entry_ids := [row[0] for row in rows]:
        version = version or next_version(connection, collection_id)
        remove_entries(connection, collection_id, version, entry_ids)
    for table in ("texts", "sections", "chunks", "speakers", "tags"):
        connection.execute(f"DELETE FROM {table} WHERE document_id = ?", (document_id,))


def delete_documents(connection: Transaction, where: str, values: Sequence[Any]) -> int:
    """Delete the documents ``d`` that meet a condition; return how many.

    Their entries are recorded as removed, in a new version of each collection.
    """
    collections = f"SELECT DISTINCT d.collection_id FROM documents d WHERE {where} ORDER BY 1"
    for (collection_id,) in connection.execute(collections, values).fetchall():
        next_version(connection, collection_id)
    entries = f"documents d JOIN entries e ON e.document_id = d.id WHERE {where}"
    connection.execute(
        "INSERT INTO removed_entries (collection_id, version, entry_id) SELECT e.collection_id, "
        "(SELECT c.version FROM collections c WHERE c.id = e.collection_id), e.id "
        f"FROM {entries} ON CONFLICT DO NOTHING",
        values,
    )
    counts = connection.execute(
        f"SELECT e.collection_id, e.level, COUNT(*) FROM {entries} "
        "GROUP BY e.collection_id, e.level",
        values,
    ).fetchall()
    for collection_id, level, count in counts:
        add_to_counts(connection, collection_id, {level: -count})
    return connection.execute(f"DELETE FROM documents AS d WHERE {where}", values).rowcount


def _put_contents(connection: Transaction, document_id: int, draft: DocumentDraft) -> None:
    connection.execute("INSERT INTO texts VALUES (?, ?)", (document_id, draft.text))
    connection.executemany(
        "INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?)",
        [
            (document_id, each.index, each.start, each.end, each.level, _json(each.path))
            for each in draft.sections
        ],
    )
    connection.executemany(
        insertion("chunks", ["document_id", *CHUNK_COLUMNS.split(", ")]),
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
                record.chunk.parent,
            )
            for record in draft.chunks
        ],
    )


def _put_speakers(connection: Transaction, document_id: int, draft: DocumentDraft) -> None:
    rows = {
        (document_id, record.level, record.position, speaker_key(record.speaker), record.day)
        for record in draft.speakers
    }
    connection.executemany("INSERT INTO speakers VALUES (?, ?, ?, ?, ?)", sorted(rows))


def speaker_key(name: str) -> str:
    """Return a name as names are compared: words between spaces, without accents and case.

    A name without letters keeps its characters; the key of an empty name is empty.
    """
    plain = unicodedata.normalize("NFKD", folded(name))
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    words = _NOT_A_WORD.sub(" ", plain).strip() or " ".join(plain.split())
    return f" {words} " if words else ""


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
