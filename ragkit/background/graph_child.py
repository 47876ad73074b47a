"""The child process that builds one graph: at the lowest priority, and gone with its parent."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from ragkit.errors import RagkitError
from ragkit.indexes.local.generation import build_graph_of

_NICE = 19


def main(arguments: list[str]) -> int:
    """Build the graph of the generation in the folder named; 0: it is there, 1: it is not."""
    _yield_to_others()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        build_graph_of(Path(arguments[0]))
    except (RagkitError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _yield_to_others() -> None:
    import psutil

    lowest = getattr(psutil, "IDLE_PRIORITY_CLASS", _NICE)
    psutil.Process().nice(lowest)


def _end_with_parent() -> None:
    """The parent never writes; its end of the pipe closes when it dies."""
    # Not by sys.stdin: at its end, the interpreter would wait for this thread's lock on it.
    os.read(0, 1)
    os._exit(1)
