"""Contexts of chunks as plain values, and the keys of the cache of answers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ragkit.catalog.records import EntryDraft
from ragkit.formatting import duration, plural
from ragkit.types import Chunk

BY_PERSON = "person"
"""The model of a context that a person wrote or changed."""

RECORDED = "recorded"
"""The model of a context that was loaded from a file."""


class ContextStatus(StrEnum):
    """The status of a chunk; a truncated context was written from a part of the prompt."""

    PENDING = "pending"
    COMPLETE = "complete"
    FAILED = "failed"
    TRUNCATED = "truncated"


@dataclass(frozen=True, slots=True)
class ContextAnswer:
    """The context of a chunk, and the model that wrote it; ``details`` are JSON values.

    ``tokens`` counts prompt and answer; ``truncated``: the model saw only a part of the prompt.
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
        """Whether a person wrote it."""
        return self.model == BY_PERSON


@dataclass(frozen=True, slots=True)
class ContextRecord:
    """A chunk's context and status; ``error`` is the last one, also after a success."""

    document_id: int
    chunk_index: int
    status: ContextStatus
    answer: ContextAnswer
    attempts: int
    error: str
    changed_at: float


@dataclass(frozen=True, slots=True)
class ContextDraft:
    """Everything that is written for one chunk with its context.

    ``tokens``, by field code, are added to the chunk's entry, and ``entries`` follow it. Nothing is
    written if the chunk has changed since the answer.
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
    """A chunk that waits for a context; ``asked``: not for its first one."""

    index: int
    attempts: int
    asked: bool


@dataclass(frozen=True, slots=True)
class FailedContext:
    """A chunk whose context could not be written; ``error`` says why, and how to fix it."""

    document_id: int
    path: str
    chunk_index: int
    error: str
    attempts: int
    changed_at: float


@dataclass(frozen=True, slots=True)
class ContextCounts:
    """Numbers of chunks by status."""

    pending: int = 0
    complete: int = 0
    failed: int = 0
    truncated: int = 0

    @property
    def chunks(self) -> int:
        """The number of chunks of indexed documents."""
        return self.pending + self.complete + self.failed + self.truncated


@dataclass(frozen=True, slots=True)
class ContextCost:
    """The tokens (of prompts and answers) and seconds that models spent on the stored contexts.

    Both include ``summaries`` of long documents; ``summaries_failed`` could not be written.
    ``contexts`` counts those by models, not by people.
    """

    contexts: int = 0
    summaries: int = 0
    summaries_failed: int = 0
    tokens: int = 0
    seconds: float = 0.0

    @property
    def in_words(self) -> str:
        """The cost as "12,345 tokens, 3 min; 2 long documents summarised"; empty for none."""
        parts = [f"{self.tokens:,} tokens, {duration(self.seconds)}"] if self.tokens else []
        if self.summaries:
            parts.append(f"{plural(self.summaries, 'long document')} summarised")
        if self.summaries_failed:
            parts.append(
                f"{plural(self.summaries_failed, 'long document')} could not be summarised"
            )
        return "; ".join(parts)


def text_key(chunk_text: str, document_hash: str) -> bytes:
    """Return the key, 16 bytes, of a chunk's text in the version of a document with that hash."""
    mixed = f"{document_hash}\n{chunk_text}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(mixed, digest_size=16).digest()


def person_key(chunk_text: str, document_id: int) -> bytes:
    """Return the key of a context by a person, which is kept for all versions of the document."""
    return text_key(chunk_text, f"document {document_id}")
