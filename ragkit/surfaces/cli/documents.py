"""``ragkit add``, ``list``, ``show``, ``remove`` and ``retry``: the documents of the library."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated

import typer

from ragkit.errors import NotFoundError, SourceError
from ragkit.surfaces import render, render_documents
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import (
    CollectionOption,
    JsonOption,
    LibraryOption,
    YesOption,
    confirm,
    do_job,
    open_library,
)
from ragkit.types import Status

if TYPE_CHECKING:
    from ragkit.catalog.records import DocumentRecord
    from ragkit.library import Library


def add(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Folders or files.")],
    library: LibraryOption = None,
    collection: CollectionOption = None,
) -> None:
    """Add folders to the library and index them. Single files are copied into it.

    What cannot be added is said at the end, after the rest was indexed.
    """
    for path in paths:
        if not path.expanduser().exists():
            raise NotFoundError(f"There is no file or folder {path}.", "Check the path.")
    opened = open_library(library, collection, create=True)
    jobs: list[int] = []
    refused: list[SourceError] = []
    for path in paths:
        try:
            jobs.append(_added(opened, path))
        except SourceError as error:
            refused.append(error)
    for job in dict.fromkeys(jobs):
        do_job(opened, job)
    for each in refused[:-1]:
        console.say(str(each))
    if refused:
        raise refused[-1]


def _added(opened: Library, path: Path) -> int:
    """Add a folder, or copy a file; return the number of the job that reads it."""
    if not path.is_file():
        return opened.sources.sync(opened.sources.add_folder(path))
    with path.open("rb") as stream:
        uploads = opened.uploads.add(path.name, stream)
    for upload in uploads:
        copy = f"Already in the library: {upload.same_as}" if upload.same_as else ""
        console.say(render.plain(f"{upload.name}: {copy or upload.reason or 'copied'}"))
    return opened.sources.sync(opened.sources.uploads())


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


def show(
    what: Annotated[
        str,
        typer.Argument(
            metavar="DOCUMENT", help="A document's path or id, or a file of the library."
        ),
    ],
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


def document_called(opened: Library, what: str) -> DocumentRecord:
    """Return the document of the settings' collection with that path or id, else of that file.

    Raises:
        NotFoundError: there is none; the error names another collection that has one.
    """
    place = Path(what).expanduser().resolve()
    containing = "" if what.isdecimal() else place.name
    for collection in (opened.settings.collection, None):
        record = _called(opened.documents.list(collection, containing=containing), what, place)
        if record is not None and collection is not None:
            return record
        if record is not None:
            raise NotFoundError(
                f'{what} is in the collection "{record.collection}".',
                f"Name it: --collection {shlex.quote(record.collection)}.",
            )
    raise NotFoundError(f"No file or document {what}.", "ragkit list shows the documents.")


def _called(records: Sequence[DocumentRecord], what: str, place: Path) -> DocumentRecord | None:
    named = (record for record in records if what in (record.path, str(record.id)))
    files = (
        record
        for record in records
        if not what.isdecimal() and Path(record.root, record.path).resolve() == place
    )
    return next(chain(named, files), None)


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
    place = str(Path(what).expanduser().resolve())
    sources = opened.sources.list(collection)
    source = next((source for source in sources if source.root in (what, place)), None)
    if source is not None:
        confirm(yes, f"Remove {source.root} with {source.documents} documents from the library?")
        do_job(opened, opened.sources.remove(source.id))
        return
    documents = opened.documents.list(collection, containing=what)
    document = next((document for document in documents if document.path == what), None)
    if document is None:
        raise NotFoundError(
            f"No folder or document {what}.",
            "ragkit status lists the folders, ragkit list the documents.",
        )
    if any(source.id == document.source_id and source.kind == "uploads" for source in sources):
        confirm(yes, f"Remove {document.path} from the library?")
    do_job(opened, opened.documents.remove([document.id]))


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
        raise NotFoundError(f"No failed file at {path}.", "ragkit list --status failed lists them.")
    if not chosen:
        console.say("No failed files.")
        return
    do_job(opened, opened.documents.retry([document.id for document in chosen]))


def _is_at(document: DocumentRecord, path: str) -> bool:
    """Return whether a document is that file or lies in that folder, on disk or in its source."""
    place, named = Path(path).expanduser().absolute(), PurePosixPath(path)
    file, inner = Path(document.root, document.path), PurePosixPath(document.path)
    return file.is_relative_to(place) or inner.is_relative_to(named)
