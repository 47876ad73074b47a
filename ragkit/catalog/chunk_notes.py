"""Notes of chunks, from their contexts: topic, decisions, action items, sentiment and speakers.

``contexts.details`` is what a model wrote. The table ``chunk_notes`` has the part of it that
filters read, a row for each chunk, which is written and deleted with the context.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragkit.catalog.connection import (
    IN_LIST,
    Connections,
    Transaction,
    id_list,
    of_collection,
)
from ragkit.catalog.document_writing import speaker_key
from ragkit.indexes.tokenizer import index_tokens, tokenize
from ragkit.types import ALL_COLLECTIONS, LEVEL_CODES, Level

DECISION, ACTION, ATTACHMENT, TOPIC = "decision", "action", "attachment", "topic"
_MOST_CHOICES = 30
_CHUNK = LEVEL_CODES[Level.CHUNK]


@dataclass(frozen=True, slots=True)
class ChunkNotes:
    """The notes of a chunk.

    ``decisions`` and ``actions`` are a few words each; they may be empty although ``has_decision``
    or ``has_action`` is true.
    """

    topic: str = ""
    decisions: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    has_decision: bool = False
    has_action: bool = False
    sentiment: str = ""
    speakers: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The text by which searches find the chunk, a line for each note."""
        decided = [DECISION, *self.decisions] if self.has_decision else []
        to_do = ["action item", *self.actions] if self.has_action else []
        return "\n".join(filter(None, (self.topic, *decided, *to_do)))


def notes_of(details: Mapping[str, Any]) -> ChunkNotes:
    """Parse the details of a context, ignoring values of another form than expected."""
    decisions, actions = _texts(details, "decisions"), _texts(details, "action_items")
    return ChunkNotes(
        _text(details, "topic_summary"),
        decisions,
        actions,
        bool(decisions) or details.get("has_decision") is True,
        bool(actions) or details.get("has_action_item") is True,
        _text(details, "sentiment").casefold(),
        _texts(details, "speakers"),
    )


def _text(details: Mapping[str, Any], name: str) -> str:
    value = details.get(name)
    return " ".join(value.split()) if isinstance(value, str) else ""


def _texts(details: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = details.get(name)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def topic_key(text: str) -> str:
    """Return a topic as topics are compared: its stems, each between spaces."""
    tokens = index_tokens(text) or tokenize(text)
    return f" {' '.join(tokens)} " if tokens else ""


# -- writing -------------------------------------------------------------------------------


def put_notes(connection: Transaction, place: tuple[int, int], notes: ChunkNotes) -> None:
    """Replace the notes of a chunk, given as (document id, index)."""
    topic, speakers = topic_key(notes.topic), _speakers(connection, place, notes.speakers)
    connection.execute("DELETE FROM chunk_notes WHERE document_id = ? AND chunk_idx = ?", place)
    if topic or speakers or notes.has_decision or notes.has_action or notes.sentiment:
        connection.execute(
            "INSERT INTO chunk_notes "
            "SELECT document_id, position, collection_id, ?, ?, ?, ?, ?, ?, id "
            "FROM entries WHERE document_id = ? AND position = ? AND level = ?",
            (
                notes.topic, topic, int(notes.has_decision), int(notes.has_action), notes.sentiment,
                speakers, *place, _CHUNK,
            ),
        )  # fmt: skip


def fill_notes(connection: Transaction) -> None:
    """Derive the notes of all contexts again, without those whose details are no JSON."""
    rows = connection.execute("SELECT document_id, chunk_idx, details FROM contexts").fetchall()
    for document_id, index, details in rows:
        try:
            notes = notes_of(json.loads(details))
        except ValueError:
            notes = ChunkNotes()
        put_notes(connection, (document_id, index), notes)


def _speakers(connection: Transaction, place: tuple[int, int], names: Sequence[str]) -> str:
    """Return the keys of those names that occur in the chunk's text, joined.

    There are none in documents with known speakers, where a name in the text is only a mention.
    """
    keys = list(dict.fromkeys(filter(None, map(speaker_key, names))))
    if not keys:
        return ""
    row = connection.execute(
        "SELECT substr(t.text, k.start + 1, k.stop - k.start) FROM chunks k "
        "JOIN texts t ON t.document_id = k.document_id WHERE k.document_id = ? AND k.idx = ? "
        "AND NOT EXISTS (SELECT 1 FROM speakers v WHERE v.document_id = k.document_id)",
        place,
    ).fetchone()
    text = speaker_key(row[0]) if row else ""
    return "".join(key for key in keys if key in text)


# -- reading ------------------------------------------------------------------------------


class NoteQueries:
    """Queries about the notes of a collection's chunks."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def has_few_topics(self, collection_id: int) -> bool:
        """Return whether there are at most 30 topics to choose from; never for all collections."""
        if collection_id == ALL_COLLECTIONS:
            return False
        return len(self.topics(collection_id, _MOST_CHOICES + 1)) <= _MOST_CHOICES

    def values(
        self, collection_id: int, among: Sequence[int] | None = None, *, topics: bool
    ) -> dict[int, list[tuple[str, str]]]:
        """Return the notes as (filter, value), by document id; of the documents ``among``, or all.

        The value of a topic is its key, a line break, and its first name in the document.
        """
        where, parameters = of_collection("collection_id", collection_id)
        if among is not None:
            where += f" AND document_id {IN_LIST}"
            parameters.append(id_list(among))
        parts = [
            f"SELECT DISTINCT document_id, 'has', '{name}' FROM chunk_notes "
            f"WHERE {where} AND {name} = 1"
            for name in (DECISION, ACTION)
        ]
        parts.append(
            "SELECT DISTINCT document_id, 'sentiment', sentiment FROM chunk_notes "
            f"WHERE {where} AND sentiment <> ''"
        )
        if topics:
            parts.append(
                f"SELECT document_id, '{TOPIC}', topic_key || '\n' || MIN(topic) "
                f"FROM chunk_notes WHERE {where} AND topic_key <> '' "
                "GROUP BY document_id, topic_key"
            )
        rows = self._connections.rows(" UNION ALL ".join(parts), parameters * len(parts))
        notes: dict[int, list[tuple[str, str]]] = {}
        for document_id, name, value in rows:
            notes.setdefault(document_id, []).append((name, value))
        return notes

    def topics(self, collection_id: int, most: int) -> list[str]:
        """Return at most ``most`` topics of a collection or of all, ordered by their stems."""
        where, values = of_collection("collection_id", collection_id)
        return self._connections.column(
            f"SELECT MIN(topic) FROM chunk_notes WHERE {where} AND topic_key <> '' "
            "GROUP BY topic_key ORDER BY topic_key LIMIT ?",
            (*values, most),
        )

    def contexts(self, collection_id: int) -> bool:
        """Return whether the collection has any context."""
        where, values = of_collection("d.collection_id", collection_id)
        query = (
            "SELECT 1 FROM contexts c JOIN documents d ON d.id = c.document_id "
            f"WHERE {where} AND c.context <> '' LIMIT 1"
        )
        return self._connections.row(query, values) is not None
