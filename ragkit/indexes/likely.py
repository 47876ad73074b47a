"""Which rows can be among the best, found more cheaply than the scores themselves."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.rows import Bools, Ids

_SLICE = 64
_BLOCK = 2048
_FEWEST_ROWS, _ROWS = 16 * _BLOCK, 64 * _BLOCK
_QUERIES = 32
_MOST_THREADS = 4
# Larger products are shared out to threads that wait busily for each other: on processors that
# others use as well, that takes many times as long.
_PRODUCT = 1 << 18
# A half-precision number whose bits are moved into place in a single-precision one is too small
# by 2 ** 112. The queries make up for most of it; all of it would be too much for a float.
_SHIFT, _LIFT, _LEFT = 13, 2.0**100, 2.0**-12
_KEPT = np.int32(-0x70000001)
_INEXACT = 1e-4
"""More than two ways of adding up one inner product of unit vectors can differ."""


def reached(scores: NDArray[np.float32], depth: int) -> float:
    """Give a score above 0 that at least ``depth`` of many rows (n,) reach; 0 if none is known.

    Each of the best ``depth`` slices of rows has one as good as the worst of their maxima.
    """
    slices = len(scores) // _SLICE
    if not slices > depth > 0:
        return 0.0
    maxima = scores[: slices * _SLICE].reshape(_SLICE, slices).max(axis=0)
    return max(float(np.partition(maxima, slices - depth)[slices - depth]), 0.0)


def likely_rows(
    vectors: NDArray[np.float16],
    queries: NDArray[np.float32],
    depth: int,
    allowed: Bools | None = None,
) -> Ids | None:
    """Give rows, ascending, that hold the ``depth`` best of each query, and not many more.

    ``vectors`` (n, d) are finite, contiguous and of length 1, as ``queries`` (q, d) should be;
    ``allowed`` (n,) says which may be found. Sums are those of one matrix product a block, so a
    query costs half of what it costs alone. ``None`` where too few rows are like a query.
    """
    threads = max(min(os.cpu_count() or 1, _MOST_THREADS, len(vectors) // _FEWEST_ROWS), 1)
    step = min(-(-len(vectors) // threads), _ROWS)
    if step // _SLICE <= depth:
        return None
    parts = [
        (queries[first : first + _QUERIES], start, min(start + step, len(vectors)))
        for start in range(0, len(vectors), step)
        for first in range(0, len(queries), _QUERIES)
    ]
    with ThreadPoolExecutor(threads) as pool:
        found = list(
            pool.map(lambda one: _likely(vectors, one[0], one[1], one[2], depth, allowed), parts)
        )
    known = [one for one in found if one is not None]
    return np.unique(np.concatenate(known)) if len(known) == len(found) > 0 else None


def _likely(
    vectors: NDArray[np.float16],
    queries: NDArray[np.float32],
    start: int,
    stop: int,
    depth: int,
    allowed: Bools | None,
) -> Ids | None:
    """Give the likely rows from one to another."""
    scores = _products(vectors[start:stop], queries)
    if allowed is not None:
        scores *= allowed[start:stop]
    found = []
    for of_one, query in zip(scores, queries, strict=True):
        least = reached(of_one, depth) - float(np.linalg.norm(query)) * _INEXACT * _LEFT
        if least <= 0.0:
            return None
        found.append(np.flatnonzero(of_one >= least) + start)
    return np.concatenate(found)


def _products(vectors: NDArray[np.float16], queries: NDArray[np.float32]) -> NDArray[Any]:
    """Give the inner products (q, n), times ``_LEFT``."""
    bits = vectors.view(np.int16)
    lifted = np.ascontiguousarray(queries.T * np.float32(_LIFT))
    rows = max(_PRODUCT // lifted.size, 1)
    block = rows * max(_BLOCK // rows, 1)
    wide = np.zeros((block, bits.shape[1]), np.int32)
    scores = np.empty((len(queries), len(bits)), np.float32)
    for start in range(0, len(bits), block):
        here = bits[start : start + block]
        np.left_shift(here, _SHIFT, out=wide[: len(here)], dtype=np.int32)
        np.bitwise_and(wide, _KEPT, out=wide)
        found = wide.view(np.float32).reshape(-1, rows, wide.shape[1]) @ lifted
        scores[:, start : start + block] = found.reshape(block, -1)[: len(here)].T
    return scores
