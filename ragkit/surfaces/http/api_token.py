"""The token that programs must send: 32 random bytes in a private file of the library.

It is required on this machine too, since all of its users can reach the loopback address.
"""

from __future__ import annotations

import hmac
import secrets
from pathlib import Path

from ragkit.paths import write_private
from ragkit.surfaces.http.access import unwritable
from ragkit.surfaces.http.own_file import OwnFile

_LONGEST = 200


class ApiToken:
    """The token in a file, which is read again when it changes. Safe to share between threads.

    ``ensure`` and ``renew`` raise a LibraryError if the file cannot be written.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._held = OwnFile(file, _parsed, "", secret=True, longest=_LONGEST)

    def ensure(self) -> str:
        """Return the token; create one if there is none that only this user can read."""
        return self.current() or self.renew()

    def renew(self) -> str:
        """Replace the token and return the new one."""
        token = secrets.token_urlsafe(32)
        try:
            write_private(self._file, f"{token}\n")
        except OSError as error:
            raise unwritable(self._file, error) from error
        return token

    def current(self) -> str:
        """Return the token; empty if there is none, or if other users could read or write it."""
        return self._held.value()

    def is_lost(self) -> bool:
        """Return whether the library's folder is gone, and the token with it."""
        return not self._file.parent.is_dir()

    def admits(self, token: str) -> bool:
        """Return whether this is the token, in constant time."""
        own = self.current()
        return bool(own) and hmac.compare_digest(own.encode(), token.encode("utf-8", "replace"))


def _parsed(content: bytes) -> str:
    return content.decode("ascii", "replace").strip()
