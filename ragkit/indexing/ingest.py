"""Reading files and writing them into the catalog, a batch at a time."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragkit.catalog.records import (
    CollectionRecord,
    DocumentDraft,
    FileState,
    KnownFile,
    SourceRecord,
)
from ragkit.errors import CatalogError, ReadingError, SkippedError
from ragkit.indexing.preparation import PreparedDocument, build_processor, unpack
from ragkit.indexing.progress import Reporter
from ragkit.indexing.writer import ReadFile, Writer, chunk_settings, hash_file, pipeline_fingerprint
from ragkit.reading import PostProcessor, ReaderPool, ReadOutcome, ReadTask
from ragkit.reading.limits import uncut
from ragkit.types import Status

_BATCH_CHARACTERS = 2_000_000
_BATCH_SECONDS = 0.1
_GROUP, _GROUP_CHARACTERS = 16, 200_000


@dataclass
class Tally:
    """Counts of files by outcome. ``unsettled`` ones changed while they were read."""

    indexed: int = 0
    touched: int = 0
    skipped: int = 0
    failed: int = 0
    unsettled: int = 0


class Ingest:
    """Reads files of one source and writes them into the catalog."""

    def __init__(
        self,
        writer: Writer,
        source: SourceRecord,
        collection: CollectionRecord,
        known: Mapping[str, KnownFile],
        reporter: Reporter,
    ) -> None:
        self._writer = writer
        self._source = source
        self._collection = collection
        self._known = known
        self._reporter = reporter
        self._fingerprint = pipeline_fingerprint(writer.settings, collection)
        self._root = Path(source.root)
        self._hashed: dict[int, tuple[FileState, str]] = {}
        self._is_ready: Callable[[], bool] = lambda: True
        self.tally = Tally()

    def run(self, files: Sequence[FileState], *, again: frozenset[str] = frozenset()) -> None:
        """Read the files that need it and write them; ``again`` names those always read."""
        if not files:
            return
        fresh = [file for file in files if file.path not in self._known]
        self._writer.catalog.documents.add_pending(self._source.id, self._collection.id, fresh)
        self._reporter.start("Reading", len(files))
        # Importing takes seconds; meanwhile other processes read the first files.
        importing = threading.Thread(target=import_pipeline, name="ragkit-import", daemon=True)
        importing.start()
        self._is_ready = lambda: not importing.is_alive()
        sizes = chunk_settings(self._writer.settings, self._collection).model_dump()
        processor = PostProcessor(build_processor, sizes)
        with ReaderPool(self._writer.settings.reading, processor) as pool:
            for batch in self._batches(pool.read(self._tasks(files, again))):
                self._write(batch)

    def refuse(self, file: FileState, error: ReadingError, content_hash: str = "") -> None:
        """Record that a file was skipped or could not be read, and why."""
        skipped = isinstance(error, SkippedError)
        self._writer.catalog.documents.set_outcome(
            self._source.id,
            self._collection.id,
            file,
            Status.SKIPPED if skipped else Status.FAILED,
            str(error),
            content_hash=content_hash,
            pipeline_fingerprint=self._fingerprint,
        )
        if skipped:
            self.tally.skipped += 1
        else:
            self.tally.failed += 1
        self._reporter.step(file.path, failed=0 if skipped else 1)

    def _tasks(self, files: Sequence[FileState], again: frozenset[str]) -> Iterator[ReadTask]:
        """Hash each file, settle those with the bytes of before, and yield the others."""
        most_bytes = self._writer.settings.reading.max_file_mb * 1_000_000
        for key, file in enumerate(files):
            path = self._root / file.path
            try:
                content_hash = hash_file(path) if file.size <= most_bytes else ""
            except FileNotFoundError:
                self._leave(file)
                continue
            except OSError as error:
                self.refuse(file, _unopened(error))
                continue
            if file.path not in again and self._is_unchanged(file, content_hash):
                self._writer.catalog.documents.touch(self._known[file.path].document_id, file)
                self.tally.touched += 1
                self._reporter.step(file.path)
                continue
            self._hashed[key] = file, content_hash
            yield ReadTask(key=key, path=path, name=file.path, size=file.size)

    def _is_unchanged(self, file: FileState, content_hash: str) -> bool:
        before = self._known.get(file.path)
        return (
            before is not None
            and content_hash != ""
            and before.hash == content_hash
            and before.pipeline_fingerprint == self._fingerprint
            and before.status is not Status.PENDING
        )

    def _batches(self, outcomes: Iterable[ReadOutcome]) -> Iterator[list[ReadFile]]:
        """Group files so that embedding is efficient and no file waits long to be found."""
        batch: list[ReadFile] = []
        characters, begun = 0, time.monotonic()
        for outcome in outcomes:
            file = self._read_file(outcome)
            if file is not None:
                batch.append(file)
                characters += len(file.document.reading.text)
            late = time.monotonic() - begun >= _BATCH_SECONDS
            if batch and (characters >= _BATCH_CHARACTERS or (late and self._is_ready())):
                yield batch
                batch, characters, begun = [], 0, time.monotonic()
        if batch:
            yield batch

    def _read_file(self, outcome: ReadOutcome) -> ReadFile | None:
        """Return what was read, or record why there is nothing to write."""
        state, content_hash = self._hashed.pop(outcome.key)
        if not self._stood_still(state):
            self._leave(state)
        elif outcome.reading is None:
            error = outcome.error or ReadingError("Nothing was read.", "Try again.")
            self.refuse(state, error, content_hash)
        elif (document := _prepared(outcome, state.path)) is None:
            self.refuse(state, uncut(), content_hash)
        else:
            return ReadFile(
                self._source.id,
                self._collection.id,
                state,
                content_hash,
                self._fingerprint,
                document,
                outcome.seconds,
            )
        return None

    def _stood_still(self, file: FileState) -> bool:
        """Return whether the file is as the scan saw it: no half-written file is indexed."""
        try:
            status = (self._root / file.path).lstat()
        except OSError:
            return False
        return (status.st_size, status.st_mtime_ns) == (file.size, file.mtime_ns)

    def _leave(self, file: FileState) -> None:
        """Leave a file that changes or has just gone to the next sync."""
        self.tally.unsettled += 1
        self._reporter.step(file.path)

    def _write(self, batch: list[ReadFile]) -> None:
        # Files come as they are read; in the order of their paths, equal scores rank alike.
        batch = sorted(batch, key=lambda file: file.state.path)
        for group in _groups(self._writer.pipeline.run(batch)):
            self._store(group)

    def _store(self, drafts: Sequence[DocumentDraft]) -> None:
        """Write documents in one transaction; if that fails, each in its own."""
        documents, embedder = self._writer.catalog.documents, self._writer.embedder_id
        try:
            documents.put_many(drafts, embedder)
        except CatalogError:
            for draft in drafts:
                documents.put_many([draft], embedder)
        for draft in drafts:
            self.tally.indexed += 1
            self._reporter.step(draft.path)


def _groups(drafts: Sequence[DocumentDraft]) -> Iterator[Sequence[DocumentDraft]]:
    """Group documents into transactions: few in each, since others wait while it lasts."""
    group: list[DocumentDraft] = []
    for draft in drafts:
        group.append(draft)
        if len(group) >= _GROUP or sum(len(draft.text) for draft in group) >= _GROUP_CHARACTERS:
            yield group
            group = []
    if group:
        yield group


def _unopened(error: OSError) -> ReadingError:
    return ReadingError(
        f"The file could not be opened: {(error.strerror or 'unknown reason').lower()}.",
        "Check that you may read it, then retry.",
    )


def _prepared(outcome: ReadOutcome, path: str) -> PreparedDocument | None:
    """Return what a reading process prepared, or ``None`` where its parts do not fit."""
    if outcome.reading is None:
        return None
    try:
        return unpack(outcome.made, outcome.data, outcome.reading, path)
    except ValueError:
        return None


def import_pipeline() -> None:
    """Import the pipeline before it is needed, which takes seconds."""
    if "ragkit.indexing.pipeline" in sys.modules:
        return
    collects = gc.isenabled()
    # Modules stay: walking them again and again is a sixth of the time.
    gc.disable()
    try:
        import ragkit.indexing.pipeline  # noqa: F401
    finally:
        gc.freeze()
        if collects:
            gc.enable()
