"""Builds the approximate indexes of large collections in child processes of low priority."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from ragkit.background.loop import BackgroundLoop
from ragkit.errors import IndexCorruptError, RagkitError
from ragkit.indexes.local.files import generations
from ragkit.indexes.local.generation import NewestGraph, build_graph_of, newest_graph
from ragkit.indexes.local.hnsw import GraphState
from ragkit.indexing.writer import Writer
from ragkit.reading.process import child_command
from ragkit.types import INDEXED_LEVELS, Version

logger = logging.getLogger(__name__)

LOOK_SECONDS = 300.0
"""Longest time until a generation that no job of this worker wrote is noticed."""

_WATCH_SECONDS = 0.5
_RETRY_SECONDS = 3600.0
_NICE = 19


@dataclass
class GraphBuilder:
    """Builds the graphs of one library's large indexes, in one thread of the writer's process.

    One graph is built at a time, in a child process of the lowest priority. A newer generation or
    ``stopping`` ends the child at once; only its own work is lost.
    """

    writer: Writer
    stopping: threading.Event = field(default_factory=threading.Event)
    _requests: int = 0
    _seen: Version = field(default=Version(0))
    _before: Version = field(default=Version(0))
    _everywhere: bool = True
    _whole: dict[Path, Path] = field(default_factory=dict)
    _failed: dict[Path, float] = field(default_factory=dict)

    def look_again(self, *, everywhere: bool = False) -> None:
        """Request a look for new generations; ``everywhere``: also in unchanged collections.

        Any thread may call this.
        """
        self._everywhere |= everywhere
        self._requests += 1

    def run(self) -> None:
        """Build what is missing, until ``stopping`` is set. Never raises."""
        if self.writer.settings.index.ann_rows:
            BackgroundLoop(
                "graphs",
                self.writer.catalog,
                self.stopping,
                requests=lambda: self._requests,
                waits=(LOOK_SECONDS, LOOK_SECONDS),
                rest_seconds=LOOK_SECONDS,
            ).run(self)

    def change_token(self) -> object:
        """Return a new value each time: generations on disk have no token."""
        return object()

    def work(self) -> bool:
        """Build what is missing once."""
        self.build_missing()
        return True

    def reset(self) -> None:
        """Do nothing: this task opens no model."""

    def build_missing(self) -> int:
        """Build the graphs that are missing or damaged; return how many were built."""
        built = 0
        for folder in list(self._changed_folders()):
            generation = self._without_graph(folder)
            if generation is not None and not self.stopping.is_set():
                built += self._build(folder, generation)
        return built

    def _changed_folders(self) -> Iterator[Path]:
        """Yield the index folders of collections that changed since the look before the last one.

        A change is recorded before its generation is written, so one look may come too early.
        """
        everywhere, self._everywhere = self._everywhere, False
        writer = self.writer.now()
        collections = writer.catalog.collections
        newest = collections.newest()
        for record in collections.changed_since(Version(0) if everywhere else self._before):
            for level in INDEXED_LEVELS:
                yield writer.paths.index(record.id, level.value, writer.embedder.fingerprint)
        self._before, self._seen = self._seen, newest

    def _without_graph(self, folder: Path) -> NewestGraph | None:
        """Return the newest generation if it should have a graph but has no sound one."""
        try:
            newest = newest_graph(folder, checksums=False)
            if newest is None or newest.vectors < self.writer.settings.index.ann_rows:
                return None
            if newest.state is GraphState.WHOLE and self._whole.get(folder) != newest.path:
                # Its bytes are verified once, and not again after each small change.
                newest = newest_graph(folder) or newest
        except IndexCorruptError as error:
            logger.info("no graph for now: %s", error)
            return None
        if newest.state is GraphState.WHOLE:
            self._whole[folder] = newest.path
            return None
        failed = self._failed.get(newest.path)
        may_retry = failed is None or time.monotonic() - failed > _RETRY_SECONDS
        return newest if may_retry else None

    def _build(self, folder: Path, generation: NewestGraph) -> bool:
        """Build a graph in a child process, which ends when the graph is no longer needed."""
        logger.info("building the graph of %s: %d vectors", generation.path, generation.vectors)
        started = time.monotonic()
        with subprocess.Popen(
            child_command("ragkit.background.graphs", str(generation.path)),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        ) as child:
            try:
                while child.poll() is None:
                    stopping = self.stopping.wait(_WATCH_SECONDS)
                    if stopping or generations(folder)[-1:] != [generation.path]:
                        logger.info("the graph of %s is no longer needed", generation.path)
                        self.look_again(everywhere=True)
                        return False
                message = child.stderr.read().decode("utf-8", "replace") if child.stderr else ""
            finally:
                child.kill()
        if child.returncode:
            logger.warning("the graph of %s was not built: %s", generation.path, message.strip())
            self._failed[generation.path] = time.monotonic()
            return False
        logger.info("built the graph in %.0f s", time.monotonic() - started)
        return True


# -- the child process ---------------------------------------------------------------------


def main(arguments: list[str]) -> int:
    """Build the graph of the generation in a folder; return 0, or 1 when it was not built.

    The process has the lowest priority, and ends with its parent.
    """
    psutil.Process().nice(getattr(psutil, "IDLE_PRIORITY_CLASS", _NICE))
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        build_graph_of(Path(arguments[0]))
    except (RagkitError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _end_with_parent() -> None:
    """Exit when the parent ends: it never writes to the pipe, which is closed then."""
    # Not through sys.stdin, whose lock the interpreter would wait for at exit.
    os.read(0, 1)
    os._exit(1)
