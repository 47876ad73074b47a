"""The token with which programs may use a library: a private file of it holds 32 random bytes.

Every user of a machine reaches its loopback addresses, so a program needs it there as well.
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
    """The token in a file; a new one there counts at once. Safe to share between threads."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._held = OwnFile(file, _parsed, "", secret=True, longest=_LONGEST)

    def ensure(self) -> str:
        """Return the token; one is made where there is none that is this person's alone.

        Raises:
            LibraryError: the file cannot be written.
        """
        return self.current() or self.renew()

    def renew(self) -> str:
        """Make another token, and return it; the one before admits nobody any more.

        Raises:
            LibraryError: the file cannot be written.
        """
        token = secrets.token_urlsafe(32)
        try:
            write_private(self._file, f"{token}\n")
        except OSError as error:
            raise unwritable(self._file, error) from error
        return token

    def current(self) -> str:
        """Return the token; empty where there is none, or where others could read or write it."""
        return self._held.value()

    def admits(self, token: str) -> bool:
        """True when this is the token; every wrong one takes equally long."""
        known = self.current()
        return bool(known) and hmac.compare_digest(known.encode(), token.encode("utf-8", "replace"))


def _parsed(content: bytes) -> str:
    return content.decode("ascii", "replace").strip()
