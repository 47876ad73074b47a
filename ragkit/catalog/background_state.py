"""The state of background work, and what a person requests of it.

Both are in the catalog's table ``meta``: the worker writes a report for each kind of work, other
processes read it and write the requests.
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
from ragkit.formatting import plural
from ragkit.paths import LibraryPaths

if TYPE_CHECKING:
    from ragkit.settings import ModelSettings

CONTEXTS_REPORT = "contexts report"
EMBEDDING_REPORT = "embedding report"
OCR_REPORT = "ocr report"

_PAUSED_KEY = "contexts paused"
_MODEL_KEY = "contexts model"
_FIRST_KEY = "contexts first"
_FRESH_SECONDS = {CONTEXTS_REPORT: 300.0, EMBEDDING_REPORT: 180.0, OCR_REPORT: 400.0}
"""An older report is by a process that has ended; a batch may take a model minutes."""


class BackgroundPhase(StrEnum):
    """What a background loop is doing."""

    OFF = "off"
    PAUSED = "paused"
    WAITING = "waiting"
    WORKING = "working"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class BackgroundReport:
    """The last report of a background loop; ``message`` says what it waits for.

    ``model`` writes contexts or makes vectors; ``per_minute`` is the recent pace in chunks or
    texts, if known; ``at`` is in seconds since the epoch. For contexts: ``current`` is the document
    being worked on, ``ready`` counts chunks whose context is written but not indexed. For vectors:
    ``done`` and ``total`` count texts, ``waiting`` counts documents with entries that lack a vector
    of the active embedder. For scanned files: ``current`` is the one being worked on, ``done`` and
    ``total`` count its pages, ``waiting`` counts files, that one included.
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
    """Store a report, with the current time, under the key of its kind of work."""
    catalog.set_meta(key, {**asdict(report), "at": time.time()})


def read_report(catalog: Catalog, key: str) -> tuple[BackgroundReport, bool]:
    """Return the last report, and whether it is so recent that the work goes on."""
    stored = catalog.get_meta(key) or {}
    values = {
        each.name: stored[each.name] for each in fields(BackgroundReport) if each.name in stored
    }
    values["phase"] = BackgroundPhase(values.get("phase", "off"))
    report = BackgroundReport(**values)
    return report, time.time() - report.at < _FRESH_SECONDS[key]


# -- recognised text -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RecognitionState:
    """How far the recognition of scanned files is; ``sentence`` is empty if none is under way.

    ``waiting`` counts the files that are not done.
    """

    sentence: str = ""
    waiting: int = 0


def read_recognition_state(catalog: Catalog, *, writing: bool) -> RecognitionState:
    """Return the state; ``writing``: a process holds the lock."""
    report, fresh = read_report(catalog, OCR_REPORT)
    if not (writing and fresh and report.waiting):
        return RecognitionState()
    files = plural(report.waiting, "scanned PDF")
    sentence = f"The text of {files} is being recognised: now {report.current}"
    sentence += f", page {report.done + 1} of {report.total}." if report.total else "."
    return RecognitionState(f"{sentence} {report.message}".strip(), report.waiting)


# -- contexts ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class UserRequests:
    """What the person requests of the writing of contexts.

    ``model`` is empty if none was chosen; ``first`` is the collection to be done first.
    """

    paused: bool = False
    model: str = ""
    first: int | None = None


@dataclass(frozen=True, slots=True)
class BackfillState:
    """The state of the writing of contexts.

    ``running``: a process writes contexts when any are pending. ``chosen`` is the model that the
    person chose, or empty. ``ready`` of the pending chunks are written but not indexed. ``cost`` is
    that of the written contexts, ``tokens_each`` its mean for a chunk, if there is any.
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
    """Return the state for one collection or all; ``writing``: a process holds the lock."""
    contexts = catalog.contexts
    counts = contexts.counts(collection_id)
    report, fresh = read_report(catalog, CONTEXTS_REPORT)
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
    # A collection without contexts is expected to cost as much as others.
    example = cost if cost.contexts or collection_id is None else contexts.cost()
    if per_minute is None and example.contexts and example.seconds:
        per_minute = 60.0 * example.contexts / example.seconds
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
        tokens_each=example.tokens / example.contexts if example.contexts else None,
    )


def user_requests(catalog: Catalog) -> UserRequests:
    """Return the person's current requests."""
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
    """Return the model that the person chose for this library, or an empty string."""
    return str(catalog.get_meta(_MODEL_KEY) or "")


def context_model_name(catalog: Catalog, settings: ModelSettings) -> str:
    """Return the model that writes contexts: the person's choice, else that of the settings."""
    return chosen_model(catalog) or settings.context_model


def choose_model(catalog: Catalog, name: str) -> None:
    """Choose the model that writes contexts; empty: that of the settings."""
    catalog.set_meta(_MODEL_KEY, name or None)


def write_first(catalog: Catalog, collection_id: int | None) -> None:
    """Choose the collection whose contexts are written first, or ``None``."""
    catalog.set_meta(_FIRST_KEY, collection_id)


# -- vectors -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EmbedderState:
    """The names of embedders, and the progress of making vectors.

    ``previous`` can be reverted to; the library migrates to ``target``, if any. ``done`` of
    ``total`` texts have a vector of the target, or else of the active embedder; both are 0 if
    nothing is left to do. ``waiting`` documents lack vectors of the active one, and are found by
    their words only.
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
        """The time left at the current pace; ``None`` if that is unknown."""
        return _seconds_for(max(0, self.total - self.done), self.per_minute)


def read_embedder_state(
    catalog: Catalog, *, writing: bool = True, active: str = ""
) -> EmbedderState:
    """Return the state; ``writing``: a process holds the lock.

    ``active`` is the name to return as such before the library has chosen an embedder.
    """
    choice = catalog.embedders.choice()
    if choice is None:
        return EmbedderState(active, "", "", BackgroundPhase.OFF, "", 0, 0, 0, None, False, writing)
    report, fresh = read_report(catalog, EMBEDDING_REPORT)
    running = writing and fresh
    is_of_choice = report.model == (choice.target or choice.active.name)
    if running:
        # Counting would read every entry, as the process that makes the vectors has done.
        phase, waiting = report.phase, report.waiting
        done, total = (report.done, report.total) if is_of_choice else (0, 0)
    else:
        phase = BackgroundPhase.OFF
        missing = of_choice = catalog.vectors.missing(choice.active.id)
        if choice.target:
            target = catalog.embedders.newest_named(choice.target)
            number = choice.target_id or (target.id if target else None)
            of_choice = catalog.vectors.missing(number)
        # Counting them all takes long, and only says how far it has come.
        is_busy = bool(choice.target or of_choice.texts)
        total = catalog.vectors.texts_in_all() if is_busy else 0
        waiting, done = missing.documents, total - of_choice.texts
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
    """Return the time that ``count`` chunks or texts take, or ``None`` if the pace is unknown."""
    if not count:
        return 0.0
    return count * 60.0 / per_minute if per_minute else None


_MOST_BYTES = 64_000
_MOST_DOCUMENTS = 10


class RecentHits:
    """A queue, in a file, of documents found by searches, whose contexts are written first."""

    def __init__(self, paths: LibraryPaths) -> None:
        self._file = paths.root / "found.txt"

    def add(self, document_ids: Iterable[int]) -> None:
        """Add the best documents of an answer; errors are ignored."""
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
        """Whether the queue has documents."""
        return self._file.exists()

    def take(self) -> list[int]:
        """Empty the queue and return its documents, those of the newest answer first."""
        taken = Path(f"{self._file}.taken")
        try:
            self._file.replace(taken)
            lines = taken.read_text("ascii", errors="replace").splitlines()
            taken.unlink()
        except OSError:
            return []
        words = (word for line in reversed(lines) for word in line.split())
        return list(dict.fromkeys(int(word) for word in words if word.isdecimal()))
