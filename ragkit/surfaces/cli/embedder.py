"""``ragkit embedder``: in this process, or by the worker if one is running."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from ragkit.background.loop import INDEXING_FIRST
from ragkit.catalog.background_state import BackgroundPhase, EmbedderState
from ragkit.formatting import byte_size, duration, plural
from ragkit.indexing.progress import Progress
from ragkit.indexing.writer import lock_is_held
from ragkit.library import Library
from ragkit.library.embedders import Offers
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.following import follow, let_rest
from ragkit.surfaces.cli.options import CollectionOption, JsonOption, LibraryOption, open_library


def embedder(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help='"wordllama", "ollama:" and a model, or "folder:" and a path.'
        ),
    ] = None,
    library: LibraryOption = None,
    collection: CollectionOption = None,
    back: Annotated[
        bool, typer.Option("--back", help="Switch back to the previous model at once.")
    ] = False,
    pause: Annotated[bool, typer.Option("--pause", help="Pause the switch.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Resume the switch.")] = False,
    json_: JsonOption = False,
) -> None:
    """Show the embedding model, or switch to another.

    The current model answers searches until every text is embedded with the new one.
    """
    if sum((bool(name), back, pause, resume)) > 1:
        raise typer.BadParameter("NAME, --back, --pause and --resume cannot be combined.")
    opened = open_library(library, collection)
    if pause or resume:
        let_rest(opened.embedders, pause)
        return
    if name is None and not back:
        _put_embedder(opened.embedders.status(), json_, opened.embedders.offers())
        return
    console.say(opened.embedders.revert() if back else opened.embedders.choose(name or ""))
    if lock_is_held(opened.paths.lock):
        trouble = _follow_embedding(opened)
    else:
        with console.progress_bar() as watch:
            trouble = opened.embedders.embed_missing(watch)
    if trouble:
        console.say(f"Failed: {trouble}")
    state = opened.embedders.status()
    _put_embedder(state, json_)
    if trouble or state.target:
        raise typer.Exit(1)


def _follow_embedding(library: Library) -> str:
    if not library.embedders.status().target:
        return ""

    def look() -> tuple[Progress | None, str]:
        state = library.embedders.status()
        trouble = ""
        if state.phase is BackgroundPhase.PAUSED or not lock_is_held(library.paths.lock):
            trouble = "No worker is embedding texts."
        elif state.phase is BackgroundPhase.WAITING and state.message != INDEXING_FIRST:
            trouble = state.message
        progress = Progress("Embedding", state.done, state.total, state.target)
        return progress if state.target else None, trouble

    return follow("makes the vectors", look)


def _put_embedder(state: EmbedderState, as_json: bool, offers: Offers | None = None) -> None:
    if as_json:
        value = {**asdict(state), "seconds_left": state.seconds_left}
        if offers:
            listed = [asdict(offer) for offer in offers.offers]
            value |= {"offers": listed, "trouble": offers.trouble}
        console.put_json(value)
        return
    console.put(f"Active     {state.active}")
    if state.target:
        left = state.seconds_left
        pace = f", about {duration(left)} left" if left else ""
        console.put(f"Switching  to {state.target}: {state.done} of {state.total} texts{pace}")
    elif state.previous:
        console.put(f"Previous   {state.previous} (ragkit embedder --back)")
    if state.waiting:
        console.put(f"Waiting    {plural(state.waiting, 'document')} found by keyword only")
    if state.message:
        console.put(f"Waits for  {state.message}")
    for offer in offers.offers if offers else ():
        mark = "*" if offer.active else " "
        size = f"  {byte_size(offer.size)}" if offer.size else ""
        lacks = plural(offer.lacking, "text") + " to embed" if offer.lacking else ""
        console.put(f"{mark} {offer.name}{size}  {lacks or 'all texts embedded'}")
    if offers and offers.trouble:
        console.say(offers.trouble)
