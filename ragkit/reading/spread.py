"""Reads the pages of one large PDF in several processes at once."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Self

from ragkit.errors import ReadingError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ragkit.reading.process import Pages, ReadingProcess

_FIRST = 32
"""The fewest pages read at once; a file without more pages is not spread."""

_RUNS_A_PROCESS = 4
"""Runs per process: enough that no process waits long for the last one."""


class SpreadPages:
    """Runs of pages that processes take in turn, gathered by the process given the file."""

    def __init__(
        self, path: Path, name: str, first: bytes, spans: Sequence[tuple[int, int]]
    ) -> None:
        self._path, self._name = path, name
        self._waiting = deque(enumerate(spans, 1))
        self._runs: dict[int, bytes] = {0: first}
        self._count = 1 + len(spans)
        self._under_way = 0
        self._failed = False
        self._changed = threading.Condition()

    @classmethod
    def begun(cls, path: Path, name: str, process: ReadingProcess, processes: int) -> Self | None:
        """Read the first pages; ``None`` if there are no others, or the file cannot be read so."""
        pages = process.read_pages(path, name, 0, _FIRST)
        if isinstance(pages, ReadingError) or pages.count <= _FIRST:
            return None
        step = max(_FIRST, -(-pages.count // (processes * _RUNS_A_PROCESS)))
        starts = range(_FIRST, pages.count, step)
        spans = [(start, min(start + step, pages.count)) for start in starts]
        return cls(path, name, pages.packed, spans)

    def help_with(self, process: ReadingProcess) -> None:
        """Read runs with another process until no run is left."""
        while True:
            with self._changed:
                if not self._waiting or self._failed:
                    return
                place, (first, end) = self._waiting.popleft()
                self._under_way += 1
            pages: Pages | ReadingError | None = None
            try:
                pages = process.read_pages(self._path, self._name, first, end)
            finally:
                with self._changed:
                    self._under_way -= 1
                    if pages is None or isinstance(pages, ReadingError):
                        self._failed = True
                    else:
                        self._runs[place] = pages.packed
                    self._changed.notify_all()

    def finished(self, process: ReadingProcess) -> Sequence[bytes]:
        """Read the remaining runs, wait for the others, and return all; none if one failed.

        The caller then reads the file as a whole, which yields the right error.
        """
        self.help_with(process)
        with self._changed:
            self._changed.wait_for(lambda: not self._under_way)
            complete = not self._failed and len(self._runs) == self._count
            return [self._runs[place] for place in range(self._count)] if complete else ()
