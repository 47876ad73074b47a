"""``ragkit search``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ragkit.errors import QueryError
from ragkit.options import SEARCH_OPTIONS, IndexMode
from ragkit.settings import load_settings
from ragkit.surfaces import render
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import (
    AssignOption,
    CollectionOption,
    ContextOption,
    DedupOption,
    FusionOption,
    JsonOption,
    LibraryOption,
    LimitOption,
    MergeOption,
    MethodOption,
    ModeOption,
    RerankOption,
    WebOption,
    YesOption,
    assigned,
    flag,
    open_library,
)


def search(
    question: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QUESTION...",
            help='What to look for. type:pdf, "a phrase" and, after --, -word restrict it.',
        ),
    ] = None,
    library: LibraryOption = None,
    collection: CollectionOption = None,
    mode: ModeOption = None,
    fusion: FusionOption = None,
    index: Annotated[IndexMode | None, flag(SEARCH_OPTIONS["index"])] = None,
    rerank: RerankOption = None,
    limit: LimitOption = None,
    option: AssignOption = None,
    json_: JsonOption = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Explain why each result was found.")
    ] = False,
    file: Annotated[
        Path | None, typer.Option("--file", metavar="FILE", help="Read the question from a file.")
    ] = None,
    chunked: Annotated[
        bool,
        typer.Option("--chunked", help="Search for each topic of a long question."),
    ] = False,
    method: MethodOption = None,
    merge: MergeOption = None,
    dedup: DedupOption = None,
    context: ContextOption = False,
    web: WebOption = False,
    yes: YesOption = False,
) -> None:
    """Search the library."""
    text = _question(question or [], file)
    opened = open_library(library, collection)
    if web and (chunked or context):
        raise QueryError("--web cannot be combined with --chunked or --context.", "Leave one out.")
    if web:
        opened.web.preview(text)  # Refused now if it is off, and not after the search.
    of_long = {"method": method, "merge": merge, "dedup": dedup}
    if not chunked and any(of_long.values()):
        raise QueryError("--method, --merge and --dedup are for long questions.", "Add --chunked.")
    options = opened.options(mode=mode, fusion=fusion, index=index, rerank=rerank, limit=limit)
    options = assigned(options, option, chunked=chunked)
    if chunked or context:
        from ragkit.surfaces.cli import related
    if chunked:
        changes = {**of_long, "limit": limit, "mode": index}
        related.search_long(
            opened, text, options, changes, file, option=option, context=context, as_json=json_
        )
        return
    answer = opened.search(text, options)
    opened.searches.note(text, answer, options, door="command")
    opened.contexts.note_hits(answer)
    preview = opened.web.preview(text, answer.readings) if web else None
    if preview:
        from ragkit.surfaces.cli.web import search_web
        from ragkit.surfaces.render_web import web_as_json, web_as_text
    quoted = opened.answers.excerpts(answer.corrected or answer.query, answer.results)
    if json_:
        value = render.answer_as_json(answer, quoted)
        if preview:
            value["web"] = web_as_json(search_web(opened, preview, yes=yes))
        console.put_json(value)
        return
    console.say(*render.remarks(answer))
    if context:
        related.put_context(opened, answer)
        return
    colour = console.colourful()
    console.put(*render.answer_as_text(answer, quoted, explain=explain, colour=colour))
    if not answer.results:
        console.say("Nothing found.")
    if preview:
        console.put(*web_as_text(search_web(opened, preview, yes=yes)))


def _question(words: Sequence[str], file: Path | None) -> str:
    """Return the question: the words of the command line, then the text of the file."""
    text = " ".join(words)
    if file is not None:
        from ragkit.reading.question_text import read_text

        text = f"{text}\n\n{read_text(load_settings().reading, file)}".strip()
    if not text.strip():
        raise QueryError("The question is empty.", "Write what to look for.")
    return text
