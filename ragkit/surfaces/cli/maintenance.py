"""``ragkit doctor``, ``verify``, ``compact``, ``export``, ``import`` and ``jobs``.

``doctor`` and ``verify`` end with exit code 1 when anything is not well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from ragkit.formatting import plural
from ragkit.health.findings import FIXES, Depth, Finding
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
    wait_for,
)


def doctor(
    library: LibraryOption = None,
    collection: CollectionOption = None,
    json_: JsonOption = False,
    mend: Annotated[bool, typer.Option("--mend", help="Apply the fixes.")] = False,
) -> None:
    """Check the library, and name the fix for each problem."""
    opened = open_library(library, collection)

    def look() -> list[Finding]:
        findings = opened.health.check(Depth.CHECK, collection=collection)
        return [_without_worker(finding) for finding in findings]

    findings = look()
    if mend and _mend(opened, findings):
        findings = look()
    _show(findings, json_)


def verify(
    library: LibraryOption = None, collection: CollectionOption = None, json_: JsonOption = False
) -> None:
    """Check every document, chunk, vector and index entry."""
    _show(open_library(library, collection).health.verify(collection=collection), json_)


def compact(library: LibraryOption = None, collection: CollectionOption = None) -> None:
    """Merge the indexes, delete unused data and free disk space."""
    opened = open_library(library, collection)
    arguments = {"collection": collection} if collection else {}
    if collection:
        opened.collections.get(collection)
    do_job(opened, opened.jobs.add("compact", **arguments))


def jobs(
    library: LibraryOption = None,
    collection: CollectionOption = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=500, help="Maximum number of jobs.")
    ] = 20,
    json_: JsonOption = False,
) -> None:
    """List recent jobs and how they ended, newest first."""
    for job in open_library(library, collection).jobs.recent(limit):
        if json_:
            console.put_json(asdict(job))
        else:
            when = datetime.fromtimestamp(job.created_at).astimezone()
            console.put(
                f"{job.id:>6}  {when:%Y-%m-%d %H:%M}  {job.state.value:<9}  {job.kind:<16}  "
                f"{render.plain(job.message)}".rstrip()
            )


def export_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The ZIP archive to write.")],
    library: LibraryOption = None,
    collection: CollectionOption = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Export the whole library: texts, vectors, settings, uploads."""
    opened = open_library(library, collection)
    report = opened.export(file, overwrite=force)
    console.say(
        *report.notes,
        f"Wrote {file}: {plural(report.documents, 'document')}, "
        f"{plural(report.uploads, 'uploaded file')}, {report.size / 1e6:.1f} MB.",
    )


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An archive made by ragkit export.")],
    library: LibraryOption = None,
    collection: CollectionOption = None,
) -> None:
    """Create a library from an archive. An existing library is never overwritten."""
    from ragkit.health.backup import import_library

    settings = load_settings(library=library, collection=collection)
    report = import_library(file, settings.library, settings)
    console.say(*report.notes)
    for source in open_library(library, collection).sources.list():
        if source.kind == "folder":
            console.say(f"Watching the folder {source.root}.")
    console.say(
        f"Imported {plural(report.documents, 'document')} and "
        f"{plural(report.uploads, 'uploaded file')} to {settings.library}."
    )


def _without_worker(finding: Finding) -> Finding:
    """Name what this command can do instead of a worker, which would outlive it."""
    if finding.fix != "worker":
        return finding
    return replace(finding, fix="start ragkit serve or ragkit worker" if finding.ok else "sync")


def _mend(library: Library, findings: Sequence[Finding]) -> bool:
    """Do each mend that is printed once, in the order found; returns whether anything was done."""
    fixes = dict.fromkeys(finding.fix for finding in findings if finding.fix in FIXES)
    for name in fixes:
        console.say(f"Fixing: {name}")
        job_id = library.health.fix(name)
        if job_id is not None:
            wait_for(library, job_id)
    return bool(fixes)


def _show(findings: Sequence[Finding], json_: bool) -> None:
    bad = sum(not finding.ok for finding in findings)
    if json_:
        console.put_json({"ok": not bad, "findings": [finding.as_json() for finding in findings]})
    else:
        for finding in findings:
            fix = f"  [{finding.fix}]" if finding.fix else ""
            mark = "ok  " if finding.ok else "FAIL"
            console.put(f"{mark}  {finding.name:<10} {render.plain(finding.sentence + fix)}")
        console.say(f"{bad} of {len(findings)} checks failed." if bad else "All checks passed.")
    if bad:
        raise typer.Exit(1)
