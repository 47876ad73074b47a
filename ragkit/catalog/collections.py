"""Collections and their sources."""

from __future__ import annotations

import json
import sqlite3
import time
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ragkit.catalog.connection import IN_LIST, Connections, conditions, folded, id_list
from ragkit.catalog.context_records import BY_PERSON
from ragkit.catalog.document_writing import delete_documents
from ragkit.catalog.lineage import VERSION, forget, holds, newest, next_change
from ragkit.catalog.records import CollectionContents, CollectionRecord, SourceRecord
from ragkit.errors import NotFoundError
from ragkit.types import Version

MOST_APART = 100
"""With more collections than this, all of a library are treated as one."""

_MOST_NAMED = 20
_SOURCE = """
SELECT s.id, s.collection_id, c.name AS collection, s.kind, s.root, s.state, s.reason, s.scanned_at,
       (SELECT COUNT(*) FROM documents d WHERE d.source_id = s.id) AS documents,
       (SELECT COUNT(*) FROM documents d WHERE d.collection_id = s.collection_id
        AND d.status = 'failed' AND d.source_id = s.id),
       s.machine
FROM sources s JOIN collections c ON c.id = s.collection_id
"""
_AMONG = f"s.id {IN_LIST}"


def stored_name(name: str) -> str:
    """Return a name as new collections have it, however it is composed and spaced."""
    return " ".join(unicodedata.normalize("NFC", name).split())


class Collections:
    """Queries about collections and sources.

    ``active_embedder`` is the id of the embedder that was active when ``find`` last read a
    collection, or ``None``: each search calls it, and so learns of a change without a query.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self.active_embedder: int | None = None

    def all(self, limit: int = -1) -> list[CollectionRecord]:
        """Return all collections, or the first ``limit``, by name."""
        return self._records("ORDER BY c.name LIMIT ?", limit)

    def with_settings(self) -> list[CollectionRecord]:
        """Return the collections with settings of their own, by name."""
        return self._records("WHERE c.settings <> '{}' ORDER BY c.name")

    def changed_since(self, version: Version) -> list[CollectionRecord]:
        """Return the collections that changed after a version, in the order of their changes.

        Returns all that ever changed if the version is old or not in this catalog's history.
        """
        with self._connections.read() as connection:
            last = version.number if holds(connection, version) else 0
        return self._records("WHERE c.version > ? ORDER BY c.version, c.id", last)

    def _records(self, which: str, *values: Any) -> list[CollectionRecord]:
        rows = self._connections.rows(
            f"SELECT c.id, c.name, c.settings, {VERSION} FROM collections c {which}", values
        )
        return [_collection(row) for row in rows]

    def find(self, name: str) -> CollectionRecord | None:
        """Return the collection of that name, or ``None``; remember the active embedder.

        A name that is stored exactly as it is given comes before the form that new ones are given.
        """
        row = self._connections.row(
            f"SELECT c.id, c.name, c.settings, {VERSION}, (SELECT active FROM embedder_choice) "
            "FROM collections c WHERE c.name IN (?, ?) ORDER BY c.name <> ? LIMIT 1",
            (name, stored_name(name), name),
        )
        if row is None:
            return None
        self.active_embedder = row[5]
        return _collection(row)

    def get(self, name: str) -> CollectionRecord:
        """Return the collection of that name.

        Raises:
            NotFoundError: there is none; the error names those that exist.
        """
        collection = self.find(name)
        if collection is None:
            raise NotFoundError(f'There is no collection "{name}".', f"Available: {self._some()}.")
        return collection

    def names(self, containing: str = "", limit: int = -1) -> list[str]:
        """Return the names of collections in order, in a tenth of the time of ``all``.

        ``containing`` is a part of the name, in any case.
        """
        where, values = ("WHERE instr(folded(name), ?) ", [folded(containing)])
        return self._connections.column(
            f"SELECT name FROM collections {where if containing else ''}ORDER BY name LIMIT ?",
            (*(values if containing else ()), limit),
        )

    def like(self, name: str, besides: int | None = None) -> str | None:
        """Return the name of the collection other than ``besides`` that has it, in any case."""
        named = self._connections.rows("SELECT id, name FROM collections")
        same = (
            other for id_, other in named if other.casefold() == name.casefold() and id_ != besides
        )
        return next(same, None)

    def count(self) -> int:
        """Count the collections."""
        return int(self._connections.row("SELECT COUNT(*) FROM collections")[0])

    def stand_for_all(self, names: Sequence[str]) -> bool:
        """Return whether names, or none, mean all collections of a library with over 100."""
        if 0 < len(names) <= MOST_APART:
            return False
        count = self.count()
        return count > MOST_APART and len(names) in (0, count)

    def apart(self, names: Sequence[str]) -> list[CollectionRecord]:
        """Return the collections of these names, or all for no names.

        All collections of a library with over 100 are one record (``CollectionRecord.everything``).
        """
        if self.stand_for_all(names):
            return [CollectionRecord.everything(self.newest())]
        return self.named(names) if names else self.all()

    def newest(self) -> Version:
        """Return the newest change of any collection."""
        with self._connections.read() as connection:
            return newest(connection)

    def named(self, names: Iterable[str]) -> list[CollectionRecord]:
        """Return the collections of these names that exist, by name."""
        within = f"WHERE c.name {IN_LIST} ORDER BY c.name"
        given = list(names)
        return self._records(within, json.dumps([*given, *map(stored_name, given)]))

    def of_ids(self, ids: Iterable[int]) -> list[CollectionRecord]:
        """Return the collections of these ids that exist, by name."""
        within = f"WHERE c.id {IN_LIST} ORDER BY c.name"
        return self._records(within, id_list(ids))

    def _some(self) -> str:
        """Return the names of the first collections, and how many there are besides, in words."""
        rows = self._connections.rows(
            "SELECT name, COUNT(*) OVER () FROM collections ORDER BY name LIMIT ?", (_MOST_NAMED,)
        )
        names = ", ".join(row[0] for row in rows) or "none yet"
        more = rows[0][1] - len(rows) if rows else 0
        return f"{names} and {more} more" if more else names

    def of_id(self, collection_id: int) -> CollectionRecord:
        """Return the collection with that id.

        Raises:
            NotFoundError: it is gone.
        """
        records = self._records("WHERE c.id = ?", collection_id)
        if not records:
            raise NotFoundError("The collection is gone.", "It has been deleted.")
        return records[0]

    def ensure(self, name: str) -> CollectionRecord:
        """Return the collection of that name, adding it if it is missing."""
        collection = self.find(name)
        if collection is not None:
            return collection
        with self._connections.write() as connection:
            connection.execute(
                "INSERT INTO collections (name, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING",
                (name, time.time()),
            )
        return self.get(name)

    def rename(self, collection_id: int, name: str) -> None:
        """Rename a collection, also in the arguments of unfinished jobs."""
        with self._connections.write() as connection:
            connection.execute(
                "UPDATE jobs SET arguments = json_set(arguments, '$.collection', ?) "
                "WHERE state IN ('pending', 'running') AND arguments ->> '$.collection' = "
                "(SELECT name FROM collections WHERE id = ?)",
                (name, collection_id),
            )
            connection.execute(
                "UPDATE collections SET name = ? WHERE id = ?", (name, collection_id)
            )

    def contents(self, collection_id: int) -> CollectionContents:
        """Count the contents of a collection."""
        row = self._connections.row(
            "SELECT (SELECT COUNT(*) FROM documents WHERE collection_id = c.id), "
            "(SELECT COUNT(*) FROM sources WHERE collection_id = c.id AND kind = 'folder'), "
            "(SELECT COUNT(*) FROM documents d JOIN sources s ON s.id = d.source_id "
            " WHERE s.collection_id = c.id AND s.kind = 'uploads'), "
            "(SELECT COUNT(*) FROM judgments WHERE collection_id = c.id), "
            "(SELECT COUNT(*) FROM runs WHERE collection_id = c.id), "
            "(SELECT COUNT(*) FROM contexts x JOIN documents d ON d.id = x.document_id "
            " WHERE d.collection_id = c.id AND x.model = ?) FROM collections c WHERE c.id = ?",
            (BY_PERSON, collection_id),
        )
        return CollectionContents(*row) if row else CollectionContents()

    def set_settings(self, collection_id: int, settings: dict[str, Any]) -> None:
        """Replace a collection's own settings, in which it differs from the library."""
        with self._connections.write() as connection:
            connection.execute(
                "UPDATE collections SET settings = ? WHERE id = ?",
                (json.dumps(settings, sort_keys=True), collection_id),
            )

    def set_group(
        self, collection: CollectionRecord, group: str, values: Mapping[str, Any]
    ) -> None:
        """Replace one group of a collection's own settings; without values, delete it."""
        others = {name: value for name, value in collection.settings.items() if name != group}
        self.set_settings(collection.id, {**others, group: dict(values)} if values else others)

    def version(self, collection_id: int) -> Version:
        """Return the version of a collection; cheap enough for every search."""
        row = self._connections.row(
            f"SELECT {VERSION} FROM collections c WHERE c.id = ?", (collection_id,)
        )
        return Version(*row) if row else Version(0)

    def forget_changes(self, needed: Iterable[int]) -> None:
        """Delete the tokens of old versions, except those with ``needed`` numbers."""
        with self._connections.write() as connection:
            forget(connection, needed)

    def delete(self, collection_id: int) -> None:
        """Delete a collection with its sources, documents and entries."""
        with self._connections.write() as connection:
            next_change(connection)
            connection.execute("DELETE FROM collections WHERE id = ?", (collection_id,))
            connection.execute(
                "DELETE FROM removed_entries WHERE collection_id = ?", (collection_id,)
            )

    def sources(self, collection_id: int | None = None, limit: int = -1) -> list[SourceRecord]:
        """Return all sources or those of one collection, at most ``limit``, oldest first."""
        where, parameters = conditions(("s.collection_id = ?", collection_id))
        rows = self._connections.rows(
            f"{_SOURCE} WHERE 1{where} ORDER BY s.id LIMIT ?", (*parameters, limit)
        )
        return [SourceRecord(*row) for row in rows]

    def sources_at(self, roots: Iterable[str]) -> list[SourceRecord]:
        """Return the sources with one of these roots, oldest first."""
        rows = self._connections.rows(
            f"{_SOURCE} WHERE s.root {IN_LIST} ORDER BY s.id",
            (json.dumps(sorted(roots)),),
        )
        return [SourceRecord(*row) for row in rows]

    def sources_of(self, numbers: Iterable[int]) -> dict[int, SourceRecord]:
        """Return sources by id, leaving out those that do not exist."""
        rows = self._connections.rows(
            f"{_SOURCE} WHERE {_AMONG} ORDER BY s.id", (id_list(numbers),)
        )
        return {row[0]: SourceRecord(*row) for row in rows}

    def troubled_sources(
        self,
        collection_id: int | None,
        machine: str,
        *,
        remarked: Iterable[int],
        seen: Iterable[int],
        limit: int,
    ) -> tuple[list[SourceRecord], int, int]:
        """Return the oldest sources in trouble, the number of those, and the number of others.

        In trouble are sources that are offline or have a reason, those that a worker has
        ``remarked`` on, and folders of other machines that no worker has ``seen``.
        """
        scope, parameters = conditions(("s.collection_id = ?", collection_id))
        where = (
            f"(s.state = 'offline' OR s.reason <> '' OR {_AMONG} "
            f"OR (s.machine <> ? AND s.kind <> 'uploads' AND NOT {_AMONG})){scope}"
        )
        values = [id_list(remarked), machine, id_list(seen), *parameters]
        with self._connections.read() as connection:
            troubled, every = connection.execute(
                f"SELECT COUNT(*) FILTER (WHERE {where}), COUNT(*) FROM sources s WHERE 1{scope}",
                (*values, *parameters),
            ).fetchone()
            # Looking for those that are not there takes as long as counting.
            query = f"{_SOURCE} WHERE {where} ORDER BY s.id LIMIT ?"
            rows = connection.execute(query, (*values, limit)).fetchall() if troubled else ()
        return [SourceRecord(*row) for row in rows], troubled, every - troubled

    def roots(self, machine: str = "") -> dict[int, tuple[str, bool]]:
        """Return the sources that a machine may read, by id; cheap enough to poll.

        The values are (folder, whether any machine that sees the folder may read it).
        """
        rows = self._connections.rows(
            "SELECT id, root, machine FROM sources WHERE machine IN ('', ?) ORDER BY id", (machine,)
        )
        return {row[0]: (row[1], not row[2]) for row in rows}

    def last_source(self) -> tuple[int, int]:
        """Return the number of sources and the highest id: they change when sources come or go."""
        row = self._connections.row("SELECT COUNT(*), coalesce(MAX(id), 0) FROM sources")
        return int(row[0]), int(row[1])

    def folders(self) -> list[str]:
        """Return the folders that are sources, oldest first."""
        return self._connections.column(
            "SELECT root FROM sources WHERE kind = 'folder' ORDER BY id"
        )

    def has_sources(self, root: str | None = None) -> bool:
        """Return whether there is a source, with that root if given."""
        where, parameters = conditions(("root = ?", root))
        query = f"SELECT 1 FROM sources WHERE 1{where} LIMIT 1"
        return self._connections.row(query, parameters) is not None

    def unsettled_sources(self) -> dict[str, int]:
        """Count the sources in the states "held" and "offline"; cheap enough to poll."""
        rows = self._connections.rows(
            "SELECT state, COUNT(*) FROM sources WHERE state IN ('held', 'offline') GROUP BY state"
        )
        return {row[0]: row[1] for row in rows}

    def source(self, source_id: int) -> SourceRecord:
        """Return one source.

        Raises:
            NotFoundError: when it is gone.
        """
        row = self._connections.row(f"{_SOURCE} WHERE s.id = ?", (source_id,))
        if row is None:
            raise NotFoundError(f"There is no source {source_id}.", "It may have been deleted.")
        return SourceRecord(*row)

    def machine_of(self, source_id: int) -> str:
        """Return the machine that reads a source; empty if any may."""
        row = self._connections.row("SELECT machine FROM sources WHERE id = ?", (source_id,))
        return str(row[0]) if row else ""

    def ensure_source(
        self, collection_id: int, kind: str, root: str, machine: str = ""
    ) -> SourceRecord:
        """Return the source with that root, adding it if it is missing."""
        with self._connections.write() as connection:
            connection.execute(
                "INSERT INTO sources (collection_id, kind, root, machine, created_at) "
                "VALUES (?, ?, ?, ?, ?) ON CONFLICT (collection_id, root) DO NOTHING",
                (collection_id, kind, root, machine, time.time()),
            )
            row = connection.execute(
                "SELECT id FROM sources WHERE collection_id = ? AND root = ?", (collection_id, root)
            ).fetchone()
        return self.source(int(row[0]))

    def set_source_place(self, source_id: int, root: str, machine: str, inside: str = "") -> None:
        """Change a source's folder and machine; ``inside`` is put before its documents' paths."""
        with self._connections.write() as connection:
            connection.execute(
                "UPDATE sources SET root = ?, machine = ? WHERE id = ?", (root, machine, source_id)
            )
            if inside:
                connection.execute(
                    "UPDATE documents SET path = ? || path WHERE source_id = ?", (inside, source_id)
                )

    def set_source_state(self, source_id: int, state: str, reason: str = "") -> None:
        """Store the state of a source after a scan."""
        with self._connections.write() as connection:
            connection.execute(
                "UPDATE sources SET state = ?, reason = ?, scanned_at = ? WHERE id = ?",
                (state, reason, time.time(), source_id),
            )

    def delete_source(self, source_id: int) -> None:
        """Delete a source with its documents, and record that their entries are gone."""
        with self._connections.write() as connection:
            delete_documents(connection, "d.source_id = ?", (source_id,))
            connection.execute("DELETE FROM sources WHERE id = ?", (source_id,))


def _collection(row: sqlite3.Row | tuple[Any, ...]) -> CollectionRecord:
    settings = json.loads(row[2]) if row[2] != "{}" else {}
    return CollectionRecord(int(row[0]), str(row[1]), settings, Version(row[3], row[4]))
