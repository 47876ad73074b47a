"""``ragkit doctor``, ``verify``, ``compact``, ``export``, ``import`` and ``jobs``.

``doctor`` and ``verify`` end with exit code 1 when anything is not well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from ragkit.catalog.records import JobRecord
from ragkit.formatting import plural
from ragkit.health.checks import FIXES, Depth, Finding
from ragkit.library import Library
from ragkit.settings import load_settings
from ragkit.surfaces import render
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import (
    CollectionOption,
    JsonOption,
    LibraryOption,
    do_job,
    open_library,
)


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command()(doctor)
    app.command()(verify)
    app.command()(compact)
    app.command()(jobs)
    app.command("export")(export_)
    app.command("import")(import_)


def doctor(
    library: LibraryOption = None,
    collection: CollectionOption = None,
    json_: JsonOption = False,
    mend: Annotated[bool, typer.Option("--mend", help="Do what would mend what is found.")] = False,
) -> None:
    """Look whether everything is well, and say what would mend what is not."""
    opened = open_library(library, collection)
    findings = opened.health.check(Depth.CHECK, collection=collection)
    if mend and _mend(opened, findings):
        findings = opened.health.check(Depth.CHECK, collection=collection)
    _show(findings, json_)


def verify(
    library: LibraryOption = None, collection: CollectionOption = None, json_: JsonOption = False
) -> None:
    """Read the whole library: nothing lost, nothing torn, nothing extra."""
    _show(open_library(library, collection).health.verify(collection=collection), json_)


def compact(library: LibraryOption = None, collection: CollectionOption = None) -> None:
    """Merge the indexes, drop what nothing needs any more, give room back to the disk."""
    opened = open_library(library, collection)
    arguments = {"collection": collection} if collection else {}
    if collection:
        opened.collections.get(collection)
    do_job(opened, opened.jobs.add("compact", **arguments))


def jobs(
    library: LibraryOption = None,
    collection: CollectionOption = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=500, help="Most jobs.")] = 20,
    json_: JsonOption = False,
) -> None:
    """List what was asked for lately and how it ended, the newest first."""
    for job in open_library(library, collection).jobs.recent(limit):
        if json_:
            console.put_json(_job_as_json(job))
        else:
            when = datetime.fromtimestamp(job.created_at).astimezone()
            console.put(
                f"{job.id:>6}  {when:%Y-%m-%d %H:%M}  {job.state.value:<9}  {job.kind:<16}  "
                f"{render.plain(job.message)}".rstrip()
            )


def export_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The archive to write, a ZIP.")],
    library: LibraryOption = None,
    collection: CollectionOption = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file if it is there.")
    ] = False,
) -> None:
    """Write the whole library to one file: texts, vectors, settings, uploads."""
    opened = open_library(library, collection)
    report = opened.export(file, overwrite=force)
    _notes(report.notes)
    console.say(
        f"Wrote {file}: {plural(report.documents, 'document')}, "
        f"{plural(report.uploads, 'uploaded file')}, "
        f"{report.size / 1e6:.1f} MB."
    )


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An archive of ragkit export.")],
    library: LibraryOption = None,
    collection: CollectionOption = None,
) -> None:
    """Make a new library from an archive. A library with contents is never overwritten."""
    from ragkit.health.backup import import_library

    settings = load_settings(library=library, collection=collection)
    report = import_library(file, settings.library, settings)
    _notes(report.notes)
    for source in open_library(library, collection).sources.list():
        if source.kind == "folder":
            console.say(f"It follows the folder {source.root}.")
    console.say(
        f"Imported {plural(report.documents, 'document')} and "
        f"{plural(report.uploads, 'uploaded file')} "
        f"to {settings.library}."
    )


def _mend(library: Library, findings: Sequence[Finding]) -> bool:
    """Do each mend once, in the order found; returns whether anything was done."""
    fixes = dict.fromkeys(
        finding.fix for finding in findings if not finding.ok and finding.fix in FIXES
    )
    for name in fixes:
        console.say(f"Mending: {name}")
        job_id = library.health.fix(name)
        if job_id is not None:
            with console.progress_bar() as watch:
                job = library.jobs.wait(job_id, watch)
            console.say(job.message)
    return bool(fixes)


def _show(findings: Sequence[Finding], json_: bool) -> None:
    bad = sum(not finding.ok for finding in findings)
    if json_:
        console.put_json({"ok": not bad, "findings": [finding.as_json() for finding in findings]})
    else:
        for finding in findings:
            fix = f"  [{finding.fix}]" if finding.fix else ""
            mark = "ok " if finding.ok else "NOT"
            console.put(f"{mark}  {finding.name:<10} {render.plain(finding.sentence + fix)}")
        console.say(f"Not well: {bad} of {len(findings)}." if bad else "All is well.")
    if bad:
        raise typer.Exit(1)


def _notes(notes: Sequence[str]) -> None:
    for note in notes:
        console.say(note)


def _job_as_json(job: JobRecord) -> dict[str, Any]:
    return {**asdict(job), "state": job.state.value}
