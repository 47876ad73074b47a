"""Reading processes that outlive their pools.

A pool ends its processes with its job, and each takes longer to start than what a test writes to
be read. Here the next pool with the same limits takes over what the last has left without work.
"""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ragkit.reading import process
from ragkit.reading.child_clock import kill_group
from ragkit.reading.limits import Limits
from ragkit.reading.process import PostProcessor, ReadingProcess

_MOST = 4


class KeptReaders:
    """The processes that nobody uses now, the newest last; a context manager."""

    def __init__(self) -> None:
        # A reading process ends with the thread that has started it.
        self._starter = ThreadPoolExecutor(1)
        self._start = process._start
        self._idle: list[tuple[Any, subprocess.Popen[bytes]]] = []

    def __enter__(self) -> KeptReaders:
        return self

    def __exit__(self, *_: object) -> None:
        self.end_idle()
        self._starter.shutdown()

    def end_idle(self) -> None:
        """End the processes that nobody uses now."""
        while self._idle:
            self._end_oldest()

    def start(
        self, limits: Limits, post_processor: PostProcessor | None
    ) -> subprocess.Popen[bytes]:
        return self._starter.submit(self._start, limits, post_processor).result()

    def take(self, key: Any) -> subprocess.Popen[bytes] | None:
        """Return a process that was started with the same limits and code, if one is idle."""
        for index in reversed(range(len(self._idle))):
            if self._idle[index][0] == key:
                return self._idle.pop(index)[1]
        return None

    def give(self, key: Any, child: subprocess.Popen[bytes]) -> None:
        self._idle.append((key, child))
        if len(self._idle) > _MOST:
            self._end_oldest()

    def _end_oldest(self) -> None:
        _, child = self._idle.pop(0)
        kill_group(child)
        child.communicate()

    def reading_process(
        self, limits: Limits, post_processor: PostProcessor | None = None
    ) -> ReadingProcess:
        """Stand in for the class ``ReadingProcess``."""
        return _Kept(self, limits, post_processor)


class _Kept(ReadingProcess):
    def __init__(
        self, readers: KeptReaders, limits: Limits, post_processor: PostProcessor | None
    ) -> None:
        super().__init__(limits, post_processor)
        build = post_processor and (post_processor.build, json.dumps(dict(post_processor.options)))
        self._readers, self._key = readers, (limits, build, tuple(sys.path))
        self._reads = False

    def _tried(self, ask: Any) -> Any:
        with self._lock:
            self._reads = True
            if self._child is None and not self._over:
                self._child = self._readers.take(self._key)
                self._files = int(self._child is not None)
        try:
            return super()._tried(ask)
        finally:
            with self._lock:
                self._reads = False

    def kill(self) -> None:
        with self._lock:
            if not self._reads and self._child is not None and self._child.poll() is None:
                self._readers.give(self._key, self._child)
                self._child = None
        super().kill()
