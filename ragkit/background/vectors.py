"""Vectors made in the background: of another embedder that is to answer, and those that lack.

A library is moved to another embedder text by text, each batch kept the moment it is there; the
embedder of before answers until nothing lacks and the new indexes are written. A crash repeats no
more than the batch at hand, since vectors are kept by the hash of their text and their embedder.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ragkit.background.missing_texts import missing_texts
from ragkit.catalog.embedder_state import EmbeddingPhase, EmbeddingReport, report
from ragkit.catalog.vectors import EmbedderChoice
from ragkit.errors import OllamaAnswerError, RagkitError
from ragkit.indexing.progress import Progress
from ragkit.indexing.writer import Writer
from ragkit.models.base import Embedder
from ragkit.models.factory import is_remote, open_named
from ragkit.models.lazy import check_unchanged
from ragkit.retrieval.open_indexes import OpenIndexes

logger = logging.getLogger(__name__)

_LOCAL_TEXTS, _LOCAL_CHARACTERS = 512, 500_000
_POLL_SECONDS = 0.5
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 15.0
_REPORT_SECONDS, _IDLE_REPORT_SECONDS = 1.0, 60.0
_PACE_OVER = 20
_PROBE = "ragkit"


class _Stop(Exception):  # noqa: N818 - it is a request, not an error
    """Somebody asked to stop, to pause or for another embedder."""


@dataclass
class EmbedderMigration:
    """Makes the vectors that lack. Used by one thread; its process holds the lock.

    ``busy`` says that the process has better things to do; ``watch`` is told of progress.
    """

    writer: Writer
    busy: Callable[[], bool] = lambda: False
    stopping: threading.Event = field(default_factory=threading.Event)
    watch: Callable[[Progress], None] | None = None
    heed_pause: bool = True
    _embedders: dict[str, Embedder] = field(default_factory=dict)
    _underivable: set[bytes] = field(default_factory=set)
    _ends: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=_PACE_OVER))
    _reported: tuple[float, EmbeddingReport] = (0.0, EmbeddingReport(EmbeddingPhase.OFF))
    _checked: tuple[int, int] = (0, 0)
    _waiting: int = 0
    _name: str = ""
    _done: int = 0
    _total: int = 0

    def run(self) -> None:
        """Work whenever there is work, until ``stopping`` is set. Never raises."""
        delay, seen = _FIRST_WAIT, None
        while not self.stopping.is_set():
            try:
                pulse = self.writer.catalog.embedders.change_token()
                if not pulse or pulse == seen:
                    self._say(EmbeddingPhase.DONE)
                elif self._paused():
                    self._say(EmbeddingPhase.PAUSED)
                else:
                    self.work()
                    seen = pulse
                delay = _FIRST_WAIT
            except _Stop:
                pass
            except RagkitError as error:
                logger.warning("vectors wait: %s", error)
                self._forget()
                self._say(EmbeddingPhase.WAITING, str(error))
                self._rest(delay)
                delay = min(delay * 2, _LONGEST_WAIT)
                continue
            except Exception:
                logger.exception("the making of vectors stopped unexpectedly")
                self._forget()
                self._say(EmbeddingPhase.WAITING, "Something unexpected happened; see the log.")
                self._rest(_LONGEST_WAIT)
                continue
            self._rest(_POLL_SECONDS)
        self._forget()

    def work(self) -> None:
        """Finish the move to another embedder, if one is asked for; then make what lacks.

        Raises:
            RagkitError: an embedder cannot be asked now. What was made is kept.
        """
        choice = self.writer.catalog.embedders.choice()
        if choice is None:
            return
        try:
            if choice.target:
                self._move(choice)
        finally:
            # New documents get the vectors that answer, whatever stops the move.
            now = self.writer.catalog.embedders.choice()
            if now is not None and not self._must_stop(now):
                self._fill(now)
        self._say(EmbeddingPhase.DONE)

    def _move(self, choice: EmbedderChoice) -> None:
        """Make every vector of the target and let it answer."""
        catalog = self.writer.catalog
        embedder = self._opened(choice.target)
        number = catalog.embedders.ensure(embedder.fingerprint, embedder.name, embedder.dimensions)
        if number == choice.active.id:
            catalog.embedders.set_target("")
            return
        catalog.embedders.set_target_id(choice.target, number)
        self._underivable.clear()
        while True:
            self._embed_all(embedder, number, choice, renew=False)
            self._say(EmbeddingPhase.WORKING, "Writing the new indexes.")
            indexes = OpenIndexes(catalog, self.writer.paths, embedder)
            for collection in catalog.collections.all():
                self._await_turn(choice)
                indexes.make_anew(collection)
            if catalog.embedders.switch(number, self._underivable):
                logger.info("%s answers now, after %s", embedder.name, choice.active.name)
                return
            self._check(choice)

    def _fill(self, choice: EmbedderChoice) -> None:
        """Make the vectors of the active embedder that lack."""
        catalog = self.writer.catalog
        self._underivable.clear()
        # Only what has come since all was there needs a look: a look at everything takes long.
        active, last = choice.active.id, catalog.entries.last_id()
        after = self._checked[1] if self._checked[0] == active else 0
        self._waiting = catalog.vectors.missing(active, after).documents
        if not self._waiting:
            self._checked = (active, last)
            return
        embedder = self._opened(choice.active.name)
        check_unchanged(embedder, choice.active.name, choice.active.fingerprint)
        self._embed_all(embedder, active, choice, renew=True, after=after)
        writer = self.writer.now()
        for collection in catalog.collections.all():
            writer.indexes.save(collection)
        self._waiting = catalog.vectors.missing(active, after).documents

    def _embed_all(
        self,
        embedder: Embedder,
        number: int,
        choice: EmbedderChoice,
        *,
        renew: bool,
        after: int = 0,
    ) -> None:
        """Embed until no text lacks a vector; what arrives meanwhile is taken in the next pass."""
        stored = self.writer.catalog.vectors
        missing = stored.missing(number, after)
        self._name, self._total = embedder.name, missing.total
        self._done = missing.total - missing.texts
        self._ends.clear()
        while True:
            before = self._done
            for batch in self._batches(embedder, number, after):
                self._await_turn(choice)
                vectors = self._vectors(embedder, batch)
                self._check(choice)
                stored.put(number, vectors, renew=renew)
                self._done += len(vectors)
                self._total = max(self._total, self._done)
                self._ends.append((time.monotonic(), len(vectors)))
                self._progress()
            if self._done == before:
                return

    def _batches(self, embedder: Embedder, number: int, after: int) -> Iterator[dict[bytes, str]]:
        """Texts that lack a vector, documents with the newest first, a batch at a time."""
        catalog, models = self.writer.catalog, self.writer.settings.models
        most = (_LOCAL_TEXTS, _LOCAL_CHARACTERS)
        if is_remote(embedder.name):
            most = (models.embed_texts, models.embed_characters)
        taken: set[bytes] = set()
        batch: dict[bytes, str] = {}
        size = 0
        for document_id in catalog.vectors.documents_missing(number, after=after):
            wanted = catalog.vectors.texts_missing(document_id, number)
            wanted -= taken | self._underivable
            if not wanted:
                continue
            texts = missing_texts(catalog, document_id, wanted)
            if not texts.keys() >= wanted:
                self._note_underivable(document_id, number, wanted - texts.keys())
            for name, text in texts.items():
                if batch and (len(batch) >= most[0] or size + len(text) > most[1]):
                    yield batch
                    batch, size = {}, 0
                batch[name] = text
                size += len(text)
            taken |= texts.keys()
        if batch:
            yield batch

    def _note_underivable(self, document_id: int, number: int, names: set[bytes]) -> None:
        """Remember texts that cannot be made again, unless the document has just changed."""
        still = self.writer.catalog.vectors.texts_missing(document_id, number)
        self._underivable |= names & still

    def _vectors(self, embedder: Embedder, batch: dict[bytes, str]) -> dict[bytes, bytes]:
        """The vectors of a batch. A text that the model makes none of gets one of zeros.

        Raises:
            RagkitError: the embedder makes no vectors at all now.
        """
        texts = list(batch.values())
        try:
            rows = embedder.embed_passages(texts)
        except OllamaAnswerError:
            # If not even one plain word works, it is not for the texts.
            embedder.embed_passages([_PROBE])
            rows = np.stack([_one(embedder, text) for text in texts])
        data = rows.astype("<f2")
        return {name: data[row].tobytes() for row, name in enumerate(batch)}

    def _opened(self, name: str) -> Embedder:
        if name not in self._embedders:
            self._embedders[name] = open_named(name, self.writer.settings.models)
        return self._embedders[name]

    def _forget(self) -> None:
        """Close what was opened: Ollama may have another model of that name when it is back."""
        for one in self._embedders.values():
            close = getattr(one, "close", None)
            if close is not None:
                close()
        self._embedders.clear()

    # -- whose turn it is ------------------------------------------------------------------

    def _must_stop(self, choice: EmbedderChoice) -> bool:
        if self.stopping.is_set():
            return True
        now = self.writer.catalog.embedders.choice()
        if now is None or (now.paused and self.heed_pause):
            return True
        return (now.active.id, now.target) != (choice.active.id, choice.target)

    def _check(self, choice: EmbedderChoice) -> None:
        """Go on only while this is still wanted.

        Raises:
            _Stop: it is not.
        """
        if self._must_stop(choice):
            raise _Stop

    def _await_turn(self, choice: EmbedderChoice) -> None:
        """Wait until nothing speaks against the next batch.

        Raises:
            _Stop: it is no longer wanted.
        """
        self._check(choice)
        while self.busy():
            self._say(EmbeddingPhase.WAITING, "Files are being indexed; that comes first.")
            self._rest(_POLL_SECONDS)
            self._check(choice)
        self._say(EmbeddingPhase.WORKING)

    def _paused(self) -> bool:
        choice = self.writer.catalog.embedders.choice()
        return self.heed_pause and choice is not None and choice.paused

    def _rest(self, seconds: float) -> None:
        """Wait, unless it is time to stop or something else was chosen."""
        until = time.monotonic() + seconds
        before = self.writer.catalog.embedders.change_token()[1:]
        while (left := until - time.monotonic()) > 0:
            if self.stopping.wait(min(left, _POLL_SECONDS)):
                return
            if self.writer.catalog.embedders.change_token()[1:] != before:
                return

    # -- telling ---------------------------------------------------------------------------

    def _progress(self) -> None:
        self._say(EmbeddingPhase.WORKING)
        if self.watch is not None:
            self.watch(Progress("Embedding", self._done, self._total, self._name))

    def _pace(self) -> float | None:
        """Texts a minute of late."""
        if len(self._ends) < 2:
            return None
        seconds = self._ends[-1][0] - self._ends[0][0]
        texts = sum(count for _at, count in self._ends) - self._ends[0][1]
        return None if seconds <= 0 else texts * 60.0 / seconds

    def _say(self, phase: EmbeddingPhase, message: str = "") -> None:
        """Tell how it stands: each change at once, else now and then."""
        now = time.monotonic()
        often = _REPORT_SECONDS if phase is EmbeddingPhase.WORKING else _IDLE_REPORT_SECONDS
        at, last = self._reported
        same = (last.phase, last.message, last.waiting) == (phase, message, self._waiting)
        if same and now - at < often:
            return
        said = EmbeddingReport(
            phase, message, self._name, self._done, self._total, self._pace(), self._waiting
        )
        self._reported = (now, said)
        report(self.writer.catalog, said)


def _one(embedder: Embedder, text: str) -> NDArray[np.float32]:
    """The vector of one text, or zeros when the model makes none of it."""
    try:
        row: NDArray[np.float32] = embedder.embed_passages([text])[0]
    except OllamaAnswerError as error:
        logger.warning("a text gets no vector: %s", error)
        return np.zeros(embedder.dimensions, np.float32)
    return row


def make_vectors(writer: Writer, stopping: threading.Event, busy: Callable[[], bool]) -> None:
    """Be the thread that makes the vectors that lack, until ``stopping`` is set."""
    EmbedderMigration(writer, busy, stopping).run()


def make_now(writer: Writer, watch: Callable[[Progress], None] | None = None) -> str:
    """Make here and now what lacks; returns a sentence on why it could not, or nothing."""
    migration = EmbedderMigration(writer, watch=watch)
    try:
        migration.work()
    except _Stop:
        return ""
    except RagkitError as error:
        migration._say(EmbeddingPhase.WAITING, str(error))
        return str(error)
    finally:
        migration._forget()
    return ""
