"""``ragkit threads``: list, show, export, rename and delete kept answers."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from ragkit.errors import ThreadError
from ragkit.formatting import plural
from ragkit.surfaces import render, render_answers
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import (
    JsonOption,
    LibraryOption,
    YesOption,
    confirm,
    open_library,
)

IdArgument = Annotated[int, typer.Argument(metavar="ID", help="As ragkit threads list shows it.")]

threads = typer.Typer(help="Kept answers: list, show, export them.", no_args_is_help=True)


@threads.command("list")
def list_(library: LibraryOption = None, json_: JsonOption = False) -> None:
    """List the threads, the one that changed last first."""
    for thread in open_library(library, None).threads.list():
        if json_:
            console.put_json(
                {"id": thread.id, "title": thread.title, "turns": thread.turns,
                 "created_at": thread.created_at, "changed_at": thread.changed_at}
            )  # fmt: skip
            continue
        when = datetime.fromtimestamp(thread.changed_at).astimezone()
        count = plural(thread.turns, "question")
        console.put(
            f"{thread.id:>5}  {when:%Y-%m-%d %H:%M}  {count:>13}  {render.plain(thread.title)}"
        )


@threads.command()
def show(thread: IdArgument, library: LibraryOption = None, json_: JsonOption = False) -> None:
    """Print the questions of a thread with their answers."""
    kept = open_library(library, None).threads.get(thread)
    if json_:
        console.put_json(render_answers.thread_as_json(kept))
    else:
        console.put(*render_answers.thread_as_text(kept))


@threads.command()
def export(
    thread: IdArgument,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Where to write it; else it is printed.")
    ] = None,
    library: LibraryOption = None,
) -> None:
    """Export a thread as Markdown, with the sources of each answer."""
    text = open_library(library, None).threads.as_markdown(thread)
    if file is None:
        console.put(*text.splitlines())
        return
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError as error:
        raise ThreadError(f"{file} already exists.", "Choose another file.") from error
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise ThreadError(f"{file} cannot be written: {why}.", "Choose another place.") from error
    console.say(f"Wrote {file}.")


@threads.command()
def rename(
    thread: IdArgument,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="Its new title.")],
    library: LibraryOption = None,
) -> None:
    """Rename a thread."""
    opened = open_library(library, None)
    opened.threads.rename(thread, title)
    console.say(f"Renamed thread {thread}.")


@threads.command()
def delete(thread: IdArgument, library: LibraryOption = None, yes: YesOption = False) -> None:
    """Delete a thread with its answers; older backups have it until they are replaced."""
    opened = open_library(library, None)
    kept = opened.threads.get(thread)
    count = plural(len(kept.turns), "question")
    confirm(yes, render.plain(f'Delete "{kept.title}" with {count}?'))
    opened.threads.delete(thread)
    console.say(f"Deleted thread {thread}.")
