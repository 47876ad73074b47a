"""The progress of a job, reported to a callback that may stop the job."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

_SECONDS_BETWEEN_REPORTS = 0.2

NOTHING_NEW = "Nothing new"
"""The beginning of the message of a sync that found nothing to do."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a job's phase. ``current`` is the file being worked on."""

    phase: str = ""
    done: int = 0
    total: int = 0
    current: str = ""
    failed: int = 0
    started_at: float = 0.0

    @property
    def seconds_left(self) -> float | None:
        """The estimated seconds until the phase ends, or ``None`` while unknown."""
        if self.done < 3 or not self.total or not self.started_at:
            return None
        pace = (time.time() - self.started_at) / self.done
        return max(0.0, pace * (self.total - self.done))

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Progress:
        """Build it from its fields by name; unknown names are ignored."""
        return cls(**{name: values[name] for name in cls.__slots__ if name in values})


class JobCancelled(Exception):  # noqa: N818 - it is a request, not an error
    """The running job was asked to stop."""


class Reporter:
    """Reports progress at most a few times a second, and always the end of a phase."""

    def __init__(self, report: Callable[[Progress], bool] | None = None) -> None:
        """``report`` returns False to stop the job."""
        self._report = report
        self._last = 0.0
        self.progress = Progress()

    def start(self, phase: str, total: int) -> None:
        """Begin a phase of ``total`` steps."""
        self.progress = Progress(phase=phase, total=total, started_at=time.time())
        self._send()

    def step(self, current: str = "", *, done: int = 1, failed: int = 0) -> None:
        """Count ``done`` more steps.

        Raises:
            JobCancelled: the callback stops the job.
        """
        now = self.progress
        self.progress = replace(
            now, done=now.done + done, failed=now.failed + failed, current=current or now.current
        )
        last = self.progress.done == self.progress.total
        if last or time.monotonic() - self._last >= _SECONDS_BETWEEN_REPORTS:
            self._send()

    def _send(self) -> None:
        self._last = time.monotonic()
        if self._report is not None and not self._report(self.progress):
            raise JobCancelled
