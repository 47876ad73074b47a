"""Uploaded files, each with a line on what became of it."""

from __future__ import annotations

import zipfile
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
    """What became of an uploaded file; ``KNOWN``: the collection has the same bytes already."""

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
_DAMAGED = "The archive is damaged. Make it again from its files."
_LEFT_OUT = (
    "Hidden and temporary files, and folders of programs such as venv, are not indexed. "
    "Give it another name if it should be."
)


@dataclass(frozen=True, slots=True)
class UploadLine:
    """The state of an uploaded file.

    ``document_id`` is its document, or 0. ``reason`` says why it was skipped or failed, and what to
    do; for a known file it is the path of the same content.
    """

    name: str
    state: UploadState
    document_id: int = 0
    reason: str = ""


class UploadService:
    """Stores files in the library."""

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

        An existing file is never overwritten, and bytes that the collection has already are not
        stored again. Each file gets a line, until it is dismissed. The stream must be seekable; it
        is not read into memory.

        Raises:
            SourceError: it cannot be written to disk.
        """
        from ragkit.indexing.archives import is_plain_archive

        source = self._sources.uploads(collection)
        if is_plain_archive(name, stream):
            records = self._unpacked(source, name, stream)
        elif _is_damaged_zip(name, stream):
            records = [UploadRecord(name, reason=_DAMAGED)]
        else:
            stream.seek(0)
            records = [self._stored(source, name, stream)]
        self._catalog.uploads.add(source.collection_id, records, self._paths.machine)
        return records

    def lines(self, collection: str) -> Sequence[UploadLine]:
        """Return the state of each file that was uploaded since the last ``dismiss``."""
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
                original = documents.get(upload.same_as)
                if original and original.status in (Status.SKIPPED, Status.FAILED):
                    state = _OF_STATUS[original.status]
                    lines.append(UploadLine(upload.name, state, original.id, original.reason))
                    continue
                number = upload.document_id or (original.id if original else 0)
                lines.append(UploadLine(upload.name, UploadState.KNOWN, number, upload.same_as))
            elif document := documents.get(upload.path):
                state = _OF_STATUS[document.status]
                lines.append(UploadLine(upload.name, state, document.id, document.reason))
            elif is_busy:
                lines.append(UploadLine(upload.name, UploadState.WAITING))
            else:
                exists = Path(source.root, upload.path).is_file()
                reason = _LEFT_OUT if exists else "It was removed."
                lines.append(UploadLine(upload.name, UploadState.SKIPPED, 0, reason))
        return lines

    def dismiss(self, collection: str) -> None:
        """Delete the lines of a collection; its files stay."""
        record = self._catalog.collections.find(collection)
        if record is not None:
            self._catalog.uploads.clear(record.id, self._paths.machine)

    def _unpacked(self, source: SourceRecord, name: str, stream: IO[bytes]) -> list[UploadRecord]:
        from ragkit.indexing.archives import members, paths_in, within

        folder = within(name, paths_in(stream))
        records: list[UploadRecord] = []
        try:
            for member in members(stream, int(self._settings.reading.max_file_mb * 1_000_000)):
                shown = f"{name} › {member.path}" if member.path else name
                if member.content is None:
                    records.append(UploadRecord(shown, reason=str(member.problem)))
                    continue
                path = f"{folder}{member.path}"
                try:
                    records.append(self._stored(source, path, member.content, shown, records))
                except ReadingError as error:
                    records.append(UploadRecord(shown, reason=str(error)))
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
        same: list[tuple[int, str]] = []
        is_known = self._finder(source, same, earlier)
        stored = store_upload(Path(source.root), self._paths.temporary, name, stream, is_known)
        if same:
            number, path = same[0]
            return UploadRecord(shown, hash=stored.hash, same_as=path, document_id=number)
        return UploadRecord(shown, stored.path, stored.hash)

    def _finder(
        self,
        source: SourceRecord,
        same: list[tuple[int, str]],
        earlier: Sequence[UploadRecord],
    ) -> Callable[[str], bool]:
        """Return a function that looks for a file with the same bytes, and adds it to ``same``."""
        uploads = self._catalog.uploads

        def find(content_hash: str) -> bool:
            for number, root, path in uploads.with_bytes(source.collection_id, content_hash):
                if Path(root, path).is_file():
                    same.append((number, path))
                    return True
            for upload in (*uploads.all(source.collection_id, self._paths.machine), *earlier):
                if (
                    upload.hash == content_hash
                    and upload.path
                    and Path(source.root, upload.path).is_file()
                ):
                    same.append((0, upload.path))
                    return True
            return False

        return find


def _is_damaged_zip(name: str, stream: IO[bytes]) -> bool:
    """Return whether a file begins as a zip and has no directory of its members, at its end."""
    stream.seek(0)
    begins = name.lower().endswith(".zip") and stream.read(4) == b"PK\x03\x04"
    return begins and not zipfile.is_zipfile(stream)
