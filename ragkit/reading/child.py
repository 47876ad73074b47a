"""A reading process: takes file names on its standard input, gives readings back.

The pool starts it as its own program, so it imports little, and it confines itself before it
looks at the first file.
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
from pathlib import Path
from typing import IO, Any, TypeAlias, TypeVar

from ragkit.errors import ReadingError
from ragkit.reading import sandbox, wire
from ragkit.reading.limits import (
    PlainLimits,
    cutting_seconds,
    damaged,
    too_deep,
    too_much_memory,
    uncut,
)
from ragkit.reading.readers import read_file
from ragkit.types import Reading

_Result = TypeVar("_Result")
_Make: TypeAlias = Callable[[Reading, str], tuple[dict[str, Any], bytes]]

_GRACE_SECONDS = 5.0
_LONGEST_REQUEST = 1_000_000
_OBJECTS_BETWEEN_COLLECTIONS = 50_000


def main(arguments: list[str]) -> None:
    """Serve until the pool closes the pipe.

    Arguments: the parent's id, the four limits, and what is to be made of each reading: a module
    with a ``maker``, and its options as JSON; both are empty when readings are all that is asked.
    """
    gc.disable()
    parent = int(arguments[0])
    limits = PlainLimits(
        timeout_seconds=float(arguments[1]),
        memory_mb=int(arguments[2]),
        max_file_mb=float(arguments[3]),
        max_text_mb=float(arguments[4]),
    )
    make: _Make | None = None
    if arguments[5]:
        make = importlib.import_module(arguments[5]).maker(json.loads(arguments[6]))
    requests, answers = _private_streams()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    # Compiled modules could not be written any more, and trying would look like a file's doing.
    sys.dont_write_bytecode = True
    sandbox.confine(limits.memory_mb, parent)
    # Readings are built once and sent off; the collector would only walk them.
    gc.freeze()
    gc.enable()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    wire.send(answers, {"ready": True})
    while True:
        try:
            request, _, _ = wire.receive(requests, _LONGEST_REQUEST)
        except wire.BrokenFrameError:
            return
        if _answer(request, answers, limits, make):
            return


def _answer(
    request: dict[str, Any], answers: IO[bytes], limits: PlainLimits, make: _Make | None
) -> bool:
    """Read one file, and make of it what was asked for; true when this process is worn out."""
    path = Path(os.fsdecode(bytes.fromhex(request["path"])))
    name: str = request["name"]
    read = _guarded(lambda: read_file(path, name, limits), limits.timeout_seconds, limits)
    if not isinstance(read, Reading):
        wire.send(answers, read)
        return bool(read["last"])
    wire.send(answers, {"reading": wire.pack_reading(read)}, read.text)
    if make is None:
        return False
    maker, reading = make, read
    seconds = cutting_seconds(len(reading.text), limits)
    made = _guarded(lambda: _made(maker, reading, name), seconds, limits)
    if isinstance(made, tuple):
        wire.send(answers, {"made": made[0]}, data=made[1])
        return False
    wire.send(answers, made)
    return bool(made["last"])


def _made(make: _Make, reading: Reading, name: str) -> tuple[dict[str, Any], bytes]:
    """Make of a reading what was asked for; no text may bring that to a fall."""
    try:
        return make(reading, name)
    except (MemoryError, RecursionError, ReadingError):
        raise
    except Exception as error:  # whatever a hostile text does to the code that cuts it
        raise uncut() from error


def _guarded(
    work: Callable[[], _Result], seconds: float, limits: PlainLimits
) -> _Result | dict[str, Any]:
    """Do one step for one file under the limits.

    An error comes back as it is sent; its flag ``last`` says that this process is worn out.
    """
    # The pool's clock comes first; this one is for when the pool is gone.
    sandbox.alarm(seconds + _GRACE_SECONDS)
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
    """Keep the pipes for frames alone: whatever readers print goes nowhere."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    with contextlib.suppress(OSError):
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nowhere, number)
        os.close(nowhere)
    return requests, answers


if __name__ == "__main__":
    main(sys.argv[1:])
