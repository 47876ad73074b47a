"""Dropped files: stored in a collection's uploads, each with a line on what became of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING

from ragkit.catalog import Catalog
from ragkit.catalog.uploads import UploadRecord
from ragkit.errors import ReadingError
from ragkit.types import Status

if TYPE_CHECKING:
    from ragkit.catalog.records import SourceRecord
    from ragkit.library.documents import SourceService
    from ragkit.paths import LibraryPaths
    from ragkit.settings import Settings


class UploadState(StrEnum):
    """What has become of a dropped file."""

    WAITING = "waiting"
    INDEXED = "indexed"
    KNOWN = "known"
    SKIPPED = "skipped"
    FAILED = "failed"


_OF_STATUS = {
    Status.PENDING: UploadState.WAITING,
    Status.INDEXED: UploadState.INDEXED,
    Status.SKIPPED: UploadState.SKIPPED,
    Status.FAILED: UploadState.FAILED,
}
_LEFT_OUT = "Hidden and temporary files are not indexed. Give it another name if it should be."


@dataclass(frozen=True, slots=True)
class UploadLine:
    """A dropped file as it stands now.

    ``document_id`` can be opened, 0 for none. ``reason`` says why it is skipped or failed, with
    what to do; of a file that is known already, it is the path that has the same content.
    """

    name: str
    state: UploadState
    document_id: int = 0
    reason: str = ""


class UploadService:
    """Takes files that were dropped or named one by one."""

    def __init__(
        self, settings: Settings, paths: LibraryPaths, catalog: Catalog, sources: SourceService
    ) -> None:
        self._settings = settings
        self._paths = paths
        self._catalog = catalog
        self._sources = sources

    def add(
        self, name: str, stream: IO[bytes], collection: str | None = None
    ) -> Sequence[UploadRecord]:
        """Store a file, or the files in a zip; a sync of the uploads indexes them.

        Another file of that name is never overwritten; bytes that the collection has already are
        not stored again. Each file is kept as a line until it is dismissed. The stream can be
        sought in, and is not held in memory.

        Raises:
            SourceError: it cannot be written to the disk.
        """
        from ragkit.indexing.archives import is_plain_archive

        source = self._sources.uploads(collection)
        if is_plain_archive(name, stream):
            records = self._unpacked(source, name, stream)
        else:
            stream.seek(0)
            records = [self._stored(source, name, stream)]
        self._catalog.uploads.add(source.collection_id, records, self._paths.machine)
        return records

    def lines(self, collection: str) -> Sequence[UploadLine]:
        """Return each file that was dropped since the last dismissal, as it stands now."""
        record = self._catalog.collections.find(collection)
        records = self._catalog.uploads.all(record.id, self._paths.machine) if record else []
        if not records:
            return []
        source = self._sources.uploads(collection)
        paths = {path for upload in records for path in (upload.path, upload.same_as) if path}
        documents = self._catalog.uploads.at(source.id, sorted(paths))
        is_busy = bool(self._catalog.jobs.open())
        lines = []
        for upload in records:
            if upload.reason:
                lines.append(UploadLine(upload.name, UploadState.SKIPPED, 0, upload.reason))
            elif upload.same_as:
                known = documents.get(upload.same_as)
                if known and known.status in (Status.SKIPPED, Status.FAILED):
                    state = _OF_STATUS[known.status]
                    lines.append(UploadLine(upload.name, state, known.id, known.reason))
                    continue
                number = upload.document_id or (known.id if known else 0)
                lines.append(UploadLine(upload.name, UploadState.KNOWN, number, upload.same_as))
            elif document := documents.get(upload.path):
                state = _OF_STATUS[document.status]
                lines.append(UploadLine(upload.name, state, document.id, document.reason))
            elif is_busy:
                lines.append(UploadLine(upload.name, UploadState.WAITING))
            else:
                there = Path(source.root, upload.path).is_file()
                reason = _LEFT_OUT if there else "It was removed."
                lines.append(UploadLine(upload.name, UploadState.SKIPPED, 0, reason))
        return lines

    def dismiss(self, collection: str) -> None:
        """Forget the lines of a collection; its files stay."""
        record = self._catalog.collections.find(collection)
        if record is not None:
            self._catalog.uploads.clear(record.id, self._paths.machine)

    def _unpacked(self, source: SourceRecord, name: str, stream: IO[bytes]) -> list[UploadRecord]:
        from ragkit.indexing.archives import members, paths_in, within

        folder = within(name, paths_in(stream))
        records: list[UploadRecord] = []
        earlier: list[UploadRecord] = []
        try:
            for member in members(stream, int(self._settings.reading.max_file_mb * 1_000_000)):
                shown = f"{name} › {member.path}" if member.path else name
                if member.content is None:
                    records.append(UploadRecord(shown, reason=str(member.problem)))
                else:
                    stored = self._stored(
                        source, f"{folder}{member.path}", member.content, shown, earlier
                    )
                    records.append(stored)
                    earlier.append(stored)
        except ReadingError as error:
            records.append(UploadRecord(name, reason=str(error)))
        if not records:
            records.append(UploadRecord(name, reason="The archive holds no files."))
        return records

    def _stored(
        self,
        source: SourceRecord,
        name: str,
        stream: IO[bytes],
        shown: str = "",
        earlier: Sequence[UploadRecord] = (),
    ) -> UploadRecord:
        from ragkit.indexing.uploads import store_upload

        shown = shown or name
        known: list[tuple[int, str]] = []
        is_known = self._finder(source, known, earlier)
        stored = store_upload(Path(source.root), self._paths.temporary, name, stream, is_known)
        if known:
            number, path = known[0]
            return UploadRecord(shown, hash=stored.hash, same_as=path, document_id=number)
        return UploadRecord(shown, stored.path, stored.hash)

    def _finder(
        self,
        source: SourceRecord,
        known: list[tuple[int, str]],
        earlier: Sequence[UploadRecord],
    ) -> Callable[[str], bool]:
        """Return a function that finds a document of the collection with the same bytes."""
        uploads = self._catalog.uploads

        def find(content_hash: str) -> bool:
            for number, root, path in uploads.with_bytes(source.collection_id, content_hash):
                if Path(root, path).is_file():
                    known.append((number, path))
                    return True
            for upload in (*uploads.all(source.collection_id, self._paths.machine), *earlier):
                if (
                    upload.hash == content_hash
                    and upload.path
                    and Path(source.root, upload.path).is_file()
                ):
                    known.append((0, upload.path))
                    return True
            return False

        return find
