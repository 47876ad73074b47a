"""The state of work in the background: reported by the process that does it, read by all others.

The worker writes a report for each kind of work under a key of the catalog's meta table; what a
person requests of it stands there as well.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from ragkit.catalog import Catalog
from ragkit.catalog.context_records import ContextCost, ContextCounts
from ragkit.paths import LibraryPaths

if TYPE_CHECKING:
    from ragkit.settings import ModelSettings

CONTEXTS_REPORT = "contexts report"
EMBEDDING_REPORT = "embedding report"

_PAUSED_KEY = "contexts paused"
_MODEL_KEY = "contexts model"
_FIRST_KEY = "contexts first"
_FRESH_SECONDS = {CONTEXTS_REPORT: 300.0, EMBEDDING_REPORT: 180.0}
"""A report that is older is of a process that has gone: a model may need minutes for a batch."""


class BackgroundPhase(StrEnum):
    """What a background loop is doing."""

    OFF = "off"
    PAUSED = "paused"
    WAITING = "waiting"
    WORKING = "working"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class BackgroundReport:
    """The last report of a background loop. ``message`` is what it waits for.

    ``model`` writes contexts or makes vectors; ``per_minute`` is the recent pace in chunks or
    texts, ``None`` before it is known; ``at`` is in seconds since the epoch. Of contexts:
    ``current`` is the document at hand, ``ready`` counts chunks whose context is written and not
    yet indexed. Of vectors: ``done`` and ``total`` count texts, and ``waiting`` documents have
    entries without a vector of the active embedder.
    """

    phase: BackgroundPhase = BackgroundPhase.OFF
    message: str = ""
    model: str = ""
    per_minute: float | None = None
    current: str = ""
    ready: int = 0
    done: int = 0
    total: int = 0
    waiting: int = 0
    at: float = 0.0


def write_report(catalog: Catalog, key: str, report: BackgroundReport) -> None:
    """Store a report under the key of its kind of work, with the present time."""
    catalog.set_meta(key, {**asdict(report), "at": time.time()})


def _read_report(catalog: Catalog, key: str) -> tuple[BackgroundReport, bool]:
    """Return the last report, and whether it is fresh: somebody is there who does the work."""
    stored = catalog.get_meta(key) or {}
    values = {
        each.name: stored[each.name] for each in fields(BackgroundReport) if each.name in stored
    }
    values["phase"] = BackgroundPhase(values.get("phase", "off"))
    report = BackgroundReport(**values)
    return report, time.time() - report.at < _FRESH_SECONDS[key]


# -- contexts ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class UserRequests:
    """What the person requests of the writing of contexts, and may change at any moment.

    ``model`` is empty when none was chosen; ``first`` is the collection that comes before others.
    """

    paused: bool = False
    model: str = ""
    first: int | None = None


@dataclass(frozen=True, slots=True)
class BackfillState:
    """Counts of chunks by status, what is being done, and how long it will take.

    ``running``: a process is there that writes contexts when any are pending; ``chosen`` is the
    model that the person chose, or empty; ``ready`` of the pending chunks are written and about to
    be indexed. ``cost`` is what those that are written have cost; ``tokens_each`` is the mean of a
    chunk, ``None`` before the first.
    """

    counts: ContextCounts
    phase: BackgroundPhase
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
    cost: ContextCost = field(default_factory=ContextCost)
    tokens_each: float | None = None


def read_context_state(
    catalog: Catalog, collection_id: int | None = None, *, writing: bool = True
) -> BackfillState:
    """Return the present state, of one collection or all; ``writing``: the lock is held."""
    contexts = catalog.contexts
    counts = contexts.counts(collection_id)
    report, fresh = _read_report(catalog, CONTEXTS_REPORT)
    requests = user_requests(catalog)
    running = writing and fresh
    phase = report.phase if running else BackgroundPhase.OFF
    if requests.paused:
        phase = BackgroundPhase.PAUSED
    elif phase is BackgroundPhase.PAUSED:
        phase = BackgroundPhase.WAITING
    working = phase is BackgroundPhase.WORKING
    per_minute = report.per_minute
    cost = contexts.cost(collection_id)
    # What is known of other collections says more than nothing.
    known = cost if cost.contexts or collection_id is None else contexts.cost()
    if per_minute is None and known.contexts and known.seconds:
        per_minute = 60.0 * known.contexts / known.seconds
    return BackfillState(
        counts=counts,
        phase=phase,
        message=report.message if running else "",
        model=report.model,
        per_minute=per_minute,
        seconds_left=_seconds_for(counts.pending, per_minute),
        last_error=contexts.last_error(),
        current=report.current if working else "",
        running=running,
        paused=requests.paused,
        chosen=requests.model,
        ready=report.ready if working else 0,
        cost=cost,
        tokens_each=known.tokens / known.contexts if known.contexts else None,
    )


def user_requests(catalog: Catalog) -> UserRequests:
    """Return all that the person requests now."""
    first = catalog.get_meta(_FIRST_KEY)
    return UserRequests(
        is_paused(catalog), chosen_model(catalog), None if first is None else int(first)
    )


def is_paused(catalog: Catalog) -> bool:
    """Return whether the person has paused the writing of contexts."""
    return bool(catalog.get_meta(_PAUSED_KEY))


def set_paused(catalog: Catalog, paused: bool) -> None:
    """Pause the writing of contexts after the current chunk, or resume it."""
    catalog.set_meta(_PAUSED_KEY, True if paused else None)


def chosen_model(catalog: Catalog) -> str:
    """Return the model that the person chose for this library; empty: the settings decide."""
    return str(catalog.get_meta(_MODEL_KEY) or "")


def context_model_name(catalog: Catalog, settings: ModelSettings) -> str:
    """Return the model that writes for this library: the person's choice, else the settings'."""
    return chosen_model(catalog) or settings.context_model


def choose_model(catalog: Catalog, name: str) -> None:
    """Set the model that writes contexts from the next chunk on; empty: the settings decide."""
    catalog.set_meta(_MODEL_KEY, name or None)


def write_first(catalog: Catalog, collection_id: int | None) -> None:
    """Set the collection whose contexts are written before those of others, or ``None``."""
    catalog.set_meta(_FIRST_KEY, collection_id)


# -- vectors -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EmbedderState:
    """Which embedder answers, which one is to, and how far the move is.

    ``previous`` is the one to which one can go back; ``target`` the one that the library is moved
    to, or empty. ``done`` of ``total`` texts have a vector of the target, or of the active one when
    there is no target. ``waiting`` documents lack vectors of the active one: their words find them.
    """

    active: str
    previous: str
    target: str
    phase: BackgroundPhase
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
        return _seconds_for(max(0, self.total - self.done), self.per_minute)


def read_embedder_state(
    catalog: Catalog, *, writing: bool = True, active: str = ""
) -> EmbedderState:
    """Return the present state; ``writing``: the lock is held.

    ``active`` is the embedder that answers before the library has made a choice.
    """
    choice = catalog.embedders.choice()
    if choice is None:
        return EmbedderState(active, "", "", BackgroundPhase.OFF, "", 0, 0, 0, None, False, writing)
    report, fresh = _read_report(catalog, EMBEDDING_REPORT)
    running = writing and fresh
    is_of_choice = report.model == (choice.target or choice.active.name)
    if running:
        # Counting reads every entry, which the process that makes the vectors has done.
        phase, waiting = report.phase, report.waiting
        done, total = (report.done, report.total) if is_of_choice else (0, 0)
    else:
        phase = BackgroundPhase.OFF
        missing = of_choice = catalog.vectors.missing(choice.active.id)
        if choice.target:
            target = catalog.embedders.newest_named(choice.target)
            number = choice.target_id or (target.id if target else None)
            of_choice = catalog.vectors.missing(number)
        waiting, done, total = missing.documents, of_choice.total - of_choice.texts, of_choice.total
    if choice.paused:
        phase = BackgroundPhase.PAUSED
    elif phase in (BackgroundPhase.DONE, BackgroundPhase.PAUSED) and (choice.target or waiting):
        phase = BackgroundPhase.WAITING
    return EmbedderState(
        active=choice.active.name,
        previous=choice.previous.name if choice.previous else "",
        target=choice.target,
        phase=phase,
        message=report.message if phase is BackgroundPhase.WAITING else "",
        done=done,
        total=total,
        waiting=waiting,
        per_minute=report.per_minute if is_of_choice else None,
        paused=choice.paused,
        running=running,
    )


def _seconds_for(count: int, per_minute: float | None) -> float | None:
    """Return how long ``count`` chunks or texts take; ``None`` when the pace is not known."""
    if not count:
        return 0.0
    return count * 60.0 / per_minute if per_minute else None


_MOST_BYTES = 64_000
_MOST_DOCUMENTS = 10


class RecentHits:
    """A queue of documents from searches to the writer, which empties it now and then."""

    def __init__(self, paths: LibraryPaths) -> None:
        self._file = paths.root / "found.txt"

    def add(self, document_ids: Iterable[int]) -> None:
        """Add the best documents of an answer. What cannot be written is left out."""
        line = " ".join(str(int(number)) for number in list(document_ids)[:_MOST_DOCUMENTS])
        if not line:
            return
        try:
            if self.waiting and self._file.stat().st_size > _MOST_BYTES:
                return
            with self._file.open("a", encoding="ascii") as stream:
                stream.write(f"{line}\n")
        except OSError:
            return

    @property
    def waiting(self) -> bool:
        """True when there is something to take."""
        return self._file.exists()

    def take(self) -> list[int]:
        """Remove and return all that was added: documents of the newest answer first."""
        taken = Path(f"{self._file}.taken")
        try:
            self._file.replace(taken)
            lines = taken.read_text("ascii", errors="replace").splitlines()
            taken.unlink()
        except OSError:
            return []
        words = (word for line in reversed(lines) for word in line.split())
        return list(dict.fromkeys(int(word) for word in words if word.isdecimal()))
