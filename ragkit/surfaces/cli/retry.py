"""``ragkit retry``: read again what could not be read, without waiting for the next attempt."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Annotated

import typer

from ragkit.catalog.records import DocumentRecord
from ragkit.errors import NotFoundError
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import CollectionOption, LibraryOption, do_job, open_library


def retry(
    path: Annotated[
        str | None, typer.Argument(metavar="[PATH]", help="A file or folder; by default all.")
    ] = None,
    library: LibraryOption = None,
    collection: CollectionOption = None,
) -> None:
    """Retry the files that could not be read."""
    opened = open_library(library, collection)
    if collection:
        opened.collections.get(collection)
    failed = opened.documents.failed(collection)
    chosen = [document for document in failed if path is None or _is_at(document, path)]
    if path is not None and not chosen:
        raise NotFoundError(
            f"No failed file at {path}.",
            "ragkit list --status failed shows them.",
        )
    if not chosen:
        console.say("No failed files.")
        return
    do_job(opened, opened.documents.retry([document.id for document in chosen]))


def _is_at(document: DocumentRecord, path: str) -> bool:
    """Return whether a document is that file or lies in that folder, on disk or in its source."""
    place, named = Path(path).expanduser().absolute(), PurePosixPath(path)
    file, inner = Path(document.root, document.path), PurePosixPath(document.path)
    return file.is_relative_to(place) or inner.is_relative_to(named)
