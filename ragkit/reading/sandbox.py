"""Confines a reading process: limited memory, no writing, no programs, no network.

There are three layers: resource limits, an audit hook for Python code, and on Linux a seccomp
filter for native code.
"""

from __future__ import annotations

import contextlib
import os
import platform
import signal
import struct
import sys
from typing import Any

from ragkit.errors import ReadingError
from ragkit.reading.limits import COUNTS_COMPUTING_TIME, MEGABYTE

_PROCESS_EVENTS = frozenset(
    ("os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "os.exec", "os.startfile",
     "subprocess.Popen", "pty.spawn")
)  # fmt: skip
_NETWORK_EVENTS = frozenset(("socket.__new__", "socket.connect", "socket.bind"))
_CHANGE_EVENTS = frozenset(
    ("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.chmod", "os.chown", "os.link",
     "os.symlink", "os.truncate", "os.kill", "os.killpg", "shutil.rmtree", "shutil.move")
)  # fmt: skip
_WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_ATTEMPTS: list[str] = []

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 22, 38
_ALLOW, _REFUSE, _UNKNOWN = 0x7FFF0000, 0x00050001, 0x00050026
_CLONE_THREAD = 0x00010000
# machine: (audit architecture, clone, clone3,
#   refused: execve, execveat, socket, ptrace, and where it has them fork, vfork)
_SYSCALLS = {
    "x86_64": (0xC000003E, 56, 435, (59, 322, 41, 101, 57, 58)),
    "aarch64": (0xC00000B7, 220, 435, (221, 281, 198, 117)),
}


class ForbiddenError(PermissionError):
    """A reader attempted something that reading never requires."""


def confine(memory_mb: int, parent: int) -> None:
    """Confine this process for the rest of its life; exit if its parent has ended."""
    _limit_resources(memory_mb)
    if sys.platform == "linux":
        _confine_linux(parent)
    sys.addaudithook(_audit)


def forbidden_attempt() -> ReadingError | None:
    """Return an error if the reader attempted something forbidden since the last call."""
    tried, _ATTEMPTS[:] = _ATTEMPTS[:], []
    if not tried:
        return None
    return ReadingError(
        f"Reading was stopped because the file made the reader try to {tried[0]}.",
        "Do not trust this file; leave it out of the library.",
    )


def alarm(computing_seconds: float, seconds: float = 0.0) -> None:
    """Have the system end this process after that processor time or elapsed time; 0: never."""
    if COUNTS_COMPUTING_TIME:
        signal.setitimer(signal.ITIMER_PROF, computing_seconds)
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _limit_resources(memory_mb: int) -> None:
    """Set the resource limits that the platform supports."""
    try:
        import resource
    except ImportError:
        return
    limits = [(resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 0)]
    if sys.platform == "linux":
        limits.append((resource.RLIMIT_AS, memory_mb * MEGABYTE))
    for limit, value in limits:
        _, hard = resource.getrlimit(limit)
        allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
        # Some systems refuse some limits; the others still hold.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(limit, (allowed, allowed))


def _confine_linux(parent: int) -> None:
    """End this process with its parent, and forbid native code programs and sockets."""
    import ctypes

    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)
    syscalls = _SYSCALLS.get(platform.machine())
    if syscalls and sys.maxsize > 2**32 and libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
        code = b"".join(struct.pack("=HBBI", *step) for step in _filter(*syscalls))
        buffer = ctypes.create_string_buffer(code)
        program = struct.pack("@HP", len(code) // 8, ctypes.addressof(buffer))
        libc.prctl(_PR_SET_SECCOMP, 2, ctypes.create_string_buffer(program), 0, 0)


def _filter(
    architecture: int, clone: int, clone3: int, refused: tuple[int, ...]
) -> list[tuple[int, int, int, int]]:
    """Return the BPF program as (code, jump if true, jump if false, value) instructions."""
    load, equal, any_bit, answer = 0x20, 0x15, 0x45, 0x06
    steps = [
        (load, 0, 0, 4),
        (equal, 1, 0, architecture),
        (answer, 0, 0, _REFUSE),
        (load, 0, 0, 0),
    ]
    for number in refused:
        steps += [(equal, 0, 1, number), (answer, 0, 0, _REFUSE)]
    steps += [
        # Without clone3, glibc falls back to clone, whose flags a filter can see.
        (equal, 0, 1, clone3),
        (answer, 0, 0, _UNKNOWN),
        (equal, 0, 3, clone),
        (load, 0, 0, 16),
        (any_bit, 1, 0, _CLONE_THREAD),
        (answer, 0, 0, _REFUSE),
        (answer, 0, 0, _ALLOW),
    ]
    return steps


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    """Raise an error for a forbidden operation of Python code."""
    if event == "open":
        flags = arguments[2] if len(arguments) > 2 else 0
        if isinstance(flags, int) and flags & _WRITE_FLAGS:
            raise ForbiddenError("no files are written here")
    elif event in _PROCESS_EVENTS:
        _ATTEMPTS.append("start another program")
        raise ForbiddenError("no programs are started here")
    elif event in _NETWORK_EVENTS:
        _ATTEMPTS.append("use the network")
        raise ForbiddenError("no network here")
    elif event in _CHANGE_EVENTS:
        _ATTEMPTS.append("change files or end programs")
        raise ForbiddenError("nothing is changed here")
