"""Holds changes back until they have settled."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

MOST_PATHS = 500
"""With more waiting paths, comparing the whole source is cheaper and safer."""

LONGEST_FACTOR = 20
"""A path that never settles is reported after this many times the quiet time."""

Signature = tuple[int, int] | None
"""Size and time of a file; ``FOLDER`` for a folder; ``None`` if nothing is there."""

FOLDER: Signature = (-1, -1)


@dataclass(slots=True)
class _Waiting:
    """The times of a path's first and last change, and its signature at the last one."""

    first: float
    last: float
    signature: Signature


@dataclass(frozen=True, slots=True)
class Released:
    """Settled changes: sorted paths, or everything."""

    paths: tuple[str, ...] = ()
    everything: bool = False


@dataclass(slots=True)
class Pending:
    """The waiting changes below one root. Times are those of one monotonic clock, in seconds.

    A path is released after ``quiet`` seconds without events, if its size and time are those of its
    last event. A folder also waits for the paths below it, and is released in their place. Nothing
    waits much longer than ``LONGEST_FACTOR * quiet``.
    """

    root: Path
    quiet: float
    _paths: dict[str, _Waiting] = field(default_factory=dict)
    _whole: _Waiting | None = None
    _hold: float = 0.0

    def note(self, path: str, signature: Signature, now: float) -> None:
        """Record that a path has changed and now has this signature."""
        if self._whole is not None:
            self._whole.last = now
            return
        waiting = self._paths.get(path)
        if waiting is not None:
            waiting.last, waiting.signature = now, signature
        elif len(self._paths) >= MOST_PATHS:
            self.note_everything(now)
        else:
            self._paths[path] = _Waiting(now, now, signature)

    def note_everything(self, now: float) -> None:
        """Record that something unknown has changed."""
        self._paths.clear()
        if self._whole is None:
            self._whole = _Waiting(now, now, None)
        self._whole.last = now

    def next_release(self) -> float | None:
        """Return the time at which something may be released; ``None`` if nothing waits."""
        waiting = [*self._paths.values(), *([self._whole] if self._whole else [])]
        if not waiting:
            return None
        return max(self._hold, min(map(self._due, waiting)))

    def release(self, now: float) -> Released | None:
        """Remove and return the settled changes, or ``None``."""
        if self._whole is not None:
            if now < self._due(self._whole):
                return None
            self._whole = None
            return Released(everything=True)
        ready = {path for path in list(self._paths) if self._is_ready(path, now)}
        ready -= self._held_back(ready, now)
        if self._burst_goes_on(ready, now):
            return None
        tops = {path for path in ready if self._paths[path].signature in (None, FOLDER)}
        for path in list(self._paths):
            if path in ready or any(above in tops for above in _above(path)):
                del self._paths[path]
        released = tuple(
            path
            for path in sorted(ready)
            if not any(above in tops for above in _above(path)) and self._is_inside(path)
        )
        return Released(released) if released else None

    def _due(self, waiting: _Waiting) -> float:
        return min(waiting.last + self.quiet, waiting.first + LONGEST_FACTOR * self.quiet)

    def _burst_goes_on(self, ready: set[str], now: float) -> bool:
        """Return whether to wait, for at most half the quiet time, to release others as well."""
        others = self._paths.keys() - ready
        if not ready or not others:
            return False
        patience = min(self._due(self._paths[path]) for path in ready) + self.quiet / 2
        self._hold = min(patience, *(self._due(self._paths[path]) for path in others))
        return now < patience

    def _held_back(self, ready: set[str], now: float) -> set[str]:
        """Return the ready folders that must wait for paths below them, within limits."""
        busy: dict[str, float] = {}
        for path in self._paths.keys() - ready:
            last = self._paths[path].last
            for above in _above(path):
                busy[above] = max(busy.get(above, last), last)
        held = set()
        for path in ready & busy.keys():
            waiting = self._paths[path]
            waiting.last = busy[path]
            if now < self._due(waiting):
                held.add(path)
        return held

    def _is_ready(self, path: str, now: float) -> bool:
        waiting = self._paths[path]
        if now < self._due(waiting):
            return False
        signature = signature_of(self.root / path)
        if signature != waiting.signature:
            waiting.signature = signature
            waiting.last = now
        return now >= self._due(waiting)

    def _is_inside(self, path: str) -> bool:
        """Return whether no folder above the path is a link, which must not be followed."""
        parent = (self.root / path).parent
        return os.path.realpath(parent) == str(parent)


def signature_of(place: Path) -> Signature:
    """Return the signature of what is at a place now, without following links."""
    try:
        status = place.lstat()
    except (OSError, ValueError):
        return None
    return FOLDER if stat.S_ISDIR(status.st_mode) else (status.st_size, status.st_mtime_ns)


def _above(path: str) -> Iterator[str]:
    """Yield every folder above a relative path, the nearest first."""
    end = path.rfind("/")
    while end > 0:
        yield path[:end]
        end = path.rfind("/", 0, end)
