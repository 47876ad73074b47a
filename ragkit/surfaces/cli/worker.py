"""``ragkit worker``: keep the library up to date without the pages."""

from __future__ import annotations

from ragkit.surfaces.cli.options import CollectionOption, LibraryOption, open_library


def worker(library: LibraryOption = None, collection: CollectionOption = None) -> None:
    """Keep the library up to date until stopped. ragkit serve starts a worker of its own."""
    from ragkit.surfaces.serve import run_worker

    run_worker(open_library(library, collection, create=True))
