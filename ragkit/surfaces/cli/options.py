"""Options that several commands take, and what every command begins and ends with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragkit.catalog.records import JobRecord, JobState
from ragkit.library import Library
from ragkit.settings import load_settings
from ragkit.surfaces.cli import console

LibraryOption = Annotated[
    Path | None, typer.Option("--library", metavar="DIR", help="The library's directory.")
]
CollectionOption = Annotated[
    str | None, typer.Option("--collection", metavar="NAME", help="The collection to use.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ContextOption = Annotated[
    bool, typer.Option("--context", help="Print a Markdown block of what was found.")
]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask first.")]


def open_library(library: Path | None, collection: str | None, *, create: bool = False) -> Library:
    """Open the library that the options and settings name."""
    return Library.open(load_settings(library=library, collection=collection), create=create)


def do_job(library: Library, job_id: int) -> None:
    """Wait for a job with a bar, say how it ended, and fail when it did."""
    with console.progress_bar() as watch:
        job = library.wait(job_id, watch)
    finish(job)


def finish(job: JobRecord) -> None:
    """Say how a job ended; exit code 1 when it was not done."""
    console.say(job.message)
    if job.state is not JobState.DONE:
        raise typer.Exit(1)
