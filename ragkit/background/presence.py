"""What others know of a process that does a library's jobs: its heartbeats."""

from __future__ import annotations

import logging
import os
import platform
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ragkit.errors import RagkitError

if TYPE_CHECKING:
    from ragkit.indexing.writer import Writer

HEARTBEAT_SECONDS = 2.0

logger = logging.getLogger(__name__)


def report(writer: Writer, role: str, state: str, notes: Mapping[str, Any]) -> None:
    """Store a heartbeat of this process; that it cannot be stored is no reason to stop."""
    import psutil

    place = {"host": platform.node(), "folder": str(writer.paths.root)}
    started = psutil.Process().create_time()
    try:
        writer.catalog.jobs.heartbeat(os.getpid(), started, state, {"role": role, **place, **notes})
    except RagkitError as error:
        logger.warning("the heartbeat could not be written: %s", error)


def send_heartbeats(
    writer: Writer, role: str, stopped: threading.Event, now: Callable[[], tuple[str, Any]]
) -> None:
    """Store heartbeats until ``stopped`` is set; ``now`` returns the state and what to note."""
    while True:
        state, notes = now()
        if stopped.is_set():
            return
        report(writer, role, state, notes)
        if stopped.wait(HEARTBEAT_SECONDS):
            return


@contextmanager
def present(writer: Writer, role: str) -> Iterator[None]:
    """Let other machines know for the block that this one works: what it claims is its own.

    In a library in a file, the lock says that.
    """
    if not writer.paths.machine:
        yield
        return
    over = threading.Event()
    report(writer, role, "working", {})
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
