"""``ragkit collections``: list, new, rename, delete, search, prompts and chunks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragkit.errors import SettingsError
from ragkit.formatting import plural
from ragkit.models.context_prompt import PROMPT_KINDS
from ragkit.option_codec import dump_options, option_text
from ragkit.surfaces import render
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.completion import collection_names
from ragkit.surfaces.cli.options import (
    AssignOption,
    JsonOption,
    LibraryOption,
    YesOption,
    assigned,
    confirm,
    do_job,
    open_library,
)
from ragkit.surfaces.render_documents import collections_as_json

collections = typer.Typer(
    help="List, make, rename and delete collections.", no_args_is_help=True, rich_markup_mode=None
)
NameArgument = Annotated[
    str,
    typer.Argument(metavar="NAME", help="The collection.", autocompletion=collection_names),
]


@collections.command("list")
def list_(library: LibraryOption = None, json_: JsonOption = False) -> None:
    """List the collections with what they hold."""
    opened = open_library(library, None)
    for collection in collections_as_json(opened):
        if json_:
            console.put_json(collection)
        else:
            console.put(f"{collection['documents']:>8}  {render.plain(collection['name'])}")


@collections.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The collection.")],
    library: LibraryOption = None,
) -> None:
    """Make an empty collection."""
    record = open_library(library, None, create=True).collections.add(name)
    console.say(f'Made the collection "{record.name}".')


@collections.command()
def rename(
    name: NameArgument,
    to: Annotated[str, typer.Argument(metavar="NEW", help="Its new name.")],
    library: LibraryOption = None,
) -> None:
    """Rename a collection. Documents, ratings and settings stay with it."""
    opened = open_library(library, None)
    record = opened.collections.rename(name, to)
    console.say(f'"{name}" is now "{record.name}".')
    if name == opened.settings.collection != record.name:
        console.say(
            f'Commands still use "{name}" by default: set collection = "{record.name}" in the '
            "settings file, or use --collection."
        )


@collections.command()
def delete(name: NameArgument, library: LibraryOption = None, yes: YesOption = False) -> None:
    """Delete a collection with all it holds. Files of its folders stay on disk."""
    opened = open_library(library, None)
    contents = opened.collections.contents(name)
    loss = [plural(count, noun) for count, noun in contents.counted]
    if contents.uploads:
        loss.append(f"{plural(contents.uploads, 'uploaded file')}, which are deleted from disk")
    confirm(yes, f'Delete the collection "{name}" with {", ".join(loss)}?')
    do_job(opened, opened.collections.delete(name))


@collections.command()
def search(
    name: NameArgument,
    option: AssignOption = None,
    reset: Annotated[bool, typer.Option("--reset", help="Remove its own options.")] = False,
    library: LibraryOption = None,
) -> None:
    """Show or set the search options of a collection that differ from the settings file."""
    opened = open_library(library, None)
    opened.collections.get(name)
    usual = opened.options(collections=())
    chosen = usual if reset else opened.options(collections=name)
    if reset or option:
        chosen = assigned(chosen, option)
        opened.collections.set_search(name, dump_options(chosen, usual))
    for key, value in dump_options(chosen, usual).items():
        console.put(f"{key}={option_text(value)}")


@collections.command()
def prompts(
    name: NameArgument,
    kind: Annotated[
        str | None,
        typer.Argument(metavar="[PROMPT]", help=f"One of {', '.join(PROMPT_KINDS)}."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--set", metavar="FILE", help="Use the text of this file.")
    ] = None,
    reset: Annotated[bool, typer.Option("--reset", help="Use the built-in prompt again.")] = False,
    rewrite: Annotated[
        bool,
        typer.Option("--rewrite", help="Rewrite contexts that were written with another prompt."),
    ] = False,
    library: LibraryOption = None,
    json_: JsonOption = False,
) -> None:
    """Show or set the prompts for the contexts of a collection.

    Without PROMPT, list all of them. With PROMPT, print its text, or replace it by --set.
    """
    contexts = (opened := open_library(library, None)).contexts
    chosen = next((prompt_kind for prompt_kind in PROMPT_KINDS if prompt_kind == kind), None)
    if kind is not None and chosen is None:
        raise typer.BadParameter(f"PROMPT is one of {', '.join(PROMPT_KINDS)}.")
    if chosen is None and (file or reset or rewrite):
        raise typer.BadParameter("Say which PROMPT to change.")
    if file and reset:
        raise typer.BadParameter("--set and --reset cannot be combined.")
    if chosen is not None and (file or reset):
        contexts.set_prompt(name, chosen, _prompt_in(file) if file else "")
    if chosen is not None and rewrite:
        do_job(opened, contexts.rewrite(name, chosen))
    for prompt_kind, prompt in contexts.prompts(name).items():
        if chosen not in (None, prompt_kind):
            continue
        outdated = contexts.outdated(name, prompt_kind, prompt.text) if prompt.hash else 0
        if json_:
            value = {
                "prompt": prompt_kind,
                "own": prompt.own,
                "text": prompt.text,
                "outdated": outdated,
            }
            console.put_json(value)
            continue
        if chosen is None or file or reset or rewrite:
            which = "your own" if prompt.own else "built-in"
            others = f", {plural(outdated, 'context')} written with another" if outdated else ""
            console.put(f"{prompt_kind:<12}  {which}{others}")
        else:
            console.put(render.plain(prompt.text, keep="\n"))


def _prompt_in(file: Path) -> str:
    """Return the text of a file.

    Raises:
        SettingsError: it cannot be read.
    """
    try:
        return file.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SettingsError(f"{file} is not UTF-8 text.", "Save it again as UTF-8.") from error
    except OSError as error:
        raise SettingsError(
            f"{file} cannot be read: {error.strerror or error}.", "Name another file."
        ) from error


@collections.command()
def chunks(
    name: NameArgument,
    words: Annotated[int | None, typer.Option(help="Maximum words in a chunk.")] = None,
    overlap: Annotated[int | None, typer.Option(help="Words repeated from the one before.")] = None,
    min_words: Annotated[
        int | None, typer.Option(help="Smaller neighbouring sections are merged.")
    ] = None,
    library: LibraryOption = None,
) -> None:
    """Show or set the chunk sizes of a collection. After a change it is indexed again."""
    opened = open_library(library, None)
    opened.collections.get(name)
    sizes = {"words": words, "overlap": overlap, "min_words": min_words}
    job = opened.collections.set_chunking(
        name, {key: value for key, value in sizes.items() if value is not None}
    )
    if job is not None:
        do_job(opened, job)
    now = opened.collections.chunking(name)
    console.put(f"{now.words} words, {now.overlap} overlap, {now.min_words} smallest section")
