"""Collections, and documents with their contexts, as JSON values and as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragkit.catalog.records import Counts
from ragkit.formatting import plural
from ragkit.surfaces.render import document_as_json, plain

if TYPE_CHECKING:
    from ragkit.answering.outcomes import Outcome
    from ragkit.catalog.context_records import ContextRecord
    from ragkit.catalog.records import ChunkRecord, CollectionRecord
    from ragkit.library import DocumentDetail, Library

_KINDS = {"decision": "Decided", "action": "To do"}
_LONGEST = 300


def collection_as_json(record: CollectionRecord, counts: Counts) -> dict[str, Any]:
    """Return a collection as ``ragkit collections list --json`` prints it."""
    return {
        "name": record.name,
        "documents": counts.documents,
        "indexed": counts.indexed,
        "chunks": counts.chunks,
        "settings": record.settings,
    }


def collections_as_json(library: Library) -> list[dict[str, Any]]:
    """Return every collection as ``ragkit collections list --json`` prints it."""
    counts = library.documents.counts_of_each()
    return [
        collection_as_json(collection, counts.get(collection.id, Counts()))
        for collection in library.collections.list()
    ]


def detail_as_json(
    detail: DocumentDetail, contexts: Mapping[int, ContextRecord], outcomes: Sequence[Outcome]
) -> dict[str, Any]:
    """Return the JSON object that ``ragkit show --json`` prints; offsets are in the stored text."""
    return {
        **document_as_json(detail.record),
        "date": detail.record.date,
        "metadata": detail.record.metadata,
        "characters": len(detail.text),
        "outcomes": [_outcome_as_json(outcome) for outcome in outcomes],
        "passages": [
            _chunk_as_json(record, contexts.get(record.chunk.index)) for record in detail.chunks
        ],
    }


def _outcome_as_json(outcome: Outcome) -> dict[str, Any]:
    return {
        "kind": outcome.kind,
        "text": outcome.text,
        "chunk": outcome.chunk,
        "sentence": outcome.sentence,
        "start": outcome.span.start if outcome.span else None,
        "end": outcome.span.end if outcome.span else None,
    }


def _chunk_as_json(record: ChunkRecord, context: ContextRecord | None) -> dict[str, Any]:
    written = None
    if context is not None:
        written = {
            "status": context.status.value,
            "context": context.answer.context,
            "keywords": list(context.answer.keywords),
            "questions": list(context.answer.questions),
            "details": dict(context.answer.details),
            "model": context.answer.model,
        }
    chunk = record.chunk
    return {
        "chunk": chunk.index,
        "start": chunk.start,
        "end": chunk.end,
        "headings": list(chunk.heading_path),
        "pages": list(chunk.pages) if chunk.pages else None,
        "context": written,
    }


def detail_as_text(
    detail: DocumentDetail, contexts: Mapping[int, ContextRecord], outcomes: Sequence[Outcome]
) -> Iterator[str]:
    """Yield lines about a document: facts, decisions and actions, and contexts."""
    record = detail.record
    written = {index: context for index, context in contexts.items() if context.answer.context}
    yield plain(record.title or record.path)
    facts = [record.path, record.format, record.date[:10], plural(record.chunks, "chunk")]
    facts.append(f"{plural(len(written), 'context')} written")
    yield plain(" · ".join(filter(None, facts)))
    for notice in filter(None, (record.reason, *record.warnings)):
        yield plain(notice)
    if outcomes:
        yield ""
        yield "Decisions and actions found"
    for outcome in outcomes:
        text = outcome.text or outcome.sentence or "no single sentence says what"
        yield plain(f"  {_KINDS[outcome.kind]:<8} {text}  (chunk {outcome.chunk + 1})")
        if outcome.text and outcome.sentence:
            yield plain(f"           “{' '.join(outcome.sentence.split())[:_LONGEST]}”")
    if written:
        yield ""
        yield "Contexts"
    for index, context in sorted(written.items()):
        yield plain(f"  {index + 1:>4}  {context.answer.context}")
