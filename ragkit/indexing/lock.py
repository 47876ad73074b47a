"""The writer's lock: one process at a time writes to a library."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from ragkit.errors import LibraryBusyError, LibraryError

_LONGEST_LOOK_SECONDS = 0.25
"""``lock_is_held`` takes the lock for a moment, which a writer waits out."""


@dataclass(frozen=True, slots=True)
class LockHolder:
    """The process that holds the lock. ``started_at`` is in seconds since the epoch."""

    pid: int
    started_at: float
    role: str


@contextmanager
def writer_lock(file: Path, role: str, *, wait_seconds: float = 0.0) -> Iterator[None]:
    """Hold the lock for the block. The system releases it when the process dies.

    Raises:
        LibraryBusyError: when another process holds it.
    """
    lock = FileLock(str(file))
    try:
        lock.acquire(timeout=max(wait_seconds, _LONGEST_LOOK_SECONDS))
        _note(file, role)
    except Timeout:
        raise _busy(file) from None
    except OSError as error:
        lock.release()
        raise LibraryError(
            f"{file.parent} cannot be written: {error.strerror or error}.",
            "Check the folder's permissions and the disk's free space.",
        ) from error
    try:
        yield
    finally:
        lock.release()


def lock_is_held(file: Path) -> bool:
    """Return whether some process holds the writer's lock now."""
    if not file.exists():
        return False
    lock = FileLock(str(file))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    except OSError:
        return False
    lock.release()
    return False


def lock_holder(file: Path) -> LockHolder | None:
    """Return the process that took the lock last, if that is known."""
    try:
        note = json.loads(_note_file(file).read_text("utf-8"))
        return LockHolder(int(note["pid"]), float(note["started_at"]), str(note["role"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _note(file: Path, role: str) -> None:
    note = {"pid": os.getpid(), "started_at": time.time(), "role": role}
    _note_file(file).write_text(json.dumps(note), "utf-8")


def _note_file(file: Path) -> Path:
    return file.with_suffix(".json")


def _busy(file: Path) -> LibraryBusyError:
    holder = lock_holder(file)
    who = f"the {holder.role} (process {holder.pid})" if holder else "another process"
    return LibraryBusyError(
        f"The library in {file.parent} is being written by {who}.",
        "Wait for it to finish, or stop it.",
    )
