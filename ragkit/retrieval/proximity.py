"""Phrases and titles: how much of a query occurs in chunks as neighbours, or in titles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.protocol import IndexQuery, IndexSearch
from ragkit.indexes.rows import Ids, TokenColumn, distinct
from ragkit.types import Field

Scores: TypeAlias = NDArray[np.float64]
"""One number an entry, float64 (n,)."""

ShareOf: TypeAlias = Callable[
    [Sequence[Sequence[int]], NDArray[np.float32], TokenColumn, Ids], Scores
]
"""The type of ``phrase_shares`` and ``title_shares``."""

QUOTED_WORDS, QUOTED_PAIRS, QUOTED_CHARACTERS = 3, 2, 10
"""How many words a quotation has, or characters in writing without spaces, and how many pairs of
words that are searched for: fewer are neighbours by chance, or are parts of one identifier."""

NEARLY_VERBATIM = 0.9
"""From which share of its pairs, by their rarity, a query is taken for a quotation."""

_ALL = 1 - 1e-9
"""What a title has of a query that it holds all of, but for rounding."""


def shares_in(
    share_of: ShareOf,
    field: Field,
    searches: Sequence[IndexSearch],
    queries: Sequence[IndexQuery],
    entry_ids: Ids,
    asking: Ids,
) -> Scores:
    """Return how much of its query occurs in a field of each entry, from 0 to 1, (n,).

    ``asking`` (n,) has the number of the query that each entry is compared with. Words are as
    rare as they are in texts.
    """
    shares = np.zeros(len(entry_ids))
    token_ids = [query.token_ids for query in queries]
    flat = [token for tokens in token_ids for token in tokens]
    for search in searches if flat else ():
        if not search.index.document_frequencies(flat, field).any():
            continue
        idf = search.index.idf(flat, Field.TEXT)
        shares += share_of(token_ids, idf, search.index.get(entry_ids, field), asking)
    return shares


def phrase_shares(
    queries: Sequence[Sequence[int]],
    idf: NDArray[np.float32],
    chunks: TokenColumn,
    asking: Ids,
) -> Scores:
    """Return how much of its query each chunk holds as neighbouring words, from 0 to 1, (n,).

    ``queries`` hold their tokens in order, ``idf`` (m,) the weights of all of them one after the
    other; ``asking`` (n,) has the number of each chunk's query. A pair of neighbours counts its
    rarer half's smaller weight when the chunk has both in that order with at most one token
    between.
    """
    width, owners, codes, places, code, row = _matches(queries, chunks)
    within = owners[1:] == owners[:-1]
    keys = ((owners[:-1] * width + codes[:-1]) * width + codes[1:])[within]
    shares = np.zeros(len(asking))
    if not len(keys):
        return shares
    # A pair that a query has twice weighs the same each time, and counts once.
    pairs = distinct(keys)
    weights = np.zeros(len(pairs))
    weights[pairs.searchsorted(keys)] = np.minimum(idf[:-1], idf[1:])[within]
    if len(queries) > 1:
        own = np.zeros((len(queries), width), np.bool_)
        own[owners, codes] = True
        kept = own[asking[row], code]
        places, code, row = places[kept], code[kept], row[kept]
    matches = []
    # Between two of the query's tokens that are at most two places apart is at most one.
    for step in (1, 2):
        near = (places[step:] - places[:-step] <= 2) & (row[step:] == row[:-step])
        close = np.flatnonzero(near)
        key = (asking[row[close]] * width + code[close]) * width + code[close + step]
        pair = np.minimum(np.searchsorted(pairs, key), len(pairs) - 1)
        among = pairs[pair] == key
        matches.append(row[close][among] * len(pairs) + pair[among])
    once = distinct(np.concatenate(matches))
    np.add.at(shares, once // len(pairs), weights[once % len(pairs)])
    totals = np.bincount(owners, idf, len(queries)).astype(np.float64)
    shares /= np.where(totals > 0, totals, 1.0)[asking]
    return shares


def may_be_quoted(text: str) -> bool:
    """Return whether a query is long enough to be a quotation."""
    return len(text.split()) >= QUOTED_WORDS or (
        len(text) >= QUOTED_CHARACTERS and not text.isascii()
    )


def whole_phrases(searches: Sequence[IndexSearch], queries: Sequence[IndexQuery]) -> Scores:
    """Return the ``phrase_shares`` of a text that has a query word for word, (q,).

    0 for a query of fewer different pairs than a quotation has. Over several collections it is the
    largest.
    """
    wholes = np.zeros(len(queries))
    for number, query in enumerate(queries):
        pairs = set(pairwise(query.token_ids))
        for search in searches if len(pairs) >= QUOTED_PAIRS else ():
            idf = search.index.idf(query.token_ids, Field.TEXT)
            weight_of = dict(zip(query.token_ids, idf.tolist(), strict=True))
            whole = sum(min(weight_of[first], weight_of[second]) for first, second in pairs)
            wholes[number] = max(wholes[number], whole / (float(idf.sum()) or 1.0))
    return wholes


def verbatim_shares(shares: Scores, wholes: Scores, asking: Ids) -> Scores:
    """Return how nearly each chunk has all of its query word for word, (n,).

    1 where it does, 0 up to ``NEARLY_VERBATIM`` of it. ``shares`` (n,) are those of phrases,
    ``wholes`` (q,) those of ``whole_phrases``; ``asking`` (n,) has the numbers of the queries.
    """
    whole = wholes[asking]
    ratios = np.divide(shares, whole, out=np.zeros(len(shares)), where=whole > 0.0)
    return np.clip((ratios - NEARLY_VERBATIM) / (1.0 - NEARLY_VERBATIM), 0.0, 1.0)


def title_shares(
    queries: Sequence[Sequence[int]],
    idf: NDArray[np.float32],
    titles: TokenColumn,
    asking: Ids,
) -> Scores:
    """Return how much of its query each title holds, by the rarity of words, from 0 to 1, (n,).

    The parameters are those of ``phrase_shares``; words in any order, each counted once.
    """
    width, owners, codes, _places, code, row = _matches(queries, titles)
    width = max(width, 1)
    weights = np.zeros((len(queries), width))
    weights[owners, codes] = idf
    row, code = np.divmod(distinct(row * width + code), width)
    shares = np.zeros(len(asking))
    np.add.at(shares, row, weights[asking[row], code])
    # Added up token by token, so that a total is the same in any batch.
    of_query, code = np.divmod(distinct(owners * width + codes), width)
    totals = np.bincount(of_query, weights[of_query, code], len(queries))
    shares /= np.where(totals > 0, totals, 1.0)[asking]
    return shares


def whole_title_shares(
    in_titles: Scores,
    searches: Sequence[IndexSearch],
    queries: Sequence[IndexQuery],
    entry_ids: Ids,
    asking: Ids,
) -> Scores:
    """Return how much of its title each entry's query is, from 0 to 1, (n,).

    0 where the title does not hold all of the query, in its order and with nothing in between.
    ``in_titles`` (n,) are the ``title_shares``. To a title belong its headings, and before it
    words of the file's name that it has not.
    """
    shares = np.zeros(len(entry_ids))
    rows = np.flatnonzero(in_titles > _ALL)
    for search in searches if len(rows) else ():
        titles = search.index.get(entry_ids[rows], Field.TITLE)
        bounds = pairwise(titles.offsets.tolist())
        flat = titles.flat.tolist()
        for row, (start, end) in zip(rows.tolist(), bounds, strict=True):
            words, title = [*queries[asking[row]].token_ids], flat[start:end]
            runs = range(len(title) - len(words) + 1)
            if any(title[at : at + len(words)] == words for at in runs):
                shares[row] = len(words) / len(title)
    return shares


def _matches(
    queries: Sequence[Sequence[int]], texts: TokenColumn
) -> tuple[int, Ids, Ids, Ids, Ids, Ids]:
    """Number the distinct tokens of queries, ascending, and find them in texts.

    Returns how many there are; of each token of the queries its query and its number, (m,); and
    of each occurrence in the texts its place, its number, and its text's row.
    """
    asked = np.array([token for query in queries for token in query], np.int64)
    tokens = distinct(asked)
    owners = np.repeat(np.arange(len(queries)), [len(query) for query in queries])
    flat = texts.flat
    largest = max(int(flat.max(initial=0)), int(tokens.max(initial=0)))
    # Mostly a byte for each token of the vocabulary.
    number_of = np.zeros(largest + 1, np.min_scalar_type(len(tokens)))
    number_of[tokens] = np.arange(1, len(tokens) + 1)
    numbers = number_of.take(flat)
    places = np.flatnonzero(numbers)
    rows = np.searchsorted(texts.offsets, places, side="right") - 1
    codes = numbers[places].astype(np.int64) - 1
    return len(tokens), owners, tokens.searchsorted(asked), places, codes, rows
