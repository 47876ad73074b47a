"""``ragkit serve``, ``open``, ``token`` and ``worker``: the app, its token, a worker alone."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import CollectionOption, LibraryOption, open_library


def serve(
    library: LibraryOption = None,
    collection: CollectionOption = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on this machine.")] = 8501,
    host: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Address to listen on. Beyond this machine (0.0.0.0: all), browsers must sign in.",
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
        typer.Option(min=0, max=64, help="Number of extra processes that answer searches."),
    ] = None,
    index_server: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Keep the indexes on this Qdrant server, not in files."),
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


def open_(library: LibraryOption = None) -> None:
    """Open the running app in the browser. If it is locked, with a new one-time link."""
    from ragkit.surfaces.serve import open_app

    open_app(open_library(library, None))


def token(
    library: LibraryOption = None,
    new: Annotated[
        bool, typer.Option("--new", help="Replace it, and sign every browser out.")
    ] = False,
) -> None:
    """Print the token that programs need. They send it with each request over HTTP."""
    from ragkit.surfaces.http.access import Access
    from ragkit.surfaces.http.api_token import ApiToken

    paths = open_library(library, None).paths
    kept = ApiToken(paths.token)
    if new:
        Access(paths.access).forget()
    console.put(kept.renew() if new else kept.ensure())


def worker(
    library: LibraryOption = None,
    collection: CollectionOption = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="If another process is writing, wait until it stops.")
    ] = False,
) -> None:
    """Keep the library up to date until stopped. ragkit serve starts a worker of its own."""
    from ragkit.surfaces.worker import run_worker

    run_worker(open_library(library, collection, create=True), wait=wait)
