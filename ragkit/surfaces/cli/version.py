"""``ragkit version``."""

from __future__ import annotations

from ragkit.surfaces.cli import console
from ragkit.versions import __version__


def version() -> None:
    """Print the version."""
    console.put(__version__)
