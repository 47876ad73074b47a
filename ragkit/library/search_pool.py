"""Processes that answer a library's searches, so that all processors are used.

Threads would not do: the interpreter runs one at a time. The processes share the memory-mapped
index files. A process that dies is replaced, and its search is given to the next one.
"""

from __future__ import annotations

import logging
import math
import os
import pickle
import subprocess
import threading
import time
from collections import deque
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragkit.background.parent import ENDS_WITH
from ragkit.errors import RagkitError
from ragkit.reading.process import child_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragkit.settings import Settings

_LONGEST_SECONDS = 300.0
"""A process that takes longer to start, or for one search, counts as hung and is replaced."""

_END_SECONDS = 2.0
_LOOK_SECONDS = 0.5
_MOST_TRIES = 3
_PAUSES = (0.0, 1.0, 5.0, 30.0)
"""Seconds before the next attempt to start a process, by the number of failed attempts."""

logger = logging.getLogger(__name__)

_shared: dict[Settings, SearchPool] = {}
_sharing = threading.Lock()


@dataclass(frozen=True, slots=True)
class Opening:
    """The first message to the process: the library to open, and the level of its log."""

    settings: Settings
    log_level: int


@dataclass(frozen=True, slots=True)
class Request:
    """A search with the embedder of ``fingerprint``: ``what`` is a key of its ``SEARCHES``."""

    what: str
    fingerprint: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a search returned or raised, and its log records.

    ``value`` is ``None`` if another embedder is active than the request asks for.
    """

    value: Any = None
    error: RagkitError | None = None
    records: Sequence[logging.LogRecord] = ()


def shared_pool(settings: Settings, count: int) -> SearchPool:
    """Return the pool for libraries with these settings, started with ``count`` processes.

    Each caller must close it; the last one to do so ends the processes.
    """
    with _sharing:
        pool = _shared.get(settings)
        if pool is None:
            pool = _shared[settings] = SearchPool(settings, count)
        pool.users += 1
        return pool


class SearchPool:
    """Answers searches in ``count`` processes, in the order in which they are asked.

    Safe to share between threads. The processes are started in the background.
    """

    users = 0

    def __init__(self, settings: Settings, count: int) -> None:
        self._settings = settings
        self._changed = threading.Condition()
        self._orders: deque[_Order] = deque()
        self._places = [_Place(settings) for _ in range(count)]
        self._up: set[_Place] = set()
        self._closed = threading.Event()
        self._threads = [
            threading.Thread(target=self._serve, args=(place,), name="ragkit-reader", daemon=True)
            for place in self._places
        ]
        self._watcher = threading.Thread(
            target=self._watch, name="ragkit-reader-watch", daemon=True
        )
        for thread in (*self._threads, self._watcher):
            thread.start()

    @property
    def processes(self) -> list[int]:
        """The ids of the processes that are ready."""
        return [place.number for place in self._places if place.number]

    def ask(self, what: str, fingerprint: str, *arguments: Any) -> Any:
        """Have a process do a search (``Request``), and return its value.

        ``None`` if none can: they are not ready, or another embedder is active there.

        Raises:
            RagkitError: the search raised it, or crashed several processes.
        """
        request = Request(what, fingerprint, arguments)
        order = _Order(pickle.dumps(request, pickle.HIGHEST_PROTOCOL))
        with self._changed:
            if not self._up:
                return None
            self._orders.append(order)
            self._changed.notify()
        reply = order.reply.result()
        if reply.error is not None:
            raise reply.error
        return reply.value

    def close(self) -> None:
        """End the processes; callers compute what is still unanswered themselves."""
        with _sharing:
            self.users -= 1
            if self.users > 0:
                return
            if _shared.get(self._settings) is self:
                del _shared[self._settings]
        self._closed.set()
        with self._changed:
            self._changed.notify_all()
        end = time.monotonic() + _END_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
        for place in self._places:
            place.kill()
        for thread in (*self._threads, self._watcher):
            thread.join()

    def _serve(self, place: _Place) -> None:
        """Keep a process running in a place, and pass orders to it."""
        failures = 0
        while not self._closed.wait(_PAUSES[min(failures, len(_PAUSES) - 1)]):
            trouble = place.start()
            if self._closed.is_set():
                break  # It was killed while it started, which is not a failure.
            if trouble:
                failures += 1
                logger.warning("no process for searches could be started: %s", trouble)
                self._down(place)
                continue
            failures = 0
            with self._changed:
                self._up.add(place)
            while (order := self._next(place)) is not None and self._carried_out(place, order):
                pass
            if not self._closed.is_set():
                # Callers wait meanwhile: the next process is ready in a second or two.
                logger.warning("a process for searches ended; another one is started")
        self._down(place)
        place.end()

    def _next(self, place: _Place) -> _Order | None:
        """Wait for an order; return ``None`` at the end, or if the process is gone."""
        with self._changed:
            while not self._closed.is_set() and place.is_alive():
                if self._orders:
                    return self._orders.popleft()
                self._changed.wait(_LOOK_SECONDS)
        return None

    def _carried_out(self, place: _Place, order: _Order) -> bool:
        """Return whether the process answered; if not, the order goes to another process."""
        order.tries += 1
        reply = place.exchange(order.request)
        if reply is not None:
            order.reply.set_result(reply)
            return True
        if order.tries < _MOST_TRIES:
            with self._changed:
                self._orders.appendleft(order)
                self._changed.notify()
            return False
        why = f"This search crashed {_MOST_TRIES} processes, or took too long in each."
        cure = "Ask something else, or for fewer results. ragkit doctor checks the library."
        order.reply.set_result(Reply(error=RagkitError(why, cure)))
        return False

    def _down(self, place: _Place) -> None:
        """Mark a place as not ready; if none is, return waiting orders unanswered."""
        with self._changed:
            self._up.discard(place)
            while self._orders and not self._up:
                self._orders.popleft().reply.set_result(Reply())

    def _watch(self) -> None:
        while not self._closed.wait(_LOOK_SECONDS):
            for place in self._places:
                if place.is_overdue():
                    place.kill()


class _Order:
    """A request that waits for its reply."""

    def __init__(self, request: bytes) -> None:
        self.request = request
        self.reply: Future[Reply] = Future()
        self.tries = 0


class _Place:
    """A process and its successors. One thread starts and asks it; any thread may kill it.

    ``number`` is its process id, 0 until it is ready.
    """

    def __init__(self, settings: Settings) -> None:
        self.child: subprocess.Popen[bytes] | None = None
        self.number = 0
        self._settings = settings
        self._due = math.inf

    def start(self) -> str:
        """Start a process in place of the last one; return why that failed, or an empty string."""
        self.end()
        opening = Opening(self._settings, logging.getLogger("ragkit").getEffectiveLevel())
        try:
            self.child = subprocess.Popen(
                child_command("ragkit.library.search_child"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, ENDS_WITH: str(os.getpid())},
            )
        except OSError as error:
            return str(error)
        reply = self.exchange(pickle.dumps(opening))
        if reply is None:
            return "it ended by itself."
        if reply.error is not None:
            return str(reply.error)
        self.number = self.child.pid
        return ""

    def exchange(self, message: bytes) -> Reply | None:
        """Return the reply to a message, or ``None`` if the process ended or was killed."""
        assert self.child is not None and self.child.stdin and self.child.stdout  # noqa: S101, PT018
        self._due = time.monotonic() + _LONGEST_SECONDS
        try:
            self.child.stdin.write(message)
            self.child.stdin.flush()
            reply: Reply = pickle.load(self.child.stdout)  # noqa: S301 - of a process of our own
        except Exception:  # noqa: BLE001 - whatever cannot be read is no reply
            return None
        finally:
            self._due = math.inf
        for record in reply.records:
            logging.getLogger(record.name).handle(record)
        return reply

    def is_alive(self) -> bool:
        """Return whether the process is running."""
        return self.child is not None and self.child.poll() is None

    def is_overdue(self) -> bool:
        """Return whether a reply of the process is overdue."""
        return time.monotonic() > self._due

    def kill(self) -> None:
        """End the process at once."""
        if self.child is not None:
            self.child.kill()

    def end(self) -> None:
        """Let the process end, and wait until it is gone."""
        child, self.child, self.number = self.child, None, 0
        if child is None:
            return
        with suppress(OSError):
            # This tells it to end.
            child.stdin.close()  # type: ignore[union-attr]
        try:
            child.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        child.stdout.close()  # type: ignore[union-attr]
