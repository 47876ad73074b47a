"""Rows of the catalog as plain values, and drafts of rows to be written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from ragkit.types import (
    ALL_COLLECTIONS,
    Chunk,
    FileState,
    InnerBlock,
    Metadata,
    Page,
    Section,
    Status,
    Version,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MOST_REASONS = 60

SILENT_SECONDS = 10.0
"""A machine whose last heartbeat is older loses its claims."""


class JobState(StrEnum):
    """The state of a job."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class CollectionRecord:
    """An isolated search scope; every change of its documents gives it a new ``version``."""

    id: int
    name: str
    settings: dict[str, Any]
    version: Version

    @property
    def prompts(self) -> Mapping[str, str]:
        """The collection's own prompts, by kind."""
        prompts: Mapping[str, str] = self.settings.get("prompts", {})
        return prompts

    @property
    def is_everything(self) -> bool:
        """Whether this stands for all collections of a library."""
        return self.id == ALL_COLLECTIONS

    @classmethod
    def everything(cls, version: Version) -> CollectionRecord:
        """Return the record that stands for all collections; ``version`` is the newest of any."""
        return cls(ALL_COLLECTIONS, "all collections", {}, version)


@dataclass(frozen=True, slots=True)
class CollectionContents:
    """The contents of a collection, which would be deleted with it.

    ``uploads`` of the ``documents`` were uploaded; ``edited`` counts contexts that a person wrote.
    """

    documents: int = 0
    folders: int = 0
    uploads: int = 0
    ratings: int = 0
    runs: int = 0
    edited: int = 0

    @property
    def irreplaceable(self) -> bool:
        """Whether adding the folders again would not bring all of it back."""
        return bool(self.uploads or self.ratings or self.runs or self.edited)

    @property
    def counted(self) -> tuple[tuple[int, str], ...]:
        """The contents as (count, noun): documents and folders always, others if there are any."""
        rest = (
            (self.ratings, "rating"),
            (self.runs, "kept evaluation"),
            (self.edited, "edited context"),
        )
        always = ((self.documents, "document"), (self.folders, "folder"))
        return always + tuple(pair for pair in rest if pair[0])


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A folder or the uploads of a collection. ``state``: new, ready, held or offline.

    ``machine`` is the one that reads it; empty: any that sees the folder.
    """

    id: int
    collection_id: int
    collection: str
    kind: str
    root: str
    state: str
    reason: str
    scanned_at: float | None
    documents: int = 0
    failed: int = 0
    machine: str = ""


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document without its text."""

    id: int
    source_id: int
    collection_id: int
    collection: str
    root: str
    path: str
    status: Status
    reason: str
    size: int
    mtime_ns: int
    hash: str
    pipeline_fingerprint: str
    title: str
    format: str
    markup: str
    language: str
    date: str
    metadata: Metadata
    pages: tuple[Page, ...]
    warnings: tuple[str, ...]
    chunks: int
    characters: int
    changed_at: float


@dataclass(frozen=True, slots=True)
class ChunkRecord:
    """A chunk with its structural context."""

    chunk: Chunk
    context: str


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """A file with pages that are pictures; ``size`` is in bytes, ``hash`` that of its content.

    ``unread``: when it was last read, the text of its pages had not been recognised. ``status`` is
    that of its document; one without text is pending while its text can be recognised.
    """

    document_id: int
    source_id: int
    path: str
    size: int
    hash: str
    status: Status
    unread: bool


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file of a source as the catalog knows it.

    ``retry_at`` is set if it could not be read for a passing reason, and is tried again then.
    """

    document_id: int
    state: FileState
    hash: str
    pipeline_fingerprint: str
    markup: str
    status: Status
    retry_at: float | None = None

    @property
    def path(self) -> str:
        """The file's path in its source."""
        return self.state.path

    @property
    def is_unread(self) -> bool:
        """Whether it was never read, or is to be read again; other pending files await OCR."""
        return self.status is Status.PENDING and not self.hash


@dataclass(frozen=True, slots=True)
class NumberedTokens:
    """Tokens as indexes into a list of words, which entries of a document share."""

    words: tuple[str, ...]
    numbers: NDArray[np.uint32]

    def __len__(self) -> int:
        """Return the number of tokens."""
        return len(self.numbers)


@dataclass(frozen=True, slots=True)
class EntryDraft:
    """An index entry before it has an id. ``position`` is its chunk's or section's index.

    ``tokens`` are by field code. ``text_hash`` identifies the embedded text, ``content_key`` the
    entry's own text without context, case and white space. ``block`` is the inner block that the
    entry stands for, if any; ``position`` is then the index of its chunk.
    """

    level: int
    position: int
    text_hash: bytes
    content_key: bytes
    tokens: dict[int, list[str] | NumberedTokens]
    block: InnerBlock | None = None


@dataclass(frozen=True, slots=True)
class SpeakerRecord:
    """A speaker in a part of a conversation, which is identified by the level and position.

    ``day`` is in ISO form, or empty if unknown.
    """

    level: int
    position: int
    speaker: str
    day: str


@dataclass(frozen=True, slots=True)
class DocumentDraft:
    """A document with everything that is made of it, to be written in one transaction."""

    source_id: int
    collection_id: int
    path: str
    size: int
    mtime_ns: int
    hash: str
    pipeline_fingerprint: str
    title: str
    format: str
    markup: str
    language: str
    date: str
    metadata: Metadata
    pages: tuple[Page, ...]
    warnings: tuple[str, ...]
    text: str
    sections: tuple[Section, ...]
    chunks: tuple[ChunkRecord, ...]
    entries: tuple[EntryDraft, ...]
    vectors: dict[bytes, bytes] = field(default_factory=dict)
    seconds: float = 0.0
    stamp: str = ""
    speakers: tuple[SpeakerRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A job for the writer."""

    id: int
    kind: str
    arguments: dict[str, Any]
    state: JobState
    progress: dict[str, Any]
    message: str
    cancelled: bool
    attempts: int
    created_at: float
    started_at: float | None
    finished_at: float | None
    claimed_by: str = ""


@dataclass(frozen=True, slots=True)
class WorkerRecord:
    """The last heartbeat of a machine's worker. Times are seconds since the epoch.

    ``silent`` is the age of the heartbeat in seconds, by the clock of the catalog's host.
    """

    machine: str
    pid: int
    started_at: float
    heartbeat: float
    state: str
    notes: dict[str, Any]
    silent: float

    @property
    def is_heard(self) -> bool:
        """Whether the heartbeat is recent, so that the machine keeps its claims."""
        return self.silent < SILENT_SECONDS

    @property
    def works(self) -> bool:
        """Whether it runs, to judge by its heartbeat."""
        return self.state != "stopped" and self.is_heard

    def watched(self) -> dict[int, tuple[str, str]]:
        """Return (mode of watching, reason for not a better one), by the id of the source."""
        return {
            number: (mode, reason)
            for mode, reason, ranges in self.notes.get("watching", ())
            for number in _numbers_in(ranges)
        }


def watched_notes(states: Iterable[tuple[str, str, Sequence[int]]]) -> list[list[str]]:
    """Return how a worker watches sources, in the form of ``WorkerRecord.notes``.

    ``states`` are (mode, reason for not a better one, ascending ids of sources). At most 60 reasons
    are kept, since every missing folder has its own.
    """
    notes, others = list[list[str]](), dict[str, list[int]]()
    for mode, reason, numbers in states:
        if reason and len(notes) < _MOST_REASONS:
            notes.append([mode, reason, _ranges_of(numbers)])
        else:
            others.setdefault(mode, []).extend(numbers)
    return [*notes, *([mode, "", _ranges_of(sorted(numbers))] for mode, numbers in others.items())]


def _ranges_of(numbers: Sequence[int]) -> str:
    """Return ascending numbers as a text such as "1-3 7"."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return " ".join(f"{first}-{last}" if last > first else f"{first}" for first, last in ranges)


def _numbers_in(ranges: str) -> Iterator[int]:
    """Yield the numbers of a text by ``_ranges_of``."""
    for span in ranges.split():
        first, _, last = span.partition("-")
        yield from range(int(first), int(last or first) + 1)


@dataclass(frozen=True, slots=True)
class Counts:
    """The number of documents by status, and of their chunks."""

    indexed: int = 0
    pending: int = 0
    skipped: int = 0
    failed: int = 0
    chunks: int = 0

    @property
    def documents(self) -> int:
        """The number of documents of any status."""
        return self.indexed + self.pending + self.skipped + self.failed
