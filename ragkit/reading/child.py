"""A reading process: receives requests on its standard input and sends readings back.

The pool starts it as a program of its own, so it imports little. It confines itself before it opens
the first file.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import logging
import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

from ragkit.errors import ReadingError
from ragkit.reading import sandbox, wire
from ragkit.reading.limits import (
    Limits,
    damaged,
    too_deep,
    too_much_memory,
    uncut,
    wall_seconds,
)
from ragkit.reading.pdf.contents import KnownPages, PageRun
from ragkit.reading.readers import read_file, read_pages
from ragkit.types import Reading

if TYPE_CHECKING:
    from ragkit.reading.process import Processor

_Result = TypeVar("_Result")

_GRACE_SECONDS = 5.0
_LONGEST_REQUEST = 1_000_000
_OBJECTS_BETWEEN_COLLECTIONS = 50_000


def main(arguments: list[str]) -> None:
    """Serve until the pool closes the pipe.

    Arguments: the parent's id, the four limits, and the post-processor: the module and the name of
    the function that builds it, and its options as JSON; the module is empty without one.
    """
    gc.disable()
    parent = int(arguments[0])
    limits = Limits(
        timeout_seconds=float(arguments[1]),
        memory_mb=int(arguments[2]),
        max_file_mb=float(arguments[3]),
        max_text_mb=float(arguments[4]),
    )
    process: Processor | None = None
    module, function, options = arguments[5:8]
    if module:
        process = getattr(importlib.import_module(module), function)(json.loads(options))
    requests, answers = _private_streams()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    # In the sandbox, writing compiled modules would fail and be blamed on the file.
    sys.dont_write_bytecode = True
    sandbox.confine(limits.memory_mb, parent)
    # Readings are built once and sent off: collecting garbage more often would only cost time.
    gc.freeze()
    gc.enable()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    wire.send(answers, {"ready": True})
    while True:
        try:
            request, _, data = wire.receive(requests, _LONGEST_REQUEST, wire.longest_pages(limits))
        except wire.BrokenFrameError:
            return
        if "first" in request:
            worn_out = _answer_pages(request, answers, limits)
        else:
            worn_out = _answer(request, data, answers, limits, process)
        if worn_out:
            return


def _answer_pages(request: dict[str, Any], answers: IO[bytes], limits: Limits) -> bool:
    """Read some pages of a PDF; return whether this process is worn out."""
    path, span = _path_in(request), (request["first"], request["end"])

    def pages() -> tuple[int, bytes]:
        count, run = read_pages(path, request["name"], limits, *span)
        return count, run.pack()

    read = _guarded(pages, limits.timeout_seconds, limits)
    if isinstance(read, tuple):
        wire.send(answers, {"count": read[0]}, data=read[1])
        return False
    wire.send(answers, read)
    return bool(read["last"])


def _answer(
    request: dict[str, Any],
    data: bytes,
    answers: IO[bytes],
    limits: Limits,
    process: Processor | None,
) -> bool:
    """Read and post-process one file; return whether this process is worn out.

    ``data`` holds the packed runs of its pages if they were read already, and then the recognised
    text of scanned ones.
    """
    path, name = _path_in(request), str(request["name"])
    limits = replace(limits, attachments=request["attachments"])

    def whole() -> Reading:
        ends = [0, *accumulate(request["runs"])]
        runs = [PageRun.unpack(data[start:end]) for start, end in pairwise(ends)]
        known = KnownPages(runs, data[ends[-1] :], is_hard=request["hard"])
        return read_file(path, name, limits, known)

    read = _guarded(whole, limits.timeout_seconds, limits)
    if not isinstance(read, Reading):
        wire.send(answers, read)
        return bool(read["last"])
    wire.send(answers, {"reading": wire.pack_reading(read)}, read.text)
    if process is None:
        return False
    processor, reading = process, read
    seconds = wire.cutting_seconds(len(reading.text), limits.timeout_seconds)
    made = _guarded(lambda: _processed(processor, reading, name), seconds, limits)
    if isinstance(made, tuple):
        wire.send(answers, {"made": made[0]}, data=made[1])
        return False
    wire.send(answers, made)
    return bool(made["last"])


def _path_in(request: dict[str, Any]) -> Path:
    return Path(os.fsdecode(bytes.fromhex(request["path"])))


def _processed(processor: Processor, reading: Reading, name: str) -> tuple[dict[str, Any], bytes]:
    """Post-process a reading; any unexpected failure becomes a ``ReadingError``."""
    try:
        return processor(reading, name)
    except (MemoryError, RecursionError, ReadingError):
        raise
    except Exception as error:  # a hostile text may break the chunker in any way
        raise uncut() from error


def _guarded(
    work: Callable[[], _Result], seconds: float, limits: Limits
) -> _Result | dict[str, Any]:
    """Run one step for one file under the limits.

    An error is returned as the header to send; its flag ``last`` says that this process is worn out
    and ends.
    """
    # The pool kills a slow process first; the system's timer is for when the pool is gone.
    sandbox.alarm(seconds, wall_seconds(seconds) + _GRACE_SECONDS)
    sandbox.forbidden_attempt()
    error: ReadingError
    last = False
    try:
        return work()
    except MemoryError:
        error, last = too_much_memory(limits), True
    except RecursionError:
        error, last = too_deep(), True
    except ReadingError as refused:
        error = sandbox.forbidden_attempt() or refused
        last = isinstance(refused.__context__, MemoryError)
    except BaseException:  # noqa: BLE001 - native parsers raise their panics past Exception
        error, last = sandbox.forbidden_attempt() or damaged("file"), True
    finally:
        sandbox.alarm(0)
    return {"error": wire.pack_error(error), "last": last}


def _private_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Return the pipes for frames, and discard whatever readers print."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    with contextlib.suppress(OSError):
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        os.close(null)
    return requests, answers
