"""``ragkit show``: one document as it is indexed, and what its contexts note."""

from __future__ import annotations

from typing import Annotated

import typer

from ragkit.surfaces import render_documents
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import CollectionOption, JsonOption, LibraryOption, open_library
from ragkit.surfaces.cli.related import document_called


def show(
    what: Annotated[str, typer.Argument(metavar="DOCUMENT", help="A document's path or id.")],
    library: LibraryOption = None,
    collection: CollectionOption = None,
    json_: JsonOption = False,
) -> None:
    """Show a document, its contexts, its decisions and actions."""
    opened = open_library(library, collection)
    detail = opened.documents.get(document_called(opened, what).id)
    contexts = opened.contexts.of_document(detail.record.id)
    outcomes = opened.contexts.outcomes(detail.record.id)
    if json_:
        console.put_json(render_documents.detail_as_json(detail, contexts, outcomes))
    else:
        console.put(*render_documents.detail_as_text(detail, contexts, outcomes))
