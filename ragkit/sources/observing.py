"""The only code that talks to watchdog: one observer for all folders, and what its events mean."""

from __future__ import annotations

import contextlib
import logging
import os
import stat
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from watchdog.events import (
    EVENT_TYPE_DELETED,
    EVENT_TYPE_MODIFIED,
    EVENT_TYPE_MOVED,
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers.api import BaseObserver, ObservedWatch

from ragkit.sources.ignore import IGNORE_FILES, Ignores
from ragkit.sources.pending import FOLDER, Signature, signature_of

logger = logging.getLogger(__name__)

_EVENTS: list[type[FileSystemEvent]] = [
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
]
"""What the system is asked to announce: neither reads nor changes of rights are among it."""

_MOST_RULES = 20_000


@dataclass(frozen=True, slots=True)
class Seen:
    """One place that changed: relative path and what is there now.

    An empty path is the whole. ``folders`` says that there may be folders nobody watches yet.
    """

    path: str
    signature: Signature = None
    folders: bool = False


class FolderEvents(FileSystemEventHandler):
    """Makes relative paths of watchdog's events, and drops those that mean nothing here."""

    def __init__(
        self,
        root: Path,
        gitignore: bool,
        tell: Callable[[Seen], None],
        root_gone: Callable[[], None],
    ) -> None:
        self._root = root
        self._prefix = os.path.join(root, "")  # noqa: PTH118 - pathlib drops the last slash
        self._gitignore = gitignore
        self._tell = tell
        self._root_gone = root_gone
        self._rules: dict[str, Ignores | None] = {}

    def forget_rules(self) -> None:
        """Read the ignore files anew when they are next needed."""
        self._rules = {}

    def dispatch(self, event: FileSystemEvent) -> None:
        """Take one event. It must not raise: that would end the thread that serves all folders."""
        try:
            self._take(event)
        except Exception:
            logger.exception("an event below %s could not be understood", self._root)
            self._tell(Seen(""))

    def _take(self, event: FileSystemEvent) -> None:
        """Take one event. What watchdog makes up below a moved folder is in that folder's event."""
        kind, is_folder = event.event_type, event.is_directory
        if event.is_synthetic or (is_folder and kind == EVENT_TYPE_MODIFIED):
            return
        if kind == EVENT_TYPE_MOVED:
            self._look(os.fsdecode(event.src_path), is_folder, left=True)
            self._look(os.fsdecode(event.dest_path), is_folder, left=False)
        else:
            self._look(os.fsdecode(event.src_path), is_folder, left=kind == EVENT_TYPE_DELETED)

    def _look(self, place: str, is_folder: bool, *, left: bool) -> None:
        path = self._relative(place)
        if path is None:
            return
        if not path:
            if left:
                self._root_gone()
            return
        if is_folder and path in self._rules:
            self._forget(path)
        folder, _, name = path.rpartition("/")
        # A folder that was moved away is still watched, and goes on being reported under its old
        # path. So what is gone counts only when that is what is said, and when its folder is
        # there: else the folder's own event says all. What is gone before it was looked at is not
        # lost, because its end is announced as well.
        signature = signature_of(self._root / path)
        if signature is None and not (left and signature_of(self._root / folder) == FOLDER):
            return
        rules = self._rules_in(folder)
        if rules is None:
            return
        if name in IGNORE_FILES and (self._gitignore or name != ".gitignore"):
            self._forget(folder)
            self._tell(Seen(folder, signature_of(self._root / folder), folders=True))
        elif not rules.excludes(path, is_folder=is_folder):
            self._tell(Seen(path, signature, folders=is_folder))

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

    def _rules_in(self, folder: str) -> Ignores | None:
        """The rules inside a folder; None when the folder itself is left alone."""
        if folder in self._rules:
            return self._rules[folder]
        known = self._rules
        if len(known) >= _MOST_RULES:
            known = self._rules = {}
        if "" not in known:
            known[""] = self._read(Ignores(self._gitignore), "")
        rules, path = known[""], ""
        for name in folder.split("/") if folder else ():
            path = f"{path}/{name}" if path else name
            if path not in known:
                left_alone = rules is None or rules.excludes(path, is_folder=True)
                known[path] = None if rules is None or left_alone else self._read(rules, path)
            rules = known[path]
        return rules

    def _read(self, outer: Ignores, folder: str) -> Ignores:
        place = self._root / folder
        names = {name for name in IGNORE_FILES if _is_file(place / name)}
        return outer.inside(place, folder, names)

    def _forget(self, folder: str) -> None:
        if not folder:
            self._rules = {}
            return
        below = f"{folder}/"
        for path in [one for one in self._rules if one == folder or one.startswith(below)]:
            self._rules.pop(path, None)


def _is_file(place: Path) -> bool:
    try:
        return stat.S_ISREG(place.lstat().st_mode)
    except OSError:
        return False


class Observing:
    """One watchdog observer, made when it is first needed and made anew when it has died."""

    def __init__(self, events_lost: Callable[[], None]) -> None:
        self._observer: BaseObserver | None = None
        self._overflow = _OverflowHandler(events_lost)

    def schedule(self, root: Path, handler: FolderEvents) -> ObservedWatch:
        """Watch a folder and everything below it.

        Raises:
            OSError: the folder is not there (ENOENT), or a limit is reached (ENOSPC, EMFILE).
        """
        return self._running().schedule(handler, str(root), recursive=True, event_filter=_EVENTS)

    def unschedule(self, watch: ObservedWatch) -> None:
        """Stop watching a folder, whatever state its watch is in."""
        if self._observer is not None:
            with contextlib.suppress(KeyError, OSError):
                self._observer.unschedule(watch)

    def is_alive(self, watch: ObservedWatch) -> bool:
        """Whether somebody still listens for this folder's events."""
        if self._observer is None:
            return False
        return any(
            emitter.watch == watch and emitter.is_alive() for emitter in self._observer.emitters
        )

    def has_died(self) -> bool:
        """Whether a thread that serves all folders has ended."""
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

            # watchdog says so when a folder leaves and comes back; nothing is wrong then.
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
        """The observer and, on Linux, the one thread that reads for all of its folders."""
        reader = getattr(observer, "_inotify_fd", None)
        return [observer, reader] if isinstance(reader, threading.Thread) else [observer]


class _OverflowHandler(logging.Handler):
    """Hears that events were lost: watchdog only logs it."""

    def __init__(self, events_lost: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._events_lost = events_lost

    def emit(self, record: logging.LogRecord) -> None:
        """Pass on what speaks of an overflow."""
        if "overflow" in record.getMessage().lower():
            self._events_lost()
