"""Who speaks in which part of a conversation, and when: what ``speaker:`` and dates ask for."""

from __future__ import annotations

import json
import re
import sqlite3
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragkit.catalog.connection import folded
from ragkit.catalog.records import SpeakerRecord

if TYPE_CHECKING:
    from ragkit.options import Filters

_NOT_A_WORD = re.compile(r"[\W_]+")

SPOKEN = """
SELECT 1 FROM speakers v WHERE v.document_id = {document} AND v.level = {level}
AND v.position = {position}
"""
_DOCUMENT_LEVEL = 0
_CHUNK_LEVEL = 2


def speaker_key(name: str) -> str:
    """A name as it is compared: its words, without accents and case, between spaces.

    A name without letters has a key as well; the key of no name is empty.
    """
    plain = unicodedata.normalize("NFKD", folded(name))
    plain = "".join(one for one in plain if not unicodedata.combining(one))
    words = _NOT_A_WORD.sub(" ", plain).strip() or " ".join(plain.split())
    return f" {words} " if words else ""


def put_speakers(
    connection: sqlite3.Connection, document_id: int, speakers: Sequence[SpeakerRecord]
) -> None:
    """Insert who speaks where, within the caller's transaction."""
    rows = {
        (document_id, one.level, one.position, speaker_key(one.speaker), one.day)
        for one in speakers
    }
    connection.executemany("INSERT INTO speakers VALUES (?, ?, ?, ?, ?)", sorted(rows))


def document_condition(filters: Filters) -> tuple[str, list[str]]:
    """The condition that a document ``d`` holds such messages; empty when none are asked for."""
    if not filters.speakers:
        return "", []
    said, parameters = _said(filters)
    place = SPOKEN.format(document="d.id", level=_DOCUMENT_LEVEL, position="v.position")
    return f"EXISTS ({place}{said})", parameters


def entry_query(collection_id: int, filters: Filters) -> tuple[str, list[object]]:
    """The query for entries that show such messages; with dates only, all else passes too."""
    said, parameters = _said(filters)
    place = SPOKEN.format(
        document="e.document_id", level=f"min(e.level, {_CHUNK_LEVEL})", position="e.position"
    )
    condition = f"EXISTS ({place}{said})"
    if not filters.speakers:
        condition = f"(e.document_id NOT IN (SELECT id FROM dated) OR {condition})"
    query = (
        "WITH dated AS MATERIALIZED (SELECT d.id FROM documents d WHERE d.collection_id = ? "
        "AND d.format = 'conversation' AND EXISTS (SELECT 1 FROM speakers w "
        f"WHERE w.document_id = d.id AND w.level = {_DOCUMENT_LEVEL} AND w.day <> '')) "
        f"SELECT e.id FROM entries e WHERE e.collection_id = ? AND {condition} ORDER BY e.id"
    )
    return query, [collection_id, collection_id, *parameters]


def _said(filters: Filters) -> tuple[str, list[str]]:
    """The conditions on who spoke and when; both must hold of the same messages."""
    condition, parameters = "", []
    if filters.speakers:
        condition += " AND EXISTS (SELECT 1 FROM json_each(?) WHERE instr(v.speaker, value))"
        parameters.append(json.dumps([speaker_key(name) or " " * 9 for name in filters.speakers]))
    if filters.after:
        condition += " AND v.day >= ?"
        parameters.append(filters.after)
    if filters.before:
        condition += " AND v.day < ? AND v.day <> ''"
        parameters.append(filters.before)
    return condition, parameters
