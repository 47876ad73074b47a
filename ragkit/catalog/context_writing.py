"""Writing contexts: their rows and the entries of their chunks, in the caller's transaction."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ragkit.catalog.chunk_notes import notes_of, put_notes
from ragkit.catalog.connection import IN_LIST, Transaction, id_list, insertion
from ragkit.catalog.context_records import BY_PERSON, ContextAnswer, ContextDraft, ContextStatus
from ragkit.catalog.entry_writing import (
    TokenIds,
    copy_entry,
    put_entries,
    put_vectors,
    remove_entries,
)
from ragkit.catalog.lineage import next_version
from ragkit.types import FIELD_CODES, LEVEL_CODES, Field, Level

_OWN_LEVELS = json.dumps(
    [LEVEL_CODES[level] for level in (Level.CHUNK, Level.CONTEXT, Level.QUESTION)]
)

_CACHE_COLUMNS = ("text_key", "model", "prompt_hash", "answer", "made_at")


@dataclass(frozen=True, slots=True)
class _Scope:
    """What is written to: a transaction and the new version of a collection in it."""

    connection: Transaction
    ids: TokenIds
    collection_id: int
    version: int


def put_contexts(
    connection: Transaction,
    ids: TokenIds,
    drafts: Sequence[ContextDraft],
    embedder_id: int,
) -> int:
    """Store contexts and replace the entries of their chunks; return how many were stored."""
    by_document: dict[int, list[ContextDraft]] = {}
    for draft in drafts:
        by_document.setdefault(draft.document_id, []).append(draft)
    versions: dict[int, int] = {}
    stored = 0
    for document_id, group in by_document.items():
        row = connection.execute(
            "SELECT collection_id, hash FROM documents WHERE id = ? AND status = 'indexed'",
            (document_id,),
        ).fetchone()
        current = _still_current(connection, document_id, row[1], group) if row else []
        if not current:
            continue
        collection_id = int(row[0])
        if collection_id not in versions:
            versions[collection_id] = next_version(connection, collection_id)
        scope = _Scope(connection, ids, collection_id, versions[collection_id])
        _replace_entries(scope, document_id, current)
        connection.execute(
            "UPDATE documents SET version = ? WHERE id = ?", (scope.version, document_id)
        )
        for draft in current:
            _store(connection, draft)
            put_vectors(connection, embedder_id, draft.vectors)
        stored += len(current)
    return stored


def remember_answer(connection: Transaction, key: bytes, answer: ContextAnswer) -> None:
    """Cache an answer by the key of the text that it is about."""
    connection.execute(
        insertion("context_cache", _CACHE_COLUMNS, key="text_key, model, prompt_hash"),
        (key, answer.model, answer.prompt_hash, pack_answer(answer), time.time()),
    )


def pack_answer(answer: ContextAnswer) -> str:
    """Serialize an answer as JSON."""
    values = {name: getattr(answer, name) for name in ContextAnswer.__slots__}
    return json.dumps(values, ensure_ascii=False, sort_keys=True)


def unpack_answer(text: str) -> ContextAnswer:
    """Parse what ``pack_answer`` wrote."""
    values = json.loads(text)
    return ContextAnswer(
        **{
            **values,
            "keywords": tuple(values["keywords"]),
            "questions": tuple(values["questions"]),
        }
    )


def _still_current(
    connection: Transaction,
    document_id: int,
    document_hash: str,
    drafts: Sequence[ContextDraft],
) -> list[ContextDraft]:
    """Return the drafts whose document and chunk have not changed meanwhile.

    Those of models are left out where a person has written a context.
    """
    by_people = {
        index
        for (index,) in connection.execute(
            "SELECT chunk_idx FROM contexts "
            "WHERE document_id = ? AND model = ? AND status <> 'pending'",
            (document_id, BY_PERSON),
        )
    }
    spans = {
        index: (start, stop)
        for index, start, stop in connection.execute(
            "SELECT idx, start, stop FROM chunks WHERE document_id = ?", (document_id,)
        )
    }
    return [
        draft
        for draft in {draft.chunk.index: draft for draft in drafts}.values()
        if draft.document_hash == document_hash
        and spans.get(draft.chunk.index) == (draft.chunk.start, draft.chunk.end)
        and (draft.answer.by_person or draft.chunk.index not in by_people)
    ]


def _replace_entries(scope: _Scope, document_id: int, drafts: Sequence[ContextDraft]) -> None:
    """Replace the entries of chunks, of their contexts and of their questions.

    The chunk's own entry is copied, with the words of the new context; those of the draft follow.
    """
    old: dict[int, list[tuple[int, int, bytes]]] = {}
    for entry_id, position, level, content_key in scope.connection.execute(
        "SELECT id, position, level, content_key FROM entries WHERE document_id = ? "
        f"AND position {IN_LIST} AND level {IN_LIST} ORDER BY id",
        (document_id, id_list(draft.chunk.index for draft in drafts), _OWN_LEVELS),
    ).fetchall():
        old.setdefault(position, []).append((entry_id, level, content_key))
    replaced: list[int] = []
    for draft in drafts:
        rows = old.get(draft.chunk.index, [])
        of_chunk = next((row for row in rows if row[1] == LEVEL_CODES[Level.CHUNK]), None)
        if of_chunk is None:
            continue
        _copy_chunk_entry(scope, of_chunk[0], draft.tokens)
        added = [replace(entry, content_key=of_chunk[2]) for entry in draft.entries]
        put_entries(scope.connection, scope.ids, scope.collection_id, document_id, added)
        replaced += [row[0] for row in rows]
    remove_entries(scope.connection, scope.collection_id, scope.version, replaced)


def _copy_chunk_entry(scope: _Scope, old_id: int, tokens: Mapping[int, list[str]]) -> None:
    """Copy a chunk's own entry, with these tokens, by field code, as those of its context."""
    import numpy as np

    copied = [FIELD_CODES[field] for field in (Field.TEXT, Field.TITLE, Field.FOLDERS)]
    new_id = copy_entry(scope.connection, old_id)
    scope.connection.execute(
        "INSERT INTO entry_tokens SELECT ?, field, ids FROM entry_tokens "
        f"WHERE entry_id = ? AND field {IN_LIST}",
        (new_id, old_id, id_list(copied)),
    )
    ids = scope.ids.of(scope.connection, {word for words in tokens.values() for word in words})
    scope.connection.executemany(
        "INSERT INTO entry_tokens VALUES (?, ?, ?)",
        [
            (new_id, code, np.array([ids[word] for word in words], np.uint32).tobytes())
            for code, words in sorted(tokens.items())
            if words and code not in copied
        ],
    )


def _store(connection: Transaction, draft: ContextDraft) -> None:
    answer = draft.answer
    status = ContextStatus.TRUNCATED if answer.truncated else ContextStatus.COMPLETE
    columns = {
        "document_id": draft.document_id,
        "chunk_idx": draft.chunk.index,
        "status": status.value,
        "context": answer.context,
        "keywords": json.dumps(answer.keywords, ensure_ascii=False),
        "questions": json.dumps(answer.questions, ensure_ascii=False),
        "details": json.dumps(dict(answer.details), ensure_ascii=False, sort_keys=True),
        "model": answer.model,
        "prompt_hash": answer.prompt_hash,
        "attempts": 1,
        "tokens": answer.tokens,
        "seconds": answer.seconds,
        "changed_at": time.time(),
    }
    statement = insertion("contexts", [*columns], key="document_id, chunk_idx")
    connection.execute(
        statement.replace("excluded.attempts", "contexts.attempts + 1"), tuple(columns.values())
    )
    put_notes(connection, (draft.document_id, draft.chunk.index), notes_of(answer.details))
