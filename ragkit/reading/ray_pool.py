"""Reads files on the machines of a Ray cluster, each in the same confined process as locally.

A machine receives bytes and returns readings; only the caller writes. It needs the same version of
ragkit, but no access to the library. The reading process there reports what a file does to its
reader. If a machine fails, Ray runs the task on another one.
"""

from __future__ import annotations

import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ragkit.errors import PassingError, RagkitError, ReadingError, SettingsError
from ragkit.reading.limits import Limits, kept_waiting, wall_seconds
from ragkit.reading.pool import ReadOutcome, ReadTask
from ragkit.reading.process import PostProcessor, Read, ReadingProcess
from ragkit.reading.readers import load
from ragkit.versions import CHUNKER_VERSION, READER_VERSION, TOKENIZER_VERSION

if TYPE_CHECKING:
    from ragkit.settings import ReadingSettings

_RETRIES = 3
_AHEAD = 3
"""Tasks in flight for each processor of the cluster, so that no processor waits for data."""

_ANSWERS_WITHIN = 5.0
_BYTES_AHEAD = 200_000_000
_VERSIONS = (READER_VERSION, CHUNKER_VERSION, TOKENIZER_VERSION)


@dataclass(frozen=True, slots=True)
class _Sent:
    """A file that was sent, and the time at which it is given up."""

    task: ReadTask
    deadline: float


class RayReaderPool:
    """Reads files on a cluster, with the interface of ``ReaderPool``; not thread-safe.

    Raises:
        SettingsError: Ray is not installed, or there is no cluster at the address.
    """

    def __init__(
        self, settings: ReadingSettings, post_processor: PostProcessor | None = None
    ) -> None:
        self._ray = _imported()
        self._limits = Limits.of(settings)
        self._post_processor = post_processor
        self._joined = not self._ray.is_initialized()
        if self._joined:
            _join(self._ray, settings.ray)
        processors = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        self._most = processors * _AHEAD
        # Reading and chunking each have a time limit, and tasks sent ahead wait for others.
        self._longest = 2 * (_AHEAD + 1) * wall_seconds(self._limits.timeout_seconds)
        self._read = self._ray.remote(
            num_cpus=1, max_retries=_RETRIES, scheduling_strategy="SPREAD"
        )(_read)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the cluster."""
        if self._joined:
            self._joined = False
            with _signals_as_they_are():
                self._ray.shutdown()

    def read(self, tasks: Iterable[ReadTask]) -> Iterator[ReadOutcome]:
        """Read files and yield their outcomes in the order of completion.

        ``tasks`` is consumed only a few tasks ahead of the outcomes taken. Closing the iterator
        early cancels the tasks in flight.

        Raises:
            RagkitError: a machine of the cluster lacks ragkit, or has another version.
        """
        waiting = iter(tasks)
        sent: dict[Any, _Sent] = {}
        size, more = 0, True
        try:
            while True:
                while more and len(sent) < self._most and (not sent or size < _BYTES_AHEAD):
                    task = next(waiting, None)
                    if task is None:
                        more = False
                        continue
                    started = time.perf_counter()
                    try:
                        data = load(task.path, self._limits)
                    except ReadingError as error:
                        seconds = time.perf_counter() - started
                        yield ReadOutcome(task.key, error, seconds, task.size)
                        continue
                    reference = self._send(task, data)
                    sent[reference] = _Sent(task, time.monotonic() + self._longest)
                    size += task.size
                if not sent:
                    return
                for reference in self._finished(sent):
                    sent_file = sent.pop(reference)
                    size -= sent_file.task.size
                    yield self._outcome(reference, sent_file)
        finally:
            for reference in sent:
                with suppress(self._ray.exceptions.RayError):
                    self._ray.cancel(reference)

    def _send(self, task: ReadTask, data: bytes) -> Any:
        file = data, task.name, task.recognised
        return self._read.remote(*file, self._limits, self._post_processor, _VERSIONS)

    def _finished(self, sent: dict[Any, _Sent]) -> list[Any]:
        """Wait for tasks that are done or past their deadlines; return their references."""
        first = min(file.deadline for file in sent.values())
        left = max(0.0, first - time.monotonic())
        done, _ = self._ray.wait(list(sent), num_returns=1, timeout=left, fetch_local=False)
        now = time.monotonic()
        return done or [reference for reference, file in sent.items() if file.deadline <= now]

    def _outcome(self, reference: Any, sent: _Sent) -> ReadOutcome:
        task, errors = sent.task, self._ray.exceptions
        seconds = 0.0
        result: Read | ReadingError
        try:
            left = max(1.0, sent.deadline - time.monotonic())
            result, seconds = self._ray.get(reference, timeout=left)
        except errors.GetTimeoutError:
            self._ray.cancel(reference, force=True)
            result = kept_waiting(self._limits)
        except errors.RayTaskError as error:
            # Reading itself never raises, so the machine cannot read any file.
            raise _unfit(error) from error
        except errors.RayError:
            result = PassingError(
                "The machines that read this file were lost.", "It will be retried automatically."
            )
        return ReadOutcome(task.key, result, seconds, task.size)


def _imported() -> Any:
    """Import Ray with its usage statistics switched off."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    try:
        import ray
    except ImportError as error:
        raise SettingsError(
            "reading.ray is set, but Ray is not installed.",
            'Install it: pip install "ragkit-search[ray]"; or leave reading.ray empty.',
        ) from error
    return ray


def _join(ray: Any, address: str) -> None:
    """Join the cluster at an address. None is started: Ray would query cloud metadata services."""
    try:
        host, _, port = address.rpartition(":")
        if not port.isdigit() or host.startswith("ray:"):
            raise ValueError(address)
        # Ray itself would look for a missing cluster for many minutes.
        socket.create_connection((host.strip("[]"), int(port)), _ANSWERS_WITHIN).close()
        with _signals_as_they_are():
            ray.init(address, log_to_driver=False, logging_level="error")
    except (OSError, ValueError, RuntimeError) as error:
        raise SettingsError(
            f"There is no Ray cluster at {address}.",
            'It looks like "host:6379"; docs/scaling.md says how to start one.',
        ) from error


@contextmanager
def _signals_as_they_are() -> Iterator[None]:
    """Restore the handler of SIGTERM afterwards: Ray replaces it."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


def _unfit(error: Exception) -> RagkitError:
    cause = getattr(error, "cause", None)
    if isinstance(cause, RagkitError):
        return cause
    reason = str(cause or error).strip().partition("\n")[0]
    return RagkitError(
        f"A machine of the Ray cluster cannot read files: {reason}.",
        "Install this version of ragkit on all of them.",
    )


# -- on the machine that reads -------------------------------------------------------------

_process: tuple[object, ReadingProcess] | None = None


def _read(
    data: bytes,
    name: str,
    recognised: bytes,
    limits: Limits,
    post_processor: PostProcessor | None,
    versions: tuple[str, ...],
) -> tuple[Read | ReadingError, float]:
    """Read one file in this worker's reading process; return the result and the seconds taken."""
    global _process
    if versions != _VERSIONS:
        raise RagkitError(
            "A machine of the Ray cluster has another version of ragkit.",
            "Install this version of ragkit on all of them.",
        )
    configuration = limits, post_processor
    if _process is None or _process[0] != configuration:
        if _process is not None:
            _process[1].close()
        _process = configuration, ReadingProcess(limits, post_processor)
    started = time.perf_counter()
    result: Read | ReadingError
    try:
        with tempfile.TemporaryDirectory(prefix="ragkit-") as folder:
            path = Path(folder, "file")
            path.write_bytes(data)
            started = time.perf_counter()
            result = _process[1].read(path, name, (), recognised)
    except OSError as error:
        result = PassingError(
            "The machine that was to read this file could not store it: "
            f"{(error.strerror or 'unknown reason').lower()}.",
            "Check its disk; it will be retried automatically.",
        )
    return result, time.perf_counter() - started
