"""What people ask of contexts: change one, have some written anew, try failed ones again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragkit.background.context_entries import Finished, drafts_of
from ragkit.background.context_requests import OpenDocument, open_document
from ragkit.catalog import Catalog
from ragkit.catalog.records import (
    BY_PERSON,
    ChunkRecord,
    ContextAnswer,
    ContextStatus,
    person_key,
    text_key,
)
from ragkit.errors import NotFoundError
from ragkit.health.findings import plural
from ragkit.indexing.progress import Reporter
from ragkit.indexing.writer import Writer

_TOGETHER = 100


def edit_context(writer: Writer, arguments: Mapping[str, Any], _reporter: Reporter) -> str:
    """Put a person's words in the place of a chunk's context; keywords and questions stay.

    Raises:
        NotFoundError: there is no such chunk.
    """
    document_id, index = int(arguments["document_id"]), int(arguments["chunk_index"])
    catalog = writer.catalog
    record = catalog.documents.get(document_id)
    chunk = _chunk(catalog, document_id, index)
    text = catalog.passages.slices([(document_id, chunk.chunk.start, chunk.chunk.end)])[0]
    known = catalog.contexts.of_document(document_id).get(index)
    before = known.answer if known else ContextAnswer("")
    answer = replace(
        before,
        context=" ".join(str(arguments["text"]).split()),
        model=BY_PERSON,
        prompt_hash="",
        tokens=0,
        seconds=0.0,
        truncated=False,
    )
    for key in (person_key(text, document_id), text_key(text, record.hash)):
        catalog.contexts.remember(key, answer)
    drafts = drafts_of(writer, [Finished(document_id, record.hash, chunk, text, answer)])
    catalog.contexts.put(drafts, writer.embedder_id)
    return f"The context of chunk {index + 1} of {record.path} is yours now."


def regenerate_contexts(writer: Writer, arguments: Mapping[str, Any], _reporter: Reporter) -> str:
    """Have a document's contexts written anew, or that of one chunk; the old ones stay till then.

    Raises:
        NotFoundError: there is no such document or chunk.
    """
    document_id = int(arguments["document_id"])
    index = arguments.get("chunk_index")
    catalog = writer.catalog
    record = catalog.documents.get(document_id)
    chunks = catalog.documents.chunks(document_id)
    if index is not None:
        chunks = [_chunk(catalog, document_id, int(index))]
    spans = [(document_id, one.chunk.start, one.chunk.end) for one in chunks]
    texts = catalog.passages.slices(spans)
    named = index is not None
    keys = [text_key(text, record.hash) for text in texts]
    if named:
        keys += [person_key(text, document_id) for text in texts]
    catalog.contexts.forget(keys, people=named)
    asked = catalog.contexts.ask_again(
        document_id=document_id, chunk_index=None if index is None else int(index)
    )
    return f"{plural(asked, 'context')} of {record.path} will be written anew."


def retry_contexts(writer: Writer, arguments: Mapping[str, Any], _reporter: Reporter) -> str:
    """Let failed chunks wait for another try, in one collection or all."""
    name = arguments.get("collection")
    collection_id = None if name is None else writer.catalog.collections.get(str(name)).id
    asked = writer.catalog.contexts.ask_again(
        status=ContextStatus.FAILED, collection_id=collection_id
    )
    return f"{plural(asked, 'failed context')} will be tried again."


def remembered_answers(catalog: Catalog, opened: OpenDocument) -> dict[int, ContextAnswer]:
    """What was written before for a document's waiting chunks, whatever happened to their rows.

    Those that somebody wants anew are left out.
    """
    fresh = [opened.chunks[one.index] for one in opened.waiting if not one.asked]
    if not fresh or not catalog.contexts.remembers():
        return {}
    texts = {one.chunk.index: opened.text_of(one) for one in fresh}
    keys = {
        index: (person_key(text, opened.record.id), text_key(text, opened.record.hash))
        for index, text in texts.items()
    }
    known = catalog.contexts.newest_remembered([key for both in keys.values() for key in both])
    return {
        index: known[key]
        for index, both in keys.items()
        for key in [next((one for one in both if one in known), None)]
        if key is not None
    }


def restore_contexts(writer: Writer, since: float) -> int:
    """Give documents that were read since then the contexts that they had, without any model.

    Returns how many chunks have theirs back. ``since`` is in seconds since the epoch.
    """
    if not writer.catalog.contexts.remembers():
        return 0
    restored = 0
    finished: list[Finished] = []
    for document_id in writer.catalog.contexts.waiting_documents(since=since):
        opened = open_document(writer.catalog, document_id)
        if opened is None:
            continue
        for index, answer in remembered_answers(writer.catalog, opened).items():
            chunk = opened.chunks[index]
            text = opened.text_of(chunk)
            finished.append(Finished(document_id, opened.record.hash, chunk, text, answer))
        if len(finished) >= _TOGETHER:
            restored += _index(writer, finished)
            finished = []
    return restored + _index(writer, finished)


def _index(writer: Writer, finished: Sequence[Finished]) -> int:
    return writer.catalog.contexts.put(drafts_of(writer, finished), writer.embedder_id)


def _chunk(catalog: Catalog, document_id: int, index: int) -> ChunkRecord:
    found = catalog.passages.chunks_at({document_id: [index]})[document_id]
    if not found:
        raise NotFoundError(
            f"Document {document_id} has no chunk {index + 1}.", "It may have been read again."
        )
    return found[0]


HANDLERS: dict[str, Callable[[Writer, Mapping[str, Any], Reporter], str]] = {
    "edit_context": edit_context,
    "regenerate_contexts": regenerate_contexts,
    "retry_contexts": retry_contexts,
}
"""The jobs of this module, by kind."""
