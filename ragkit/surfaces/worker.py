"""The worker process: how it runs, and how ``ragkit serve`` keeps one running."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

import psutil

from ragkit.background.parent import ENDS_WITH
from ragkit.indexing.writer import lock_holder, lock_is_held
from ragkit.library import Library
from ragkit.surfaces.failures import log_to

_LOOK_SECONDS, _LONGEST_PAUSE_SECONDS = 2.0, 60.0
_STEADY_SECONDS = 120.0
"""A worker that ends sooner than this is restarted after a longer pause each time."""
_FAREWELL_SECONDS = 8.0
"""Less than the ten seconds after which Docker kills everything."""
_KILLED_SECONDS = 1.0


def run_worker(library: Library, *, wait: bool) -> None:
    """Run the worker until it is stopped, or until the process that it belongs to has ended.

    ``wait``: if another process is writing, wait until it stops.

    Raises:
        LibraryBusyError: another process is writing, and this one does not wait.
        LibraryError: the library was moved or deleted.
    """
    from ragkit.background.parent import follow_parent
    from ragkit.background.worker import Worker

    log_to(library.paths.logs / "worker.log")
    if sys.stderr.isatty():
        logging.getLogger().addHandler(logging.StreamHandler())
    worker = Worker(library.writer())
    follow_parent(worker.stopping.set)

    def stop(_signal: int, _frame: FrameType | None) -> None:
        worker.stopping.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    worker.run(wait=wait)


@contextmanager
def keep_worker(library: Library) -> Iterator[None]:
    """Keep a worker running during the block, and then stop the one that this process started.

    A worker of another process will do; if that ends, another one is started.
    """
    os.environ[ENDS_WITH] = str(os.getpid())
    library.worker.ensure_running()
    over = threading.Event()

    def look_after() -> None:
        started, pause = time.monotonic(), _LOOK_SECONDS
        while not over.wait(pause):
            if library.worker.ensure_running():
                now = time.monotonic()
                steady = now - started > _STEADY_SECONDS
                pause = _LOOK_SECONDS if steady else min(2 * pause, _LONGEST_PAUSE_SECONDS)
                started = now

    thread = threading.Thread(target=look_after, name="ragkit-worker", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(timeout=_LOOK_SECONDS)
        _stop_own_worker(library)


def _stop_own_worker(library: Library) -> None:
    """Stop the worker that this process started, and wait until it has finished writing.

    One that hangs in native code hears no signal. It is killed with what it started, which costs
    nothing but the file at hand.
    """
    lock = library.paths.lock
    holder = lock_holder(lock) if lock_is_held(lock) else None
    if holder is None or holder.ends_with != os.getpid():
        return
    with suppress(psutil.Error):
        worker = psutil.Process(holder.pid)
        # A process that started later only has the same id.
        if worker.create_time() > holder.started_at:
            return
        started = worker.children(recursive=True)
        worker.terminate()
        with suppress(psutil.TimeoutExpired):
            worker.wait(_FAREWELL_SECONDS)
        with suppress(psutil.NoSuchProcess):
            started += worker.children(recursive=True)
        _kill([worker, *started])


def _kill(processes: list[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(processes, timeout=_KILLED_SECONDS)
