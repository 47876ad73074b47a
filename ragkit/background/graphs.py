"""Building the approximate indexes of large collections, beside everything else."""

from __future__ import annotations

import logging
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ragkit.catalog.records import CollectionRecord
from ragkit.children import child_command
from ragkit.errors import IndexCorruptError, RagkitError
from ragkit.indexes.local.files import generations
from ragkit.indexes.local.generation import NewestGraph, newest_graph
from ragkit.indexes.local.hnsw_files import GraphState
from ragkit.indexing.writer import Writer
from ragkit.retrieval.open_indexes import INDEXED_LEVELS

logger = logging.getLogger(__name__)

LOOK_SECONDS = 300.0
"""Longest time until a new generation is noticed that no job of this worker made."""

_WATCH_SECONDS = 0.5
_REST_SECONDS = 3600.0


@dataclass
class GraphBuilder:
    """Keeps the graphs of one library's large indexes. Used by one thread of the writer's process.

    One graph is built at a time, in a child process of the lowest priority. A newer generation or
    ``stopping`` ends it at once; what it did is lost, and nothing else.
    """

    writer: Writer
    stopping: threading.Event = field(default_factory=threading.Event)
    _wake: threading.Event = field(default_factory=threading.Event)
    _looked: dict[int, int] = field(default_factory=dict)
    _before: dict[int, int] = field(default_factory=dict)
    _everywhere: bool = True
    _whole: dict[Path, Path] = field(default_factory=dict)
    _failed: dict[Path, float] = field(default_factory=dict)

    @property
    def least(self) -> int:
        """From how many vectors on an index has a graph; 0: none has."""
        return self.writer.settings.index.ann_rows

    def look_again(self, *, everywhere: bool = False) -> None:
        """Say that there may be new generations, even of collections that are as they were.

        Any thread may.
        """
        self._everywhere |= everywhere
        self._wake.set()

    def run(self) -> None:
        """Build what is missing, until ``stopping`` is set. Never raises."""
        while self.least and not self.stopping.is_set():
            self._wake.clear()
            try:
                self.build_missing()
            except RagkitError as error:
                logger.warning("graphs wait: %s", error)
            except Exception:
                logger.exception("building graphs stopped unexpectedly")
            self._rest()

    def build_missing(self) -> int:
        """Build the graphs that are missing or damaged; give how many were built."""
        built = 0
        for folder in list(self._changed_folders()):
            found = self._lacking(folder)
            if found is not None and not self.stopping.is_set():
                built += self._build(folder, found)
        return built

    def _changed_folders(self) -> Iterator[Path]:
        """The folders of collections that changed before either of the last two looks.

        A change is noted before its generation is written, so that one look may be too early.
        """
        everywhere, self._everywhere = self._everywhere, False
        writer = self.writer.now()
        records: list[CollectionRecord] = writer.catalog.collections.all()
        for record in records:
            if everywhere or self._before.get(record.id) != record.version:
                for level in INDEXED_LEVELS:
                    yield writer.paths.index(record.id, level.value, writer.embedder.fingerprint)
        self._before, self._looked = self._looked, {one.id: one.version for one in records}

    def _lacking(self, folder: Path) -> NewestGraph | None:
        """The newest generation, where it ought to have a graph and has none that is whole."""
        try:
            found = newest_graph(folder, checksums=False)
            if found is None or found.vectors < self.least:
                return None
            if found.state is GraphState.WHOLE and self._whole.get(folder) != found.path:
                # All its bytes are read once, and not again after each small change.
                found = newest_graph(folder) or found
        except IndexCorruptError as error:
            logger.info("no graph for now: %s", error)
            return None
        if found.state is GraphState.WHOLE:
            self._whole[folder] = found.path
            return None
        failed = self._failed.get(found.path)
        rested = failed is None or time.monotonic() - failed > _REST_SECONDS
        return found if rested else None

    def _build(self, folder: Path, wanted: NewestGraph) -> bool:
        """Have a child build a graph; end it when it is no longer wanted."""
        logger.info("building the graph of %s: %d vectors", wanted.path, wanted.vectors)
        started = time.monotonic()
        child = subprocess.Popen(
            child_command("ragkit.background.graph_child", str(wanted.path)),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        try:
            while child.poll() is None:
                if self.stopping.wait(_WATCH_SECONDS) or generations(folder)[-1:] != [wanted.path]:
                    logger.info("the graph of %s is not needed any more", wanted.path)
                    self.look_again(everywhere=True)
                    return False
            said = child.stderr.read().decode("utf-8", "replace") if child.stderr else ""
        finally:
            child.kill()
            child.wait()
            for pipe in (child.stdin, child.stderr):
                if pipe is not None:
                    pipe.close()
        if child.returncode:
            logger.warning("the graph of %s was not built: %s", wanted.path, said.strip())
            self._failed[wanted.path] = time.monotonic()
            return False
        logger.info("built it in %.0f s", time.monotonic() - started)
        return True

    def _rest(self) -> None:
        """Wait for the next look, or until told to stop."""
        until = time.monotonic() + LOOK_SECONDS
        while time.monotonic() < until and not self.stopping.is_set():
            if self._wake.wait(_WATCH_SECONDS):
                return
