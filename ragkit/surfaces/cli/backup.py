"""``ragkit backup``; ``recovery.py`` has the way back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragkit.errors import LibraryError
from ragkit.surfaces.cli.options import CollectionOption, LibraryOption, do_job, open_library


def backup(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="Where to write it; by default in the library."),
    ] = None,
    library: LibraryOption = None,
    collection: CollectionOption = None,
) -> None:
    """Back up the catalog now. The worker does so once a day, and keeps three backups."""
    opened = open_library(library, collection)
    if opened.health.server:
        raise LibraryError(
            "The library lies on a server, and is copied there.",
            "Use pg_dump; ragkit move --to DIR copies it to a folder.",
        )
    named = {"file": str(file.expanduser().absolute())} if file is not None else {}
    do_job(opened, opened.jobs.add("backup", **named))
