"""Many files read side by side in child processes, each under a time and a memory limit."""

from __future__ import annotations

import os
import queue
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from ragkit.errors import ReadingError
from ragkit.reading.limits import Limits
from ragkit.reading.process import PostProcessor, ReadingProcess, interrupted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ragkit.settings import ReadingSettings
    from ragkit.types import Reading

_MOST_BY_DEFAULT = 4
_AHEAD = 4
"""Tasks taken from the caller ahead of those being read, for each process."""

_MOST_AHEAD = 400
_BYTES_AHEAD = 8_000_000
"""Small files are taken further ahead: so many of them, with so many bytes together."""


@dataclass(frozen=True, slots=True)
class ReadTask:
    """A file to read. ``key`` is returned with its outcome; ``name`` is the one that people see.

    ``size`` is in bytes, where that is known.
    """

    key: int
    path: Path
    name: str
    size: int = _BYTES_AHEAD


@dataclass(frozen=True, slots=True)
class ReadOutcome:
    """The result for one file: a reading, or an error (skipped or failed).

    ``made`` and ``data`` are the post-processor's output, empty without one.
    """

    key: int
    reading: Reading | None
    error: ReadingError | None
    seconds: float
    made: dict[str, Any] = field(default_factory=dict)
    data: bytes = b""
    size: int = 0


@dataclass(frozen=True, slots=True)
class _Order:
    """A task, and where its outcome goes."""

    task: ReadTask
    outcomes: queue.SimpleQueue[ReadOutcome]


class ReaderPool:
    """Reads files in child processes that are started when needed and kept until the end.

    Use it as a context manager, from any number of threads. A file that hangs, crashes its
    reader or needs too much memory fails alone: its process is ended and replaced.
    """

    def __init__(
        self, settings: ReadingSettings, post_processor: PostProcessor | None = None
    ) -> None:
        self._limits = Limits(
            settings.timeout_seconds,
            settings.memory_mb,
            settings.max_file_mb,
            settings.max_text_mb,
        )
        self._post_processor = post_processor
        self._size = settings.processes or min(os.cpu_count() or 1, _MOST_BY_DEFAULT)
        self._orders: queue.SimpleQueue[_Order | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._workers: list[tuple[threading.Thread, ReadingProcess]] = []
        self._unfinished = 0
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, tasks: Iterable[ReadTask]) -> Iterator[ReadOutcome]:
        """Read files and yield their outcomes in the order of completion.

        ``tasks`` is consumed in the caller's thread and only a few tasks ahead of what the
        caller has taken, more of them when they are small. Closing the iterator early drops
        what has not been begun.
        """
        outcomes: queue.SimpleQueue[ReadOutcome] = queue.SimpleQueue()
        waiting = iter(tasks)
        ahead = self._size * (1 + _AHEAD)
        pending, size, more = 0, 0, True
        try:
            while True:
                while more and (pending < ahead or (pending < _MOST_AHEAD and size < _BYTES_AHEAD)):
                    task = next(waiting, None)
                    if task is None:
                        more = False
                    else:
                        self._submit(_Order(task, outcomes))
                        pending += 1
                        size += task.size
                if not pending:
                    return
                outcome = outcomes.get()
                pending -= 1
                size -= outcome.size
                yield outcome
        finally:
            if pending:
                self._forget(outcomes)

    def close(self) -> None:
        """End every child process; files being read are abandoned."""
        with self._lock:
            self._closed = True
            workers, self._workers = self._workers, []
        self._drop(None)
        for _ in workers:
            self._orders.put(None)
        for _, process in workers:
            process.kill()
        for thread, process in workers:
            thread.join()
            process.close()

    def _submit(self, order: _Order) -> None:
        """Queue an order; start another process when all are busy."""
        with self._lock:
            if self._closed:
                raise ReadingError("The reader pool is closed.", "Open another one.")
            self._unfinished += 1
            if len(self._workers) < min(self._size, self._unfinished):
                process = ReadingProcess(self._limits, self._post_processor)
                thread = threading.Thread(
                    target=self._work, args=(process,), name="ragkit-reading", daemon=True
                )
                self._workers.append((thread, process))
                thread.start()
            self._orders.put(order)

    def _work(self, process: ReadingProcess) -> None:
        """Carry out orders with one process until the stop mark comes."""
        while (order := self._orders.get()) is not None:
            started = time.perf_counter()
            result = process.read(order.task.path, order.task.name)
            seconds = time.perf_counter() - started
            with self._lock:
                self._unfinished -= 1
            key, size = order.task.key, order.task.size
            if isinstance(result, ReadingError):
                outcome = ReadOutcome(key, None, result, seconds, size=size)
            else:
                outcome = ReadOutcome(
                    key, result.reading, None, seconds, result.made, result.data, size
                )
            order.outcomes.put(outcome)
            # While this thread waits, nothing of the last file must be kept alive.
            del order, result, outcome

    def _forget(self, outcomes: queue.SimpleQueue[ReadOutcome]) -> None:
        """Remove the orders of a caller that has stopped listening."""
        with self._lock:
            self._drop(outcomes)

    def _drop(self, outcomes: queue.SimpleQueue[ReadOutcome] | None) -> None:
        """Remove the orders of one listener from the queue, or all, with an outcome for each."""
        kept: list[_Order | None] = []
        while True:
            try:
                order = self._orders.get_nowait()
            except queue.Empty:
                break
            if order is None or (outcomes is not None and order.outcomes is not outcomes):
                kept.append(order)
                continue
            self._unfinished -= 1
            if outcomes is None:
                order.outcomes.put(
                    ReadOutcome(order.task.key, None, interrupted(), 0.0, size=order.task.size)
                )
        for order in kept:
            self._orders.put(order)
