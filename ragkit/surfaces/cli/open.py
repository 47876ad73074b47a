"""``ragkit open``: into the pages that ``ragkit serve`` shows."""

from __future__ import annotations

from ragkit.surfaces.cli.options import LibraryOption, open_library


def open_(library: LibraryOption = None) -> None:
    """Open the running app in the browser. If it is locked, with a new one-time link."""
    from ragkit.surfaces.serve import open_app

    open_app(open_library(library, None))
