"""A batch of queries put to one local index: masks once, both kinds of candidates, exact scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import pairwise
from operator import and_
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.local.parts import EntryMask, IndexParts, Segment
from ragkit.indexes.local.scorer import BM25Scorer, RowScores
from ragkit.indexes.local.vector import RankedRows, choose_strategy
from ragkit.indexes.protocol import (
    Candidates,
    EntryFilter,
    IndexKind,
    IndexQuery,
    SearchStrategy,
    VectorSearch,
)
from ragkit.indexes.rows import Bools, ChunkGroups, EntryRows, Ids, best_rows
from ragkit.types import Field

if TYPE_CHECKING:
    from ragkit.indexes.local.collection import CollectionIndex

_FEW_REMOVED = 1000
_EXACT = SearchStrategy(0, "exact")
_NOTHING: RankedRows = (np.zeros(0, np.int64), np.zeros(0, np.float32))


class LocalSearch:
    """Queries, and the rows of the segment and of the delta that they may find."""

    def __init__(
        self,
        index: CollectionIndex,
        scorer: BM25Scorer,
        queries: Sequence[IndexQuery],
        entry_filter: EntryFilter,
        field_weights: Mapping[Field, float],
        vector_search: VectorSearch,
    ) -> None:
        """Turn the filter into masks, which both kinds of search share."""
        self.index = index
        self._parts: IndexParts = index.parts
        self._scorer = scorer
        self._queries = queries
        self._weights = field_weights
        self._vector_search = vector_search
        parts = self._parts
        levels = parts.at_levels(entry_filter.levels)
        documents = parts.of_documents(entry_filter.document_ids)
        ids = parts.with_ids(entry_filter.entry_ids)
        representatives = parts.representatives if entry_filter.representatives else None
        self._mask = _both(levels, documents, ids)
        self._vector_mask = _both(self._mask, representatives)
        self._member_mask = _both(levels, representatives)
        self._vectors = np.zeros((len(queries), parts.base.vectors.dimensions), np.float32)
        for number, query in enumerate(queries):
            if query.vector is not None:
                self._vectors[number] = query.vector
        self._keyword_scores: dict[int, RowScores] = {}

    @property
    def passing(self) -> int:
        """How many entries the filter lets through."""
        if self._mask is None:
            return self._parts.entries
        return int(np.count_nonzero(self._live(self._mask))) + int(
            np.count_nonzero(self._mask.delta)
        )

    def strategy(self, depth: int) -> SearchStrategy:
        """Return how vectors are searched; those in the delta are always searched exactly."""
        parts, mask = self._parts, self._vector_mask
        rows = passing = parts.vectors
        if mask is not None:
            base = parts.base.vectors.count(self._live(mask))
            passing = base + parts.delta.vectors.count(mask.delta)
        has_graph = parts.base.vectors.has_graph
        return choose_strategy(rows, passing, depth, self._vector_search, has_graph=has_graph)

    def candidates(self, kind: IndexKind, depth: int) -> Candidates:
        """Return the best entries of each query (``IndexSearch``)."""
        depth = max(depth, 0)
        ranked = self._by_vector if kind is IndexKind.VECTOR else self._by_keyword
        return self._merged(*ranked(depth), depth)

    def scores(
        self, kind: IndexKind, entry_ids: Ids, bounds: Ids | None = None
    ) -> NDArray[np.float32]:
        """Return exact scores, float32 (n,) (``IndexSearch``)."""
        if bounds is None:
            bounds = np.array([0, len(entry_ids)])
        if kind is IndexKind.VECTOR:
            return self._vector_scores(entry_ids, bounds)
        scores = np.zeros(len(entry_ids), np.float32)
        located = self._parts.locate(entry_ids)
        for number, (start, end) in enumerate(pairwise(bounds.tolist())):
            if start < end and self._queries[number].token_ids:
                of_query = scores[start:end]
                for (rows, present), of_rows in zip(
                    located, self._scores_by_row(number), strict=True
                ):
                    there = present[start:end]
                    of_query[there] = of_rows[rows[start:end][there]]
        return scores

    def _by_vector(self, depth: int) -> tuple[list[RankedRows], list[RankedRows]]:
        """Search both parts for every query that has a vector, one pass each."""
        parts, mask = self._parts, self._vector_mask
        removed = parts.tombstones.rows
        allowed = None if mask is None else mask.base
        strategy = self.strategy(depth) if parts.base.vectors.has_graph else _EXACT
        if len(removed) > _FEW_REMOVED or (
            len(removed) and (allowed is not None or strategy.width)
        ):
            allowed = parts.alive if allowed is None else allowed & parts.alive
            removed = removed[:0]
        base = parts.base.vectors.search(self._vectors, depth + len(removed), allowed, strategy)
        if len(removed):
            live = [parts.alive[rows] for rows, _scores in base]
            base = [
                (rows[kept][:depth], scores[kept][:depth])
                for (rows, scores), kept in zip(base, live, strict=True)
            ]
        if not parts.has_changes:
            return base, [_NOTHING] * len(base)
        allowed = None if mask is None else mask.delta
        return base, parts.delta.vectors.search(self._vectors, depth, allowed)

    def _by_keyword(self, depth: int) -> tuple[list[RankedRows], list[RankedRows]]:
        """Rank the rows of both parts by the scores of every query that has tokens."""
        base: list[RankedRows] = []
        delta: list[RankedRows] = []
        for number, query in enumerate(self._queries):
            if not query.token_ids:
                base.append(_NOTHING)
                delta.append(_NOTHING)
                continue
            scores, added = self._scores_by_row(number)
            if self._mask is not None:
                scores, added = scores * self._mask.base, added * self._mask.delta
            rows, new = best_rows(scores, depth), best_rows(added, depth)
            base.append((rows, scores[rows]))
            delta.append((new, added[new]))
        return base, delta

    def _scores_by_row(self, number: int) -> RowScores:
        """Return the BM25 scores of all rows for a query; computed once."""
        if number not in self._keyword_scores:
            tokens = self._queries[number].token_ids
            self._keyword_scores[number] = self._scorer.scores(tokens, self._weights)
        return self._keyword_scores[number]

    def _vector_scores(self, entry_ids: Ids, bounds: Ids) -> NDArray[np.float32]:
        """Return for each entry the best score of the entries of its chunk."""
        parts = self._parts
        best = np.full(len(entry_ids), -np.inf, np.float32)
        numbers = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        for (rows, present), group, index, allowed in zip(
            parts.locate(entry_ids),
            parts.groups,
            (parts.base.vectors, parts.delta.vectors),
            self._members_allowed(),
            strict=True,
        ):
            places = np.flatnonzero(present)
            if not len(places):
                continue
            members, owners = group.members(rows[places])
            if allowed is not None:
                kept = allowed[members]
                members, owners = members[kept], owners[kept]
            places = places[owners]
            scores = index.scores_of(self._vectors, numbers[places], members)
            np.maximum.at(best, places, scores)
        return np.where(np.isneginf(best), np.float32(0.0), best)

    def _members_allowed(self) -> tuple[Bools | None, Bools | None]:
        """Return which rows of both parts may give a chunk its score."""
        if self._member_mask is None:
            return (self._parts.alive if len(self._parts.tombstones.rows) else None), None
        return self._live(self._member_mask), self._member_mask.delta

    def _live(self, mask: EntryMask) -> Bools:
        """Return the mask of the segment's rows without the removed ones."""
        parts = self._parts
        return mask.base & parts.alive if len(parts.tombstones.rows) else mask.base

    def _merged(
        self, base: Sequence[RankedRows], delta: Sequence[RankedRows], depth: int
    ) -> Candidates:
        """Merge the ranked rows of both parts, query by query, into columns of entries."""
        parts = self._parts
        columns = _columns(parts.base, parts.groups[0], base)
        bounds = np.cumsum([0, *(len(rows) for rows, _ in base)])
        if not any(len(rows) for rows, _ in delta):
            # Ranked rows need no merging: their ties are by row, which is by entry id.
            return Candidates(bounds, *columns)
        added = _columns(parts.delta.rows, parts.groups[1], delta)
        columns = tuple(np.concatenate(both) for both in zip(columns, added, strict=True))
        numbers = np.concatenate(
            [
                np.repeat(np.arange(len(part)), [len(rows) for rows, _ in part])
                for part in (base, delta)
            ]
        )
        order = np.lexsort((columns[0], -columns[-1], numbers))
        numbers = numbers[order]
        kept = np.arange(len(order)) - np.searchsorted(numbers, numbers) < depth
        bounds = np.searchsorted(numbers[kept], np.arange(len(base) + 1))
        return Candidates(bounds, *(column[order[kept]] for column in columns))


def _both(*masks: EntryMask | None) -> EntryMask | None:
    """Return what all masks let through; ``None``: everything."""
    return reduce(and_, given) if (given := [mask for mask in masks if mask is not None]) else None


def _columns(
    part: Segment | EntryRows, groups: ChunkGroups, ranked: Sequence[RankedRows]
) -> tuple[NDArray[Any], ...]:
    """Return the columns of ``Candidates`` for the ranked rows of all queries."""
    ranked = ranked or [_NOTHING]
    rows = np.concatenate([rows for rows, _ in ranked]) if len(ranked) > 1 else ranked[0][0]
    scores = np.concatenate([scores for _, scores in ranked]) if len(ranked) > 1 else ranked[0][1]
    return (
        part.entry_ids[rows],
        part.document_ids[rows],
        part.entry_ids[groups.parents(rows)],
        part.chunk_indexes[rows],
        part.levels[rows],
        scores,
    )
