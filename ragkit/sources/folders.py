"""The state of a watched folder, and the changes that are reported."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from watchdog.observers.api import ObservedWatch

    from ragkit.sources.inotify import WatchLimits
    from ragkit.sources.observing import FolderEvents
    from ragkit.sources.pending import Pending
    from ragkit.types import FileState

REVIVED_SECONDS = 30.0
"""A watcher that dies again this soon after its restart is no longer used."""


@dataclass(frozen=True, slots=True)
class Change:
    """Paths of a source to compare again.

    ``paths`` are relative, with forward slashes. There may be a file, a folder (compare all of it),
    a link (never follow it), or nothing any more where a file or folder was. ``everything`` asks
    for the whole source.
    """

    source_id: int
    paths: tuple[str, ...] = ()
    everything: bool = False


@dataclass(frozen=True, slots=True)
class WatchState:
    """How a source is kept up to date; ``reason`` says why not by watching, or is empty."""

    mode: Literal["watching", "polling", "offline"]
    reason: str = ""


@dataclass(slots=True, eq=False)
class Folder:
    """One real folder, watched for one source or several."""

    path: Path
    pending: Pending
    events: FolderEvents
    sources: set[int] = field(default_factory=set)
    state: WatchState = WatchState("offline", "This source is about to be watched.")
    identity: tuple[int, int] | None = None
    watch: ObservedWatch | None = None
    root_gone: bool = False
    """True after the folder itself was removed, even if another one has taken its place."""
    unverified_since: float | None = None
    """When folders appeared that may not be watched yet; ``None``: all are."""
    revived_at: float = -REVIVED_SECONDS
    limits: WatchLimits | None = None
    """The limits that were too low to watch this folder."""
    retry_at: float = float("inf")
    why: str = ""
    cure: str = ""
    """Why it is compared instead of watched, and how to change that."""
    is_beyond: bool = False
    """True while the maximum of other folders is watched."""
    known: dict[str, FileState] | None = None
    next_poll: float = 0.0
    poll_cost: float = 0.0
    """Seconds that its last comparison took; 0 while it is watched."""
