"""``ragkit status``: what the library holds and what is running."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragkit.catalog.background_state import BackfillState
from ragkit.catalog.copies import BACKUPS_OF_SERVER, describe
from ragkit.catalog.records import SourceRecord
from ragkit.formatting import plural
from ragkit.library import Library
from ragkit.models.factory import is_brought
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import CollectionOption, JsonOption, LibraryOption, open_library
from ragkit.surfaces.render_status import status_as_json

_MOST_SOURCES = 20


def status(
    library: LibraryOption = None, collection: CollectionOption = None, json_: JsonOption = False
) -> None:
    """Show what the library holds and what is running."""
    opened = open_library(library, collection)
    if collection:
        opened.collections.get(collection)
    if json_:
        console.put_json(status_as_json(opened, collection))
        return
    counts = opened.documents.counts(collection)
    worker = opened.worker.state()
    contexts = opened.contexts.status(collection)
    console.put(f"Library    {opened.paths.root}")
    if server := opened.health.server:
        console.put(f"Server     {server}")
    console.put(
        f"Documents  {counts.indexed:,} indexed, {counts.pending:,} pending, "
        f"{counts.skipped:,} skipped, {counts.failed:,} failed; {plural(counts.chunks, 'chunk')}"
    )
    console.put(*_sources(opened.sources.list(collection)))
    console.put(f"Writing    {'yes' if worker.running else 'no'}")
    console.put(f"Backups    {BACKUPS_OF_SERVER if server else describe(opened.health.backups())}")
    console.put(*_background(opened, contexts))


def _sources(sources: Sequence[SourceRecord]) -> Iterator[str]:
    """Yield a line for each source, those with a problem first, up to a limit."""
    for source in sorted(sources, key=lambda source: not source.reason)[:_MOST_SOURCES]:
        note = f"  {source.reason}" if source.reason else ""
        yield (
            f"Source     {source.root} ({source.collection}, {source.state}, "
            f"{plural(source.documents, 'document')}){note}"
        )
    if len(sources) > _MOST_SOURCES:
        yield (
            f"           and {len(sources) - _MOST_SOURCES:,} others; "
            "--collection NAME shows those of one collection, --json all"
        )


def _background(library: Library, contexts: BackfillState) -> Iterator[str]:
    """Yield lines on what is made in the background: text of scans, contexts and vectors."""
    if recognition := library.jobs.recognition().sentence:
        yield f"Scans      {recognition}"
    counts, spent = contexts.counts, contexts.cost.in_words
    yield (
        f"Contexts   {counts.complete + counts.truncated:,} written, {counts.pending:,} waiting, "
        f"{counts.failed:,} failed{f'; {spent}' if spent else ''}"
    )
    choice = library.embedders.choice()
    if choice is None or not (choice.target or is_brought(choice.active.name)):
        return
    state = library.embedders.status()
    if state.target:
        yield f"Switching  to {state.target}: {state.done:,} of {state.total:,} texts"
    if state.waiting:
        verb = "waits" if state.waiting == 1 else "wait"
        many = plural(state.waiting, "document")
        yield f"Vectors    {many} {verb} for {state.active}; found by keyword only until then"
