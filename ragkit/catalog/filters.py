"""Filters as SQL: which documents and entries a search may return, and the values on offer.

Filters by speaker and day read the table ``speakers``: who speaks in which part of a
conversation, and when. What contexts note of chunks is in ``chunk_notes.py``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ragkit.catalog.chunk_notes import (
    NoteQueries,
    document_condition,
    note_conditions,
    speaker_condition,
    speaker_keys,
)
from ragkit.catalog.collections import MOST_APART, Collections
from ragkit.catalog.connection import Connections, Transaction, folded, id_list
from ragkit.catalog.document_rows import Condition, DocumentRows, KeptRows, ids_of
from ragkit.catalog.document_writing import speaker_key
from ragkit.catalog.facets import Facets, FacetTable, joined
from ragkit.catalog.records import CollectionRecord, SpeakerRecord
from ragkit.catalog.tags import tag_key
from ragkit.types import LEVEL_CODES, Level

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragkit.indexes.rows import Ids
    from ragkit.options import Filters

FIRST_DATE = (
    "CASE d.date WHEN '' THEN date(d.mtime_ns / 1000000000, 'unixepoch') "
    "ELSE substr(d.date, 1, 10) END"
)
"""The day of a document; of a conversation, its first."""

LAST_DATE = (
    "CASE d.format WHEN 'conversation' THEN "
    f"coalesce(substr(json_extract(d.metadata, '$.last_date'), 1, 10), {FIRST_DATE}) "
    f"ELSE {FIRST_DATE} END"
)
"""The same, of a conversation its last."""

_SUFFIX = "folded(replace(d.path, rtrim(d.path, replace(d.path, '.', '')), ''))"
_VALUE = (
    "folded(CASE {0}.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' ELSE {0}.value END) "
    "IN (SELECT value FROM json_each(?))"
)
MAY_BE_UNSAID = frozenset(("framework", "language"))
"""Fields that a technical document may fit without having them: a guide that names no framework."""

_UNSAID = "NOT EXISTS (SELECT 1 FROM json_each(d.metadata) u WHERE u.key = ?)"
_FIELD = (
    "EXISTS (SELECT 1 FROM json_each(d.metadata) m WHERE m.key = ? AND CASE m.type WHEN 'array' "
    f"THEN EXISTS (SELECT 1 FROM json_each(m.value) v WHERE {_VALUE.format('v')}) "
    f"ELSE {_VALUE.format('m')} END)"
)
_TAGGED = (
    "d.id IN (SELECT t.document_id FROM tags t WHERE t.collection_id = ? "
    "AND t.tag IN (SELECT value FROM json_each(?)))"
)
_MESSAGES = """
EXISTS (SELECT 1 FROM speakers v
WHERE v.document_id = {document} AND v.level = {level} AND v.position = {position}{conditions})
"""
_DOCUMENT, _CHUNK = LEVEL_CODES[Level.DOCUMENT], LEVEL_CODES[Level.CHUNK]

_FAMILIES = {
    "excel": "xlsx xlsm xls csv tsv", "spreadsheet": "xlsx xlsm xls csv tsv", "word": "docx docm",
    "powerpoint": "pptx pptm", "presentation": "pptx pptm", "slides": "pptx pptm",
    "mail": "eml mbox", "email": "eml mbox", "notes": "markdown mdx text rst",
    "web": "html", "chat": "conversation", "notebook": "ipynb", "book": "epub",
    "image": "png jpg jpeg gif bmp tif tiff webp heic",
}  # fmt: skip


@cache
def type_families() -> Mapping[str, tuple[str, ...]]:
    """Return what ``type:`` may name beside formats and suffixes: families, with their members."""
    from ragkit.reading.formats import CODE_SUFFIXES

    families = {name: tuple(members.split()) for name, members in _FAMILIES.items()}
    for suffix, language in CODE_SUFFIXES.items():
        families[language] = (*families.get(language, ()), suffix.removeprefix("."))
    return families


class FilterQueries:
    """Queries that resolve filters to ids, and that count the values to filter by."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._rows = KeptRows(connections)

    def documents(
        self, collection_id: int, filters: Filters, *, unsaid: bool = False
    ) -> NDArray[np.int64]:
        """Return ids of the collection's indexed documents that pass the filters, ascending.

        With ``unsaid``, documents without a field of ``MAY_BE_UNSAID`` pass a filter by it, unless
        one of its values begins with ``=``.
        """
        with self._rows.at_present(collection_id) as (rows, connection):
            passing = rows.live
            for condition in _conditions(collection_id, filters, unsaid=unsaid):
                passing = passing & rows.mask(connection, condition)
            if filters.sources:
                passing = passing & rows.mask(connection, self._sources(collection_id, filters))
            found = rows.ids[passing]
        if filters.documents:
            found = found[np.isin(found, np.array(filters.documents, np.int64))]
        return np.sort(found, kind="stable")

    def _sources(self, collection_id: int, filters: Filters) -> Condition:
        """Return the condition that a document lies in one of the folders that are named."""
        roots = self._connections.rows(
            "SELECT id, root FROM sources WHERE collection_id = ? ORDER BY id", (collection_id,)
        )
        names = [folded(name) for name in filters.sources]
        ids = [number for number, root in roots if any(name in folded(root) for name in names)]
        return "d.source_id IN (SELECT value FROM json_each(?))", (id_list(ids),)

    def entries_under(self, collection_id: int, headings: Sequence[str]) -> NDArray[np.int64]:
        """Return ids of entries that overlap a section under one of those headings or titles.

        A chunk may span several small sections; the entry of a whole document is under all of
        its headings.
        """
        names = json.dumps([folded(heading) for heading in headings])
        ids = self._connections.column(
            "WITH names AS MATERIALIZED (SELECT value AS name FROM json_each(?)), "
            "spans AS MATERIALIZED ("
            "SELECT s.document_id, s.start, s.stop FROM sections s "
            "JOIN documents d ON d.id = s.document_id WHERE d.collection_id = ? AND EXISTS ("
            "SELECT 1 FROM names WHERE instr(folded(d.title), name) OR EXISTS ("
            "SELECT 1 FROM json_each(s.path) WHERE instr(folded(value), name)))) "
            "SELECT DISTINCT e.id FROM spans s JOIN chunks k ON k.document_id = s.document_id "
            "AND k.start < s.stop AND k.stop > s.start JOIN entries e "
            "ON e.document_id = k.document_id AND (e.position = k.idx OR e.level = ?) "
            "WHERE e.collection_id = ? ORDER BY e.id",
            (names, collection_id, LEVEL_CODES[Level.DOCUMENT], collection_id),
        )
        return np.array(ids, dtype=np.int64)

    def entries_by_speaker(self, collection_id: int, filters: Filters) -> NDArray[np.int64] | None:
        """Return ids of entries with messages of the filtered speakers and days.

        A document that is no conversation has only its own date: its entries all pass a filter
        by days alone. ``None`` when nothing is restricted.
        """
        restricted = bool(filters.speakers)
        if not restricted and (filters.after or filters.before):
            with self._rows.at_present(collection_id) as (rows, connection):
                chats = rows.mask(connection, ("d.format = 'conversation'", ()))
                restricted = bool((rows.live & chats).any())
        if not restricted:
            return None
        ids = self._connections.column(*_entry_query(collection_id, filters))
        return np.array(ids, dtype=np.int64)

    def speakers(self, document_id: int) -> tuple[SpeakerRecord, ...]:
        """Return who speaks where in a document, and on which days."""
        rows = self._connections.rows(
            "SELECT level, position, speaker, day FROM speakers WHERE document_id = ?",
            (document_id,),
        )
        return tuple(SpeakerRecord(*row) for row in rows)

    def newest_first(self, document_ids: Iterable[int], limit: int = -1) -> list[int]:
        """Return ids of documents by their dates, the newest first; those of a day by path."""
        return self._connections.column(
            "SELECT d.id FROM documents d WHERE d.id IN (SELECT value FROM json_each(?)) "
            f"ORDER BY {LAST_DATE} DESC, d.path, d.id LIMIT ?",
            (id_list(document_ids), limit),
        )

    def facets(
        self, collections: Sequence[CollectionRecord] | None, among: Ids | None = None
    ) -> Facets:
        """Count the values of the indexed documents, or of those with the ids ``among``.

        Only documents that have changed are read again. All of a library (``None``) are counted as
        if they were of one collection.
        """
        return joined([self._facets(each, among) for each in self._apart(collections)])

    def _apart(self, collections: Sequence[CollectionRecord] | None) -> list[int | None]:
        """Return the ids of collections; ``None`` for all of a library with very many."""
        if collections is None:
            return [None]
        many = len(collections) > MOST_APART
        if many and len(collections) == Collections(self._connections).count():
            return [None]
        return [collection.id for collection in collections]

    def _facets(self, collection_id: int | None, among: Ids | None) -> Facets:
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
        """Return whether topics, which were too many, have become few."""
        changed = not table.topics and table.rows < len(rows.ids)
        return changed and NoteQueries(self._connections).has_few_topics(rows.collection_id)

    def _read_facets(self, rows: DocumentRows, table: FacetTable, connection: Transaction) -> None:
        """Read the values of the rows that a table has not."""
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
        found = zip(places, documents, strict=True)
        described = sorted((place, *document[1:]) for place, document in found)
        own = zip(numbers, places, strict=True)
        table.add(len(rows.ids), described, {row: noted[one] for one, row in own if one in noted})

    def suffixes(self, collection_id: int) -> set[str]:
        """Return the suffixes of a collection's files, without their dots."""
        found = self._connections.column(
            f"SELECT DISTINCT {_SUFFIX} FROM documents d WHERE d.collection_id = ?",
            (collection_id,),
        )
        return {suffix for suffix in found if suffix and "/" not in suffix}

    def folders(self, collection_id: int) -> set[str]:
        """Return the folders that a collection's files lie in, each with its "/"."""
        paths = self._connections.column(
            "SELECT DISTINCT rtrim(path, replace(path, '/', '')) FROM documents "
            "WHERE collection_id = ?",
            (collection_id,),
        )
        return {f"{part}/" for path in paths for part in path.split("/") if part}

    def field_names(self, collections: Sequence[CollectionRecord] | None) -> tuple[str, ...]:
        """Return every front-matter field that a document of the collections has, sorted.

        Only documents that have changed are read again.
        """
        found = {name for each in self._apart(collections) for name in self._field_names(each)}
        return tuple(sorted(found))

    def _field_names(self, collection_id: int | None) -> tuple[str, ...]:
        with self._rows.at_present(collection_id) as (rows, connection):
            fields = rows.fields
            if fields.rows < len(rows.ids):
                condition, values = rows.among(fields.rows)
                found = connection.execute(
                    "SELECT name, group_concat(id) FROM (SELECT m.key AS name, d.id AS id "
                    f"FROM documents d, json_each(d.metadata) m WHERE {rows.where} "
                    f"AND d.status = 'indexed'{condition}) GROUP BY name",
                    (*rows.values, *values),
                ).fetchall()
                named = [(name, rows.rows_of(ids_of(text), fields.rows)) for name, text in found]
                fields.add(len(rows.ids), named)
            return fields.of(rows.live)


def may_be_unsaid(field: str, values: Iterable[str]) -> bool:
    """Return whether a filter by these values of a field may keep documents without the field."""
    return field.casefold() in MAY_BE_UNSAID and not any(value[:1] == "=" for value in values)


def without_mark(field: str, value: str) -> str:
    """Return a value without the ``=`` that makes a filter by such a field strict."""
    return value.removeprefix("=") if field.casefold() in MAY_BE_UNSAID else value


def _conditions(collection_id: int, filters: Filters, *, unsaid: bool) -> list[Condition]:
    """Return conditions on documents, all of which must hold, but those on ids and sources."""
    conditions: list[Condition] = []

    def either(values: Sequence[Any], condition: str) -> None:
        if values:
            own = [value if isinstance(value, tuple) else (value,) for value in values]
            either = " OR ".join([condition] * len(values))
            conditions.append((f"({either})", tuple(part for value in own for part in value)))

    def fold_all(values: Sequence[str]) -> list[str]:
        return [folded(value) for value in values]

    either(with_families(fold_all(filters.types)), f"? IN (folded(d.format), {_SUFFIX})")
    either([_path(value) for value in filters.paths], "instr('/' || folded(d.path), ?)")
    either(fold_all(filters.titles), "instr(folded(d.title), ?)")
    either(fold_all(filters.languages), "folded(d.language) = ?")
    if filters.tags:
        tags = json.dumps([tag_key(tag) for tag in filters.tags])
        conditions.append((_TAGGED, (collection_id, tags)))
    if filters.after:
        conditions.append((f"{LAST_DATE} >= ?", (filters.after,)))
    if filters.before:
        conditions.append((f"{FIRST_DATE} < ?", (filters.before,)))
    if filters.speakers:
        conditions.append(_spoken(collection_id, filters))
    either(
        [(folded(name), speaker_key(name) or " " * 9) for name in filters.senders],
        "(instr(folded(coalesce(json_extract(d.metadata, '$.author'), '')), ?) OR EXISTS "
        "(SELECT 1 FROM speakers v WHERE v.document_id = d.id AND instr(v.speaker, ?)))",
    )
    for header, people in (
        ("to", filters.recipients), ("cc", filters.copies), ("bcc", filters.blind_copies),
    ):  # fmt: skip
        either(
            fold_all(people),
            f"instr(folded(coalesce(json_extract(d.metadata, '$.{header}'), '')), ?)",
        )
    for noted in note_conditions(filters):
        condition, values = document_condition(noted, collection_id)
        conditions.append((condition, tuple(values)))
    for name in sorted({name for name, _ in filters.fields}):
        wanted = [value for key, value in filters.fields if key == name]
        keeps = unsaid and may_be_unsaid(name, wanted)
        packed = json.dumps(fold_all([without_mark(name, value) for value in wanted]))
        has = f"({_UNSAID} OR {_FIELD})" if keeps else _FIELD
        conditions.append((has, (*[name] * (1 + keeps), packed, packed)))
    return conditions


def _spoken(collection_id: int, filters: Filters) -> Condition:
    """Return the condition that one of the people speaks, on the days that are asked for."""
    said, message_values = _message_conditions(filters)
    messages = _MESSAGES.format(
        document="d.id", level=_DOCUMENT, position="v.position", conditions=said
    )
    noted_speakers, packed = speaker_condition(filters.speakers)
    noted = (
        f"SELECT n.document_id FROM chunk_notes n WHERE n.collection_id = ? AND {noted_speakers}"
    )
    return f"({messages} OR d.id IN ({noted}))", (*message_values, collection_id, packed)


def _entry_query(collection_id: int, filters: Filters) -> tuple[str, list[object]]:
    """Return the query for entries with such messages; a filter by days alone passes all others."""
    conditions, parameters = _message_conditions(filters)
    condition = _MESSAGES.format(
        document="e.document_id",
        level=f"min(e.level, {_CHUNK})",
        position="e.position",
        conditions=conditions,
    )
    if filters.speakers:
        noted, packed = speaker_condition(filters.speakers)
        condition = (
            f"({condition} OR EXISTS (SELECT 1 FROM chunk_notes n WHERE n.document_id = "
            f"e.document_id AND (n.chunk_idx = e.position OR e.level = {_DOCUMENT}) AND {noted}))"
        )
        parameters.append(packed)
    else:
        condition = f"(e.document_id NOT IN (SELECT id FROM dated) OR {condition})"
    query = (
        "WITH dated AS MATERIALIZED (SELECT d.id FROM documents d WHERE d.collection_id = ? "
        "AND d.format = 'conversation' AND EXISTS (SELECT 1 FROM speakers w "
        f"WHERE w.document_id = d.id AND w.level = {_DOCUMENT} AND w.day <> '')) "
        f"SELECT e.id FROM entries e WHERE e.collection_id = ? AND {condition} ORDER BY e.id"
    )
    return query, [collection_id, collection_id, *parameters]


def _message_conditions(filters: Filters) -> tuple[str, list[str]]:
    """Return conditions on speaker and day; both must hold for the same messages."""
    conditions = ""
    parameters: list[str] = []
    if filters.speakers:
        conditions += " AND EXISTS (SELECT 1 FROM json_each(?) WHERE instr(v.speaker, value))"
        parameters.append(speaker_keys(filters.speakers))
    if filters.after:
        conditions += " AND v.day >= ?"
        parameters.append(filters.after)
    if filters.before:
        conditions += " AND v.day < ? AND v.day <> ''"
        parameters.append(filters.before)
    return conditions, parameters


def with_families(types: Sequence[str]) -> list[str]:
    """Return types with all that belong to those that are families, such as "excel"."""
    return [kind for name in types for kind in (name, *type_families().get(name, ()))]


def _path(value: str) -> str:
    """Anchor a folder ("notes/") at the start of a path part; other text may match anywhere."""
    plain = folded(value)
    return f"/{plain.lstrip('/')}" if plain.endswith("/") else plain
