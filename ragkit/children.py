"""Child processes that have this one's import path, and nothing else of its environment."""

from __future__ import annotations

import sys
from pathlib import Path

_PROGRAM = (
    "import sys;"
    "count = int(sys.argv[2]);"
    "sys.path[:] = sys.argv[3 : 3 + count];"
    "from importlib import import_module;"
    "sys.exit(import_module(sys.argv[1]).main(sys.argv[3 + count :]))"
)


def child_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs ``main(arguments)`` of a module and exits with its result."""
    # A copy of the import path makes the child work from a checkout, an installed package, a
    # test run or a page server alike; ".pth" files and the site module need not run again.
    here = str(Path(__file__).resolve().parents[1])
    paths = [here, *(entry for entry in sys.path if entry and entry != here)]
    return [
        sys.executable, "-ISs", "-c", _PROGRAM, module, str(len(paths)), *paths, *arguments
    ]  # fmt: skip
