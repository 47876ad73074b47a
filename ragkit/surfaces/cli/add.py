"""``ragkit add``: folders, which are watched from then on, and single files, which are copied."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragkit.catalog.uploads import UploadRecord
from ragkit.surfaces import render
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import CollectionOption, LibraryOption, do_job, open_library


def add(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Folders or files.")],
    library: LibraryOption = None,
    collection: CollectionOption = None,
) -> None:
    """Add folders to the library and index them. Single files are copied into it."""
    opened = open_library(library, collection, create=True)
    jobs = []
    for path in paths:
        if path.is_file():
            with path.open("rb") as stream:
                stored = opened.uploads.add(path.name, stream)
            console.say(*map(_of_upload, stored))
            jobs.append(opened.sources.sync(opened.sources.uploads()))
        else:
            jobs.append(opened.sources.sync(opened.sources.add_folder(path)))
    for job in dict.fromkeys(jobs):
        do_job(opened, job)


def _of_upload(record: UploadRecord) -> str:
    what = f"Already in the library: {record.same_as}" if record.same_as else record.reason
    return render.plain(f"{record.name}: {what or 'copied'}")
