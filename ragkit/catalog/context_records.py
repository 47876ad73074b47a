"""What the catalog says of contexts, as plain values."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ragkit.catalog.records import EntryDraft
from ragkit.types import Chunk

BY_PERSON = "person"
"""Stands in the place of the model when a person wrote or changed a context."""


class ContextStatus(StrEnum):
    """How a chunk stands. A truncated one has a context, written from a part of the prompt."""

    PENDING = "pending"
    COMPLETE = "complete"
    FAILED = "failed"
    TRUNCATED = "truncated"


@dataclass(frozen=True, slots=True)
class ContextAnswer:
    """What was written about a chunk, and by what. ``details`` holds JSON values.

    ``tokens`` counts prompt and answer; ``truncated``: the model did not see the whole prompt.
    """

    context: str
    keywords: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    model: str = ""
    prompt_hash: str = ""
    tokens: int = 0
    seconds: float = 0.0
    truncated: bool = False

    @property
    def by_person(self) -> bool:
        """True when a person wrote it."""
        return self.model == BY_PERSON


@dataclass(frozen=True, slots=True)
class ContextRecord:
    """A chunk's context as it stands. ``error`` is the last one, kept through retries."""

    document_id: int
    chunk_index: int
    status: ContextStatus
    answer: ContextAnswer
    attempts: int
    error: str
    changed_at: float


@dataclass(frozen=True, slots=True)
class ContextDraft:
    """Everything that is written for one chunk when its context arrives.

    ``tokens`` are added to the chunk's own entry, by field; ``entries`` follow it. Nothing is
    written when the chunk is no longer the one that the answer is about.
    """

    document_id: int
    document_hash: str
    chunk: Chunk
    answer: ContextAnswer
    tokens: Mapping[int, list[str]]
    entries: tuple[EntryDraft, ...]
    vectors: Mapping[bytes, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WaitingChunk:
    """A chunk without a context of today. ``asked``: somebody wants it written anew."""

    index: int
    attempts: int
    asked: bool


@dataclass(frozen=True, slots=True)
class FailedContext:
    """A chunk whose context could not be written. ``error`` says why, and what mends it."""

    document_id: int
    path: str
    chunk_index: int
    error: str
    attempts: int
    changed_at: float


@dataclass(frozen=True, slots=True)
class ContextCounts:
    """How many chunks stand how."""

    pending: int = 0
    complete: int = 0
    failed: int = 0
    truncated: int = 0

    @property
    def chunks(self) -> int:
        """All chunks of indexed documents."""
        return self.pending + self.complete + self.failed + self.truncated


def text_key(chunk_text: str, document_hash: str) -> bytes:
    """The name of a chunk's text in one version of a document, wherever that lies: 16 bytes."""
    mixed = f"{document_hash}\n{chunk_text}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(mixed, digest_size=16).digest()


def person_key(chunk_text: str, document_id: int) -> bytes:
    """The same for what a person wrote: it stays with the document through its versions."""
    return text_key(chunk_text, f"document {document_id}")


CONTEXT_COLUMNS = (
    "c.document_id, c.chunk_idx, c.status, c.context, c.keywords, c.questions, c.details, "
    "c.model, c.prompt_hash, c.tokens, c.seconds, c.attempts, c.error, c.changed_at"
)


def context_of_row(row: Sequence[Any]) -> ContextRecord:
    """Read a context from a row of ``CONTEXT_COLUMNS``."""
    status = ContextStatus(row[2])
    answer = ContextAnswer(
        context=row[3],
        keywords=tuple(json.loads(row[4])),
        questions=tuple(json.loads(row[5])),
        details=json.loads(row[6]),
        model=row[7],
        prompt_hash=row[8],
        tokens=row[9],
        seconds=row[10],
        truncated=status is ContextStatus.TRUNCATED,
    )
    return ContextRecord(row[0], row[1], status, answer, row[11], row[12], row[13])


def pack_answer(answer: ContextAnswer) -> str:
    """An answer as JSON."""
    values = {name: getattr(answer, name) for name in ContextAnswer.__slots__}
    return json.dumps(values, ensure_ascii=False, sort_keys=True)


def unpack_answer(text: str) -> ContextAnswer:
    """Read back what ``pack_answer`` gave."""
    values = json.loads(text)
    return ContextAnswer(
        **{
            **values,
            "keywords": tuple(values["keywords"]),
            "questions": tuple(values["questions"]),
        }
    )
