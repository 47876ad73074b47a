"""What the catalog says of things, as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from ragkit.types import Chunk, Metadata, Page, Section, Status

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class JobState(StrEnum):
    """How a job stands."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class CollectionRecord:
    """An isolated search scope. ``version`` grows with every change of its documents."""

    id: int
    name: str
    settings: dict[str, Any]
    version: int


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A folder or the uploads of a collection. ``state``: new, ready or offline."""

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


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """One file as the library knows it, without its text."""

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
class FileState:
    """What a scan sees of a file, and what the catalog remembers of it."""

    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class KnownFile:
    """What the catalog remembers of a file of a source."""

    document_id: int
    path: str
    size: int
    mtime_ns: int
    hash: str
    pipeline_fingerprint: str
    markup: str
    status: Status


@dataclass(frozen=True, slots=True)
class NumberedTokens:
    """Tokens as places in a list of words, which the entries of a document share."""

    words: tuple[str, ...]
    numbers: NDArray[np.uint32]

    def __len__(self) -> int:
        """How many tokens there are."""
        return len(self.numbers)


@dataclass(frozen=True, slots=True)
class EntryDraft:
    """An index entry before it has an id. ``position`` is its chunk's or section's index.

    ``tokens`` maps a field to its tokens; ``text_hash`` names the text that was embedded, and
    ``content_key`` its own text without context, whatever its case and white space.
    """

    level: int
    position: int
    text_hash: bytes
    content_key: bytes
    tokens: dict[int, list[str] | NumberedTokens]


@dataclass(frozen=True, slots=True)
class SpeakerRecord:
    """That someone speaks in a part of a conversation, which is named as its entry is.

    ``day`` is in ISO form, or empty where it is not known.
    """

    level: int
    position: int
    speaker: str
    day: str


@dataclass(frozen=True, slots=True)
class DocumentDraft:
    """Everything that one transaction writes for a document that was read."""

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
    speakers: tuple[SpeakerRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class JobRecord:
    """Something that the writer was asked to do."""

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


@dataclass(frozen=True, slots=True)
class WorkerRecord:
    """The last sign of life of the worker. Times are seconds since the epoch."""

    pid: int
    started_at: float
    heartbeat: float
    state: str
    notes: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Counts:
    """How many documents stand how, and what they were cut into."""

    indexed: int = 0
    pending: int = 0
    skipped: int = 0
    failed: int = 0
    chunks: int = 0
    entries: int = 0

    @property
    def documents(self) -> int:
        """All documents, whatever their status."""
        return self.indexed + self.pending + self.skipped + self.failed
