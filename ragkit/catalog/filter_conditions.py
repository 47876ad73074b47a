"""Filters of a search as conditions in SQL, on documents and on entries.

The table ``speakers`` says who speaks in which part of a conversation, and on which day. Filters by
topics, decisions and so on read the table ``chunk_notes`` (``chunk_notes.py``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from ragkit.catalog.chunk_notes import ACTION, ATTACHMENT, DECISION, topic_key
from ragkit.catalog.connection import IN_LIST, folded, of_collection
from ragkit.catalog.document_writing import speaker_key
from ragkit.catalog.tags import tag_key
from ragkit.types import LEVEL_CODES, Level

if TYPE_CHECKING:
    from ragkit.options import Filters

Condition: TypeAlias = tuple[str, tuple[Any, ...]]
"""A condition in SQL on documents ``d``, and its parameters."""


@dataclass(frozen=True, slots=True)
class EntryCondition:
    """A query for the entries that pass: its columns are ``document`` and ``entry``, both ids.

    No entry occurs twice. It ends with a ``WHERE``, so that conditions may be appended, such as one
    on ``id``, the name of its column of document ids.
    """

    query: str
    values: tuple[Any, ...]
    id: str


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
"""The day of a document; of a conversation, its last."""

SUFFIX = "folded(replace(d.path, rtrim(d.path, replace(d.path, '.', '')), ''))"
"""The suffix of a document's path, without its dot."""

PLATFORM = (
    "CASE d.format WHEN 'conversation' "
    "THEN folded(coalesce(json_extract(d.metadata, '$.platform'), '')) ELSE '' END"
)
"""The program of a conversation; "mbox" of a mailbox, whose file may have no suffix."""

_VALUE = (
    "folded(CASE {0}.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' ELSE {0}.value END) "
    + IN_LIST
)
MAY_BE_UNSAID = frozenset(("framework", "language"))
"""Fields that may be absent where a filter applies: a guide may fit that names no framework."""

_UNSAID = "NOT EXISTS (SELECT 1 FROM json_each(d.metadata) u WHERE u.key = ?)"
_FIELD = (
    "EXISTS (SELECT 1 FROM json_each(d.metadata) m WHERE m.key = ? AND CASE m.type WHEN 'array' "
    f"THEN EXISTS (SELECT 1 FROM json_each(m.value) v WHERE {_VALUE.format('v')}) "
    f"ELSE {_VALUE.format('m')} END)"
)
_TAGGED = f"d.id IN (SELECT t.document_id FROM tags t WHERE {{}} AND t.tag {IN_LIST})"
_MESSAGES = """
EXISTS (SELECT 1 FROM speakers v
WHERE v.document_id = {document} AND v.level = {level} AND v.position = {position}{conditions})
"""
_ATTACHED = "coalesce(json_array_length(d.metadata, '$.attachments'), 0) > 0"
_DOCUMENT, _CHUNK = LEVEL_CODES[Level.DOCUMENT], LEVEL_CODES[Level.CHUNK]

_FAMILIES = {
    "excel": "xlsx xlsm xlsb xls ods numbers csv tsv",
    "spreadsheet": "xlsx xlsm xlsb xls ods numbers csv tsv",
    "word": "docx docm doc dot odt pages rtf",
    "powerpoint": "pptx pptm ppt pps odp keynote", "presentation": "pptx pptm ppt pps odp keynote",
    "slides": "pptx pptm ppt pps odp keynote",
    "mail": "eml mbox", "email": "eml mbox",
    "notes": "markdown mdx text rst org asciidoc enex notes keep-page joplin clippings",
    "kindle": "clippings", "web": "html mhtml", "chat": "conversation", "subtitles": "captions",
    "notebook": "ipynb",
    "book": "epub fb2 mobi", "hangul": "hwp hwpx", "drawing": "odg vsdx", "visio": "vsdx",
    "image": "png jpg jpeg gif bmp tif tiff webp heic",
}  # fmt: skip


@cache
def type_families() -> Mapping[str, tuple[str, ...]]:
    """Return families of types, which ``type:`` may name too, with their formats and suffixes."""
    from ragkit.reading.formats import CODE_SUFFIXES

    families = {name: tuple(members.split()) for name, members in _FAMILIES.items()}
    for suffix, language in CODE_SUFFIXES.items():
        families[language] = (*families.get(language, ()), suffix.removeprefix("."))
    return families


def may_be_unsaid(field: str, values: Iterable[str]) -> bool:
    """Return whether documents without a field may pass a filter by these values of it."""
    return field.casefold() in MAY_BE_UNSAID and not any(value[:1] == "=" for value in values)


def without_mark(field: str, value: str) -> str:
    """Return a value without the leading ``=``, which excludes documents without the field."""
    return value.removeprefix("=") if field.casefold() in MAY_BE_UNSAID else value


def document_conditions(collection_id: int, filters: Filters, *, unsaid: bool) -> list[Condition]:
    """Return the conditions on documents of all filters but those by ids and sources."""
    conditions: list[Condition] = []

    def either(values: Sequence[Any], condition: str) -> None:
        if values:
            own = [value if isinstance(value, tuple) else (value,) for value in values]
            either = " OR ".join([condition] * len(values))
            conditions.append((f"({either})", tuple(part for value in own for part in value)))

    def fold_all(values: Sequence[str]) -> list[str]:
        return [folded(value) for value in values]

    either(with_families(fold_all(filters.types)), f"? IN (folded(d.format), {SUFFIX}, {PLATFORM})")
    either([_path(value) for value in filters.paths], "instr('/' || folded(d.path), ?)")
    either(fold_all(filters.titles), "instr(folded(d.title), ?)")
    either(fold_all(filters.languages), "folded(d.language) = ?")
    if filters.tags:
        tags = json.dumps([tag_key(tag) for tag in filters.tags])
        where, own = of_collection("t.collection_id", collection_id)
        conditions.append((_TAGGED.format(where), (*own, tags)))
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
        chosen = [value for key, value in filters.fields if key == name]
        keeps = unsaid and may_be_unsaid(name, chosen)
        packed = json.dumps(fold_all([without_mark(name, value) for value in chosen]))
        has = f"({_UNSAID} OR {_FIELD})" if keeps else _FIELD
        conditions.append((has, (*[name] * (1 + keeps), packed, packed)))
    return conditions


def _spoken(collection_id: int, filters: Filters) -> Condition:
    """Return the condition that one of the speakers speaks, within the days of the filters."""
    conditions, message_values = _message_conditions(filters)
    messages = _MESSAGES.format(
        document="d.id", level=_DOCUMENT, position="v.position", conditions=conditions
    )
    noted_speakers, packed = speaker_condition(filters.speakers)
    where, own = of_collection("n.collection_id", collection_id)
    noted = f"SELECT n.document_id FROM chunk_notes n WHERE {where} AND {noted_speakers}"
    return f"({messages} OR d.id IN ({noted}))", (*message_values, *own, packed)


def heading_condition(collection_id: int, headings: Sequence[str]) -> EntryCondition:
    """Return the condition that an entry overlaps a section under one of the headings.

    A part of a heading, or of the document's title, is enough.
    """
    names = json.dumps([folded(heading) for heading in headings])
    where, own = of_collection("d.collection_id", collection_id)
    query = (
        "SELECT DISTINCT e.document_id AS document, e.id AS entry FROM documents d "
        "CROSS JOIN sections s ON s.document_id = d.id CROSS JOIN chunks k "
        "ON k.document_id = s.document_id AND k.start < s.stop AND k.stop > s.start "
        "CROSS JOIN entries e ON e.document_id = k.document_id "
        f"AND (e.position = k.idx OR e.level = ?) WHERE {where} AND EXISTS ("
        "SELECT 1 FROM json_each(?) n WHERE instr(folded(d.title), n.value) OR EXISTS ("
        "SELECT 1 FROM json_each(s.path) h WHERE instr(folded(h.value), n.value)))"
    )
    return EntryCondition(query, (_DOCUMENT, *own, names), "d.id")


def message_condition(collection_id: int, filters: Filters) -> EntryCondition:
    """Return the condition that an entry has messages of the speakers, within the days.

    Without speakers, entries of documents without dated messages pass too.
    """
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
    of_document, own = of_collection("d.collection_id", collection_id)
    of_entry, _ = of_collection("e.collection_id", collection_id)
    query = (
        f"WITH dated AS MATERIALIZED (SELECT d.id FROM documents d WHERE {of_document} "
        "AND d.format = 'conversation' AND EXISTS (SELECT 1 FROM speakers w "
        f"WHERE w.document_id = d.id AND w.level = {_DOCUMENT} AND w.day <> '')) "
        "SELECT e.document_id AS document, e.id AS entry FROM entries e "
        f"WHERE {of_entry} AND {condition}"
    )
    return EntryCondition(query, (*own, *own, *parameters), "e.document_id")


def _message_conditions(filters: Filters) -> tuple[str, list[str]]:
    """Return conditions on the speaker and day of a message ``v``, and their values."""
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
    """Return types, with the members of those that are families, such as "excel"."""
    return [kind for name in types for kind in (name, *type_families().get(name, ()))]


def _path(value: str) -> str:
    """Return the text to look for in "/path": a folder ("notes/") begins with a slash."""
    plain = folded(value)
    return f"/{plain.lstrip('/')}" if plain.endswith("/") else plain


# -- what contexts note -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NoteCondition:
    """A filter by notes: a chunk ``n`` must meet one of ``chunk``, or its document ``document``."""

    chunk: tuple[str, ...]
    chunk_values: tuple[object, ...]
    document: str = ""
    document_values: tuple[object, ...] = ()


def note_conditions(filters: Filters) -> list[NoteCondition]:
    """Return the filters by notes, all of which must hold.

    A field of front matter with the name of a filter counts too, for all chunks of its document.
    """
    conditions = []
    if filters.has:
        meant = {value.removesuffix("s") for value in filters.has}
        # Two conditions, since each has an index of its own.
        noted = tuple(f"n.{name} = 1" for name in (DECISION, ACTION) if name in meant)
        attached = _ATTACHED if ATTACHMENT in meant else ""
        conditions.append(NoteCondition(noted, (), attached))
    if filters.topics:
        # An empty key would occur in every topic.
        keys = [topic_key(value) or "  " for value in filters.topics]
        either = " OR ".join(["instr(n.topic_key, ?)"] * len(keys))
        conditions.append(NoteCondition((either,), tuple(keys), *_field("topic", filters.topics)))
    if filters.sentiments:
        values = json.dumps([folded(value) for value in filters.sentiments])
        conditions.append(
            NoteCondition(
                (f"n.sentiment {IN_LIST}",),
                (values,),
                *_field("sentiment", filters.sentiments),
            )
        )
    return conditions


def speaker_condition(names: Sequence[str]) -> tuple[str, str]:
    """Return the condition that one of these speakers speaks in a chunk ``n``, and its value."""
    condition = (
        "n.speakers <> '' AND EXISTS (SELECT 1 FROM json_each(?) WHERE instr(n.speakers, value))"
    )
    return condition, speaker_keys(names)


def speaker_keys(names: Sequence[str]) -> str:
    """Return the keys of names as a JSON list; that of an empty name matches nobody."""
    return json.dumps([speaker_key(name) or " " * 9 for name in names])


def _field(name: str, values: Sequence[str]) -> tuple[str, tuple[object, ...]]:
    condition = f"folded(coalesce(json_extract(d.metadata, '$.{name}'), '')) {IN_LIST}"
    return condition, (json.dumps([folded(value) for value in values]),)


def document_condition(noted: NoteCondition, collection_id: int) -> tuple[str, list[object]]:
    """Return the condition that a document ``d``, or a chunk of it, passes, and its values."""
    parts, values = [], list[object]()
    if noted.chunk:
        query, values = _chunks_query("n.document_id", collection_id, noted)
        parts.append(f"d.id IN ({query})")
    if noted.document:
        parts.append(noted.document)
        values += noted.document_values
    return f"({' OR '.join(parts) or '1 = 0'})", values


def entry_conditions(noted: NoteCondition, collection_id: int) -> list[EntryCondition]:
    """Return conditions on entries of chunks, one of which must hold."""
    where, own = of_collection("n.collection_id", collection_id)
    conditions = [
        EntryCondition(
            "SELECT n.document_id AS document, n.entry_id AS entry FROM chunk_notes n "
            f"WHERE {where} AND ({condition})",
            (*own, *noted.chunk_values),
            "n.document_id",
        )
        for condition in noted.chunk
    ]
    if noted.document:
        where, own = of_collection("d.collection_id", collection_id)
        query = (
            "SELECT e.document_id AS document, e.id AS entry FROM documents d CROSS JOIN entries e "
            f"ON e.document_id = d.id AND e.level = ? WHERE {where} AND {noted.document}"
        )
        values = (_CHUNK, *own, *noted.document_values)
        conditions.append(EntryCondition(query, values, "d.id"))
    return conditions


def whole_conditions(noted: NoteCondition, collection_id: int) -> list[Condition]:
    """Return conditions on documents ``d``, each of which makes all of their chunks pass."""
    conditions: list[Condition] = []
    if noted.chunk:
        query, values = _chunks_query("n.document_id, n.chunk_idx", collection_id, noted)
        counted = f"SELECT document_id, COUNT(DISTINCT chunk_idx) FROM ({query}) GROUP BY 1"
        conditions.append((f"(d.id, d.chunks) IN ({counted})", tuple(values)))
    if noted.document:
        conditions.append((noted.document, noted.document_values))
    return conditions


def _chunks_query(
    columns: str, collection_id: int, noted: NoteCondition
) -> tuple[str, list[object]]:
    """Return the query for columns of the chunks that pass, with repetitions, and its values."""
    where, own = of_collection("n.collection_id", collection_id)
    queries = [
        f"SELECT {columns} FROM chunk_notes n WHERE {where} AND ({condition})"
        for condition in noted.chunk
    ]
    values = [value for _ in noted.chunk for value in (*own, *noted.chunk_values)]
    return " UNION ALL ".join(queries), values
