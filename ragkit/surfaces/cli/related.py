"""``ragkit related``, and long questions of ``ragkit search``: answers by topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragkit.errors import NotFoundError
from ragkit.reading.question_text import read_text
from ragkit.surfaces import render
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import (
    AssignOption,
    CollectionOption,
    ContextOption,
    DedupOption,
    JsonOption,
    LibraryOption,
    LimitOption,
    MergeOption,
    MethodOption,
    assigned,
    assigned_chunked,
    open_library,
)

if TYPE_CHECKING:
    from ragkit.catalog.records import DocumentRecord
    from ragkit.library import Library
    from ragkit.options import SearchOptions
    from ragkit.results import Answer
    from ragkit.retrieval.multi_query import ChunkedAnswer
    from ragkit.retrieval.similar import SimilarDocuments


def related(
    what: Annotated[
        str, typer.Argument(metavar="FILE|DOCUMENT", help="A file, or a document's path or id.")
    ],
    library: LibraryOption = None,
    collection: CollectionOption = None,
    limit: LimitOption = None,
    method: MethodOption = None,
    merge: MergeOption = None,
    dedup: DedupOption = None,
    option: AssignOption = None,
    context: ContextOption = False,
    json_: JsonOption = False,
) -> None:
    """Find documents like a document, and those on its topics. Or on those of any file."""
    opened = open_library(library, collection)
    text, exclude = text_of(opened, what)
    chunked = opened.chunked_options(
        limit=limit, method=method, merge=merge, dedup=dedup, exclude=exclude
    )
    options = assigned(opened.options(), option, chunked=True)
    chunked = assigned_chunked(chunked, option)
    similar = opened.documents.similar(min(exclude)) if exclude else None
    answer = opened.search_chunked(text, options, chunked)
    show(opened, answer, context=context, as_json=json_, similar=similar)


def search_long(
    opened: Library,
    text: str,
    options: SearchOptions,
    changes: Mapping[str, Any],
    file: Path | None = None,
    *,
    option: Sequence[str] | None = None,
    context: bool,
    as_json: bool,
) -> None:
    """Answer a text by its topics, and print the answer; ``file`` itself is left out of it.

    ``changes`` are options of a long text by name, ``option`` what ``--option`` says.
    """
    exclude = _copies_of(opened, file) if file else frozenset()
    chunked = opened.chunked_options(**changes, exclude=exclude)
    chunked = assigned_chunked(chunked, option)
    answer = opened.search_chunked(text, options, chunked)
    opened.searches.note(text, answer, options, door="command", chunked=chunked)
    show(opened, answer, context=context, as_json=as_json)


def text_of(opened: Library, what: str) -> tuple[str, frozenset[int]]:
    """Return the text of a document or a file, and the ids of the documents that it is itself.

    Raises:
        NotFoundError: there is neither.
        ReadingError: the file cannot be read.
    """
    place = Path(what).expanduser()
    if place.is_file():
        return read_text(opened.settings.reading, place), _copies_of(opened, place)
    record = document_called(opened, what)
    return opened.documents.get(record.id).text, frozenset({record.id})


def document_called(opened: Library, what: str) -> DocumentRecord:
    """Return the document with that path or id.

    Raises:
        NotFoundError: there is none.
    """
    containing = "" if what.isdecimal() else what
    records = opened.documents.list(opened.settings.collection, containing=containing)
    record = next((record for record in records if what in (record.path, str(record.id))), None)
    if record is None:
        raise NotFoundError(f"No file or document {what}.", "ragkit list shows the documents.")
    return record


def _copies_of(opened: Library, place: Path) -> frozenset[int]:
    """Return the ids of the documents that are this file."""
    resolved = place.resolve()
    return frozenset(
        record.id
        for record in opened.documents.list(containing=place.name)
        if Path(record.root, record.path).resolve() == resolved
    )


def show(
    opened: Library,
    answer: ChunkedAnswer,
    *,
    context: bool,
    as_json: bool,
    similar: SimilarDocuments | None = None,
) -> None:
    """Print an answer as JSON, as a Markdown block, or as text, below ``similar`` documents."""
    if as_json:
        also = {"similar": render.similar_as_json(similar)} if similar else {}
        console.put_json({**also, **render.chunked_answer_as_json(answer)})
        return
    console.say(*answer.notices)
    if similar and not context:
        console.put(*render.similar_as_text(similar))
    if context:
        put_context(opened, answer)
    else:
        console.put(*render.chunked_answer_as_text(answer))
    if not answer.results:
        console.say("Nothing found.")


def put_context(opened: Library, answer: Answer | ChunkedAnswer) -> None:
    """Print a Markdown block of what was found; no control character gets through."""
    block = opened.answers.context(answer)
    if block:
        console.put(*map(render.plain, block.split("\n")))
