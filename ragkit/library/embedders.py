"""Embedders of a library: the active one, those on offer, and switching to another."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragkit.catalog import Catalog
from ragkit.catalog.background_state import BackgroundPhase, EmbedderState, read_embedder_state
from ragkit.catalog.model_choice import added_models
from ragkit.catalog.vectors import EmbedderChoice
from ragkit.errors import NotFoundError, RagkitError, SettingsError
from ragkit.formatting import plural
from ragkit.indexing.writer import lock_is_held, writer_lock
from ragkit.models.base import BUILT_IN, EMBEDDERS, FOLDER, OLLAMA
from ragkit.models.factory import full_name, is_brought, is_remote, open_named
from ragkit.paths import LibraryPaths

if TYPE_CHECKING:
    from ragkit.indexing.progress import Progress
    from ragkit.library.services import ActiveServices
    from ragkit.models.base import Embedder
    from ragkit.models.ollama_text import ModelInfo
    from ragkit.settings import Settings

__all__ = ["BackgroundPhase", "EmbedderOffer", "EmbedderService", "EmbedderState", "Offers"]

_SAMPLE = 16
_SAMPLE_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class EmbedderOffer:
    """An embedder that can be chosen.

    ``size`` is in bytes, 0 if it needs no download. ``lacking`` counts the texts without a vector
    of it. ``active`` says that searches use it now.
    """

    name: str
    size: int = 0
    dimensions: int = 0
    lacking: int = 0
    active: bool = False


@dataclass(frozen=True, slots=True)
class Offers:
    """The embedders on offer, the built-in one first; ``trouble`` says why Ollama's are missing."""

    offers: tuple[EmbedderOffer, ...]
    trouble: str = ""


class EmbedderService:
    """Tells which embedder is active, and switches the library to another."""

    def __init__(
        self, settings: Settings, paths: LibraryPaths, catalog: Catalog, services: ActiveServices
    ) -> None:
        self._settings = settings
        self._paths = paths
        self._catalog = catalog
        self._services = services

    @property
    def active(self) -> Embedder:
        """The embedder that turns texts and queries into vectors now."""
        return self._services.current().embedder

    def pin(self, embedder: Embedder) -> None:
        """Use an embedder from now on, whatever the catalog says."""
        self._services.pin(embedder)

    def complete(self) -> list[str]:
        """Return the embedders for which every text has a vector, the active one first."""
        active = self.active.name
        others = [
            record.name
            for record in self._catalog.embedders.all()
            if record.name != active and self._catalog.vectors.is_complete(record.id)
        ]
        return [active, *others]

    def choice(self) -> EmbedderChoice | None:
        """Return the chosen embedder as the catalog has it, or ``None`` before the first."""
        return self._catalog.embedders.choice()

    def status(self) -> EmbedderState:
        """Return the active embedder, and the progress of a switch. Asks no server."""
        held = lock_is_held(self._paths.lock)
        return read_embedder_state(self._catalog, writing=held, active=self._services.usual_name)

    def offers(self) -> Offers:
        """Return the embedders to choose from: built in, added as folders, and Ollama's.

        Takes seconds at most.
        """
        choice = self._catalog.embedders.choice()
        active = choice.active if choice else None
        names: dict[str, EmbedderOffer] = {BUILT_IN: EmbedderOffer(BUILT_IN)}
        for added in added_models(self._catalog):
            if added.dimensions:
                names[added.name] = EmbedderOffer(added.name, added.size, added.dimensions)
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
            record = self._catalog.embedders.newest_named(name)
            if active is not None and active.name == name:
                record = active
            missing = self._catalog.vectors.missing(record.id if record else None).texts
            is_active = name == (active.name if active else self._services.usual_name)
            offers.append(EmbedderOffer(name, offer.size, offer.dimensions, missing, is_active))
        return Offers(tuple(offers), trouble)

    def estimate(self, name: str) -> float:
        """Estimate from a sample how many seconds an embedder needs for its missing vectors.

        Raises:
            RagkitError: it is not available now.
        """
        record = self._catalog.embedders.newest_named(full_name(name))
        embedder_id = record.id if record else -1
        missing = self._catalog.vectors.missing(embedder_id).texts
        texts = self._sample(embedder_id)
        if not texts:
            return 0.0
        limits = {"retries": 0, "embed_seconds": _SAMPLE_SECONDS}
        embedder = open_named(full_name(name), self._settings.models.model_copy(update=limits))
        started = time.perf_counter()
        embedder.embed_passages(texts)
        return (time.perf_counter() - started) / len(texts) * missing

    def _sample(self, embedder_id: int) -> list[str]:
        from ragkit.background.vectors import missing_texts

        texts: dict[bytes, str] = {}
        for document_id in self._catalog.vectors.documents_missing(embedder_id, _SAMPLE):
            hashes = self._catalog.vectors.texts_missing(document_id, embedder_id)
            texts |= missing_texts(self._catalog, document_id, hashes)
            if len(texts) >= _SAMPLE:
                break
        return list(texts.values())[:_SAMPLE]

    # -- moving to another -----------------------------------------------------------------

    def choose(self, name: str) -> str:
        """Switch to another embedder; return a sentence on what happens now.

        The previous one becomes active at once. For any other, the writer makes the missing
        vectors first, and the active one is used until then. Naming the active one stops a switch.

        Raises:
            SettingsError: there is no such embedder.
            NotFoundError: Ollama answers, and does not have the model.
            ModelFolderError: its folder has no embedder that can be used.
        """
        name = full_name(name)
        if not is_brought(name) and name not in EMBEDDERS:
            raise SettingsError(
                f'Unknown embedding model: "{name}".', f"Available: {', '.join(EMBEDDERS)}."
            )
        self._services.writer()
        if name.startswith(FOLDER):
            # The folder may have moved; existing vectors of the same model stay valid.
            opened = open_named(name, self._settings.models)
            self._catalog.embedders.rename(opened.fingerprint, name)
        choice = self._catalog.embedders.choice()
        if choice is None:
            raise NotFoundError("The library has no embedding model yet.", "Add a folder first.")
        if choice.previous is not None and choice.previous.name == name != choice.active.name:
            return self.revert()
        if choice.active.name == name and not self._has_changed(name, choice.active.fingerprint):
            self._catalog.embedders.set_target("")
            return f"{name} is the embedding model already, and stays it."
        self._check_offered(name)
        self._catalog.embedders.set_target(name)
        if choice.active.name == name:
            return (
                f"Switching to the new version of {name}; until all texts have new vectors, search "
                "is by keyword only."
            )
        return f"Switching to {name}; {choice.active.name} is used until all texts have vectors."

    def revert(self) -> str:
        """Make the previous embedder active again at once; return a sentence on that.

        Raises:
            NotFoundError: there is none.
        """
        choice = self._catalog.embedders.choice()
        if choice is not None and choice.target:
            self._catalog.embedders.set_target("")
            return f"The switch to {choice.target} was stopped; {choice.active.name} stays in use."
        if choice is None or choice.previous is None or not self._catalog.embedders.revert():
            raise NotFoundError("There is no previous embedding model.", "Choose one by name.")
        missing = self._catalog.vectors.missing(choice.previous.id).texts
        more = "nothing had to be embedded."
        if missing:
            more = f"still to embed: {plural(missing, 'text')}, found by keyword only until then."
        return f"{choice.previous.name} is in use again; {more}"

    def cancel(self) -> None:
        """Stop switching to another embedder; the vectors made so far are kept."""
        self._catalog.embedders.set_target("")

    def pause(self) -> None:
        """Pause embedding in the background after the current batch."""
        self._catalog.embedders.set_paused(True)

    def resume(self) -> None:
        """Resume embedding in the background."""
        self._catalog.embedders.set_paused(False)

    def embed_missing(self, watch: Callable[[Progress], None] | None = None) -> str:
        """Make the missing vectors in this process; return why that failed, or an empty string.

        Raises:
            LibraryBusyError: another process is writing, and makes them.
        """
        from ragkit.background.vectors import EmbedderMigration

        with writer_lock(self._paths.lock, "embedder"):
            return EmbedderMigration(self._services.writer(), watch=watch).run_now()

    def _has_changed(self, name: str, fingerprint: str) -> bool:
        """Return whether the embedder of that name makes different vectors now."""
        try:
            return open_named(name, self._settings.models).fingerprint != fingerprint
        except RagkitError:
            return False

    def _check_offered(self, name: str) -> None:
        if not is_remote(name):
            return
        try:
            names = [f"{OLLAMA}{model.name}" for model in self._ollama_models()]
        except RagkitError:
            # The switch begins when Ollama answers.
            return
        if name not in names:
            offered = ", ".join(names) or "none yet"
            raise NotFoundError(
                f"Ollama has no embedding model {name.removeprefix(OLLAMA)}.",
                f"Get it with: ollama pull {name.removeprefix(OLLAMA)}. Available: {offered}.",
            )

    def _ollama_models(self) -> list[ModelInfo]:
        from ragkit.models.ollama import OllamaClient

        with OllamaClient(self._settings.models.model_copy(update={"retries": 0})) as client:
            allowed = self._settings.models.allow_remote
            return [
                model for model in client.models() if model.embeds and (allowed or not model.remote)
            ]
