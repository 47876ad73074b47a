"""``ragkit contextualize`` and ``ragkit embedder``: what a model does for the library, at length.

Both work in this process, or follow the worker where one is running.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated

import typer

from ragkit.background.loop import INDEXING_FIRST
from ragkit.catalog.background_state import BackfillState, BackgroundPhase, EmbedderState
from ragkit.formatting import duration, megabytes, plural
from ragkit.indexing.progress import Progress
from ragkit.indexing.writer import lock_is_held
from ragkit.library import Library
from ragkit.library.contexts import ContextService
from ragkit.library.embedders import EmbedderService, Offers
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import CollectionOption, JsonOption, LibraryOption, open_library

_POLL_SECONDS = 0.5
_USUAL = "usually 1 to 10 seconds a chunk, depending on the machine and the model"


def contextualize(
    library: LibraryOption = None,
    collection: CollectionOption = None,
    batch: Annotated[
        int, typer.Option("--batch", min=1, max=10_000, help="Chunks to index at once.")
    ] = 100,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Retry chunks that failed.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only show how many are missing and how long they take."),
    ] = False,
    pause: Annotated[bool, typer.Option("--pause", help="Pause the worker's writing.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Resume the worker's writing.")] = False,
    json_: JsonOption = False,
) -> None:
    """Write missing AI contexts. The worker does so on its own whenever Ollama is running."""
    opened = open_library(library, collection)
    if pause and resume:
        raise typer.BadParameter("--pause and --resume cannot be combined.")
    if pause or resume:
        _let_rest(opened.contexts, pause)
        return
    if dry_run:
        _put_contexts(opened.contexts.status(collection), json_, retry_failed=retry_failed)
        return
    if retry_failed:
        console.say(opened.jobs.wait(opened.contexts.retry(collection)).message)
    if lock_is_held(opened.paths.lock):
        _follow_contexts(opened, collection)
        state = opened.contexts.status(collection)
    else:
        with console.progress_bar() as bar, console.waiting("the model") as watch:
            state = opened.contexts.write(
                collection, batch=batch, watch=lambda progress: bar(watch(progress))
            )
    _put_contexts(state, json_)
    if state.counts.pending or state.counts.failed:
        raise typer.Exit(1)


def _follow_contexts(library: Library, collection: str | None) -> None:
    library.contexts.resume()
    total = library.contexts.status(collection).counts.pending

    def look() -> tuple[Progress | None, str]:
        state = library.contexts.status(collection)
        pending = state.counts.pending
        trouble = state.message if state.phase is BackgroundPhase.WAITING else ""
        if state.phase in (BackgroundPhase.OFF, BackgroundPhase.PAUSED):
            trouble = state.message or "The worker is not writing contexts."
        progress = Progress("Writing contexts", max(0, total - pending), total, state.current)
        return progress if pending else None, trouble

    if trouble := _follow("writes the contexts", look):
        console.say(trouble)


def _put_contexts(state: BackfillState, as_json: bool, *, retry_failed: bool = False) -> None:
    counts = state.counts
    left = state.seconds_left
    if retry_failed and state.per_minute:
        left = (counts.pending + counts.failed) * 60.0 / state.per_minute
    to_do = counts.pending + (counts.failed if retry_failed else 0)
    tokens = None if state.tokens_each is None else round(to_do * state.tokens_each)
    if as_json:
        counted = {**asdict(counts), "chunks": counts.chunks}
        more = {"seconds_left": left, "tokens_left": tokens, "counts": counted}
        console.put_json({**asdict(state), **more})
        return
    console.put(
        f"Contexts  {counts.complete} written, {counts.pending} waiting, {counts.failed} failed, "
        f"{counts.truncated} truncated; {counts.chunks} chunks"
    )
    if to_do:
        time_left = _USUAL if left is None else f"about {duration(left)}"
        cost = f" and {tokens:,} tokens" if tokens else ""
        console.put(f"To do     {to_do} chunks, {time_left}{cost}")
    if spent := state.cost.in_words:
        console.put(f"Cost      {spent}")
    if counts.failed and state.last_error:
        console.put(f"Last      {state.last_error}")


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
    """Show the embedding model, or switch the library to another.

    The current model answers searches until every text is embedded with the new one.
    """
    if sum((bool(name), back, pause, resume)) > 1:
        raise typer.BadParameter("NAME, --back, --pause and --resume cannot be combined.")
    opened = open_library(library, collection)
    if pause or resume:
        _let_rest(opened.embedders, pause)
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

    return _follow("makes the vectors", look)


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
        size = f"  {megabytes(offer.size)}" if offer.size else ""
        lacks = plural(offer.lacking, "text") + " to embed" if offer.lacking else ""
        console.put(f"{mark} {offer.name}{size}  {lacks or 'all texts embedded'}")
    if offers and offers.trouble:
        console.say(offers.trouble)


def _let_rest(work: ContextService | EmbedderService, pause: bool) -> None:
    """Pause or resume the worker's part in it."""
    if pause:
        work.pause()
    else:
        work.resume()
    console.say("Paused." if pause else "Resumed.")


def _follow(does: str, look: Callable[[], tuple[Progress | None, str]]) -> str:
    """Follow the worker with a bar until it is done; return what stops it, or nothing.

    ``look`` returns how far it is, ``None`` when nothing is left, and what keeps it from going on.
    """
    console.say(f"The worker {does}; stopping this command does not stop it.")
    # It may have been let go on just now: what kept it before is no trouble.
    progress, _ = look()
    with console.progress_bar() as watch:
        while progress is not None:
            watch(progress)
            time.sleep(_POLL_SECONDS)
            progress, trouble = look()
            if trouble:
                return trouble
    return ""
