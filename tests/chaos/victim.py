"""A process that does what people do with ragkit and is killed: it loads all once, then forks.

Reads lines of JSON from standard input, the arguments of a ``ragkit`` command each. For each it
prints the pid of the child that runs the command, and when that has ended, how it ended. What the
children say goes to standard error.
"""

from __future__ import annotations

import json
import os
import sys

import ragkit.indexing.pipeline
import ragkit.retrieval.search  # noqa: F401
from ragkit.surfaces.cli.app import main


def run(arguments: list[str]) -> None:
    os.dup2(2, 1)
    sys.argv = ["ragkit", *arguments]
    main()


def serve() -> None:
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            code = 0
            try:
                run(json.loads(line))
            except SystemExit as error:
                code = error.code if isinstance(error.code, int) else 1
            except BaseException as error:
                sys.stderr.write(f"Traceback: {type(error).__name__}: {error}\n")
                code = 99
            sys.stderr.flush()
            os._exit(code)
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    serve()
