"""Filters as SQL: which documents and entries a search may return, and the values on offer.

Filters by speaker and day read the table ``speakers``: who speaks in which part of a
conversation, and when. What contexts note of chunks is in ``chunk_notes.py``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ragkit.catalog.chunk_notes import (
    NoteQueries,
    document_condition,
    note_conditions,
    speaker_condition,
    speaker_keys,
)
from ragkit.catalog.connection import Connections, folded, id_list
from ragkit.catalog.document_writing import speaker_key
from ragkit.catalog.facets import Facets, FacetTable
from ragkit.catalog.records import CollectionRecord, SpeakerRecord
from ragkit.types import LEVEL_CODES, Level, Version

if TYPE_CHECKING:
    import numpy as np
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
_MESSAGES = """
EXISTS (SELECT 1 FROM speakers v
WHERE v.document_id = {document} AND v.level = {level} AND v.position = {position}{conditions})
"""
_DOCUMENT, _CHUNK = LEVEL_CODES[Level.DOCUMENT], LEVEL_CODES[Level.CHUNK]
_KEPT_SECONDS = 300.0

_T = TypeVar("_T")


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


class _ByVersion(Generic[_T]):
    """What is read of a whole collection, kept until the collection's version changes.

    A file that was only moved leaves the version as it is, hence the time limit.
    """

    def __init__(self, read: Callable[[int], _T]) -> None:
        self._read = read
        self._kept: dict[int, tuple[Version | None, float, _T]] = {}

    def of(self, collection: CollectionRecord) -> _T:
        version, read_at, value = self._kept.get(collection.id, (None, 0.0, None))
        if value is None or version != collection.version or _age(read_at) > _KEPT_SECONDS:
            value = self._read(collection.id)
            self._kept[collection.id] = (collection.version, time.monotonic(), value)
        return value


def _age(at: float) -> float:
    return time.monotonic() - at


class FilterQueries:
    """Queries that resolve filters to ids, and that count the values to filter by."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._facets = _ByVersion(self._read_facets)
        self._field_names = _ByVersion(self._read_field_names)

    def documents(
        self, collection_id: int, filters: Filters, *, unsaid: bool = False
    ) -> NDArray[np.int64]:
        """Return ids of the collection's indexed documents that pass the filters, ascending.

        With ``unsaid``, documents without a field of ``MAY_BE_UNSAID`` pass a filter by it, unless
        one of its values begins with ``=``.
        """
        import numpy as np

        where, parameters = _conditions(collection_id, filters, unsaid=unsaid)
        ids = self._connections.column(
            "SELECT d.id FROM documents d JOIN sources s ON s.id = d.source_id "
            f"WHERE d.collection_id = ? AND d.status = 'indexed'{where} ORDER BY d.id",
            (collection_id, *parameters),
        )
        return np.array(ids, dtype=np.int64)

    def entries_under(self, collection_id: int, headings: Sequence[str]) -> NDArray[np.int64]:
        """Return ids of entries that overlap a section under one of those headings or titles.

        A chunk may span several small sections; the entry of a whole document is under all of
        its headings.
        """
        import numpy as np

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
        import numpy as np

        restricted = bool(filters.speakers)
        if not restricted and (filters.after or filters.before):
            restricted = bool(
                self._connections.rows(
                    "SELECT 1 FROM documents WHERE collection_id = ? AND format = 'conversation' "
                    "LIMIT 1",
                    (collection_id,),
                )
            )
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

    def facets(self, collection: CollectionRecord, among: Ids | None = None) -> Facets:
        """Count the values of the indexed documents, or of those with the ids ``among``.

        Read again only when the collection has another version.
        """
        table = self._facets.of(collection)
        return table.whole if among is None else table.facets(among)

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

    def field_names(self, collection: CollectionRecord) -> tuple[str, ...]:
        """Return every front-matter field that a document of the collection has, sorted.

        Read again only when the collection has another version.
        """
        return self._field_names.of(collection)

    def _read_facets(self, collection_id: int) -> FacetTable:
        return FacetTable(
            self._connections.rows(
                "SELECT id, format, language, path, metadata FROM documents "
                "WHERE collection_id = ? AND status = 'indexed' ORDER BY id",
                (collection_id,),
            ),
            NoteQueries(self._connections).values(collection_id),
        )

    def _read_field_names(self, collection_id: int) -> tuple[str, ...]:
        return tuple(
            self._connections.column(
                "SELECT DISTINCT m.key FROM documents d, json_each(d.metadata) m "
                "WHERE d.collection_id = ? ORDER BY 1",
                (collection_id,),
            )
        )


def may_be_unsaid(field: str, values: Iterable[str]) -> bool:
    """Return whether a filter by these values of a field may keep documents without the field."""
    return field.casefold() in MAY_BE_UNSAID and not any(value[:1] == "=" for value in values)


def without_mark(field: str, value: str) -> str:
    """Return a value without the ``=`` that makes a filter by such a field strict."""
    return value.removeprefix("=") if field.casefold() in MAY_BE_UNSAID else value


def _conditions(collection_id: int, filters: Filters, *, unsaid: bool) -> tuple[str, list[Any]]:
    parts: list[str] = []
    parameters: list[Any] = []

    def either(values: Sequence[Any], condition: str) -> None:
        if values:
            parts.append("(" + " OR ".join([condition] * len(values)) + ")")
            for value in values:
                parameters.extend(value if isinstance(value, tuple) else (value,))

    def fold_all(values: Sequence[str]) -> list[str]:
        return [folded(value) for value in values]

    either(with_families(fold_all(filters.types)), f"? IN (folded(d.format), {_SUFFIX})")
    either([_path(value) for value in filters.paths], "instr('/' || folded(d.path), ?)")
    either(fold_all(filters.titles), "instr(folded(d.title), ?)")
    either(fold_all(filters.sources), "instr(folded(s.root), ?)")
    either(fold_all(filters.languages), "folded(d.language) = ?")
    either(
        fold_all(filters.tags),
        "EXISTS (SELECT 1 FROM json_each(d.metadata, '$.tags') WHERE folded(value) = ?)",
    )
    if filters.documents:
        parts.append("d.id IN (SELECT value FROM json_each(?))")
        parameters.append(json.dumps(filters.documents))
    if filters.after:
        parts.append(f"{LAST_DATE} >= ?")
        parameters.append(filters.after)
    if filters.before:
        parts.append(f"{FIRST_DATE} < ?")
        parameters.append(filters.before)
    if filters.speakers:
        conditions, message_values = _message_conditions(filters)
        messages = _MESSAGES.format(
            document="d.id", level=_DOCUMENT, position="v.position", conditions=conditions
        )
        noted_speakers, packed = speaker_condition(filters.speakers)
        parts.append(
            f"({messages} OR d.id IN (SELECT n.document_id FROM chunk_notes n "
            f"WHERE n.collection_id = ? AND {noted_speakers}))"
        )
        parameters += [*message_values, collection_id, packed]
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
        parts.append(condition)
        parameters += values
    for name in sorted({name for name, _ in filters.fields}):
        wanted = [value for key, value in filters.fields if key == name]
        keeps = unsaid and may_be_unsaid(name, wanted)
        packed = json.dumps(fold_all([without_mark(name, value) for value in wanted]))
        parts.append(f"({_UNSAID} OR {_FIELD})" if keeps else _FIELD)
        parameters += [name] * (1 + keeps) + [packed, packed]
    return "".join(f" AND {part}" for part in parts), parameters


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
