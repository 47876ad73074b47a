"""Reads files and writes them into the catalog in batches."""

from __future__ import annotations

import gc
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ragkit.catalog.records import (
    CollectionRecord,
    DocumentDraft,
    KnownFile,
    SourceRecord,
)
from ragkit.errors import (
    CatalogError,
    PassingError,
    RagkitError,
    ReadingError,
    SkippedError,
    UnstorableError,
    is_lack_of_memory,
)
from ragkit.indexing.preparation import ReadFile, build_processor, unpack
from ragkit.indexing.progress import Reporter
from ragkit.indexing.writer import Writer, chunk_settings, hash_file, pipeline_fingerprint
from ragkit.reading import PostProcessor, ReadOutcome, ReadTask, open_readers
from ragkit.reading.limits import uncut
from ragkit.reading.pdf import ocr_files
from ragkit.sources.opening import UnsettledError, ask_disk
from ragkit.sources.scan import file_state
from ragkit.types import FileState, Level, Status

logger = logging.getLogger(__name__)

_BATCH_CHARACTERS = 2_000_000
_BATCH_SECONDS = 0.1
_GROUP, _GROUP_CHARACTERS = 16, 200_000
_LEAST_UNSAVED, _UNSAVED_SHARE = 5000, 0.5
"""The index is saved after at least this many new chunks, and this share of the older ones."""


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
        self._unsaved = 0
        self.tally = Tally()

    def run(self, files: Sequence[FileState], *, again: frozenset[str] = frozenset()) -> None:
        """Read and write the files that have changed, and those named in ``again``."""
        if not files:
            return
        fresh = [file for file in files if file.path not in self._known]
        self._writer.catalog.files.add_pending(self._source.id, self._collection.id, fresh)
        self._reporter.start("Reading", len(files))
        # Importing takes seconds; meanwhile other processes read the first files.
        importing = threading.Thread(target=import_pipeline, name="ragkit-import", daemon=True)
        importing.start()
        self._is_ready = lambda: not importing.is_alive()
        sizes = chunk_settings(self._writer.settings, self._collection).model_dump()
        processor = PostProcessor(build_processor, sizes)
        with open_readers(self._writer.settings.reading, processor, len(files)) as pool:
            for batch in self._batches(pool.read(self._tasks(files, again))):
                self._write(batch)
                self._save_as_it_grows()

    def refuse(self, file: FileState, error: ReadingError, content_hash: str = "") -> None:
        """Record why a file was skipped or could not be read.

        After a passing error, a document that is indexed already stays searchable.
        """
        skipped = isinstance(error, SkippedError)
        self._writer.catalog.files.set_outcome(
            self._source.id,
            self._collection.id,
            file,
            Status.SKIPPED if skipped else Status.FAILED,
            str(error),
            content_hash=content_hash,
            pipeline_fingerprint=self._fingerprint,
            passing=isinstance(error, PassingError),
        )
        self.tally.skipped += skipped
        self.tally.failed += not skipped
        self._reporter.step(file.path, failed=not skipped)

    def _tasks(self, files: Sequence[FileState], again: frozenset[str]) -> Iterator[ReadTask]:
        """Hash each file; yield a task for each one whose content has changed."""
        most_bytes = self._writer.settings.reading.max_file_mb * 1_000_000
        folder = self._writer.paths.ocr
        recognised = set(ocr_files.kept(folder).values())
        for key, file in enumerate(files):
            path = self._root / file.path
            try:
                content_hash = self._hash(path, file) if file.size <= most_bytes else ""
            except (FileNotFoundError, UnsettledError):
                self._leave(file)
                continue
            except OSError as error:
                self.refuse(file, _unopened(error))
                continue
            if file.path not in again and self._is_unchanged(file, content_hash):
                self._writer.catalog.files.touch(self._known[file.path].document_id, file)
                self.tally.touched += 1
                self._reporter.step(file.path)
                continue
            self._hashed[key] = file, content_hash
            text = ocr_files.recognised(folder, content_hash) if content_hash in recognised else b""
            yield ReadTask(key, path, file.path, file.size, text)

    def _hash(self, path: Path, file: FileState) -> str:
        return ask_disk(self._root, partial(hash_file, path, file.size))

    def _is_unchanged(self, file: FileState, content_hash: str) -> bool:
        before = self._known.get(file.path)
        return (
            before is not None
            and content_hash != ""
            and before.hash == content_hash
            and before.pipeline_fingerprint == self._fingerprint
            and (before.status is Status.INDEXED or before.retry_at is None)
        )

    def _batches(self, outcomes: Iterable[ReadOutcome]) -> Iterator[list[ReadFile]]:
        """Group files so that embedding is efficient and no file waits long to be searchable."""
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
        """Return the file as read, or ``None`` after recording why there is nothing to write."""
        (state, content_hash), result = self._hashed.pop(outcome.key), outcome.result
        if not self._stood_still(state):
            self._leave(state)
        elif isinstance(result, ReadingError):
            self.refuse(state, result, content_hash)
        else:
            try:
                document = unpack(result.made, result.data, result.reading)
            except ValueError:
                self.refuse(state, uncut(), content_hash)
                return None
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
        """Return whether the file is unchanged since the scan and not still being written."""
        try:
            status = ask_disk(self._root, lambda _step: (self._root / file.path).lstat())
        except OSError:
            return False
        now = file_state(file.path, status, device=0)
        return (now.size, now.mtime_ns) == (file.size, file.mtime_ns)

    def _leave(self, file: FileState) -> None:
        """Leave a file that is changing or was just deleted to the next sync."""
        self.tally.unsettled += 1
        self._reporter.step(file.path)

    def _write(self, batch: list[ReadFile]) -> None:
        # Sorted by path, so that documents with equal scores rank in a stable order.
        batch = sorted(batch, key=lambda file: file.state.path)
        for group in _groups(self._made(batch)):
            self._store(group)

    def _save_as_it_grows(self) -> None:
        """Save the index once it has grown by half: unsaved entries slow down searches."""
        if self._unsaved < _LEAST_UNSAVED:
            return
        entries = self._writer.catalog.entries.count(self._collection.id, [Level.CHUNK])
        if self._unsaved > _UNSAVED_SHARE * (entries - self._unsaved):
            self._writer.indexes.save(self._collection)
            self._unsaved = 0

    def _made(self, batch: list[ReadFile]) -> Sequence[DocumentDraft]:
        """Return the pipeline's drafts; a file that it cannot process fails alone."""
        try:
            return self._writer.pipeline.run(batch)
        except RagkitError:
            raise
        except Exception as error:
            if is_lack_of_memory(error):
                raise
            if len(batch) > 1:
                return [draft for file in batch for draft in self._made([file])]
            logger.exception("%s could not be indexed", batch[0].state.path)
            cure = "Leave it out of the library, and report what the log says."
            failed = ReadingError("The file's text could not be indexed.", cure)
            self.refuse(batch[0].state, failed, batch[0].content_hash)
            return []

    def _store(self, drafts: Sequence[DocumentDraft]) -> None:
        """Write documents in one transaction; if that fails, each in a transaction of its own."""
        documents, embedder = self._writer.catalog.documents, self._writer.embedder_id
        try:
            documents.put_many(drafts, embedder)
        except CatalogError:
            for draft in drafts:
                try:
                    documents.put_many([draft], embedder)
                except UnstorableError as error:
                    state = FileState(draft.path, draft.size, draft.mtime_ns, draft.stamp)
                    self.refuse(state, ReadingError(error.message, error.cure), draft.hash)
                else:
                    self._count(draft)
            return
        for draft in drafts:
            self._count(draft)

    def _count(self, draft: DocumentDraft) -> None:
        self.tally.indexed += 1
        self._unsaved += len(draft.chunks)
        self._reporter.step(draft.path)


def _groups(drafts: Sequence[DocumentDraft]) -> Iterator[Sequence[DocumentDraft]]:
    """Group documents into short transactions, since other writers wait for each of them."""
    group: list[DocumentDraft] = []
    for draft in drafts:
        group.append(draft)
        if len(group) >= _GROUP or sum(len(draft.text) for draft in group) >= _GROUP_CHARACTERS:
            yield group
            group = []
    if group:
        yield group


def _unopened(error: OSError) -> ReadingError:
    return PassingError(
        f"The file could not be opened: {(error.strerror or 'unknown reason').lower()}.",
        "Check that you may read it; it will be retried automatically.",
    )


def import_pipeline() -> None:
    """Import the pipeline in advance, which takes seconds."""
    if "ragkit.indexing.pipeline" in sys.modules:
        return
    collects = gc.isenabled()
    # Modules are never freed; collecting garbage meanwhile takes a sixth of the time.
    gc.disable()
    try:
        import ragkit.indexing.pipeline  # noqa: F401
    finally:
        gc.freeze()
        if collects:
            gc.enable()
