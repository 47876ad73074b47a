"""``ragkit doctor`` and ``verify``; they exit with 1 if a check fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import typer

from ragkit.health.findings import FIXES, Depth, Finding
from ragkit.library import Library
from ragkit.surfaces import render
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import (
    CollectionOption,
    JsonOption,
    LibraryOption,
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


def _without_worker(finding: Finding) -> Finding:
    """Replace the fix that starts a worker, since it would outlive this command."""
    if finding.fix != "worker":
        return finding
    return replace(finding, fix="start ragkit serve or ragkit worker" if finding.ok else "sync")


def _mend(library: Library, findings: Sequence[Finding]) -> bool:
    """Apply each fix once, in the order of the findings; return whether there was any."""
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
