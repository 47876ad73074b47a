"""Vectors in cells that a graph (HNSW) leads to: finds most of the nearest without looking at all.

Cells are the places of k-means; each is reached over links between cells, and holds its vectors by
half a byte a number (IVF, product quantizer), which are compared sixteen at once. What they find
is scored again by the vectors of the exact index, so that scores are exact. A graph is
built after its generation, into the same folder, and never needed: without one, search is
exact. ``graph.json`` is written last and names the generation's vectors, so that a graph is whole
and of these vectors, or there is none.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.errors import IndexCorruptError
from ragkit.indexes.local.files import FileRecord, fault_of, flush_folder, record
from ragkit.indexes.local.load_faiss import load_faiss

GRAPH_FORMAT = 2
"""Changes whenever graphs of an older version could not be read; they are then built again."""

GRAPH_ABOUT = "graph.json"
"""The description of a graph, written last."""

_GRAPH = "graph.faiss"
_CURE = "The worker rebuilds it; search is exact meanwhile."
_BATCH = 1 << 14
_PER_CELL, _ROUNDS = 64, 10
_CODES, _TRAINED = 16, 1 << 16
_SEED = 1


@dataclass(frozen=True, slots=True)
class GraphParameters:
    """How a graph is built: links a cell, how widely they are looked for, and how many cells.

    0 cells: as many as suit the number of vectors.
    """

    links: int = 32
    construction: int = 200
    cells: int = 0


class Graph:
    """The positions of an exact index in linked cells. Immutable, and safe between threads."""

    def __init__(self, index: Any) -> None:
        """Keep a faiss index of cells."""
        self.cells = int(index.nlist)
        self._index = index

    def search(
        self,
        queries: NDArray[np.float32],
        fetch: int,
        cells: int,
        bits: NDArray[np.uint8] | None,
        threads: int = 1,
    ) -> NDArray[np.int64]:
        """Return the likeliest positions (q, fetch) for queries (q, d), padded with -1.

        So many ``cells`` are looked through. ``bits`` says, one bit a position,
        little end first, which may be found. Queries are shared out among ``threads``.
        """
        faiss = load_faiss()
        faiss.omp_set_num_threads(threads)
        links = faiss.SearchParametersHNSW(efSearch=cells)
        parameters = faiss.SearchParametersIVF(nprobe=cells, quantizer_params=links)
        if bits is not None:
            selector = faiss.IDSelectorBitmap(self._index.ntotal, faiss.swig_ptr(bits))
            parameters = faiss.SearchParametersIVF(
                nprobe=cells, quantizer_params=links, sel=selector
            )
        _scores, positions = self._index.search(
            np.ascontiguousarray(queries, dtype=np.float32), fetch, params=parameters
        )
        nearest: NDArray[np.int64] = positions
        return nearest


def suitable_cells(count: int) -> int:
    """Return how many cells so many vectors are put into: twice the root."""
    return max(1, min(round(2 * math.sqrt(count)), count))


def build_graph(
    vectors: NDArray[np.float16],
    path: Path,
    parameters: GraphParameters,
) -> None:
    """Put vectors (n, d), usable ones, into linked cells, in one thread, and write them to a file.

    The same vectors give the same bytes. Beside the vectors, a sample of them and the result are
    held in memory.

    Raises:
        OSError: the file cannot be written.
    """
    faiss = load_faiss()
    faiss.omp_set_num_threads(1)
    dimensions = vectors.shape[1]
    cells = parameters.cells or suitable_cells(len(vectors))
    sample = _sample(vectors, cells)
    # Vectors of texts have much in common, by which neither cells nor codes tell them apart.
    # A question's order of them is the same without it.
    centre = sample.mean(axis=0)
    sample -= centre
    middles = faiss.Kmeans(
        dimensions,
        cells,
        niter=_ROUNDS,
        seed=_SEED,
        min_points_per_centroid=1,
        max_points_per_centroid=len(sample),
    )
    middles.train(sample)
    nearest = faiss.IndexFlatL2(dimensions)
    nearest.add(middles.centroids)
    linked = faiss.IndexHNSWFlat(dimensions, parameters.links, faiss.METRIC_INNER_PRODUCT)
    linked.hnsw.efConstruction = parameters.construction
    linked.add(middles.centroids)
    parts = dimensions // 2 if dimensions % 2 == 0 else dimensions
    index = faiss.IndexIVFPQFastScan(
        nearest, dimensions, cells, parts, 4, faiss.METRIC_INNER_PRODUCT
    )
    index.by_residual = False
    index.pq.cp.min_points_per_centroid = 1
    index.pq.cp.max_points_per_centroid = _TRAINED // _CODES
    index.train(sample[:_TRAINED])
    del sample
    for start in range(0, len(vectors), _BATCH):
        index.add(vectors[start : start + _BATCH].astype(np.float32) - centre)
    index.quantizer = linked
    try:
        faiss.write_index(index, str(path))
    except RuntimeError as error:
        raise OSError(str(error).splitlines()[0]) from error


def _sample(vectors: NDArray[np.float16], cells: int) -> NDArray[np.float32]:
    """Return some vectors, in any order, to learn cells and codes from: enough of them."""
    count = max(cells * _PER_CELL, _CODES)
    if not len(vectors):
        return np.zeros((count, vectors.shape[1]), np.float32)
    if len(vectors) <= count:
        return np.resize(vectors, (max(len(vectors), cells, _CODES), vectors.shape[1])).astype(
            np.float32
        )
    chosen = np.random.default_rng(_SEED).choice(len(vectors), count, replace=False)
    return vectors[chosen].astype(np.float32)


def load_graph(path: Path, flat: Any) -> Graph:
    """Map a saved graph into memory, which is of the vectors of that exact faiss index.

    Raises:
        OSError, ValueError: the file is not a graph of that index.
    """
    faiss = load_faiss()
    try:
        index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
    except RuntimeError as error:
        raise OSError(str(error).splitlines()[0]) from error
    same = isinstance(index, faiss.IndexIVFPQFastScan)
    if not same or (index.ntotal, index.d) != (flat.ntotal, flat.d):
        raise ValueError(f"{path.name} is of other vectors")
    return Graph(index)


class GraphState(StrEnum):
    """The state of a generation's graph."""

    NONE = "none"
    WHOLE = "whole"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class GraphAbout:
    """The description of a graph; ``vectors`` is the record of the file whose vectors it finds."""

    format_version: int
    rows: int
    links: int
    construction: int
    cells: int
    vectors: FileRecord
    graph: FileRecord


def write_graph(
    folder: Path,
    vectors: NDArray[np.float16],
    vectors_record: FileRecord,
    parameters: GraphParameters | None = None,
) -> None:
    """Build the graph of a generation's vectors (n, d), usable ones, and put it into its folder.

    Only one process at a time may do so; what others left unfinished is removed.

    Raises:
        OSError: the folder has gone, the disk is full, or it may not be written.
    """
    parameters = parameters or GraphParameters()
    making = folder / f".{_GRAPH}.{os.getpid()}"
    about_making = folder / f".{GRAPH_ABOUT}.{os.getpid()}"
    for left in (*folder.glob(f".{_GRAPH}.*"), *folder.glob(f".{GRAPH_ABOUT}.*")):
        left.unlink(missing_ok=True)
    try:
        build_graph(vectors, making, parameters)
        about = GraphAbout(
            GRAPH_FORMAT,
            len(vectors),
            parameters.links,
            parameters.construction,
            parameters.cells or suitable_cells(len(vectors)),
            vectors_record,
            record(making, flush=True),
        )
        about_making.write_text(json.dumps(asdict(about), indent=1), encoding="utf-8")
        record(about_making, flush=True)
        # Whoever looks between the two finds bytes that do not fit, and stays with exact search.
        (folder / GRAPH_ABOUT).unlink(missing_ok=True)
        making.replace(folder / _GRAPH)
        about_making.replace(folder / GRAPH_ABOUT)
        flush_folder(folder)
    finally:
        making.unlink(missing_ok=True)
        about_making.unlink(missing_ok=True)


def graph_state(folder: Path, vectors_record: FileRecord, *, checksums: bool) -> GraphState:
    """Return the state of a generation's graph; with ``checksums`` every byte is read."""
    try:
        about = _read_about(folder)
        if about is None:
            return GraphState.NONE
        _check(folder, about, vectors_record, checksums=checksums)
    except IndexCorruptError:
        return GraphState.DAMAGED
    return GraphState.WHOLE


def open_graph(folder: Path, vectors_record: FileRecord, flat: Any) -> Graph | None:
    """Open a generation's graph, every byte of it checked; ``None`` where there is none.

    Raises:
        OSError, ValueError, IndexCorruptError: it is damaged, or of other vectors.
    """
    about = _read_about(folder)
    if about is None:
        return None
    _check(folder, about, vectors_record, checksums=True)
    return load_graph(folder / _GRAPH, flat)


def _read_about(folder: Path) -> GraphAbout | None:
    try:
        content = json.loads((folder / GRAPH_ABOUT).read_text(encoding="utf-8"))
        vectors, graph = FileRecord(**content.pop("vectors")), FileRecord(**content.pop("graph"))
        return GraphAbout(**content, vectors=vectors, graph=graph)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _corrupt(folder, f"{GRAPH_ABOUT} cannot be read: {error}") from error


def _check(folder: Path, about: GraphAbout, vectors: FileRecord, *, checksums: bool) -> None:
    fault = ""
    if about.format_version != GRAPH_FORMAT:
        fault = f"its format version is {about.format_version}, not {GRAPH_FORMAT}"
    elif about.vectors != vectors:
        fault = "it is of other vectors"
    fault = fault or fault_of(folder, _GRAPH, about.graph, checksums=checksums)
    if fault:
        raise _corrupt(folder, fault)


def _corrupt(folder: Path, what: str) -> IndexCorruptError:
    return IndexCorruptError(f"The graph of {folder.name} does not fit: {what}.", _CURE)
