"""A graph over vectors (HNSW): finds most of the nearest ones without looking at all.

It holds links only; the vectors are those of the exact index, so that scores are exact. It is
built after its generation, into the same folder, and never needed: without one, search is
exact. ``graph.json`` is written last and names the generation's vectors, so that a graph is whole
and of these vectors, or there is none.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.errors import IndexCorruptError
from ragkit.indexes.local.files import FileRecord, fault_of, flush_folder, record
from ragkit.indexes.local.load_faiss import load_faiss

GRAPH_FORMAT = 1
"""Changes whenever graphs of an older version could not be read; they are then built again."""

GRAPH_ABOUT = "graph.json"
"""The description of a graph, written last."""

_GRAPH = "graph.faiss"
_CURE = "The worker rebuilds it; search is exact meanwhile."
_BATCH = 4096


@dataclass(frozen=True, slots=True)
class GraphParameters:
    """How a graph is built: links a vector, and how widely they are looked for."""

    links: int = 18
    construction: int = 200


class Graph:
    """Links between the positions of an exact index. Immutable, and safe between threads."""

    def __init__(self, index: Any, flat: Any) -> None:
        """Attach a faiss graph without vectors to the faiss index that has them."""
        index.storage = flat
        index.own_fields = False
        self._index = index
        # The graph points into it.
        self._flat = flat

    def search(
        self,
        queries: NDArray[np.float32],
        fetch: int,
        width: int,
        bits: NDArray[np.uint8] | None,
        threads: int = 1,
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return scores and positions (q, fetch) for queries (q, d), best first, padded with -1.

        The ``width`` best found so far lead on to others. ``bits`` says, one bit a position,
        little end first, which may be found. Queries are shared out among ``threads``.
        """
        faiss = load_faiss()
        faiss.omp_set_num_threads(threads)
        parameters = faiss.SearchParametersHNSW(efSearch=max(width, fetch))
        if bits is not None:
            selector = faiss.IDSelectorBitmap(self._index.ntotal, faiss.swig_ptr(bits))
            parameters = faiss.SearchParametersHNSW(efSearch=max(width, fetch), sel=selector)
        scores, positions = self._index.search(
            np.ascontiguousarray(queries, dtype=np.float32), fetch, params=parameters
        )
        return scores, positions


def build_graph(
    vectors: NDArray[np.float16],
    path: Path,
    parameters: GraphParameters,
    step: Callable[[int], None] = lambda _done: None,
) -> None:
    """Link vectors (n, d), usable ones, in one thread, and write the links to a file.

    ``step`` is called after some thousand vectors with how many are done.

    Raises:
        OSError: the file cannot be written.
    """
    faiss = load_faiss()
    faiss.omp_set_num_threads(1)
    index = faiss.IndexHNSWSQ(
        vectors.shape[1],
        faiss.ScalarQuantizer.QT_fp16,
        parameters.links,
        faiss.METRIC_INNER_PRODUCT,
    )
    # Half precision has nothing to learn.
    index.is_trained = True
    index.hnsw.efConstruction = parameters.construction
    for start in range(0, len(vectors), _BATCH):
        # faiss shuffles each batch by itself.
        index.add(vectors[start : start + _BATCH].astype(np.float32))
        step(index.ntotal)
    try:
        faiss.write_index(index, str(path), faiss.IO_FLAG_SKIP_STORAGE)
    except RuntimeError as error:
        raise OSError(str(error).splitlines()[0]) from error


def load_graph(path: Path, flat: Any) -> Graph:
    """Map saved links into memory, to be used with the exact faiss index that they are of.

    Raises:
        OSError, ValueError: the file is not a graph of that index.
    """
    faiss = load_faiss()
    try:
        index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC | faiss.IO_FLAG_SKIP_STORAGE)
    except RuntimeError as error:
        raise OSError(str(error).splitlines()[0]) from error
    if not isinstance(index, faiss.IndexHNSW) or (index.ntotal, index.d) != (flat.ntotal, flat.d):
        raise ValueError(f"{path.name} is of other vectors")
    return Graph(index, flat)


class GraphState(StrEnum):
    """The state of a generation's graph."""

    NONE = "none"
    WHOLE = "whole"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class GraphAbout:
    """The description of a graph; ``vectors`` is the record of the file whose vectors it links."""

    format_version: int
    rows: int
    links: int
    construction: int
    vectors: FileRecord
    graph: FileRecord


def write_graph(
    folder: Path,
    vectors: NDArray[np.float16],
    vectors_record: FileRecord,
    parameters: GraphParameters | None = None,
    step: Callable[[int], None] = lambda _done: None,
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
        build_graph(vectors, making, parameters, step)
        about = GraphAbout(
            GRAPH_FORMAT,
            len(vectors),
            parameters.links,
            parameters.construction,
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


def graph_state(folder: Path, vectors_record: FileRecord, *, checksums: bool = True) -> GraphState:
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
