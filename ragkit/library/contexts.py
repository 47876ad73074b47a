"""Contexts of chunks: their state, their texts, and requests to change them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragkit.catalog import Catalog
from ragkit.catalog.background_state import (
    BackfillState,
    RecentHits,
    choose_model,
    chosen_model,
    read_context_state,
    set_paused,
    write_first,
)
from ragkit.catalog.context_records import ContextCost, ContextRecord, FailedContext
from ragkit.catalog.summaries import SummaryRecord
from ragkit.errors import SettingsError
from ragkit.indexing.writer import lock_is_held, writer_lock
from ragkit.paths import LibraryPaths

if TYPE_CHECKING:
    from ragkit.answering.outcomes import Outcome
    from ragkit.background.context_model import OpenModel
    from ragkit.indexing.progress import Progress
    from ragkit.indexing.writer import Writer
    from ragkit.models.context_prompt import Prompt, PromptKind
    from ragkit.results import Answer


class ContextService:
    """The contexts of chunks: their state, their texts, and requests to change them.

    Methods raise a NotFoundError if there is no such collection or document.
    """

    def __init__(
        self, paths: LibraryPaths, catalog: Catalog, open_writer: Callable[[], Writer]
    ) -> None:
        self._paths = paths
        self._catalog = catalog
        self._open_writer = open_writer

    def status(self, collection: str | None = None) -> BackfillState:
        """Return how many chunks have contexts, what is being written, and the time left."""
        return read_context_state(
            self._catalog, self._collection_id(collection), writing=lock_is_held(self._paths.lock)
        )

    def of_document(self, document_id: int) -> dict[int, ContextRecord]:
        """Return the contexts of a document by chunk index; chunks without one are left out."""
        return self._catalog.contexts.of_document(document_id)

    def outcomes(self, document_id: int) -> Sequence[Outcome]:
        """Return the decisions and actions in a document, as its contexts note them, in order.

        Each has the sentence of the text that supports it, if there is one.
        """
        from ragkit.answering.outcomes import outcomes_of

        documents = self._catalog.documents
        with self._catalog.connections.read():
            record = documents.get(document_id)
            contexts = self._catalog.contexts.of_document(document_id)
            text = documents.text(document_id) if contexts else ""
            chunks = documents.chunks(document_id) if contexts else []
        answers = {index: context.answer for index, context in contexts.items()}
        return outcomes_of(text, chunks, answers, code=record.format == "code")

    def at(self, places: Iterable[tuple[int, int]]) -> dict[tuple[int, int], ContextRecord]:
        """Return the contexts at pairs of document id and chunk index, in one query."""
        return self._catalog.contexts.at(places)

    def count_failed(self) -> int:
        """Count the chunks whose contexts failed; cheap enough to poll."""
        return self._catalog.contexts.count_failed()

    def failures(self, collection: str | None = None, limit: int = 5) -> Sequence[FailedContext]:
        """Return the latest failures, newest first, each with its reason."""
        return self._catalog.contexts.failures(self._collection_id(collection), limit)

    def cost(self, document_id: int) -> ContextCost:
        """Return the cost of a document's contexts; ``status`` has that of a collection."""
        return self._catalog.contexts.cost(document_id=document_id)

    def summary(self, document_id: int) -> SummaryRecord | None:
        """Return the summary with which a long document's contexts are written, or ``None``."""
        return self._catalog.summaries.of(self._catalog.documents.get(document_id).hash)

    # -- which model writes, and when ------------------------------------------------------

    def chosen_model(self) -> str:
        """Return the name of the model chosen to write contexts, or an empty string."""
        return chosen_model(self._catalog)

    def choose_model(self, name: str) -> None:
        """Have contexts written by that model from now on; an empty name: that of the settings.

        Existing contexts stay; ``regenerate`` writes them again.
        """
        choose_model(self._catalog, name)

    def pause(self) -> None:
        """Pause the writing of contexts after the current chunk."""
        set_paused(self._catalog, True)

    def resume(self) -> None:
        """Resume the writing of contexts."""
        set_paused(self._catalog, False)

    def prioritize(self, collection: str) -> None:
        """Have the contexts of one collection written before the others, and resume writing."""
        write_first(self._catalog, self._catalog.collections.get(collection).id)
        set_paused(self._catalog, False)

    def note_hits(self, answer: Answer) -> None:
        """Have contexts of the documents in an answer written first. Never waits."""
        RecentHits(self._paths).add(result.document.id for result in answer.results)

    # -- prompts ---------------------------------------------------------------------------

    def prompts(self, collection: str) -> dict[PromptKind, Prompt]:
        """Return the prompts for a collection's contexts, by kind.

        A prompt that is no longer valid is returned as it was written, with an empty hash.
        """
        from ragkit.models.context_prompt import PROMPT_KINDS, Prompt, prompt_of

        own = self._catalog.collections.get(collection).prompts
        prompts: dict[PromptKind, Prompt] = {}
        for kind in PROMPT_KINDS:
            try:
                prompts[kind] = prompt_of(kind, own.get(kind, ""))
            except SettingsError:
                prompts[kind] = Prompt(own[kind], "", own=True)
        return prompts

    def outdated(self, collection: str, kind: PromptKind, prompt: str = "") -> int:
        """Count the contexts that were written with a different prompt; empty: the built-in one.

        Raises:
            NotFoundError: there is no such collection.
            SettingsError: it is not a prompt of that kind.
        """
        from ragkit.models.context_prompt import prompt_of

        record = self._catalog.collections.get(collection)
        return self._catalog.contexts.outdated(record.id, kind, prompt_of(kind, prompt).hash)

    def set_prompt(self, collection: str, kind: PromptKind, prompt: str = "") -> None:
        """Replace a prompt of a collection; an empty one restores the built-in prompt.

        Existing contexts stay as they are until ``rewrite``.

        Raises:
            NotFoundError: there is no such collection.
            SettingsError: it is not a prompt of that kind.
        """
        from ragkit.models.context_prompt import prompt_of

        record, parsed = self._catalog.collections.get(collection), prompt_of(kind, prompt)
        prompts = {name: text for name, text in record.prompts.items() if name != kind}
        if parsed.own:
            prompts[kind] = parsed.text
        self._catalog.collections.set_group(record, "prompts", prompts)

    # -- jobs: each method returns the job's number ----------------------------------------

    def rewrite(self, collection: str, kind: PromptKind) -> int:
        """Queue the contexts that ``outdated`` counts for the current prompt to be rewritten."""
        name = self._catalog.collections.get(collection).name
        return self._catalog.jobs.add("rewrite_contexts", collection=name, prompt=kind)

    def edit(self, document_id: int, chunk_index: int, text: str) -> int:
        """Queue a person's text to become the context of a chunk."""
        return self._catalog.jobs.add(
            "edit_context", document_id=document_id, chunk_index=chunk_index, text=text
        )

    def regenerate(self, document_id: int, chunk_index: int | None = None) -> int:
        """Queue a chunk's context to be rewritten, or all of a document except people's own."""
        return self._catalog.jobs.add(
            "regenerate_contexts", document_id=document_id, chunk_index=chunk_index
        )

    def retry(self, collection: str | None = None) -> int:
        """Queue the chunks whose contexts failed."""
        arguments = {"collection": collection} if collection else {}
        return self._catalog.jobs.add("retry_contexts", **arguments)

    def import_file(self, source_id: int, file: Path) -> int:
        """Queue the import of recorded contexts for a source, for which no model is needed."""
        return self._catalog.jobs.add("recall_contexts", source_id=source_id, file=str(file))

    def write(
        self,
        collection: str | None = None,
        *,
        batch: int = 100,
        watch: Callable[[Progress], None] | None = None,
        open_model: OpenModel | None = None,
    ) -> BackfillState:
        """Write all missing contexts in this process, and index ``batch`` chunks at a time.

        Raises:
            LibraryBusyError: another process is writing.
            ModelError: no model is available now. Contexts written before that are kept.
        """
        from ragkit.background.context_model import context_models
        from ragkit.background.contexts import Backfill, Throttle

        writer = self._open_writer()
        collection_id = self._collection_id(collection)
        with writer_lock(self._paths.lock, "contextualize"):
            backfill = Backfill(
                writer,
                open_model or context_models(writer),
                Throttle(batch=batch),
                watch=watch,
                heed_pause=False,
                total=self._catalog.contexts.counts(collection_id).pending,
            )
            backfill.work(collection_id)
            return read_context_state(self._catalog, collection_id)

    def _collection_id(self, collection: str | None) -> int | None:
        return self._catalog.collections.get(collection).id if collection else None
