"""``ragkit jobs``: what was done to the library, and how it ended."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from ragkit.formatting import local_time
from ragkit.surfaces import render
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import CollectionOption, JsonOption, LibraryOption, open_library


def jobs(
    library: LibraryOption = None,
    collection: CollectionOption = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=500, help="Maximum number of jobs.")
    ] = 20,
    json_: JsonOption = False,
) -> None:
    """List recent jobs and how they ended, newest first."""
    for job in open_library(library, collection).jobs.recent(limit):
        if json_:
            console.put_json(asdict(job))
        else:
            console.put(
                f"{job.id:>6}  {local_time(job.created_at)}  {job.state.value:<9}  {job.kind:<16}  "
                f"{render.plain(job.message)}".rstrip()
            )
