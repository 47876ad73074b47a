"""Syncs a source: reads new and changed files, and removes documents of missing ones."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ragkit.catalog.records import CollectionRecord, KnownFile, SourceRecord
from ragkit.catalog.retries import is_due
from ragkit.errors import SkippedError, SourceError
from ragkit.formatting import shortened
from ragkit.indexing.names import folder_tokens
from ragkit.indexing.progress import Reporter
from ragkit.indexing.removals import Removals, weigh
from ragkit.indexing.writer import Writer, hash_file, pipeline_fingerprint
from ragkit.sources.opening import ask_disk
from ragkit.sources.scan import Changes, Scan, find_changes, scan_folder, scan_paths
from ragkit.types import FileState, Markup

if TYPE_CHECKING:
    from ragkit.indexing.ingest import Ingest


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did, or would do.

    ``touched`` files had new times but the same bytes; ``unsettled`` files were being written.
    ``held`` says which documents of missing files are kept, ``offline`` why nothing was done.
    """

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
    held: str = ""


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """What a sync has to do. ``moved`` maps a new path to the file that had another path before."""

    scan: Scan
    changes: Changes
    known: dict[str, KnownFile]
    moved: dict[str, KnownFile]
    removals: Removals

    @property
    def nothing(self) -> bool:
        """Whether there is nothing to do."""
        changes = self.changes
        return not (changes.new or changes.changed or self.removals.removed or self.scan.unnameable)


def plan_sync(
    writer: Writer,
    source: SourceRecord,
    collection: CollectionRecord,
    *,
    paths: Sequence[str] | None,
    accept_removals: bool,
) -> SyncPlan:
    """Scan a source, or some paths of it, without changing anything.

    Raises:
        SourceError: the folder is missing.
    """
    root = Path(source.root)
    all_files = writer.catalog.files.known(source.id)
    gitignore = writer.settings.sources.gitignore
    if paths is None:
        scan = ask_disk(root, lambda step: scan_folder(root, gitignore=gitignore, step=step))
    else:
        if not ask_disk(root, lambda _step: root.is_dir()):
            raise SourceError(
                f"The folder {source.root} is missing.", "Connect its drive, or remove the folder."
            )
        scan = ask_disk(root, lambda step: scan_paths(root, paths, gitignore=gitignore, step=step))
    chosen = at_or_below(all_files, paths)
    fingerprint = pipeline_fingerprint(writer.settings, collection)
    now = time.time()
    stale = frozenset(
        path
        for path, file in chosen.items()
        if file.is_unread
        or (file.pipeline_fingerprint != fingerprint and file.hash)
        or is_due(file.retry_at, now)
    )
    changes = find_changes(scan, {path: file.state for path, file in chosen.items()}, stale=stale)
    unnameable = set(scan.unnameable)
    changes = replace(changes, gone=tuple(p for p in changes.gone if p not in unnameable))
    moved = _moved(root, scan, changes, chosen)
    away = {file.path for file in moved.values()}
    gone = tuple(path for path in changes.gone if path not in away)
    whole = paths is None and source.kind == "folder"
    removals = Removals(gone)
    if gone and not accept_removals:
        removals = ask_disk(root, lambda _step: weigh(root, scan, all_files, gone, whole=whole))
    return SyncPlan(scan, changes, chosen, moved, removals)


def at_or_below(
    files: Mapping[str, KnownFile], paths: Sequence[str] | None
) -> dict[str, KnownFile]:
    """Return the files at these paths or in these folders; ``None``: all files."""
    if paths is None:
        return dict(files)
    chosen, inside = frozenset(paths), tuple(f"{path}/" for path in paths)
    return {p: file for p, file in files.items() if p in chosen or p.startswith(inside)}


def _moved(
    root: Path, scan: Scan, changes: Changes, files: dict[str, KnownFile]
) -> dict[str, KnownFile]:
    """Return the new files with the content of missing files: these were moved."""
    gone: dict[int, list[KnownFile]] = {}
    for path in changes.gone:
        if files[path].hash:
            gone.setdefault(files[path].state.size, []).append(files[path])
    moved: dict[str, KnownFile] = {}
    for path in changes.new if gone else ():
        same_size = gone.get(scan.files[path].size, [])
        if not same_size:
            continue
        try:
            content = ask_disk(root, partial(hash_file, root / path, scan.files[path].size))
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
    accept_removals: bool = False,
) -> SyncReport:
    """Bring the library up to date with one source, or with some paths of it.

    Documents of missing files are removed last, after their successors were added. A source with
    documents held back is always scanned as a whole, so that the hold ends when the files are back.
    """
    collections = writer.catalog.collections
    collection = collections.of_id(source.collection_id)
    reporter.start("Looking", 0)
    try:
        plan = plan_sync(
            writer,
            source,
            collection,
            paths=None if source.state == "held" else paths,
            accept_removals=accept_removals,
        )
        report = _report(plan)
        if dry_run:
            return report
        if not plan.nothing:
            report = _carry_out(writer, source, collection, plan, report, reporter)
    except SourceError as error:
        if not dry_run:
            collections.set_source_state(source.id, "offline", str(error))
        return SyncReport(offline=str(error))
    notes = [note for note in (report.held, _unreadable(plan.scan)) if note]
    collections.set_source_state(source.id, "held" if report.held else "ready", " ".join(notes))
    return report


def _report(plan: SyncPlan) -> SyncReport:
    return SyncReport(
        new=tuple(path for path in plan.changes.new if path not in plan.moved),
        changed=plan.changes.changed,
        removed=plan.removals.removed,
        moved=tuple((file.path, path) for path, file in sorted(plan.moved.items())),
        unchanged=plan.changes.unchanged,
        held=plan.removals.reason,
    )


def _carry_out(
    writer: Writer,
    source: SourceRecord,
    collection: CollectionRecord,
    plan: SyncPlan,
    report: SyncReport,
    reporter: Reporter,
) -> SyncReport:
    from ragkit.indexing.ingest import Ingest

    again = _read_again(plan)
    files = _follow_moves(writer, plan, again)
    ingest = Ingest(writer, source, collection, files, reporter)
    _skip_unnameable(ingest, plan)
    paths = (*plan.changes.new, *plan.changes.changed)
    ingest.run([plan.scan.files[path] for path in paths], again=again)
    if report.removed:
        reporter.start("Removing", len(report.removed))
        writer.catalog.documents.remove([plan.known[path].document_id for path in report.removed])
    return replace(report, **asdict(ingest.tally))


def _follow_moves(writer: Writer, plan: SyncPlan, again: frozenset[str]) -> dict[str, KnownFile]:
    files = dict(plan.known)
    for path, file in plan.moved.items():
        folders = None if path in again else folder_tokens(path)
        writer.catalog.documents.rename(file.document_id, path, folders)
        files.pop(file.path, None)
        files[path] = replace(file, state=replace(file.state, path=path))
    return files


def _read_again(plan: SyncPlan) -> frozenset[str]:
    """Return the moved files that must be read again: not only their folders have changed."""
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


def _unreadable(scan: Scan) -> str:
    if not scan.unreadable:
        return ""
    names = ", ".join(shortened(path) for path in scan.unreadable[:3])
    return f"{len(scan.unreadable)} folders could not be opened: {names}."
