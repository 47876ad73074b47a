"""The only code that uses watchdog: one observer for all folders, and its events."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from watchdog import events
from watchdog.observers.api import BaseObserver, ObservedWatch

from ragkit.sources.pending import FOLDER, Signature, signature_of
from ragkit.sources.scan import IGNORE_FILES, FolderRules

logger = logging.getLogger(__name__)

_EVENTS: list[type[events.FileSystemEvent]] = [
    events.DirCreatedEvent, events.DirDeletedEvent, events.DirMovedEvent, events.FileClosedEvent,
    events.FileCreatedEvent, events.FileDeletedEvent, events.FileModifiedEvent,
    events.FileMovedEvent,
]  # fmt: skip
"""The events to receive: neither reads nor changes of permissions."""

_HANDLED_SECONDS = 1.0
"""How long to wait for the events of watches that have ended."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A change: its relative path, and the signature of what is there now.

    An empty path means the whole root. ``folders``: there may be folders not yet watched.
    """

    path: str
    signature: Signature = None
    folders: bool = False


class FolderEvents(events.FileSystemEventHandler):
    """Converts watchdog's events to relative paths, and drops irrelevant ones."""

    def __init__(
        self,
        root: Path,
        gitignore: bool,
        report: Callable[[Seen], None],
        root_gone: Callable[[], None],
    ) -> None:
        self._root = root
        self._prefix = os.path.join(root, "")  # noqa: PTH118 - pathlib drops the last slash
        self._gitignore = gitignore
        self._report = report
        self._root_gone = root_gone
        self._rules = FolderRules(root, gitignore=gitignore)

    def forget_rules(self) -> None:
        """Read the ignore files again when next needed."""
        self._rules.forget()

    def dispatch(self, event: events.FileSystemEvent) -> None:
        """Handle one event without raising, which would end the thread that serves all folders."""
        try:
            self._handle(event)
        except Exception:
            logger.exception("an event below %s could not be understood", self._root)
            self._report(Seen(""))

    def _handle(self, event: events.FileSystemEvent) -> None:
        """Report one event, unless watchdog synthesised it for a file below a moved folder."""
        kind, is_folder = event.event_type, event.is_directory
        if event.is_synthetic or (is_folder and kind == events.EVENT_TYPE_MODIFIED):
            return
        if kind == events.EVENT_TYPE_MOVED:
            self._look(os.fsdecode(event.src_path), is_folder, left=True)
            self._look(os.fsdecode(event.dest_path), is_folder, left=False)
        else:
            left = kind == events.EVENT_TYPE_DELETED
            self._look(os.fsdecode(event.src_path), is_folder, left=left)

    def _look(self, place: str, is_folder: bool, *, left: bool) -> None:
        path = self._relative(place)
        if path is None:
            return
        if not path:
            if left:
                self._root_gone()
            return
        if is_folder:
            self._rules.forget(path)
        folder, _, name = path.rpartition("/")
        # A folder that was moved away is still watched and reported under its old path. So a
        # missing file counts only if the event is a removal and its folder still exists; otherwise
        # the folder's own event covers it. A file deleted before this check gets a later event.
        signature = signature_of(self._root / path)
        if signature is None and not (left and signature_of(self._root / folder) == FOLDER):
            return
        rules = self._rules.inside(folder)
        if rules is None:
            return
        if name in IGNORE_FILES and (self._gitignore or name != ".gitignore"):
            self._rules.forget(folder)
            self._report(Seen(folder, signature_of(self._root / folder), folders=True))
        elif not rules.excludes(path, is_folder=is_folder):
            self._report(Seen(path, signature, folders=is_folder))

    def _relative(self, place: str) -> str | None:
        if place in (str(self._root), self._prefix):
            return ""
        if not place.startswith(self._prefix):
            return None
        path = place[len(self._prefix) :].replace(os.sep, "/")
        try:
            path.encode()
        except UnicodeEncodeError:
            return None
        return path


class Observing:
    """One watchdog observer, started when first needed and replaced when it has died."""

    def __init__(self, events_lost: Callable[[], None]) -> None:
        self._observer: BaseObserver | None = None
        self._overflow = _OverflowHandler(events_lost)

    def schedule(self, root: Path, handler: FolderEvents) -> ObservedWatch:
        """Watch a folder and everything below it.

        Raises:
            OSError: the folder is missing (ENOENT), or a limit is reached (ENOSPC, EMFILE).
        """
        return self._running().schedule(handler, str(root), recursive=True, event_filter=_EVENTS)

    def unschedule(self, watch: ObservedWatch) -> None:
        """Stop watching a folder, whatever state its watch is in."""
        if self._observer is not None:
            with contextlib.suppress(KeyError, OSError):
                self._observer.unschedule(watch)

    def alive(self) -> set[ObservedWatch]:
        """Return the watches whose events are still received.

        What others received before they ended, such as the end of their folder, has been handled.
        """
        if self._observer is None:
            return set()
        emitters = self._observer.emitters
        alive = {emitter.watch for emitter in emitters if emitter.is_alive()}
        if len(alive) < len(emitters):
            deadline = time.monotonic() + _HANDLED_SECONDS
            while self._observer.event_queue.unfinished_tasks and time.monotonic() < deadline:
                time.sleep(0.005)
        return alive

    def has_died(self) -> bool:
        """Return whether a thread that serves all folders has ended."""
        return self._observer is not None and not all(
            thread.is_alive() for thread in self._threads(self._observer)
        )

    def stop(self) -> None:
        """End the observer and its threads."""
        logging.getLogger("watchdog.observers").removeHandler(self._overflow)
        observer, self._observer = self._observer, None
        if observer is None:
            return
        with contextlib.suppress(OSError):
            observer.stop()
        observer.join(timeout=5)

    def _running(self) -> BaseObserver:
        if self._observer is None:
            from watchdog.observers import Observer

            # watchdog warns when a folder disappears and comes back, which is normal.
            warnings.filterwarnings(
                "ignore", "Callback with id", RuntimeWarning, r"watchdog\.observers\."
            )
            observer = Observer()
            observer.start()
            self._observer = observer
            logging.getLogger("watchdog.observers").addHandler(self._overflow)
        return self._observer

    @staticmethod
    def _threads(observer: BaseObserver) -> list[threading.Thread]:
        """Return the observer and, on Linux, the thread that reads events for all folders."""
        reader = getattr(observer, "_inotify_fd", None)
        return [observer, reader] if isinstance(reader, threading.Thread) else [observer]


class _OverflowHandler(logging.Handler):
    """Detects lost events: watchdog only logs them."""

    def __init__(self, events_lost: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._events_lost = events_lost

    def emit(self, record: logging.LogRecord) -> None:
        """Report a record that mentions an overflow."""
        if "overflow" in record.getMessage().lower():
            self._events_lost()
