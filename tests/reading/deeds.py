"""A post-processor that does what a document says, for the processes that read it."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Mapping
from typing import Any

from ragkit.types import Reading


def build(options: Mapping[str, Any]) -> Callable[[Reading, str], tuple[dict[str, Any], bytes]]:
    """Return a function that counts the words of a text, and obeys its last one."""

    def process(reading: Reading, name: str) -> tuple[dict[str, Any], bytes]:
        words = reading.text.split()
        match words[-1]:
            case "exit":
                os._exit(3)
            case "crash":
                ctypes.string_at(0)
            case "spin":
                while True:
                    pass
            case "sleep":
                time.sleep(options["sleep"])
            case "memory":
                return {"kept": [str(at) * 1_000_000 for at in range(5_000)]}, b""
            case "raise":
                raise ValueError
        return {"words": len(words), "pid": os.getpid()}, name.encode()

    return process
