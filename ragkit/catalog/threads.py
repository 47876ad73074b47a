"""Threads: questions that follow one another, with the answers that were given.

A turn has the text of the sentences that it cites, so that a thread outlives its documents and
collections. Nothing that searches or writes documents reads threads.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from ragkit.answers import AnswerState, Source, Thread, ThreadSummary, Turn, WrittenAnswer
from ragkit.catalog.collections import MOST_APART
from ragkit.catalog.connection import Connections, Transaction, insertion
from ragkit.errors import NotFoundError, ThreadError
from ragkit.formatting import is_seen, shortened

LONGEST_QUESTION = 4000
"""The maximum of characters of a stored question."""

LONGEST_TITLE = 80
"""The maximum of characters of a title."""

MOST_TURNS, MOST_THREADS = 200, 2000
"""The maximum of turns of a thread, and of threads; older ones are never deleted for others."""

_LARGEST_ANSWER = 2_000_000
_EMPTY_SECONDS = 86_400.0
_EVERY = 0
"""The id, in the stored collections of a thread, of all in a library with very many."""

_COLUMNS = "id, title, collections, created_at, changed_at"
_TURN_COLUMNS = ("thread_id", "at", "question", "asked", "quick", "written")


class Threads:
    """Queries about threads, which any process may write. Each method is one transaction."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def all(self) -> list[ThreadSummary]:
        """Return the threads that have a turn, the most recently changed first."""
        rows = self._connections.rows(
            "SELECT t.id, t.title, COUNT(*), t.created_at, t.changed_at FROM threads t "
            "JOIN turns u ON u.thread_id = t.id GROUP BY t.id ORDER BY t.changed_at DESC, t.id DESC"
        )
        return [ThreadSummary(*row) for row in rows]

    def get(self, thread_id: int) -> Thread:
        """Return a thread with its turns, oldest first, as they were stored.

        Collections have their current names, deleted ones the names that they had.

        Raises:
            NotFoundError: there is no such thread.
        """
        with self._connections.read() as connection:
            row = connection.execute(
                f"SELECT {_COLUMNS} FROM threads WHERE id = ?", (thread_id,)
            ).fetchone()
            if row is None:
                raise _missing(thread_id)
            turns = connection.execute(
                "SELECT id, question, asked, quick, written, at FROM turns "
                "WHERE thread_id = ? ORDER BY id",
                (thread_id,),
            ).fetchall()
            named = connection.execute("SELECT id, name FROM collections ORDER BY name").fetchall()
        return Thread(
            id=row[0],
            title=row[1],
            collections=_names_of(row[2], dict(named)),
            turns=tuple(map(_turn, turns)),
            created_at=row[3],
            changed_at=row[4],
        )

    def begin(self, title: str, collections: Iterable[str]) -> int:
        """Store a thread without turns, and return its id.

        Raises:
            ThreadError: there are too many.
        """
        now, names = time.time(), list(dict.fromkeys(collections))
        with self._connections.write(alone=False) as connection:
            # Threads that stayed without a turn, as a killed process leaves.
            connection.execute(
                "DELETE FROM threads WHERE created_at < ? "
                "AND NOT EXISTS (SELECT 1 FROM turns WHERE thread_id = threads.id)",
                (now - _EMPTY_SECONDS,),
            )
            if connection.execute("SELECT COUNT(*) FROM threads").fetchone()[0] >= MOST_THREADS:
                raise ThreadError(
                    f"There are {MOST_THREADS} threads already.",
                    "Delete some: ragkit threads list, ragkit threads delete.",
                )
            row = connection.execute(
                f"{insertion('threads', _COLUMNS.split(', ')[1:])} RETURNING id",
                (_title(title), _collections(connection, names), now, now),
            ).fetchone()
        return int(row[0])

    def add(self, thread_id: int, turn: Turn) -> int:
        """Append a turn, and return its id; a ``turn.at`` of 0 is now.

        Raises:
            NotFoundError: the thread is gone.
            ThreadError: it is full, or the turn is too long.
        """
        at = turn.at or time.time()
        columns = _packed(turn)
        with self._connections.write(alone=False) as connection:
            # First, since it locks the thread's row.
            _note_change(connection, thread_id)
            query = "SELECT COUNT(*) FROM turns WHERE thread_id = ?"
            if connection.execute(query, (thread_id,)).fetchone()[0] >= MOST_TURNS:
                raise ThreadError(
                    f"The thread has {MOST_TURNS} questions.", "Begin another thread."
                )
            statement = f"{insertion('turns', _TURN_COLUMNS)} RETURNING id"
            return int(connection.execute(statement, (thread_id, at, *columns)).fetchone()[0])

    def replace(self, turn: Turn) -> None:
        """Replace the turn with the same id, except for its time.

        Raises:
            NotFoundError: it is gone.
            ThreadError: it is too long.
        """
        columns = _packed(turn)
        with self._connections.write(alone=False) as connection:
            row = connection.execute(
                "UPDATE turns SET question = ?, asked = ?, quick = ?, written = ? WHERE id = ? "
                "RETURNING thread_id",
                (*columns, turn.id),
            ).fetchone()
            if row is None:
                raise NotFoundError("The answer is no longer kept.", "Its thread was deleted.")
            _note_change(connection, row[0])

    def keep_written(self, turn: Turn) -> None:
        """Store a turn's written answer, unless the turn is gone or asks something else by now.

        Raises:
            ThreadError: it is too long.
        """
        *_, written = _packed(turn)
        with self._connections.write(alone=False) as connection:
            row = connection.execute(
                "UPDATE turns SET written = ? WHERE id = ? AND asked = ? RETURNING thread_id",
                (written, turn.id, turn.asked),
            ).fetchone()
            if row is not None:
                _note_change(connection, row[0])

    def rename(self, thread_id: int, title: str) -> None:
        """Give a thread another title.

        Raises:
            NotFoundError: it is gone.
            ThreadError: the title is empty.
        """
        with self._connections.write(alone=False) as connection:
            changed = connection.execute(
                "UPDATE threads SET title = ? WHERE id = ?", (_title(title), thread_id)
            )
            if not changed.rowcount:
                raise _missing(thread_id)

    def delete(self, thread_id: int) -> None:
        """Delete a thread with its turns.

        Raises:
            NotFoundError: it is gone.
        """
        with self._connections.write(alone=False) as connection:
            if not connection.execute("DELETE FROM threads WHERE id = ?", (thread_id,)).rowcount:
                raise _missing(thread_id)

    def restore(self, thread: Thread) -> None:
        """Store a deleted thread again, with the ids of it and its turns.

        Raises:
            ThreadError: it has not been deleted.
        """
        columns = [(turn.id, thread.id, turn.at, *_packed(turn)) for turn in thread.turns]
        with self._connections.write(alone=False) as connection:
            if connection.execute("SELECT 1 FROM threads WHERE id = ?", (thread.id,)).fetchone():
                raise ThreadError("The thread is there.", "It was restored already.")
            collections = _collections(connection, thread.collections)
            connection.execute(
                insertion("threads", _COLUMNS.split(", ")),
                (thread.id, thread.title, collections, thread.created_at, thread.changed_at),
            )
            connection.executemany(insertion("turns", ("id", *_TURN_COLUMNS)), columns)


def _collections(connection: Transaction, names: Sequence[str]) -> str:
    """Return the collections of a thread as JSON, by id and name; all of very many as one."""
    ids = dict(connection.execute("SELECT name, id FROM collections").fetchall())
    if len(names) > MOST_APART and set(names) == set(ids):
        return json.dumps([{"id": _EVERY}])
    return json.dumps([{"id": ids.get(name), "name": name} for name in names])


def _names_of(packed: str, names: Mapping[int, str]) -> tuple[str, ...]:
    """Return the current names of the collections in the JSON by ``_collections``."""
    collections = [each for each in json.loads(packed) if isinstance(each, dict)]
    if any(each.get("id") == _EVERY for each in collections):
        return tuple(names.values())
    return tuple(str(names.get(each.get("id", _EVERY), each.get("name"))) for each in collections)


def _missing(thread_id: int) -> NotFoundError:
    return NotFoundError(f"There is no thread {thread_id}.", "ragkit threads list shows them.")


def _note_change(connection: Any, thread_id: int) -> None:
    changed = connection.execute(
        "UPDATE threads SET changed_at = max(changed_at, ?) WHERE id = ?", (time.time(), thread_id)
    )
    if not changed.rowcount:
        raise _missing(thread_id)


def _title(text: str) -> str:
    """Return a title as one line, without its middle if it is too long."""
    line = " ".join(_storable(text).split())
    line = "".join(character for character in line if is_seen(character))
    if not line:
        raise ThreadError("A thread needs a title.", "Write a few words.")
    return shortened(line, LONGEST_TITLE)


# -- turns as JSON -------------------------------------------------------------------------


def _packed(turn: Turn) -> tuple[str, str, str, str]:
    """Return the columns question, asked, quick and written of a turn.

    Raises:
        ThreadError: one of them is too long.
    """
    if max(len(turn.question), len(turn.asked)) > LONGEST_QUESTION:
        raise ThreadError(
            f"A question of more than {LONGEST_QUESTION} characters is not kept.", "Shorten it."
        )
    quick = _dumped([_as_json(source) for source in turn.quick])
    written: dict[str, Any] = {}
    if turn.written is not None:
        written = asdict(turn.written)
        written["sources"] = [_as_json(source) for source in turn.written.sources]
    answer = _dumped(written)
    if len(quick) + len(answer) > _LARGEST_ANSWER:
        raise ThreadError("The answer is too long to be kept.", "Ask for fewer results.")
    return _storable(turn.question), _storable(turn.asked), quick, answer


def _as_json(source: Source) -> dict[str, Any]:
    """Return a source without ``changed``, which is computed when it is read."""
    values = asdict(source)
    del values["changed"]
    return values


def _dumped(value: Any) -> str:
    return _storable(json.dumps(value, ensure_ascii=False, default=str))


def _storable(text: str) -> str:
    """Replace lone surrogates, which no database stores."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _turn(row: Sequence[Any]) -> Turn:
    turn_id, question, asked, quick, written, at = row
    failed = WrittenAnswer(
        question=asked,
        state=AnswerState.FAILED,
        failure="The answer was kept by another version, and cannot be shown.",
        cure="Ask again.",
    )
    try:
        sources, answer = _decoded(tuple[Source, ...], json.loads(quick)), json.loads(written)
        written_answer = _decoded(WrittenAnswer, answer) if answer else None
    except (ValueError, TypeError, RecursionError):
        sources, written_answer = (), failed
    return Turn(question, asked, sources, written_answer, turn_id, at)


@cache
def _hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)


def _decoded(kind: Any, value: Any) -> Any:
    """Return a JSON value as a value of a type, such as a dataclass, ignoring unknown fields.

    Raises:
        ValueError: it is of another type.
        TypeError: a field without a default is missing.
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if isinstance(kind, type) and is_dataclass(kind) and isinstance(value, dict):
        hints = _hints(kind)
        return kind(**{name: _decoded(hints[name], value[name]) for name in hints if name in value})
    if origin is tuple and isinstance(value, list):
        return tuple(_decoded(arguments[0], item) for item in value)
    if NoneType in arguments:
        other = next(argument for argument in arguments if argument is not NoneType)
        return None if value is None else _decoded(other, value)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is (origin or kind):
        return value
    raise ValueError(f"{kind} expected")
