"""Judgments and votes: how people, or models, rated the results of a question.

Nothing that searches or writes documents reads them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from enum import StrEnum
from typing import Any

from ragkit.catalog.connection import (
    IN_LIST,
    Connections,
    conditions,
    id_list,
    inserted,
    insertion,
)

_COLUMNS = (
    "question, document_id, path, content_hash, start, stop, quote, grade, origin, question_set, "
    "question_key, kind, at, writer, filter"
)
"""In the order of the fields of ``JudgmentDraft``."""

_INSERT = insertion("judgments", ["collection_id", *_COLUMNS.split(", ")])
_VOTE_COLUMNS = ("collection_id", "question", "settings", "winner", "at")
_SAME_PLACE = (
    "collection_id, question_set, question_key, question, filter, document_id, start, stop"
)


class Origin(StrEnum):
    """Where a judgment was made."""

    SEARCH = "search"
    COMPARE = "compare"
    IMPORT = "import"
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class JudgmentDraft:
    """A judgment before it has an id.

    ``start`` and ``end`` are offsets into the text at the time of the judgment, and ``quote`` is
    the text between them; all empty, the whole document was judged. ``content_hash`` is that of
    the file's bytes then. ``grade`` is 2 (right), 1 (partly) or 0 (not). ``question_set`` and
    ``key`` are empty for what was judged on the pages, else the set that the question came with
    and its id in it. ``writer`` is the model that wrote the question, if any. ``filter`` restricts
    the question, in the query language. ``at`` is in seconds since the epoch; 0 is now.
    """

    question: str
    document_id: int
    path: str
    content_hash: str
    start: int
    end: int
    quote: str
    grade: int
    origin: Origin
    question_set: str = ""
    key: str = ""
    kind: str = ""
    at: float = 0.0
    writer: str = ""
    filter: str = ""

    @property
    def whole(self) -> bool:
        """True when the document as a whole was judged."""
        return self.start == self.end == 0


@dataclass(frozen=True, slots=True)
class JudgmentRecord:
    """A stored judgment. Of several of the same place, the one with the highest id holds."""

    id: int
    judged: JudgmentDraft


@dataclass(frozen=True, slots=True)
class VoteRecord:
    """Which of several settings answered a question best.

    ``settings`` are written as in the address of the Compare page; ``winner`` is an index into
    them, ``None`` for a draw.
    """

    id: int
    question: str
    settings: tuple[str, ...]
    winner: int | None
    at: float


class Judgments:
    """Queries about judgments and votes. Each method that writes is one transaction."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def add(self, collection_id: int, drafts: Iterable[JudgmentDraft]) -> list[int]:
        """Store judgments, and return their ids; earlier ones of the same places are kept."""
        now = time.time()
        with self._connections.write(alone=False) as connection:
            return inserted(
                connection,
                f"{_INSERT} RETURNING id",
                [(collection_id, *astuple(replace(draft, at=draft.at or now))) for draft in drafts],
            )

    def remove(self, judgment_ids: Sequence[int]) -> int:
        """Delete judgments, so that earlier ones of their places hold again; return how many."""
        with self._connections.write(alone=False) as connection:
            return connection.execute(
                f"DELETE FROM judgments WHERE id {IN_LIST}", (id_list(judgment_ids),)
            ).rowcount

    def remove_set(self, collection_id: int, question_set: str) -> int:
        """Delete a question set; return how many judgments it had."""
        with self._connections.write(alone=False) as connection:
            return connection.execute(
                "DELETE FROM judgments WHERE collection_id = ? AND question_set = ?",
                (collection_id, question_set),
            ).rowcount

    def current(
        self,
        collection_id: int,
        *,
        question_set: str | None = None,
        question: str | None = None,
        filter_: str | None = None,
    ) -> list[JudgmentRecord]:
        """Return the judgments that hold, which are the last of each place, oldest first."""
        where, parameters = conditions(
            ("collection_id = ?", collection_id),
            ("question_set = ?", question_set),
            ("question = ?", question),
            ("filter = ?", filter_),
        )
        rows = self._connections.rows(
            f"SELECT id, {_COLUMNS} FROM judgments WHERE id IN "
            f"(SELECT MAX(id) FROM judgments WHERE 1{where} GROUP BY {_SAME_PLACE}) ORDER BY id",
            parameters,
        )
        return [_judgment(row) for row in rows]

    def last(
        self, collection_id: int, origins: Sequence[Origin], question_set: str = ""
    ) -> JudgmentRecord | None:
        """Return the newest judgment of one of these origins in a set, or ``None``."""
        row = self._connections.row(
            f"SELECT id, {_COLUMNS} FROM judgments WHERE collection_id = ? AND question_set = ? "
            f"AND origin {IN_LIST} ORDER BY id DESC LIMIT 1",
            (collection_id, question_set, json.dumps(list(origins))),
        )
        return _judgment(row) if row else None

    def sets(self, collection_id: int) -> dict[str, tuple[int, int]]:
        """Count the questions and judged places of each question set, by its name."""
        rows = self._connections.rows(
            "SELECT question_set, "
            "COUNT(DISTINCT question_key || '\x1f' || question || '\x1f' || filter), COUNT(*) "
            f"FROM (SELECT DISTINCT {_SAME_PLACE} FROM judgments WHERE collection_id = ?) "
            "GROUP BY question_set ORDER BY question_set",
            (collection_id,),
        )
        return {row[0]: (int(row[1]), int(row[2])) for row in rows}

    def origins(self, collection_id: int) -> dict[str, frozenset[Origin]]:
        """Return the origins of each question set's judgments, by the set's name."""
        rows = self._connections.rows(
            "SELECT DISTINCT question_set, origin FROM judgments WHERE collection_id = ?",
            (collection_id,),
        )
        origins: dict[str, frozenset[Origin]] = {}
        for name, origin in rows:
            origins[name] = origins.get(name, frozenset()) | {Origin(origin)}
        return origins

    def writers(self, collection_id: int) -> dict[str, tuple[str, ...]]:
        """Return the models that wrote the questions of each set of which some did, by its name."""
        rows = self._connections.rows(
            "SELECT DISTINCT question_set, writer FROM judgments "
            "WHERE collection_id = ? AND writer <> '' ORDER BY question_set, writer",
            (collection_id,),
        )
        writers: dict[str, tuple[str, ...]] = {}
        for name, writer in rows:
            writers[name] = (*writers.get(name, ()), writer)
        return writers

    def kinds(self, collection_id: int, question_set: str) -> dict[str, str]:
        """Return the kind of each question of a set, or an empty string, by the question."""
        rows = self._connections.rows(
            "SELECT question, MAX(kind) FROM judgments "
            "WHERE collection_id = ? AND question_set = ? GROUP BY question",
            (collection_id, question_set),
        )
        return dict(rows)

    # -- votes -----------------------------------------------------------------------------

    def vote(
        self, collection_id: int, question: str, settings: Sequence[str], winner: int | None
    ) -> int:
        """Store a vote and return its id."""
        with self._connections.write(alone=False) as connection:
            row = connection.execute(
                f"{insertion('votes', _VOTE_COLUMNS)} RETURNING id",
                (
                    collection_id,
                    question,
                    json.dumps(list(settings), ensure_ascii=False),
                    winner,
                    time.time(),
                ),
            ).fetchone()
        return int(row[0])

    def votes(self, collection_id: int) -> list[VoteRecord]:
        """Return every vote, oldest first."""
        rows = self._connections.rows(
            "SELECT id, question, settings, winner, at FROM votes WHERE collection_id = ? "
            "ORDER BY id",
            (collection_id,),
        )
        return [
            VoteRecord(row[0], row[1], tuple(json.loads(row[2])), row[3], row[4]) for row in rows
        ]

    def remove_vote(self, vote_id: int) -> None:
        """Delete a vote."""
        with self._connections.write(alone=False) as connection:
            connection.execute("DELETE FROM votes WHERE id = ?", (vote_id,))


def _judgment(row: Sequence[Any]) -> JudgmentRecord:
    """Parse a row of the id and ``_COLUMNS``."""
    values = list(row)
    values[9] = Origin(row[9])
    return JudgmentRecord(row[0], JudgmentDraft(*values[1:]))
