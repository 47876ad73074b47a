"""``python -m ragkit`` is the same as ``ragkit``."""

from __future__ import annotations

import gc


def main() -> None:
    """Load the command line and run it."""
    # Modules stay, so that the collector would walk them again and again for nothing.
    gc.disable()
    from ragkit.surfaces.cli import main as command_line

    gc.freeze()
    gc.enable()
    command_line()


if __name__ == "__main__":
    main()
