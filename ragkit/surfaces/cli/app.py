"""The command line. Results go to standard output, everything else to standard error.

Exit codes: 0 done, 1 failed, 2 wrong use, 3 library unusable, 4 library busy, 5 not found.
"""

from __future__ import annotations

import logging
import os
import sys
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ragkit import __version__
from ragkit.catalog.uploads import UploadRecord
from ragkit.errors import NotFoundError, QueryError, RagkitError
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
    close_libraries,
    confirm,
    do_job,
    flag,
    open_library,
)
from ragkit.surfaces.failures import noted
from ragkit.types import Status

ELSEWHERE = {
    "ask": "ask.ask",
    "threads": "threads.threads",
    "sync": "sync.sync",
    "eval": "evaluate.evaluate_questions",
    "ablate": "ablate.ablate_set",
    "retry": "retry.retry",
    "doctor": "maintenance.doctor",
    "verify": "maintenance.verify",
    "compact": "maintenance.compact",
    "jobs": "maintenance.jobs",
    "backup": "recovery.backup",
    "restore": "recovery.restore",
    "recover": "recovery.recover",
    "export": "maintenance.export_",
    "import": "maintenance.import_",
    "contextualize": "background.contextualize",
    "embedder": "background.embedder",
    "models": "models.models",
    "judgments": "judgments.judgments",
    "show": "show.show",
    "related": "related.related",
    "collections": "collections.collections",
    "open": "serving.open_",
}
"""Commands by name, each with its module and its function there, in the order of the help."""


class CommandGroup(TyperGroup):
    """The commands of ``app``, and those of ``ELSEWHERE`` as soon as one is named."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of that name, or ``None``; a wrong name loads all of them."""
        if cmd_name not in self.commands:
            for name in [cmd_name] if cmd_name in ELSEWHERE else ELSEWHERE:
                self.commands.setdefault(name, _load(name))
        return super().get_command(ctx, cmd_name)

    def invoke(self, ctx: Any) -> Any:
        """Run a command, and close what it opened however it ends."""
        try:
            return super().invoke(ctx)
        finally:
            close_libraries()

    def list_commands(self, ctx: Any) -> list[str]:
        """Return every name, in the order of the help."""
        own = [name for name in super().list_commands(ctx) if name not in ELSEWHERE]
        return [*own, *ELSEWHERE]


def _load(name: str) -> Any:
    """Return a command of ``ELSEWHERE``."""
    module, _, attribute = ELSEWHERE[name].partition(".")
    command = getattr(import_module(f"ragkit.surfaces.cli.{module}"), attribute)
    part = typer.Typer(rich_markup_mode=None)
    if isinstance(command, typer.Typer):
        part.add_typer(command, name=name)
    else:
        part.command(name)(command)
    return typer.main.get_group(part).commands[name]


app = typer.Typer(
    name="ragkit",
    cls=CommandGroup,
    help="A private search engine for your own documents.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def main() -> None:
    """Run the command line; every failure ends with a sentence and an exit code."""
    # What commands, the worker and the page server write is this person's alone.
    os.umask(0o077)
    console.write_what_can_be_written()
    # What a person should know is said as a notice; the worker logs to its file.
    logging.getLogger("ragkit").addHandler(logging.NullHandler())
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except RagkitError as error:
        console.say(f"ragkit: {error}")
        sys.exit(error.exit_code)
    except BrokenPipeError:
        console.stop_writing()
        sys.exit(0)
    except KeyboardInterrupt:
        console.say("ragkit: stopped. Finished work is kept.")
        sys.exit(130)
    except Exception as error:  # noqa: BLE001 - nobody is shown a traceback
        console.say(f"ragkit: {noted(error)}")
        sys.exit(1)


@app.command()
def add(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Folders or files.")],
    library: LibraryOption = None,
    collection: CollectionOption = None,
) -> None:
    """Add folders to the library and index them. Single files are copied into it."""
    opened = open_library(library, collection, create=True)
    jobs = []
    for path in paths:
        if path.is_file():
            with path.open("rb") as stream:
                stored = opened.uploads.add(path.name, stream)
            console.say(*map(_of_upload, stored))
            jobs.append(opened.sources.sync(opened.sources.uploads()))
        else:
            jobs.append(opened.sources.sync(opened.sources.add_folder(path)))
    for job in dict.fromkeys(jobs):
        do_job(opened, job)


def _of_upload(record: UploadRecord) -> str:
    what = f"Already in the library: {record.same_as}" if record.same_as else record.reason
    return render.plain(f"{record.name}: {what or 'copied'}")


@app.command("list")
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


@app.command()
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


@app.command()
def search(
    question: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QUESTION...",
            help='What to look for; type:, "a phrase" and -word work (after --, for the last).',
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
    explain: Annotated[bool, typer.Option("--explain", help="Say why each was found.")] = False,
    file: Annotated[
        Path | None, typer.Option("--file", metavar="FILE", help="Take the question from a file.")
    ] = None,
    chunked: Annotated[
        bool, typer.Option("--chunked", help="Let each topic of a long question ask for itself.")
    ] = False,
    method: MethodOption = None,
    merge: MergeOption = None,
    dedup: DedupOption = None,
    context: ContextOption = False,
    web: WebOption = False,
    yes: YesOption = False,
) -> None:
    """Search the library."""
    text = " ".join(question or [])
    if file is not None:
        from ragkit.reading.question_text import read_text

        text = f"{text}\n\n{read_text(load_settings().reading, file)}".strip()
    if not text.strip():
        raise QueryError("The question is empty.", "Say what to look for.")
    opened = open_library(library, collection)
    if web and (chunked or context):
        raise QueryError("--web takes a plain question.", "Leave out --chunked and --context.")
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
    opened.contexts.note_hits(answer)
    preview = opened.web.preview(text, answer.readings) if web else None
    if preview:
        from ragkit.surfaces.cli.web import put_web, web_json
    quoted = opened.answers.excerpts(answer.corrected or answer.query, answer.results)
    if json_:
        found = {"web": web_json(opened, preview, yes=yes)} if preview else {}
        console.put_json({**render.answer_as_json(answer, quoted), **found})
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
        put_web(opened, preview, yes=yes)


@app.command()
def status(
    library: LibraryOption = None, collection: CollectionOption = None, json_: JsonOption = False
) -> None:
    """Show what the library holds and what is running."""
    opened = open_library(library, collection)
    if collection:
        opened.collections.get(collection)
    counts = opened.documents.counts(collection)
    sources = opened.sources.list(collection)
    worker = opened.worker.state()
    contexts = opened.contexts.status(collection)
    if json_:
        console.put_json(
            {
                "library": str(opened.paths.root),
                "documents": counts.documents,
                "indexed": counts.indexed,
                "pending": counts.pending,
                "skipped": counts.skipped,
                "failed": counts.failed,
                "chunks": counts.chunks,
                "collections": [*opened.collections.names()],
                "sources": [
                    {"root": source.root, "collection": source.collection, "state": source.state,
                     "documents": source.documents, "failed": source.failed,
                     "reason": source.reason}
                    for source in sources
                ],
                "contexts": {**asdict(contexts.counts), "cost": asdict(contexts.cost)},
                "writing": worker.running,
            }
        )  # fmt: skip
        return
    console.put(f"Library    {opened.paths.root}")
    console.put(
        f"Documents  {counts.indexed} indexed, {counts.pending} pending, "
        f"{counts.skipped} skipped, {counts.failed} failed; {counts.chunks} chunks"
    )
    for source in sources:
        note = f"  {source.reason}" if source.reason else ""
        console.put(
            f"Source     {source.root} ({source.collection}, {source.state}, "
            f"{source.documents} documents){note}"
        )
    console.put(f"Writing    {'yes' if worker.running else 'no'}")
    from ragkit.health.recovery import describe
    from ragkit.surfaces.cli.background import status_lines

    console.put(f"Backups    {describe(opened.health.backups())}")
    console.put(*status_lines(opened, contexts))


@app.command()
def serve(
    library: LibraryOption = None,
    collection: CollectionOption = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on this machine.")] = 8501,
    sample: Annotated[
        bool, typer.Option("--sample", help="Index the sample library if the library is empty.")
    ] = False,
    browser: Annotated[bool, typer.Option(help="Open a browser.")] = True,
    locked: Annotated[
        bool | None,
        typer.Option("--locked/--unlocked", help="Require a one-time link to open the app."),
    ] = None,
) -> None:
    """Open the app in the browser, with a worker that keeps the library up to date."""
    from ragkit.surfaces.serve import run_app

    opened = open_library(library, collection, create=True)
    locked = opened.settings.server.locked if locked is None else locked
    raise typer.Exit(run_app(opened, port=port, sample=sample, browser=browser, locked=locked))


@app.command()
def worker(library: LibraryOption = None, collection: CollectionOption = None) -> None:
    """Keep the library up to date until stopped. ragkit serve starts a worker of its own."""
    from ragkit.surfaces.serve import run_worker

    run_worker(open_library(library, collection, create=True))


@app.command()
def version() -> None:
    """Print the version."""
    console.put(__version__)
