"""Touching files that may change or hang: no pipe is waited for, no dead mount is waited out."""

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
"""A disk that does nothing for so long is taken for gone; one that has to start needs seconds."""

Step: TypeAlias = Callable[[], None]
"""Says that the work goes on."""

_T = TypeVar("_T")


class UnsettledError(OSError):
    """A file is not what the scan saw: another kind of thing stands there, or it has grown."""


def open_regular(path: Path) -> BinaryIO:
    """Open a file to read its bytes, unbuffered; links are not followed.

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


def patiently(work: Callable[[Step], _T], seconds: float | None = None) -> _T:
    """Do some work that may hang; give it up when it reports no step for so long.

    The default is ``STALL_SECONDS``. It runs in a thread of its own, which is left to itself then:
    nothing can end a read from a network drive that has gone.

    Raises:
        TimeoutError: it did not go on.
    """
    seconds = STALL_SECONDS if seconds is None else seconds
    going_on = threading.Event()
    outcomes: queue.SimpleQueue[tuple[_T | None, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            outcomes.put((work(going_on.set), None))
        except BaseException as error:  # noqa: BLE001 - it is raised again where one waits
            outcomes.put((None, error))

    threading.Thread(target=run, name="ragkit-disk", daemon=True).start()
    while True:
        try:
            value, error = outcomes.get(timeout=seconds)
        except queue.Empty:
            if not going_on.is_set():
                raise TimeoutError(f"no answer for {seconds:.0f} seconds") from None
            going_on.clear()
            continue
        if error is not None:
            raise error
        return value  # type: ignore[return-value]


def ask_disk(root: Path, work: Callable[[Step], _T]) -> _T:
    """Do some work on the files of a source.

    Raises:
        SourceError: its disk does not answer.
    """
    try:
        return patiently(work)
    except TimeoutError as error:
        raise SourceError(
            f"The folder {root} is not responding.",
            "Check the drive or the network, then sync again.",
        ) from error
