"""A vector index: exact inner products over half-precision vectors, all or those a graph finds."""

from __future__ import annotations

import itertools
import logging
import math
import os
import threading
import time
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragkit.errors import IndexCorruptError
from ragkit.indexes.local.files import FileRecord
from ragkit.indexes.local.hnsw import GRAPH_ABOUT, Graph, open_graph
from ragkit.indexes.local.int8_prefilter import Int8Prefilter
from ragkit.indexes.local.load_faiss import load_faiss
from ragkit.indexes.protocol import SearchStrategy, VectorSearch
from ragkit.indexes.rows import Bools, Ids, positions_in
from ragkit.options import IndexMode

logger = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
"""Least time between two looks for a graph that is not there yet."""

CELLS_PER_PROBE = 32
"""How many more cells of a graph each ``nprobe`` has looked through."""

MOST_CELLS = 0.75
"""Where more of the cells would be looked through without a filter, exact search is as quick."""

LEAST_SHARE = 0.08
"""Where a filter leaves a smaller share of the vectors, they are all scored."""

EXACT = SearchStrategy(0, "exact")
"""All vectors are scored."""

RankedRows: TypeAlias = tuple[Ids, NDArray[np.float32]]
"""Rows or positions, best first, and their scores."""

_BLOCK = 4096
_MARGIN = 8
_WIDEN = 8
_MOST_THREADS = 4
_NOTHING: RankedRows = (np.zeros(0, np.int64), np.zeros(0, np.float32))
_MANY = 6
_WORTH_NARROWING = 20_000
_WORTH_BYTES = 4
_LIKELY, _MOST_LIKELY = 4, 2000
# Bytes: not too much to keep the vectors a second time.
_LARGEST_PREFILTER = 128 << 20


class LateGraph:
    """A generation's graph, used once it is there. Safe between threads, which never wait."""

    def __init__(self, folder: Path, vectors_record: FileRecord) -> None:
        """Expect a graph in ``folder``, of the vectors of that record."""
        self._folder = folder
        self._record = vectors_record
        self._guard = threading.Lock()
        self._graph: Graph | None = None
        self._next_look = 0.0
        self._refused = (0, 0)

    def of(self, flat: Any) -> Graph | None:
        """Return the graph, attached to the exact faiss index; ``None`` while there is none."""
        if self._graph is not None or time.monotonic() < self._next_look:
            return self._graph
        if not self._guard.acquire(blocking=False):
            return None
        try:
            self._graph = self._look(flat)
            self._next_look = time.monotonic() + LOOK_SECONDS
        finally:
            self._guard.release()
        return self._graph

    def _look(self, flat: Any) -> Graph | None:
        try:
            there = (self._folder / GRAPH_ABOUT).stat()
        except OSError:
            return None
        seen = (there.st_ino, there.st_mtime_ns)
        if seen == self._refused:
            return None
        try:
            return open_graph(self._folder, self._record, flat)
        except (OSError, ValueError, IndexCorruptError) as error:
            logger.warning("a graph is not used: %s", error)
            self._refused = seen
            return None


class VectorIndex:
    """Row numbers and their vectors. Immutable, and safe between threads.

    Only rows that have a vector are kept, so a row without one is never found.
    """

    def __init__(self, index: Any, rows: Ids, size: int, graph: LateGraph | None = None) -> None:
        """Keep a faiss index whose position ``i`` is row ``rows[i]`` of ``size`` rows."""
        self.dimensions = int(index.d)
        self._index = index
        self._rows = rows
        self._size = size
        self._all = len(rows) == size
        self._late_graph = graph
        self._prefilter: Int8Prefilter | None = None
        self._asked = itertools.count(1)
        self._guard = threading.Lock()

    @classmethod
    def build(
        cls, vectors: NDArray[np.float16], has_vector: Bools, graph: LateGraph | None = None
    ) -> VectorIndex:
        """Build from vectors (n, d); rows of zeros, and those marked as without, are left out.

        ``graph`` is the one of these vectors, if there is to be any.
        """
        rows = np.flatnonzero(has_vector & _usable(vectors))
        return cls(_scalar_index(vectors, rows), rows.astype(np.int64), len(vectors), graph)

    def __len__(self) -> int:
        """How many rows can be found."""
        return len(self._rows)

    def graph(self) -> Graph | None:
        """Return the graph by which it can be searched approximately, where there is one by now."""
        return None if self._late_graph is None else self._late_graph.of(self._index)

    @cached_property
    def usable_vectors(self) -> NDArray[np.float16]:
        """The vectors of the rows that can be found, in their order; a view of the index."""
        return _codes(self._index)

    def put_into(self, vectors: NDArray[np.float16], first: int) -> None:
        """Put the vectors of rows that can be found into those (n, d) of rows from ``first`` on."""
        start, stop = np.searchsorted(self._rows, (first, first + len(vectors)))
        vectors[self._rows[start:stop] - first] = self.usable_vectors[start:stop]

    def search(
        self,
        queries: NDArray[np.float32],
        depth: int,
        mask: Bools | None = None,
        strategy: SearchStrategy = EXACT,
    ) -> list[RankedRows]:
        """Return for each query (q, d) the rows most like it, best first, ties by row.

        ``mask`` (n,) says which rows may be found. A query of zeros, or one that is not finite,
        finds nothing. A ``strategy`` with a width may miss some of the best; scores are exact.
        """
        allowed = mask if mask is None or self._all else mask[self._rows]
        count = len(self._rows) if allowed is None else int(np.count_nonzero(allowed))
        depth = min(depth, count)
        best_of: dict[int, RankedRows] = {}
        lengths = np.vecdot(queries, queries)
        left = np.flatnonzero((lengths > 0.0) & (lengths < np.inf)) if depth > 0 else _NOTHING[0]
        graph = self.graph() if strategy.width and len(left) else None
        if graph is not None:
            near = self._linked(graph, queries[left], depth + _MARGIN, strategy, allowed)
            pairs = zip(left.tolist(), near, strict=True)
            best_of = {number: best for number, best in pairs if len(best[0]) >= depth}
            left = np.array([number for number in left.tolist() if number not in best_of], int)
        fetch = min(count, depth + _MARGIN)
        while len(left):
            near = self._nearest(queries[left], fetch, allowed)
            tied = []
            for number, (positions, scores) in zip(left.tolist(), near, strict=True):
                if fetch < count and scores[depth - 1] == scores[-1]:
                    # All that tie with the last one must be seen, to break the tie by row.
                    tied.append(number)
                else:
                    best_of[number] = positions, scores
            left = np.array(tied, int)
            fetch = min(count, fetch * _WIDEN)
        ranked: list[RankedRows] = [_NOTHING] * len(queries)
        for number, (positions, scores) in best_of.items():
            order = np.lexsort((positions, -scores))[:depth]
            ranked[number] = self._rows[positions[order]], scores[order]
        return ranked

    def count(self, mask: Bools | None) -> int:
        """Count the rows with a vector that a mask (n,) lets through, or all of them."""
        if mask is None:
            return len(self._rows)
        return int(np.count_nonzero(mask if self._all else mask[self._rows]))

    def _linked(
        self,
        graph: Graph,
        queries: NDArray[np.float32],
        fetch: int,
        strategy: SearchStrategy,
        allowed: Bools | None,
    ) -> list[RankedRows]:
        """Return the best positions that the graph finds, maybe too few, and exact scores."""
        bits = None if allowed is None else np.packbits(allowed, bitorder="little")
        threads = min(len(queries), _MOST_THREADS, os.cpu_count() or 1)
        likely = graph.search(queries, max(strategy.scored, fetch), strategy.width, bits, threads)
        ranked = []
        for query, of_query in zip(queries, likely, strict=True):
            near = np.sort(of_query[of_query >= 0])
            if not len(near):
                ranked.append(_NOTHING)
                continue
            index = _scalar_index(self.usable_vectors, near)
            scores, places = _searched(index, query[None], min(fetch, len(near)), None, 1)
            ranked.append((near[places[0]], scores[0]))
        return ranked

    def scores_of(
        self, queries: NDArray[np.float32], numbers: Ids, rows: Ids
    ) -> NDArray[np.float32]:
        """Return the scores of rows (n,), each for the query (q, d) of its number (n,).

        Rows without a vector have 0.
        """
        positions, inside = rows, np.ones(len(rows), np.bool_)
        if not self._all:
            positions, inside = positions_in(self._rows, rows)
        scores = np.zeros(len(rows), np.float32)
        if inside.any():
            vectors = self.usable_vectors[positions[inside]].astype(np.float32)
            # One product a row, which no other row changes: a batch gives the bits of its queries.
            asked = queries if len(queries) == 1 else queries[numbers[inside]]
            scores[inside] = np.vecdot(vectors, asked)
        return scores

    def _nearest(
        self, queries: NDArray[np.float32], fetch: int, allowed: Bools | None
    ) -> list[RankedRows]:
        """Return the best positions and their scores from faiss, in one pass for all queries."""
        near, limit = self._likely(queries, fetch, allowed)
        if near is not None:
            # These are scored to the last bit as by the whole index, and so few of them that
            # threads would only wait, busily, for each other.
            index = _scalar_index(self.usable_vectors, near)
            scores, positions = _searched(index, queries, fetch, None, 1)
            if scores[0, -1] > limit:
                return _found(scores, near[positions])
        threads = min(len(queries), _MOST_THREADS, os.cpu_count() or 1)
        return _found(*_searched(self._index, queries, fetch, allowed, threads))

    def _likely(
        self, queries: NDArray[np.float32], fetch: int, allowed: Bools | None
    ) -> tuple[Ids | None, float]:
        """Return positions that can be among the best, if known, and what others cannot exceed."""
        rows = len(self._rows)
        if rows >= _WORTH_NARROWING and rows * self.dimensions <= _LARGEST_PREFILTER:
            if len(queries) >= _MANY:
                return self._int8().likely_rows(queries, fetch, allowed), -math.inf
            if len(queries) == 1 and fetch * _LIKELY <= _MOST_LIKELY and self._int8_is_made():
                return self._int8().likely_rows_of_one(queries, fetch * _LIKELY, allowed)
        return None, 0.0

    def _int8_is_made(self) -> bool:
        """Return whether a search may use the bytes; they are made beside those of the first few.

        What asks once and ends, such as a command, is not held up by them.
        """
        if self._prefilter is None and next(self._asked) == _WORTH_BYTES:
            threading.Thread(target=self._int8, name="ragkit-bytes").start()
        return self._prefilter is not None

    def _int8(self) -> Int8Prefilter:
        """Return the vectors by one byte a number, made when they are first needed."""
        with self._guard:
            if self._prefilter is None:
                self._prefilter = Int8Prefilter.of(self.usable_vectors)
            return self._prefilter

    def save(self, path: Path) -> None:
        """Write the faiss index; which rows have vectors is kept by the caller."""
        faiss = load_faiss()
        faiss.write_index(self._index, str(path))

    @classmethod
    def load(cls, path: Path, has_vector: Bools, graph: LateGraph | None = None) -> VectorIndex:
        """Map a saved index into memory; ``has_vector`` (n,) as it was when it was built.

        ``graph`` is the one of its vectors, if there is to be any.

        Raises:
            OSError, ValueError: the file is not what ``save`` wrote for these rows.
        """
        faiss = load_faiss()
        try:
            # Adding to a mapped index kills the process; nothing ever adds to this one.
            index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
        except RuntimeError as error:
            raise OSError(str(error).splitlines()[0]) from error
        rows = np.flatnonzero(has_vector).astype(np.int64)
        if index.ntotal != len(rows):
            raise ValueError(f"{index.ntotal} vectors for {len(rows)} rows")
        return cls(index, rows, len(has_vector), graph)

    @property
    def has_vector(self) -> Bools:
        """Which rows can be found, bool (n,)."""
        has_vector = np.zeros(self._size, dtype=np.bool_)
        has_vector[self._rows] = True
        return has_vector


def choose_strategy(
    rows: int, passing: int, depth: int, search: VectorSearch, *, cells: int
) -> SearchStrategy:
    """Choose for ``depth`` hits among the ``passing`` of ``rows`` vectors that may be found.

    ``cells`` is how many the graph has, 0 without one. A filter makes its search wider by the
    fourth root of the share it leaves: the best vectors that pass lie in other cells, though not in
    that many.
    """
    if search.mode is IndexMode.EXACT:
        return SearchStrategy(0, "exact: asked for")
    there = f"{rows:,} vectors"
    if passing < rows:
        there = f"{passing:,} of {rows:,} vectors pass the filter"
    if not cells:
        asked = search.mode is IndexMode.ANN
        return SearchStrategy(
            0, "exact: there is no approximate index" if asked else f"exact: {there}", asked
        )
    if passing < LEAST_SHARE * rows:
        return SearchStrategy(0, f"exact: {there}")
    wide = CELLS_PER_PROBE * search.nprobe
    width = min(math.ceil(wide * (rows / max(1, passing)) ** 0.25), cells)
    scored = search.overfetch * depth
    slower = search.mode is IndexMode.AUTO and wide > MOST_CELLS * cells
    if slower or passing <= scored:
        return SearchStrategy(0, f"exact: {there}, quicker than {width:,} of {cells:,} cells")
    return SearchStrategy(width, f"ann: {there}, {width:,} of {cells:,} cells", scored=scored)


def _searched(
    index: Any, queries: NDArray[np.float32], fetch: int, allowed: Bools | None, threads: int
) -> tuple[NDArray[np.float32], Ids]:
    """Return the scores and positions (q, fetch) of a faiss index."""
    faiss, parameters = load_faiss(), None
    if allowed is not None:
        bits = np.packbits(allowed, bitorder="little")
        selector = faiss.IDSelectorBitmap(len(allowed), faiss.swig_ptr(bits))
        parameters = faiss.SearchParameters(sel=selector)
    # The setting is one of the calling thread's. One query is many times slower in two
    # threads; several queries are shared out among them.
    faiss.omp_set_num_threads(threads)
    queries = np.ascontiguousarray(queries, dtype=np.float32)
    scores, positions = index.search(queries, fetch, params=parameters)
    return scores, positions


def _found(scores: NDArray[np.float32], positions: Ids) -> list[RankedRows]:
    """Return what was found for each query, without the places that stayed empty."""
    return [
        (row[row >= 0], of_row[row >= 0]) for row, of_row in zip(positions, scores, strict=True)
    ]


def _scalar_index(vectors: NDArray[np.float16], rows: Ids) -> Any:
    """Build a faiss index of some rows of vectors (n, d)."""
    faiss = load_faiss()
    index = faiss.IndexScalarQuantizer(
        vectors.shape[1], faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
    )
    index.codes.resize(len(rows) * index.code_size)
    index.ntotal = len(rows)
    # The codes are the half-precision numbers themselves: no rounding on the way.
    codes = _codes(index)
    for start in range(0, len(rows), _BLOCK):
        codes[start : start + _BLOCK] = vectors[rows[start : start + _BLOCK]]
    return index


def _codes(index: Any) -> NDArray[np.float16]:
    """Return a view of the vectors (n, d) that a faiss index holds."""
    if not index.ntotal:
        return np.zeros((0, index.d), np.float16)
    size = index.ntotal * index.code_size
    codes: NDArray[np.uint8] = load_faiss().rev_swig_ptr(index.codes.data(), size)
    return codes.view(np.float16).reshape(index.ntotal, index.d)


def _usable(vectors: NDArray[np.float16]) -> Bools:
    """Return which rows are finite and not zero, by their largest exponent and fraction."""
    if not vectors.size:
        return np.zeros(len(vectors), dtype=np.bool_)
    usable = np.zeros(len(vectors), dtype=np.bool_)
    for start in range(0, len(vectors), _BLOCK):
        part = slice(start, start + _BLOCK)
        largest = (vectors[part].view(np.uint16) & np.uint16(0x7FFF)).max(axis=1)
        usable[part] = (largest > 0) & (largest < 0x7C00)
    return usable
