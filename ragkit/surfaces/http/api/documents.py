"""``/documents``: the list of documents, one document, parts of its text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Request

from ragkit.catalog.records import DocumentRecord
from ragkit.errors import QueryError
from ragkit.surfaces import render, render_documents
from ragkit.surfaces.http.api.answers import Json, described
from ragkit.surfaces.http.api.jobs import queued
from ragkit.surfaces.http.api.requests import (
    AnyCollection,
    LimitInQuery,
    NumberInPath,
    OffsetInPath,
    OffsetInQuery,
    TextInQuery,
    library_of,
)
from ragkit.surfaces.http.api.routing import Route
from ragkit.surfaces.http.api.shapes import DOCUMENT, JOB, PASSAGE
from ragkit.types import Status

router = APIRouter(route_class=Route, tags=["documents"])


@router.get(
    "/documents",
    **described(
        "`documents`, each as `ragkit list --json` prints it, and whether there are `more`.",
        {"documents": "array", "more": "boolean"},
    ),
)
def list_documents(
    request: Request,
    collection: AnyCollection = None,
    status: Annotated[Status | None, Query()] = None,
    containing: Annotated[TextInQuery, Query(description="A part of the path.")] = "",
    filters: Annotated[
        TextInQuery, Query(description='Filters instead of these: "type:md after:2025".')
    ] = "",
    limit: LimitInQuery = 100,
    offset: OffsetInQuery = 0,
) -> Json:
    """List documents by path, those with a problem first; with filters, newest first."""
    library = library_of(request)
    part = {"limit": limit + 1, "offset": offset}
    records: Sequence[DocumentRecord]
    if not filters.strip():
        records = library.documents.list(collection, status=status, containing=containing, **part)
    elif containing or status:
        raise QueryError("filters cannot be combined with containing or status.", "Leave one out.")
    else:
        names = library.collections.names() if collection is None else [collection]
        parsed = library.options(filters=filters, collections=names).filters
        records = library.documents.filtered(parsed, names, **part)
    documents = [render.document_as_json(record) for record in records[:limit]]
    return Json({"documents": documents, "more": len(records) > limit})


@router.get(
    "/documents/{document}",
    **described(
        "The document, as `ragkit show --json` prints it.",
        DOCUMENT,
    ),
)
def get_document(document: NumberInPath, request: Request) -> Json:
    """Return a document with its chunks, their contexts, and its decisions and actions."""
    library = library_of(request)
    detail = library.documents.get(document)
    contexts = library.contexts.of_document(document)
    outcomes = library.contexts.outcomes(document)
    return Json(render_documents.detail_as_json(detail, contexts, outcomes))


@router.delete(
    "/documents/{document}", **described("The job that removes it, if it was uploaded.", JOB, 202)
)
def remove_document(document: NumberInPath, request: Request) -> Json:
    """Remove an uploaded document with its file. Documents of folders cannot be removed."""
    library = library_of(request)
    library.documents.get(document)
    return queued(library, library.documents.remove([document]))


@router.get(
    "/documents/{document}/text",
    **described(
        "The passage, as `ragkit search --json` prints one; `cut` if it was too long.", PASSAGE
    ),
)
def get_text(
    document: NumberInPath,
    request: Request,
    start: Annotated[OffsetInQuery, Query(description="The first character, from 0.")] = 0,
    end: Annotated[
        OffsetInQuery | None, Query(description="The character after the last; by default its end.")
    ] = None,
) -> Json:
    """Return a part of a document's stored text, with its headings and page."""
    passage = library_of(request).documents.passage(document, start, end)
    return Json(render.passage_as_json(passage))


@router.get(
    "/documents/{document}/chunks/{chunk}",
    **described("The passage, as `ragkit search --json` prints one.", PASSAGE),
)
def get_chunk(
    document: NumberInPath,
    chunk: OffsetInPath,
    request: Request,
    reach: Annotated[
        int, Query(alias="neighbours", ge=0, le=50, description="Chunks on each side.")
    ] = 0,
) -> Json:
    """Return a chunk of a document, counted from 0, with its neighbours."""
    passage = library_of(request).documents.neighbours(document, chunk, reach)
    return Json(render.passage_as_json(passage))
