"""Connections to Ollama: time limits, retries, a circuit breaker, and named errors."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from ragkit.errors import (
    OllamaError,
    OllamaOutOfMemoryError,
    OllamaRestingError,
    OllamaServerError,
    OllamaTimeoutError,
    OllamaUnreachableError,
)
from ragkit.models.ollama_errors import named_error, not_ollama
from ragkit.models.ollama_text import JsonObject
from ragkit.settings import ModelSettings

if TYPE_CHECKING:
    import httpx
    import ollama

    from ragkit.models.ollama_transport import BoundedTransport

QUICK_SECONDS = 3.0
"""The limit of calls that need no model."""

_T = TypeVar("_T")
_QUICK_CONNECT_SECONDS = 1.0
_FIRST_PAUSE_SECONDS = 0.5
_COUNTED = (
    OllamaUnreachableError,
    OllamaTimeoutError,
    OllamaOutOfMemoryError,
    OllamaServerError,
)


class OllamaWire:
    """Makes calls of the ollama package and names what they raise. Safe between threads."""

    def __init__(
        self,
        url: str,
        settings: ModelSettings,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        """Keep the settings; nothing is connected before the first call."""
        self.breaker = CircuitBreaker(settings.rest_after, settings.rest_seconds, clock)
        self._url = url
        self._settings = settings
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._transport: BoundedTransport | None = None
        self._finalizer: weakref.finalize[..., OllamaWire] | None = None
        self._clients: dict[float, ollama.Client] = {}
        self._plain: httpx.Client | None = None

    def close(self) -> None:
        """Close all connections; a later call opens new ones."""
        with self._lock:
            self._clients.clear()
            self._transport = self._plain = None
            if self._finalizer is not None:
                self._finalizer()

    def client(self, seconds: float) -> ollama.Client:
        """Return the ollama package's client with that time limit; all share their connections."""
        import httpx
        import ollama

        with self._lock:
            if seconds not in self._clients:
                connect = min(self._settings.connect_seconds, seconds)
                self._clients[seconds] = ollama.Client(
                    host=self._url,
                    timeout=httpx.Timeout(seconds, connect=connect),
                    transport=self._shared(),
                    trust_env=False,
                    follow_redirects=False,
                )
            return self._clients[seconds]

    def quick_client(self) -> ollama.Client:
        """Return the ollama package's client for calls that need no model."""
        return self.client(QUICK_SECONDS)

    @contextmanager
    def own_client(self, seconds: float) -> Iterator[ollama.Client]:
        """Open a client with a connection that it shares with none; the limit is for each part."""
        import httpx
        import ollama

        from ragkit.models.ollama_transport import BoundedTransport

        connect = min(self._settings.connect_seconds, seconds)
        with BoundedTransport(self._url) as transport:
            yield ollama.Client(
                host=self._url,
                timeout=httpx.Timeout(seconds, connect=connect),
                transport=transport,
                trust_env=False,
                follow_redirects=False,
            )

    def get(self, path: str) -> JsonObject:
        """Return JSON that the ollama package cannot get or returns incompletely; one quick try.

        Raises:
            OllamaError: there is no JSON object.
        """
        try:
            answer = self._quick().get(path)
            answer.raise_for_status()
            value = answer.json()
        except _foreseen() as error:
            raise named_error(error, self._url) from error
        if not isinstance(value, dict):
            raise not_ollama(self._url)
        return value

    def again(self, call: Callable[[], _T], model: str = "", *, patient: bool = True) -> _T:
        """Make a call, and if patient make it again after passing failures.

        Raises:
            OllamaError: the last failure, or the breaker is open and nothing was tried.
        """
        tries = self._settings.retries if patient else 0
        until = self._clock() + self._settings.chat_seconds
        for tried in range(tries + 1):
            try:
                with self._attempt(model):
                    return call()
            except OllamaRestingError:
                raise
            except (OllamaUnreachableError, OllamaServerError):
                # Together the tries may take no longer than one that answers.
                if tried == tries or self.breaker.resting or self._clock() >= until:
                    raise
                self._sleep(_FIRST_PAUSE_SECONDS * 2**tried)
        raise AssertionError("every try returns or raises")

    def parts(self, call: Callable[[], Iterator[_T]], model: str) -> Generator[_T, None, None]:
        """Yield the parts of a stream; nothing is retried."""
        with self._attempt(model):
            yield from call()

    @contextmanager
    def _attempt(self, model: str) -> Iterator[None]:
        """Make one call inside the breaker, and name what it raises."""
        with self.breaker.attempt():
            try:
                yield
            except _foreseen() as error:
                raise named_error(error, self._url, model) from error

    def _quick(self) -> httpx.Client:
        import httpx

        with self._lock:
            if self._plain is None:
                self._plain = httpx.Client(
                    base_url=self._url,
                    timeout=httpx.Timeout(QUICK_SECONDS, connect=_QUICK_CONNECT_SECONDS),
                    transport=self._shared(),
                    trust_env=False,
                )
            return self._plain

    def _shared(self) -> BoundedTransport:
        """Return the connection pool, which is closed with its owner at the latest."""
        from ragkit.models.ollama_transport import BoundedTransport

        if self._transport is None:
            self._transport = BoundedTransport(self._url)
            self._finalizer = weakref.finalize(self, self._transport.close)
        return self._transport


def _foreseen() -> tuple[type[Exception], ...]:
    """Return the exceptions that a call may raise: the ollama package passes on others' errors."""
    import httpx
    import ollama

    of_the_answer = (OSError, ValueError, TypeError, AttributeError, RecursionError)
    return (ollama.ResponseError, httpx.HTTPError, httpx.StreamError, *of_the_answer)


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
        """Run one call inside the breaker.

        Raises:
            OllamaRestingError: the call is not to be made.
        """
        with self._lock:
            if self._refuses():
                raise self._refusal()
            trial = self._trial = self._opened is not None
        try:
            yield
        except _COUNTED as error:
            self._failed(error)
            raise
        except OllamaError:
            self._succeeded()
            raise
        except BaseException:
            if trial:
                with self._lock:
                    self._trial = False
            raise
        else:
            self._succeeded()

    def answered(self) -> None:
        """Record that the server was seen: if it could not be reached, it may be tried now."""
        with self._lock:
            if self._opened is not None and isinstance(self._last, OllamaUnreachableError):
                self._opened = self._clock() - self._seconds

    def _refuses(self) -> bool:
        if self._opened is None:
            return False
        return self._trial or self._clock() - self._opened < self._seconds

    def _refusal(self) -> OllamaRestingError:
        assert self._opened is not None  # noqa: S101
        left = max(1, round(self._seconds - (self._clock() - self._opened)))
        last = self._last.message if self._last else ""
        return OllamaRestingError(
            f"Ollama failed {self._failures} times in a row; the next try is in {left} s. {last}",
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
