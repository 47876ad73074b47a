"""Long questions on the command line: ``ragkit search --file`` and ``ragkit related``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ragkit.errors import NotFoundError
from ragkit.library import Library
from ragkit.options import (
    CHUNKED_OPTIONS,
    CutMethod,
    Dedup,
    IndexMode,
    Merge,
    SearchOptions,
)
from ragkit.results import Answer
from ragkit.retrieval.context_block import format_as_context
from ragkit.retrieval.multi_query import ChunkedAnswer
from ragkit.surfaces import render
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import (
    AssignOption,
    CollectionOption,
    ContextOption,
    JsonOption,
    LibraryOption,
    LimitOption,
    assigned,
    assigned_chunked,
    flag,
    open_library,
)
from ragkit.surfaces.long_text import read_text


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command("related")(related)


def related(
    what: Annotated[
        str, typer.Argument(metavar="FILE|DOCUMENT", help="A file, or a document's path or id.")
    ],
    library: LibraryOption = None,
    collection: CollectionOption = None,
    limit: LimitOption = None,
    method: Annotated[CutMethod | None, flag(CHUNKED_OPTIONS["method"])] = None,
    merge: Annotated[Merge | None, flag(CHUNKED_OPTIONS["merge"])] = None,
    dedup: Annotated[Dedup | None, flag(CHUNKED_OPTIONS["dedup"])] = None,
    option: AssignOption = None,
    context: ContextOption = False,
    json_: JsonOption = False,
) -> None:
    """Find the documents that are related to a document or to any readable file."""
    opened = open_library(library, collection)
    text, exclude = text_of(opened, what)
    chunked = opened.chunked_options(
        limit=limit, method=method, merge=merge, dedup=dedup, exclude=exclude
    )
    options = assigned(opened.options(), option, chunked=True)
    chunked = assigned_chunked(chunked, option)
    show(opened.search_chunked(text, options, chunked), context=context, as_json=json_)


def search_long(
    opened: Library,
    text: str,
    options: SearchOptions,
    limit: int | None,
    file: Path | None = None,
    *,
    index: IndexMode | None = None,
    option: Sequence[str] | None = None,
    context: bool,
    as_json: bool,
) -> None:
    """Answer a text by its topics, and print the answer; ``file`` itself is left out of it."""
    exclude = _copies_of(opened, file) if file else frozenset()
    chunked = opened.chunked_options(limit=limit, exclude=exclude, mode=index)
    chunked = assigned_chunked(chunked, option)
    show(opened.search_chunked(text, options, chunked), context=context, as_json=as_json)


def text_of(opened: Library, what: str) -> tuple[str, frozenset[int]]:
    """The text of a document or a file, and the documents that it is itself.

    Raises:
        NotFoundError: there is neither.
        ReadingError: the file cannot be read.
    """
    place = Path(what).expanduser()
    if place.is_file():
        return read_text(opened.settings.reading, place), _copies_of(opened, place)
    record = next(
        (
            one
            for one in opened.documents.list(
                opened.settings.collection, containing=_containing(what)
            )
            if what in (one.path, str(one.id))
        ),
        None,
    )
    if record is None:
        raise NotFoundError(
            f"There is no file or document {what}.", "ragkit list names the documents."
        )
    return opened.documents.get(record.id).text, frozenset({record.id})


def _containing(what: str) -> str:
    return "" if what.isdecimal() else what


def _copies_of(opened: Library, place: Path) -> frozenset[int]:
    """The documents that are this very file."""
    resolved = place.resolve()
    return frozenset(
        one.id
        for one in opened.documents.list(containing=place.name)
        if Path(one.root, one.path).resolve() == resolved
    )


def show(answer: ChunkedAnswer, *, context: bool, as_json: bool) -> None:
    """Print an answer as JSON, as a Markdown block, or as text."""
    if as_json:
        console.put_json(answer_as_json(answer))
        return
    for notice in answer.notices:
        console.say(notice)
    if context:
        put_context(answer)
    else:
        for line in answer_as_text(answer):
            console.put(line)
    if not answer.results:
        console.say("Nothing found.")


def put_context(answer: Answer | ChunkedAnswer) -> None:
    """Print a Markdown block of what was found; no control character gets through."""
    block = format_as_context(answer)
    if block:
        console.put("\n".join(render.plain(line) for line in block.split("\n")))


def answer_as_text(answer: ChunkedAnswer) -> list[str]:
    """The answer as lines for a terminal."""
    lines = [answer.summary, ""]
    lines += [f"[{one.topic.index + 1}] {render.plain(one.topic.name)}" for one in answer.topics]
    lines.append("")
    for number, found in enumerate(answer.results, 1):
        document = found.result.document
        topics = " ".join(f"[{index + 1}]" for index in found.topics)
        lines.append(
            f"{number}. {render.plain(document.title)}  {found.result.score:.2f}  {topics}"
        )
        lines.append(f"   {render.plain(document.path)} · {found.result.chunk_coverage}")
    return lines


def answer_as_json(answer: ChunkedAnswer) -> dict[str, Any]:
    """The answer as the JSON object that ``--chunked --json`` prints."""
    return {
        "topics": [
            {
                "name": one.topic.name,
                "start": one.topic.start,
                "end": one.topic.end,
                "documents": [
                    {"id": document, "score": score} for document, score in one.documents
                ],
            }
            for one in answer.topics
        ],
        "results": [
            {**render.result_as_json(one.result), "topics": list(one.topics)}
            for one in answer.results
        ],
        "metrics": {
            "pieces": answer.pieces,
            "hits": answer.hits,
            "documents": answer.documents,
            "shown": len(answer.results),
        },
        "notices": list(answer.notices),
        "trace": render.trace_as_json(answer.trace),
    }
