"""``python -m ragkit`` is the same as ``ragkit``."""

from __future__ import annotations

import gc
import os
import signal
from typing import Any, NoReturn

_STOPPED = 130


def main() -> None:
    """Load the command line and run it."""
    # Modules are loaded for half a second, in which a KeyboardInterrupt would be a traceback.
    is_usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_usual:
        signal.signal(signal.SIGINT, _stop_at_once)
    # Imported modules stay, so the garbage collector would traverse them repeatedly for nothing.
    gc.disable()
    # Looking for plugins in all installed packages takes longer than building the settings.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from ragkit.surfaces.cli.app import main as command_line
    from ragkit.surfaces.failures import keep_tracebacks_from_the_terminal

    keep_tracebacks_from_the_terminal()

    gc.freeze()
    gc.enable()
    if is_usual:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    command_line()


def _stop_at_once(*_: Any) -> NoReturn:
    """End the process: nothing has been opened yet, and nothing has to be closed."""
    os._exit(_STOPPED)


if __name__ == "__main__":
    main()
