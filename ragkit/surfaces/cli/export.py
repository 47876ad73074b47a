"""``ragkit export`` and ``import``: a whole library as one file."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Annotated

import typer

from ragkit.errors import LibraryError, NotFoundError, RagkitError
from ragkit.formatting import plural
from ragkit.settings import load_settings
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import LibraryOption, open_library


def export_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The ZIP archive to write.")],
    library: LibraryOption = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Export the whole library: texts, vectors, settings, uploads."""
    opened = open_library(library, None)
    if file.exists() and not force:
        raise RagkitError(f"{file} already exists.", "Choose another file, or pass --force.")
    report = opened.export(file, overwrite=force)
    console.say(
        *report.notes,
        f"Wrote {file}: {plural(report.documents, 'document')}, "
        f"{plural(report.uploads, 'uploaded file')}, {report.size / 1e6:.1f} MB.",
    )


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An archive made by ragkit export.")],
    library: LibraryOption = None,
) -> None:
    """Create a library from an archive. An existing library is never overwritten."""
    from ragkit.health.archive_import import import_library

    place = file.expanduser()
    if not place.exists():
        raise NotFoundError(f"There is no file {file}.", "Check the path.")
    if not place.is_file() or not zipfile.is_zipfile(place):
        raise RagkitError(
            f"{file} is not a whole ZIP archive.", "Take a file that ragkit export has written."
        )
    settings = load_settings(library=library)
    if settings.backend.get_secret_value():
        raise LibraryError(
            "An archive becomes a library in a folder, not one on a server.",
            "Leave out --backend, then run ragkit move --to ADDRESS.",
        )
    report = import_library(file, settings.library, settings)
    console.say(*report.notes)
    for source in open_library(library, None).sources.list():
        if source.kind == "folder":
            console.say(f"Watching the folder {source.root}.")
    console.say(
        f"Imported {plural(report.documents, 'document')} and "
        f"{plural(report.uploads, 'uploaded file')} to {settings.library}."
    )
