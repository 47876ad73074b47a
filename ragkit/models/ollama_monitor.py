"""Ollama for pages: whether it is there, which models it has, and downloads.

No page waits for it: Ollama is asked in threads, and pages see the last result.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragkit.errors import ModelMissingError, OllamaError, RagkitError
from ragkit.models.ollama_text import Health, ModelInfo, one_line
from ragkit.settings import ModelSettings

if TYPE_CHECKING:
    from ragkit.models.ollama import OllamaClient

SUGGESTED_MODEL, SUGGESTED_BYTES = "llama3.2:3b", 2_019_393_189
"""A small model that writes well enough, and how much has to be downloaded for it."""

_FRESH_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class OllamaLook:
    """The result of the last look at Ollama.

    ``writers`` are the models of this machine that write text, by name; ``best`` is the one that
    is taken when none is chosen, or empty.
    """

    health: Health
    writers: tuple[ModelInfo, ...] = ()
    best: str = ""


@dataclass(frozen=True, slots=True)
class Download:
    """A model on its way. ``done`` and ``total`` are bytes; ``total`` is 0 while unknown.

    ``problem`` is why it came to nothing, with what to do; empty when it is there, or cancelled.
    """

    model: str
    status: str = "starting"
    done: int = 0
    total: int = 0
    ended: bool = False
    cancelled: bool = False
    problem: str = ""


class OllamaMonitor:
    """Looks at Ollama and downloads models in the background. Safe between threads."""

    def __init__(
        self, settings: ModelSettings, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._lock = threading.Lock()
        self._client: OllamaClient | None = None
        self._known: OllamaLook | None = None
        self._known_at = 0.0
        self._looking = False
        self._download: Download | None = None
        self._cancel = threading.Event()

    def look(self) -> OllamaLook | None:
        """Return the last look, ``None`` before the first; an old one is refreshed in a thread."""
        with self._lock:
            old = self._known is None or self._clock() - self._known_at > _FRESH_SECONDS
            if old and not self._looking:
                self._looking = True
                threading.Thread(target=self.look_now, name="ragkit-look", daemon=True).start()
            return self._known

    def look_now(self) -> OllamaLook:
        """Return a fresh look at Ollama, which may take some seconds; never raises."""
        try:
            look = self._asked()
        except RagkitError as error:
            look = OllamaLook(Health(False, "", (), error.message, error.cure))
        with self._lock:
            self._known, self._known_at, self._looking = look, self._clock(), False
        return look

    def _asked(self) -> OllamaLook:
        from ragkit.models.context_writer import choose_model

        client = self._opened()
        health = client.health()
        if not health.reachable:
            return OllamaLook(health)
        try:
            models = client.models()
        except OllamaError as error:
            return OllamaLook(replace(health, sentence=error.message, cure=error.cure))
        writers = tuple(model for model in models if model.writes and not model.remote)
        chosen = self._settings.context_model
        best = choose_model(writers, chosen)
        return OllamaLook(health, writers, best.name if best else chosen)

    def _opened(self) -> OllamaClient:
        from ragkit.models.ollama import OllamaClient

        with self._lock:
            if self._client is None:
                self._client = OllamaClient(self._settings)
            return self._client

    # -- downloading -----------------------------------------------------------------------

    @property
    def download(self) -> Download | None:
        """The last download, running or ended; ``None`` before the first."""
        with self._lock:
            return self._download

    def pull(self, model: str, then: Callable[[str], None] = lambda _: None) -> None:
        """Start to download a model, unless one is on its way; call ``then`` once it is there.

        ``then`` is called in another thread.
        """
        with self._lock:
            if self._download is not None and not self._download.ended:
                return
            self._download, self._cancel = Download(model), threading.Event()
            arguments = (model, self._cancel, then)
        threading.Thread(target=self._pull, args=arguments, name="ragkit-pull", daemon=True).start()

    def cancel(self) -> None:
        """Cancel the download; what has arrived is kept for the next time."""
        self._cancel.set()
        self._record(self._cancel, ended=True, cancelled=True)

    def forget_download(self) -> None:
        """Clear a download that has ended."""
        with self._lock:
            if self._download is not None and self._download.ended:
                self._download = None

    def _pull(self, model: str, cancel: threading.Event, then: Callable[[str], None]) -> None:
        try:
            with closing(self._opened().pull(model)) as parts:
                for part in parts:
                    if cancel.is_set():
                        return
                    self._record(cancel, status=part.status, done=part.done, total=part.total)
            then(model)
        except ModelMissingError:
            problem = f'There is no model "{one_line(model, 80)}" to download. Check its name.'
            self._record(cancel, ended=True, problem=problem)
            return
        except RagkitError as error:
            self._record(cancel, ended=True, problem=str(error))
            return
        self.look_now()
        self._record(cancel, ended=True)

    def _record(self, cancel: threading.Event, **changes: object) -> None:
        """Record the state of a download, unless it has ended or another one has begun."""
        with self._lock:
            download = self._download
            if download is not None and not download.ended and cancel is self._cancel:
                self._download = replace(download, **changes)  # type: ignore[arg-type]
