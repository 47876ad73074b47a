"""``python -m ragkit`` is the same as ``ragkit``."""

from __future__ import annotations

import gc
import os


def main() -> None:
    """Load the command line and run it."""
    # Imported modules stay, so the garbage collector would traverse them repeatedly for nothing.
    gc.disable()
    # Looking for plugins in all installed packages takes longer than building the settings.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from ragkit.surfaces.cli.app import main as command_line
    from ragkit.surfaces.failures import keep_tracebacks_from_the_terminal

    keep_tracebacks_from_the_terminal()

    gc.freeze()
    gc.enable()
    command_line()


if __name__ == "__main__":
    main()
