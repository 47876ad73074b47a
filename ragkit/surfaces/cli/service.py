"""``ragkit service``: have the operating system start ragkit at login and keep it running."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import Annotated

import typer

from ragkit.paths import LibraryPaths
from ragkit.settings import load_settings, settings_file
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import (
    CollectionOption,
    JsonOption,
    LibraryOption,
    close_libraries,
    open_library,
)
from ragkit.surfaces.http.access import Access
from ragkit.surfaces.http.place import place_of
from ragkit.surfaces.service import manager
from ragkit.surfaces.service.program import ServiceState, not_passed_on, program

_PORT = 8501

service = typer.Typer(
    help="Start ragkit at login, and keep it running.",
    no_args_is_help=True,
)


@service.command()
def install(
    library: LibraryOption = None,
    collection: CollectionOption = None,
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Port of the pages, by default 8501."),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Address to listen on, as in ragkit serve."),
    ] = None,
    worker_only: Annotated[
        bool, typer.Option("--worker-only", help="Only keep the library up to date; no pages.")
    ] = False,
    print_: Annotated[
        bool, typer.Option("--print", help="Print what would be written, and write nothing.")
    ] = False,
) -> None:
    """Start ragkit now and at every login. It serves the pages and keeps the library up to date."""
    system = manager()
    paths = LibraryPaths(load_settings(library=library).library.absolute())
    if worker_only and (port or host):
        raise typer.BadParameter("--worker-only serves no pages, so it takes no --port or --host.")
    port = port or _PORT
    if host:
        place_of(port, host)
    service_program = program(
        paths, collection=collection, port=port, host=host, worker_only=worker_only
    )
    text = system.text(service_program)
    if print_:
        console.say(f"This would be {system.place()}:")
        console.put(text.rstrip("\n"))
        return
    if paths.root.exists():
        # If the library cannot be used, say so here instead of in a system log.
        open_library(library, collection, create=True)
        close_libraries()
    system.install(service_program)
    if lost := not_passed_on(service_program):
        console.say(
            f"These variables are set here, but not for the service: {', '.join(lost)}. "
            f"Its settings come from {settings_file()}."
        )
    console.say(f"Installed: {system.place()}", system.advice)
    if not worker_only:
        console.say("ragkit open opens it in a moment; ragkit service status says where it is.")


@service.command()
def status(json_: JsonOption = False) -> None:
    """Show whether the service is installed and running. Exits with 1 if it is not running."""
    state = manager().state()
    pages = _pages(state)
    if json_:
        console.put_json({"installed": bool(state.place), **asdict(state), "pages": pages})
    elif not state.place:
        console.put("Installed  no (ragkit service install)")
    else:
        process = f", process {state.process}" if state.process else ""
        running = {True: f"yes{process}", False: "no", None: "not known"}[state.running]
        console.put(
            f"Installed  {state.place}",
            f"At login   {'starts' if state.enabled else 'does not start'}",
            f"Running    {running}",
            f"Command    {shlex.join(state.command)}",
        )
        if "serve" in state.command:
            console.put(f"Pages      {pages or 'not there'}")
        if state.note:
            console.say(state.note)
    if not state.running:
        raise typer.Exit(1)


@service.command()
def remove() -> None:
    """Stop the service and remove it. The library stays."""
    removed = manager().remove()
    console.say("Stopped and removed. The library stays." if removed else "None is installed.")


def _pages(state: ServiceState) -> str:
    """Return the address at which the service's library is served now, or an empty string."""
    server = Access(LibraryPaths(state.library).access).server() if state.library else None
    return f"http://{server.place.here}:{server.place.port}" if server else ""
