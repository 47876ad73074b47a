"""From chunks that wait for a context to the entries of the catalog and the indexes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragkit.catalog import Catalog
from ragkit.catalog.chunk_notes import notes_of
from ragkit.catalog.context_records import ContextAnswer, ContextDraft, WaitingChunk
from ragkit.catalog.records import ChunkRecord, DocumentRecord, EntryDraft
from ragkit.chunking.structural_context import contextualised, text_hash
from ragkit.indexes.tokenizer import index_tokens
from ragkit.indexing.writer import Writer
from ragkit.models.context_checks import WrittenContext
from ragkit.models.context_prompt import ContextKind, ContextRequest
from ragkit.types import FIELD_CODES, LEVEL_CODES, Field, Level, Section, Span, Status

_TALKS = ("conversation", "eml", "mbox")
_SPEAKERS = ("participants", "speakers", "attendees")


# -- chunks that wait ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OpenDocument:
    """A document with waiting chunks, read once for all of them."""

    record: DocumentRecord
    text: str
    sections: tuple[Section, ...]
    chunks: dict[int, ChunkRecord]
    waiting: tuple[WaitingChunk, ...]
    kind: ContextKind

    def text_of(self, chunk: ChunkRecord) -> str:
        """Return a chunk's own text."""
        return self.text[chunk.chunk.start : chunk.chunk.end]

    def request(self, chunk: ChunkRecord, summary: str = "") -> ContextRequest:
        """Build the request for the context of one of its chunks."""
        return ContextRequest(
            document_title=self.record.title or self.record.path,
            document_text=self.text,
            outline=_outline(self.sections),
            chunk_text=self.text_of(chunk),
            chunk_span=Span(chunk.chunk.start, chunk.chunk.end),
            structural_context=chunk.context,
            kind=self.kind,
            summary=summary,
        )

    @property
    def longest(self) -> ChunkRecord:
        """The longest chunk, which leaves the least room for the document in a prompt."""
        return max(self.chunks.values(), key=lambda record: record.chunk.end - record.chunk.start)

    def finished(self, chunk: ChunkRecord, answer: ContextAnswer) -> FinishedContext:
        """Return a chunk with its context."""
        return FinishedContext(self.record.id, self.record.hash, chunk, answer)


@dataclass(frozen=True, slots=True)
class FinishedContext:
    """A chunk whose context is written and waits to be indexed."""

    document_id: int
    document_hash: str
    record: ChunkRecord
    answer: ContextAnswer


def open_document(catalog: Catalog, document_id: int) -> OpenDocument | None:
    """Read a document in one transaction; ``None`` if it is gone or no chunk waits."""
    with catalog.connections.read():
        record = catalog.documents.get_many([document_id]).get(document_id)
        if record is None or record.status is not Status.INDEXED:
            return None
        waiting = catalog.contexts.waiting_chunks(document_id)
        if not waiting:
            return None
        text = catalog.documents.text(document_id)
        sections = catalog.documents.sections(document_id)
        chunks = catalog.documents.chunks(document_id)
    return OpenDocument(
        record,
        text,
        tuple(sections),
        {chunk.chunk.index: chunk for chunk in chunks},
        tuple(waiting),
        _kind_of(record),
    )


def _kind_of(record: DocumentRecord) -> ContextKind:
    """Return "conversation" for a document with such a format or with participants."""
    has_speakers = any(name in record.metadata for name in _SPEAKERS)
    return "conversation" if record.format in _TALKS or has_speakers else "document"


def _outline(sections: tuple[Section, ...]) -> tuple[str, ...]:
    """Return the headings in order, indented by level."""
    return tuple(
        f"{'  ' * max(section.level - 1, 0)}{section.path[-1]}"
        for section in sections
        if section.path
    )


# -- from answers to entries ---------------------------------------------------------------


def answer_of(written: WrittenContext, model: str, prompt_hash: str) -> ContextAnswer:
    """Convert a model's answer to the form in which the catalog stores it."""
    return ContextAnswer(
        context=written.context,
        keywords=written.keywords,
        questions=written.questions,
        details=written.details,
        model=model,
        prompt_hash=prompt_hash,
        tokens=written.tokens,
        seconds=written.seconds,
        truncated=written.truncated,
    )


def store_contexts(writer: Writer, finished: Sequence[FinishedContext]) -> int:
    """Index contexts in one transaction, except of changed chunks; return how many."""
    return writer.catalog.contexts.put(context_drafts(writer, finished), writer.embedder_id)


def context_drafts(writer: Writer, finished: Sequence[FinishedContext]) -> list[ContextDraft]:
    """Build the drafts of contexts; only texts without a vector are embedded."""
    texts = [context_texts(context.answer, context.record) for context in finished]
    hashes = {text: text_hash(text) for group in texts for _, text in group}
    have = writer.texts_not_to_embed(hashes.values())
    missing = [text for text, name in hashes.items() if name not in have]
    vectors: dict[bytes, bytes] = {}
    if missing:
        rows = writer.embedder.embed_passages(missing).astype("<f2")
        vectors = {hashes[text]: row.tobytes() for text, row in zip(missing, rows, strict=True)}
    return [
        ContextDraft(
            document_id=context.document_id,
            document_hash=context.document_hash,
            chunk=context.record.chunk,
            answer=context.answer,
            tokens=_tokens(context.answer),
            entries=tuple(
                EntryDraft(LEVEL_CODES[level], context.record.chunk.index, hashes[text], b"", {})
                for level, text in group
            ),
            vectors={
                hashes[text]: vectors[hashes[text]] for _, text in group if hashes[text] in vectors
            },
        )
        for context, group in zip(finished, texts, strict=True)
    ]


def context_texts(answer: ContextAnswer, record: ChunkRecord) -> list[tuple[Level, str]]:
    """Return (level, text) for each text of a context that is embedded.

    Each text follows its chunk's structural context. The chunk's own text is left out: it has a
    vector already, and would outweigh the few words of the context.
    """
    texts: list[tuple[Level, str]] = []
    if answer.context:
        written = "\n".join([answer.context, ", ".join(answer.keywords)])
        texts.append((Level.CONTEXT, contextualised(record.context, written)))
    questions = dict.fromkeys(answer.questions)
    texts += [(Level.QUESTION, contextualised(record.context, text)) for text in questions]
    return texts


def _tokens(answer: ContextAnswer) -> dict[int, list[str]]:
    return {
        FIELD_CODES[Field.CONTEXT]: index_tokens(answer.context),
        FIELD_CODES[Field.KEYWORDS]: index_tokens("\n".join(answer.keywords)),
        FIELD_CODES[Field.QUESTIONS]: index_tokens("\n".join(answer.questions)),
        FIELD_CODES[Field.TOPIC]: index_tokens(notes_of(answer.details).words),
    }
