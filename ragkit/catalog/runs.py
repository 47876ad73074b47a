"""Runs: the results of evaluations that a person chose to keep.

Like judgments, nothing that searches or writes documents reads them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from ragkit.catalog.connection import Connections, conditions, insertion
from ragkit.errors import NotFoundError

_JSON = ("settings", "metrics", "stages", "notices")


@dataclass(frozen=True, slots=True)
class RunDraft:
    """A run before it has an id.

    The fields are the columns of the table. ``collection_id`` is ``None`` for a published set that
    was indexed for the run alone. The settings of the search are given as ``name`` in words,
    ``address`` as on the Compare page, and ``settings`` in full, as JSON values. ``version`` and
    ``generation`` are the collection's, ``ragkit`` and ``revision`` the program's. ``asked`` of the
    ``questions`` were asked. ``metrics`` are (name, mean, lower and upper end of the 95 %
    interval), ``stages`` (name, p50, p95) in milliseconds. ``tokens`` counts what models read and
    wrote for the contexts. ``at`` is in seconds since the epoch; 0 is now.
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
        """Whether it was stopped before all questions were asked."""
        return self.asked < self.questions

    @property
    def means(self) -> dict[str, float]:
        """The mean of each metric."""
        return {name: value for name, value, _low, _high in self.metrics}


@dataclass(frozen=True, slots=True)
class QuestionValues:
    """The metrics of one question; ``key`` is its id in the set, ``filter`` restricted it."""

    key: str
    question: str
    values: Mapping[str, float] = field(default_factory=dict)
    filter: str = ""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A stored run."""

    id: int
    run: RunDraft


_COLUMNS = [column.name for column in fields(RunDraft)]
_SELECT = f"SELECT id, {', '.join(_COLUMNS)} FROM runs"


class Runs:
    """Queries about runs. Each method that writes is one transaction."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def keep(self, draft: RunDraft, values: Sequence[QuestionValues]) -> RunRecord:
        """Store a run with the metrics of its questions, and return it."""
        columns = {name: getattr(draft, name) for name in _COLUMNS}
        columns |= {name: _packed(columns[name]) for name in _JSON}
        columns["at"] = draft.at or time.time()
        with self._connections.write(alone=False) as connection:
            row = connection.execute(
                f"{insertion('runs', _COLUMNS)} RETURNING id", tuple(columns.values())
            ).fetchone()
            run_id = int(row[0])
            connection.executemany(
                "INSERT INTO run_values (run_id, question_key, question, found, filter) "
                "VALUES (?, ?, ?, ?, ?)",
                [
                    (run_id, each.key, each.question, _packed(each.values), each.filter)
                    for each in values
                ],
            )
        return self.get(run_id)

    def get(self, run_id: int) -> RunRecord:
        """Return one run.

        Raises:
            NotFoundError: when it is missing.
        """
        row = self._connections.row(f"{_SELECT} WHERE id = ?", (run_id,))
        if row is None:
            raise NotFoundError(f"There is no run {run_id}.", "ragkit eval --runs lists them.")
        return _record(row)

    def all(self, collection_id: int | None = None) -> list[RunRecord]:
        """Return the runs, newest first: those of a collection, or all, also of published sets."""
        where, parameters = conditions(("collection_id = ?", collection_id))
        rows = self._connections.rows(f"{_SELECT} WHERE 1{where} ORDER BY id DESC", parameters)
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
        with self._connections.write(alone=False) as connection:
            connection.execute("DELETE FROM runs WHERE id = ?", (run_id,))


def _packed(value: Any) -> str:
    return json.dumps(value if not isinstance(value, Mapping) else dict(value), ensure_ascii=False)


def _record(row: Sequence[Any]) -> RunRecord:
    columns = dict(zip(_COLUMNS, row[1:], strict=True))
    columns["settings"] = json.loads(columns["settings"])
    for name in ("metrics", "stages"):
        columns[name] = tuple(tuple(figures) for figures in json.loads(columns[name]))
    columns["notices"] = tuple(json.loads(columns["notices"]))
    return RunRecord(row[0], RunDraft(**columns))
