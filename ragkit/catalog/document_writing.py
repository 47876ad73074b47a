"""Writing a document with all that is made of it: text, chunks, speakers, vectors, entries.

Each function writes within its caller's transaction. Entries never change: they are added and
removed, and their ids are never used again.
"""

from __future__ import annotations

import json
import re
import time
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

from ragkit.catalog.connection import Transaction, folded, id_list, inserted
from ragkit.catalog.entry_counts import add_to_counts
from ragkit.catalog.lineage import holds, newest, next_version
from ragkit.catalog.records import DocumentDraft, EntryDraft, NumberedTokens
from ragkit.catalog.retries import settle
from ragkit.catalog.tags import put_tags
from ragkit.types import FileState, Status, Version

CHUNK_COLUMNS = "idx, start, stop, section, heading_path, page_first, page_last, context, parent"
_MOST_CACHED_TOKENS = 2_000_000
_NOT_A_WORD = re.compile(r"[\W_]+")
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
    """Write a document in place of what was stored for its path; return its id."""
    version = next_version(connection, draft.collection_id)
    document_id = upsert_document(
        connection,
        draft.source_id,
        draft.collection_id,
        FileState(draft.path, draft.size, draft.mtime_ns, draft.stamp),
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
    """Insert or replace the row of a file, unnamed columns becoming empty; return its id."""
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
    connection: Transaction,
    document_id: int,
    collection_id: int,
    version: int | None = None,
) -> None:
    """Delete what was made of a document; its entries are recorded as removed in ``version``.

    By default that is a new version of the collection, if there are any entries.
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
        f"INSERT INTO chunks (document_id, {CHUNK_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
    """Return a name in the form that is compared: its words between spaces, no accents, no case.

    A name without letters has a key as well; the key of an empty name is empty.
    """
    plain = unicodedata.normalize("NFKD", folded(name))
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    words = _NOT_A_WORD.sub(" ", plain).strip() or " ".join(plain.split())
    return f" {words} " if words else ""


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


# -- vectors and entries -------------------------------------------------------------------


def put_vectors(connection: Transaction, embedder_id: int, vectors: Mapping[bytes, bytes]) -> None:
    """Store vectors by text hash; those that are there stay."""
    connection.executemany(
        "INSERT INTO vectors (text_hash, embedder_id, data) VALUES (?, ?, ?) "
        "ON CONFLICT DO NOTHING",
        [(text_hash, embedder_id, data) for text_hash, data in sorted(vectors.items())],
    )


def put_entries(
    connection: Transaction,
    token_ids: TokenIds,
    collection_id: int,
    document_id: int,
    drafts: Sequence[EntryDraft],
) -> None:
    """Insert entries with their tokens."""
    import numpy as np

    every = [tokens for draft in drafts for tokens in draft.tokens.values()]
    shared = {
        id(tokens.words): tokens.words for tokens in every if isinstance(tokens, NumberedTokens)
    }
    plain = (tokens for tokens in every if not isinstance(tokens, NumberedTokens))
    ids = token_ids.of(connection, set(chain(*shared.values(), *plain)))
    tables = {
        key: np.fromiter((ids[word] for word in words), np.uint32, len(words))
        for key, words in shared.items()
    }
    entry_ids = inserted(
        connection,
        "INSERT INTO entries (collection_id, document_id, level, position, text_hash, content_key) "
        "VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
        [
            (
                collection_id,
                document_id,
                draft.level,
                draft.position,
                draft.text_hash,
                draft.content_key,
            )
            for draft in drafts
        ],
    )
    packed: list[tuple[int, int, bytes]] = []
    blocks: list[tuple[int, int, int, str, int]] = []
    for entry_id, draft in zip(entry_ids, drafts, strict=True):
        if (block := draft.block) is not None:
            blocks.append((entry_id, block.start, block.end, block.kind.value, block.section))
        for field, tokens in draft.tokens.items():
            if isinstance(tokens, NumberedTokens):
                numbers = tables[id(tokens.words)][tokens.numbers]
            else:
                numbers = np.fromiter((ids[token] for token in tokens), np.uint32, len(tokens))
            if len(numbers):
                packed.append((entry_id, field, numbers.tobytes()))
    connection.executemany("INSERT INTO blocks VALUES (?, ?, ?, ?, ?)", blocks)
    connection.executemany("INSERT INTO entry_tokens VALUES (?, ?, ?)", packed)
    add_to_counts(connection, collection_id, Counter(draft.level for draft in drafts))


def copy_entry(connection: Transaction, entry_id: int) -> int:
    """Copy an entry without its tokens; what is noted of it goes to the copy. Return its id."""
    new_id, collection_id, level = connection.execute(
        "INSERT INTO entries "
        "(collection_id, document_id, level, position, text_hash, content_key) "
        "SELECT collection_id, document_id, level, position, text_hash, content_key "
        "FROM entries WHERE id = ? RETURNING id, collection_id, level",
        (entry_id,),
    ).fetchone()
    add_to_counts(connection, collection_id, {level: 1})
    connection.execute(
        "INSERT INTO blocks SELECT ?, start, stop, kind, section FROM blocks WHERE entry_id = ?",
        (new_id, entry_id),
    )
    connection.execute(
        "UPDATE chunk_notes SET entry_id = ? WHERE entry_id = ? "
        "AND document_id = (SELECT document_id FROM entries WHERE id = ?)",
        (new_id, entry_id, entry_id),
    )
    return int(new_id)


def remove_entries(
    connection: Transaction, collection_id: int, version: int, entry_ids: Sequence[int]
) -> None:
    """Delete entries of a collection and record the removal."""
    packed = id_list(entry_ids)
    connection.execute(
        "INSERT INTO removed_entries (collection_id, version, entry_id) "
        "SELECT ?, ?, CAST(value AS INTEGER) FROM json_each(?) WHERE true ON CONFLICT DO NOTHING",
        (collection_id, version, packed),
    )
    removed = connection.execute(
        "DELETE FROM entries WHERE id IN (SELECT value FROM json_each(?)) RETURNING level",
        (packed,),
    ).fetchall()
    gone = Counter(level for (level,) in removed)
    add_to_counts(connection, collection_id, {level: -count for level, count in gone.items()})


class Vocabulary:
    """Assigns ids to tokens, with a cache of those that this process has met."""

    def __init__(self) -> None:
        self._cache: dict[str, int] = {}
        self._as_of = Version(0)

    @contextmanager
    def transaction(self) -> Iterator[TokenIds]:
        """Provide ids for one transaction; they are cached when the block ends without an error.

        Enter it before the transaction begins: an id counts only once it is committed.
        """
        ids = TokenIds(self._cache, self._as_of)
        yield ids
        if ids.of_another_history or len(self._cache) > _MOST_CACHED_TOKENS:
            self._cache.clear()
        self._cache.update(ids.added)
        if ids.of_another_history or ids.as_of.number > self._as_of.number:
            self._as_of = ids.as_of


class TokenIds:
    """The token ids of one transaction: ``added`` are those it looked up or assigned.

    ``cache`` holds those of earlier ones and counts only if the change that it was read after, and
    ``as_of`` names, is of this catalog's history.
    """

    def __init__(self, cache: Mapping[str, int], as_of: Version) -> None:
        self._cache = cache
        self.as_of = as_of
        self.of_another_history = False
        self.added: dict[str, int] = {}
        self._checked = False

    def _check(self, connection: Transaction) -> None:
        if self._cache and not holds(connection, self.as_of):
            self._cache, self.of_another_history = {}, True
        self.as_of, self._checked = newest(connection), True

    def of(self, connection: Transaction, tokens: Iterable[str]) -> dict[str, int]:
        """Return ids of all the tokens, assigning new ones where needed."""
        if not self._checked:
            self._check(connection)
        cache, added = self._cache, self.added
        ids: dict[str, int] = {}
        missing: list[str] = []
        for token in tokens:
            number = cache.get(token) or added.get(token)
            if number is None:
                missing.append(token)
            else:
                ids[token] = number
        if missing:
            query = (
                "SELECT token, id FROM vocabulary WHERE token IN (SELECT value FROM json_each(?))"
            )
            found = dict(connection.execute(query, (json.dumps(missing),)).fetchall())
            # Sorted, so that the same documents get the same ids; none is given and not used.
            if new := sorted(set(missing).difference(found)):
                query = "INSERT INTO vocabulary (token) SELECT value FROM json_each(?)"
                rows = connection.execute(f"{query} RETURNING token, id", (json.dumps(new),))
                found.update(rows.fetchall())
            added.update(found)
            ids.update(found)
        return ids
