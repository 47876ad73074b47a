"""The backfill: writes contexts chunk by chunk in the background, after all other work.

Each answer is stored in the catalog as soon as it arrives, and chunks are indexed in batches. So a
crash repeats only the current chunk, and searches see few changes of the indexes.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import psutil

from ragkit.background.context_entries import (
    FinishedContext,
    OpenDocument,
    answer_of,
    context_drafts,
    open_document,
)
from ragkit.background.context_jobs import remembered_answers
from ragkit.background.context_model import OpenModel, WritesContexts, context_models
from ragkit.background.loop import BackgroundLoop, Interrupted
from ragkit.background.summaries import summary_of
from ragkit.catalog.background_state import (
    CONTEXTS_REPORT,
    BackgroundPhase,
    BackgroundReport,
    RecentHits,
    UserRequests,
    is_paused,
    user_requests,
    write_first,
    write_report,
)
from ragkit.catalog.context_records import ContextAnswer, WaitingChunk, text_key
from ragkit.catalog.records import ChunkRecord
from ragkit.errors import ContextRejectedError, ModelError, OllamaError
from ragkit.indexing.progress import Progress
from ragkit.indexing.writer import Writer
from ragkit.models.context_prompt import ContextRequest

logger = logging.getLogger(__name__)

BATCH = 100
"""Chunks that are indexed together."""

BATCH_SECONDS = 10.0
"""Longest time from an answer until searches find it."""

_MOST_ATTEMPTS, _MOST_REJECTED = 3, 2
_QUEUE = 50
_QUEUE_SECONDS = 30.0
_BUSY_PERCENT = 50.0
_SAVE_AFTER = 1000
_MOST_HITS = 500


@dataclass(frozen=True, slots=True)
class Throttle:
    """Limits on the backfill. ``per_minute`` is the most calls of the model; 0: no limit."""

    batch: int = BATCH
    batch_seconds: float = BATCH_SECONDS
    per_minute: float = 0.0
    only_when_idle: bool = False


@dataclass
class Backfill:
    """Writes the contexts of one library, in one thread of the process that holds the lock.

    ``busy``: the process has more urgent work. ``watch`` receives the progress, of ``total``
    chunks. Without ``heed_pause``, a pause by the person has no effect here.
    """

    writer: Writer
    open_model: OpenModel
    throttle: Throttle = Throttle()
    busy: Callable[[], bool] = lambda: False
    stopping: threading.Event = field(default_factory=threading.Event)
    watch: Callable[[Progress], None] | None = None
    heed_pause: bool = True
    total: int = 0
    done: int = 0
    failed: int = 0
    _models: dict[int, tuple[Mapping[str, str], WritesContexts]] = field(default_factory=dict)
    _finished: list[FinishedContext] = field(default_factory=list)
    _finished_since: float = 0.0
    _hits: list[int] = field(default_factory=list)
    _changed: dict[int, int] = field(default_factory=dict)
    _last_call: float = 0.0
    _requests: UserRequests = field(default_factory=UserRequests)
    _stored: int = 0

    def __post_init__(self) -> None:
        """Build the loop that runs this task."""
        catalog = self.writer.catalog
        self._loop = BackgroundLoop(
            "contexts",
            catalog,
            self.stopping,
            CONTEXTS_REPORT,
            requests=lambda: user_requests(catalog),
            is_paused=lambda: self.heed_pause and is_paused(catalog),
            busy=self.busy,
        )

    def run(self) -> None:
        """Work whenever there is work, until ``stopping`` is set. Never raises."""
        self._loop.run(self)

    def change_token(self) -> object:
        """Return a value that changes whenever there may be new work."""
        return self.writer.catalog.contexts.change_token()

    def reset(self) -> None:
        """Forget the models; they are opened again for the next work."""
        self._models.clear()

    def work(self, collection_id: int | None = None) -> bool:
        """Write all waiting contexts, in one collection or all; return False if interrupted.

        Raises:
            ModelError: the model cannot be asked now. What was written is kept.
        """
        settled = -1
        while True:
            newest = RecentHits(self.writer.paths).take()
            self._hits = list(dict.fromkeys([*newest, *self._hits]))[:_MOST_HITS]
            self._models.clear()
            self._requests = user_requests(self.writer.catalog)
            first = self._requests.first if collection_id is None else None
            documents = self.writer.catalog.contexts.waiting_documents(
                collection_id=collection_id if first is None else first,
                first=self._hits,
                limit=_QUEUE,
            )
            # After a pass without any result, another one would have none either.
            if not documents or settled == self._stored + self.failed:
                if first is not None:
                    write_first(self.writer.catalog, None)
                    settled = -1
                    continue
                self._save_indexes()
                self._loop.report(BackgroundPhase.DONE)
                return True
            settled = self._stored + self.failed
            try:
                self._write_documents(documents)
            except Interrupted:
                return False
            finally:
                self.flush()

    def flush(self) -> None:
        """Index the finished contexts in one transaction."""
        finished, self._finished = self._finished, []
        if not finished:
            return
        writer = self.writer.now()
        drafts = context_drafts(writer, finished)
        self._stored += writer.catalog.contexts.put(drafts, writer.embedder_id)
        for draft in drafts:
            entries = 2 + len(draft.entries)
            self._changed[draft.document_id] = self._changed.get(draft.document_id, 0) + entries
        status = self._loop.status
        self._loop.update(ready=0)
        if status.phase is BackgroundPhase.WORKING:
            # Ready contexts count as written from now on, and must not be counted twice.
            self._loop.report(status.phase, status.message, now=True)
        if sum(self._changed.values()) >= _SAVE_AFTER:
            self._save_indexes()

    # -- writing ---------------------------------------------------------------------------

    def _write_documents(self, documents: list[int]) -> None:
        """Write the contexts of documents in turn until other documents may come first."""
        until = time.monotonic() + _QUEUE_SECONDS
        for document_id in documents:
            self._write_document(document_id, until)
            if time.monotonic() >= until or self._has_news():
                return

    def _write_document(self, document_id: int, until: float) -> None:
        """Write a document's contexts in order, as the model's prompt cache requires."""
        catalog = self.writer.catalog
        document = open_document(catalog, document_id)
        if document is None:
            return
        remembered = remembered_answers(catalog, document)
        for index, answer in remembered.items():
            self._finish(document, document.chunks[index], answer)
        missing = [chunk for chunk in document.waiting if chunk.index not in remembered]
        if not missing:
            return
        self._await_turn(document)
        model = self._model(document)
        prompt = model.prompt_hash(document.kind)
        summary: str | None = None
        for waiting in missing:
            chunk = document.chunks[waiting.index]
            key = text_key(document.text_of(chunk), document.record.hash)
            written = catalog.contexts.remembered(key, model.model, prompt)
            if written is None:
                self._await_turn(document)
                if summary is None:
                    summary = self._summary(model, document)
                request = document.request(chunk, summary)
                written = self._write(model, prompt, document, request, waiting)
                if written is None:
                    continue
                catalog.contexts.remember(key, written)
            self._finish(document, chunk, written)
            if time.monotonic() >= until or self._has_news():
                return

    def _summary(self, model: WritesContexts, document: OpenDocument) -> str:
        """Return the summary for the prompts of a long document, which may be written first."""
        started = time.monotonic()
        summary, was_asked = summary_of(self.writer.catalog.summaries, model, document)
        if was_asked:
            self._last_call = started
            self._await_turn(document)
        return summary

    def _write(
        self,
        model: WritesContexts,
        prompt: str,
        document: OpenDocument,
        request: ContextRequest,
        waiting: WaitingChunk,
    ) -> ContextAnswer | None:
        """Have one context written; return ``None`` if that failed for this chunk only."""
        started = self._last_call = time.monotonic()
        place, attempts = (document.record.id, waiting.index), waiting.attempts
        try:
            written = model.write(request, attempts)
        except ModelError as error:
            if isinstance(error, OllamaError) and error.concerns_all:
                raise
            rejected = isinstance(error, ContextRejectedError)
            last = attempts + 1 >= (_MOST_REJECTED if rejected else _MOST_ATTEMPTS)
            seconds = time.monotonic() - started
            tried = ContextAnswer("", model=model.model, prompt_hash=prompt, seconds=seconds)
            self.writer.catalog.contexts.fail(place, str(error), tried, last=last)
            logger.info("context of document %d, chunk %d: %s", *place, error)
            self.failed += 1
            self._report_progress(document)
            return None
        self._loop.pace.add()
        return answer_of(written, model.model, prompt)

    def _finish(self, document: OpenDocument, chunk: ChunkRecord, answer: ContextAnswer) -> None:
        if not self._finished:
            self._finished_since = time.monotonic()
        self._finished.append(document.finished(chunk, answer))
        self.done += 1
        self._report_progress(document)
        if len(self._finished) >= self.throttle.batch:
            self.flush()
        else:
            self._flush_if_late()

    def _flush_if_late(self) -> None:
        waited = time.monotonic() - self._finished_since
        if self._finished and waited >= self.throttle.batch_seconds:
            self.flush()

    def _model(self, document: OpenDocument) -> WritesContexts:
        collection = self.writer.catalog.collections.get(document.record.collection)
        prompts, model = self._models.get(collection.id, ({}, None))
        if model is None or prompts != collection.prompts:
            model = self.open_model(collection)
            self._models[collection.id] = collection.prompts, model
        self._loop.update(model=model.model)
        return model

    def _save_indexes(self) -> None:
        """Save the indexes of collections with new contexts."""
        documents = self.writer.catalog.documents.get_many(self._changed)
        self._changed.clear()
        for name in dict.fromkeys(record.collection for record in documents.values()):
            collection = self.writer.catalog.collections.find(name)
            if collection is not None:
                self.writer.now().indexes.save(collection)

    def _report_progress(self, document: OpenDocument) -> None:
        self._loop.update(current=document.record.path, ready=len(self._finished))
        self._loop.report(BackgroundPhase.WORKING)
        if self.watch is not None:
            done = self.done + self.failed
            total = max(self.total, done)
            path = document.record.path
            self.watch(Progress("Writing contexts", done, total, path, self.failed))

    # -- whose turn it is ------------------------------------------------------------------

    def _await_turn(self, document: OpenDocument) -> None:
        """Wait until the model may be asked.

        Raises:
            Interrupted: it is time to stop or to pause.
        """
        while (left := self._seconds_until_next_call()) > 0:
            self._loop.check()
            self._flush_if_late()
            self._loop.poll(left)
        self._loop.update(current=document.record.path)
        self._loop.await_turn(self._loop.check, self._reason_to_wait, self._before_waiting)

    def _before_waiting(self) -> None:
        self.flush()
        self._loop.pace.clear()

    def _seconds_until_next_call(self) -> float:
        """Return the seconds until the rate limit allows another call."""
        if not self.throttle.per_minute or not self._last_call:
            return 0.0
        return self._last_call + 60.0 / self.throttle.per_minute - time.monotonic()

    def _reason_to_wait(self) -> str:
        idle = self.throttle.only_when_idle
        busy = self._loop.reason_to_wait()
        if not busy and idle and psutil.cpu_percent(interval=0.3) > _BUSY_PERCENT:
            return "The machine is busy."
        return busy

    def _has_news(self) -> bool:
        """Return whether other documents come first now, or another model was chosen."""
        if RecentHits(self.writer.paths).waiting:
            return True
        requests = user_requests(self.writer.catalog)
        return replace(requests, paused=self._requests.paused) != self._requests


def write_contexts(
    writer: Writer,
    stopping: threading.Event,
    busy: Callable[[], bool],
    open_model: OpenModel | None = None,
) -> None:
    """Write contexts until ``stopping`` is set, unless the settings disable that."""
    settings = writer.settings.models
    if not settings.contexts:
        off = BackgroundReport(BackgroundPhase.OFF, "It is off in the settings.")
        write_report(writer.catalog, CONTEXTS_REPORT, off)
        return
    throttle = Throttle(
        per_minute=settings.contexts_per_minute, only_when_idle=settings.contexts_when_idle
    )
    opened = open_model or context_models(writer)
    Backfill(writer, opened, throttle, busy, stopping).run()
