"""Many questions ranked together: what ``rank`` does for each, in columns over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.options import Contexts, Fusion, QuestionMerge, SearchOptions
from ragkit.retrieval.candidates import Asked, Scope, rank, shares_in
from ragkit.retrieval.fusion import (
    Fused,
    IndexList,
    Part,
    Scores,
    cosine,
    shares_of,
    shares_of_best,
)
from ragkit.retrieval.proximity import phrase_shares, title_shares
from ragkit.retrieval.ranking import (
    TITLE_FLOOR,
    phrase_top,
    with_documents,
    with_phrases,
    with_titles,
)
from ragkit.types import Field, Level

_FEW = 4
_NAMES = ("vector", "keyword")


def rank_all(
    lists: Sequence[Sequence[IndexList]],
    scopes: Sequence[Scope],
    asked: Sequence[Asked],
    options: SearchOptions,
    level: Level,
) -> list[Fused]:
    """Join what the indexes found for each question, as ``rank`` does.

    Where each chunk has one vector, all are joined in one go; the scores can differ in how a
    float is rounded.
    """
    if not _plain(lists, scopes, asked, options):
        return [
            rank(of_one, scopes, question, options, level)
            for of_one, question in zip(lists, asked, strict=True)
        ]
    numbers, keys, width = _keys(lists)
    bounds = np.searchsorted(numbers, np.arange(len(lists) + 1))
    weights = np.array([shares_of(of_one) for of_one in lists])
    columns = [np.zeros(len(keys), np.int64) for _ in range(3)]
    parts = []
    for at, name in enumerate(_NAMES):
        found = [of_one[at] for of_one in lists]
        places = np.searchsorted(keys, _keyed(found, width))
        for column, values in zip(columns, _columns(found), strict=True):
            column[places] = values
        ranks = np.zeros(len(keys), np.int64)
        ranks[places] = np.concatenate([np.arange(1, len(one) + 1) for one in found])
        raw = np.zeros(len(keys))
        raw[places] = np.concatenate([one.raw for one in found])
        lacking = np.flatnonzero(ranks == 0)
        raw[lacking] = _exact(name, found, scopes, asked, numbers[lacking], keys[lacking] % width)
        normalised = cosine(raw) if name == "vector" else shares_of_best(raw, numbers, len(lists))
        parts.append(Part(name, weights[numbers, at], ranks, raw, normalised))
    documents, chunks, levels = columns
    wide = numbers * (int(documents.max(initial=0)) + 1) + documents
    whole = Fused(keys, wide, chunks, levels, tuple(parts))
    if level is Level.CHUNK and options.title_weight > 0:
        titled = shares_in(title_shares, Field.TITLE, scopes, asked, keys % width, bounds)
        shares = shares_of_best(titled, numbers, len(lists), TITLE_FLOOR)
        whole = with_titles(whole, titled, shares, options.title_weight)
    if level is Level.CHUNK and options.phrase_weight > 0:
        order = np.lexsort((keys, -whole.scores, numbers))
        place = np.arange(len(keys)) - np.searchsorted(numbers, numbers)
        top = order[(place < phrase_top(options)) & (parts[1].raw[order] > 0.0)]
        of_top = np.searchsorted(numbers[top], np.arange(len(lists) + 1))
        shares = shares_in(phrase_shares, Field.TEXT, scopes, asked, keys[top] % width, of_top)
        whole = with_phrases(whole, top, shares, options.phrase_weight)
    whole = with_documents(whole, options.document_weight)
    whole = replace(whole, entry_ids=keys % width, document_ids=documents)
    return [_cut(whole, start, end) for start, end in pairwise(bounds.tolist())]


def _plain(
    lists: Sequence[Sequence[IndexList]],
    scopes: Sequence[Scope],
    asked: Sequence[Asked],
    options: SearchOptions,
) -> bool:
    """Tell whether the questions can be ranked in one go."""
    return (
        len(lists) >= _FEW
        and all(tuple(one.name for one in of_one) == _NAMES for of_one in lists)
        and all(min(shares_of(of_one)) > 0 for of_one in lists)
        and all(one.vector is not None for one in asked)
        and options.fusion is Fusion.WEIGHTED
        and options.question_merge is not QuestionMerge.SUM
        and all(
            one.contexts is Contexts.STRUCTURAL or one.index.entries_per_chunk == 1.0
            for one in scopes
        )
    )


def _keys(
    lists: Sequence[Sequence[IndexList]],
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """The question's number and the key of everything found, ascending, and what a key is.

    A key is the question's number times the width, plus the entry's id.
    """
    width = 1 + max(int(one.entry_ids.max(initial=0)) for of_one in lists for one in of_one)
    keys = np.unique(
        np.concatenate([_keyed([of_one[at] for of_one in lists], width) for at in (0, 1)])
    )
    return keys // width, keys, width


def _keyed(found: Sequence[IndexList], width: int) -> NDArray[np.int64]:
    return np.concatenate([one.entry_ids + number * width for number, one in enumerate(found)])


def _columns(found: Sequence[IndexList]) -> tuple[NDArray[Any], ...]:
    return (
        np.concatenate([one.document_ids for one in found]),
        np.concatenate([one.chunk_indexes for one in found]),
        np.concatenate([one.levels for one in found]),
    )


def _exact(
    name: str,
    found: Sequence[IndexList],
    scopes: Sequence[Scope],
    asked: Sequence[Asked],
    numbers: NDArray[np.int64],
    entry_ids: NDArray[np.int64],
) -> Scores:
    """What an index says of entries, each asked by the question of that number, ascending."""
    scores = np.zeros(len(entry_ids))
    if name == "vector":
        vectors = np.stack([one.vector for one in asked if one.vector is not None])[numbers]
        for scope in scopes:
            scores += scope.index.vector_scores_of(vectors, entry_ids)
        return scores
    bounds = np.searchsorted(numbers, np.arange(len(found) + 1)).tolist()
    for one, (start, end) in zip(found, pairwise(bounds), strict=True):
        if one.exact is not None and start < end:
            scores[start:end] = one.exact(entry_ids[start:end])
    return scores


def _cut(whole: Fused, start: int, end: int) -> Fused:
    """The entries from one to another, which are those of one question."""
    return Fused(
        whole.entry_ids[start:end],
        whole.document_ids[start:end],
        whole.chunk_indexes[start:end],
        whole.levels[start:end],
        tuple(_part(one, start, end) for one in whole.parts),
    )


def _part(whole: Part, start: int, end: int) -> Part:
    weight = whole.weight
    if isinstance(weight, np.ndarray):
        weight = float(weight[start]) if start < end else 0.0
    return Part(
        whole.index,
        weight,
        whole.ranks[start:end],
        whole.raw[start:end],
        whole.normalised[start:end],
    )
