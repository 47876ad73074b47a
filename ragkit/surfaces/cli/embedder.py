"""``ragkit embedder``: show the embedders, or move the library to another one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated

import typer

from ragkit.catalog.background_state import BackgroundPhase, EmbedderState
from ragkit.formatting import duration, megabytes, plural
from ragkit.indexing.lock import lock_is_held
from ragkit.indexing.progress import Progress
from ragkit.library import Library
from ragkit.library.embedders import Offers
from ragkit.models.factory import is_remote
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import CollectionOption, JsonOption, LibraryOption, open_library

_POLL_SECONDS = 0.5


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command()(embedder)


def embedder(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help='"wordllama", or "ollama:" and a model\'s name.'),
    ] = None,
    library: LibraryOption = None,
    collection: CollectionOption = None,
    back: Annotated[
        bool, typer.Option("--back", help="Let the one before answer again, at once.")
    ] = False,
    pause: Annotated[bool, typer.Option("--pause", help="Let the work rest.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Let the work go on.")] = False,
    json_: JsonOption = False,
) -> None:
    """Say which embedder finds the meaning, or move the whole library to another.

    The present one answers until every text has a vector of the new one.
    """
    if sum((bool(name), back, pause, resume)) > 1:
        raise typer.BadParameter("NAME, --back, --pause and --resume exclude each other.")
    opened = open_library(library, collection)
    if pause or resume:
        opened.embedders.pause() if pause else opened.embedders.resume()
        console.say("Paused." if pause else "Resumed.")
        return
    if name is None and not back:
        _show(opened.embedders.status(), opened.embedders.offers(), json_)
        return
    console.say(opened.embedders.revert() if back else opened.embedders.choose(name or ""))
    trouble = _follow(opened) if lock_is_held(opened.paths.lock) else _here(opened)
    state = opened.embedders.status()
    if trouble:
        console.say(trouble)
    if json_:
        console.put_json(_as_json(state))
    else:
        _put_state(state)
    if trouble or state.target:
        raise typer.Exit(1)


def status_lines(library: Library) -> Iterator[str]:
    """Yield what ``ragkit status`` prints while vectors are made in the background."""
    choice = library.embedders.choice()
    if choice is None or not (choice.target or is_remote(choice.active.name)):
        return
    state = library.embedders.status()
    if state.target:
        yield f"Moving to  {state.target}: {state.done} of {state.total} texts"
    if state.waiting:
        verb = "waits" if state.waiting == 1 else "wait"
        many = plural(state.waiting, "document")
        yield f"Vectors    {many} {verb} for {state.active}; words find them"


def _here(library: Library) -> str:
    with console.progress_bar() as watch:
        return library.embedders.embed_missing(watch)


def _follow(library: Library) -> str:
    """Follow the worker until it is done, paused, or cannot go on; return what stops it."""
    state = library.embedders.status()
    if not state.target:
        return ""
    console.say("The worker makes the vectors; stopping this command does not stop it.")
    with console.progress_bar() as watch:
        while state.target:
            watch(Progress("Embedding", state.done, state.total, state.target))
            time.sleep(_POLL_SECONDS)
            state = library.embedders.status()
            if state.phase is BackgroundPhase.PAUSED or not lock_is_held(library.paths.lock):
                return "Nobody makes vectors now."
            if state.phase is BackgroundPhase.WAITING and "Ollama" in state.message:
                return state.message
    return ""


def _show(state: EmbedderState, offers: Offers, as_json: bool) -> None:
    if as_json:
        listed = [asdict(offer) for offer in offers.offers]
        console.put_json({**_as_json(state), "offers": listed, "trouble": offers.trouble})
        return
    _put_state(state)
    for offer in offers.offers:
        mark = "*" if offer.active else " "
        size = f"  {megabytes(offer.size)}" if offer.size else ""
        left = plural(offer.lacking, "text") + " to embed" if offer.lacking else ""
        console.put(f"{mark} {offer.name}{size}  {left or 'every text embedded'}")
    if offers.trouble:
        console.say(offers.trouble)


def _put_state(state: EmbedderState) -> None:
    console.put(f"Answers    {state.active}")
    if state.target:
        left = state.seconds_left
        pace = f", about {duration(left)} left" if left else ""
        console.put(f"Moving to  {state.target}: {state.done} of {state.total} texts{pace}")
    elif state.previous:
        console.put(f"Before     {state.previous} (ragkit embedder --back)")
    if state.waiting:
        console.put(f"Waiting    {plural(state.waiting, 'document')} found by words alone")
    if state.message:
        console.put(f"Waits for  {state.message}")


def _as_json(state: EmbedderState) -> dict[str, object]:
    return {**asdict(state), "phase": state.phase.value, "seconds_left": state.seconds_left}
