"""A graph over vectors (HNSW): finds most of the nearest ones without looking at all.

It holds links only; the vectors are those of the exact index, so that scores are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BATCH = 4096


@dataclass(frozen=True, slots=True)
class GraphParameters:
    """How a graph is built: links a vector, and how widely they are looked for."""

    links: int = 18
    construction: int = 200


class Graph:
    """Links between the positions of an exact index. Immutable, and safe between threads."""

    def __init__(self, index: Any, flat: Any) -> None:
        """Join a faiss graph without vectors to the faiss index that has them."""
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
        """Give scores and positions (q, fetch) for queries (q, d), best first, -1 where short.

        The ``width`` best found so far lead on to others. ``bits`` says, one bit a position,
        little end first, which may be found. Queries are shared out among ``threads``.
        """
        faiss = _faiss()
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

    ``step`` is told after some thousand vectors how many are done.

    Raises:
        OSError: the file cannot be written.
    """
    faiss = _faiss()
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
    faiss = _faiss()
    try:
        index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC | faiss.IO_FLAG_SKIP_STORAGE)
    except RuntimeError as error:
        raise OSError(str(error).splitlines()[0]) from error
    if not isinstance(index, faiss.IndexHNSW) or (index.ntotal, index.d) != (flat.ntotal, flat.d):
        raise ValueError(f"{path.name} is of other vectors")
    return Graph(index, flat)


def _faiss() -> Any:
    """The module; what it knows of its own types is not right for graphs."""
    import faiss

    return faiss
