"""Model contexts: what is written for each chunk, how each chunk stands, and what was ever written.

A chunk without a row waits for its first context. What a model wrote is also kept by what it was
made from, so that it outlives the rows of a document that is read again.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import numpy as np

from ragkit.catalog.connection import Connections
from ragkit.catalog.entries import TokenIds, Vocabulary, put_entries
from ragkit.catalog.records import EntryDraft
from ragkit.catalog.vectors import put_vectors
from ragkit.types import FIELD_CODES, LEVEL_CODES, Chunk, Field, Level

BY_PERSON = "person"
"""Stands in the place of the model when a person wrote or changed a context."""

_OWN_LEVELS = json.dumps(
    [LEVEL_CODES[level] for level in (Level.CHUNK, Level.CONTEXT, Level.QUESTION)]
)
_SETTLED = "c.status <> 'pending'"
_LEAST_REMEMBERED = 100_000


class ContextStatus(StrEnum):
    """How a chunk stands. A truncated one has a context, written from a part of the prompt."""

    PENDING = "pending"
    COMPLETE = "complete"
    FAILED = "failed"
    TRUNCATED = "truncated"


@dataclass(frozen=True, slots=True)
class ContextAnswer:
    """What was written about a chunk, and by what. ``details`` holds JSON values.

    ``tokens`` counts prompt and answer; ``truncated``: the model did not see the whole prompt.
    """

    context: str
    keywords: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    model: str = ""
    prompt_hash: str = ""
    tokens: int = 0
    seconds: float = 0.0
    truncated: bool = False

    @property
    def by_person(self) -> bool:
        """True when a person wrote it."""
        return self.model == BY_PERSON


@dataclass(frozen=True, slots=True)
class ContextRecord:
    """A chunk's context as it stands. ``error`` is the last one, kept through retries."""

    document_id: int
    chunk_index: int
    status: ContextStatus
    answer: ContextAnswer
    attempts: int
    error: str
    changed_at: float


@dataclass(frozen=True, slots=True)
class ContextDraft:
    """Everything that is written for one chunk when its context arrives.

    ``tokens`` are added to the chunk's own entry, by field; ``entries`` follow it. Nothing is
    written when the chunk is no longer the one that the answer is about.
    """

    document_id: int
    document_hash: str
    chunk: Chunk
    answer: ContextAnswer
    tokens: Mapping[int, list[str]]
    entries: tuple[EntryDraft, ...]
    vectors: Mapping[bytes, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WaitingChunk:
    """A chunk without a context of today. ``asked``: somebody wants it written anew."""

    index: int
    attempts: int
    asked: bool


@dataclass(frozen=True, slots=True)
class ContextCounts:
    """How many chunks stand how."""

    pending: int = 0
    complete: int = 0
    failed: int = 0
    truncated: int = 0

    @property
    def chunks(self) -> int:
        """All chunks of indexed documents."""
        return self.pending + self.complete + self.failed + self.truncated


def text_key(chunk_text: str, document_hash: str) -> bytes:
    """The name of a chunk's text in one version of a document, wherever that lies: 16 bytes."""
    mixed = f"{document_hash}\n{chunk_text}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(mixed, digest_size=16).digest()


def person_key(chunk_text: str, document_id: int) -> bytes:
    """The same for what a person wrote: it stays with the document through its versions."""
    return text_key(chunk_text, f"document {document_id}")


class Contexts:
    """Queries about contexts. Only the writer calls the methods that change something."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._vocabulary = Vocabulary()

    # -- reading ---------------------------------------------------------------------------

    def counts(self, collection_id: int | None = None) -> ContextCounts:
        """How many chunks stand how, in one collection or in all."""
        where = "" if collection_id is None else "WHERE d.collection_id = ?"
        parameters = () if collection_id is None else (collection_id,)
        join = "" if collection_id is None else "JOIN documents d ON d.id = c.document_id"
        chunks = self._connections.row(
            f"SELECT TOTAL(d.chunks) FROM documents d {where}", parameters
        )
        found = dict(
            self._connections.rows(
                f"SELECT c.status, COUNT(*) FROM contexts c {join} {where} GROUP BY c.status",
                parameters,
            )
        )
        settled = {one.value: int(found.get(one.value, 0)) for one in ContextStatus}
        settled.pop("pending")
        return ContextCounts(pending=max(0, int(chunks[0]) - sum(settled.values())), **settled)

    def of_document(self, document_id: int) -> dict[int, ContextRecord]:
        """A document's contexts by chunk; chunks that nothing is known of are left out."""
        rows = self._connections.rows(
            f"SELECT {_COLUMNS} FROM contexts c WHERE document_id = ? ORDER BY chunk_idx",
            (document_id,),
        )
        return {row[1]: _record(row) for row in rows}

    def at(self, places: Iterable[tuple[int, int]]) -> dict[tuple[int, int], ContextRecord]:
        """The contexts of chunks named by document id and index, in one query."""
        rows = self._connections.rows(
            f"SELECT {_COLUMNS} FROM json_each(?) w JOIN contexts c "
            "ON c.document_id = w.value ->> 0 AND c.chunk_idx = w.value ->> 1",
            (json.dumps(list(places)),),
        )
        return {(row[0], row[1]): _record(row) for row in rows}

    def waiting_documents(
        self, *, collection_id: int | None = None, first: Sequence[int] = (), limit: int = -1
    ) -> list[int]:
        """Documents with waiting chunks: those named first, in that order, then the newest."""
        where = "" if collection_id is None else "AND d.collection_id = ?"
        parameters = () if collection_id is None else (collection_id,)
        rows = self._connections.rows(
            f"SELECT d.id FROM documents d LEFT JOIN json_each(?) f ON f.value = d.id "
            "WHERE d.status = 'indexed' AND d.chunks > (SELECT COUNT(*) FROM contexts c "
            f"WHERE c.document_id = d.id AND {_SETTLED}) {where} "
            "ORDER BY f.key IS NULL, f.key, d.changed_at DESC, d.id DESC LIMIT ?",
            (json.dumps(list(dict.fromkeys(first))), *parameters, limit),
        )
        return [row[0] for row in rows]

    def waiting_chunks(self, document_id: int) -> list[WaitingChunk]:
        """A document's waiting chunks in order; those that failed before come last."""
        rows = self._connections.rows(
            "SELECT k.idx, COALESCE(c.attempts, 0), c.status IS NOT NULL FROM chunks k "
            "LEFT JOIN contexts c ON c.document_id = k.document_id AND c.chunk_idx = k.idx "
            "WHERE k.document_id = ? AND (c.status IS NULL OR c.status = 'pending') "
            "ORDER BY 2, 1",
            (document_id,),
        )
        return [WaitingChunk(row[0], row[1], bool(row[2])) for row in rows]

    def last_error(self) -> str:
        """The newest error of a failed chunk; empty when none has failed."""
        row = self._connections.row(
            "SELECT error FROM contexts WHERE status = 'failed' ORDER BY changed_at DESC LIMIT 1"
        )
        return str(row[0]) if row else ""

    def seconds_each(self, most: int = 200) -> float | None:
        """How long a model took for a chunk lately, on average; ``None`` before the first."""
        row = self._connections.row(
            "SELECT AVG(seconds) FROM (SELECT seconds FROM contexts "
            "WHERE status IN ('complete', 'truncated') AND seconds > 0 LIMIT ?)",
            (most,),
        )
        return float(row[0]) if row and row[0] else None

    # -- what was ever written -------------------------------------------------------------

    def remembers(self) -> bool:
        """True when anything was ever written."""
        return self._connections.row("SELECT 1 FROM context_cache LIMIT 1") is not None

    def remembered(self, key: bytes, model: str, prompt_hash: str) -> ContextAnswer | None:
        """What that model wrote for that text with that prompt."""
        row = self._connections.row(
            "SELECT answer FROM context_cache WHERE text_key = ? AND model = ? AND prompt_hash = ?",
            (key, model, prompt_hash),
        )
        return unpack_answer(row[0]) if row else None

    def newest_remembered(self, keys: Sequence[bytes]) -> dict[bytes, ContextAnswer]:
        """The newest that was written for each text, by whatever model."""
        rows = self._connections.rows(
            "SELECT text_key, answer FROM context_cache WHERE text_key IN "
            "(SELECT unhex(value) FROM json_each(?)) ORDER BY made_at, model"
            if sqlite3.sqlite_version_info >= (3, 41)
            else "SELECT text_key, answer FROM context_cache WHERE hex(text_key) IN "
            "(SELECT upper(value) FROM json_each(?)) ORDER BY made_at, model",
            (json.dumps([key.hex() for key in keys]),),
        )
        return {bytes(row[0]): unpack_answer(row[1]) for row in rows}

    def remember(self, key: bytes, answer: ContextAnswer) -> None:
        """Keep an answer by what it was made from, so that it need never be asked for again."""
        with self._connections.write() as connection:
            _remember(connection, key, answer)

    def forget(self, keys: Iterable[bytes]) -> None:
        """Drop what models wrote for those texts."""
        with self._connections.write() as connection:
            connection.executemany(
                "DELETE FROM context_cache WHERE text_key = ? AND model <> ?",
                [(key, BY_PERSON) for key in keys],
            )

    def prune(self) -> int:
        """Drop the oldest answers beyond twice the number of chunks; returns how many."""
        with self._connections.write() as connection:
            chunks = connection.execute("SELECT TOTAL(chunks) FROM documents").fetchone()[0]
            return connection.execute(
                "DELETE FROM context_cache WHERE made_at < (SELECT made_at FROM context_cache "
                "ORDER BY made_at DESC LIMIT 1 OFFSET ?)",
                (max(_LEAST_REMEMBERED, 2 * int(chunks)),),
            ).rowcount

    # -- writing ---------------------------------------------------------------------------

    def put(self, drafts: Sequence[ContextDraft], embedder_id: int) -> int:
        """Store contexts and renew the entries of just their chunks, all in one transaction.

        Returns how many were stored: a chunk that has changed meanwhile is left alone.
        """
        by_document: dict[int, list[ContextDraft]] = {}
        for draft in drafts:
            by_document.setdefault(draft.document_id, []).append(draft)
        stored = 0
        with self._vocabulary.transaction() as ids, self._connections.write() as connection:
            versions: dict[int, int] = {}
            for document_id, group in by_document.items():
                fitting = _fitting(connection, document_id, group)
                if not fitting:
                    continue
                collection_id = _collection_of(connection, document_id)
                if collection_id not in versions:
                    versions[collection_id] = _next_version(connection, collection_id)
                scope = _Scope(connection, ids, collection_id, versions[collection_id])
                _renew_entries(scope, document_id, fitting)
                for draft in fitting:
                    _store(connection, draft)
                    put_vectors(connection, embedder_id, dict(draft.vectors))
                stored += len(fitting)
        return stored

    def fail(self, place: tuple[int, int], error: str, answer: ContextAnswer, *, last: bool) -> int:
        """Record that writing failed: for good when it is the ``last`` attempt, else it waits.

        What the chunk had before stays. Returns how many attempts there have been.
        """
        status = ContextStatus.FAILED if last else ContextStatus.PENDING
        with self._connections.write() as connection:
            row = connection.execute(
                "INSERT INTO contexts (document_id, chunk_idx, status, model, prompt_hash, "
                "attempts, error, seconds, changed_at) "
                "SELECT document_id, idx, ?, ?, ?, 1, ?, ?, ? FROM chunks "
                "WHERE document_id = ? AND idx = ? "
                "ON CONFLICT (document_id, chunk_idx) DO UPDATE SET status = excluded.status, "
                "attempts = contexts.attempts + 1, error = excluded.error, "
                "changed_at = excluded.changed_at RETURNING attempts",
                (
                    status.value,
                    answer.model,
                    answer.prompt_hash,
                    error,
                    answer.seconds,
                    time.time(),
                    *place,
                ),
            ).fetchone()
        return int(row[0]) if row else 0

    def ask_again(
        self,
        *,
        status: ContextStatus | None = None,
        collection_id: int | None = None,
        document_id: int | None = None,
        chunk_index: int | None = None,
    ) -> int:
        """Make chunks wait again, errors and attempts kept; returns how many.

        What a person wrote is never asked for again, unless its chunk is named.
        """
        where, parameters = ["status <> 'pending'"], []  # type: tuple[list[str], list[Any]]
        for condition, value in (
            ("status = ?", status.value if status else None),
            (
                "document_id IN (SELECT id FROM documents WHERE collection_id = ?)",
                collection_id,
            ),
            ("document_id = ?", document_id),
            ("chunk_idx = ?", chunk_index),
        ):
            if value is not None:
                where.append(condition)
                parameters.append(value)
        if chunk_index is None:
            where.append("model <> ?")
            parameters.append(BY_PERSON)
        with self._connections.write() as connection:
            return connection.execute(
                f"UPDATE contexts SET status = 'pending' WHERE {' AND '.join(where)}", parameters
            ).rowcount

    # -- what pages, commands and the writer tell one another ------------------------------

    def said(self, key: str) -> Any:
        """What was last said under a key, or ``None``."""
        row = self._connections.row("SELECT value FROM meta WHERE key = ?", (key,))
        return json.loads(row[0]) if row else None

    def say(self, key: str, value: Any) -> None:
        """Say something (a JSON value) under a key; ``None`` takes it back."""
        with self._connections.write() as connection:
            if value is None:
                connection.execute("DELETE FROM meta WHERE key = ?", (key,))
            else:
                packed = json.dumps(value, ensure_ascii=False, sort_keys=True)
                connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, packed))


@dataclass(frozen=True, slots=True)
class _Scope:
    """What is the same for all entries of one collection in a transaction."""

    connection: sqlite3.Connection
    ids: TokenIds
    collection_id: int
    version: int


_COLUMNS = (
    "c.document_id, c.chunk_idx, c.status, c.context, c.keywords, c.questions, c.details, "
    "c.model, c.prompt_hash, c.tokens, c.seconds, c.attempts, c.error, c.changed_at"
)


def _record(row: Sequence[Any]) -> ContextRecord:
    status = ContextStatus(row[2])
    answer = ContextAnswer(
        context=row[3],
        keywords=tuple(json.loads(row[4])),
        questions=tuple(json.loads(row[5])),
        details=json.loads(row[6]),
        model=row[7],
        prompt_hash=row[8],
        tokens=row[9],
        seconds=row[10],
        truncated=status is ContextStatus.TRUNCATED,
    )
    return ContextRecord(row[0], row[1], status, answer, row[11], row[12], row[13])


def pack_answer(answer: ContextAnswer) -> str:
    """An answer as JSON."""
    values = {name: getattr(answer, name) for name in ContextAnswer.__slots__}
    return json.dumps(values, ensure_ascii=False, sort_keys=True)


def unpack_answer(text: str) -> ContextAnswer:
    """Read back what ``pack_answer`` gave."""
    values = json.loads(text)
    return ContextAnswer(
        **{
            **values,
            "keywords": tuple(values["keywords"]),
            "questions": tuple(values["questions"]),
        }
    )


def _remember(connection: sqlite3.Connection, key: bytes, answer: ContextAnswer) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO context_cache VALUES (?, ?, ?, ?, ?)",
        (key, answer.model, answer.prompt_hash, pack_answer(answer), time.time()),
    )


def _fitting(
    connection: sqlite3.Connection, document_id: int, drafts: Sequence[ContextDraft]
) -> list[ContextDraft]:
    """The drafts whose document and chunk are still those that were written about."""
    row = connection.execute(
        "SELECT hash FROM documents WHERE id = ? AND status = 'indexed'", (document_id,)
    ).fetchone()
    if row is None:
        return []
    spans = {
        index: (start, stop)
        for index, start, stop in connection.execute(
            "SELECT idx, start, stop FROM chunks WHERE document_id = ?", (document_id,)
        )
    }
    return [
        one
        for one in {draft.chunk.index: draft for draft in drafts}.values()
        if one.document_hash == row[0]
        and spans.get(one.chunk.index) == (one.chunk.start, one.chunk.end)
    ]


def _collection_of(connection: sqlite3.Connection, document_id: int) -> int:
    row = connection.execute(
        "SELECT collection_id FROM documents WHERE id = ?", (document_id,)
    ).fetchone()
    return int(row[0])


def _next_version(connection: sqlite3.Connection, collection_id: int) -> int:
    row = connection.execute(
        "UPDATE collections SET version = version + 1 WHERE id = ? RETURNING version",
        (collection_id,),
    ).fetchone()
    return int(row[0])


def _renew_entries(scope: _Scope, document_id: int, drafts: Sequence[ContextDraft]) -> None:
    """Put each chunk's own entry anew, with the words of its context, and its others after it.

    Entries never change: the old ones go, and the new ones are the same but for the context.
    """
    old: dict[int, list[tuple[int, int, bytes]]] = {}
    for entry_id, position, level, content_key in scope.connection.execute(
        "SELECT id, position, level, content_key FROM entries WHERE document_id = ? "
        "AND position IN (SELECT value FROM json_each(?)) "
        "AND level IN (SELECT value FROM json_each(?)) ORDER BY id",
        (document_id, json.dumps([one.chunk.index for one in drafts]), _OWN_LEVELS),
    ).fetchall():
        old.setdefault(position, []).append((entry_id, level, content_key))
    gone: list[int] = []
    for draft in drafts:
        known = old.get(draft.chunk.index, [])
        own = [one for one in known if one[1] == LEVEL_CODES[Level.CHUNK]]
        if not own:
            continue
        _renew_chunk_entry(scope, own[0][0], draft.tokens)
        others = [replace(entry, content_key=own[0][2]) for entry in draft.entries]
        put_entries(scope.connection, scope.ids, scope.collection_id, document_id, others)
        gone += [one[0] for one in known]
    packed = json.dumps(gone)
    scope.connection.execute(
        "INSERT OR IGNORE INTO removed_entries (collection_id, version, entry_id) "
        "SELECT ?, ?, value FROM json_each(?)",
        (scope.collection_id, scope.version, packed),
    )
    scope.connection.execute(
        "DELETE FROM entries WHERE id IN (SELECT value FROM json_each(?))", (packed,)
    )


def _renew_chunk_entry(scope: _Scope, old_id: int, tokens: Mapping[int, list[str]]) -> None:
    """Insert a copy of a chunk's own entry with other words in the fields of its context."""
    text = FIELD_CODES[Field.TEXT]
    cursor = scope.connection.execute(
        "INSERT INTO entries "
        "(collection_id, document_id, level, position, text_hash, content_key) "
        "SELECT collection_id, document_id, level, position, text_hash, content_key "
        "FROM entries WHERE id = ?",
        (old_id,),
    )
    new_id = int(cursor.lastrowid or 0)
    scope.connection.execute(
        "INSERT INTO entry_tokens SELECT ?, field, ids FROM entry_tokens "
        "WHERE entry_id = ? AND field = ?",
        (new_id, old_id, text),
    )
    ids = scope.ids.of(scope.connection, {one for words in tokens.values() for one in words})
    scope.connection.executemany(
        "INSERT INTO entry_tokens VALUES (?, ?, ?)",
        [
            (new_id, code, np.array([ids[one] for one in words], np.uint32).tobytes())
            for code, words in sorted(tokens.items())
            if words and code != text
        ],
    )


def _store(connection: sqlite3.Connection, draft: ContextDraft) -> None:
    answer = draft.answer
    status = ContextStatus.TRUNCATED if answer.truncated else ContextStatus.COMPLETE
    connection.execute(
        "INSERT INTO contexts (document_id, chunk_idx, status, context, keywords, questions, "
        "details, model, prompt_hash, attempts, tokens, seconds, changed_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?) "
        "ON CONFLICT (document_id, chunk_idx) DO UPDATE SET status = excluded.status, "
        "context = excluded.context, keywords = excluded.keywords, "
        "questions = excluded.questions, details = excluded.details, model = excluded.model, "
        "prompt_hash = excluded.prompt_hash, attempts = contexts.attempts + 1, "
        "tokens = excluded.tokens, seconds = excluded.seconds, changed_at = excluded.changed_at",
        (
            draft.document_id,
            draft.chunk.index,
            status.value,
            answer.context,
            json.dumps(answer.keywords, ensure_ascii=False),
            json.dumps(answer.questions, ensure_ascii=False),
            json.dumps(dict(answer.details), ensure_ascii=False, sort_keys=True),
            answer.model,
            answer.prompt_hash,
            answer.tokens,
            answer.seconds,
            time.time(),
        ),
    )
