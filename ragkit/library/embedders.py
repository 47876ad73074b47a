"""What people ask of embedders: which answers, which there are, and to move to another."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragkit.catalog import Catalog
from ragkit.catalog.background_state import BackgroundPhase, EmbedderState, read_embedder_state
from ragkit.errors import NotFoundError, RagkitError, SettingsError
from ragkit.indexing.lock import lock_is_held, writer_lock
from ragkit.library.services import Kit, Kits
from ragkit.models.factory import BUILT_IN, EMBEDDERS, OLLAMA, full_name, is_remote, open_named
from ragkit.paths import LibraryPaths

if TYPE_CHECKING:
    from ragkit.indexes.local.backend import LocalBackend
    from ragkit.indexing.progress import Progress
    from ragkit.indexing.writer import Writer
    from ragkit.models.base import Embedder
    from ragkit.models.ollama_types import ModelInfo
    from ragkit.retrieval.search import Engine
    from ragkit.settings import Settings

__all__ = ["BackgroundPhase", "EmbedderDesk", "EmbedderOffer", "EmbedderState", "Offers"]

_SAMPLE = 16
_SAMPLE_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class EmbedderOffer:
    """An embedder that can be chosen. ``size`` in bytes, 0 for what needs no download.

    ``lacking`` texts have no vector of it yet; ``active`` says that it answers now.
    """

    name: str
    size: int = 0
    dimensions: int = 0
    lacking: int = 0
    active: bool = False


@dataclass(frozen=True, slots=True)
class Offers:
    """What can be chosen, the built-in one first; ``trouble`` says why Ollama's are not there."""

    offers: tuple[EmbedderOffer, ...]
    trouble: str = ""


class EmbedderDesk:
    """The part of a library that is about embedders."""

    settings: Settings
    paths: LibraryPaths
    catalog: Catalog
    _pinned: Embedder | None = None
    _made: Kits | None = None

    # -- what answers now ------------------------------------------------------------------

    @property
    def _kits(self) -> Kits:
        kits = self._made
        if kits is None or kits.settings is not self.settings:
            kits = self._made = Kits(self.settings, self.paths, self.catalog, self._pinned)
        return kits

    def kit(self) -> Kit:
        """Embedder, indexes and engine of one fingerprint, for one search.

        Raises:
            SettingsError: the settings name no embedder.
            ModelError: the embedded model cannot be read.
        """
        return self._kits.now()

    def kit_of(self, name: str) -> Kit:
        """The kit of an embedder by its name, to compare it with; empty: the one of now.

        Raises:
            NotFoundError: some text has no vector of it.
        """
        now = self.kit()
        if not name or full_name(name) == now.embedder.name:
            return now
        known = self.catalog.embedders.newest_named(full_name(name))
        lacking = self.catalog.vectors.missing(known.id if known else None)
        if known is None or lacking.texts:
            raise NotFoundError(
                f"{lacking.texts} of {lacking.total} texts have no vector of {full_name(name)}.",
                "Choose it as embedder on the Library page first; going back is free.",
            )
        return self._kits.of(known)

    def kept_embedders(self) -> list[str]:
        """Embedders that every text has a vector of; the one that answers now comes first."""
        now = self.kit().embedder.name
        whole = [
            one.name
            for one in self.catalog.embedders.all()
            if one.name != now and not self.catalog.vectors.missing(one.id).texts
        ]
        return [now, *whole]

    @property
    def embedder(self) -> Embedder:
        """What turns text into vectors now. Setting it pins it, whatever the catalog says."""
        return self.kit().embedder

    @embedder.setter
    def embedder(self, embedder: Embedder) -> None:
        self._pinned, self._made = embedder, None

    @property
    def indexes(self) -> LocalBackend:
        """The collections' indexes with the vectors of that embedder."""
        return self.kit().indexes

    @property
    def engine(self) -> Engine:
        """What answers questions with that embedder."""
        return self.kit().engine

    def writer(self) -> Writer:
        """What a process needs to write; it must hold the lock when it does."""
        return self._kits.writer()

    # -- how it stands ---------------------------------------------------------------------

    def embedder_state(self) -> EmbedderState:
        """Which embedder answers, which is to, and how far that is. Asks no server."""
        held = lock_is_held(self.paths.lock)
        return read_embedder_state(self.catalog, writing=held, active=full_name(self._first_name()))

    def embedder_offers(self) -> Offers:
        """What can be chosen: the built-in embedder, and what Ollama has. Takes seconds at most."""
        choice = self.catalog.embedders.choice()
        active = choice.active if choice else None
        names: dict[str, EmbedderOffer] = {BUILT_IN: EmbedderOffer(BUILT_IN)}
        trouble = ""
        try:
            for model in self._ollama_models():
                name = f"{OLLAMA}{model.name}"
                names[name] = EmbedderOffer(name, model.size, model.dimensions)
        except RagkitError as error:
            trouble = str(error)
        if active is not None and active.name not in names:
            names[active.name] = EmbedderOffer(active.name, 0, active.dimensions)
        offers = []
        for name, offer in names.items():
            known = self.catalog.embedders.newest_named(name)
            if active is not None and active.name == name:
                known = active
            lacking = self.catalog.vectors.missing(known.id if known else None).texts
            is_active = name == (active.name if active else full_name(self._first_name()))
            offers.append(EmbedderOffer(name, offer.size, offer.dimensions, lacking, is_active))
        return Offers(tuple(offers), trouble)

    def estimate_embedding(self, name: str) -> float:
        """How many seconds an embedder takes for what it lacks, measured on a few texts.

        Raises:
            RagkitError: it cannot be asked now.
        """
        known = self.catalog.embedders.newest_named(full_name(name))
        number = known.id if known else -1
        lacking = self.catalog.vectors.missing(number).texts
        texts = self._sample(number)
        if not texts:
            return 0.0
        limits = {"retries": 0, "embed_seconds": _SAMPLE_SECONDS}
        embedder = open_named(full_name(name), self.settings.models.model_copy(update=limits))
        started = time.perf_counter()
        embedder.embed_passages(texts)
        return (time.perf_counter() - started) / len(texts) * lacking

    def _sample(self, number: int) -> list[str]:
        from ragkit.background.vectors import missing_texts

        texts: dict[bytes, str] = {}
        for document_id in self.catalog.vectors.documents_missing(number, _SAMPLE):
            wanted = self.catalog.vectors.texts_missing(document_id, number)
            texts |= missing_texts(self.catalog, document_id, wanted)
            if len(texts) >= _SAMPLE:
                break
        return list(texts.values())[:_SAMPLE]

    # -- choosing --------------------------------------------------------------------------

    def choose_embedder(self, name: str) -> str:
        """Have another embedder answer; returns a sentence on what happens now.

        The one before the present one answers at once, without embedding anything. For any other
        the vectors that lack are made first, by whoever writes, and the present one answers till
        then. Naming the present one stops a move.

        Raises:
            SettingsError: there is no such embedder.
            NotFoundError: Ollama answers, and does not have the model.
        """
        name = full_name(name)
        if not is_remote(name) and name not in EMBEDDERS:
            raise SettingsError(
                f'There is no embedder called "{name}".', f"Name one of: {', '.join(EMBEDDERS)}."
            )
        self._kits.writer()
        choice = self.catalog.embedders.choice()
        if choice is None:
            raise NotFoundError("The library has no embedder yet.", "Add a folder first.")
        if choice.previous is not None and choice.previous.name == name != choice.active.name:
            return self.revert_embedder()
        if choice.active.name == name and not self._has_changed(name, choice.active.fingerprint):
            self.catalog.embedders.set_target("")
            return f"{name} answers, and goes on doing so."
        self._check_offered(name)
        self.catalog.embedders.set_target(name)
        return f"Everything is embedded with {name} now; {choice.active.name} answers until then."

    def revert_embedder(self) -> str:
        """Let the embedder of before answer again, at once; returns a sentence on that.

        Raises:
            NotFoundError: there is none.
        """
        choice = self.catalog.embedders.choice()
        if choice is not None and choice.target:
            self.catalog.embedders.set_target("")
            return f"The move to {choice.target} was stopped; {choice.active.name} answers."
        if choice is None or choice.previous is None or not self.catalog.embedders.revert():
            raise NotFoundError("There is no embedder to go back to.", "Choose one by its name.")
        return f"{choice.previous.name} answers again; nothing had to be embedded."

    def cancel_embedding(self) -> None:
        """Stop moving to another embedder; the vectors that were made are kept for another time."""
        self.catalog.embedders.set_target("")

    def pause_embedding(self) -> None:
        """Let the making of vectors rest after the batch at hand."""
        self.catalog.embedders.set_paused(True)

    def resume_embedding(self) -> None:
        """Let the making of vectors go on."""
        self.catalog.embedders.set_paused(False)

    def embed_now(self, watch: Callable[[Progress], None] | None = None) -> str:
        """Make here and now what lacks; returns a sentence on why it could not, or nothing.

        Raises:
            LibraryBusyError: another process writes, and does it.
        """
        from ragkit.background.vectors import EmbedderMigration

        with writer_lock(self.paths.lock, "embedder", wait_seconds=2.0):
            return EmbedderMigration(self.writer(), watch=watch).run_now()

    def _first_name(self) -> str:
        return self.settings.models.embedder if self._pinned is None else self._pinned.name

    def _has_changed(self, name: str, fingerprint: str) -> bool:
        """Whether what is opened by that name now makes other vectors than it did."""
        try:
            return open_named(name, self.settings.models).fingerprint != fingerprint
        except RagkitError:
            return False

    def _check_offered(self, name: str) -> None:
        if not is_remote(name):
            return
        try:
            names = [f"{OLLAMA}{one.name}" for one in self._ollama_models()]
        except RagkitError:
            # It is waited for: the move begins when Ollama answers.
            return
        if name not in names:
            offered = ", ".join(names) or "none yet"
            raise NotFoundError(
                f"Ollama has no embedding model {name.removeprefix(OLLAMA)}.",
                f"Get it with: ollama pull {name.removeprefix(OLLAMA)}. There are: {offered}.",
            )

    def _ollama_models(self) -> list[ModelInfo]:
        from ragkit.models.ollama import OllamaClient

        once = self.settings.models.model_copy(update={"retries": 0})
        with OllamaClient(once) as client:
            allowed = self.settings.models.allow_remote
            return [one for one in client.models() if one.embeds and (allowed or not one.remote)]
