"""A vector index: exact inner products over half-precision vectors, all or those a graph finds."""

from __future__ import annotations

import math
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.local.hnsw import Graph, LateGraph
from ragkit.indexes.local.int8_prefilter import Int8Prefilter
from ragkit.indexes.protocol import SearchStrategy, VectorSearch
from ragkit.indexes.rows import Bools, Ids
from ragkit.options import IndexMode

WIDTH_PER_PROBE = 32
"""How much wider each ``nprobe`` makes the search of a graph (HNSW's efSearch)."""

ROWS_PER_WIDTH = 200
"""So many vectors are scored exactly in the time that the graph takes for one more of width."""

LEAST_SHARE = 0.85
"""Where a filter leaves a smaller share of the vectors, the graph misses too many of them."""

_MARGIN = 8
_WIDEN = 8
_MOST_THREADS = 4
_EXACT = SearchStrategy(0, "exact")
_MANY = 6
_WORTH_NARROWING = 20_000
_MOST_COARSE = 128 << 20


class VectorIndex:
    """Row numbers and their vectors. Immutable, and safe between threads.

    Only rows that have a vector are kept, so a row without one is never found.
    """

    def __init__(self, index: Any, rows: Ids, size: int, graph: LateGraph | None = None) -> None:
        """Take a faiss index whose position ``i`` is row ``rows[i]`` of ``size`` rows."""
        self._index = index
        self._rows = rows
        self._size = size
        self._all = len(rows) == size
        self._late_graph = graph
        self._coarse: Int8Prefilter | None = None
        self._guard = threading.Lock()

    @classmethod
    def build(cls, vectors: NDArray[np.float16], has_vector: Bools) -> VectorIndex:
        """Build from vectors (n, d); rows of zeros, and those marked as without, are left out."""
        rows = np.flatnonzero(has_vector & _usable(vectors))
        kept = np.ascontiguousarray(vectors if len(rows) == len(vectors) else vectors[rows])
        return cls(_scalar_index(kept), rows.astype(np.int64), len(vectors))

    def __len__(self) -> int:
        """How many rows can be found."""
        return len(self._rows)

    @property
    def dimensions(self) -> int:
        """How long each vector is."""
        return int(self._index.d)

    def usable_vectors(self) -> NDArray[np.float16]:
        """The vectors of the rows that can be found, in their order; a view of the index."""
        import faiss

        if not len(self):
            return np.zeros((0, self.dimensions), np.float16)
        size = len(self) * self._index.code_size
        codes: NDArray[np.uint8] = faiss.rev_swig_ptr(self._index.codes.data(), size)
        return codes.view(np.float16).reshape(len(self), self.dimensions)

    def vectors(self) -> NDArray[np.float16]:
        """Give all rows' vectors (n, d); zeros for rows without one."""
        out = np.zeros((self._size, self.dimensions), dtype=np.float16)
        if len(self._rows):
            out[self._rows] = self._index.reconstruct_n(0, len(self._rows))
        return out

    def search(
        self, query: NDArray[np.float32], depth: int, mask: Bools | None = None
    ) -> tuple[Ids, NDArray[np.float32]]:
        """Give the rows most like a query (d,): rows and scores, best first, ties by row.

        ``mask`` (n,) says which rows may be found. A query of zeros finds nothing.
        """
        allowed = self._allowed(mask)
        count = len(self) if allowed is None else int(np.count_nonzero(allowed))
        wanted = min(depth, count)
        length = float(np.dot(query, query))
        if wanted <= 0 or not 0.0 < length < np.inf:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        fetch = min(count, wanted + _MARGIN)
        while True:
            positions, scores = self._nearest(query, fetch, allowed)
            # What ties with the last one wanted must be seen whole, to break the tie by row.
            if fetch == count or scores[wanted - 1] != scores[-1]:
                break
            fetch = min(count, fetch * _WIDEN)
        order = np.lexsort((positions, -scores))[:wanted]
        return self._rows[positions[order]], scores[order]

    @property
    def has_graph(self) -> bool:
        """Whether it can be searched approximately by now."""
        return self._graph() is not None

    def count(self, mask: Bools) -> int:
        """How many of the rows that a mask (n,) lets through can be found."""
        return int(np.count_nonzero(mask if self._all else mask[self._rows]))

    def search_many(
        self,
        queries: NDArray[np.float32],
        depth: int,
        mask: Bools | None = None,
        way: SearchStrategy = _EXACT,
    ) -> list[tuple[Ids, NDArray[np.float32]]]:
        """Give for each query (q, d) what ``search`` gives, in one pass where that is enough.

        A ``way`` with a width may miss some of the best rows. What it finds has exact scores.
        """
        allowed = self._allowed(mask)
        count = len(self) if allowed is None else int(np.count_nonzero(allowed))
        wanted = min(depth, count)
        graph = self._graph() if way.width and wanted > 0 else None
        if graph is not None and np.isfinite(queries).all():
            return self._linked(graph, queries, wanted, way.width, mask)
        if len(queries) < 2 or wanted <= 0 or not np.isfinite(queries).all():
            return [self.search(query, depth, mask) for query in queries]
        fetch = min(count, wanted + _MARGIN)
        found = []
        for query, (positions, scores) in zip(
            queries, self._nearest_of_all(queries, fetch, allowed), strict=True
        ):
            if not query.any() or (fetch < count and scores[wanted - 1] == scores[-1]):
                found.append(self.search(query, depth, mask))
                continue
            order = np.lexsort((positions, -scores))[:wanted]
            found.append((self._rows[positions[order]], scores[order]))
        return found

    def _linked(
        self,
        graph: Graph,
        queries: NDArray[np.float32],
        wanted: int,
        width: int,
        mask: Bools | None,
    ) -> list[tuple[Ids, NDArray[np.float32]]]:
        """Search by the graph; exactly where it finds too few."""
        allowed = self._allowed(mask)
        bits = None if allowed is None else np.packbits(allowed, bitorder="little")
        threads = min(len(queries), _MOST_THREADS, os.cpu_count() or 1)
        scores, positions = graph.search(queries, wanted + _MARGIN, width, bits, threads)
        found = []
        for query, places, given in zip(queries, positions, scores, strict=True):
            places, given = places[places >= 0], given[places >= 0]
            if len(places) < wanted or not query.any():
                found.append(self.search(query, wanted, mask))
                continue
            order = np.lexsort((places, -given))[:wanted]
            found.append((self._rows[places[order]], given[order]))
        return found

    def _graph(self) -> Graph | None:
        """The graph, where there is one by now."""
        return None if self._late_graph is None else self._late_graph.of(self._index)

    def _allowed(self, mask: Bools | None) -> Bools | None:
        """Which positions may be found, by which rows may."""
        return None if mask is None else mask if self._all else mask[self._rows]

    def scores_of(
        self, queries: NDArray[np.float32], numbers: Ids, rows: Ids
    ) -> NDArray[np.float32]:
        """Return the scores of rows (n,), each for the query (q, d) of its number (n,).

        Rows without a vector have 0.
        """
        places = rows if self._all else np.searchsorted(self._rows, rows)
        inside = places < len(self)
        if not self._all:
            inside[inside] = self._rows[places[inside]] == rows[inside]
        scores = np.zeros(len(rows), np.float32)
        if inside.any():
            vectors = self.usable_vectors()[places[inside]].astype(np.float32)
            # One product a row, which no other row changes: a batch gives the bits of its queries.
            asked = queries if len(queries) == 1 else queries[numbers[inside]]
            scores[inside] = np.vecdot(vectors, asked)
        return scores

    def _nearest(
        self, query: NDArray[np.float32], fetch: int, allowed: Bools | None
    ) -> tuple[Ids, NDArray[np.float32]]:
        """Ask faiss for as many positions as can be had."""
        return self._nearest_of_all(query[None, :], fetch, allowed)[0]

    def _nearest_of_all(
        self, queries: NDArray[np.float32], fetch: int, allowed: Bools | None
    ) -> list[tuple[Ids, NDArray[np.float32]]]:
        """Ask faiss for several queries (q, d) at once."""
        import faiss

        index, parameters, among = self._index, None, None
        threads = min(len(queries), _MOST_THREADS, os.cpu_count() or 1)
        if len(queries) >= _MANY and self._worth_narrowing:
            among = self._looked_through().likely_rows(queries, fetch, allowed)
        if among is not None:
            # So few are scored that threads would only wait, busily, for each other.
            index, threads = self._of_rows(among), 1
        elif allowed is not None:
            bits = np.packbits(allowed, bitorder="little")
            selector = faiss.IDSelectorBitmap(len(allowed), faiss.swig_ptr(bits))
            parameters = faiss.SearchParameters(sel=selector)  # type: ignore[call-arg]
        # The setting is one of the calling thread's. One query is many times slower in two
        # threads; several queries are shared out among them.
        faiss.omp_set_num_threads(threads)
        scores, positions = index.search(
            np.ascontiguousarray(queries, dtype=np.float32), fetch, params=parameters
        )
        if among is not None:
            positions = among[positions]
        return [
            (places[places >= 0], given[places >= 0])
            for places, given in zip(positions, scores, strict=True)
        ]

    @property
    def _worth_narrowing(self) -> bool:
        """Whether there is much to score, and not too much to keep once more by the byte."""
        return len(self) >= _WORTH_NARROWING and len(self) * self.dimensions <= _MOST_COARSE

    def _looked_through(self) -> Int8Prefilter:
        """The vectors by one byte a number, made when they are first needed."""
        with self._guard:
            if self._coarse is None:
                self._coarse = Int8Prefilter.of(self.usable_vectors())
            return self._coarse

    def _of_rows(self, positions: Ids) -> Any:
        """A faiss index of some positions, which scores them to the last bit as the whole one."""
        return _scalar_index(self.usable_vectors()[positions])

    def save(self, path: Path) -> None:
        """Write the faiss index; which rows have vectors is kept by the caller."""
        import faiss

        faiss.write_index(self._index, str(path))

    @classmethod
    def load(cls, path: Path, has_vector: Bools, graph: LateGraph | None = None) -> VectorIndex:
        """Map a saved index into memory; ``has_vector`` (n,) as it was when it was built.

        ``graph`` is of its vectors, if there is to be one.

        Raises:
            OSError, ValueError: the file is not what ``save`` wrote for these rows.
        """
        import faiss

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
        found = np.zeros(self._size, dtype=np.bool_)
        found[self._rows] = True
        return found


def choose_strategy(
    rows: int, passing: int, depth: int, search: VectorSearch, *, has_graph: bool
) -> SearchStrategy:
    """Choose for ``depth`` hits among the ``passing`` of ``rows`` vectors that may be found.

    A filter that leaves most of the vectors makes the search of the graph that much wider.
    """
    if search.mode is IndexMode.EXACT:
        return SearchStrategy(0, "exact: asked for")
    there = f"{rows} vectors"
    if passing < rows:
        there = f"{passing} of {rows} vectors pass the filter"
    if not has_graph:
        asked = search.mode is IndexMode.ANN
        return SearchStrategy(
            0, "exact: there is no approximate index" if asked else f"exact: {there}", asked
        )
    if passing < LEAST_SHARE * rows:
        return SearchStrategy(0, f"exact: {there}")
    width = max(WIDTH_PER_PROBE * search.nprobe, search.overfetch * depth)
    width = max(width, math.ceil(width * rows / max(1, passing)))
    least = ROWS_PER_WIDTH * width if search.mode is IndexMode.AUTO else width
    if passing <= least:
        return SearchStrategy(0, f"exact: {there}, quicker than {width} wide")
    return SearchStrategy(width, f"ann: {there}, {width} wide")


def _scalar_index(vectors: NDArray[np.float16]) -> Any:
    """Make a faiss index of contiguous vectors (n, d)."""
    import faiss

    index = faiss.IndexScalarQuantizer(
        vectors.shape[1], faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
    )
    # The codes are the half-precision numbers themselves: no rounding on the way.
    faiss.copy_array_to_vector(vectors.view(np.uint8).ravel(), index.codes)
    index.ntotal = len(vectors)
    return index


def _usable(vectors: NDArray[np.float16]) -> Bools:
    """Say which rows are finite and not zero, by their largest exponent and fraction."""
    if not vectors.size:
        return np.zeros(len(vectors), dtype=np.bool_)
    largest = (vectors.view(np.uint16) & np.uint16(0x7FFF)).max(axis=1)
    usable: Bools = (largest > 0) & (largest < 0x7C00)
    return usable
