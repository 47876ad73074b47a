"""``ragkit sync`` and ``compact``: bring the library up to date, and tidy it up."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ragkit.library import Library
from ragkit.surfaces import render
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import (
    CollectionOption,
    JsonOption,
    LibraryOption,
    do_job,
    open_library,
)


def sync(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH]...", help="Only these folders and files of the library."),
    ] = None,
    library: LibraryOption = None,
    collection: CollectionOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would change.")
    ] = False,
    reread: Annotated[
        bool, typer.Option("--reread", help="Re-index files that look unchanged, too.")
    ] = False,
    accept_removals: Annotated[
        bool,
        typer.Option(
            "--accept-removals",
            help="Remove documents that are held because their files may come back.",
        ),
    ] = False,
    json_: JsonOption = False,
) -> None:
    """Bring the library up to date with its folders.

    With --json, print each job as ragkit jobs --json does, or each folder with --dry-run.
    """
    opened = open_library(library, collection)
    if collection:
        opened.collections.get(collection)
    if dry_run:
        _say_what_would_change(opened, collection, as_json=json_)
        return
    switches = {"reread": reread, "accept_removals": accept_removals}
    arguments: dict[str, Any] = {name: True for name, value in switches.items() if value}
    places = [opened.sources.place_of(path, collection) for path in paths or ()]
    for source_id, inside in places:
        where = {"source_id": source_id, **({"paths": [inside]} if inside else {})}
        do_job(opened, opened.jobs.add("sync", **arguments, **where), as_json=json_)
    if not places:
        within = {"collection": collection} if collection else {}
        do_job(opened, opened.jobs.add("sync", **arguments, **within), as_json=json_)


def compact(library: LibraryOption = None, collection: CollectionOption = None) -> None:
    """Merge the indexes, delete unused data and free disk space."""
    opened = open_library(library, collection)
    if collection:
        opened.collections.get(collection)
    do_job(opened, opened.jobs.add("compact", **({"collection": collection} if collection else {})))


def _say_what_would_change(opened: Library, collection: str | None, *, as_json: bool) -> None:
    from ragkit.indexing.progress import Reporter
    from ragkit.indexing.sync import sync_source

    for source in opened.sources.list(collection):
        report = sync_source(opened.writer(), source, Reporter(), dry_run=True)
        changes = {"new": report.new, "changed": report.changed, "gone": report.removed}
        if as_json:
            more = {"moved": report.moved, "offline": report.offline, "held": report.held}
            console.put_json({"source": source.root, **changes, **more})
            continue
        for before, after in report.moved:
            console.put(f"{'moved':<8}{render.plain(f'{before} → {after}')}")
        for word, paths in changes.items():
            for path in paths:
                console.put(f"{word:<8}{render.plain(path)}")
        console.say(
            report.offline or report.held or f"{source.root}: {report.unchanged} unchanged."
        )
