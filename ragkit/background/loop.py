"""The loop that runs a background task: it works, waits, pauses, stops and reports."""

from __future__ import annotations

import logging
import math
import re
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ragkit.catalog import Catalog
from ragkit.catalog.background_state import BackgroundPhase, BackgroundReport, write_report
from ragkit.errors import RagkitError

logger = logging.getLogger(__name__)

POLL_SECONDS = 0.5
INDEXING_FIRST = "Files are being indexed; that comes first."

_REPORT_SECONDS, _IDLE_REPORT_SECONDS = 1.0, 60.0
_LOG_SECONDS = 3600.0
_NUMBER = re.compile(r"\d+")
_UNEXPECTED = "Something unexpected happened; see the log."


class Interrupted(Exception):  # noqa: N818 - it is a request, not an error
    """The current work must end: the process stops, or the work is no longer wanted."""


class BackgroundTask(Protocol):
    """The work of a loop."""

    def change_token(self) -> object:
        """Return a value that changes whenever there may be new work; ``()``: there is no work."""
        ...

    def work(self) -> bool:
        """Do all pending work; return whether it was finished.

        Raises:
            Interrupted: it must end now.
            RagkitError: it cannot continue now. What was done is kept.
        """
        ...

    def reset(self) -> None:
        """Close the models that were opened; they are opened again for the next work."""
        ...


class Pace:
    """The speed of the work, measured over the last ``steps`` steps."""

    def __init__(self, steps: int) -> None:
        self._ends: deque[tuple[float, int]] = deque(maxlen=steps)

    def add(self, count: int = 1) -> None:
        """Record that a step of ``count`` units has just ended."""
        self._ends.append((time.monotonic(), count))

    def clear(self) -> None:
        """Forget all steps, as after a wait."""
        self._ends.clear()

    @property
    def per_minute(self) -> float | None:
        """Units per minute; ``None`` until known."""
        if len(self._ends) < 2:
            return None
        seconds = self._ends[-1][0] - self._ends[0][0]
        units = sum(count for _at, count in self._ends) - self._ends[0][1]
        return units * 60.0 / seconds if seconds > 0 else None


@dataclass
class BackgroundLoop:
    """Runs one task of a library in one thread, and reports its state.

    ``requests`` returns the person's requests; any change of them ends a rest. ``is_paused``: the
    person wants no work now. ``busy``: the process has more urgent work. After a failure the loop
    waits ``waits[0]`` seconds, then longer, up to ``waits[1]``. It looks for work every
    ``rest_seconds``. Without a ``report_key``, it reports nothing.
    """

    name: str
    catalog: Catalog
    stopping: threading.Event
    report_key: str = ""
    requests: Callable[[], object] = lambda: None
    is_paused: Callable[[], bool] = lambda: False
    busy: Callable[[], bool] = lambda: False
    waits: tuple[float, float] = (2.0, 30.0)
    rest_seconds: float = POLL_SECONDS
    pace: Pace = field(default_factory=lambda: Pace(50))
    status: BackgroundReport = field(default_factory=BackgroundReport)
    _reported: tuple[float, object] = (0.0, None)
    _logged: dict[str, float] = field(default_factory=dict)

    # -- running ---------------------------------------------------------------------------

    def run(self, task: BackgroundTask) -> None:
        """Work whenever there is work, until ``stopping`` is set. Never raises."""
        delay, done = self.waits[0], None
        while not self.stopping.is_set():
            try:
                requests = self.requests()
                done = self._pass(task, done)
                delay = self.waits[0]
                self.rest(self.rest_seconds, requests)
            except RagkitError as error:
                self._log_wait(str(error))
                self._fail(task, str(error), delay)
                delay = min(delay * 2, self.waits[1])
            except Exception:
                logger.exception("%s stopped unexpectedly", self.name)
                self._fail(task, _UNEXPECTED, self.waits[1])
        task.reset()

    def _log_wait(self, message: str) -> None:
        """Log why the work waits, at most once an hour for each reason, ignoring numbers in it."""
        reason, now = _NUMBER.sub("#", message), time.monotonic()
        if now - self._logged.get(reason, -math.inf) >= _LOG_SECONDS:
            self._logged[reason] = now
            logger.warning("%s: waiting: %s", self.name, message)

    def _pass(self, task: BackgroundTask, done: object) -> object:
        """Work if there is work; return the change token up to which everything is done."""
        token = task.change_token()
        try:
            if self.is_paused():
                self.report(BackgroundPhase.PAUSED)
            elif token in ((), done):
                self.report(BackgroundPhase.DONE)
            elif self._work_alone(task):
                return token
        except Interrupted:
            pass
        return done

    def _work_alone(self, task: BackgroundTask) -> bool:
        """Work unless another machine does; work without a report is each machine's own."""
        if not self.report_key:
            return task.work()
        jobs = self.catalog.jobs
        if not jobs.hold(self.name):
            return False
        try:
            return task.work()
        finally:
            jobs.release(self.name)

    def _fail(self, task: BackgroundTask, message: str, seconds: float) -> None:
        """Report a failure and wait, even if the catalog cannot be used."""
        task.reset()
        try:
            self.report(BackgroundPhase.WAITING, message)
            self.rest(seconds, self.requests())
        except RagkitError:
            self.stopping.wait(seconds)

    def rest(self, seconds: float, requests: object) -> None:
        """Wait until the time is over, it is time to stop, or the person's requests change."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if self.stopping.wait(min(left, POLL_SECONDS)) or self.requests() != requests:
                return

    # -- whose turn it is ------------------------------------------------------------------

    def check(self) -> None:
        """Raise ``Interrupted`` if it is time to stop or to pause."""
        if self.stopping.is_set() or self.is_paused():
            raise Interrupted

    def poll(self, seconds: float = POLL_SECONDS) -> None:
        """Wait a moment during the work."""
        self.rest(min(seconds, POLL_SECONDS), self.requests())

    def await_turn(
        self,
        check: Callable[[], None],
        reason: Callable[[], str],
        before: Callable[[], None] = lambda: None,
    ) -> None:
        """Wait as long as ``reason`` returns one; call ``before`` before each wait.

        Raises:
            Interrupted: raised by ``check``, which is called before and after each wait.
        """
        check()
        while message := reason():
            before()
            self.report(BackgroundPhase.WAITING, message)
            self.poll()
            check()
        self.report(BackgroundPhase.WORKING)

    def reason_to_wait(self) -> str:
        """Return the reason why this work must wait now, or an empty string."""
        return INDEXING_FIRST if self.busy() else ""

    # -- reporting -------------------------------------------------------------------------

    def update(self, **values: Any) -> None:
        """Change fields of the status for the next report."""
        self.status = replace(self.status, **values)

    def report(self, phase: BackgroundPhase, message: str = "", *, now: bool = False) -> None:
        """Report the status: at once if phase, message or waiting changed, otherwise rarely."""
        self.update(phase=phase, message=message, per_minute=self.pace.per_minute)
        seconds = _REPORT_SECONDS if phase is BackgroundPhase.WORKING else _IDLE_REPORT_SECONDS
        at, before = self._reported
        change = (phase, message, self.status.waiting)
        if change == before and not now and time.monotonic() - at < seconds:
            return
        self._reported = (time.monotonic(), change)
        if self.report_key:
            write_report(self.catalog, self.report_key, self.status)
