"""Rows of the catalog as plain values, and drafts of rows to write."""

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
"""A machine of which nothing was heard for so long has lost what it had claimed."""


class JobState(StrEnum):
    """The state of a job."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class CollectionRecord:
    """An isolated search scope. Every change of its documents gives it another ``version``."""

    id: int
    name: str
    settings: dict[str, Any]
    version: Version

    @property
    def prompts(self) -> Mapping[str, str]:
        """The prompts that a person wrote for it, by what they ask for."""
        prompts: Mapping[str, str] = self.settings.get("prompts", {})
        return prompts

    @property
    def is_everything(self) -> bool:
        """True of what stands for all collections of a library."""
        return self.id == ALL_COLLECTIONS

    @classmethod
    def everything(cls, version: Version) -> CollectionRecord:
        """Return a record that stands for all collections, at the newest change of any."""
        return cls(ALL_COLLECTIONS, "all collections", {}, version)


@dataclass(frozen=True, slots=True)
class CollectionContents:
    """How much a collection holds: what deleting it would take away.

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
        """Whether some of it cannot be had again by adding the folders again."""
        return bool(self.uploads or self.ratings or self.runs or self.edited)

    @property
    def counted(self) -> tuple[tuple[int, str], ...]:
        """What goes with it as (count, noun): documents and folders always, the rest if any."""
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

    ``machine`` is the one that reads it; empty: whichever sees the folder.
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
class KnownFile:
    """What the catalog stores about a file of a source.

    ``retry_at``: it could not be read, for a reason that passes, and is to be tried again then.
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


@dataclass(frozen=True, slots=True)
class NumberedTokens:
    """Tokens as positions in a word list that the entries of a document share."""

    words: tuple[str, ...]
    numbers: NDArray[np.uint32]

    def __len__(self) -> int:
        """Return the number of tokens."""
        return len(self.numbers)


@dataclass(frozen=True, slots=True)
class EntryDraft:
    """An index entry before it has an id. ``position`` is its chunk's or section's index.

    ``tokens`` maps a field code to its tokens; ``text_hash`` identifies the text that was embedded,
    and ``content_key`` its own text without context, ignoring case and white space. ``block`` is
    the inner block that the entry stands for, and ``position`` then the index of its chunk.
    """

    level: int
    position: int
    text_hash: bytes
    content_key: bytes
    tokens: dict[int, list[str] | NumberedTokens]
    block: InnerBlock | None = None


@dataclass(frozen=True, slots=True)
class SpeakerRecord:
    """Someone speaks in a part of a conversation, identified by level and position of its entry.

    ``day`` is in ISO form, or empty where it is not known.
    """

    level: int
    position: int
    speaker: str
    day: str


@dataclass(frozen=True, slots=True)
class DocumentDraft:
    """Everything that one transaction writes for a document."""

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

    ``silent`` is how many seconds ago it was, by the one clock that all machines go by.
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
        """Whether it was heard of lately, so that what it has claimed is its own."""
        return self.silent < SILENT_SECONDS

    @property
    def works(self) -> bool:
        """Whether it runs, as far as others can tell."""
        return self.state != "stopped" and self.is_heard

    def watched(self) -> dict[int, tuple[str, str]]:
        """Return how it keeps each source current, and why not better, by the source's number."""
        return {
            number: (mode, reason)
            for mode, reason, ranges in self.notes.get("watching", ())
            for number in _numbers_in(ranges)
        }


def watched_notes(states: Iterable[tuple[str, str, Sequence[int]]]) -> list[list[str]]:
    """Return how a worker keeps sources current, and why not better, as it notes that.

    Numbers of sources ascend. Few reasons are kept, since each folder that is gone has its own.
    """
    notes, others = list[list[str]](), dict[str, list[int]]()
    for mode, reason, numbers in states:
        if reason and len(notes) < _MOST_REASONS:
            notes.append([mode, reason, _ranges_of(numbers)])
        else:
            others.setdefault(mode, []).extend(numbers)
    return [*notes, *([mode, "", _ranges_of(sorted(numbers))] for mode, numbers in others.items())]


def _ranges_of(numbers: Sequence[int]) -> str:
    """Return ascending numbers as text, such as "1-3 7"."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return " ".join(f"{first}-{last}" if last > first else f"{first}" for first, last in ranges)


def _numbers_in(ranges: str) -> Iterator[int]:
    """Yield the numbers that ``_ranges_of`` wrote."""
    for one in ranges.split():
        first, _, last = one.partition("-")
        yield from range(int(first), int(last or first) + 1)


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of documents by status, and of their chunks."""

    indexed: int = 0
    pending: int = 0
    skipped: int = 0
    failed: int = 0
    chunks: int = 0

    @property
    def documents(self) -> int:
        """The number of documents of any status."""
        return self.indexed + self.pending + self.skipped + self.failed
