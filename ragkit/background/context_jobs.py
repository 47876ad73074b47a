"""The writer's jobs about contexts: edit, regenerate, rewrite, retry, recall from a file.

A file of recorded contexts has a JSON object on each line: ``path`` of the document in its source,
``chunk`` (its index, from 0), ``starts`` (the first words of the chunk, white space as single
spaces), then what a model would answer: ``context``, ``keywords``, ``questions``, and any details.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ragkit.background.context_entries import (
    FinishedContext,
    OpenDocument,
    open_document,
    store_contexts,
)
from ragkit.catalog import Catalog
from ragkit.catalog.context_records import (
    BY_PERSON,
    RECORDED,
    ContextAnswer,
    ContextStatus,
    person_key,
    text_key,
)
from ragkit.catalog.records import ChunkRecord, DocumentRecord
from ragkit.errors import ContextsFileError, NotFoundError
from ragkit.formatting import plural
from ragkit.indexing.progress import Reporter
from ragkit.indexing.writer import Writer
from ragkit.models.context_checks import CONVERSATION_DETAILS, checked_details
from ragkit.models.context_prompt import prompt_of

_BATCH = 100
_OWN_PARTS = frozenset(("path", "chunk", "starts", "context", "keywords", "questions"))


def edit_context(writer: Writer, arguments: Mapping[str, Any], _reporter: Reporter) -> str:
    """Replace a chunk's context by a person's text; keywords and questions stay.

    Raises:
        NotFoundError: there is no such chunk.
    """
    document_id, index = int(arguments["document_id"]), int(arguments["chunk_index"])
    catalog = writer.catalog
    record = catalog.documents.get(document_id)
    chunk = _chunk(catalog, document_id, index)
    text = catalog.documents.slices([(document_id, chunk.chunk.start, chunk.chunk.end)])[0]
    stored = catalog.contexts.of_document(document_id).get(index)
    answer = replace(
        stored.answer if stored else ContextAnswer(""),
        context=" ".join(str(arguments["text"]).split()),
        model=BY_PERSON,
        prompt_hash="",
        tokens=0,
        seconds=0.0,
        truncated=False,
    )
    for key in (person_key(text, document_id), text_key(text, record.hash)):
        catalog.contexts.remember(key, answer)
    store_contexts(writer, [FinishedContext(document_id, record.hash, chunk, answer)])
    return f"The context of chunk {index + 1} of {record.path} was edited."


def regenerate_contexts(writer: Writer, arguments: Mapping[str, Any], _reporter: Reporter) -> str:
    """Mark the contexts of a document or chunk to be written again; the old ones stay until then.

    Raises:
        NotFoundError: there is no such document or chunk.
    """
    document_id = int(arguments["document_id"])
    index = arguments.get("chunk_index")
    catalog = writer.catalog
    record = catalog.documents.get(document_id)
    if index is None:
        count = _ask_for_all(catalog, record)
    else:
        chunk = _chunk(catalog, document_id, index).chunk
        (text,) = catalog.documents.slices([(document_id, chunk.start, chunk.end)])
        keys = [text_key(text, record.hash), person_key(text, document_id)]
        catalog.contexts.forget(keys, people=True)
        count = catalog.contexts.ask_again(document_id=document_id, chunk_index=index)
    if not count:
        return f"Nothing to regenerate in {record.path}."
    return f"{plural(count, 'context')} of {record.path} will be regenerated."


def _ask_for_all(catalog: Catalog, record: DocumentRecord) -> int:
    """Mark a document's summary and contexts to be written again, except people's contexts.

    Earlier answers are forgotten; they would be reused otherwise. Returns the number of contexts.
    """
    chunks = [stored.chunk for stored in catalog.documents.chunks(record.id)]
    texts = catalog.documents.slices([(record.id, chunk.start, chunk.end) for chunk in chunks])
    catalog.contexts.forget(text_key(text, record.hash) for text in texts)
    catalog.summaries.forget(record.hash)
    return catalog.contexts.ask_again(document_id=record.id)


def rewrite_contexts(writer: Writer, arguments: Mapping[str, Any], _reporter: Reporter) -> str:
    """Mark the contexts of a collection that were written with another prompt of this kind.

    Raises:
        NotFoundError: there is no such collection.
        SettingsError: the collection's own prompt is invalid.
    """
    catalog = writer.catalog
    collection = catalog.collections.get(str(arguments["collection"]))
    kind = arguments["prompt"]
    prompt = prompt_of(kind, collection.prompts.get(kind, ""))
    if kind == "summary":
        documents = catalog.summaries.outdated(collection.id, prompt.hash)
        records = catalog.documents.get_many(documents).values()
        count = sum(_ask_for_all(catalog, record) for record in records)
    else:
        count = catalog.contexts.ask_outdated(collection.id, kind, prompt.hash)
    return f"{plural(count, 'context')} of {collection.name} will be regenerated."


def retry_contexts(writer: Writer, arguments: Mapping[str, Any], _reporter: Reporter) -> str:
    """Mark failed contexts to be tried again, in one collection or all.

    A long document that could not be summarised is tried again with all of its contexts, which
    were written without a summary.
    """
    catalog, name = writer.catalog, arguments.get("collection")
    collection_id = None if name is None else catalog.collections.get(str(name)).id
    count = catalog.contexts.ask_again(status=ContextStatus.FAILED, collection_id=collection_id)
    sentences = [f"{plural(count, 'failed context')} will be tried again."]
    records = catalog.documents.get_many(catalog.summaries.failed(collection_id)).values()
    if records:
        again = plural(sum(_ask_for_all(catalog, record) for record in records), "context")
        documents = plural(len(records), "long document")
        sentences.append(f"{documents} will be summarised again, and {again} rewritten.")
    return " ".join(sentences)


def remembered_answers(catalog: Catalog, document: OpenDocument) -> dict[int, ContextAnswer]:
    """Return the remembered answers for a document's waiting chunks by chunk index.

    Answers outlive the rows of their document. Chunks marked to be written again are left out.
    """
    if not catalog.contexts.remembers():
        return {}
    keys: dict[int, tuple[bytes, bytes]] = {}
    for waiting in document.waiting:
        if not waiting.asked:
            text = document.text_of(document.chunks[waiting.index])
            by_person = person_key(text, document.record.id)
            keys[waiting.index] = by_person, text_key(text, document.record.hash)
    answers = catalog.contexts.newest_remembered([key for pair in keys.values() for key in pair])
    return {
        index: answers[key]
        for index, pair in keys.items()
        if (key := next((key for key in pair if key in answers), None)) is not None
    }


def restore_contexts(writer: Writer, since: float) -> int:
    """Restore remembered contexts of documents that were read since then, without any model.

    Returns the number of chunks. ``since`` is in seconds since the epoch.
    """
    restored = 0
    finished: list[FinishedContext] = []
    for document_id in writer.catalog.contexts.waiting_documents(since=since):
        document = open_document(writer.catalog, document_id)
        if document is None:
            continue
        finished += [
            document.finished(document.chunks[index], answer)
            for index, answer in remembered_answers(writer.catalog, document).items()
        ]
        if len(finished) >= _BATCH:
            restored += store_contexts(writer, finished)
            finished = []
    return restored + store_contexts(writer, finished)


def _chunk(catalog: Catalog, document_id: int, index: int) -> ChunkRecord:
    chunks = catalog.documents.chunks_at({document_id: [index]})[document_id]
    if not chunks:
        raise NotFoundError(
            f"Document {document_id} has no chunk {index + 1}.", "It may have been read again."
        )
    return chunks[0]


# -- contexts recorded in a file -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RecordedContext:
    """A line of a file, for a chunk whose text begins with ``starts``."""

    path: str
    chunk: int
    starts: str
    answer: ContextAnswer

    def is_about(self, text: str) -> bool:
        """Return whether the context belongs to a chunk with this text."""
        return " ".join(text.split()).startswith(self.starts)


def read_recorded(file: Path) -> list[RecordedContext]:
    """Read a file of recorded contexts.

    Raises:
        ContextsFileError: it cannot be read, or a line is not a recorded context.
    """
    try:
        lines = file.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ContextsFileError(f"{file} cannot be read: {error}.", "Name another file.") from error
    recorded = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            recorded.append(_parse(json.loads(line)))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ContextsFileError(
                f"Line {number} of {file} is not a recorded context: {error}.", "Fix that line."
            ) from error
    return recorded


def _parse(value: Mapping[str, Any]) -> RecordedContext:
    details = {name: detail for name, detail in value.items() if name not in _OWN_PARTS}
    talks = not details.keys().isdisjoint(CONVERSATION_DETAILS)
    others = {name: details[name] for name in details if name not in CONVERSATION_DETAILS}
    answer = ContextAnswer(
        context=" ".join(str(value["context"]).split()),
        keywords=tuple(map(str, value.get("keywords", ()))),
        questions=tuple(map(str, value.get("questions", ()))),
        details={**others, **checked_details(value)} if talks else others,
        model=RECORDED,
    )
    return RecordedContext(
        str(value["path"]), int(value["chunk"]), " ".join(str(value["starts"]).split()), answer
    )


def recall_contexts(writer: Writer, arguments: Mapping[str, Any], reporter: Reporter) -> str:
    """Store the contexts that ``file`` records for the waiting chunks of source ``source_id``.

    A chunk whose text begins differently waits for a model.

    Raises:
        ContextsFileError: the file cannot be read.
    """
    by_path: dict[str, dict[int, RecordedContext]] = {}
    for recorded in read_recorded(Path(str(arguments["file"]))):
        by_path.setdefault(recorded.path, {})[recorded.chunk] = recorded
    files = writer.catalog.files.known(int(arguments["source_id"]))
    reporter.start("Recalling contexts", len(by_path))
    finished: list[FinishedContext] = []
    for path, of_path in by_path.items():
        document = open_document(writer.catalog, files[path].document_id) if path in files else None
        if document is not None:
            finished += _recalled(writer.catalog, document, of_path)
        reporter.step(path)
    count = store_contexts(writer, finished)
    return f"{plural(count, 'recorded context')} recalled."


def _recalled(
    catalog: Catalog, document: OpenDocument, recorded: Mapping[int, RecordedContext]
) -> Iterator[FinishedContext]:
    """Remember and yield the recorded contexts of chunks that never had a context."""
    for waiting in document.waiting:
        context, chunk = recorded.get(waiting.index), document.chunks[waiting.index]
        text = document.text_of(chunk)
        if context is not None and not waiting.asked and context.is_about(text):
            catalog.contexts.remember(text_key(text, document.record.hash), context.answer)
            yield document.finished(chunk, context.answer)


HANDLERS = {
    "edit_context": edit_context,
    "regenerate_contexts": regenerate_contexts,
    "rewrite_contexts": rewrite_contexts,
    "retry_contexts": retry_contexts,
    "recall_contexts": recall_contexts,
}
"""The jobs of this module, by kind."""
