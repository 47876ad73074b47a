"""Model contexts: the context and status of each chunk, and a cache of all answers of models.

A chunk without a row waits for its first context. The cache is by text, model and prompt, so that
answers survive when a document is read again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from typing import Any

from ragkit.catalog.connection import (
    PUT_META,
    Connections,
    Transaction,
    conditions,
    id_list,
    key_batches,
)
from ragkit.catalog.context_records import (
    BY_PERSON,
    ContextAnswer,
    ContextCost,
    ContextCounts,
    ContextDraft,
    ContextRecord,
    ContextStatus,
    FailedContext,
    WaitingChunk,
)
from ragkit.catalog.context_writing import put_contexts, remember_answer, unpack_answer
from ragkit.catalog.entry_writing import TokenIdCache

_ASKED = "contexts asked for again"
_SETTLED = "c.status <> 'pending'"
_LEAST_REMEMBERED = 100_000

_COLUMNS = (
    "c.document_id, c.chunk_idx, c.status, c.context, c.keywords, c.questions, c.details, "
    "c.model, c.prompt_hash, c.tokens, c.seconds, c.attempts, c.error, c.changed_at"
)


_CONVERSATION = (
    "(d.format = 'conversation' OR json_type(d.metadata, '$.participants') IS NOT NULL "
    "OR json_type(d.metadata, '$.speakers') IS NOT NULL)"
)
"""The documents for which ``context_entries`` uses the prompt for conversations."""

_DOCUMENTS = {
    "document": f"documents d WHERE NOT {_CONVERSATION}",
    "conversation": f"documents d WHERE {_CONVERSATION}",
    "summary": "documents d JOIN summaries s ON s.document_hash = d.hash WHERE 1",
}
"""The documents for which the prompt of each kind is used."""


def _outdated(kind: str) -> str:
    """Return a condition on contexts written with another prompt; values: collection, hash."""
    which = "s" if kind == "summary" else "contexts"
    return (
        "contexts.status IN ('complete', 'truncated') AND contexts.prompt_hash <> '' AND EXISTS "
        f"(SELECT 1 FROM {_DOCUMENTS[kind]} AND d.id = contexts.document_id "
        f"AND d.collection_id = ? AND {which}.prompt_hash <> ?)"
    )


class Contexts:
    """Queries about contexts. Only the writer calls methods that change something."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._token_ids = TokenIdCache()

    # -- reading ---------------------------------------------------------------------------

    def counts(self, collection_id: int | None = None) -> ContextCounts:
        """Count chunks by status, in one collection or in all."""
        where, parameters = conditions(("d.collection_id = ?", collection_id))
        join = "JOIN documents d ON d.id = c.document_id" if where else ""
        chunks = self._connections.row(
            f"SELECT TOTAL(d.chunks) FROM documents d WHERE 1{where}", parameters
        )
        by_status = dict(
            self._connections.rows(
                f"SELECT c.status, COUNT(*) FROM contexts c {join} WHERE 1{where} GROUP BY 1",
                parameters,
            )
        )
        settled = {status.value: int(by_status.get(status.value, 0)) for status in ContextStatus}
        settled.pop("pending")
        return ContextCounts(pending=max(0, int(chunks[0]) - sum(settled.values())), **settled)

    def of_document(self, document_id: int) -> dict[int, ContextRecord]:
        """Return a document's contexts by chunk index; chunks without a row are left out."""
        rows = self._connections.rows(
            f"SELECT {_COLUMNS} FROM contexts c WHERE document_id = ? ORDER BY chunk_idx",
            (document_id,),
        )
        return {row[1]: _context(row) for row in rows}

    def at(self, places: Iterable[tuple[int, int]]) -> dict[tuple[int, int], ContextRecord]:
        """Return the contexts of chunks, which are given as (document id, chunk index)."""
        rows = self._connections.rows(
            f"SELECT {_COLUMNS} FROM json_each(?) w JOIN contexts c "
            "ON c.document_id = w.value ->> 0 AND c.chunk_idx = w.value ->> 1",
            (json.dumps(list(places)),),
        )
        return {(row[0], row[1]): _context(row) for row in rows}

    def questions(self, collection_id: int, limit: int) -> Sequence[tuple[int, str]]:
        """Return (document id, question), one question written by a model for each document."""
        return self._connections.rows(
            "SELECT c.document_id, MIN(json_extract(c.questions, '$[0]')) FROM contexts c "
            "JOIN documents d ON d.id = c.document_id "
            "WHERE d.collection_id = ? AND c.status = 'complete' AND c.questions <> '[]' "
            "GROUP BY 1 ORDER BY 1 LIMIT ?",
            (collection_id, limit),
        )

    def waiting_documents(
        self,
        *,
        collection_id: int | None = None,
        first: Sequence[int] = (),
        since: float = 0.0,
        limit: int = -1,
    ) -> list[int]:
        """Return documents with waiting chunks that changed after ``since``.

        Those in ``first`` come first, in that order, then the newest.
        """
        where, parameters = conditions(("d.collection_id = ?", collection_id))
        return self._connections.column(
            "WITH f AS MATERIALIZED (SELECT key, CAST(value AS INTEGER) AS id FROM json_each(?)) "
            "SELECT d.id FROM documents d LEFT JOIN f ON f.id = d.id "
            "WHERE d.status = 'indexed' AND d.changed_at >= ? AND d.chunks > "
            "(SELECT COUNT(*) FROM contexts c "
            f"WHERE c.document_id = d.id AND {_SETTLED}){where} "
            "ORDER BY f.key IS NULL, f.key, d.changed_at DESC, d.id DESC LIMIT ?",
            (id_list(dict.fromkeys(first)), since, *parameters, limit),
        )

    def waiting_chunks(self, document_id: int) -> list[WaitingChunk]:
        """Return a document's waiting chunks by attempts so far, then in order."""
        rows = self._connections.rows(
            "SELECT k.idx, COALESCE(c.attempts, 0), c.status IS NOT NULL FROM chunks k "
            "LEFT JOIN contexts c ON c.document_id = k.document_id AND c.chunk_idx = k.idx "
            "WHERE k.document_id = ? AND (c.status IS NULL OR c.status = 'pending') "
            "ORDER BY 2, 1",
            (document_id,),
        )
        return [WaitingChunk(row[0], row[1], bool(row[2])) for row in rows]

    def last_error(self) -> str:
        """Return the newest error of a failed chunk, or an empty string."""
        row = self._connections.row(
            "SELECT error FROM contexts WHERE status = 'failed' ORDER BY changed_at DESC LIMIT 1"
        )
        return str(row[0]) if row else ""

    def count_failed(self, collection_id: int | None = None) -> int:
        """Count the chunks whose contexts failed; cheap enough to poll."""
        where, parameters = conditions(("d.collection_id = ?", collection_id))
        join = "JOIN documents d ON d.id = c.document_id" if where else ""
        query = f"SELECT COUNT(*) FROM contexts c {join} WHERE c.status = 'failed'{where}"
        return int(self._connections.row(query, parameters)[0])

    def failures(self, collection_id: int | None = None, limit: int = 5) -> list[FailedContext]:
        """Return the last chunks that failed, newest first."""
        where, parameters = conditions(("d.collection_id = ?", collection_id))
        rows = self._connections.rows(
            "SELECT c.document_id, d.path, c.chunk_idx, c.error, c.attempts, c.changed_at "
            "FROM contexts c JOIN documents d ON d.id = c.document_id "
            f"WHERE c.status = 'failed'{where} "
            "ORDER BY c.changed_at DESC, c.document_id, c.chunk_idx LIMIT ?",
            (*parameters, limit),
        )
        return [FailedContext(*row) for row in rows]

    def cost(self, collection_id: int | None = None, document_id: int | None = None) -> ContextCost:
        """Sum the cost of contexts and summaries: of a collection, of a document, or all."""
        where, parameters = conditions(
            ("d.collection_id = ?", collection_id), ("d.id = ?", document_id)
        )
        join = "JOIN documents d ON d.id = c.document_id" if where else ""
        contexts = self._connections.row(
            "SELECT COUNT(*), TOTAL(c.tokens), TOTAL(c.seconds) "
            f"FROM contexts c {join} WHERE c.tokens > 0{where}",
            parameters,
        )
        summaries = self._connections.row(
            "SELECT COUNT(*) FILTER (WHERE s.summary <> ''), "
            "COUNT(*) FILTER (WHERE s.summary = ''), TOTAL(s.tokens), "
            "TOTAL(s.seconds) FROM summaries s "
            # IN would list the hashes of all documents first. The signs keep SQLite from going
            # through all documents of the collection for each summary.
            "WHERE EXISTS (SELECT 1 FROM documents d "
            f"WHERE d.hash = s.document_hash{where.replace('d.', '+d.')})",
            parameters,
        )
        return ContextCost(
            contexts=contexts[0],
            summaries=int(summaries[0]),
            summaries_failed=int(summaries[1]),
            tokens=int(contexts[1] + summaries[2]),
            seconds=contexts[2] + summaries[3],
        )

    # -- the cache of answers --------------------------------------------------------------

    def remembers(self) -> bool:
        """Return whether any answer is cached."""
        return self._connections.row("SELECT 1 FROM context_cache LIMIT 1") is not None

    def remembered(self, key: bytes, model: str, prompt_hash: str) -> ContextAnswer | None:
        """Return the cached answer for a text (by its key), model and prompt, or ``None``."""
        row = self._connections.row(
            "SELECT answer FROM context_cache WHERE text_key = ? AND model = ? AND prompt_hash = ?",
            (key, model, prompt_hash),
        )
        return unpack_answer(row[0]) if row else None

    def newest_remembered(self, keys: Sequence[bytes]) -> dict[bytes, ContextAnswer]:
        """Return the newest cached answer for each text; a person's wins over any model's."""
        rows: list[tuple[float, bytes, str]] = []
        for among, batch in key_batches(keys):
            rows += self._connections.rows(
                f"SELECT made_at, text_key, answer FROM context_cache WHERE text_key {among}", batch
            )
        answers = [(made, bytes(key), unpack_answer(answer)) for made, key, answer in sorted(rows)]
        answers.sort(key=lambda item: (item[2].by_person, item[0]))
        return {key: answer for _, key, answer in answers}

    def remember(self, key: bytes, answer: ContextAnswer) -> None:
        """Cache an answer for the text of that key, so that no model need be asked again."""
        with self._connections.write() as connection:
            remember_answer(connection, key, answer)

    def forget(self, keys: Iterable[bytes], *, people: bool = False) -> None:
        """Delete cached answers for texts: those of models, and with ``people`` those of people."""
        with self._connections.write() as connection:
            connection.executemany(
                "DELETE FROM context_cache WHERE text_key = ? AND (? = 1 OR model <> ?)",
                [(key, int(people), BY_PERSON) for key in keys],
            )

    def prune(self) -> int:
        """Delete the oldest cached answers beyond two for each chunk; return how many."""
        with self._connections.write() as connection:
            chunks = connection.execute("SELECT TOTAL(chunks) FROM documents").fetchone()[0]
            return connection.execute(
                "DELETE FROM context_cache WHERE model <> ? AND made_at < (SELECT made_at "
                "FROM context_cache ORDER BY made_at DESC LIMIT 1 OFFSET ?)",
                (BY_PERSON, max(_LEAST_REMEMBERED, 2 * int(chunks))),
            ).rowcount

    # -- writing ---------------------------------------------------------------------------

    def put(self, drafts: Sequence[ContextDraft], embedder_id: int) -> int:
        """Store contexts and replace the entries of their chunks; return how many were stored.

        Drafts for chunks that have changed meanwhile are skipped.
        """
        with self._token_ids.transaction() as ids, self._connections.write() as connection:
            return put_contexts(connection, ids, drafts, embedder_id)

    def fail(self, place: tuple[int, int], error: str, answer: ContextAnswer, *, last: bool) -> int:
        """Record a failed attempt for a chunk; return the number of attempts so far.

        After the ``last`` attempt the chunk has failed, else it waits again. An earlier context
        stays.
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
        """Make chunks wait again, keeping errors and attempts; return how many.

        A context that a person wrote is kept, unless the chunk is given by its index.
        """
        where, parameters = conditions(
            ("status = ?", status and status.value),
            ("document_id IN (SELECT id FROM documents WHERE collection_id = ?)", collection_id),
            ("document_id = ?", document_id),
            ("chunk_idx = ?", chunk_index),
            ("model <> ?", BY_PERSON if chunk_index is None else None),
        )
        with self._connections.write() as connection:
            _note_asked(connection)
            return connection.execute(
                f"UPDATE contexts SET status = 'pending' WHERE status <> 'pending'{where}",
                parameters,
            ).rowcount

    def outdated(self, collection_id: int, kind: str, prompt_hash: str) -> int:
        """Count the contexts of a collection that were written with another prompt of a kind.

        With another prompt for summaries, all contexts of documents with a summary count.
        """
        if kind not in _DOCUMENTS:
            return 0
        row = self._connections.row(
            f"SELECT COUNT(*) FROM contexts WHERE {_outdated(kind)}", (collection_id, prompt_hash)
        )
        return int(row[0])

    def ask_outdated(self, collection_id: int, kind: str, prompt_hash: str) -> int:
        """Make the chunks that ``outdated`` counts wait again; return how many."""
        if kind not in _DOCUMENTS:
            return 0
        with self._connections.write() as connection:
            _note_asked(connection)
            return connection.execute(
                f"UPDATE contexts SET status = 'pending' WHERE {_outdated(kind)}",
                (collection_id, prompt_hash),
            ).rowcount

    def change_token(self) -> tuple[object, ...]:
        """Return a value that changes whenever there may be new work; cheap enough to poll."""
        row = self._connections.row(
            "SELECT TOTAL(version), (SELECT value FROM meta WHERE key = ?) FROM collections",
            (_ASKED,),
        )
        return tuple(row)


def _note_asked(connection: Transaction) -> None:
    """Change ``change_token``, which the writer polls."""
    connection.execute(PUT_META, (_ASKED, json.dumps(time.time())))


def _context(row: Sequence[Any]) -> ContextRecord:
    """Parse a row of ``_COLUMNS``."""
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
