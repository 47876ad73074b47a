"""Importing faiss, which kills the process where the system gives it too little room."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

_NEEDED = 350 * 1024**2
"""Bytes of addresses that its libraries take, most of them never used, with some to spare."""


@cache
def load_faiss() -> Any:
    """Return the module as untyped: its own types are wrong for graphs.

    Raises:
        MemoryError: a limit (``ulimit -v``) leaves it too little.
    """
    if "faiss" not in sys.modules and _room() < _NEEDED:
        raise MemoryError("too little memory to load faiss")
    # Read once, on loading. Threads that spin instead of sleeping take 7 ms for each search of a
    # few vectors while other programs use the cores.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    import faiss as module

    return module


def _room() -> float:
    """Return how many bytes of addresses the process may still take; infinity without a limit."""
    try:
        import resource

        limit, _hard = resource.getrlimit(resource.RLIMIT_AS)
        if limit == resource.RLIM_INFINITY:
            return float("inf")
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
        return float(limit - pages * resource.getpagesize())
    except (ImportError, OSError, ValueError):
        return float("inf")
