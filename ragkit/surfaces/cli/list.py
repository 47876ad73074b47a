"""``ragkit list``: the documents of the library."""

from __future__ import annotations

from typing import Annotated

import typer

from ragkit.surfaces import render
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import CollectionOption, JsonOption, LibraryOption, open_library
from ragkit.types import Status


def list_(
    library: LibraryOption = None,
    collection: CollectionOption = None,
    status: Annotated[Status | None, typer.Option(help="Only documents with this status.")] = None,
    json_: JsonOption = False,
) -> None:
    """List the documents, one per line."""
    opened = open_library(library, collection)
    for record in opened.documents.list(collection, status=status):
        if json_:
            console.put_json(render.document_as_json(record))
        else:
            reason = f"  {record.reason}" if record.reason else ""
            console.put(
                f"{record.status.value:<8} {record.chunks:>5}  {render.plain(record.path + reason)}"
            )
