"""Documents as MCP resources: pages of a list, and the text of each."""

from __future__ import annotations

import re

import mcp_types as types

from ragkit.errors import NotFoundError, QueryError
from ragkit.library import Library
from ragkit.retrieval.context_block import one_line, seen
from ragkit.types import Status

PAGE = 100
"""The documents on one page of the list."""

LONGEST = 200_000
"""The most characters of a document as a resource; get_document reads any part."""

TEMPLATE = types.ResourceTemplate(
    uri_template="ragkit://documents/{id}",
    name="document",
    title="A document of the library",
    description="The text of a document, by the id that searches name.",
    mime_type="text/plain",
)

_URI = re.compile(r"ragkit://documents/([0-9]{1,15})")


def listed(library: Library, cursor: str | None) -> types.ListResourcesResult:
    """Return a page of the indexed documents, by path, and the cursor of the next.

    Raises:
        QueryError: the cursor is not valid.
    """
    if cursor is not None and not re.fullmatch(r"[0-9]{1,15}", cursor):
        raise QueryError("The cursor is not valid.", "Start again without one.")
    first = int(cursor or 0)
    records = library.documents.list(status=Status.INDEXED, limit=PAGE + 1, offset=first)
    return types.ListResourcesResult(
        resources=[
            types.Resource(
                uri=f"ragkit://documents/{record.id}",
                name=one_line(record.path),
                title=one_line(record.title or record.path),
                description=f"Collection {one_line(record.collection)}",
                mime_type="text/plain",
            )
            for record in records[:PAGE]
        ],
        next_cursor=str(first + PAGE) if len(records) > PAGE else None,
    )


def content(library: Library, uri: str) -> types.ReadResourceResult:
    """Return the text of the document with that URI, or its beginning if it is long.

    Raises:
        NotFoundError: there is none.
    """
    match = _URI.fullmatch(uri)
    if match is None:
        raise NotFoundError(
            f"There is no resource {one_line(uri)[:80]}.",
            "Documents are ragkit://documents/ID; a search names their ids.",
        )
    text = library.documents.get(int(match[1])).text
    shown = [types.TextResourceContents(uri=uri, mime_type="text/plain", text=seen(text[:LONGEST]))]
    if len(text) > LONGEST:
        rest = (
            f"This is the beginning, {LONGEST} of {len(text)} characters. To read on: "
            f"get_document(id={match[1]}, start={LONGEST})."
        )
        shown.append(types.TextResourceContents(uri=uri, mime_type="text/plain", text=rest))
    return types.ReadResourceResult(contents=list(shown))
