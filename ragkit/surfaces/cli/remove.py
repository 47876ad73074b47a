"""``ragkit remove``: take a folder or an uploaded document out of the library."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragkit.errors import NotFoundError
from ragkit.surfaces.cli.options import (
    CollectionOption,
    LibraryOption,
    YesOption,
    confirm,
    do_job,
    open_library,
)


def remove(
    what: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER|PATH", help="A folder of the library, or an uploaded document."
        ),
    ],
    library: LibraryOption = None,
    collection: CollectionOption = None,
    yes: YesOption = False,
) -> None:
    """Remove a folder from the library, or an uploaded document. Your own files stay."""
    opened = open_library(library, collection)
    if collection:
        opened.collections.get(collection)
    sources = opened.sources.list(collection)
    place = str(Path(what).expanduser().resolve())
    chosen = [source for source in sources if source.root in (what, place)]
    if chosen:
        source = chosen[0]
        confirm(yes, f"Remove {source.root} with {source.documents} documents from the library?")
        do_job(opened, opened.sources.remove(source.id))
        return
    documents = [
        document
        for document in opened.documents.list(collection, containing=what)
        if document.path == what
    ]
    if not documents:
        raise NotFoundError(
            f"No folder or document {what}.", "ragkit status lists folders, ragkit list documents."
        )
    confirm(yes, f"Remove {documents[0].path} from the library?")
    do_job(opened, opened.documents.remove([documents[0].id]))
