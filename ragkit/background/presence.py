"""What others know of a process that does a library's jobs: its heartbeats."""

from __future__ import annotations

import logging
import os
import platform
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from ragkit.catalog.records import SILENT_SECONDS
from ragkit.errors import LibraryError, RagkitError

if TYPE_CHECKING:
    from ragkit.indexing.writer import Writer

HEARTBEAT_SECONDS = 2.0
_LONGEST_WAIT_SECONDS, _POLL_SECONDS = SILENT_SECONDS + 2.0, 0.25

logger = logging.getLogger(__name__)


@cache
def _run() -> str:
    """Return an id of this process that is unique: copies of a system share pids."""
    return uuid.uuid4().hex


def begin(writer: Writer, role: str) -> None:
    """Store the first heartbeat of a process that holds the folder's lock.

    On a server it waits some seconds for one that was there before and ended without a word.

    Raises:
        LibraryError: another goes on, in a copy of this folder: both would read what is in one.
    """
    until = time.monotonic() + _LONGEST_WAIT_SECONDS
    while not report(writer, role, "idle", {}):
        if time.monotonic() > until:
            other = writer.catalog.jobs.worker()
            notes = other.notes if other else {}
            raise LibraryError(
                f"A worker with this folder's id runs elsewhere ({notes.get('host')}, "
                f"{notes.get('folder')}): one is a copy of the other.",
                f"Delete {writer.paths.server} in the copy: it becomes a machine of its own.",
            )
        time.sleep(_POLL_SECONDS)


def report(writer: Writer, role: str, state: str, notes: Mapping[str, Any]) -> bool:
    """Store a heartbeat of this process; return False if another has this machine's place.

    That it cannot be stored is no reason to stop.
    """
    import psutil

    place = {"host": platform.node(), "folder": str(writer.paths.root), "run": _run()}
    started = psutil.Process().create_time()
    try:
        all_notes = {"role": role, **place, **notes}
        return writer.catalog.jobs.heartbeat(os.getpid(), started, state, all_notes)
    except RagkitError as error:
        logger.warning("the heartbeat could not be written: %s", error)
        return True


def send_heartbeats(
    writer: Writer, role: str, stopped: threading.Event, now: Callable[[], tuple[str, Any]]
) -> None:
    """Store heartbeats until ``stopped`` is set; ``now`` returns the state and what to note.

    It is set here when another process has taken this machine's place.
    """
    while True:
        state, notes = now()
        if stopped.is_set():
            return
        if not report(writer, role, state, notes):
            logger.error("another worker has this folder's id: one folder is a copy of the other")
            stopped.set()
        if stopped.wait(HEARTBEAT_SECONDS):
            return


@contextmanager
def present(writer: Writer, role: str) -> Iterator[None]:
    """Let other machines know for the block that this one works: what it claims is its own.

    In a library in a file, the lock says that.

    Raises:
        LibraryError: a copy of this folder works already.
    """
    if not writer.paths.machine:
        yield
        return
    over = threading.Event()
    begin(writer, role)
    thread = threading.Thread(
        target=send_heartbeats,
        args=(writer, role, over, lambda: ("working", {})),
        name="ragkit-heartbeat",
        daemon=True,
    )
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(timeout=5)
        report(writer, role, "stopped", {})
