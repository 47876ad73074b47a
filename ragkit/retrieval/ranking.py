"""Ranking: what the indexes found becomes one list, and every score explains itself.

Everything here is a function of columns over a batch of queries; one query is a batch of one, and
gets the same scores to the last bit in any batch. Each step that adds a part shrinks the others
by the same factor, so that scores stay between 0 and 1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.protocol import IndexQuery, IndexSearch
from ragkit.options import Fusion, SearchOptions
from ragkit.results import Contribution, Later
from ragkit.retrieval.candidates import shares_in
from ragkit.retrieval.multi_vector import IndexList
from ragkit.retrieval.proximity import Scores, phrase_shares, title_shares
from ragkit.types import LEVEL_CODES, Field, Level

IDENTIFIER_SHARE = 0.4
"""What is left of the vectors' weight when a query holds an identifier."""

TITLE_FLOOR = 0.2
"""From which share of a query on a title that holds it counts in full."""

_LEVELS = {code: level for level, code in LEVEL_CODES.items()}
_IDENTIFIER = re.compile(r"[a-z0-9][A-Z]|\w_\w|[A-Za-z]\d|\d[A-Za-z]|\w\.\w|::")


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry with its joint score, from 0 to 1: the sum of its contributions' values.

    ``grade`` is what a reranker gave it, from 0 to 10.
    """

    entry_id: int
    document_id: int
    chunk_index: int
    level: Level
    score: float
    contributions: Sequence[Contribution]
    grade: float | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """What one index, or one comparison of query and chunk, adds to every score; columns (n,).

    ``weights`` (q,) has one number a query. ``ranks`` count from 1 in that index's own list; 0
    where the entry is not in it.
    """

    index: str
    weights: Scores
    ranks: NDArray[np.int64]
    raw: Scores
    normalised: Scores

    def contribution(self, query: int, row: int) -> Contribution:
        """Return the part of one row's score."""
        weight, normalised = float(self.weights[query]), float(self.normalised[row])
        rank, raw = int(self.ranks[row]), float(self.raw[row])
        return Contribution(self.index, rank, raw, normalised, weight, weight * normalised)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The candidates of a batch of queries, by query and entry id, with the parts of their scores.

    The rows of query ``i`` are ``bounds[i]:bounds[i + 1]``; ``levels`` holds level codes.
    """

    bounds: NDArray[np.int64]
    entry_ids: NDArray[np.int64]
    document_ids: NDArray[np.int64]
    chunk_indexes: NDArray[Any]
    levels: NDArray[Any]
    parts: tuple[Part, ...]

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.entry_ids)

    @property
    def queries(self) -> NDArray[np.int64]:
        """The number of each row's query, (n,)."""
        return np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))

    @property
    def scores(self) -> Scores:
        """The sum of the parts, added up in their order, (n,)."""
        queries, total = self.queries, np.zeros(len(self))
        for part in self.parts:
            total = total + part.weights[queries] * part.normalised
        return total

    @property
    def order(self) -> NDArray[np.int64]:
        """The rows, query by query, best first; ties go to the smaller entry id."""
        return np.lexsort((self.entry_ids, -self.scores, self.queries))

    def top(self, most: int) -> NDArray[np.int64]:
        """Return the rows of each query's best entries, in their order."""
        place = np.arange(len(self)) - np.repeat(self.bounds[:-1], np.diff(self.bounds))
        return self.order[place < most]

    def hits(self, most: int | None = None) -> list[list[Hit]]:
        """Return each query's best entries; contributions are computed when they are looked at."""
        order, scores = self.order, self.scores
        return [
            self._hits(query, order[start:end][:most], scores)
            for query, (start, end) in enumerate(pairwise(self.bounds.tolist()))
        ]

    def _hits(self, query: int, rows: NDArray[np.int64], scores: Scores) -> list[Hit]:
        parts = self.parts

        def later(row: int) -> Later[Contribution]:
            return Later(lambda: _contributions(parts, query, row))

        return [
            Hit(entry_id, document_id, chunk, _LEVELS[level], score, later(row))
            for row, entry_id, document_id, chunk, level, score in zip(
                rows.tolist(),
                self.entry_ids[rows].tolist(),
                self.document_ids[rows].tolist(),
                self.chunk_indexes[rows].tolist(),
                self.levels[rows].tolist(),
                scores[rows].tolist(),
                strict=True,
            )
        ]


def _contributions(parts: Sequence[Part], query: int, row: int) -> tuple[Contribution, ...]:
    """Return the parts of one row's score; those that add nothing are not named."""
    contributions = [part.contribution(query, row) for part in parts]
    return tuple(one for one in contributions if one.value != 0.0 or one.rank)


def rank(
    lists: Sequence[Sequence[IndexList]],
    searches: Sequence[IndexSearch],
    queries: Sequence[IndexQuery],
    options: SearchOptions,
    level: Level,
) -> Ranking:
    """Join what the indexes found for each query of a batch.

    ``lists[i]`` are the lists of query ``i``, of the same indexes in the same order for all. When
    two are joined by weights, each scores every candidate exactly, and titles, neighbouring words
    and the rest of the document count too.
    """
    complete = bool(lists) and len(lists[0]) > 1 and options.fusion is Fusion.WEIGHTED
    ranking = fuse(lists, options.fusion, options.rrf_k, complete=complete)
    if not complete:
        return ranking
    if level is Level.CHUNK and options.title_weight > 0:
        shares = shares_in(
            title_shares, Field.TITLE, searches, queries, ranking.entry_ids, ranking.bounds
        )
        ranking = with_titles(ranking, shares, options.title_weight)
    if level is Level.CHUNK and options.phrase_weight > 0:
        rows = ranking.top(max(options.candidates // 2, 1))
        for part in ranking.parts:
            if part.index == "keyword":
                # Where no word of the query stands, no two do.
                rows = rows[part.raw[rows] > 0.0]
        bounds = np.searchsorted(ranking.queries[rows], np.arange(len(queries) + 1))
        shares = shares_in(
            phrase_shares, Field.TEXT, searches, queries, ranking.entry_ids[rows], bounds
        )
        ranking = with_phrases(ranking, rows, shares, options.phrase_weight)
    return with_documents(ranking, options.document_weight)


def fuse(
    lists: Sequence[Sequence[IndexList]], fusion: Fusion, rrf_k: int, *, complete: bool = False
) -> Ranking:
    """Join the lists of each query of a batch into one.

    Weights are shares of a query's lists; a list of weight 0 is left out, and if all are 0 they
    count the same. By reciprocal rank, being first everywhere gives 1; by weighted scores, being
    best everywhere does. ``complete`` has each index score the entries that only others found;
    without it they get nothing from that index.
    """
    weights = np.array([weight_shares(of_query) for of_query in lists]).reshape(len(lists), -1)
    used = [
        (at, [(number, lists[number][at]) for number in np.flatnonzero(column > 0.0).tolist()])
        for at, column in enumerate(weights.T)
        if bool(np.any(column > 0.0))
    ]
    highest = [int(one.entry_ids.max(initial=0)) for _at, found in used for _number, one in found]
    width = 1 + max(highest, default=0)
    keyed = [
        np.concatenate([one.entry_ids + number * width for number, one in found])
        for _at, found in used
    ]
    keys = np.unique(np.concatenate([np.zeros(0, np.int64), *keyed]))
    queries, entry_ids = np.divmod(keys, width)
    bounds = np.searchsorted(queries, np.arange(len(lists) + 1))
    documents, chunks, levels = np.zeros((3, len(keys)), np.int64)
    parts = []
    for (at, found), keys_found in zip(used, keyed, strict=True):
        # Backwards, so that of an entry that stands twice in a list the first place counts.
        rows = np.searchsorted(keys, keys_found)[::-1]
        documents[rows] = np.concatenate([one.document_ids for _, one in found])[::-1]
        chunks[rows] = np.concatenate([one.chunk_indexes for _, one in found])[::-1]
        levels[rows] = np.concatenate([one.levels for _, one in found])[::-1]
        ranks = np.zeros(len(keys), np.int64)
        ranks[rows] = np.concatenate([np.arange(1, len(one) + 1) for _, one in found])[::-1]
        raw = np.zeros(len(keys))
        raw[rows] = np.concatenate([one.raw for _, one in found])[::-1]
        for number, one in found if complete else ():
            start, end = bounds[number], bounds[number + 1]
            missing = start + np.flatnonzero(ranks[start:end] == 0)
            if one.exact is not None and len(missing):
                raw[missing] = one.exact(entry_ids[missing])
        if fusion is Fusion.RRF:
            normalised = np.where(ranks > 0, (rrf_k + 1) / (rrf_k + ranks), 0.0)
        elif found[0][1].cosines:
            normalised = np.clip(raw, 0.0, 1.0)
        else:
            normalised = shares_of_best(raw, bounds)
        parts.append(Part(found[0][1].name, weights[:, at], ranks, raw, normalised))
    return Ranking(bounds, entry_ids, documents, chunks, levels, tuple(parts))


def weight_shares(lists: Sequence[IndexList]) -> list[float]:
    """Scale the weights of a query's lists so that they add up to 1."""
    weights = [max(one.weight, 0.0) for one in lists]
    total = sum(weights)
    if total <= 0.0:
        return [1.0 / len(lists) for _ in lists]
    return [weight / total for weight in weights]


def shares_of_best(raw: Scores, bounds: NDArray[np.int64], least: float = 0.0) -> Scores:
    """Divide each score by the best of its query, or by ``least`` if that is more."""
    queries = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    best = np.full(len(bounds) - 1, least)
    np.maximum.at(best, queries, raw)
    shares: Scores = np.maximum(raw, 0.0) / np.where(best > 0.0, best, 1.0)[queries]
    return shares


def with_titles(ranking: Ranking, raw: Scores, weight: float) -> Ranking:
    """Add how much of its query stands in each entry's title and headings, (n,)."""
    shares = shares_of_best(raw, ranking.bounds, TITLE_FLOOR)
    return _with_part(ranking, "title", raw, shares, weight)


def with_phrases(
    ranking: Ranking, rows: NDArray[np.int64], shares: Scores, weight: float
) -> Ranking:
    """Add the share of its query's phrases that each of some rows holds."""
    column = np.zeros(len(ranking))
    column[rows] = shares
    return _with_part(ranking, "phrase", column, column, weight)


def with_documents(ranking: Ranking, weight: float) -> Ranking:
    """Add the score of the best entry of the same document; one alone keeps its own score."""
    if weight <= 0 or not len(ranking):
        return ranking
    wide = ranking.queries * (int(ranking.document_ids.max()) + 1) + ranking.document_ids
    _documents, group = np.unique(wide, return_inverse=True)
    group = group.reshape(-1)
    best = np.zeros(int(group.max()) + 1)
    np.maximum.at(best, group, ranking.scores)
    return _with_part(ranking, "document", best[group], best[group], weight)


def _with_part(
    ranking: Ranking, name: str, raw: Scores, normalised: Scores, weight: float
) -> Ranking:
    """Add a part that no index ranks; all weights are divided by their sum, which was 1."""
    if weight <= 0:
        return ranking
    scaled = tuple(
        replace(part, weights=part.weights * (1 / (1 + weight))) for part in ranking.parts
    )
    own = np.full(len(ranking.bounds) - 1, weight / (1 + weight))
    part = Part(name, own, np.zeros(len(ranking), np.int64), raw, normalised)
    return replace(ranking, parts=(*scaled, part))


def holds_identifier(query: str) -> bool:
    """Return whether a query has ``snake_case``, ``camelCase``, ``os.path``, ``utf8`` or so."""
    return _IDENTIFIER.search(query) is not None


def index_weights(query: str, options: SearchOptions) -> tuple[float, float]:
    """Return the weights of vectors and keywords for a query.

    Static vectors know little of identifiers: where there is one, ``IDENTIFIER_SHARE`` of their
    weight stays and keywords get the rest, unless one index is switched off.
    """
    vector, keyword = options.vector_weight, options.keyword_weight
    if not options.adaptive or vector <= 0 or keyword <= 0 or not holds_identifier(query):
        return vector, keyword
    left = vector * IDENTIFIER_SHARE
    return left, keyword + vector - left
