"""Making the library agree with a source: read what is new or changed, drop what is gone."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from ragkit.catalog.records import CollectionRecord, FileState, KnownFile, SourceRecord
from ragkit.errors import ReadingError, SkippedError, SourceError
from ragkit.indexing.progress import Reporter
from ragkit.indexing.writer import FileToWrite, Writer, draft, hash_file
from ragkit.reading import ReaderPool, ReadOutcome, ReadTask
from ragkit.sources.scan import Changes, Scan, find_changes, scan_folder
from ragkit.types import Reading, Status

_BATCH_CHARACTERS = 2_000_000
_BATCH_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did, or would do. ``touched`` files had new times and the same bytes."""

    source: str
    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: int = 0
    indexed: int = 0
    touched: int = 0
    skipped: int = 0
    failed: int = 0
    offline: str = ""
    seconds: float = 0.0


@dataclass
class _Tally:
    indexed: int = 0
    touched: int = 0
    skipped: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class _Job:
    writer: Writer
    source: SourceRecord
    collection: CollectionRecord
    recipe: str
    scan: Scan
    known: dict[str, KnownFile]
    reporter: Reporter
    tally: _Tally = field(default_factory=_Tally)


def plan_sync(writer: Writer, source: SourceRecord) -> tuple[Scan, Changes, dict[str, KnownFile]]:
    """Look at a source and say what has changed, without changing anything.

    Raises:
        SourceError: when the folder is gone or empty after having had files.
    """
    collection = writer.catalog.collections.get(source.collection)
    known = writer.catalog.documents.known_files(source.id)
    scan = scan_folder(Path(source.root), gitignore=writer.settings.sources.gitignore)
    if not scan.files and known and source.kind == "folder":
        raise SourceError(
            f"The folder {source.root} is empty, but {len(known)} documents came from it.",
            "If that is right, remove the source; else connect the drive and sync again.",
        )
    recipe = writer.recipe(collection)
    stale = frozenset(
        path
        for path, file in known.items()
        if file.status is Status.PENDING or (file.recipe != recipe and file.hash)
    )
    before = {path: (file.size, file.mtime_ns) for path, file in known.items()}
    return scan, find_changes(scan, before, stale=stale), known


def sync_source(
    writer: Writer, source: SourceRecord, reporter: Reporter, *, dry_run: bool = False
) -> SyncReport:
    """Make the library agree with one source. What is gone is removed last."""
    started = time.perf_counter()
    catalog = writer.catalog
    try:
        scan, changes, known = plan_sync(writer, source)
    except SourceError as error:
        if not dry_run:
            catalog.collections.set_source_state(source.id, "offline", str(error))
        return SyncReport(source.root, offline=str(error))
    report = SyncReport(source.root, changes.new, changes.changed, changes.gone, changes.unchanged)
    if dry_run:
        return report
    collection = catalog.collections.get(source.collection)
    job = _Job(writer, source, collection, writer.recipe(collection), scan, known, reporter)
    _read_and_write(job, changes)
    if changes.gone:
        reporter.start("Removing", len(changes.gone))
        catalog.documents.remove([known[path].document_id for path in changes.gone])
    catalog.collections.set_source_state(source.id, "ready", _unreadable(scan))
    tally = job.tally
    return replace(
        report,
        indexed=tally.indexed,
        touched=tally.touched,
        skipped=tally.skipped,
        failed=tally.failed,
        seconds=time.perf_counter() - started,
    )


def _unreadable(scan: Scan) -> str:
    if not scan.unreadable:
        return ""
    names = ", ".join(scan.unreadable[:3])
    return f"{len(scan.unreadable)} folders could not be opened: {names}."


def _read_and_write(job: _Job, changes: Changes) -> None:
    waiting = (*changes.new, *changes.changed)
    if not waiting:
        return
    states = [_state(job.scan, path) for path in changes.new]
    job.writer.catalog.documents.add_pending(job.source.id, job.collection.id, states)
    job.reporter.start("Reading", len(waiting))
    prepared: dict[int, FileToWrite] = {}
    tasks = _tasks(job, waiting, prepared)
    with ReaderPool(job.writer.settings.reading) as pool:
        for batch in _batches(pool.read(tasks), job, prepared):
            _write(job, batch)


def _tasks(job: _Job, paths: Iterable[str], prepared: dict[int, FileToWrite]) -> Iterator[ReadTask]:
    """Hash each file, settle those whose bytes are known, and pass the others on."""
    root = Path(job.source.root)
    most_bytes = job.writer.settings.reading.max_file_mb * 1_000_000
    for key, path in enumerate(paths):
        file = _state(job.scan, path)
        known = job.known.get(path)
        try:
            content_hash = hash_file(root / path) if file.size <= most_bytes else ""
        except OSError as error:
            _fail(job, file, ReadingError(*_unopened(error)))
            continue
        if (
            known is not None
            and known.hash == content_hash != ""
            and known.recipe == job.recipe
            and known.status is not Status.PENDING
        ):
            job.writer.catalog.documents.touch(known.document_id, file)
            job.tally.touched += 1
            job.reporter.step(path)
            continue
        prepared[key] = FileToWrite(
            job.source.id, job.collection.id, file, content_hash, job.recipe, 0.0
        )
        yield ReadTask(key=key, path=root / path, name=path)


def _batches(
    outcomes: Iterable[ReadOutcome], job: _Job, prepared: dict[int, FileToWrite]
) -> Iterator[list[tuple[FileToWrite, Reading]]]:
    """Group readings so that embedding is efficient and nothing waits long to be searchable."""
    batch: list[tuple[FileToWrite, Reading]] = []
    characters, begun = 0, time.monotonic()
    for outcome in outcomes:
        one = replace(prepared.pop(outcome.key), seconds=outcome.seconds)
        if outcome.error is not None or outcome.reading is None:
            error = outcome.error or ReadingError("Nothing was read.", "Try again.")
            _fail(job, one.file, error, one)
            continue
        batch.append((one, outcome.reading))
        characters += len(outcome.reading.text)
        if characters >= _BATCH_CHARACTERS or time.monotonic() - begun >= _BATCH_SECONDS:
            yield batch
            batch, characters, begun = [], 0, time.monotonic()
    if batch:
        yield batch


def _write(job: _Job, batch: list[tuple[FileToWrite, Reading]]) -> None:
    pipeline = job.writer.pipeline(job.writer.chunking(job.collection))
    processed = pipeline.run([reading for _, reading in batch])
    for (one, _), result in zip(batch, processed, strict=True):
        job.writer.catalog.documents.put(draft(one, result), job.writer.embedder_id)
        job.tally.indexed += 1
        job.reporter.step(one.file.path)


def _fail(job: _Job, file: FileState, error: ReadingError, one: FileToWrite | None = None) -> None:
    skipped = isinstance(error, SkippedError)
    job.writer.catalog.documents.set_outcome(
        job.source.id,
        job.collection.id,
        file,
        Status.SKIPPED if skipped else Status.FAILED,
        str(error),
        content_hash=one.content_hash if one else "",
        recipe=job.recipe,
    )
    if skipped:
        job.tally.skipped += 1
    else:
        job.tally.failed += 1
    job.reporter.step(file.path, failed=0 if skipped else 1)


def _state(scan: Scan, path: str) -> FileState:
    found = scan.files[path]
    return FileState(found.path, found.size, found.mtime_ns)


def _unopened(error: OSError) -> tuple[str, str]:
    return (
        f"The file could not be opened: {(error.strerror or 'unknown reason').lower()}.",
        "Check that it is there and that you may read it, then retry.",
    )
