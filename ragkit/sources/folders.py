"""What is known of a watched folder, and what is told of it."""

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
"""A watcher that dies again within this time of its restart is no longer trusted."""


@dataclass(frozen=True, slots=True)
class Change:
    """What to compare again in one source.

    ``paths`` are relative, with forward slashes. A path says where to look, not what is there:
    a file, a folder (compare all of it), a link (never follow it), or nothing any more, where a
    file or a folder may have been. ``everything`` asks for the whole source.
    """

    source_id: int
    paths: tuple[str, ...] = ()
    everything: bool = False


@dataclass(frozen=True, slots=True)
class WatchState:
    """How a source is kept current, and why not better; ``reason`` is empty when all is well."""

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
    """True when the folder itself was removed; another may have taken its place."""
    unverified_since: float | None = None
    """When folders appeared that are not yet known to be watched."""
    revived_at: float = -REVIVED_SECONDS
    limits: WatchLimits | None = None
    """The limits that were too low to watch this folder."""
    retry_at: float = float("inf")
    why: str = ""
    cure: str = ""
    """Why it is compared and not watched, and what would change that."""
    is_beyond: bool = False
    """True while so many others are watched that there is no room for it."""
    known: dict[str, FileState] | None = None
    next_poll: float = 0.0
    poll_cost: float = 0.0
    """Seconds that its last comparison took, while it is compared."""
