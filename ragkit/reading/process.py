"""One child process that reads files; it is replaced whenever it dies."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from ragkit.errors import PassingError, ReadingError, is_lack_of_memory
from ragkit.reading import wire
from ragkit.reading.child_clock import ChildClock, kill_group
from ragkit.reading.formats import may_have_attachments
from ragkit.reading.limits import (
    COUNTS_COMPUTING_TIME,
    ended_from_outside,
    kept_waiting,
    too_slow,
    wall_seconds,
)

if TYPE_CHECKING:
    from ragkit.reading.limits import Limits
    from ragkit.types import Reading

logger = logging.getLogger(__name__)

Processor: TypeAlias = "Callable[[Reading, str], tuple[dict[str, Any], bytes]]"
"""A function of (reading, name) that returns JSON values and bytes."""

_Result = TypeVar("_Result")
_Ask: TypeAlias = "Callable[[subprocess.Popen[bytes]], tuple[dict[str, Any], _Result | None]]"

_START_SECONDS = 60.0
_OWN_END_SECONDS, _END_SECONDS = 1.0, 5.0
"""How long a child may take to end itself, and to be gone once it is killed."""

_CRASHED = "The reader crashed on this file."
_CRASH_CURE = (
    "It is probably damaged, or too large for reading.memory_mb:"
    " save it again from the program that made it."
)

_PROGRAM = (
    "import sys;"
    "count = int(sys.argv[2]);"
    "sys.path[:] = sys.argv[3 : 3 + count];"
    "from importlib import import_module;"
    "sys.exit(import_module(sys.argv[1]).main(sys.argv[3 + count :]))"
)


@dataclass(frozen=True, slots=True)
class PostProcessor:
    """What a reading process does with each reading, under the same limits.

    ``build`` must be a top-level function of a module: the reading process imports it by name,
    calls it with ``options`` (JSON values), and applies the function that it returns.
    """

    build: Callable[[Mapping[str, Any]], Processor]
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Read:
    """A reading with the post-processor's output: JSON values and bytes, or nothing.

    All of it comes from a process that a hostile file may have taken over.
    """

    reading: Reading
    made: dict[str, Any] = field(default_factory=dict)
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class Pages:
    """Packed pages of a PDF, and its number of pages; 0 if they cannot be read in parts."""

    count: int
    packed: bytes


class ReadingProcess:
    """Reads one file at a time in a child process that is started when first needed.

    One thread reads; any thread may call ``kill``.
    """

    def __init__(self, limits: Limits, post_processor: PostProcessor | None = None) -> None:
        self._limits = limits
        self._post_processor = post_processor
        self._child: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._over = False
        self._retire = False
        self._files = 0
        self._clock = ChildClock()

    def read(
        self, path: Path, name: str, runs: Sequence[bytes] = (), recognised: bytes = b""
    ) -> Read | ReadingError:
        """Read a file; return any failure as an error instead of raising it.

        ``runs`` are all packed pages of a PDF, if ``read_pages`` has read them already, and
        ``recognised`` is the text of its scanned pages (``pdf.ocr_files.OcrFile``). A mail that
        cannot be read with its attachments is read without them, and a PDF whose reader crashed
        or took too long in a simpler way.
        """
        request: dict[str, Any] = {**_named(path, name), "attachments": True, "hard": False}

        def ask(child: subprocess.Popen[bytes]) -> tuple[dict[str, Any], Read | None]:
            known = () if request["hard"] else runs
            lengths = [len(run) for run in known]
            sent = {**request, "runs": lengths}
            header, text, _ = self._exchange(child, sent, b"".join((*known, recognised)))
            if "error" in header:
                return header, None
            read = Read(wire.unpack_reading(header["reading"], text))
            if self._post_processor is not None:
                return self._second_answer(child, read.reading)
            return header, read

        read = self._tried(ask)
        if type(read) is not ReadingError:
            return read
        if may_have_attachments(name):
            request["attachments"] = False
            note = f"The attachments were not read: {read.message}"
        elif name.lower().endswith(".pdf") and self._child is None:
            request["hard"] = True
            note = f"The text was read in a simpler way, without its form: {read.message}"
        else:
            return read
        simpler = self._tried(ask)
        if isinstance(simpler, ReadingError):
            return read
        warnings = (*simpler.reading.warnings, note)
        return replace(simpler, reading=replace(simpler.reading, warnings=warnings))

    def read_pages(self, path: Path, name: str, first: int, end: int) -> Pages | ReadingError:
        """Read the pages ``first`` (an index) to before ``end`` of a PDF; failures are returned."""
        request = {**_named(path, name), "first": first, "end": end}

        def ask(child: subprocess.Popen[bytes]) -> tuple[dict[str, Any], Pages | None]:
            header, _, data = self._exchange(child, request)
            return header, None if "error" in header else Pages(wire.unpack_count(header), data)

        return self._tried(ask)

    def _tried(self, ask: _Ask[_Result]) -> _Result | ReadingError:
        worn = self._files > 0
        result = self._attempt(ask)
        if self._retire and worn and not self._over:
            # Earlier files may be to blame, so this one is tried again in a fresh process.
            result = self._attempt(ask)
        return result

    def _attempt(self, ask: _Ask[_Result]) -> _Result | ReadingError:
        """Ask the child once; one that was interrupted must not answer the next request."""
        try:
            return self._answer(ask)
        except Exception as error:
            logger.exception("a reading process could not be used")
            self._abandon_child()
            return self._interrupted() or unexpected(error)
        except BaseException:
            self._abandon_child()
            raise

    def _answer(self, ask: _Ask[_Result]) -> _Result | ReadingError:
        """Ask the child; set ``_retire`` when it crashed or ran out of memory."""
        self._retire = False
        try:
            child = self._ready_child()
        except (OSError, wire.BrokenFrameError):
            self._end_child()
            return self._interrupted() or unstarted()
        self._files += 1
        self._clock.start(wall_seconds(self._limits.timeout_seconds), child)
        try:
            header, result = ask(child)
            self._clock.stop()
            self._retire = bool(header.get("last"))
            if self._retire or self._clock.rang:
                # Worn out, or killed just after its answer: the next file needs a new child.
                self._end_child()
            return wire.unpack_error(header["error"]) if result is None else result
        except (OSError, ValueError, LookupError, wire.BrokenFrameError):
            # It has ended, or sent something else than an answer.
            self._clock.stop()
            return self._verdict(self._end_child())

    def kill(self) -> None:
        """End the child at once and start no other."""
        with self._lock:
            self._over = True
            if self._child is not None:
                kill_group(self._child)

    def close(self) -> None:
        """End the child and wait until it is gone."""
        self.kill()
        self._clock.end()
        self._end_child()

    def _ready_child(self) -> subprocess.Popen[bytes]:
        """Return the running child, or a fresh one that has reported that it is ready.

        A failed start is not the file's fault, so it is tried a second time.
        """
        if self._child is not None and self._child.poll() is None:
            return self._child
        try:
            return self._fresh_child()
        except (OSError, wire.BrokenFrameError) as error:
            status = self._end_child()
            if self._over:
                raise
            logger.warning("a reading process did not start: %r, status %d", error, status)
            return self._fresh_child()

    def _fresh_child(self) -> subprocess.Popen[bytes]:
        self._end_child()
        with self._lock:
            if self._over:
                raise wire.BrokenFrameError
            child = self._child = _start(self._limits, self._post_processor)
        self._clock.start(_START_SECONDS, child)
        try:
            assert child.stdout is not None  # noqa: S101 - for the type checker
            wire.receive(child.stdout, 0)
        finally:
            self._clock.stop()
        return child

    def _exchange(
        self, child: subprocess.Popen[bytes], request: dict[str, Any], data: bytes = b""
    ) -> tuple[dict[str, Any], str, bytes]:
        """Send a request and return its answer."""
        assert child.stdin is not None  # noqa: S101 - for the type checker
        assert child.stdout is not None  # noqa: S101
        wire.send(child.stdin, request, data=data)
        longest = wire.longest_text(self._limits)
        return wire.receive(child.stdout, longest, wire.longest_pages(self._limits))

    def _second_answer(
        self, child: subprocess.Popen[bytes], reading: Reading
    ) -> tuple[dict[str, Any], Read | None]:
        """Receive the post-processor's output, within a time limit of its own."""
        assert child.stdout is not None  # noqa: S101 - for the type checker
        if self._clock.rang:
            raise wire.BrokenFrameError
        seconds = wire.cutting_seconds(len(reading.text), self._limits.timeout_seconds)
        self._clock.start(wall_seconds(seconds), child)
        header, _, data = wire.receive(child.stdout, 0, wire.longest_pages(self._limits))
        return header, None if "error" in header else Read(reading, header["made"], data)

    def _abandon_child(self) -> None:
        """Kill the child first: closing its input would wait for it to take what it was sent."""
        self._clock.stop()
        if self._child is not None:
            kill_group(self._child)
        self._end_child()

    def _end_child(self) -> int:
        """End the child if there is one; return its exit status, or 0 if it does not end itself."""
        child = self._child
        if child is None:
            return 0
        for stream in (child.stdin, child.stdout):
            if stream is not None:
                with contextlib.suppress(OSError, ValueError):
                    stream.close()
        status = 0
        try:
            status = child.wait(_OWN_END_SECONDS)
        except subprocess.TimeoutExpired:
            kill_group(child)
            # A process that waits for a dead drive cannot be killed until the drive answers.
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(_END_SECONDS)
        self._files = 0
        with self._lock:
            self._child = None
        return status

    def _verdict(self, status: int) -> ReadingError:
        """Return the error that explains why a child ended without an answer."""
        if interrupted := self._interrupted():
            return interrupted
        if status == -getattr(signal, "SIGPROF", 0):
            return too_slow(self._limits)
        if self._clock.rang or status == -getattr(signal, "SIGALRM", 0):
            limits = self._limits
            return kept_waiting(limits) if COUNTS_COMPUTING_TIME else too_slow(limits)
        self._retire = True
        if status == -getattr(signal, "SIGKILL", 0):
            return ended_from_outside()
        return ReadingError(_CRASHED, _CRASH_CURE)

    def _interrupted(self) -> ReadingError | None:
        """Return the error for a file whose pool was closed meanwhile."""
        return interrupted() if self._over else None


def _named(path: Path, name: str) -> dict[str, Any]:
    return {"path": os.fsencode(path.absolute()).hex(), "name": name}


def interrupted() -> ReadingError:
    """Return the error for a file that was not read because the pool was closed."""
    return PassingError("Reading was interrupted.", "It will be retried automatically.")


def unstarted() -> ReadingError:
    """Return the error for a file for which no process or thread could be started."""
    return PassingError(
        "The reading process could not be started.", "It will be retried automatically."
    )


def unexpected(error: Exception) -> ReadingError:
    """Return the error for a file whose reading failed for a reason that is not in the file."""
    if is_lack_of_memory(error):
        return PassingError(
            "Memory ran out while this file was read.",
            "Close other programs; it will be retried automatically.",
        )
    return PassingError(
        "Something unexpected happened while this file was read.",
        "It will be retried automatically; the log says more.",
    )


def _start(limits: Limits, post_processor: PostProcessor | None) -> subprocess.Popen[bytes]:
    """Start a child: isolated, in its own process group, with this process's import path."""
    entry = ("", "", "")
    if post_processor is not None:
        build, options = post_processor.build, json.dumps(dict(post_processor.options))
        entry = (build.__module__, build.__qualname__, options)
    return subprocess.Popen(
        child_command(
            "ragkit.reading.child",
            str(os.getpid()),
            str(limits.timeout_seconds),
            str(limits.memory_mb),
            str(limits.max_file_mb),
            str(limits.max_text_mb),
            *entry,
        ),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def child_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs ``main(arguments)`` of a module and exits with its result.

    The child has this process's import path, and nothing else of its environment.
    """
    # With a copy of the import path the child works in a checkout, an installed package, a test
    # run and a page server alike, without running ".pth" files and the site module again.
    here = str(Path(__file__).resolve().parents[2])
    paths = [here, *(entry for entry in sys.path if entry and entry != here)]
    return [
        sys.executable, "-ISs", "-c", _PROGRAM, module, str(len(paths)), *paths, *arguments
    ]  # fmt: skip
