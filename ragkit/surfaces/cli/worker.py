"""``ragkit worker``: keep the library up to date without the pages."""

from __future__ import annotations

from typing import Annotated

import typer

from ragkit.surfaces.cli.options import CollectionOption, LibraryOption, open_library
from ragkit.surfaces.worker import run_worker


def worker(
    library: LibraryOption = None,
    collection: CollectionOption = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="While another process writes, wait until it stops.")
    ] = False,
) -> None:
    """Keep the library up to date until stopped. ragkit serve starts a worker of its own."""
    run_worker(open_library(library, collection, create=True), wait=wait)
