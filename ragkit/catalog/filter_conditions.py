"""Filters as conditions in SQL, on documents and on entries, and what their values stand for.

Filters by speaker and day read the table ``speakers``: who speaks in which part of a
conversation, and when. What contexts note of chunks is in ``chunk_notes.py``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from ragkit.catalog.chunk_notes import (
    document_condition,
    note_conditions,
    speaker_condition,
    speaker_keys,
)
from ragkit.catalog.connection import folded
from ragkit.catalog.document_writing import speaker_key
from ragkit.catalog.tags import tag_key
from ragkit.types import LEVEL_CODES, Level

if TYPE_CHECKING:
    from ragkit.catalog.document_rows import Condition
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

SUFFIX = "folded(replace(d.path, rtrim(d.path, replace(d.path, '.', '')), ''))"
"""What follows the last dot of a document's path."""

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


def may_be_unsaid(field: str, values: Iterable[str]) -> bool:
    """Return whether a filter by these values of a field may keep documents without the field."""
    return field.casefold() in MAY_BE_UNSAID and not any(value[:1] == "=" for value in values)


def without_mark(field: str, value: str) -> str:
    """Return a value without the ``=`` that makes a filter by such a field strict."""
    return value.removeprefix("=") if field.casefold() in MAY_BE_UNSAID else value


def document_conditions(collection_id: int, filters: Filters, *, unsaid: bool) -> list[Condition]:
    """Return conditions on documents, all of which must hold, but those on ids and sources."""
    conditions: list[Condition] = []

    def either(values: Sequence[Any], condition: str) -> None:
        if values:
            own = [value if isinstance(value, tuple) else (value,) for value in values]
            either = " OR ".join([condition] * len(values))
            conditions.append((f"({either})", tuple(part for value in own for part in value)))

    def fold_all(values: Sequence[str]) -> list[str]:
        return [folded(value) for value in values]

    either(with_families(fold_all(filters.types)), f"? IN (folded(d.format), {SUFFIX})")
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


def message_query(collection_id: int, filters: Filters) -> tuple[str, list[object]]:
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
