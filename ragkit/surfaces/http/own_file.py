"""Private files that are only trusted if no other user could have written them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

_T = TypeVar("_T")


class OwnFile(Generic[_T]):
    """The parsed content of a file, read again when it has changed. Links are not followed.

    ``nothing`` is the value if the file is missing, or others could have written it, or read it if
    it is ``secret``. At most ``longest`` bytes are read; -1 means all.
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
        """Return the current content."""
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
