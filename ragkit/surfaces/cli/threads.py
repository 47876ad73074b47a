"""``ragkit threads``: list, show, export, rename and delete kept answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragkit.formatting import local_time, plural
from ragkit.surfaces import render, render_answers
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import (
    JsonOption,
    LibraryOption,
    YesOption,
    confirm,
    open_library,
)

IdArgument = Annotated[int, typer.Argument(metavar="ID", help="Its id in ragkit threads list.")]

threads = typer.Typer(
    help="Saved answers: list, show, export, rename and delete them.", no_args_is_help=True
)


@threads.command("list")
def list_(library: LibraryOption = None, json_: JsonOption = False) -> None:
    """List the threads, the most recently changed first."""
    for thread in open_library(library, None).threads.list():
        if json_:
            console.put_json(
                {"id": thread.id, "title": thread.title, "turns": thread.turns,
                 "created_at": thread.created_at, "changed_at": thread.changed_at}
            )  # fmt: skip
            continue
        when, count = local_time(thread.changed_at), plural(thread.turns, "question")
        console.put(f"{thread.id:>5}  {when}  {count:>13}  {render.plain(thread.title)}")


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
        Path | None,
        typer.Argument(metavar="[FILE]", help="Where to write it; by default, print it."),
    ] = None,
    library: LibraryOption = None,
) -> None:
    """Export a thread as Markdown, with the sources of each answer."""
    text = open_library(library, None).threads.as_markdown(thread)
    if file is None:
        console.put(*text.splitlines())
        return
    console.write_new_file(file, text)
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
    """Delete a thread with its answers. Older backups keep it until they are replaced."""
    opened = open_library(library, None)
    kept = opened.threads.get(thread)
    count = plural(len(kept.turns), "question")
    confirm(yes, render.plain(f'Delete "{kept.title}" with {count}?'))
    opened.threads.delete(thread)
    console.say(f"Deleted thread {thread}.")
