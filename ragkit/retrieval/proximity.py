"""Phrases and titles: how much of questions stands in chunks as neighbours, or in titles."""

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
"""What ``phrase_shares`` and ``title_shares`` are."""

_FEW_TOKENS = 12


def phrase_shares(
    queries: Sequence[Sequence[int]],
    idf: NDArray[np.float32],
    chunks: TokenColumn,
    bounds: NDArray[np.int64],
) -> Scores:
    """How much of its question stands in each chunk as neighbouring words, from 0 to 1, (n,).

    ``queries`` hold their tokens in order, ``idf`` (m,) the weights of all of them one after the
    other. ``chunks[bounds[i]:bounds[i + 1]]`` are looked at for question ``i``. A pair of
    neighbours counts its rarer half's smaller weight when the chunk has both in that order with
    at most one token between.
    """
    of, known, codes = _distinct(queries)
    width = len(known)
    within = of[1:] == of[:-1]
    pairs, first = np.unique(
        ((of[:-1] * width + codes[:-1]) * width + codes[1:])[within], return_index=True
    )
    weights = np.minimum(idf[:-1], idf[1:])[within][first].astype(np.float64)
    shares = np.zeros(len(chunks))
    if not len(pairs):
        return shares
    at, code, row = _places(chunks, known)
    asked = np.repeat(np.arange(len(queries)), np.diff(bounds))
    if len(queries) > 1:
        own = np.zeros((len(queries), width), np.bool_)
        own[of, codes] = True
        kept = own[asked[row], code]
        at, code, row = at[kept], code[kept], row[kept]
    seen = []
    # Between two of the question's tokens that are at most two places apart stands at most one.
    for step in (1, 2):
        close = np.flatnonzero((at[step:] - at[:-step] <= 2) & (row[step:] == row[:-step]))
        key = (asked[row[close]] * width + code[close]) * width + code[close + step]
        place = np.minimum(np.searchsorted(pairs, key), len(pairs) - 1)
        among = pairs[place] == key
        seen.append(row[close][among] * len(pairs) + place[among])
    once = np.unique(np.concatenate(seen))
    np.add.at(shares, once // len(pairs), weights[once % len(pairs)])
    return _divided(shares, np.bincount(of, idf, len(queries)).astype(np.float64)[asked])


def title_shares(
    queries: Sequence[Sequence[int]],
    idf: NDArray[np.float32],
    titles: TokenColumn,
    bounds: NDArray[np.int64],
) -> Scores:
    """How much of its question stands in each title, by the rarity of words, from 0 to 1, (n,).

    The parameters are those of ``phrase_shares``; words in any order, each counted once.
    """
    of, known, codes = _distinct(queries)
    weights = np.zeros((len(queries), len(known)))
    weights[of, codes] = idf
    distinct, first = np.unique(of * len(known) + codes, return_index=True)
    totals = np.bincount(distinct // max(len(known), 1), idf[first], len(queries)).astype(
        np.float64
    )
    _at, code, row = _places(titles, known)
    once = np.unique(row * len(known) + code)
    asked = np.repeat(np.arange(len(queries)), np.diff(bounds))
    shares = np.zeros(len(titles))
    if len(once):
        row, code = np.divmod(once, len(known))
        np.add.at(shares, row, weights[asked[row], code])
    # Added up token by token, so that a total is the same in any batch.
    return _divided(shares, totals[asked])


def _distinct(
    queries: Sequence[Sequence[int]],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Of all questions' tokens in a row: whose each is (m,), the distinct ones, and which (m,)."""
    known, codes = np.unique(
        np.array([token for one in queries for token in one], np.int64), return_inverse=True
    )
    of = np.repeat(np.arange(len(queries)), [len(one) for one in queries])
    return of, known, codes.reshape(-1)


def _places(
    texts: TokenColumn, known: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Where some tokens, ascending, stand in texts, in order, which each is, and in which text."""
    flat = texts.flat
    if len(known) > _FEW_TOKENS and len(flat):
        code_of = np.zeros(int(max(flat.max(), known[-1])) + 1, np.uint32)
        code_of[known] = np.arange(1, len(known) + 1)
        which = np.take(code_of, flat)
    else:
        # A comparison with each is quicker than a table of the whole vocabulary.
        which = np.zeros(len(flat), np.uint32)
        for code, token in enumerate(known.tolist()):
            which[flat == token] = code + 1
    at = np.flatnonzero(which)
    row = np.searchsorted(texts.offsets, at, side="right") - 1
    return at, which[at].astype(np.int64) - 1, row


def _divided(shares: Scores, totals: Scores) -> Scores:
    """Divide by the weight of all that was asked for, where there is any."""
    found: Scores = shares / np.where(totals > 0, totals, 1.0)
    return found
