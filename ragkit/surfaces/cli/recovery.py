"""``ragkit backup``, ``restore`` and ``recover``: copies of the catalog, and what to do without."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragkit.errors import LibraryError
from ragkit.formatting import byte_size, local_time
from ragkit.paths import LibraryPaths
from ragkit.settings import load_settings
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import (
    CollectionOption,
    LibraryOption,
    YesOption,
    confirm,
    do_job,
    open_library,
    wait_for,
)

if TYPE_CHECKING:
    from ragkit.health.recovery import Recovered


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
            "The library lies on a server, and is backed up there.",
            "Use pg_dump; ragkit move --to DIR copies it to a folder.",
        )
    arguments = {"file": str(file.expanduser().absolute())} if file is not None else {}
    do_job(opened, opened.jobs.add("backup", **arguments))


def restore(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="A backup; by default the newest intact one."),
    ] = None,
    library: LibraryOption = None,
    collection: CollectionOption = None,
    list_: Annotated[bool, typer.Option("--list", help="Only list the backups.")] = False,
    yes: YesOption = False,
) -> None:
    """Restore the catalog from a backup. The current catalog is kept."""
    from ragkit.catalog.copies import backups
    from ragkit.health import recovery

    paths = _paths(library)
    if list_:
        listed = backups(paths)
        if not listed:
            console.say("No backups yet. ragkit backup makes one.")
        for kept in listed:
            console.put(f"{local_time(kept.at)}  {byte_size(kept.size):>10}  {kept.file}")
        return
    confirm(yes, f"Replace the catalog of {paths.root} with a backup?")
    _go_on(recovery.restore(paths, file), library, collection)


def recover(
    library: LibraryOption = None, collection: CollectionOption = None, yes: YesOption = False
) -> None:
    """Recover a damaged catalog as far as possible. The rest is re-indexed from the folders."""
    from ragkit.health import recovery

    paths = _paths(library)
    confirm(yes, f"Replace the catalog of {paths.root} with what can be recovered from it?")
    _go_on(recovery.recover(paths), library, collection)


def _paths(library: Path | None) -> LibraryPaths:
    settings = load_settings(library=library)
    if settings.backend.get_secret_value():
        raise LibraryError(
            "The library lies on a server, and so do its backups.",
            "Restore it there, from a dump of pg_dump or from a replica.",
        )
    return LibraryPaths(settings.library.expanduser().absolute())


def _go_on(done: Recovered, library: Path | None, collection: str | None) -> None:
    """Say what was saved, then bring the library up to date with its folders and uploads."""
    console.say(*done.sentences)
    if done.aside is not None:
        console.say(f"The previous catalog is kept as {done.aside}.")
    opened = open_library(library, collection, create=True)
    opened.health.read_what_is_lost()
    for kind in ("adopt_uploads", "reread"):
        wait_for(opened, opened.jobs.add(kind))
    do_job(opened, opened.jobs.add("sync"))
