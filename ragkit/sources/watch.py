"""Watches folders, and reports what has changed in them once it has settled.

watchdog announces changes; this module supervises it. It detects folders that the system cannot
watch, dead watchers, replaced roots and folders that were moved away. Folders that cannot be
watched are compared regularly. A full scan every few minutes finds whatever is missed.
"""

from __future__ import annotations

import errno
import logging
import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ragkit.errors import SourceError
from ragkit.sources import inotify
from ragkit.sources.folders import REVIVED_SECONDS, Change, Folder, WatchState
from ragkit.sources.observing import FolderEvents, Observing, Seen
from ragkit.sources.pending import LONGEST_FACTOR, Pending
from ragkit.sources.scan import find_changes, scan_folder

if TYPE_CHECKING:
    from watchdog.observers.api import ObservedWatch

logger = logging.getLogger(__name__)

CHECK_SECONDS = 2.0
"""Time between checks that roots still exist and watchers are alive."""

MOST_COMPARED = 50_000
"""The most files of an unwatched source that are remembered; a larger one is scanned as a whole."""

MOST_WATCHED = 1000
"""The most folders that are watched, each by a thread; others are compared regularly."""

_POLL_SHARE, _ALL_SHARE = 200, 20
"""Comparing one unwatched source takes at most 1/200 of a core, comparing all of them at most 1/20,
and checking the roots as well."""

_LONGEST_REST = 30.0
"""The longest time between checks of the roots, however many there are."""

_DISTRUST_SECONDS = 600.0
"""Time until a folder whose watcher died twice is watched again."""

_PAUSES = (0.0, 0.1, 0.4)
"""Waits before a folder counts as unwatched: watchdog may not have noticed a new one yet."""


class FolderWatcher:
    """Watches the folders of several sources.

    One thread calls ``watch`` and ``changes``, which also maintains the watchers; any thread may
    call ``states`` and ``stop``. Watch a source before scanning it: all changes after ``watch`` has
    returned are reported.
    """

    def __init__(
        self, debounce_seconds: float, poll_seconds: float = 30, gitignore: bool = True
    ) -> None:
        self._debounce = debounce_seconds
        self._poll_seconds = poll_seconds
        self._gitignore = gitignore
        self._control = threading.RLock()
        # Never held while the observer is called: it holds a lock of its own when it calls back.
        self._wake = threading.Condition()
        self._wake_at = 0.0
        self._next_check = 0.0
        self._stopped = False
        self._lost = False
        self._sources: dict[int, Path] = {}
        self._folders: dict[Path, Folder] = {}
        self._places: dict[int, Folder] = {}
        # Those with changes that have not been reported yet.
        self._waiting: set[Folder] = set()
        self._watched = 0
        self._poll_costs = 0.0
        self._observing = Observing(self._events_lost)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def watch(self, sources: Mapping[int, Path]) -> None:
        """Watch exactly these roots, by source id. A missing root is waited for.

        Raises:
            RuntimeError: the watcher has been stopped.
        """
        with self._control:
            if self._stopped:
                raise RuntimeError("this watcher has been stopped")
            self._sources = dict(sources)
            self._arrange()

    def changes(self, timeout: float) -> list[Change]:
        """Wait up to ``timeout`` seconds for settled changes, and return them by source."""
        deadline = time.monotonic() + timeout
        while True:
            self._maintain()
            with self._wake:
                now = time.monotonic()
                changes = self._released(now)
                if changes or self._stopped or now >= deadline:
                    self._wake_at = 0.0
                    return changes
                due = [folder.pending.next_release() for folder in self._waiting]
                release = min((at for at in due if at is not None), default=float("inf"))
                # A little late, so that changes are reported together.
                release += self._debounce / 10
                self._wake_at = min(deadline, self._next_check, release)
                self._wake.wait(max(0.0, self._wake_at - now))

    def states(self) -> dict[WatchState, list[int]]:
        """Return the sorted ids of the sources in each state."""
        states: dict[WatchState, list[int]] = {}
        for source_id, folder in self._places.items():
            states.setdefault(folder.state, []).append(source_id)
        return {state: sorted(ids) for state, ids in states.items()}

    def stop(self) -> None:
        """Stop watching and end all threads. Calling it again does nothing."""
        with self._wake:
            self._stopped = True
            self._wake.notify_all()
        with self._control:
            self._observing.stop()
            self._folders, self._places = {}, {}

    # Called by watchdog's threads.

    def _seen(self, folder: Folder, seen: Seen) -> None:
        with self._wake:
            now = time.monotonic()
            self._waiting.add(folder)
            if seen.folders and folder.unverified_since is None:
                folder.unverified_since = now
            if seen.path:
                folder.pending.note(seen.path, seen.signature, now)
            else:
                folder.pending.note_everything(now)
            if now + self._debounce < self._wake_at:
                self._wake.notify()

    def _check_soon(self) -> None:
        with self._wake:
            self._next_check = 0.0
            self._wake.notify()

    def _events_lost(self) -> None:
        self._lost = True
        self._check_soon()

    # Reporting.

    def _released(self, now: float) -> list[Change]:
        changes = [
            Change(source_id, released.paths, released.everything)
            for folder in self._waiting
            if (released := folder.pending.release(now)) is not None
            for source_id in folder.sources
        ]
        self._waiting = {
            folder for folder in self._waiting if folder.pending.next_release() is not None
        }
        return sorted(changes, key=lambda change: change.source_id)

    def _report_everything(self, folder: Folder) -> None:
        with self._wake:
            self._waiting.add(folder)
            folder.pending.note_everything(time.monotonic())

    # Which folders there are.

    def _arrange(self) -> None:
        """Assign each source the folder that its root resolves to; drop unused folders."""
        paths = {
            source_id: Path(os.path.realpath(root)) for source_id, root in self._sources.items()
        }
        if paths == {source_id: folder.path for source_id, folder in self._places.items()}:
            return
        folders = {path: self._folders.get(path) or self._new(path) for path in paths.values()}
        before = self._places
        dropped = [folder for path, folder in self._folders.items() if path not in folders]
        added = [folder for path, folder in folders.items() if path not in self._folders]
        for folder in dropped:
            self._unschedule(folder)
        sources: dict[Path, set[int]] = {path: set() for path in folders}
        for source_id, path in paths.items():
            sources[path].add(source_id)
        with self._wake:
            for path, folder in folders.items():
                folder.sources = sources[path]
            self._waiting.difference_update(dropped)
            self._folders = folders
            self._places = {source_id: folders[path] for source_id, path in paths.items()}
        for folder in added:
            self._begin(folder)
        for source_id, path in paths.items():
            if source_id in before and before[source_id].path != path:
                self._report_everything(folders[path])
        if dropped:
            # Their watches are free again: retry folders for which there was no room.
            for folder in folders.values():
                if folder.limits is not None:
                    folder.limits = inotify.WatchLimits(0, 0)

    def _new(self, path: Path) -> Folder:
        def report(seen: Seen) -> None:
            self._seen(folder, seen)

        def root_gone() -> None:
            folder.root_gone = True
            self._check_soon()

        events = FolderEvents(path, self._gitignore, report, root_gone)
        folder = Folder(path, Pending(path, self._debounce), events)
        return folder

    # Maintaining each folder.

    def _maintain(self) -> None:
        if time.monotonic() < self._next_check:
            return
        with self._control:
            if self._stopped:
                return
            started = time.thread_time()
            with self._wake:
                self._next_check = time.monotonic() + CHECK_SECONDS
                lost, self._lost = self._lost, False
            self._arrange()
            if self._observing.has_died():
                logger.warning("the folder watcher stopped unexpectedly; restarting it")
                self._observing.stop()
            alive, limits = self._observing.alive(), inotify.read_limits()
            for folder in self._folders.values():
                self._check(folder, alive, limits, lost)
            rest = min(_ALL_SHARE * (time.thread_time() - started), _LONGEST_REST)
            with self._wake:
                if self._next_check:
                    # No other check was requested meanwhile.
                    self._next_check = max(self._next_check, time.monotonic() + rest)

    def _check(
        self, folder: Folder, alive: set[ObservedWatch], limits: inotify.WatchLimits, lost: bool
    ) -> None:
        identity = inotify.identity(folder.path)
        if isinstance(identity, str):
            if folder.identity is not None:
                self._go_offline(folder, identity)
                self._report_everything(folder)
        elif folder.identity != identity or folder.root_gone:
            self._begin_and_report(folder)
        elif folder.watch is not None:
            self._check_watched(folder, folder.watch in alive, lost)
        elif (
            time.monotonic() >= folder.retry_at
            or (folder.limits is not None and limits.exceed(folder.limits))
            or (folder.is_beyond and self._watched < MOST_WATCHED)
        ):
            self._begin_and_report(folder)
        elif time.monotonic() >= folder.next_poll:
            self._compare(folder)

    def _check_watched(self, folder: Folder, is_alive: bool, lost: bool) -> None:
        now = time.monotonic()
        if lost:
            self._report_everything(folder)
            folder.unverified_since = now
        if not is_alive:
            recently = now < folder.revived_at + REVIVED_SECONDS
            folder.revived_at = now
            if recently:
                self._poll(folder, "The system's watcher stopped twice within a short time")
                folder.retry_at = now + _DISTRUST_SECONDS
            else:
                self._begin_and_report(folder)
        elif folder.unverified_since is not None:
            with self._wake:
                busy = folder.pending.next_release() is not None
            if not busy or now >= folder.unverified_since + LONGEST_FACTOR * self._debounce:
                self._verify(folder)

    def _begin_and_report(self, folder: Folder) -> None:
        self._begin(folder)
        self._report_everything(folder)

    def _begin(self, folder: Folder) -> None:
        """Start to watch a folder, or record why that is not possible."""
        self._unschedule(folder)
        identity = inotify.identity(folder.path)
        if isinstance(identity, str):
            self._go_offline(folder, identity)
            return
        folder.identity, folder.root_gone, folder.retry_at = identity, False, float("inf")
        folder.events.forget_rules()
        folder.is_beyond = self._watched >= MOST_WATCHED
        if folder.is_beyond:
            why = f"{MOST_WATCHED:,} other folders are watched, which is the maximum"
            cure = "To have it watched, add one folder that contains several."
            # The caller scans a new source, and reports everything after a new beginning.
            self._poll(folder, why, cure, is_scanned=True)
            return
        kind = inotify.silent_file_system(folder.path)
        if kind:
            self._poll(folder, f"This kind of file system ({kind}) does not announce changes")
            return
        limits = inotify.read_limits()
        try:
            folder.watch = self._observing.schedule(folder.path, folder.events)
            self._watched += 1
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR):
                self._go_offline(folder, inotify.not_there(folder.path))
            elif error.errno in (errno.ENOSPC, errno.EMFILE):
                self._poll(folder, *inotify.limit_reached(error.errno, limits), limits)
            else:
                self._poll(folder, f"The folder cannot be watched ({error.strerror or error})")
            return
        folder.state, folder.limits, folder.known = WatchState("watching"), None, None
        self._verify(folder, fresh=True)

    def _verify(self, folder: Folder, *, fresh: bool = False) -> None:
        """Poll a folder instead of watching it if some folders below it are not watched."""
        folder.unverified_since = None
        missing: frozenset[int] | None = None
        for pause in _PAUSES:
            time.sleep(pause)
            covered = inotify.coverage(folder.path, gitignore=self._gitignore)
            missing = covered.unwatched if missing is None else missing & covered.unwatched
            if not missing:
                return
        if not fresh:
            self._begin_and_report(folder)
            return
        limits = inotify.read_limits()
        _, cure = inotify.limit_reached(errno.ENOSPC, limits)
        watched = covered.folders - len(missing or ())
        why = f"Only {watched:,} of {covered.folders:,} folders could be watched"
        self._poll(folder, why, cure, limits)

    def _unschedule(self, folder: Folder) -> None:
        watch, folder.watch = folder.watch, None
        self._note_cost(folder, 0.0)
        if watch is not None:
            self._watched -= 1
            self._observing.unschedule(watch)

    def _note_cost(self, folder: Folder, seconds: float) -> None:
        self._poll_costs += seconds - folder.poll_cost
        folder.poll_cost = seconds

    def _go_offline(self, folder: Folder, reason: str) -> None:
        self._unschedule(folder)
        folder.identity, folder.known, folder.limits, folder.is_beyond = None, None, None, False
        folder.state = WatchState("offline", reason)

    # Comparing folders that cannot be watched.

    def _poll(
        self,
        folder: Folder,
        why: str,
        cure: str = "",
        limits: inotify.WatchLimits | None = None,
        *,
        is_scanned: bool = False,
    ) -> None:
        self._unschedule(folder)
        folder.limits, folder.known, folder.why, folder.cure = limits, None, why, cure
        self._compare(folder, is_scanned=is_scanned)
        level = logging.DEBUG if folder.is_beyond else logging.WARNING
        logger.log(level, "%s is not watched. %s", folder.path, folder.state.reason)

    def _compare(self, folder: Folder, *, is_scanned: bool = False) -> None:
        """Record the differences from the last comparison, and schedule the next one.

        Without a last comparison, everything counts as changed, unless ``is_scanned`` says that the
        folder is scanned anyway.
        """
        started = time.monotonic()
        before, folder.known = folder.known, None
        try:
            scan = scan_folder(folder.path, gitignore=self._gitignore)
        except SourceError:
            scan = None
        now = time.monotonic()
        self._note_cost(folder, now - started)
        least = max(_POLL_SHARE * (now - started), _ALL_SHARE * self._poll_costs)
        every = self._poll_seconds
        while every < least:
            every *= 2
        folder.next_poll = now + every
        reason = f"{folder.why}; it is compared every {every:.0f} seconds instead. {folder.cure}"
        folder.state = WatchState("polling", reason.strip())
        if scan is not None and len(scan.files) <= MOST_COMPARED:
            folder.known = scan.files
        if is_scanned and folder.known is not None:
            return
        if scan is None or before is None or folder.known is None:
            self._report_everything(folder)
            return
        changes = find_changes(scan, before)
        with self._wake:
            self._waiting.add(folder)
            for path in (*changes.new, *changes.changed, *changes.gone):
                file = folder.known.get(path)
                folder.pending.note(path, (file.size, file.mtime_ns) if file else None, now)
