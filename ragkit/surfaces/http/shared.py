"""What the server's own routes share: the library, and how they read numbers."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ragkit.library import Library
from ragkit.settings import Settings

if TYPE_CHECKING:
    from starlette.requests import Request


NO_STORE = {"Cache-Control": "no-store"}
"""The header of responses that no browser may keep."""


def query_number(request: Request, name: str) -> int | None:
    """Return a query parameter as a whole number; ``None`` unless it has one to nine digits."""
    return whole_number(request.query_params.get(name, ""))


def whole_number(text: str) -> int | None:
    """Return a number of one to nine digits; ``None`` for any other text."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


class SharedLibrary:
    """A library that is opened when it is first needed. Safe to share between threads."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._lock = threading.Lock()
        self._library: Library | None = None

    def get(self) -> Library:
        """Return the library, the same each time.

        Raises:
            RagkitError: it cannot be opened; the next call tries again.
        """
        with self._lock:
            if self._library is None:
                self._library = Library.open(self.settings)
                self._library.start_readers(self.settings.server.readers)
            return self._library

    def close(self) -> None:
        """Close the library if it is open; the next :meth:`get` opens it again."""
        with self._lock:
            if self._library is not None:
                self._library.close()
                self._library = None
