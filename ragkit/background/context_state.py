"""How the writing of contexts stands, told by the one who does it to pages and commands."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from ragkit.catalog import Catalog
from ragkit.catalog.records import ContextCounts

if TYPE_CHECKING:
    from ragkit.settings import ModelSettings

PAUSED_KEY = "contexts paused"
"""Under it the catalog says whether the person has paused the writing."""

_MODEL_KEY = "contexts model"
_FIRST_KEY = "contexts first"
_REPORT_KEY = "contexts report"
_FRESH_SECONDS = 300.0
"""A model may need minutes for one chunk."""


class BackfillPhase(StrEnum):
    """What whoever writes contexts is doing."""

    OFF = "off"
    PAUSED = "paused"
    WAITING = "waiting"
    WORKING = "working"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class BackfillReport:
    """The last sign of whoever writes contexts. ``message`` says what it waits for.

    ``per_minute`` is the pace of late, ``None`` before it is known; ``ready`` counts chunks whose
    context is there and not indexed yet; ``at`` in seconds since the epoch.
    """

    phase: BackfillPhase
    message: str = ""
    model: str = ""
    per_minute: float | None = None
    current: str = ""
    ready: int = 0
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class UserRequests:
    """What the person wants of whoever writes contexts, and may change at any moment.

    ``model`` is empty when none was chosen; ``first`` is the collection that comes before others.
    """

    paused: bool = False
    model: str = ""
    first: int | None = None


@dataclass(frozen=True, slots=True)
class BackfillState:
    """How many chunks stand how, what is being done, and how long it will take.

    ``running`` says that somebody is there who writes contexts when there are some to write;
    ``chosen`` is the model that the person chose, or empty; ``ready`` of the pending chunks are
    written and about to be indexed.
    """

    counts: ContextCounts
    phase: BackfillPhase
    message: str
    model: str
    per_minute: float | None
    seconds_left: float | None
    last_error: str
    current: str
    running: bool
    paused: bool
    chosen: str = ""
    ready: int = 0


def report(catalog: Catalog, said: BackfillReport) -> None:
    """Tell how it stands."""
    catalog.set_meta(_REPORT_KEY, {**asdict(said), "at": time.time()})


def read_state(
    catalog: Catalog, collection_id: int | None = None, *, writing: bool = True
) -> BackfillState:
    """How it stands now, for one collection or all; ``writing``: somebody holds the lock."""
    contexts = catalog.contexts
    counts = contexts.counts(collection_id)
    said: dict[str, Any] = catalog.get_meta(_REPORT_KEY) or {}
    paused = is_paused(catalog)
    running = writing and time.time() - float(said.get("at", 0.0)) < _FRESH_SECONDS
    phase = BackfillPhase(said.get("phase", "off")) if running else BackfillPhase.OFF
    if paused:
        phase = BackfillPhase.PAUSED
    elif running and phase is BackfillPhase.PAUSED:
        phase = BackfillPhase.WAITING
    per_minute = said.get("per_minute")
    if per_minute is None:
        each = contexts.seconds_each()
        per_minute = None if each is None else 60.0 / each
    return BackfillState(
        counts=counts,
        phase=phase,
        message=str(said.get("message", "")) if running else "",
        model=str(said.get("model", "")),
        per_minute=per_minute,
        seconds_left=seconds_for(counts.pending, per_minute),
        last_error=contexts.last_error(),
        current=str(said.get("current", "")) if phase is BackfillPhase.WORKING else "",
        running=running,
        paused=paused,
        chosen=chosen_model(catalog),
        ready=int(said.get("ready", 0)) if phase is BackfillPhase.WORKING else 0,
    )


def seconds_for(chunks: int, per_minute: float | None) -> float | None:
    """How long so many chunks take at that pace; ``None`` when it is not known."""
    if chunks == 0:
        return 0.0
    return None if not per_minute else chunks * 60.0 / per_minute


def is_paused(catalog: Catalog) -> bool:
    """Whether the person has paused the writing."""
    return bool(catalog.get_meta(PAUSED_KEY))


def chosen_model(catalog: Catalog) -> str:
    """The model that the person chose for this library; empty when the settings decide."""
    return str(catalog.get_meta(_MODEL_KEY) or "")


def wanted_model(catalog: Catalog, settings: ModelSettings) -> str:
    """The model that is asked for whatever is written: the person's choice before the settings'."""
    return chosen_model(catalog) or settings.context_model


def choose_model(catalog: Catalog, name: str) -> None:
    """Have contexts written by that model from the next chunk on; empty: as the settings say."""
    catalog.set_meta(_MODEL_KEY, name or None)


def want_first(catalog: Catalog, collection_id: int | None) -> None:
    """Have a collection's contexts written before those of others; ``None`` takes it back."""
    catalog.set_meta(_FIRST_KEY, collection_id)


def user_requests(catalog: Catalog) -> UserRequests:
    """All that the person wants now."""
    first = catalog.get_meta(_FIRST_KEY)
    return UserRequests(
        is_paused(catalog), chosen_model(catalog), None if first is None else int(first)
    )


def set_paused(catalog: Catalog, paused: bool) -> None:
    """Pause the writing, or let it go on; takes effect after the chunk at hand."""
    catalog.set_meta(PAUSED_KEY, True if paused else None)
