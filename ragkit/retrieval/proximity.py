"""Phrases and titles: how much of queries stands in chunks as neighbours, or in titles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.rows import TokenColumn

Scores: TypeAlias = NDArray[np.float64]
"""One number an entry, float64 (n,)."""

ShareOf: TypeAlias = Callable[
    [Sequence[Sequence[int]], NDArray[np.float32], TokenColumn, NDArray[np.int64]], Scores
]
"""The type of ``phrase_shares`` and ``title_shares``."""

_FEW_TOKENS = 12


def phrase_shares(
    queries: Sequence[Sequence[int]],
    idf: NDArray[np.float32],
    chunks: TokenColumn,
    bounds: NDArray[np.int64],
) -> Scores:
    """Return how much of its query each chunk holds as neighbouring words, from 0 to 1, (n,).

    ``queries`` hold their tokens in order, ``idf`` (m,) the weights of all of them one after the
    other. ``chunks[bounds[i]:bounds[i + 1]]`` are compared with query ``i``. A pair of neighbours
    counts its rarer half's smaller weight when the chunk has both in that order with at most one
    token between.
    """
    owners, tokens, codes = _distinct(queries)
    width = len(tokens)
    within = owners[1:] == owners[:-1]
    pairs, first = np.unique(
        ((owners[:-1] * width + codes[:-1]) * width + codes[1:])[within], return_index=True
    )
    weights = np.minimum(idf[:-1], idf[1:])[within][first].astype(np.float64)
    shares = np.zeros(len(chunks))
    if not len(pairs):
        return shares
    places, code, row = _occurrences(chunks, tokens)
    query = np.repeat(np.arange(len(queries)), np.diff(bounds))
    if len(queries) > 1:
        own = np.zeros((len(queries), width), np.bool_)
        own[owners, codes] = True
        kept = own[query[row], code]
        places, code, row = places[kept], code[kept], row[kept]
    matches = []
    # Between two of the query's tokens that are at most two places apart stands at most one.
    for step in (1, 2):
        near = (places[step:] - places[:-step] <= 2) & (row[step:] == row[:-step])
        close = np.flatnonzero(near)
        key = (query[row[close]] * width + code[close]) * width + code[close + step]
        pair = np.minimum(np.searchsorted(pairs, key), len(pairs) - 1)
        among = pairs[pair] == key
        matches.append(row[close][among] * len(pairs) + pair[among])
    once = np.unique(np.concatenate(matches))
    np.add.at(shares, once // len(pairs), weights[once % len(pairs)])
    totals = np.bincount(owners, idf, len(queries)).astype(np.float64)
    shares /= np.where(totals > 0, totals, 1.0)[query]
    return shares


def title_shares(
    queries: Sequence[Sequence[int]],
    idf: NDArray[np.float32],
    titles: TokenColumn,
    bounds: NDArray[np.int64],
) -> Scores:
    """Return how much of its query each title holds, by the rarity of words, from 0 to 1, (n,).

    The parameters are those of ``phrase_shares``; words in any order, each counted once.
    """
    owners, tokens, codes = _distinct(queries)
    width = max(len(tokens), 1)
    weights = np.zeros((len(queries), width))
    weights[owners, codes] = idf
    _places, code, row = _occurrences(titles, tokens)
    query = np.repeat(np.arange(len(queries)), np.diff(bounds))
    row, code = np.divmod(np.unique(row * width + code), width)
    shares = np.zeros(len(titles))
    np.add.at(shares, row, weights[query[row], code])
    # Added up token by token, so that a total is the same in any batch.
    distinct, first = np.unique(owners * width + codes, return_index=True)
    totals = np.bincount(distinct // width, idf[first], len(queries)).astype(np.float64)
    shares /= np.where(totals > 0, totals, 1.0)[query]
    return shares


def _distinct(
    queries: Sequence[Sequence[int]],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the query of each token (m,), the distinct tokens, and which of them each is (m,)."""
    tokens, codes = np.unique(
        np.array([token for query in queries for token in query], np.int64), return_inverse=True
    )
    owners = np.repeat(np.arange(len(queries)), [len(query) for query in queries])
    return owners, tokens, codes.reshape(-1)


def _occurrences(
    texts: TokenColumn, tokens: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the places of some ascending tokens in texts, which each is, and its text's row."""
    flat = texts.flat
    if len(tokens) > _FEW_TOKENS and len(flat):
        code_of = np.zeros(int(max(flat.max(), tokens[-1])) + 1, np.uint32)
        code_of[tokens] = np.arange(1, len(tokens) + 1)
        codes = np.take(code_of, flat)
    else:
        # A comparison with each is quicker than a table of the whole vocabulary.
        codes = np.zeros(len(flat), np.uint32)
        for code, token in enumerate(tokens.tolist()):
            codes[flat == token] = code + 1
    places = np.flatnonzero(codes)
    rows = np.searchsorted(texts.offsets, places, side="right") - 1
    return places, codes[places].astype(np.int64) - 1, rows
