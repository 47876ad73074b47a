"""``ragkit models``: list, add and remove models in folders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragkit.errors import NotFoundError
from ragkit.formatting import byte_size
from ragkit.surfaces import render
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import (
    JsonOption,
    LibraryOption,
    YesOption,
    confirm,
    open_library,
)

if TYPE_CHECKING:
    from ragkit.models.folder_model import FolderModel

models = typer.Typer(
    help="Models in folders: list, add and remove them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
PathArgument = Annotated[str, typer.Argument(metavar="PATH", help="The model's folder.")]


@models.command("list")
def list_(library: LibraryOption = None, json_: JsonOption = False) -> None:
    """List the models that were added, and what they are used for."""
    opened = open_library(library, None)
    for listed in opened.models.list():
        model = listed.model
        if json_:
            console.put_json({**asdict(model), "used": listed.used, "trouble": listed.trouble})
            continue
        facts = f"{model.kind:<13}  {byte_size(model.size):>9}  {_licence(model.licence)}"
        used = f"  ({listed.used})" if listed.used else ""
        console.put(f"{facts}  {render.plain(model.name)}{used}")
        if listed.trouble:
            console.say(render.plain(listed.trouble))
    if not json_:
        reranker = opened.models.reranker or "the model that writes contexts"
        console.put(f"Reranking: {render.plain(reranker)}")


@models.command()
def add(
    path: PathArgument,
    library: LibraryOption = None,
    yes: YesOption = False,
    json_: JsonOption = False,
) -> None:
    """Check the model in a folder, show what it is, and add it to the library."""
    if "://" not in path and not Path(path).expanduser().exists():
        raise NotFoundError(f"There is no folder {path}.", "Check the path.")
    opened = open_library(library, None, create=True)
    model = opened.models.check(path)
    if json_:
        console.put_json(
            {"name": model.name, "kind": model.kind.value, "dimensions": model.dimensions,
             "size": model.size, "licence": model.licence, "checksum": model.checksum}
        )  # fmt: skip
    else:
        console.put(*_described(model))
    confirm(yes, "Use this model in the library, on the terms of its licence?")
    console.say(opened.models.add(model))


@models.command()
def remove(path: PathArgument, library: LibraryOption = None) -> None:
    """Remove a model from the library. Its files stay."""
    console.say(open_library(library, None).models.remove(path))


def _described(model: FolderModel) -> Iterator[str]:
    folder = model.folder
    yield f"Folder      {render.plain(str(folder.path))}"
    yield f"Kind        {model.kind.value}"
    if model.dimensions:
        stated = "" if folder.pooling_stated else ", as no file says otherwise"
        pooled = "" if folder.static else f" (pooling: {folder.pooling}{stated})"
        yield f"Dimensions  {model.dimensions}{pooled}"
        prompts = [
            f'"{prefix}"' for prefix in (folder.prefixes.query, folder.prefixes.passage) if prefix
        ]
        if prompts:
            yield f"Prompts     {render.plain(' and '.join(prompts))}"
    yield f"Weights     {render.plain(folder.weights.name)}, {byte_size(model.size)}"
    yield f"SHA-256     {model.checksum}"
    yield f"Licence     {_licence(model.licence)}"


def _licence(stated: str) -> str:
    return render.plain(stated) if stated else "no licence stated"
