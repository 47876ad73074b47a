"""Resolving filters to ids of documents and entries, and counting the values to filter by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING

import numpy as np

from ragkit.catalog.chunk_notes import NoteQueries
from ragkit.catalog.collections import MOST_APART, Collections
from ragkit.catalog.connection import (
    IN_LIST,
    Connections,
    Transaction,
    folded,
    id_list,
    of_collection,
)
from ragkit.catalog.document_rows import DocumentRows, KeptRows, ids_of
from ragkit.catalog.facets import Facets, FacetTable, joined
from ragkit.catalog.filter_conditions import (
    FIRST_DATE,
    LAST_DATE,
    SUFFIX,
    Condition,
    document_conditions,
    entry_conditions,
    heading_condition,
    message_condition,
    note_conditions,
    whole_conditions,
)
from ragkit.catalog.records import CollectionRecord, SpeakerRecord
from ragkit.indexes.rows import united
from ragkit.types import ALL_COLLECTIONS

if TYPE_CHECKING:
    from ragkit.indexes.rows import Ids
    from ragkit.options import Filters


class FilterQueries:
    """Queries that resolve filters to ids, and that count the values to filter by."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._rows = KeptRows(connections)

    def documents(self, collection_id: int, filters: Filters, *, unsaid: bool = False) -> Ids:
        """Return ids of the collection's indexed documents that pass the filters, ascending.

        With ``unsaid``, documents without a field of ``MAY_BE_UNSAID`` pass a filter by it, unless
        one of its values begins with ``=``.
        """
        with self._rows.at_present(collection_id) as (rows, connection):
            passing = rows.live
            for condition in document_conditions(collection_id, filters, unsaid=unsaid):
                passing = passing & rows.mask(connection, condition)
            if filters.sources:
                passing = passing & rows.mask(connection, self._sources(collection_id, filters))
            ids = rows.ids[passing]
        if filters.documents:
            ids = ids[np.isin(ids, np.array(filters.documents, np.int64))]
        return np.sort(ids, kind="stable")

    def _sources(self, collection_id: int, filters: Filters) -> Condition:
        """Return the condition that a document's source is one of those filtered by."""
        where, values = of_collection("collection_id", collection_id)
        roots = self._connections.rows(
            f"SELECT id, root FROM sources WHERE {where} ORDER BY id", values
        )
        names = [folded(name) for name in filters.sources]
        ids = [number for number, root in roots if any(name in folded(root) for name in names)]
        return f"d.source_id {IN_LIST}", (id_list(ids),)

    def entries_under(self, collection_id: int, headings: Sequence[str]) -> Ids:
        """Return ids of entries that overlap a section below a heading, or in a document so titled.

        A chunk may span several small sections, and the entry of a document overlaps all of them.
        Ids ascend, here and below.
        """
        with self._rows.at_present(collection_id) as (rows, connection):
            return rows.entries(connection, heading_condition(collection_id, headings))

    def entries_by_speaker(self, collection_id: int, filters: Filters) -> Ids | None:
        """Return ids of entries with messages of the speakers and days filtered by.

        All entries of documents other than conversations pass a filter by days alone, since
        ``documents`` has applied it. Returns ``None`` when nothing is restricted.
        """
        if not (filters.speakers or filters.after or filters.before):
            return None
        with self._rows.at_present(collection_id) as (rows, connection):
            if not filters.speakers:
                chats = rows.mask(connection, ("d.format = 'conversation'", ()))
                if not (rows.live & chats).any():
                    return None
            return rows.entries(connection, message_condition(collection_id, filters))

    def noted_entries(self, collection_id: int, filters: Filters) -> Ids | None:
        """Return ids of the entries of chunks whose notes pass the filters.

        Returns ``None`` when no filter concerns the notes of chunks.
        """
        conditions = note_conditions(filters)
        if not any(noted.chunk for noted in conditions):
            return None
        with self._rows.at_present(collection_id) as (rows, connection):
            passing = [
                [rows.entries(connection, part) for part in entry_conditions(noted, collection_id)]
                for noted in conditions
            ]
        return reduce(partial(np.intersect1d, assume_unique=True), map(united, passing))

    def wholly_noted(self, collection_id: int, filters: Filters) -> Ids:
        """Return ids of documents all chunks of which pass one of the filters by notes."""
        with self._rows.at_present(collection_id) as (rows, connection):
            passing = np.zeros(len(rows.ids), np.bool_)
            for noted in note_conditions(filters):
                for condition in whole_conditions(noted, collection_id):
                    passing = passing | rows.mask(connection, condition)
            ids = rows.ids[rows.live & passing]
        return np.sort(ids, kind="stable")

    def speakers(self, document_id: int) -> tuple[SpeakerRecord, ...]:
        """Return the speakers of a document, by the parts in which they speak."""
        rows = self._connections.rows(
            "SELECT level, position, speaker, day FROM speakers WHERE document_id = ?",
            (document_id,),
        )
        return tuple(SpeakerRecord(*row) for row in rows)

    def by_date(
        self, document_ids: Iterable[int], limit: int = -1, *, oldest_first: bool = False
    ) -> list[int]:
        """Return ids of documents, the newest or the oldest first, those of one day by path.

        A document that says no date has that of its file.
        """
        order = FIRST_DATE if oldest_first else f"{LAST_DATE} DESC"
        return self._connections.column(
            f"SELECT d.id FROM documents d WHERE d.id {IN_LIST} "
            f"ORDER BY {order}, d.path, d.id LIMIT ?",
            (id_list(document_ids), limit),
        )

    def facets(self, collections: Sequence[CollectionRecord], among: Ids | None = None) -> Facets:
        """Count the values of indexed documents, or of those with the ids ``among``.

        Only documents that have changed are read. All collections of a library with over 100 are
        counted as one.
        """
        return joined([self._facets(each, among) for each in self._ids(collections)])

    def _ids(self, collections: Sequence[CollectionRecord]) -> list[int]:
        many = len(collections) > MOST_APART
        if many and len(collections) == Collections(self._connections).count():
            return [ALL_COLLECTIONS]
        return [collection.id for collection in collections]

    def _facets(self, collection_id: int, among: Ids | None) -> Facets:
        with self._rows.at_present(collection_id) as (rows, connection):
            table = rows.facets
            dead = len(rows.ids) - int(np.count_nonzero(rows.live))
            if not table.outlives(dead) or self._needs_topics(rows, table):
                topics = NoteQueries(self._connections).has_few_topics(collection_id)
                table = rows.facets = FacetTable(topics=topics, dead=dead)
            if table.rows < len(rows.ids):
                self._read_facets(rows, table, connection)
            chosen = None if among is None else rows.live & np.isin(rows.ids, among)
            return table.facets(rows.live, chosen)

    def _needs_topics(self, rows: DocumentRows, table: FacetTable) -> bool:
        """Return whether topics, which were too many to count, have become few."""
        changed = not table.topics and table.rows < len(rows.ids)
        return changed and NoteQueries(self._connections).has_few_topics(rows.collection_id)

    def _read_facets(self, rows: DocumentRows, table: FacetTable, connection: Transaction) -> None:
        """Add the values of the rows that a table lacks."""
        condition, values = rows.among(table.rows)
        documents = connection.execute(
            "SELECT d.id, d.format, d.language, d.path, d.metadata FROM documents d "
            f"WHERE {rows.where} AND d.status = 'indexed'{condition}",
            (*rows.values, *values),
        ).fetchall()
        numbers = [row[0] for row in documents]
        places = rows.rows_of(np.array(numbers, np.int64), table.rows).tolist()
        noted = NoteQueries(self._connections).values(
            rows.collection_id, numbers if table.rows else None, topics=table.topics
        )
        placed = zip(places, documents, strict=True)
        described = sorted((place, *document[1:]) for place, document in placed)
        own = zip(numbers, places, strict=True)
        table.add(
            len(rows.ids), described, {row: noted[entry] for entry, row in own if entry in noted}
        )

    def suffixes(self, collection_id: int) -> set[str]:
        """Return the suffixes of a collection's files, without their dots."""
        where, values = of_collection("d.collection_id", collection_id)
        suffixes = self._connections.column(
            f"SELECT DISTINCT {SUFFIX} FROM documents d WHERE {where}", values
        )
        return {suffix for suffix in suffixes if suffix and "/" not in suffix}

    def folders(self, collection_id: int) -> set[str]:
        """Return the names of the folders in the paths of a collection's files, each with a "/"."""
        where, values = of_collection("collection_id", collection_id)
        paths = self._connections.column(
            f"SELECT DISTINCT rtrim(path, replace(path, '/', '')) FROM documents WHERE {where}",
            values,
        )
        return {f"{part}/" for path in paths for part in path.split("/") if part}

    def field_names(self, collections: Sequence[CollectionRecord]) -> tuple[str, ...]:
        """Return the names of all front-matter fields of the collections' documents, sorted."""
        names = {name for each in self._ids(collections) for name in self._field_names(each)}
        return tuple(sorted(names))

    def _field_names(self, collection_id: int) -> tuple[str, ...]:
        with self._rows.at_present(collection_id) as (rows, connection):
            fields = rows.fields
            if fields.rows < len(rows.ids):
                condition, values = rows.among(fields.rows)
                fields_of = connection.execute(
                    "SELECT name, group_concat(id) FROM (SELECT m.key AS name, d.id AS id "
                    f"FROM documents d, json_each(d.metadata) m WHERE {rows.where} "
                    f"AND d.status = 'indexed'{condition}) GROUP BY name",
                    (*rows.values, *values),
                ).fetchall()
                named = [
                    (name, rows.rows_of(ids_of(text), fields.rows)) for name, text in fields_of
                ]
                fields.add(len(rows.ids), named)
            return fields.of(rows.live)
