"""What a context is written from, and what comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ragkit.types import Span

ContextKind: TypeAlias = Literal["document", "conversation"]
"""Which prompt is used."""

CONTEXT_KINDS: tuple[ContextKind, ...] = ("document", "conversation")
"""All kinds."""

MOST_QUESTIONS = 5
MOST_KEYWORDS = 12
LONGEST_CONTEXT = 700
"""Characters."""
LONGEST_CONTEXT_WORDS = 120


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """A chunk and the document that it stands in.

    ``chunk_span`` is where ``chunk_text`` stands in ``document_text``. ``outline`` holds headings,
    outermost first, each a line; ``summary`` may be empty. ``structural_context`` says where the
    chunk stands.
    """

    document_title: str
    document_text: str
    outline: Sequence[str]
    chunk_text: str
    chunk_span: Span
    structural_context: str = ""
    kind: ContextKind = "document"
    summary: str = ""


@dataclass(frozen=True, slots=True)
class ConversationDetails:
    """What is known of a part of a conversation.

    ``sentiment`` is "positive", "neutral", "negative" or "mixed".
    """

    speakers: tuple[str, ...]
    has_decision: bool
    has_action_item: bool
    sentiment: str


@dataclass(frozen=True, slots=True)
class WrittenContext:
    """What a model wrote about a chunk, checked.

    ``tokens`` counts prompt and answer; ``truncated`` says that the model did not see the whole
    prompt. ``details`` are there for conversations only.
    """

    context: str
    keywords: tuple[str, ...]
    questions: tuple[str, ...]
    topic_summary: str
    details: ConversationDetails | None
    tokens: int
    seconds: float
    truncated: bool
