"""Passages of a collection to ask about: the same for the same seed, and from all documents."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from ragkit.catalog import Catalog
from ragkit.catalog.records import DocumentRecord
from ragkit.models.ollama_text import estimate_tokens
from ragkit.models.question_writer import QuestionRequest
from ragkit.types import Span, Status

LEAST_TOKENS = 30
"""Chunks of fewer tokens say too little to be asked about."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """A chunk with its document as it is now."""

    document: DocumentRecord
    span: Span
    request: QuestionRequest


def sampled(catalog: Catalog, collection_id: int, seed: int = 0) -> Iterator[Sampled]:
    """Chunks in an order that the seed alone decides: one of each document, then another.

    Neither a document that is added nor one that goes changes the order of the others. Copies of
    a document count once, as do chunks of the same words.
    """
    documents = _in_order(catalog, collection_id, seed)
    known: set[bytes] = set()
    waiting: dict[int, list[int]] = {}
    turn = 0
    while documents:
        left = []
        for one in documents:
            found, more = _next(catalog, one, turn, seed, waiting, known)
            if found is not None:
                yield found
            if more:
                left.append(one)
        documents, turn = left, turn + 1


def _in_order(catalog: Catalog, collection_id: int, seed: int) -> list[DocumentRecord]:
    documents = catalog.documents.list(collection_id, status=Status.INDEXED)
    first: dict[str, DocumentRecord] = {}
    for one in sorted(documents, key=lambda one: (one.path, one.id)):
        first.setdefault(one.hash or f"{one.id}", one)
    return sorted(first.values(), key=lambda one: (_digest(f"{seed}\0{one.path}"), one.path))


def _next(
    catalog: Catalog,
    document: DocumentRecord,
    turn: int,
    seed: int,
    waiting: dict[int, list[int]],
    known: set[bytes],
) -> tuple[Sampled | None, bool]:
    """The document's next chunk that can be asked about, and whether there may be more."""
    with catalog.connections.read():
        now = catalog.documents.get_many([document.id]).get(document.id)
        if now is None or now.status is not Status.INDEXED:
            return None, False
        text = catalog.documents.text(document.id)
        chunks = {one.chunk.index: one for one in catalog.documents.chunks(document.id)}
    if turn == 0:
        waiting[document.id] = sorted(
            chunks, key=lambda index: _digest(f"{seed}\0{document.path}\0{index}")
        )
    order = waiting[document.id]
    while order:
        record = chunks.get(order.pop(0))
        if record is None:
            continue
        passage = text[record.chunk.start : record.chunk.end]
        mark = _digest(" ".join(passage.split()))
        if mark in known or estimate_tokens(passage) < LEAST_TOKENS:
            continue
        known.add(mark)
        request = QuestionRequest(now.title or now.path, record.context, passage, text)
        return Sampled(now, Span(record.chunk.start, record.chunk.end), request), bool(order)
    return None, False


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).digest()
