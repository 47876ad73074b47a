"""What a model is told of a chunk: its document, where it stands, and which prompt fits."""

from __future__ import annotations

from dataclasses import dataclass

from ragkit.catalog import Catalog
from ragkit.catalog.records import ChunkRecord, DocumentRecord, WaitingChunk
from ragkit.models.context_types import ContextKind, ContextRequest
from ragkit.types import Section, Span, Status

_CONVERSATION = "conversation"
_SPEAKERS = ("participants", "speakers")


@dataclass(frozen=True, slots=True)
class OpenDocument:
    """A document with waiting chunks, read once for all of them."""

    record: DocumentRecord
    text: str
    sections: tuple[Section, ...]
    chunks: dict[int, ChunkRecord]
    waiting: tuple[WaitingChunk, ...]
    kind: ContextKind

    def text_of(self, record: ChunkRecord) -> str:
        """A chunk's own text."""
        return self.text[record.chunk.start : record.chunk.end]

    def request(self, record: ChunkRecord) -> ContextRequest:
        """What a model is told of one of its chunks."""
        return ContextRequest(
            document_title=self.record.title or self.record.path,
            document_text=self.text,
            outline=_outline(self.sections),
            chunk_text=self.text_of(record),
            chunk_span=Span(record.chunk.start, record.chunk.end),
            structural_context=record.context,
            kind=self.kind,
        )


def open_document(catalog: Catalog, document_id: int) -> OpenDocument | None:
    """Read a document as it is at one moment; ``None`` when it has gone or nothing waits."""
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
        {one.chunk.index: one for one in chunks},
        tuple(waiting),
        kind_of(record),
    )


def kind_of(record: DocumentRecord) -> ContextKind:
    """Tell a conversation by its format, or by who its front matter says takes part."""
    spoken = record.format == _CONVERSATION or any(one in record.metadata for one in _SPEAKERS)
    return "conversation" if spoken else "document"


def _outline(sections: tuple[Section, ...]) -> tuple[str, ...]:
    """The headings in order, each a line, those below indented."""
    return tuple(f"{'  ' * max(one.level - 1, 0)}{one.path[-1]}" for one in sections if one.path)
