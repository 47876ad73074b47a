"""What people ask of contexts: how they stand, what they say, and how they are to change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragkit.background.recent_hits import RecentHits
from ragkit.catalog import Catalog
from ragkit.catalog.background_state import (
    BackfillState,
    BackgroundPhase,
    choose_model,
    read_context_state,
    set_paused,
    write_first,
)
from ragkit.catalog.records import ContextRecord, ContextStatus, FailedContext
from ragkit.indexing.lock import lock_is_held, writer_lock
from ragkit.paths import LibraryPaths
from ragkit.settings import Settings

if TYPE_CHECKING:
    from ragkit.background.context_model import OpenModel
    from ragkit.indexing.progress import Progress
    from ragkit.indexing.writer import Writer
    from ragkit.models.ollama_monitor import OllamaMonitor
    from ragkit.results import Answer

__all__ = ["BackfillState", "BackgroundPhase", "ContextDesk", "ContextStatus"]


class ContextDesk:
    """The part of a library that is about contexts."""

    settings: Settings
    paths: LibraryPaths
    catalog: Catalog

    @cached_property
    def ollama(self) -> OllamaMonitor:
        """What is known of the local Ollama; asks it in the background."""
        from ragkit.models.ollama_monitor import OllamaMonitor

        return OllamaMonitor(self.settings.models)

    def ask(self, kind: str, **arguments: Any) -> int:
        """Put a job in the queue; returns its number."""
        return self.catalog.jobs.add(kind, **arguments)

    def writer(self) -> Writer:
        """What a process needs to write; it must hold the lock when it does."""
        raise TypeError("only a library can write")

    def backfill_state(self, collection: str | None = None) -> BackfillState:
        """How many chunks stand how, what is being done about it, and how long it will take."""
        record = self.catalog.collections.get(collection) if collection else None
        held = lock_is_held(self.paths.lock)
        return read_context_state(self.catalog, record.id if record else None, writing=held)

    def contexts_of(self, document_id: int) -> dict[int, ContextRecord]:
        """A document's contexts by chunk index; chunks of which nothing is known are left out."""
        return self.catalog.contexts.of_document(document_id)

    def contexts_at(
        self, places: Iterable[tuple[int, int]]
    ) -> dict[tuple[int, int], ContextRecord]:
        """The contexts of chunks named by document id and index, in one query."""
        return self.catalog.contexts.at(places)

    def failed_contexts(
        self, collection: str | None = None, limit: int = 5
    ) -> Sequence[FailedContext]:
        """The chunks whose contexts failed last, with the reason, the newest first."""
        record = self.catalog.collections.get(collection) if collection else None
        return self.catalog.contexts.failures(record.id if record else None, limit)

    def choose_context_model(self, name: str) -> None:
        """Have contexts written by that model from the next chunk on; empty: as settings say.

        What has been written stays; ``regenerate`` has it written anew.
        """
        choose_model(self.catalog, name)

    def write_contexts_first(self, collection: str) -> None:
        """Have one collection's contexts written before the others, and let the writing go on.

        Raises:
            NotFoundError: there is no such collection.
        """
        write_first(self.catalog, self.catalog.collections.get(collection).id)
        set_paused(self.catalog, False)

    def edit_context(self, document_id: int, chunk_index: int, text: str) -> int:
        """Ask for a person's words to be a chunk's context; returns the job's number."""
        return self.ask("edit_context", document_id=document_id, chunk_index=chunk_index, text=text)

    def regenerate(self, document_id: int, chunk_index: int | None = None) -> int:
        """Ask for contexts to be written anew: a chunk's, or all of a document's but people's."""
        return self.ask("regenerate_contexts", document_id=document_id, chunk_index=chunk_index)

    def pause_contexts(self) -> None:
        """Let the writing of contexts rest after the chunk at hand, until it is resumed."""
        set_paused(self.catalog, True)

    def resume_contexts(self) -> None:
        """Let the writing of contexts go on."""
        set_paused(self.catalog, False)

    def retry_contexts(self, collection: str | None = None) -> int:
        """Ask for failed chunks to be tried again; returns the job's number."""
        arguments = {"collection": collection} if collection else {}
        return self.ask("retry_contexts", **arguments)

    def recall_contexts(self, source_id: int, file: Path) -> int:
        """Ask for what a file holds to be a source's contexts, without a model; gives the job."""
        return self.ask("recall_contexts", source_id=source_id, file=str(file))

    def tell_found(self, answer: Answer) -> None:
        """Note what a person's search found: its contexts are written first. Never waits."""
        RecentHits(self.paths).add(result.document.id for result in answer.results)

    def contextualize(
        self,
        collection: str | None = None,
        *,
        batch: int = 100,
        watch: Callable[[Progress], None] | None = None,
        open_model: OpenModel | None = None,
    ) -> BackfillState:
        """Write all waiting contexts here and now.

        Raises:
            LibraryBusyError: another process writes.
            ModelError: no model can be asked now. What was written is kept.
        """
        from ragkit.background.context_model import context_models
        from ragkit.background.contexts import Backfill, Throttle

        writer = self.writer()
        record = self.catalog.collections.get(collection) if collection else None
        collection_id = record.id if record else None
        with writer_lock(self.paths.lock, "contextualize", wait_seconds=2.0):
            backfill = Backfill(
                writer,
                open_model or context_models(writer),
                Throttle(batch=batch),
                watch=watch,
                heed_pause=False,
                total=self.catalog.contexts.counts(collection_id).pending,
            )
            backfill.work(collection_id)
            return read_context_state(self.catalog, collection_id)
