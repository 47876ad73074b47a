"""The library that the server's own routes read."""

from __future__ import annotations

import threading

from ragkit.library import Library
from ragkit.settings import Settings


class SharedLibrary:
    """A library that is opened when it is first asked for. Safe to share between threads.

    ``settings`` are known before.
    """

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
        """Close the library, if it was opened; whoever asks for it again gets it anew."""
        with self._lock:
            if self._library is not None:
                self._library.close()
                self._library = None
