"""``ragkit contextualize``: in this process, or by the worker if one is running."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from ragkit.catalog.background_state import BackfillState, BackgroundPhase
from ragkit.formatting import duration
from ragkit.indexing.progress import Progress
from ragkit.indexing.writer import lock_is_held
from ragkit.library import Library
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.following import follow, let_rest
from ragkit.surfaces.cli.options import CollectionOption, JsonOption, LibraryOption, open_library

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
        typer.Option("--dry-run", help="Only show how many are missing, and the time they take."),
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
        let_rest(opened.contexts, pause)
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
        with console.progress_bar() as bar, console.waiting_for_model() as watch:
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

    if trouble := follow("writes the contexts", look):
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
