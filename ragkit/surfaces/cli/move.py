"""``ragkit move``: a library to a server, or from one into a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragkit.formatting import plural
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import JsonOption, LibraryOption


def move(
    to: Annotated[
        str,
        typer.Option(metavar="ADDRESS|DIR", help="postgresql://USER@HOST/DATABASE, or a folder."),
    ],
    library: LibraryOption = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder of this machine for a server; by default DIR-server."
        ),
    ] = None,
    restart: Annotated[
        bool, typer.Option("--restart", help="Begin an unfinished copy anew.")
    ] = False,
    json_: JsonOption = False,
) -> None:
    """Copy the library to a server, or from one to a folder. What was copied stays as it is."""
    from ragkit.library.moving import move_library, settings_of_copy
    from ragkit.settings import load_settings

    settings = load_settings(library=library)
    copy = settings_of_copy(settings, to, folder)
    with console.progress_bar() as watch:
        moved = move_library(settings, copy, restart=restart, watch=watch)
    if json_:
        console.put_json(
            {"rows": dict(moved.rows), "uploads": moved.uploads, "folder": str(moved.folder)}
        )
        return
    rows = sum(moved.rows.values())
    backend = " --backend ADDRESS" if copy.backend.get_secret_value() else ""
    console.say(
        *moved.notes,
        f"Copied {plural(rows, 'row')} of {len(moved.rows)} tables and "
        f"{plural(moved.uploads, 'uploaded file')}; every table is the same on both sides.",
        f"Use it: ragkit serve --library {moved.folder}{backend}. "
        "What it was copied from is unchanged.",
    )
