"""How the making of vectors stands, told by the one who does it to pages and commands."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from ragkit.catalog import Catalog

_REPORT_KEY = "embedding report"
_FRESH_SECONDS = 180.0
"""A model may need minutes for a batch."""


class EmbeddingPhase(StrEnum):
    """What whoever makes vectors is doing."""

    OFF = "off"
    PAUSED = "paused"
    WAITING = "waiting"
    WORKING = "working"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class EmbeddingReport:
    """The last sign of whoever makes vectors. ``message`` says what it waits for.

    ``name`` is the embedder at work; ``done`` and ``total`` count texts; ``per_minute`` is the
    pace of late, ``None`` before it is known; ``waiting`` documents lack
    vectors of the active embedder; ``at`` in seconds since the epoch.
    """

    phase: EmbeddingPhase
    message: str = ""
    name: str = ""
    done: int = 0
    total: int = 0
    per_minute: float | None = None
    waiting: int = 0
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class EmbedderState:
    """Which embedder answers, which is to, and how far that is.

    ``previous`` is the one to which one can go back; ``target`` the one that the library is moved
    to, or empty. ``done`` of ``total`` texts have a vector of the target, or of the active one when
    there is no target. ``waiting`` documents lack vectors of the active one: their words find them.
    """

    active: str
    previous: str
    target: str
    phase: EmbeddingPhase
    message: str
    done: int
    total: int
    waiting: int
    per_minute: float | None
    paused: bool
    running: bool

    @property
    def seconds_left(self) -> float | None:
        """How long the rest takes at the present pace; ``None`` when that is not known."""
        if self.done >= self.total:
            return 0.0
        return (self.total - self.done) * 60.0 / self.per_minute if self.per_minute else None


def report(catalog: Catalog, said: EmbeddingReport) -> None:
    """Tell how it stands."""
    catalog.set_meta(_REPORT_KEY, {**asdict(said), "at": time.time()})


def read_state(catalog: Catalog, *, writing: bool = True, active: str = "") -> EmbedderState:
    """How it stands now; ``writing``: somebody holds the lock.

    ``active`` is the embedder that answers before the library has made a choice.
    """
    choice = catalog.embedders.choice()
    if choice is None:
        return EmbedderState(active, "", "", EmbeddingPhase.OFF, "", 0, 0, 0, None, False, writing)
    said: dict[str, Any] = catalog.get_meta(_REPORT_KEY) or {}
    running = writing and time.time() - float(said.get("at", 0.0)) < _FRESH_SECONDS
    phase = EmbeddingPhase(said.get("phase", "off")) if running else EmbeddingPhase.OFF
    mine = said.get("name") == (choice.target or choice.active.name)
    if running:
        # Counting reads every entry, which whoever makes the vectors has done.
        waiting = int(said.get("waiting", 0))
        done, total = (int(said["done"]), int(said["total"])) if mine else (0, 0)
    else:
        lacking = aimed = catalog.vectors.missing(choice.active.id)
        if choice.target:
            known = catalog.embedders.newest_named(choice.target)
            aimed = catalog.vectors.missing(choice.target_id or (known.id if known else None))
        waiting, done, total = lacking.documents, aimed.total - aimed.texts, aimed.total
    if choice.paused:
        phase = EmbeddingPhase.PAUSED
    elif phase in (EmbeddingPhase.DONE, EmbeddingPhase.PAUSED) and (choice.target or waiting):
        phase = EmbeddingPhase.WAITING
    return EmbedderState(
        active=choice.active.name,
        previous=choice.previous.name if choice.previous else "",
        target=choice.target,
        phase=phase,
        message=str(said.get("message", "")) if phase is EmbeddingPhase.WAITING else "",
        done=done,
        total=total,
        waiting=waiting,
        per_minute=said.get("per_minute") if mine else None,
        paused=choice.paused,
        running=running,
    )
