"""``python -m ragkit`` is the same as ``ragkit``."""

from __future__ import annotations

import gc
import os


def main() -> None:
    """Load the command line and run it."""
    # Modules stay, so that the collector would walk them again and again for nothing.
    gc.disable()
    # Looking for them among all installed packages takes longer than making the settings.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from ragkit.surfaces.cli.app import main as command_line

    gc.freeze()
    gc.enable()
    command_line()


if __name__ == "__main__":
    main()
