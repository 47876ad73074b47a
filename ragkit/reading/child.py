"""A reading process: takes file names on its standard input, gives readings back.

The pool starts it as its own program, so it imports little, and it confines itself before it
looks at the first file.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import sys
import warnings
from pathlib import Path
from typing import IO, Any

from ragkit.errors import ReadingError
from ragkit.reading import sandbox, wire
from ragkit.reading.limits import PlainLimits, damaged, too_deep, too_much_memory
from ragkit.reading.reader import read_file

_GRACE_SECONDS = 5.0
_LONGEST_REQUEST = 1_000_000


def main(arguments: list[str]) -> None:
    """Serve until the pool closes the pipe. Arguments: the parent's id, then the four limits."""
    parent = int(arguments[0])
    limits = PlainLimits(
        timeout_seconds=float(arguments[1]),
        memory_mb=int(arguments[2]),
        max_file_mb=float(arguments[3]),
        max_text_mb=float(arguments[4]),
    )
    requests, answers = _private_streams()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    # Compiled modules could not be written any more, and trying would look like a file's doing.
    sys.dont_write_bytecode = True
    sandbox.confine(limits.memory_mb, parent)
    # Readings are built once and sent off; the collector would only walk them.
    gc.freeze()
    wire.send(answers, {"ready": True})
    while True:
        try:
            request, _ = wire.receive(requests, _LONGEST_REQUEST)
        except wire.BrokenFrameError:
            return
        answer, text, last = _answer(request, limits)
        wire.send(answers, answer, text)
        if last:
            return


def _answer(request: dict[str, Any], limits: PlainLimits) -> tuple[dict[str, Any], str, bool]:
    """Read one file; the flag says that this process is worn out."""
    path = Path(os.fsdecode(bytes.fromhex(request["path"])))
    # The pool's clock comes first; this one is for when the pool is gone.
    sandbox.alarm(limits.timeout_seconds + _GRACE_SECONDS)
    sandbox.forbidden_attempt()
    error: ReadingError
    last = False
    try:
        reading = read_file(path, request["name"], limits)
        return {"reading": wire.pack_reading(reading)}, reading.text, False
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
    return {"error": wire.pack_error(error), "last": last}, "", last


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
