"""Kept runs: the results of evaluations. Like judgments, they are not part of what is indexed.

Each write is one small transaction of its own.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragkit.catalog.connection import Connections, conditions
from ragkit.errors import NotFoundError

_COLUMNS = (
    "collection_id, question_set, name, address, settings, version, generation, ragkit, revision, "
    "asked, questions, documents, chunks, tokens, seconds, metrics, stages, notices, at"
)
_MARKS = ", ".join("?" * len(_COLUMNS.split(",")))


@dataclass(frozen=True, slots=True)
class RunDraft:
    """A run before it has an id.

    ``collection_id`` is ``None`` for a published set that was indexed for the run alone. The
    settings are ``name`` in words, ``address`` as the Compare page writes them, and ``settings``
    in full, as JSON values. ``version`` and ``generation`` are those of the collection then,
    ``ragkit`` and ``revision`` the program's. ``asked`` of ``questions`` were asked. ``metrics``
    are (name, mean, lower and upper end of the 95 % interval), ``stages`` (name, p50, p95) in
    milliseconds. ``tokens`` counts what models read and wrote for the contexts.
    """

    collection_id: int | None
    question_set: str
    name: str
    address: str
    settings: Mapping[str, Any]
    version: int
    generation: str
    ragkit: str
    revision: str
    asked: int
    questions: int
    documents: int
    chunks: int
    tokens: int
    seconds: float
    metrics: tuple[tuple[str, float, float, float], ...]
    stages: tuple[tuple[str, float, float], ...]
    notices: tuple[str, ...] = ()
    at: float = 0.0

    @property
    def partial(self) -> bool:
        """True when it was stopped before its end."""
        return self.asked < self.questions

    @property
    def means(self) -> dict[str, float]:
        """The mean of each metric."""
        return {name: value for name, value, _low, _high in self.metrics}


@dataclass(frozen=True, slots=True)
class QuestionValues:
    """The metrics of one question. ``key`` is its id in the set, ``filter`` what restricted it."""

    key: str
    question: str
    values: Mapping[str, float] = field(default_factory=dict)
    filter: str = ""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run as it is kept."""

    id: int
    run: RunDraft


class Runs:
    """Queries about kept runs."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def keep(self, draft: RunDraft, values: Sequence[QuestionValues]) -> RunRecord:
        """Store a run with its questions, all or nothing."""
        at = draft.at or time.time()
        with self._connections.write() as connection:
            cursor = connection.execute(
                f"INSERT INTO runs ({_COLUMNS}) VALUES ({_MARKS}) RETURNING id",
                (
                    draft.collection_id, draft.question_set, draft.name, draft.address,
                    _packed(draft.settings), draft.version, draft.generation, draft.ragkit,
                    draft.revision, draft.asked, draft.questions, draft.documents, draft.chunks,
                    draft.tokens, draft.seconds, _packed(draft.metrics), _packed(draft.stages),
                    _packed(draft.notices), at,
                ),
            )  # fmt: skip
            identity = int(cursor.fetchone()[0])
            connection.executemany(
                "INSERT INTO run_values (run_id, question_key, question, found, filter) "
                "VALUES (?, ?, ?, ?, ?)",
                [
                    (identity, row.key, row.question, _packed(row.values), row.filter)
                    for row in values
                ],
            )
        return self.get(identity)

    def get(self, run_id: int) -> RunRecord:
        """Return one run.

        Raises:
            NotFoundError: when it is missing.
        """
        row = self._connections.row(f"SELECT id, {_COLUMNS} FROM runs WHERE id = ?", (run_id,))
        if row is None:
            raise NotFoundError(f"There is no run {run_id}.", "ragkit eval --runs lists them.")
        return _record(row)

    def all(self, collection_id: int | None = None) -> list[RunRecord]:
        """Return the runs of one collection, or of all and of published sets; newest first."""
        where, parameters = conditions(("collection_id = ?", collection_id))
        rows = self._connections.rows(
            f"SELECT id, {_COLUMNS} FROM runs WHERE 1{where} ORDER BY id DESC", parameters
        )
        return [_record(row) for row in rows]

    def values(self, run_id: int) -> list[QuestionValues]:
        """Return the metrics of each question of a run, by key."""
        rows = self._connections.rows(
            "SELECT question_key, question, found, filter FROM run_values WHERE run_id = ? "
            "ORDER BY question_key",
            (run_id,),
        )
        return [
            QuestionValues(key, question, json.loads(packed), filter_)
            for key, question, packed, filter_ in rows
        ]

    def remove(self, run_id: int) -> None:
        """Delete a run."""
        with self._connections.write() as connection:
            connection.execute("DELETE FROM runs WHERE id = ?", (run_id,))


def _packed(value: Any) -> str:
    return json.dumps(value if not isinstance(value, Mapping) else dict(value), ensure_ascii=False)


def _record(row: Sequence[Any]) -> RunRecord:
    identity, *rest = row
    values = dict(zip(_COLUMNS.split(", "), rest, strict=True))
    return RunRecord(
        int(identity),
        RunDraft(
            **{
                **values,
                "settings": json.loads(values["settings"]),
                "metrics": tuple((n, v, a, b) for n, v, a, b in json.loads(values["metrics"])),
                "stages": tuple((n, a, b) for n, a, b in json.loads(values["stages"])),
                "notices": tuple(json.loads(values["notices"])),
            }
        ),
    )
