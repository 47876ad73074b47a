"""Syncing a source: files that are new or changed are read, those that are gone are removed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ragkit.catalog.records import CollectionRecord, FileState, KnownFile, SourceRecord
from ragkit.errors import SkippedError, SourceError
from ragkit.indexing.progress import Reporter
from ragkit.indexing.writer import Writer, hash_file, pipeline_fingerprint
from ragkit.sources.scan import Changes, Scan, find_changes, scan_folder, scan_paths
from ragkit.types import Markup, Status

if TYPE_CHECKING:
    from ragkit.indexing.ingest import Ingest


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did, or would do.

    ``touched`` files had new times and the same bytes; ``unsettled`` ones were being written.
    """

    source: str
    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    unchanged: int = 0
    indexed: int = 0
    touched: int = 0
    skipped: int = 0
    failed: int = 0
    unsettled: int = 0
    offline: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """What a scan of a source found. ``moved`` maps a new path to the file that it was before."""

    scan: Scan
    changes: Changes
    known: dict[str, KnownFile]
    moved: dict[str, KnownFile]


def plan_sync(
    writer: Writer,
    source: SourceRecord,
    collection: CollectionRecord,
    *,
    paths: Sequence[str] | None = None,
    accept_empty: bool = False,
) -> SyncPlan:
    """Scan a source, or some paths of it, without changing anything.

    Raises:
        SourceError: when the folder is gone, or empty after having had files.
    """
    root = Path(source.root)
    known = writer.catalog.documents.known_files(source.id)
    gitignore = writer.settings.sources.gitignore
    if paths is None:
        scan = scan_folder(root, gitignore=gitignore)
        if not scan.files and known and source.kind == "folder" and not accept_empty:
            raise SourceError(
                f"The folder {source.root} is empty, but {len(known)} documents came from it.",
                "Connect the drive and sync again, or say that it is right: "
                "ragkit sync --accept-empty.",
            )
    else:
        if not root.is_dir():
            raise SourceError(
                f"The folder {source.root} is not there.", "Connect the drive, or remove it here."
            )
        scan = scan_paths(root, paths, gitignore=gitignore)
        inside = tuple(f"{path}/" for path in paths)
        known = {p: file for p, file in known.items() if p in paths or p.startswith(inside)}
    fingerprint = pipeline_fingerprint(writer.settings, collection)
    stale = frozenset(
        path
        for path, file in known.items()
        if file.status is Status.PENDING or (file.pipeline_fingerprint != fingerprint and file.hash)
    )
    before = {path: (file.size, file.mtime_ns) for path, file in known.items()}
    changes = find_changes(scan, before, stale=stale)
    unnameable = set(scan.unnameable)
    changes = replace(changes, gone=tuple(p for p in changes.gone if p not in unnameable))
    return SyncPlan(scan, changes, known, _moved(root, scan, changes, known))


def _moved(
    root: Path, scan: Scan, changes: Changes, known: dict[str, KnownFile]
) -> dict[str, KnownFile]:
    """Return the new files that hold the bytes of files that are gone: these were moved."""
    gone: dict[int, list[KnownFile]] = {}
    for path in changes.gone:
        if known[path].hash:
            gone.setdefault(known[path].size, []).append(known[path])
    moved: dict[str, KnownFile] = {}
    for path in changes.new if gone else ():
        same_size = gone.get(scan.files[path].size, [])
        if not same_size:
            continue
        try:
            content = hash_file(root / path)
        except OSError:
            continue
        name = PurePosixPath(path).name
        twins = [file for file in same_size if file.hash == content]
        twins.sort(key=lambda file: (PurePosixPath(file.path).name != name, file.path))
        if twins:
            moved[path] = twins[0]
            same_size.remove(twins[0])
    return moved


def sync_source(
    writer: Writer,
    source: SourceRecord,
    reporter: Reporter,
    *,
    paths: Sequence[str] | None = None,
    dry_run: bool = False,
    accept_empty: bool = False,
) -> SyncReport:
    """Bring the library up to date with one source, or with some paths of it.

    Documents of files that are gone are removed last: a successor is there before.
    """
    started = time.perf_counter()
    catalog = writer.catalog
    collection = catalog.collections.get(source.collection)
    reporter.start("Looking", 0)
    try:
        plan = plan_sync(writer, source, collection, paths=paths, accept_empty=accept_empty)
    except SourceError as error:
        if not dry_run:
            catalog.collections.set_source_state(source.id, "offline", str(error))
        return SyncReport(source.root, offline=str(error))
    moved_away = {file.path for file in plan.moved.values()}
    report = SyncReport(
        source.root,
        new=tuple(path for path in plan.changes.new if path not in plan.moved),
        changed=plan.changes.changed,
        removed=tuple(path for path in plan.changes.gone if path not in moved_away),
        moved=tuple((file.path, path) for path, file in sorted(plan.moved.items())),
        unchanged=plan.changes.unchanged,
    )
    if dry_run:
        return report
    if plan.changes.nothing and not plan.scan.unnameable:
        catalog.collections.set_source_state(source.id, "ready", _unreadable(plan.scan))
        return replace(report, seconds=time.perf_counter() - started)
    from ragkit.indexing.ingest import Ingest

    again = _read_again(plan)
    known = _follow_moves(writer, plan, again)
    ingest = Ingest(writer, source, collection, known, reporter)
    _skip_unnameable(ingest, plan)
    states = [_state(plan.scan, path) for path in (*plan.changes.new, *plan.changes.changed)]
    ingest.run(states, again=again)
    if report.removed:
        reporter.start("Removing", len(report.removed))
        catalog.documents.remove([plan.known[path].document_id for path in report.removed])
    catalog.collections.set_source_state(source.id, "ready", _unreadable(plan.scan))
    return replace(report, **asdict(ingest.tally), seconds=time.perf_counter() - started)


def _follow_moves(writer: Writer, plan: SyncPlan, again: frozenset[str]) -> dict[str, KnownFile]:
    known = dict(plan.known)
    for path, file in plan.moved.items():
        writer.catalog.documents.rename(file.document_id, path, stale=path in again)
        known.pop(file.path, None)
        known[path] = replace(file, path=path)
    return known


def _read_again(plan: SyncPlan) -> frozenset[str]:
    """Return the moved files whose path or name is part of their indexed text."""
    return frozenset(
        path
        for path, file in plan.moved.items()
        if file.markup == Markup.CODE or PurePosixPath(path).name != PurePosixPath(file.path).name
    )


def _skip_unnameable(ingest: Ingest, plan: SyncPlan) -> None:
    for path in plan.scan.unnameable:
        if path not in plan.known:
            ingest.refuse(
                FileState(path, 0, 0),
                SkippedError("Its name is not valid text.", "Rename it."),
            )


def _state(scan: Scan, path: str) -> FileState:
    file = scan.files[path]
    return FileState(file.path, file.size, file.mtime_ns)


def _unreadable(scan: Scan) -> str:
    if not scan.unreadable:
        return ""
    names = ", ".join(scan.unreadable[:3])
    return f"{len(scan.unreadable)} folders could not be opened: {names}."
