"""Hits, and rankings: candidates in columns, with the parts of their scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.protocol import IndexKind, IndexSearch
from ragkit.indexes.rows import Ids
from ragkit.options import QuestionMerge
from ragkit.results import Contribution, Later
from ragkit.retrieval.candidates import content_keys, exact_scores
from ragkit.retrieval.proximity import Scores
from ragkit.types import LEVEL_CODES, Level

# A chunk that is found by its context is found as itself.
_LEVELS = {code: level for level, code in LEVEL_CODES.items()} | {
    LEVEL_CODES[Level.CONTEXT]: Level.CHUNK
}


# Not frozen: a search makes a hundred, and frozen ones take three times as long to make.
@dataclass(slots=True)
class Hit:
    """An entry with its joint score, from 0 to 1: the sum of its contributions' values.

    ``grade`` is what a reranker gave it, from 0 to 10. ``content_key`` is equal for texts that
    people take for the same, and 0 where that is not known. ``cosine`` is that with the query,
    from 0 to 1, and 0 where no vectors were compared.
    """

    entry_id: int
    document_id: int
    chunk_index: int
    level: Level
    score: float
    contributions: Sequence[Contribution]
    grade: float | None = None
    content_key: int = 0
    cosine: float = 0.0


@dataclass(frozen=True, slots=True)
class Part:
    """What one index, or one comparison of query and chunk, adds to every score; columns (n,).

    ``weights`` (q,) has one number a query. ``ranks`` count from 1 in that index's own list; 0
    where the entry is not in it.
    """

    index: str
    weights: Scores
    ranks: Ids
    raw: Scores
    normalised: Scores

    def contribution(self, query: int, row: int) -> Contribution:
        """Return what this part contributes to the score of a row."""
        weight, normalised = self.weights.item(query), self.normalised.item(row)
        rank, raw = self.ranks.item(row), self.raw.item(row)
        return Contribution(self.index, rank, raw, normalised, weight, weight * normalised)


@dataclass(frozen=True)
class Ranking:
    """The candidates of a batch of ``count`` queries, with the parts of their scores.

    Rows are ordered by their query's number, in ``queries`` (n,), and by entry id; ``levels`` holds
    level codes. ``places`` (n,) order documents whose scores tie (``with_places``).
    """

    count: int
    queries: Ids
    entry_ids: Ids
    document_ids: Ids
    chunk_indexes: NDArray[Any]
    levels: NDArray[Any]
    parts: tuple[Part, ...]
    places: Ids | None = None

    def part(self, kind: IndexKind) -> Part | None:
        """Return the part of a kind of index; ``None`` if it was not searched or has no weight."""
        return next((part for part in self.parts if part.index == kind), None)

    @cached_property
    def scores(self) -> Scores:
        """The sum of the parts, added up in their order, (n,)."""
        total = np.zeros(len(self.entry_ids))
        for part in self.parts:
            # One query, the usual case, has one weight for all rows.
            weights = part.weights if self.count == 1 else part.weights[self.queries]
            total += weights * part.normalised
        return total

    @cached_property
    def order(self) -> Ids:
        """The rows, query by query, best first; ties go by ``places``, then to the smaller id."""
        if self.places is not None:
            keys = (self.entry_ids, self.chunk_indexes, self.places, -self.scores, self.queries)
            return np.lexsort(keys)
        if self.count == 1:
            # Rows are ordered by entry id already.
            return np.argsort(-self.scores, kind="stable")
        return np.lexsort((self.entry_ids, -self.scores, self.queries))

    def cosines(self, rows: Ids, searches: Sequence[IndexSearch], merge: QuestionMerge) -> Scores:
        """Return the cosines of rows (n,) of ascending queries, from 0 to 1; 0 without a vector.

        By ranks, with no weight on vectors or by sums of vectors, not all were compared before.
        """
        cosines = np.zeros(len(rows))
        compared = self.part(IndexKind.VECTOR)
        if compared and merge is not QuestionMerge.SUM:
            cosines = compared.raw[rows]
        missing = np.flatnonzero(cosines == 0.0)
        if len(missing):
            entries, queries = self.entry_ids[rows[missing]], self.queries[rows[missing]]
            cosines[missing] = exact_scores(searches, IndexKind.VECTOR, entries, queries)
        return np.clip(cosines, 0.0, 1.0)

    def hits(
        self,
        most: int | None = None,
        searches: Sequence[IndexSearch] = (),
        merge: QuestionMerge | None = None,
    ) -> list[list[Hit]]:
        """Return each query's best entries; contributions are computed when they are looked at.

        ``searches`` found them; they name texts (``Hit.content_key``) and, if vectors were merged
        by ``merge``, compare these (``Hit.cosine``).
        """
        bounds = np.searchsorted(self.queries, np.arange(self.count + 1))
        hits = []
        for query, (start, end) in enumerate(pairwise(bounds.tolist())):
            rows = self.order[start:end][:most]
            parts_of = partial(_contributions, self.parts, query)
            columns = zip(
                rows.tolist(),
                self.entry_ids[rows].tolist(),
                self.document_ids[rows].tolist(),
                self.chunk_indexes[rows].tolist(),
                self.levels[rows].tolist(),
                self.scores[rows].tolist(),
                content_keys(searches, self.entry_ids[rows]).tolist(),
                (self.cosines(rows, searches, merge) if merge else np.zeros(len(rows))).tolist(),
                strict=True,
            )
            hits.append([
                Hit(
                    entry, document, chunk, _LEVELS[level], score,
                    Later(partial(parts_of, row)), None, key, cosine,
                )
                for row, entry, document, chunk, level, score, key, cosine in columns
            ])  # fmt: skip
        return hits


def with_part(
    ranking: Ranking, name: str, raw: Scores, normalised: Scores, weight: float | Scores
) -> Ranking:
    """Add a part that no index ranks; all weights are divided by their sum, which was 1.

    ``weight`` is that of all queries, or has one for each, (q,).
    """
    share = 1 / (1 + weight)
    old = ranking.parts
    scaled = (Part(p.index, p.weights * share, p.ranks, p.raw, p.normalised) for p in old)
    own = np.full(ranking.count, weight / (1 + weight))
    part = Part(name, own, np.zeros(len(raw), np.int64), raw, normalised)
    return replace(ranking, parts=(*scaled, part))


def with_part_of_some(
    ranking: Ranking, name: str, raw: Scores, normalised: Scores, weight: float
) -> Ranking:
    """Add a part that only some queries have, which leaves the scores of the others as they are."""
    if not normalised.any():
        return ranking
    weights = np.zeros(ranking.count)
    weights[ranking.queries[normalised > 0.0]] = weight
    return with_part(ranking, name, raw, normalised, weights)


def _contributions(parts: Sequence[Part], query: int, row: int) -> tuple[Contribution, ...]:
    """Return the contributions to a row's score, without those that are 0 and unranked."""
    contributions = [part.contribution(query, row) for part in parts]
    return tuple(part for part in contributions if part.value != 0.0 or part.rank)
