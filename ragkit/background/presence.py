"""Heartbeats, by which others know of a process that does a library's jobs."""

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
    """Return a unique id of this process: in copies of a system, process ids repeat."""
    return uuid.uuid4().hex


def begin(writer: Writer, role: str) -> None:
    """Store the first heartbeat of a process that holds the folder's lock.

    For a library on a server, this waits some seconds for an earlier process that did not report
    its end.

    Raises:
        LibraryError: a worker is running in a copy of this folder; both would claim its sources.
    """
    until = time.monotonic() + _LONGEST_WAIT_SECONDS
    while not report(writer, role, "idle", {}):
        if time.monotonic() > until:
            other = writer.catalog.jobs.worker()
            notes = other.notes if other else {}
            raise LibraryError(
                f"A worker with this folder's id runs elsewhere ({notes.get('host')}, "
                f"{notes.get('folder')}): one is a copy of the other.",
                f"Delete {writer.paths.server} in the copy; it then counts as another machine.",
            )
        time.sleep(_POLL_SECONDS)


def report(writer: Writer, role: str, state: str, notes: Mapping[str, Any]) -> bool:
    """Store a heartbeat; return False if another process reports as this machine.

    Returns True if it could not be stored, which is no reason to stop.
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
    """Store heartbeats until ``stopped`` is set; ``now`` returns the state and the notes.

    If another process reports as this machine, ``stopped`` is set here.
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
    """Send heartbeats during the block, so that other machines respect what this one claims.

    For a library in a file, the lock is enough.

    Raises:
        LibraryError: a worker is running in a copy of this folder.
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
