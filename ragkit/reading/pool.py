"""Reads many files at once in child processes, each under a time and a memory limit."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from ragkit.errors import ReadingError
from ragkit.reading.limits import Limits
from ragkit.reading.process import (
    PostProcessor,
    ReadingProcess,
    interrupted,
    unexpected,
    unstarted,
)
from ragkit.reading.spread import SpreadPages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from ragkit.reading.process import Read
    from ragkit.settings import ReadingSettings

logger = logging.getLogger(__name__)

_MOST_BY_DEFAULT = 4
_LARGE = 500_000
"""Bytes from which the pages of a PDF are worth spreading over several processes."""

_AHEAD = 4
"""Tasks per process that are taken from the caller before they can be read."""

_MOST_AHEAD = 400
_BYTES_AHEAD = 8_000_000
"""Of small files more are taken ahead: up to this number, with this many bytes in total."""


@dataclass(frozen=True, slots=True)
class ReadTask:
    """A file to read. ``key`` identifies its outcome, ``name`` is the path that people see.

    ``size`` is in bytes; an unknown size counts as large. ``recognised`` is the text of a PDF's
    scanned pages (``pdf.ocr_files.OcrFile``).
    """

    key: int
    path: Path
    name: str
    size: int = _BYTES_AHEAD
    recognised: bytes = b""


@dataclass(frozen=True, slots=True)
class ReadOutcome:
    """What came of a task: a reading, or the error for which its file was skipped or failed.

    ``key`` and ``size`` are those of the task; ``seconds`` is how long reading took.
    """

    key: int
    result: Read | ReadingError
    seconds: float
    size: int


@dataclass(frozen=True, slots=True)
class _Order:
    """A task with the queue for its outcome."""

    task: ReadTask
    outcomes: queue.SimpleQueue[ReadOutcome]

    def end(self, result: Read | ReadingError, seconds: float = 0.0) -> None:
        """Give the caller the outcome."""
        self.outcomes.put(ReadOutcome(self.task.key, result, seconds, self.task.size))


class ReaderPool:
    """Reads files in child processes that are started when needed and kept until the end.

    Use it as a context manager, from any number of threads. A file that hangs, crashes its
    reader or needs too much memory fails alone: its process is ended and replaced.
    """

    def __init__(
        self, settings: ReadingSettings, post_processor: PostProcessor | None = None
    ) -> None:
        self._limits = Limits.of(settings)
        self._post_processor = post_processor
        self._size = settings.processes or min(os.cpu_count() or 1, _MOST_BY_DEFAULT)
        self._orders: queue.SimpleQueue[_Order | SpreadPages | None] = queue.SimpleQueue()
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

        ``tasks`` is consumed in the caller's thread, only a few tasks ahead of the outcomes taken
        (more if the files are small). Closing the iterator early drops tasks not yet begun.
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
                self._drop(outcomes)

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
        """Queue an order; start another process if all are busy."""
        with self._lock:
            if self._closed:
                raise ReadingError("The reader pool is closed.", "Open another one.")
            self._unfinished += 1
            if len(self._workers) < self._unfinished:
                self._start_worker()
            if self._workers:
                self._orders.put(order)
                return
            self._unfinished -= 1
        order.end(unstarted())

    def _start_worker(self) -> None:
        """Start another process if limit and system allow; the caller holds the lock."""
        if len(self._workers) >= self._size:
            return
        process = ReadingProcess(self._limits, self._post_processor)
        thread = threading.Thread(
            target=self._work, args=(process,), name="ragkit-reading", daemon=True
        )
        try:
            thread.start()
        except RuntimeError:
            logger.warning("no further thread could be started to read files")
            return
        self._workers.append((thread, process))

    def _work(self, process: ReadingProcess) -> None:
        """Carry out orders with one process until ``None`` comes, whatever happens to any."""
        while (order := self._orders.get()) is not None:
            if isinstance(order, SpreadPages):
                # If this fails, the process that was given the file reads it as a whole.
                with contextlib.suppress(Exception):
                    order.help_with(process)
            else:
                started = time.perf_counter()
                result = self._read(process, order.task)
                with self._lock:
                    self._unfinished -= 1
                order.end(result, time.perf_counter() - started)
                del result
            # While this thread waits, it must not keep the last file's text in memory.
            del order

    def _read(self, process: ReadingProcess, task: ReadTask) -> Read | ReadingError:
        """Read a file; return any failure as an error."""
        large = task.size >= _LARGE and task.name.lower().endswith(".pdf")
        try:
            runs = self._pages_read_by_all(process, task) if large else ()
            return process.read(task.path, task.name, runs, task.recognised)
        except Exception as error:
            logger.exception("%s could not be read", task.name)
            return unexpected(error)

    def _pages_read_by_all(self, process: ReadingProcess, task: ReadTask) -> Sequence[bytes]:
        """Read the pages of a large PDF with this process and all idle ones."""
        with self._lock:
            idle = self._size - self._unfinished
            if idle < 1 or self._closed:
                return ()
        pages = SpreadPages.begun(task.path, task.name, process, idle + 1)
        if pages is None:
            return ()
        with self._lock:
            for _ in range(idle):
                if not self._closed:
                    self._start_worker()
                    self._orders.put(pages)
        return pages.finished(process)

    def _drop(self, outcomes: queue.SimpleQueue[ReadOutcome] | None) -> None:
        """Remove a caller's queued orders; ``None``: all orders, each with an error."""
        kept: list[_Order | SpreadPages | None] = []
        with self._lock, contextlib.suppress(queue.Empty):
            while True:
                order = self._orders.get_nowait()
                if not isinstance(order, _Order) or outcomes not in (None, order.outcomes):
                    kept.append(order)
                    continue
                self._unfinished -= 1
                if outcomes is None:
                    order.end(interrupted())
        for order in kept:
            self._orders.put(order)
