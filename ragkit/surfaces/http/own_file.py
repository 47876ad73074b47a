"""Files that say who is let in: they count only where nobody else can have written them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

_T = TypeVar("_T")


class OwnFile(Generic[_T]):
    """What a file of this user holds, read again when it has changed; never through a link.

    ``nothing`` stands for a file that is not there, or that others could have written. They must
    not be able to read a ``secret`` one either. ``longest`` is how many bytes count; -1: all.
    """

    def __init__(
        self,
        path: Path,
        parse: Callable[[bytes], _T],
        nothing: _T,
        *,
        secret: bool = False,
        longest: int = -1,
    ) -> None:
        self.path = path
        self._parse = parse
        self._nothing = nothing
        self._closed_to = 0o077 if secret else 0o022
        self._longest = longest
        self._read: tuple[tuple[int, ...], _T] = ((), nothing)

    def value(self) -> _T:
        """Return the present content."""
        try:
            descriptor = os.open(self.path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
            with os.fdopen(descriptor, "rb") as stream:
                status = os.fstat(stream.fileno())
                stamp = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_mode)
                if self._read[0] != stamp:
                    own = self._is_own(status)
                    held = self._parse(stream.read(self._longest)) if own else self._nothing
                    self._read = (stamp, held)
        except OSError:
            return self._nothing
        return self._read[1]

    def _is_own(self, status: os.stat_result) -> bool:
        if os.name == "nt":
            return True
        return status.st_uid == os.geteuid() and not status.st_mode & self._closed_to
