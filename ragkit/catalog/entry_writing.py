"""Writing vectors and index entries with their tokens, in the caller's transaction.

Entries are immutable: a change removes some and adds others, and ids are never assigned twice.
How many entries each collection has at each level is kept: counting a million of them after every
change took as long as the rest of a search.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain

from ragkit.catalog.connection import IN_LIST, Transaction, id_list, inserted, insertion
from ragkit.catalog.lineage import holds, newest
from ragkit.catalog.records import EntryDraft, NumberedTokens
from ragkit.types import FIELD_CODES, INDEXED_LEVELS, LEVEL_CODES, Field, Version

_MOST_CACHED_TOKENS = 2_000_000
_WITH_TOKENS = [LEVEL_CODES[level] for level in INDEXED_LEVELS]
_TEXT, _FOLDERS = FIELD_CODES[Field.TEXT], FIELD_CODES[Field.FOLDERS]
_COLUMNS = ("collection_id", "document_id", "level", "position", "text_hash", "content_key")
_ADD_ENTRY = f"{insertion('entries', _COLUMNS)} RETURNING id"
_COUNTED = "SELECT collection_id, level, COUNT(*) FROM entries GROUP BY collection_id, level"
_ADD_TOKENS = insertion("entry_tokens", ("entry_id", "field", "ids"))


def put_vectors(connection: Transaction, embedder_id: int, vectors: Mapping[bytes, bytes]) -> None:
    """Store vectors by text hash, except those that the embedder has made already."""
    statement = insertion("vectors", ("text_hash", "embedder_id", "data"))
    connection.executemany(
        f"{statement} ON CONFLICT DO NOTHING",
        [(text_hash, embedder_id, data) for text_hash, data in sorted(vectors.items())],
    )


def put_entries(
    connection: Transaction,
    token_ids: TokenIds,
    collection_id: int,
    document_id: int,
    drafts: Sequence[EntryDraft],
) -> None:
    """Insert a document's entries with their tokens and inner blocks."""
    import numpy as np

    columns = [tokens for draft in drafts for tokens in draft.tokens.values()]
    word_lists = {
        id(tokens.words): tokens.words for tokens in columns if isinstance(tokens, NumberedTokens)
    }
    plain = (tokens for tokens in columns if not isinstance(tokens, NumberedTokens))
    ids = token_ids.of(connection, set(chain(*word_lists.values(), *plain)))
    ids_of_lists = {
        key: np.fromiter((ids[word] for word in words), np.uint32, len(words))
        for key, words in word_lists.items()
    }
    entry_ids = inserted(
        connection,
        _ADD_ENTRY,
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
                numbers = ids_of_lists[id(tokens.words)][tokens.numbers]
            else:
                numbers = np.fromiter((ids[token] for token in tokens), np.uint32, len(tokens))
            if len(numbers):
                packed.append((entry_id, field, numbers.tobytes()))
    connection.executemany("INSERT INTO blocks VALUES (?, ?, ?, ?, ?)", blocks)
    connection.executemany(_ADD_TOKENS, packed)
    add_to_counts(connection, collection_id, Counter(draft.level for draft in drafts))


def copy_entry(connection: Transaction, entry_id: int) -> int:
    """Copy an entry without its tokens, move the notes of its chunk to the copy; return its id."""
    columns = ", ".join(_COLUMNS)
    new_id, collection_id, level = connection.execute(
        f"INSERT INTO entries ({columns}) SELECT {columns} FROM entries WHERE id = ? "
        "RETURNING id, collection_id, level",
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
    """Delete entries of a collection, and record that they were removed in a version of it."""
    packed = id_list(entry_ids)
    connection.execute(
        "INSERT INTO removed_entries (collection_id, version, entry_id) "
        "SELECT ?, ?, CAST(value AS INTEGER) FROM json_each(?) WHERE true ON CONFLICT DO NOTHING",
        (collection_id, version, packed),
    )
    removed = connection.execute(
        f"DELETE FROM entries WHERE id {IN_LIST} RETURNING level", (packed,)
    ).fetchall()
    counts = Counter(level for (level,) in removed)
    add_to_counts(connection, collection_id, {level: -count for level, count in counts.items()})


def move_entries(
    connection: Transaction,
    token_ids: TokenIds,
    document_id: int,
    folders: Sequence[str],
    version: int,
) -> None:
    """Replace the entries of a document that was moved by copies with the tokens of its folders.

    The first entry of each level also has these tokens before those of its text
    (``indexing/pipeline.py``). Nothing is done if the tokens are the same.
    """
    import numpy as np

    rows = connection.execute(
        "SELECT e.id, e.collection_id, e.level, e.position, coalesce(f.ids, x''), "
        "coalesce(t.ids, x'') FROM entries e "
        "LEFT JOIN entry_tokens f ON f.entry_id = e.id AND f.field = ? "
        "LEFT JOIN entry_tokens t ON t.entry_id = e.id AND t.field = ? "
        "WHERE e.document_id = ? ORDER BY e.id",
        (_FOLDERS, _TEXT, document_id),
    ).fetchall()
    ids = token_ids.of(connection, folders)
    new = np.array([ids[token] for token in folders], np.uint32).tobytes()
    if all(old == new for _, _, level, _, old, _ in rows if level in _WITH_TOKENS):
        return
    for entry_id, _, level, position, old, text in rows:
        # All are copied: entries of contexts and questions must follow that of their chunk.
        new_id = copy_entry(connection, entry_id)
        connection.execute(
            "INSERT INTO entry_tokens SELECT ?, field, ids FROM entry_tokens "
            "WHERE entry_id = ? AND field NOT IN (?, ?)",
            (new_id, entry_id, _TEXT, _FOLDERS),
        )
        if level in _WITH_TOKENS:
            moved = new + text[len(old) :] if position == 0 else text
            columns = [(new_id, code, data) for code, data in ((_TEXT, moved), (_FOLDERS, new))]
            connection.executemany(_ADD_TOKENS, [row for row in columns if row[2]])
    remove_entries(connection, int(rows[0][1]), version, [row[0] for row in rows])


class TokenIdCache:
    """The ids of tokens that this process has used, for one transaction after another."""

    def __init__(self) -> None:
        self._cache: dict[str, int] = {}
        self._as_of = Version(0)

    @contextmanager
    def transaction(self) -> Iterator[TokenIds]:
        """Lend the ids to a transaction, and keep those it added if the block ends without error.

        To be entered before the transaction begins, so that only committed ids are kept.
        """
        ids = TokenIds(self._cache, self._as_of)
        yield ids
        if ids.of_another_history or len(self._cache) > _MOST_CACHED_TOKENS:
            self._cache.clear()
        self._cache.update(ids.added)
        if ids.of_another_history or ids.as_of.number > self._as_of.number:
            self._as_of = ids.as_of


class TokenIds:
    """The ids of tokens within one transaction; ``added`` were looked up or assigned in it.

    ``cache`` has those of earlier ones. It was filled at the change ``as_of``, and is dropped if
    that is not of this catalog's history: another catalog may have taken the place of the file.
    """

    def __init__(self, cache: Mapping[str, int], as_of: Version) -> None:
        self._cache = cache
        self.as_of = as_of
        self.of_another_history = False
        self.added: dict[str, int] = {}
        self._checked = False

    def of(self, connection: Transaction, tokens: Iterable[str]) -> dict[str, int]:
        """Return the id of each token, assigning new ones where needed."""
        if not self._checked:
            if self._cache and not holds(connection, self.as_of):
                self._cache, self.of_another_history = {}, True
            self.as_of, self._checked = newest(connection), True
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
            query = f"SELECT token, id FROM vocabulary WHERE token {IN_LIST}"
            stored = dict(connection.execute(query, (json.dumps(missing),)).fetchall())
            # Sorted, so that the same documents get the same ids.
            if new := sorted(set(missing).difference(stored)):
                query = "INSERT INTO vocabulary (token) SELECT value FROM json_each(?)"
                rows = connection.execute(f"{query} RETURNING token, id", (json.dumps(new),))
                stored.update(rows.fetchall())
            added.update(stored)
            ids.update(stored)
        return ids


def add_to_counts(connection: Transaction, collection_id: int, changes: Mapping[int, int]) -> None:
    """Add numbers, negative for removed entries, to those of a collection, by level code."""
    connection.executemany(
        "INSERT INTO entry_counts (collection_id, level, entries) VALUES (?, ?, ?) "
        "ON CONFLICT (collection_id, level) "
        "DO UPDATE SET entries = entry_counts.entries + excluded.entries",
        [(collection_id, level, change) for level, change in sorted(changes.items())],
    )


def fill_counts(connection: Transaction) -> None:
    """Count all entries again."""
    connection.execute("DELETE FROM entry_counts")
    connection.execute(
        "INSERT INTO entry_counts (collection_id, level, entries) "
        f"{_COUNTED} HAVING collection_id IN (SELECT id FROM collections)"
    )


def miscounted(connection: Transaction) -> list[int]:
    """Return the collections with a wrong number, ascending, by counting every entry."""
    kept = "SELECT collection_id, level, entries FROM entry_counts WHERE entries <> 0"
    different = set(connection.execute(_COUNTED)) ^ set(connection.execute(kept))
    return sorted({row[0] for row in different})
