"""Makes vectors in the background: missing ones, and all of them for a switch of the embedder.

A library switches to another embedder text by text, and each batch is stored at once. The previous
embedder answers searches until all vectors exist and the new indexes are written. Vectors are
stored by embedder and hash of the text, so that a crash repeats only the current batch.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ragkit.background.context_entries import context_texts
from ragkit.background.loop import BackgroundLoop, Interrupted, Pace
from ragkit.catalog import Catalog
from ragkit.catalog.background_state import EMBEDDING_REPORT, BackgroundPhase
from ragkit.catalog.vectors import EmbedderChoice, MissingVectors
from ragkit.chunking.structural_context import text_hash
from ragkit.errors import OllamaAnswerError, RagkitError
from ragkit.health.consistency import stored_texts
from ragkit.indexes import open_backend
from ragkit.indexing.progress import Progress
from ragkit.indexing.writer import Writer
from ragkit.models.base import Embedder
from ragkit.models.batches import batches
from ragkit.models.factory import check_unchanged, is_brought, open_named

logger = logging.getLogger(__name__)

_LOCAL_TEXTS, _LOCAL_CHARACTERS = 512, 500_000
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 15.0
_PACE_OVER = 20
_PROBE = "ragkit"


@dataclass
class EmbedderMigration:
    """Makes missing vectors, in one thread of the process that holds the lock.

    ``busy``: the process has more urgent work. ``watch`` receives the progress.
    """

    writer: Writer
    busy: Callable[[], bool] = lambda: False
    stopping: threading.Event = field(default_factory=threading.Event)
    watch: Callable[[Progress], None] | None = None
    _embedders: dict[str, Embedder] = field(default_factory=dict)
    _underivable: set[bytes] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Build the loop that runs this task."""
        self._loop = BackgroundLoop(
            "vectors",
            self.writer.catalog,
            self.stopping,
            EMBEDDING_REPORT,
            requests=lambda: self.change_token()[1:],
            is_paused=self._is_paused,
            busy=self.busy,
            waits=(_FIRST_WAIT, _LONGEST_WAIT),
            pace=Pace(_PACE_OVER),
        )

    def run(self) -> None:
        """Work whenever there is work, until ``stopping`` is set. Never raises."""
        self._loop.run(self)

    def run_now(self) -> str:
        """Make all missing vectors now; return the reason if that failed, or ``""``."""
        try:
            self.work()
        except Interrupted:
            return ""
        except RagkitError as error:
            self._loop.report(BackgroundPhase.WAITING, str(error))
            return str(error)
        finally:
            self.reset()
        return ""

    def change_token(self) -> tuple[object, ...]:
        """Return a value that changes whenever there may be new work; ``()`` before any choice."""
        return self.writer.catalog.embedders.change_token()

    def reset(self) -> None:
        """Close the embedders: after a failure, Ollama may have another model of the same name."""
        for embedder in self._embedders.values():
            close = getattr(embedder, "close", None)
            if close is not None:
                close()
        self._embedders.clear()

    def work(self) -> bool:
        """Finish a requested switch to another embedder; then make missing vectors.

        Raises:
            Interrupted: it is time to stop or to pause, or another embedder was chosen.
            RagkitError: an embedder is unavailable now. Finished vectors are kept.
        """
        choice = self.writer.catalog.embedders.choice()
        if choice is None:
            return True
        try:
            if choice.target:
                self._move(choice)
        finally:
            # New documents get vectors of the active embedder, even if the switch fails.
            now = self.writer.catalog.embedders.choice()
            if now is not None and self._is_wanted(now):
                self._fill(now)
        self._loop.report(BackgroundPhase.DONE)
        return True

    # -- making vectors --------------------------------------------------------------------

    def _move(self, choice: EmbedderChoice) -> None:
        """Make all vectors of the target embedder, then activate it."""
        catalog = self.writer.catalog
        embedder = self._opened(choice.target)
        number = catalog.embedders.ensure(embedder.fingerprint, embedder.name, embedder.dimensions)
        if number == choice.active.id:
            catalog.embedders.set_target("")
            return
        catalog.embedders.set_target_id(choice.target, number)
        self._underivable.clear()
        while True:
            # Check every text again: vectors may have been removed since.
            catalog.vectors.recheck(number)
            missing = catalog.vectors.missing(number)
            self._embed_all(embedder, number, choice, missing, renew=False)
            self._loop.report(BackgroundPhase.WORKING, "Writing the new indexes.")
            indexes = open_backend(
                catalog.entries, self.writer.paths, embedder, self.writer.settings.index
            )
            for collection in catalog.collections.all():
                self._await_turn(choice)
                indexes.rebuild(collection)
            if catalog.embedders.switch(number, self._underivable):
                logger.info("switched from %s to %s", choice.active.name, embedder.name)
                return
            self._check(choice)

    def _fill(self, choice: EmbedderChoice) -> None:
        """Make the missing vectors of the active embedder."""
        catalog = self.writer.catalog
        self._underivable.clear()
        active = choice.active
        if catalog.vectors.is_complete(active.id):
            self._loop.update(waiting=0)
            return
        missing = catalog.vectors.missing(active.id)
        self._loop.update(waiting=missing.documents)
        embedder = self._opened(active.name)
        check_unchanged(embedder, active.name, active.fingerprint)
        self._embed_all(embedder, active.id, choice, missing, renew=True)
        writer = self.writer.now()
        for collection in catalog.collections.all():
            writer.indexes.save(collection)
        self._loop.update(waiting=catalog.vectors.missing(active.id).documents)

    def _embed_all(
        self,
        embedder: Embedder,
        number: int,
        choice: EmbedderChoice,
        missing: MissingVectors,
        *,
        renew: bool,
    ) -> None:
        """Embed until no text lacks a vector."""
        stored, loop = self.writer.catalog.vectors, self._loop
        total = stored.texts_in_all()
        done = total - missing.texts
        loop.update(model=embedder.name, done=done, total=total)
        loop.pace.clear()
        while True:
            before = done
            texts = self._missing_texts(number)
            for batch in batches(texts, lambda named: len(named[1]), *self._most(embedder)):
                self._await_turn(choice)
                vectors = self._vectors(embedder, dict(batch))
                self._check(choice)
                stored.put(number, vectors, renew=renew)
                done += len(vectors)
                loop.update(done=done, total=max(total, done))
                loop.pace.add(len(vectors))
                self._report_progress()
            if done == before:
                return

    def _most(self, embedder: Embedder) -> tuple[int, int]:
        """Return the most characters and texts that are embedded together."""
        models = self.writer.settings.models
        if is_brought(embedder.name):
            return models.embed_characters, models.embed_texts
        return _LOCAL_CHARACTERS, _LOCAL_TEXTS

    def _missing_texts(self, number: int) -> Iterator[tuple[bytes, str]]:
        """Yield (hash, text) of texts without a vector, of the newest documents first."""
        catalog = self.writer.catalog
        taken: set[bytes] = set()
        for document_id in catalog.vectors.documents_missing(number):
            missing = catalog.vectors.texts_missing(document_id, number)
            missing -= taken | self._underivable
            texts = missing_texts(catalog, document_id, missing) if missing else {}
            if lost := missing - texts.keys():
                # These texts cannot be rebuilt, unless the document has just changed.
                self._underivable |= lost & catalog.vectors.texts_missing(document_id, number)
            taken |= texts.keys()
            yield from texts.items()

    def _vectors(self, embedder: Embedder, batch: dict[bytes, str]) -> dict[bytes, bytes]:
        """Return the vectors of a batch, float16, by hash; zeros for a text the model rejects.

        Raises:
            RagkitError: the embedder makes no vectors at all now.
        """
        texts = list(batch.values())
        try:
            rows = embedder.embed_passages(texts)
        except OllamaAnswerError:
            # If it rejects even a plain word, the texts are not to blame: this raises.
            embedder.embed_passages([_PROBE])
            rows = np.stack([_vector_of(embedder, text) for text in texts])
        data = rows.astype("<f2")
        return {name: data[row].tobytes() for row, name in enumerate(batch)}

    def _opened(self, name: str) -> Embedder:
        if name not in self._embedders:
            self._embedders[name] = open_named(name, self.writer.settings.models)
        return self._embedders[name]

    # -- whose turn it is ------------------------------------------------------------------

    def _is_paused(self) -> bool:
        choice = self.writer.catalog.embedders.choice()
        return choice is not None and choice.paused

    def _is_wanted(self, choice: EmbedderChoice) -> bool:
        if self.stopping.is_set():
            return False
        now = self.writer.catalog.embedders.choice()
        if now is None or now.paused:
            return False
        return (now.active.id, now.target) == (choice.active.id, choice.target)

    def _check(self, choice: EmbedderChoice) -> None:
        """Raise ``Interrupted`` if the vectors of this choice are no longer wanted."""
        if not self._is_wanted(choice):
            raise Interrupted

    def _await_turn(self, choice: EmbedderChoice) -> None:
        """Wait until the next batch may be embedded.

        Raises:
            Interrupted: it is no longer wanted.
        """
        self._loop.await_turn(partial(self._check, choice), self._loop.reason_to_wait)

    def _report_progress(self) -> None:
        self._loop.report(BackgroundPhase.WORKING)
        if self.watch is not None:
            status = self._loop.status
            self.watch(Progress("Embedding", status.done, status.total, status.model))


def _vector_of(embedder: Embedder, text: str) -> NDArray[np.float32]:
    """Return the vector of one text, or zeros if the model rejects the text."""
    try:
        row: NDArray[np.float32] = embedder.embed_passages([text])[0]
    except OllamaAnswerError as error:
        logger.warning("a text gets no vector: %s", error)
        return np.zeros(embedder.dimensions, np.float32)
    return row


def missing_texts(catalog: Catalog, document_id: int, hashes: Set[bytes]) -> dict[bytes, str]:
    """Rebuild the texts with these hashes from what the catalog stores of a document.

    Texts of a document that was indexed by an older version are missing: its file must be read
    again.
    """
    with catalog.connections.read():
        stored = catalog.integrity.stored(document_id)
        if stored is None:
            return {}
        texts = {entry.text_hash: entry.text for entry in stored_texts(stored)}
        contexts = catalog.contexts.of_document(stored.id)
    for record in stored.chunks:
        if (context := contexts.get(record.chunk.index)) is not None:
            written = context_texts(context.answer, record)
            texts |= {text_hash(text): text for _level, text in written}
    return {name: text for name, text in texts.items() if name in hashes}
