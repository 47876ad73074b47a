"""``ragkit serve``: the pages in the browser, with a worker."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from ragkit.surfaces.cli.options import CollectionOption, LibraryOption, open_library


def serve(
    library: LibraryOption = None,
    collection: CollectionOption = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on this machine.")] = 8501,
    host: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Answer on this address; 0.0.0.0 is all of them, and browsers then sign in.",
        ),
    ] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="Index the sample library if the library is empty.")
    ] = False,
    browser: Annotated[bool, typer.Option(help="Open a browser.")] = True,
    locked: Annotated[
        bool | None,
        typer.Option("--locked/--unlocked", help="Require a one-time link to open the app."),
    ] = None,
    readers: Annotated[
        int | None,
        typer.Option(min=0, max=64, help="Processes that answer searches, beside the server."),
    ] = None,
    index_server: Annotated[
        str | None,
        typer.Option(metavar="URL", help="A Qdrant server that has the indexes, not files."),
    ] = None,
) -> None:
    """Open the app in the browser. A worker keeps the library up to date."""
    if index_server is not None:
        # The worker and the pages are processes of their own, and read their own settings.
        os.environ["RAGKIT_INDEX__SERVER"] = index_server
    from ragkit.surfaces.http.place import place_of
    from ragkit.surfaces.serve import run_app

    opened = open_library(library, collection, create=True)
    settings = opened.settings.server
    place = place_of(port, host or settings.host, settings.names)
    if locked is None:
        locked = settings.locked or place.reach
    if readers is None:
        readers = settings.readers
    raise typer.Exit(
        run_app(opened, place=place, sample=sample, browser=browser, locked=locked, readers=readers)
    )
