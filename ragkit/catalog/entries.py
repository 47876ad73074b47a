"""Index entries, which are immutable and whose ids are never assigned twice."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ragkit.catalog.collections import Collections
from ragkit.catalog.connection import IN_LIST, Connections, id_list, of_collection
from ragkit.catalog.entry_rows import AT_LEVELS, rows_in_slices
from ragkit.catalog.lineage import holds
from ragkit.catalog.marker import identity_of
from ragkit.catalog.vocabulary import Vocabulary
from ragkit.errors import IndexCorruptError
from ragkit.types import ALL_COLLECTIONS, LEVEL_CODES, BlockKind, InnerBlock, Level, Version

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragkit.indexes.protocol import Changes, Snapshot
    from ragkit.indexes.rows import EntryRows

OTHER_HISTORY = (
    "An index was of another history of the catalog, which was replaced or restored since."
)
"""The reason why an index is rejected."""

_CHUNK = LEVEL_CODES[Level.CHUNK]


class Entries:
    """Queries about entries, from which indexes are built.

    A collection's id may be ``ALL_COLLECTIONS``.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._collections = Collections(connections)
        self._vocabulary = Vocabulary(connections)

    def rows(
        self,
        collection_id: int,
        levels: Sequence[Level],
        *,
        embedder_id: int | None,
        dimensions: int,
        after: int = 0,
    ) -> EntryRows:
        """Return the entries of some levels with ids above ``after``, as index rows."""
        with self._connections.read() as connection:
            scope = (collection_id, after, _level_list(levels))
            return rows_in_slices(connection, scope, embedder_id, dimensions).joined()

    @contextmanager
    def everything(
        self, collection_id: int, levels: Sequence[Level], *, fingerprint: str, dimensions: int
    ) -> Iterator[Snapshot]:
        """Read all entries with their vectors from one snapshot, in slices (``EntrySource``)."""
        from ragkit.catalog.vectors import Embedders
        from ragkit.indexes.protocol import Snapshot

        with self._connections.read() as connection:
            embedder_id = Embedders(self._connections).find(fingerprint)
            scope = (collection_id, 0, _level_list(levels))
            rows = rows_in_slices(connection, scope, embedder_id, dimensions)
            yield Snapshot(rows, self.version(collection_id))

    def changes(
        self,
        collection_id: int,
        levels: Sequence[Level],
        *,
        fingerprint: str,
        dimensions: int,
        since: Version,
        after: int,
    ) -> Changes:
        """Read added entries, their vectors and removals from one snapshot (``EntrySource``).

        Raises:
            IndexCorruptError: ``since`` is not in this catalog's history.
        """
        from ragkit.catalog.vectors import Embedders
        from ragkit.indexes.protocol import Changes

        with self._connections.read() as connection:
            if not holds(connection, since):
                raise IndexCorruptError(OTHER_HISTORY, "It is made anew from the catalog.")
            added = self.rows(
                collection_id,
                levels,
                embedder_id=Embedders(self._connections).find(fingerprint),
                dimensions=dimensions,
                after=after,
            )
            removed = self.removed_since(collection_id, since.number)
            return Changes(added, removed, self.version(collection_id))

    def library(self) -> str:
        """Return the identity of the library (``EntrySource``)."""
        return identity_of(self._connections)

    def version(self, collection_id: int) -> Version:
        """Return the version of a collection; cheap enough for every search."""
        if collection_id == ALL_COLLECTIONS:
            return self._collections.newest()
        return self._collections.version(collection_id)

    def holds(self, version: Version) -> bool:
        """Return whether a version is in this catalog's history."""
        with self._connections.read() as connection:
            return holds(connection, version)

    def count(self, collection_id: int, levels: Sequence[Level] = tuple(Level)) -> int:
        """Return the number of a collection's entries of some levels."""
        where, own = of_collection("collection_id", collection_id)
        row = self._connections.row(
            f"SELECT TOTAL(entries) FROM entry_counts WHERE {where} AND {AT_LEVELS}",
            (*own, _level_list(levels)),
        )
        return int(row[0])

    def count_after(self, collection_id: int, levels: Sequence[Level], after: int) -> int:
        """Return the number of a collection's entries of some levels with ids above ``after``."""
        row = self._connections.row(
            f"SELECT COUNT(*) FROM entries WHERE collection_id = ? AND id > ? AND {AT_LEVELS}",
            (collection_id, after, _level_list(levels)),
        )
        return int(row[0])

    def chunk_ids(self, collection_id: int) -> NDArray[np.int64]:
        """Return ids of a collection's entries at the level of chunks, ascending int64 (n,)."""
        where, own = of_collection("collection_id", collection_id)
        return self._ids(
            f"SELECT id FROM entries WHERE {where} AND level = ? ORDER BY id", (*own, _CHUNK)
        )

    def homes(self, after: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return all entry ids above one, ascending, and their collections: int64, (n,) each."""
        import numpy as np

        rows = self._connections.rows(
            "SELECT id, collection_id FROM entries WHERE id > ? ORDER BY id", (after,)
        )
        ids, collections = np.array(rows, np.int64).reshape(-1, 2).T
        return ids, collections

    def chunk_spans(self, entry_ids: Iterable[int]) -> list[tuple[int, int, int, int, str]]:
        """Return (entry, document, start, end, structural context) of chunks, by their entries."""
        return self._connections.rows(
            "SELECT e.id, e.document_id, k.start, k.stop, k.context FROM entries e JOIN chunks k "
            "ON k.document_id = e.document_id AND k.idx = e.position "
            f"WHERE e.id {IN_LIST} ORDER BY e.id",
            (id_list(entry_ids),),
        )

    def of_documents(self, document_ids: Iterable[int]) -> NDArray[np.int64]:
        """Return ids of the entries of all chunks of some documents, ascending int64 (n,)."""
        return self._ids(
            "SELECT e.id FROM json_each(?) w CROSS JOIN entries e "
            "ON e.document_id = CAST(w.value AS INTEGER) "
            "AND e.level = ? ORDER BY e.id",
            (id_list(document_ids), _CHUNK),
        )

    def documents_of(self, entry_ids: Iterable[int]) -> NDArray[np.int64]:
        """Return ids of the documents of some entries, ascending int64 (n,)."""
        return self._ids(
            f"SELECT DISTINCT document_id FROM entries WHERE id {IN_LIST} ORDER BY 1",
            (id_list(entry_ids),),
        )

    def first_chunks(
        self,
        document_ids: Iterable[int],
        among: Iterable[int] | None,
        without: Collection[int],
    ) -> dict[int, tuple[int, int]]:
        """Return (entry id, index) of the first chunk of each document, by document id.

        Only entries ``among`` some, if given, and not ``without`` are considered.
        """
        condition, more = "", list[str]()
        if among is not None:
            condition, more = f" AND id {IN_LIST}", [id_list(among)]
        if without:
            condition += f" AND id NOT {IN_LIST}"
            more.append(id_list(without))
        rows = self._connections.rows(
            "SELECT document_id, id, position FROM (SELECT document_id, id, position, "
            "ROW_NUMBER() OVER (PARTITION BY document_id ORDER BY position) AS place FROM entries "
            f"WHERE level = ? AND document_id {IN_LIST}"
            f"{condition}) WHERE place = 1",
            (_CHUNK, id_list(document_ids), *more),
        )
        return {document: (entry, index) for document, entry, index in rows}

    def blocks_of(
        self, collection_id: int, chunk_ids: Iterable[int], *, inside: bool = True
    ) -> NDArray[np.int64]:
        """Return entry ids of a collection's inner blocks, ascending int64 (n,).

        They are those in the chunks with the entries ``chunk_ids``, or else all others.
        """
        return self._ids(
            "SELECT id FROM entries WHERE collection_id = ? AND level = ? AND "
            f"(document_id, position) {'IN' if inside else 'NOT IN'} (SELECT document_id, position "
            f"FROM entries WHERE id {IN_LIST}) ORDER BY id",
            (collection_id, LEVEL_CODES[Level.BLOCK], id_list(chunk_ids)),
        )

    def of_chunk(self, document_id: int, index: int) -> int | None:
        """Return the id of a chunk's entry, or ``None``."""
        row = self._connections.row(
            "SELECT id FROM entries WHERE document_id = ? AND position = ? AND level = ?",
            (document_id, index, _CHUNK),
        )
        return int(row[0]) if row else None

    def blocks(self, entry_ids: Iterable[int]) -> dict[int, InnerBlock]:
        """Return the inner blocks of some entries, by entry id."""
        rows = self._connections.rows(
            "SELECT b.entry_id, b.start, b.stop, b.kind, e.position, b.section FROM blocks b "
            "JOIN entries e ON e.id = b.entry_id "
            f"WHERE b.entry_id {IN_LIST}",
            (id_list(entry_ids),),
        )
        return {
            entry: InnerBlock(start, end, BlockKind(kind), chunk, section)
            for entry, start, end, kind, chunk, section in rows
        }

    def positions(self, document_ids: Iterable[int], level: Level) -> dict[int, list[int]]:
        """Return the positions of each document's entries of a level, ascending."""
        rows = self._connections.rows(
            "SELECT document_id, position FROM entries WHERE level = ? AND document_id IN "
            "(SELECT value FROM json_each(?)) ORDER BY document_id, position",
            (LEVEL_CODES[level], id_list(document_ids)),
        )
        positions: dict[int, list[int]] = {}
        for document, position in rows:
            positions.setdefault(document, []).append(position)
        return positions

    def _ids(self, query: str, parameters: Sequence[object]) -> NDArray[np.int64]:
        import numpy as np

        return np.array(self._connections.column(query, parameters), np.int64)

    def removed_since(self, collection_id: int, version: int) -> NDArray[np.int64]:
        """Return ids of a collection's entries that were removed after a version, int64 (n,)."""
        import numpy as np

        where, own = of_collection("collection_id", collection_id)
        ids = self._connections.column(
            f"SELECT entry_id FROM removed_entries WHERE {where} AND version > ?", (*own, version)
        )
        return np.array(ids, dtype=np.int64)

    def forget_removed(self, collection_id: int, up_to_version: int) -> None:
        """Delete the records of removals up to a version, which no index needs any more."""
        with self._connections.write() as connection:
            connection.execute(
                "DELETE FROM removed_entries WHERE collection_id = ? AND version <= ?",
                (collection_id, up_to_version),
            )

    def token_ids(self, tokens: Sequence[str]) -> dict[str, int]:
        """Return the ids of tokens, leaving out those that no document has; none for none."""
        if not tokens:
            return {}
        rows = self._connections.rows(
            f"SELECT token, id FROM vocabulary WHERE token {IN_LIST}",
            (json.dumps(sorted(set(tokens))),),
        )
        return {row[0]: row[1] for row in rows}

    def tokens_from(self, beginning: str, most: int) -> list[str]:
        """Return up to ``most`` tokens that begin with a text, in order."""
        rows = self._connections.rows(
            "SELECT token FROM vocabulary WHERE token >= ? AND token < ? ORDER BY token LIMIT ?",
            (beginning, beginning + chr(0x10FFFF), most),
        )
        return [row[0] for row in rows]

    def words_near(self, token: str, most: int) -> list[tuple[str, int]]:
        """Return words of documents within ``most`` edits of a token (``Vocabulary.near``)."""
        return self._vocabulary.near(token, most)

    def longer_words(self, token: str, least: int) -> list[str]:
        """Return words that end or begin with a token and have ``least`` more letters."""
        return self._vocabulary.longer(token, least)


def _level_list(levels: Sequence[Level]) -> str:
    return json.dumps([LEVEL_CODES[level] for level in levels])
