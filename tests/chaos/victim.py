"""A process that works on a library and is killed: it loads everything once, then forks.

Reads lines of JSON from standard input: {"library": DIR, "kind": JOB, "arguments": {...}}. For
each it prints the pid of the child that does the job, and when that has ended, how it ended.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import ragkit.indexing.pipeline  # noqa: F401 - loaded before forking, it takes seconds
from ragkit.background.worker import work_off
from ragkit.library import Library
from ragkit.settings import load_settings


def work(order: dict) -> None:
    library = Library.open(load_settings(library=Path(order["library"])), create=True)
    work_off(library.writer(), library.jobs.add(order["kind"], **order["arguments"]))


def main() -> None:
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                work(json.loads(line))
            except BaseException as error:
                sys.stderr.write(f"{type(error).__name__}: {error}\n")
                sys.stderr.flush()
                os._exit(3)
            os._exit(0)
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
