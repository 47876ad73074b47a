"""Index entries: rows of the indexes, never changed, their ids never used again."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from ragkit.catalog.collections import Collections
from ragkit.catalog.connection import Connections, id_list
from ragkit.catalog.records import EntryDraft, NumberedTokens
from ragkit.types import FIELD_CODES, LEVEL_CODES, Level

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragkit.indexes.protocol import Changes
    from ragkit.indexes.rows import EntryRows, TokenColumn

_MOST_CACHED_TOKENS = 2_000_000
AT_LEVELS = "level IN (SELECT value FROM json_each(?))"
"""A condition on entries; its parameter is a JSON list of level codes."""

_Scope: TypeAlias = tuple[int, int, str]


class Entries:
    """Queries about entries, from which indexes are built."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._collections = Collections(connections)

    def rows(
        self,
        collection_id: int,
        levels: Sequence[Level],
        *,
        embedder_id: int | None,
        dimensions: int,
        after: int = 0,
    ) -> EntryRows:
        """Return the live entries of those levels with ids above ``after``, as index rows."""
        import numpy as np

        from ragkit.indexes.rows import EntryRows, with_texts

        scope = (collection_id, after, _level_list(levels))
        with self._connections.read() as connection:
            heads = connection.execute(
                "SELECT id, document_id, level, position FROM entries "
                f"WHERE collection_id = ? AND id > ? AND {AT_LEVELS} ORDER BY id",
                scope,
            ).fetchall()
            table = np.array(heads, dtype=np.int64).reshape(len(heads), 4)
            ids = np.ascontiguousarray(table[:, 0])
            vectors, has_vector = _vectors(connection, scope, ids, embedder_id, dimensions)
            tokens = {
                field: _tokens(connection, scope, ids, code) for field, code in FIELD_CODES.items()
            }
        entry_rows = EntryRows(
            entry_ids=ids,
            document_ids=np.ascontiguousarray(table[:, 1]),
            levels=table[:, 2].astype(np.int8),
            chunk_indexes=table[:, 3].astype(np.int32),
            vectors=vectors,
            has_vector=has_vector,
            tokens={field: column for field, column in tokens.items() if len(column.flat)},
        )
        return with_texts(entry_rows)

    def changes(
        self,
        collection_id: int,
        levels: Sequence[Level],
        *,
        fingerprint: str,
        dimensions: int,
        since: int | None = None,
        after: int = 0,
    ) -> Changes:
        """Read entries, their vectors and removals at one instant (``EntrySource``)."""
        import numpy as np

        from ragkit.catalog.vectors import Embedders
        from ragkit.indexes.protocol import Changes

        with self._connections.read():
            added = self.rows(
                collection_id,
                levels,
                embedder_id=Embedders(self._connections).find(fingerprint),
                dimensions=dimensions,
                after=after,
            )
            removed = np.zeros(0, np.int64)
            if since is not None:
                removed = self.removed_since(collection_id, since)
            return Changes(added, removed, self.version(collection_id))

    def version(self, collection_id: int) -> int:
        """Return how often the collection has changed; cheap enough for every search."""
        return self._collections.version(collection_id)

    def count(self, collection_id: int, levels: Sequence[Level] = tuple(Level)) -> int:
        """Count the live entries of those levels in a collection."""
        row = self._connections.row(
            f"SELECT COUNT(*) FROM entries WHERE collection_id = ? AND {AT_LEVELS}",
            (collection_id, _level_list(levels)),
        )
        return int(row[0])

    def last_id(self) -> int:
        """Return the highest id that an entry has had."""
        row = self._connections.row("SELECT seq FROM sqlite_sequence WHERE name = 'entries'")
        return int(row[0]) if row else 0

    def content_keys(self, entry_ids: Sequence[int]) -> dict[int, bytes]:
        """Return content keys by entry id: equal for texts that people take for the same."""
        rows = self._connections.rows(
            "SELECT id, content_key FROM entries WHERE id IN (SELECT value FROM json_each(?))",
            (id_list(entry_ids),),
        )
        return dict(rows)

    def removed_since(self, collection_id: int, version: int) -> NDArray[np.int64]:
        """Return ids of entries that were removed after that version of the collection."""
        import numpy as np

        ids = self._connections.column(
            "SELECT entry_id FROM removed_entries WHERE collection_id = ? AND version > ?",
            (collection_id, version),
        )
        return np.array(ids, dtype=np.int64)

    def forget_removed(self, collection_id: int, up_to_version: int) -> None:
        """Delete the record of removals that no index generation needs any more."""
        with self._connections.write() as connection:
            connection.execute(
                "DELETE FROM removed_entries WHERE collection_id = ? AND version <= ?",
                (collection_id, up_to_version),
            )

    def token_ids(self, tokens: Sequence[str]) -> dict[str, int]:
        """Return vocabulary ids of the tokens; tokens that no document has are left out."""
        rows = self._connections.rows(
            "SELECT token, id FROM vocabulary WHERE token IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(set(tokens))),),
        )
        return {row[0]: row[1] for row in rows}


class Vocabulary:
    """Assigns ids to tokens, with a cache of those that this process has met."""

    def __init__(self) -> None:
        self._cache: dict[str, int] = {}

    @contextmanager
    def transaction(self) -> Iterator[TokenIds]:
        """Provide ids for one transaction; they are cached when the block ends without an error.

        Enter it before the transaction begins: an id counts only once it is committed.
        """
        ids = TokenIds(self._cache)
        yield ids
        if len(self._cache) > _MOST_CACHED_TOKENS:
            self._cache.clear()
        self._cache.update(ids.added)


class TokenIds:
    """The token ids of one transaction: ``added`` are those it looked up or assigned."""

    def __init__(self, cache: Mapping[str, int]) -> None:
        self._cache = cache
        self.added: dict[str, int] = {}

    def of(self, connection: sqlite3.Connection, tokens: Iterable[str]) -> dict[str, int]:
        """Return ids of all the tokens, assigning new ones where needed."""
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
            # Sorted, so that the same documents get the same ids.
            packed = json.dumps(sorted(missing))
            connection.execute(
                "INSERT OR IGNORE INTO vocabulary (token) SELECT value FROM json_each(?)", (packed,)
            )
            rows = connection.execute(
                "SELECT token, id FROM vocabulary WHERE token IN (SELECT value FROM json_each(?))",
                (packed,),
            ).fetchall()
            added.update(rows)
            ids.update(rows)
        return ids


def put_entries(
    connection: sqlite3.Connection,
    token_ids: TokenIds,
    collection_id: int,
    document_id: int,
    drafts: Sequence[EntryDraft],
) -> None:
    """Insert entries with their tokens, within the caller's transaction."""
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
    packed: list[tuple[int, int, bytes]] = []
    for draft in drafts:
        cursor = connection.execute(
            "INSERT INTO entries "
            "(collection_id, document_id, level, position, text_hash, content_key) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (
                collection_id,
                document_id,
                draft.level,
                draft.position,
                draft.text_hash,
                draft.content_key,
            ),
        )
        entry_id = int(cursor.lastrowid or 0)
        for field, tokens in draft.tokens.items():
            if isinstance(tokens, NumberedTokens):
                numbers = tables[id(tokens.words)][tokens.numbers]
            else:
                numbers = np.fromiter((ids[token] for token in tokens), np.uint32, len(tokens))
            if len(numbers):
                packed.append((entry_id, field, numbers.tobytes()))
    connection.executemany("INSERT INTO entry_tokens VALUES (?, ?, ?)", packed)


def remove_entries(
    connection: sqlite3.Connection, document_id: int, collection_id: int, version: int
) -> None:
    """Delete a document's entries and record the removal, in the caller's transaction."""
    connection.execute(
        "INSERT OR IGNORE INTO removed_entries (collection_id, version, entry_id) "
        "SELECT ?, ?, id FROM entries WHERE document_id = ?",
        (collection_id, version, document_id),
    )
    connection.execute("DELETE FROM entries WHERE document_id = ?", (document_id,))


def next_version(connection: sqlite3.Connection, collection_id: int) -> int:
    """Increment a collection's version in the caller's transaction; return the new one."""
    row = connection.execute(
        "UPDATE collections SET version = version + 1 WHERE id = ? RETURNING version",
        (collection_id,),
    ).fetchone()
    return int(row[0])


def copy_entry(connection: sqlite3.Connection, entry_id: int) -> int:
    """Copy an entry without its tokens, in the caller's transaction; return the copy's id."""
    cursor = connection.execute(
        "INSERT INTO entries "
        "(collection_id, document_id, level, position, text_hash, content_key) "
        "SELECT collection_id, document_id, level, position, text_hash, content_key "
        "FROM entries WHERE id = ?",
        (entry_id,),
    )
    return int(cursor.lastrowid or 0)


def drop_entries(
    connection: sqlite3.Connection, collection_id: int, version: int, entry_ids: Sequence[int]
) -> None:
    """Delete entries of a collection and record the removal, in the caller's transaction."""
    packed = id_list(entry_ids)
    connection.execute(
        "INSERT OR IGNORE INTO removed_entries (collection_id, version, entry_id) "
        "SELECT ?, ?, value FROM json_each(?)",
        (collection_id, version, packed),
    )
    connection.execute(
        "DELETE FROM entries WHERE id IN (SELECT value FROM json_each(?))", (packed,)
    )


def _level_list(levels: Sequence[Level]) -> str:
    return json.dumps([LEVEL_CODES[level] for level in levels])


def _vectors(
    connection: sqlite3.Connection,
    scope: _Scope,
    ids: NDArray[np.int64],
    embedder_id: int | None,
    dimensions: int,
) -> tuple[NDArray[np.float16], NDArray[np.bool_]]:
    import numpy as np

    vectors = np.zeros((len(ids), dimensions), dtype=np.float16)
    has_vector = np.zeros(len(ids), dtype=np.bool_)
    if embedder_id is None:
        return vectors, has_vector
    rows = connection.execute(
        "SELECT e.id, v.data FROM entries e "
        "JOIN vectors v ON v.text_hash = e.text_hash AND v.embedder_id = ? "
        f"WHERE e.collection_id = ? AND e.id > ? AND e.{AT_LEVELS} ORDER BY e.id",
        (embedder_id, *scope),
    ).fetchall()
    if rows:
        places = np.searchsorted(ids, np.array([row[0] for row in rows], dtype=np.int64))
        data = np.frombuffer(b"".join(row[1] for row in rows), dtype="<f2")
        vectors[places] = data.reshape(len(rows), dimensions)
        has_vector[places] = True
    return vectors, has_vector


def _tokens(
    connection: sqlite3.Connection, scope: _Scope, ids: NDArray[np.int64], field: int
) -> TokenColumn:
    import numpy as np

    from ragkit.indexes.rows import TokenColumn

    rows = connection.execute(
        "SELECT e.id, t.ids FROM entries e JOIN entry_tokens t ON t.entry_id = e.id "
        f"WHERE e.collection_id = ? AND e.id > ? AND e.{AT_LEVELS} AND t.field = ? ORDER BY e.id",
        (*scope, field),
    ).fetchall()
    lengths = np.zeros(len(ids), dtype=np.int64)
    if rows:
        places = np.searchsorted(ids, np.array([row[0] for row in rows], dtype=np.int64))
        lengths[places] = [len(row[1]) // 4 for row in rows]
    flat = np.frombuffer(b"".join(row[1] for row in rows), dtype="<u4")
    return TokenColumn(flat=flat, offsets=np.concatenate(([0], np.cumsum(lengths))))
