"""The backfill: contexts written chunk by chunk in the background, never in anybody's way.

Each answer is kept in the catalog the moment it arrives; chunks are indexed anew in batches. So a
crash repeats no more than the chunk at hand, and searches see few changes of the indexes.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import psutil

from ragkit.background.context_entries import Finished, answer_of, drafts_of
from ragkit.background.context_jobs import remembered_answers
from ragkit.background.context_model import OpenModel, WritesContexts, context_models
from ragkit.background.context_requests import OpenDocument, open_document
from ragkit.background.context_state import (
    BackfillPhase,
    BackfillReport,
    UserRequests,
    is_paused,
    report,
    user_requests,
    want_first,
)
from ragkit.background.recent_hits import RecentHits
from ragkit.catalog.records import ChunkRecord, ContextAnswer, text_key
from ragkit.errors import ContextRejectedError, ModelError, OllamaError, RagkitError
from ragkit.indexing.progress import Progress
from ragkit.indexing.writer import Writer

logger = logging.getLogger(__name__)

BATCH = 100
"""Chunks that are indexed together."""

BATCH_SECONDS = 10.0
"""Longest time from an answer to its being found."""

_MOST_ATTEMPTS, _MOST_REJECTED = 3, 2
_QUEUE = 50
_QUEUE_SECONDS = 30.0
_POLL_SECONDS = 0.5
_FIRST_WAIT, _LONGEST_WAIT = 2.0, 30.0
_REPORT_SECONDS, _IDLE_REPORT_SECONDS = 1.0, 60.0
_PACE_OVER = 50
_BUSY_PERCENT = 50.0
_SAVE_AFTER = 1000
_MOST_FOUND = 500


@dataclass(frozen=True, slots=True)
class Throttle:
    """How much the backfill may take of the machine. ``per_minute`` 0: no limit."""

    batch: int = BATCH
    batch_seconds: float = BATCH_SECONDS
    per_minute: float = 0.0
    only_when_idle: bool = False


class _Stop(Exception):  # noqa: N818 - it is a request, not an error
    """Somebody asked to stop or to pause."""


@dataclass
class Backfill:
    """Writes the contexts of one library. Used by one thread; its process holds the lock.

    ``busy`` says that the process has better things to do; ``watch`` is told of progress, and
    ``total`` is what it is told there is to do.
    """

    writer: Writer
    open_model: OpenModel
    manners: Throttle = Throttle()
    busy: Callable[[], bool] = lambda: False
    stopping: threading.Event = field(default_factory=threading.Event)
    watch: Callable[[Progress], None] | None = None
    heed_pause: bool = True
    _models: dict[int, WritesContexts] = field(default_factory=dict)
    _finished: list[Finished] = field(default_factory=list)
    _finished_since: float = 0.0
    _found: dict[int, None] = field(default_factory=dict)
    _changed: dict[int, int] = field(default_factory=dict)
    _ends: deque[float] = field(default_factory=lambda: deque(maxlen=_PACE_OVER))
    _reported: tuple[float, BackfillPhase, str] = (0.0, BackfillPhase.OFF, "")
    _current: str = ""
    _last_call: float = 0.0
    _wishes: UserRequests = field(default_factory=UserRequests)
    _stored: int = 0
    _model_name: str = ""
    total: int = 0
    done: int = 0
    failed: int = 0

    def run(self) -> None:
        """Work whenever there is work, until ``stopping`` is set. Never raises."""
        delay = _FIRST_WAIT
        seen: tuple[object, ...] | None = None
        while not self.stopping.is_set():
            try:
                pulse = self.writer.catalog.contexts.change_token()
                if pulse == seen and not self._paused():
                    self._say(BackfillPhase.DONE)
                elif self._paused():
                    self._say(BackfillPhase.PAUSED)
                elif self.work():
                    seen = pulse
                delay = _FIRST_WAIT
            except _Stop:
                pass
            except RagkitError as error:
                logger.warning("contexts wait: %s", error)
                self._models.clear()
                self._say(BackfillPhase.WAITING, str(error))
                self._rest(delay)
                delay = min(delay * 2, _LONGEST_WAIT)
                continue
            except Exception:
                logger.exception("the backfill stopped unexpectedly")
                self._say(BackfillPhase.WAITING, "Something unexpected happened; see the log.")
                self._rest(_LONGEST_WAIT)
                continue
            self._rest(_POLL_SECONDS)

    def work(self, collection_id: int | None = None) -> bool:
        """Write what waits; returns True when nothing waits any more, False when interrupted.

        Raises:
            ModelError: the model cannot be asked now. What was written is kept.
        """
        settled = -1
        while True:
            self._take_found()
            self._models.clear()
            self._wishes = user_requests(self.writer.catalog)
            wanted = self._wishes.first if collection_id is None else None
            documents = self.writer.catalog.contexts.waiting_documents(
                collection_id=collection_id if wanted is None else wanted,
                first=list(self._found),
                limit=_QUEUE,
            )
            # A pass that came to nothing would come to nothing again.
            if not documents or settled == self._stored + self.failed:
                if wanted is not None:
                    want_first(self.writer.catalog, None)
                    settled = -1
                    continue
                self._save_indexes()
                self._say(BackfillPhase.DONE)
                return True
            settled = self._stored + self.failed
            again = time.monotonic() + _QUEUE_SECONDS
            try:
                for document_id in documents:
                    self._document(document_id, again)
                    if time.monotonic() >= again or self._news():
                        break
            except _Stop:
                return False
            finally:
                self.flush()

    def flush(self) -> None:
        """Index what has been written, all in one transaction."""
        finished, self._finished = self._finished, []
        if not finished:
            return
        writer = self.writer.now()
        drafts = drafts_of(writer, finished)
        self._stored += writer.catalog.contexts.put(drafts, writer.embedder_id)
        for draft in drafts:
            entries = 2 + len(draft.entries)
            self._changed[draft.document_id] = self._changed.get(draft.document_id, 0) + entries
        _at, phase, message = self._reported
        if phase is BackfillPhase.WORKING:
            # What was ready counts as written from now on, and must not be counted twice.
            self._reported = (0.0, phase, message)
            self._say(phase, message, current=self._current)
        if sum(self._changed.values()) >= _SAVE_AFTER:
            self._save_indexes()

    def _document(self, document_id: int, until: float) -> None:
        """Write a document's contexts in their order, so that the model's cache is of use."""
        catalog = self.writer.catalog
        opened = open_document(catalog, document_id)
        if opened is None:
            return
        known = remembered_answers(catalog, opened)
        for index, before in known.items():
            self._finish(opened, opened.chunks[index], before)
        left = [one for one in opened.waiting if one.index not in known]
        if not left:
            return
        self._await_turn(opened)
        model = self._model(opened)
        prompt = model.prompt_hash(opened.kind)
        for waiting in left:
            chunk = opened.chunks[waiting.index]
            key = text_key(opened.text_of(chunk), opened.record.hash)
            answer = catalog.contexts.remembered(key, model.model, prompt)
            if answer is None:
                self._await_turn(opened)
                answer = self._write(model, prompt, opened, chunk, waiting.attempts)
                if answer is None:
                    continue
                catalog.contexts.remember(key, answer)
            self._finish(opened, chunk, answer)
            if time.monotonic() >= until or self._news():
                return

    def _write(
        self,
        model: WritesContexts,
        prompt: str,
        opened: OpenDocument,
        chunk: ChunkRecord,
        attempts: int,
    ) -> ContextAnswer | None:
        """Have one context written; ``None`` when that failed for this chunk alone."""
        started = self._last_call = time.monotonic()
        place = (opened.record.id, chunk.chunk.index)
        try:
            written = model.write(opened.request(chunk), attempts)
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
            self._progress(opened)
            return None
        self._ends.append(time.monotonic())
        return answer_of(written, model.model, prompt)

    def _finish(self, opened: OpenDocument, chunk: ChunkRecord, answer: ContextAnswer) -> None:
        if not self._finished:
            self._finished_since = time.monotonic()
        text = opened.text_of(chunk)
        self._finished.append(Finished(opened.record.id, opened.record.hash, chunk, text, answer))
        self.done += 1
        self._progress(opened)
        if len(self._finished) >= self.manners.batch:
            self.flush()
        else:
            self._flush_if_late()

    def _flush_if_late(self) -> None:
        waited = time.monotonic() - self._finished_since
        if self._finished and waited >= self.manners.batch_seconds:
            self.flush()

    def _model(self, opened: OpenDocument) -> WritesContexts:
        known = self._models.get(opened.record.collection_id)
        if known is None:
            collection = self.writer.catalog.collections.get(opened.record.collection)
            known = self._models[opened.record.collection_id] = self.open_model(collection)
        self._model_name = known.model
        return known

    # -- whose turn it is ------------------------------------------------------------------

    def _await_turn(self, opened: OpenDocument) -> None:
        """Wait until nothing speaks against asking the model.

        Raises:
            _Stop: when it is time to stop or to pause.
        """
        while True:
            if self.stopping.is_set() or self._paused():
                raise _Stop
            if (left := self._too_soon()) > 0:
                self._flush_if_late()
                self._rest(min(left, _POLL_SECONDS))
                continue
            reason = self._reason_to_wait()
            if not reason:
                self._say(BackfillPhase.WORKING, current=opened.record.path)
                return
            self.flush()
            self._ends.clear()
            self._say(BackfillPhase.WAITING, reason)
            self._rest(_POLL_SECONDS)

    def _too_soon(self) -> float:
        """Seconds until the rate limit allows the next call."""
        if not self.manners.per_minute or not self._last_call:
            return 0.0
        return self._last_call + 60.0 / self.manners.per_minute - time.monotonic()

    def _reason_to_wait(self) -> str:
        if self.busy():
            return "Files are being indexed; that comes first."
        if self.manners.only_when_idle and psutil.cpu_percent(interval=0.3) > _BUSY_PERCENT:
            return "The machine is busy."
        return ""

    def _paused(self) -> bool:
        return self.heed_pause and is_paused(self.writer.catalog)

    def _news(self) -> bool:
        """Whether other documents come first now, or another model is to write."""
        if RecentHits(self.writer.paths).waiting:
            return True
        return (
            replace(user_requests(self.writer.catalog), paused=self._wishes.paused) != self._wishes
        )

    def _take_found(self) -> None:
        if RecentHits(self.writer.paths).waiting:
            newest = RecentHits(self.writer.paths).take()
            both = [*newest, *self._found]
            self._found = dict.fromkeys(both[:_MOST_FOUND])

    def _rest(self, seconds: float) -> None:
        """Wait, unless it is time to stop or to look again."""
        until = time.monotonic() + seconds
        before = user_requests(self.writer.catalog)
        while (left := until - time.monotonic()) > 0:
            if self.stopping.wait(min(left, _POLL_SECONDS)):
                return
            if user_requests(self.writer.catalog) != before:
                return

    # -- telling ---------------------------------------------------------------------------

    def _save_indexes(self) -> None:
        """Write new generations of the indexes that have changed much."""
        documents = self.writer.catalog.documents.get_many(self._changed)
        changed: Mapping[str, None] = {one.collection: None for one in documents.values()}
        self._changed.clear()
        for name in changed:
            collection = self.writer.catalog.collections.find(name)
            if collection is not None:
                self.writer.now().indexes.save(collection)

    def _progress(self, opened: OpenDocument) -> None:
        self._say(BackfillPhase.WORKING, current=opened.record.path)
        if self.watch is not None:
            self.watch(
                Progress(
                    "Writing contexts",
                    self.done + self.failed,
                    max(self.total, self.done + self.failed),
                    opened.record.path,
                    self.failed,
                )
            )

    def _pace(self) -> float | None:
        if len(self._ends) < 2 or self._ends[-1] <= self._ends[0]:
            return None
        return (len(self._ends) - 1) * 60.0 / (self._ends[-1] - self._ends[0])

    def _say(self, phase: BackfillPhase, message: str = "", *, current: str = "") -> None:
        """Tell how it stands: each change at once, else now and then."""
        now = time.monotonic()
        often = _REPORT_SECONDS if phase is BackfillPhase.WORKING else _IDLE_REPORT_SECONDS
        if self._reported[1:] == (phase, message) and now - self._reported[0] < often:
            return
        self._reported = (now, phase, message)
        self._current = current
        report(
            self.writer.catalog,
            BackfillReport(
                phase, message, self._model_name, self._pace(), current, len(self._finished)
            ),
        )


def write_contexts(
    writer: Writer,
    stopping: threading.Event,
    busy: Callable[[], bool],
    open_model: OpenModel | None = None,
) -> None:
    """Be the thread that writes contexts until ``stopping`` is set, if any are wanted."""
    settings = writer.settings.models
    if not settings.contexts:
        report(writer.catalog, BackfillReport(BackfillPhase.OFF, "It is off in the settings."))
        return
    manners = Throttle(
        per_minute=settings.contexts_per_minute, only_when_idle=settings.contexts_when_idle
    )
    opened = open_model or context_models(writer)
    Backfill(writer, opened, manners, busy, stopping).run()
