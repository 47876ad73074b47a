"""Leaving a server alone for a while when it keeps failing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ragkit.errors import (
    OllamaError,
    OllamaOutOfMemoryError,
    OllamaRestingError,
    OllamaServerError,
    OllamaTimeoutError,
    OllamaUnreachableError,
)

_COUNTED = (
    OllamaUnreachableError,
    OllamaTimeoutError,
    OllamaOutOfMemoryError,
    OllamaServerError,
)


class CircuitBreaker:
    """Refuses calls after failures in a row; after a rest it lets one through as a trial.

    Safe between threads. Wrong answers and missing models do not count: the server is there.
    """

    def __init__(self, after: int, seconds: float, clock: Callable[[], float]) -> None:
        """Open after so many failures, for so many seconds of the clock."""
        self._after = after
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._opened: float | None = None
        self._trial = False
        self._last: OllamaError | None = None

    @property
    def resting(self) -> bool:
        """Whether a call would be refused now."""
        with self._lock:
            return self._refuses()

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Guard one call.

        Raises:
            OllamaRestingError: the call is not to be made.
        """
        trial = self._enter()
        try:
            yield
        except _COUNTED as error:
            self._failed(error)
            raise
        except OllamaError:
            self._succeeded()
            raise
        except BaseException:
            self._released(trial)
            raise
        else:
            self._succeeded()

    def answered(self) -> None:
        """Take note that the server was seen: if it could not be reached, it may be tried now."""
        with self._lock:
            if self._opened is not None and isinstance(self._last, OllamaUnreachableError):
                self._opened = self._clock() - self._seconds

    def _enter(self) -> bool:
        with self._lock:
            if self._refuses():
                raise self._refusal()
            self._trial = self._opened is not None
            return self._trial

    def _refuses(self) -> bool:
        if self._opened is None:
            return False
        return self._trial or self._clock() - self._opened < self._seconds

    def _refusal(self) -> OllamaRestingError:
        assert self._opened is not None  # noqa: S101
        left = max(1, round(self._seconds - (self._clock() - self._opened)))
        last = self._last.message if self._last else ""
        return OllamaRestingError(
            f"Ollama failed {self._failures} times in a row and is left alone for {left} s. {last}",
            self._last.cure if self._last else "",
        )

    def _failed(self, error: OllamaError) -> None:
        with self._lock:
            self._failures += 1
            self._last = error
            self._trial = False
            if self._opened is not None or self._failures >= self._after:
                self._opened = self._clock()

    def _succeeded(self) -> None:
        with self._lock:
            self._failures = 0
            self._opened = None
            self._trial = False

    def _released(self, trial: bool) -> None:
        if trial:
            with self._lock:
                self._trial = False
