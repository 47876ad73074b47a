"""``ragkit contextualize``: have a local model write the context of each chunk."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Annotated

import typer

from ragkit.catalog.background_state import BackfillState, BackgroundPhase
from ragkit.formatting import duration
from ragkit.indexing.lock import lock_is_held
from ragkit.indexing.progress import Progress
from ragkit.library import Library
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import CollectionOption, JsonOption, LibraryOption, open_library

_POLL_SECONDS = 0.5
_USUAL = "usually 1 to 10 seconds a chunk, depending on the machine and the model"


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command()(contextualize)


def contextualize(
    library: LibraryOption = None,
    collection: CollectionOption = None,
    batch: Annotated[
        int, typer.Option("--batch", min=1, max=10_000, help="Chunks indexed together.")
    ] = 100,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Try those that failed again.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what there is to do, and how long it takes.")
    ] = False,
    pause: Annotated[bool, typer.Option("--pause", help="Let the worker rest.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Let the worker go on.")] = False,
    json_: JsonOption = False,
) -> None:
    """Write the contexts that are missing. The worker does it by itself whenever Ollama answers."""
    opened = open_library(library, collection)
    if pause or resume:
        if pause and resume:
            raise typer.BadParameter("--pause and --resume exclude each other.")
        opened.contexts.pause() if pause else opened.contexts.resume()
        console.say("Paused." if pause else "Resumed.")
        return
    if dry_run:
        _tell(opened.contexts.status(collection), json_, retry_failed=retry_failed)
        return
    if retry_failed:
        console.say(opened.jobs.wait(opened.contexts.retry(collection)).message)
    if lock_is_held(opened.paths.lock):
        state = _follow(opened, collection)
    else:
        with console.progress_bar() as watch:
            state = opened.contexts.write(collection, batch=batch, watch=watch)
    _tell(state, json_)
    if state.counts.pending or state.counts.failed:
        raise typer.Exit(1)


def _follow(library: Library, collection: str | None) -> BackfillState:
    """Follow the worker until nothing waits or it cannot go on."""
    library.contexts.resume()
    console.say("The worker writes the contexts; stopping this command does not stop it.")
    state = library.contexts.status(collection)
    total = state.counts.pending
    with console.progress_bar() as watch:
        while state.counts.pending:
            done = max(0, total - state.counts.pending)
            watch(Progress("Writing contexts", done, total, state.current))
            time.sleep(_POLL_SECONDS)
            state = library.contexts.status(collection)
            stuck = state.phase is BackgroundPhase.WAITING and state.message
            if stuck or state.phase in (BackgroundPhase.OFF, BackgroundPhase.PAUSED):
                console.say(state.message or "The worker does not write contexts now.")
                break
    return state


def _tell(state: BackfillState, as_json: bool, *, retry_failed: bool = False) -> None:
    counts = state.counts
    left = state.seconds_left
    if retry_failed and state.per_minute:
        left = (counts.pending + counts.failed) * 60.0 / state.per_minute
    if as_json:
        value = {**asdict(state), "phase": state.phase.value, "seconds_left": left}
        console.put_json({**value, "counts": {**asdict(counts), "chunks": counts.chunks}})
        return
    console.put(
        f"Contexts  {counts.complete} written, {counts.pending} waiting, {counts.failed} failed, "
        f"{counts.truncated} from a part of the prompt; {counts.chunks} chunks"
    )
    to_do = counts.pending + (counts.failed if retry_failed else 0)
    if to_do:
        time_left = _USUAL if left is None else f"about {duration(left)}"
        console.put(f"To do     {to_do} chunks, {time_left}")
    if counts.failed and state.last_error:
        console.put(f"Last      {state.last_error}")
