"""``ragkit version``."""

from __future__ import annotations

from ragkit import __version__
from ragkit.surfaces.cli import console


def version() -> None:
    """Print the version."""
    console.put(__version__)
