"""Which rows can be among the best, found more cheaply than the scores themselves."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.local.load_faiss import load_faiss
from ragkit.indexes.rows import Bools, Ids, reached_by_slices

_SLICE = 32
_JOINED = 4
_ENOUGH = 8
_MOST_PAIRS = 64
_BLOCK = 2048
_ROWS = 1 << 17
_QUERIES = 32
_MOST_THREADS = 4
_MOST_CODE, _SHIFT = 127, 128
# Larger products are shared out to threads that wait busily for each other: on processors that
# others use as well, that takes many times as long.
_PRODUCT = (1 << 19) - 1
_INEXACT = 1e-4
"""More than two ways of adding up one inner product of unit vectors can differ."""


@dataclass(frozen=True, slots=True)
class Int8Prefilter:
    """Vectors by one byte a number, scanned before the vectors themselves.

    ``codes`` uint8 (n, d), less 128 and times ``scale`` float32 (d,), are near the vectors:
    measured in scales, none is further away than ``error``, and no row is longer than ``longest``.
    ``index`` is the faiss index that holds them.
    """

    index: Any
    codes: NDArray[np.uint8]
    scale: NDArray[np.float32]
    error: float
    longest: float

    @classmethod
    def of(cls, vectors: NDArray[np.float16]) -> Int8Prefilter:
        """Round finite vectors (n, d)."""
        largest = np.zeros(vectors.shape[1], np.float32)
        starts = range(0, len(vectors), _BLOCK)
        for start in starts:
            np.maximum(largest, np.abs(vectors[start : start + _BLOCK]).max(axis=0), out=largest)
        scale = np.where(largest > 0, largest / np.float32(_MOST_CODE), np.float32(1))
        index, codes = _byte_index(*vectors.shape)
        error = longest = 0.0
        for start in starts:
            exact = vectors[start : start + _BLOCK] / scale
            rounded = np.rint(exact)
            codes[start : start + _BLOCK] = rounded + _SHIFT
            exact -= rounded
            error = max(error, float(np.vecdot(exact, exact).max()))
            longest = max(longest, float(np.vecdot(rounded, rounded).max()))
        return cls(index, codes, scale, error**0.5, longest**0.5)

    def likely_rows_of_one(
        self, query: NDArray[np.float32], count: int, allowed: Bools | None = None
    ) -> tuple[Ids, float]:
        """Return up to ``count`` rows like a query (1, d), ascending, and what no other exceeds.

        ``allowed`` (n,) says which rows may be found.
        """
        faiss = load_faiss()
        parameters = None
        if allowed is not None:
            bits = np.packbits(allowed, bitorder="little")
            selector = faiss.IDSelectorBitmap(len(allowed), faiss.swig_ptr(bits))
            parameters = faiss.SearchParameters(sel=selector)
        scaled = query * self.scale
        # The query is rounded as well: whole numbers are multiplied in half the time.
        step = np.abs(scaled).max() / np.float32(_MOST_CODE) or np.float32(1)
        rounded = np.rint(scaled / step)
        faiss.omp_set_num_threads(1)
        (scores,), (rows,) = self.index.search(rounded, count, params=parameters)
        if rows[-1] < 0:
            return np.sort(rows[rows >= 0]), -np.inf
        lengths = _lengths(np.concatenate([scaled, scaled - step * rounded, query]))
        doubt = lengths @ (self.error, self.longest, _INEXACT)
        return np.sort(rows), float(scores[-1] * step + doubt)

    def likely_rows(
        self, queries: NDArray[np.float32], depth: int, allowed: Bools | None = None
    ) -> Ids | None:
        """Return rows, ascending: the ``depth`` best of each query, and not many more.

        ``queries`` (q, d) should be of length 1; ``allowed`` (n,) says which rows may be found.
        ``None`` where too few rows are like a query.
        """
        likely = []
        for first in range(0, len(queries), _QUERIES):
            batch = queries[first : first + _QUERIES]
            scaled = batch * self.scale
            # One of the best may seem too small by the error, and another row too large.
            doubt = 2 * self.error * _lengths(scaled) + _INEXACT * _lengths(batch)
            for start in range(0, len(self.codes), _ROWS):
                part = slice(start, start + _ROWS)
                within = None if allowed is None else allowed[part]
                scores, maxima = _products(self.codes[part], scaled, within)
                least = reached_by_slices(_longer(maxima, depth), depth) - doubt
                if (least <= 0).any():
                    return None
                slices, asked = np.nonzero(maxima >= least)
                block, place = np.divmod(slices, scores.shape[2])
                near = scores[block, :, place, asked]
                pair, at = np.nonzero(near >= least[asked, None])
                rows = (block[pair] * scores.shape[1] + at) * scores.shape[2] + place[pair]
                likely.append(rows + start)
        return np.unique(np.concatenate(likely)) if likely else None


def _longer(maxima: NDArray[np.float32], depth: int) -> NDArray[np.float32]:
    """Join slices where there are many: fewer are quicker to order, and bound nearly as well."""
    longer = len(maxima) // _JOINED
    if longer < _ENOUGH * depth:
        return maxima
    best: NDArray[np.float32] = maxima[: longer * _JOINED].reshape(longer, _JOINED, -1).max(axis=1)
    return best


def _byte_index(rows: int, dimensions: int) -> tuple[Any, NDArray[np.uint8]]:
    """Return a faiss index of signed bytes, and a view of them to be filled: each more by 128."""
    faiss = load_faiss()
    index = faiss.IndexScalarQuantizer(
        dimensions, faiss.ScalarQuantizer.QT_8bit_direct_signed, faiss.METRIC_INNER_PRODUCT
    )
    index.codes.resize(rows * dimensions)
    index.ntotal = rows
    codes: NDArray[np.uint8] = faiss.rev_swig_ptr(index.codes.data(), rows * dimensions)
    return index, codes.reshape(rows, dimensions)


def _products(
    codes: NDArray[np.uint8], scaled: NDArray[np.float32], allowed: Bools | None
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Multiply codes with queries: scores (blocks, rows of a slice, slices, q), and slices' best.

    The rows of a slice (s, q) are as far apart as there are slices in a block. Rows that may not
    be found, and those that fill the last block, have 0.
    """
    turned = np.ascontiguousarray(scaled.T)
    pairs = min(max(_PRODUCT // (2 * turned.size), 1), _MOST_PAIRS)
    block, blocks = pairs * _SLICE, -(-len(codes) // (pairs * _SLICE))
    scores = np.empty((blocks, _SLICE, pairs, len(scaled)), np.float32)
    maxima = np.empty((blocks, pairs, len(scaled)), np.float32)
    left = deque(range(blocks))

    def multiply() -> None:
        wide = np.zeros((block, len(turned)), np.float32)
        signed = np.empty(wide.shape, np.int8)
        while left:
            try:
                number = left.popleft()
            except IndexError:  # Another thread took the last one.
                return
            span = slice(number * block, min((number + 1) * block, len(codes)))
            count = span.stop - span.start
            np.bitwise_xor(codes[span], np.uint8(_SHIFT), out=signed[:count].view(np.uint8))
            np.copyto(wide[:count], signed[:count])
            wide[count:] = 0.0
            near = scores[number].reshape(block, -1)
            products = wide.reshape(-1, 2 * pairs, len(turned))
            np.matmul(products, turned, out=near.reshape(*products.shape[:2], -1))
            if allowed is not None:
                near[:count] *= allowed[span, None]
            scores[number].max(axis=0, out=maxima[number])

    futures = [_helpers().submit(multiply) for _ in range(min(_helping(), blocks - 1))]
    multiply()
    for future in futures:
        # One that has not begun, because others search too, has nothing left to do.
        if not future.cancel():
            future.result()
    return scores, maxima.reshape(-1, len(scaled))


def _helping() -> int:
    """How many threads multiply beside the calling one."""
    return max(min(os.cpu_count() or 1, _MOST_THREADS) - 1, 1)


@cache
def _helpers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_helping(), "ragkit-multiply")


def _lengths(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths: NDArray[np.float32] = np.sqrt(np.vecdot(vectors, vectors))
    return lengths
