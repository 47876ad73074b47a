"""``ragkit related``, and ``ragkit search --chunked``: searches by topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragkit.reading.question_text import read_text
from ragkit.surfaces import render
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.documents import document_called
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
    """Find documents like a document, and those on its topics. FILE may be any file."""
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
    """Search for the topics of a text and print the results, without ``file`` itself.

    ``changes`` are options of a long text by name, ``option`` the assignments of ``--option``.
    """
    exclude = _copies_of(opened, file) if file else frozenset()
    chunked = opened.chunked_options(**changes, exclude=exclude)
    chunked = assigned_chunked(chunked, option)
    answer = opened.search_chunked(text, options, chunked)
    opened.searches.note(text, answer, options, door="command", chunked=chunked)
    show(opened, answer, context=context, as_json=as_json)


def text_of(opened: Library, what: str) -> tuple[str, frozenset[int]]:
    """Return the text of a document or file, and the ids of the documents with that file.

    Raises:
        NotFoundError: there is neither.
        ReadingError: the file cannot be read.
    """
    place = Path(what).expanduser()
    if place.is_file():
        return read_text(opened.settings.reading, place), _copies_of(opened, place)
    record = document_called(opened, what)
    return opened.documents.get(record.id).text, frozenset({record.id})


def _copies_of(opened: Library, place: Path) -> frozenset[int]:
    """Return the ids of the documents with this file."""
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
    """Print the results as a Markdown block, without control characters."""
    block = opened.answers.context(answer)
    if block:
        console.put(*map(render.plain, block.split("\n")))
