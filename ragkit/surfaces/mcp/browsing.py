"""The tools that read documents, list documents and collections, and tell the library's state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragkit.errors import NotFoundError, QueryError
from ragkit.formatting import plural
from ragkit.results import Passage
from ragkit.retrieval.context_block import fenced
from ragkit.surfaces import render, render_documents
from ragkit.surfaces.mcp.parameters import Parameter
from ragkit.surfaces.mcp.text import path_of, place_of, plain
from ragkit.surfaces.mcp.tool import (
    FURTHEST,
    Call,
    Found,
    Tool,
    collection,
    document_id,
    filters,
    search_options,
)
from ragkit.surfaces.mcp.values import (
    CHARACTERS_PER_TOKEN,
    NOTE,
    cut,
    fitting,
    passage_value,
    too_long,
)
from ragkit.surfaces.render_status import status_as_json

if TYPE_CHECKING:
    from ragkit.catalog.records import DocumentRecord
    from ragkit.settings import Settings

_LISTED, _MOST_LISTED = 50, 200
_UNREAD = "New and changed files are not read now: ragkit serve or ragkit worker does so."
_ONE_PASSAGE = {"note": "string", "document": "object", "passage": "object", "left_out": "string"}


def get_document(settings: Settings) -> Tool:
    """Return the tool that reads a part of a document."""
    most = settings.answers.context_tokens * CHARACTERS_PER_TOKEN
    return Tool(
        "get_document",
        "Read a document",
        "Reads the text of a document from one character to another, as passages name them, or "
        f"from its beginning; at most about {most:,} characters at once.",
        (
            document_id(),
            Parameter("start", "integer", "The first character, from 0.", 0, bounds=(0, FURTHEST)),
            Parameter("end", "integer", "The character before which it ends; by default, as far as "
                      "there is room.", None, bounds=(0, FURTHEST)),
        ),
        _ONE_PASSAGE,
        _get_document,
    )  # fmt: skip


def neighbours(settings: Settings) -> Tool:
    """Return the tool that reads the text around a chunk."""
    return Tool(
        "neighbours",
        "Read around a chunk",
        "Reads a chunk of a document with the chunks before and after it, as one passage.",
        (
            document_id(),
            Parameter("chunk", "integer", "The number of the chunk: \"chunks 2-5 of 12\" are 2, 3, "
                      "4 and 5, of 1 to 12.", bounds=(1, FURTHEST)),
            *search_options(settings, "neighbours"),
        ),
        _ONE_PASSAGE,
        _neighbours,
    )  # fmt: skip


def list_documents(settings: Settings) -> Tool:
    """Return the tool that lists documents."""
    return Tool(
        "list_documents",
        "List documents",
        "Lists the documents of a collection, with their ids: all of them by path, or those that "
        "filters name, the newest first. To find what they say, use rag_search.",
        (
            filters("filter", 'Which documents are listed, such as "title:budget type:pdf"; the '
                    "filters are those of rag_search."),
            Parameter("limit", "integer", "How many documents are listed at most.", _LISTED,
                      bounds=(1, _MOST_LISTED)),
            Parameter("offset", "integer", "How many documents to skip.", 0, bounds=(0, FURTHEST)),
            collection(settings, "The collection"),
        ),
        {"note": "string", "documents": "array", "left_out": "string"},
        _list_documents,
    )  # fmt: skip


def list_collections(_settings: Settings) -> Tool:
    """Return the tool that lists the collections."""
    return Tool(
        "list_collections",
        "List collections",
        "Lists the collections of the library, which are searched separately, with their sizes.",
        (
            Parameter("containing", "string", "A part of their names, in any case.", ""),
            Parameter("limit", "integer", "How many collections are listed at most.", _LISTED,
                      bounds=(1, _MOST_LISTED)),
        ),
        {"collections": "array", "left_out": "string"},
        _list_collections,
    )  # fmt: skip


def status(_settings: Settings) -> Tool:
    """Return the tool that tells the state of the library."""
    return Tool(
        "status",
        "State of the library",
        "Tells how many documents are indexed, wait or could not be read, which folders they are "
        "from, and whether a process reads new and changed files.",
        (),
        {"documents": "integer", "indexed": "integer", "pending": "integer", "skipped": "integer",
         "failed": "integer", "chunks": "integer", "collections": "array", "sources": "array",
         "left_out": "string", "writing": "boolean"},
        _status,
    )  # fmt: skip


# -- what they do --------------------------------------------------------------------------


def _get_document(call: Call) -> Found:
    documents, identity, start = call.library.documents, call["id"], call["start"] or 0
    # Most scripts have fewer characters a token than Latin.
    end = start + call.tokens * CHARACTERS_PER_TOKEN
    passage = documents.passage(identity, start, end if call["end"] is None else call["end"])
    if too_long(passage.text, call.tokens):
        length = len(fitting(passage.text, call.tokens))
        passage = documents.passage(identity, start, start + length)
    record = _record(call)
    if start >= max(1, record.characters):
        raise QueryError(
            f"Document {identity} has no text from {start} on.",
            f"It has {record.characters} characters.",
        )
    left_out = ""
    if passage.end < record.characters:
        left_out = (
            f"{passage.end} of {record.characters} characters. To read on: "
            f"get_document(id={identity}, start={passage.end})."
        )
    return _read(record, passage, left_out)


def _neighbours(call: Call) -> Found:
    documents, identity, at = call.library.documents, call["id"], call["chunk"] - 1
    record, reach = _record(call), call["neighbours"]
    if reach is None:
        reach = call.library.options(collections=record.collection).neighbours
    if at >= record.chunks:
        raise NotFoundError(
            f"Document {identity} has no chunk {at + 1}.",
            f"It has {plural(record.chunks, 'chunk')}, from 1.",
        )
    full = documents.neighbours(identity, at, reach)
    passage = full
    while reach and too_long(passage.text, call.tokens):
        reach //= 2
        passage = documents.neighbours(identity, at, reach)
    dropped = full.chunks[1] - full.chunks[0] - passage.chunks[1] + passage.chunks[0]
    left_out = f"To keep this short: {plural(dropped, 'chunk')} left out." if dropped else ""
    if too_long(passage.text, call.tokens):
        passage = cut(passage, call.tokens)
        left_out = f"{left_out} The chunk is cut: get_document reads it whole.".strip()
    return _read(record, passage, left_out)


def _record(call: Call) -> DocumentRecord:
    """Return the record of the document that a call names.

    Raises:
        NotFoundError: it is gone.
    """
    record = call.library.documents.records([call["id"]]).get(call["id"])
    if record is None:
        raise NotFoundError(f"Document {call['id']} is gone.", "Search again.")
    return record


def _read(record: DocumentRecord, passage: Passage, left_out: str) -> Found:
    value = {
        "note": NOTE,
        "document": _document(record),
        "passage": passage_value(passage),
        "left_out": left_out,
    }
    return _read_lines(value), value


def _read_lines(value: Mapping[str, Any]) -> Iterator[str]:
    yield value["note"]
    yield _about(value["document"])
    yield place_of(value["passage"], value["document"])
    yield fenced(value["passage"]["text"]).rstrip("\n")
    if value["left_out"]:
        yield value["left_out"]


def _list_documents(call: Call) -> Found:
    library = call.library
    limit, offset = call["limit"] or _LISTED, call["offset"] or 0
    name = call["collection"] or library.settings.collection
    records: Sequence[DocumentRecord]
    if (call["filter"] or "").strip():
        filters_ = library.options(filters=call["filter"], collections=name).filters
        records = library.documents.filtered(filters_, [name], limit=limit + 1, offset=offset)
    else:
        records = library.documents.list(name, limit=limit + 1, offset=offset)
    more, records = len(records) > limit, records[:limit]
    left_out = f"There are more: list_documents(offset={offset + limit})." if more else ""
    value = {
        "note": NOTE,
        "documents": [_document(record) for record in records],
        "left_out": left_out,
    }
    return _list_lines(value), value


def _list_lines(value: Mapping[str, Any]) -> Iterator[str]:
    yield plural(len(value["documents"]), "document") + "."
    for document in value["documents"]:
        yield f"- {_about(document)}"
    if value["left_out"]:
        yield value["left_out"]


def _list_collections(call: Call) -> Found:
    library, limit = call.library, call["limit"] or _LISTED
    names = library.collections.names(call["containing"] or "", limit + 1)
    more = len(names) > limit
    value = {
        "collections": [
            render_documents.collection_as_json(
                library.collections.get(name), library.documents.counts(name)
            )
            for name in names[:limit]
        ],
        "left_out": "There are more: give a part of their names as containing." if more else "",
    }
    return _collection_lines(value), value


def _collection_lines(value: Mapping[str, Any]) -> Iterator[str]:
    for collection_ in value["collections"]:
        documents = plural(collection_["documents"], "document")
        chunks = plural(collection_["chunks"], "chunk")
        yield f"- {plain(collection_['name'])}: {documents}, {chunks}"
    if value["left_out"]:
        yield value["left_out"]


def _status(call: Call) -> Found:
    value = status_as_json(call.library)
    lists = {name: value[name] for name in ("collections", "sources")}
    more = [f"{len(all_) - _LISTED} more {name}" for name, all_ in lists.items()
            if len(all_) > _LISTED]  # fmt: skip
    value |= {name: all_[:_LISTED] for name, all_ in lists.items()}
    value["left_out"] = f"Left out: {', '.join(more)}." if more else ""
    return _status_lines(value), value


def _status_lines(value: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"{value['indexed']} documents indexed, {value['pending']} waiting, {value['skipped']} "
        f"skipped, {value['failed']} failed; {value['chunks']} chunks."
    )
    for source in value["sources"]:
        reason = f": {plain(source['reason'])}" if source["reason"] else ""
        yield (
            f"- {plain(source['root'])} ({plain(source['collection'])}), "
            f"{plural(source['documents'], 'document')}, {source['state']}{reason}"
        )
    if value["left_out"]:
        yield value["left_out"]
    # Who writes holds the lock also while there is nothing to write, as an idle worker does.
    yield "New and changed files are read." if value["writing"] else _UNREAD


def _document(record: DocumentRecord) -> dict[str, Any]:
    """Return a document as ``ragkit list --json`` does, with its date and length."""
    about = render.document_as_json(record)
    return {**about, "date": record.date, "characters": record.characters}


def _about(document: Mapping[str, Any]) -> str:
    facts = [plain(document["title"] or document["path"]), f"id {document['id']}"]
    facts += [path_of(document), document["format"], document["date"][:10]]
    facts += [plural(document["chunks"], "chunk")]
    if document["status"] != "indexed":
        facts.append(f"{document['status']}: {plain(document['reason'])}")
    return " · ".join(filter(None, facts))
