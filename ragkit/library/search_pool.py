"""Processes that answer a library's searches, so that all processors do.

Threads cannot: the interpreter runs one of them at a time. The index files are mapped, so that the
processes share them. A process that dies is replaced, and what it was asked goes to the next.
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
from typing import TYPE_CHECKING, Any

from ragkit.background.parent import ENDS_WITH
from ragkit.errors import RagkitError
from ragkit.library.search_child import Opening, Reply, Request
from ragkit.reading.process import child_command

if TYPE_CHECKING:
    from ragkit.settings import Settings

_LONGEST_SECONDS = 300.0
"""A process that takes longer to start or for one search is taken for hung, and replaced."""

_END_SECONDS = 2.0
_LOOK_SECONDS = 0.5
_MOST_TRIES = 3
_PAUSES = (0.0, 1.0, 5.0, 30.0)
"""Seconds before a process is started again that could not be started so many times."""

logger = logging.getLogger(__name__)

_shared: dict[Settings, SearchPool] = {}
_sharing = threading.Lock()


def shared_pool(settings: Settings, count: int) -> SearchPool:
    """Return the pool of the libraries with these settings, started with ``count`` processes.

    Whoever has got it closes it; the last ends the processes.
    """
    with _sharing:
        pool = _shared.get(settings)
        if pool is None:
            pool = _shared[settings] = SearchPool(settings, count)
        pool.users += 1
        return pool


class SearchPool:
    """Answers searches in ``count`` processes, first come, first served.

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
        """The numbers of the processes that are ready."""
        return [place.number for place in self._places if place.number]

    def ask(self, what: str, fingerprint: str, *arguments: Any) -> Any:
        """Return what a process returns (``search_child.Request``).

        ``None`` where none can answer: they are not up, or another embedder is active there.

        Raises:
            RagkitError: the search raised it, or ended several processes.
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
        """End the processes; what they could not answer is computed by whoever asked."""
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
        """Keep a process running in this place, and have it carry out orders."""
        failures = 0
        while not self._closed.wait(_PAUSES[min(failures, len(_PAUSES) - 1)]):
            trouble = place.start()
            if self._closed.is_set():
                break  # What was killed while it started is no trouble.
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
                # Those who come meanwhile wait: its successor is there in a second or two.
                logger.warning("a process for searches ended; another one is started")
        self._down(place)
        place.end()

    def _next(self, place: _Place) -> _Order | None:
        """Wait for an order; ``None`` at the end, or when the process is gone."""
        with self._changed:
            while not self._closed.is_set() and place.is_alive():
                if self._orders:
                    return self._orders.popleft()
                self._changed.wait(_LOOK_SECONDS)
        return None

    def _carried_out(self, place: _Place, order: _Order) -> bool:
        """Return whether the process answered; if not, the order is the next one's to try."""
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
        why = f"This search ended {_MOST_TRIES} processes, or took too long in each."
        cure = "Ask something else, or with fewer results. ragkit doctor checks the library."
        order.reply.set_result(Reply(error=RagkitError(why, cure)))
        return False

    def _down(self, place: _Place) -> None:
        """Leave orders to whoever gave them when nobody is left to carry them out."""
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
    """A request on its way to its reply."""

    def __init__(self, request: bytes) -> None:
        self.request = request
        self.reply: Future[Reply] = Future()
        self.tries = 0


class _Place:
    """A process and its successors. One thread starts and asks it; any may kill it.

    ``number`` is the process's own, 0 until it is ready.
    """

    def __init__(self, settings: Settings) -> None:
        self.child: subprocess.Popen[bytes] | None = None
        self.number = 0
        self._settings = settings
        self._due = math.inf

    def start(self) -> str:
        """Start a process in the place of the last; return why there is none, or nothing."""
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
        """Return the reply to a message, or ``None`` when the process has ended, or was killed."""
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
        """Return whether the process is there."""
        return self.child is not None and self.child.poll() is None

    def is_overdue(self) -> bool:
        """Return whether the process has had an answer to give for too long."""
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
            # That is its sign to go.
            child.stdin.close()  # type: ignore[union-attr]
        try:
            child.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        child.stdout.close()  # type: ignore[union-attr]
