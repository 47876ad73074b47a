"""Opens files without waiting for pipes, and gives up on drives that do not answer."""

from __future__ import annotations

import os
import queue
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, TypeAlias, TypeVar

from ragkit.errors import SourceError

STALL_SECONDS = 60.0
"""A drive that does nothing for this long counts as gone; spinning up takes only seconds."""

Step: TypeAlias = Callable[[], None]
"""Called to signal that work is progressing."""

_T = TypeVar("_T")


class UnsettledError(OSError):
    """A file is no longer what the scan saw: it is not a regular file, or it has grown."""


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading, unbuffered; links are not followed.

    Raises:
        UnsettledError: it is a pipe, a socket, a device or a folder.
        OSError: it cannot be opened.
    """
    flags = os.O_RDONLY
    for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    descriptor = os.open(path, flags)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UnsettledError(f"{path} is no regular file")
        return os.fdopen(descriptor, "rb", buffering=0)
    except BaseException:
        os.close(descriptor)
        raise


def patiently(work: Callable[[Step], _T]) -> _T:
    """Do work that may hang; give up if it calls its step function no more for ``STALL_SECONDS``.

    The work runs in a thread of its own, which is abandoned then: nothing can end a read from a
    dead network drive.

    Raises:
        TimeoutError: the work hangs.
    """
    going_on = threading.Event()
    outcomes: queue.SimpleQueue[tuple[_T | None, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            outcomes.put((work(going_on.set), None))
        except BaseException as error:  # noqa: BLE001 - raised again in the calling thread
            outcomes.put((None, error))

    threading.Thread(target=run, name="ragkit-disk", daemon=True).start()
    while True:
        try:
            value, error = outcomes.get(timeout=STALL_SECONDS)
        except queue.Empty:
            if not going_on.is_set():
                raise TimeoutError(f"no answer for {STALL_SECONDS:.0f} seconds") from None
            going_on.clear()
            continue
        if error is not None:
            raise error
        return value  # type: ignore[return-value]


def ask_disk(root: Path, work: Callable[[Step], _T]) -> _T:
    """Do work on the files of a source that may hang.

    Raises:
        SourceError: the drive does not answer.
    """
    try:
        return patiently(work)
    except TimeoutError as error:
        raise SourceError(
            f"The folder {root} is not responding.",
            "Check the drive or the network, then sync again.",
        ) from error
