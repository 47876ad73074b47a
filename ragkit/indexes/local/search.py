"""A batch of queries put to one local index: masks once, both kinds of candidates, exact scores.

The scores by words are those of ``BM25Scorer``: by one field, or by several counted together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from itertools import pairwise
from operator import and_
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.local.scorer import BM25Scorer, RowScores
from ragkit.indexes.local.segment import Segment
from ragkit.indexes.local.vector import EXACT, RankedRows, choose_strategy
from ragkit.indexes.protocol import (
    Candidates,
    EntryFilter,
    EntryIndex,
    IndexKind,
    IndexQuery,
    SearchStrategy,
    VectorSearch,
)
from ragkit.indexes.rows import (
    Bools,
    ChunkGroups,
    EntryRows,
    Ids,
    best_rows,
    distinct,
)
from ragkit.types import Field

if TYPE_CHECKING:
    from ragkit.indexes.local.live_rows import EntryMask, LiveRows

_FEW_REMOVED = 1000
_NOTHING: RankedRows = (np.zeros(0, np.int64), np.zeros(0, np.float32))


class LocalSearch:
    """Queries, and the rows of the segment and of the delta that they may find."""

    def __init__(
        self,
        index: EntryIndex,
        rows: LiveRows,
        scorer: BM25Scorer,
        queries: Sequence[IndexQuery],
        entry_filter: EntryFilter,
        field_weights: Mapping[Field, float],
        vector_search: VectorSearch,
    ) -> None:
        """Turn the filter into masks, which both kinds of search share."""
        self.index = index
        self._rows = rows
        self._scorer = scorer
        self._queries = queries
        self._weights = field_weights
        self._vector_search = vector_search
        given = entry_filter
        masks: list[EntryMask | None] = []
        if given.levels is not None:
            masks.append(rows.at_levels(given.levels))
        self._representing = given.representatives
        self._member_mask = _all_of(*masks, rows.representatives if self._representing else None)
        named: list[EntryMask | None] = []
        if given.document_ids is not None:
            named.append(rows.of_documents(given.document_ids))
        if given.entry_ids is not None:
            named.append(rows.of_entries(given.entry_ids))
        if given.chunk_ids is not None:
            named.append(rows.of_chunks(given.chunk_ids))
        if given.without_chunk_ids is not None:
            named.append(~rows.of_chunks(given.without_chunk_ids))
        self._among = _all_of(*named)
        self._mask = _all_of(*masks, self._among)
        self._vectors = np.zeros((len(queries), rows.base.vectors.dimensions), np.float32)
        for number, query in enumerate(queries):
            if query.vector is not None:
                self._vectors[number] = query.vector
        self._keyword_scores: dict[int, RowScores] = {}
        self._documents: dict[IndexKind, Ids] = {}

    @property
    def mask(self) -> EntryMask | None:
        """The entries that the filter lets through; ``None``: all."""
        return self._mask

    @property
    def passing(self) -> int:
        """How many entries the filter lets through."""
        mask = self._mask
        if mask is None:
            return self._rows.entries
        return int(np.count_nonzero(self._rows.live(mask.base)) + np.count_nonzero(mask.delta))

    def documents(self, kind: IndexKind) -> Ids:
        """Return the documents that the first query finds, ascending (``IndexSearch``)."""
        if kind not in self._documents:
            self._documents[kind] = self._all_documents(kind)
        return self._documents[kind]

    def _all_documents(self, kind: IndexKind) -> Ids:
        index, mask = self._rows, self._mask
        if kind is IndexKind.KEYWORD:
            if not self._queries[0].token_ids:
                return np.zeros(0, np.int64)
            base, delta = self._scores_by_row(0)
            hits = base > 0, delta > 0
            runs, mask = index.worded_runs, self._mask_of_words
        else:
            hits = index.alive, np.ones(len(index.delta), np.bool_)
            runs = index.runs
        if mask is not None:
            hits = hits[0] & mask.base, hits[1] & mask.delta
        # Over bytes: over truth values it takes twice as long.
        bytes_of = hits[0].view(np.uint8)
        starts, documents = runs.starts, runs.documents
        if len(starts):
            documents = documents[np.bitwise_or.reduceat(bytes_of, starts).view(np.bool_)]
        if runs.ascending and not len(index.delta):
            return documents
        return distinct(np.concatenate([documents, index.delta.rows.document_ids[hits[1]]]))

    def strategy(self, depth: int) -> SearchStrategy:
        """Return how vectors are searched; those in the delta are always searched exactly."""
        index, only = self._rows, self._representing
        rows = passing = index.representing_entries if only else index.vector_entries
        if self._mask is not None:
            passing = index.passing_vectors(self._mask, representing=only)
        graph = index.base.vectors.graph(representing=only)
        cells = 0 if graph is None else graph.cells
        return choose_strategy(rows, passing, depth, self._vector_search, cells=cells)

    def candidates(self, kind: IndexKind, depth: int) -> Candidates:
        """Return the best entries of each query (``IndexSearch``)."""
        index, depth = self._rows, max(depth, 0)
        ranked = self._by_vector if kind is IndexKind.VECTOR else self._by_keyword
        base, delta = ranked(depth)
        columns = _columns(index.base, index.groups[0], base)
        if not any(len(rows) for rows, _ in delta):
            # Ranked rows need no merging: their ties are by row, which is by entry id.
            return Candidates(*columns)
        added = _columns(index.delta.rows, index.groups[1], delta)
        columns = tuple(np.concatenate(both) for both in zip(columns, added, strict=True))
        numbers, entry_ids, *_others, scores = columns
        order = np.lexsort((entry_ids, -scores, numbers))
        numbers = numbers[order]
        kept = order[np.arange(len(order)) - np.searchsorted(numbers, numbers) < depth]
        return Candidates(*(column[kept] for column in columns))

    def scores(
        self, kind: IndexKind, entry_ids: Ids, queries: Ids | None = None
    ) -> NDArray[np.float32]:
        """Return exact scores, float32 (n,) (``IndexSearch``)."""
        if queries is None:
            queries = np.zeros(len(entry_ids), np.int64)
        if kind is IndexKind.VECTOR:
            return self._vector_scores(entry_ids, queries)
        scores = np.zeros(len(entry_ids), np.float32)
        located = self._rows.locate(entry_ids)
        rows, present = located[0]
        numbers, worded = self._rows.base.worded.find(rows)
        located[0] = numbers, present & worded
        bounds = np.searchsorted(queries, np.arange(len(self._queries) + 1))
        for number, (start, end) in enumerate(pairwise(bounds.tolist())):
            if start < end and self._queries[number].token_ids:
                of_query = scores[start:end]
                for (rows, present), of_rows in zip(
                    located, self._scores_by_row(number), strict=False
                ):
                    there = present[start:end]
                    of_query[there] = of_rows[rows[start:end][there]]
        return scores

    def _by_vector(self, depth: int) -> tuple[list[RankedRows], list[RankedRows]]:
        """Search both parts for every query that has a vector, one pass each."""
        index, mask, vectors = self._rows, self._mask, self._rows.base.vectors
        only, removed = self._representing, index.tombstones.rows
        allowed = None if mask is None else mask.base
        graph = vectors.graph(representing=only)
        strategy = EXACT if graph is None else self.strategy(depth)
        if len(removed) > _FEW_REMOVED or (
            len(removed) and (allowed is not None or strategy.width)
        ):
            allowed = index.alive if allowed is None else allowed & index.alive
            removed = removed[:0]
        fetch = depth + len(removed)
        base = vectors.search(self._vectors, fetch, allowed, strategy, representing=only)
        if len(removed):
            live = [index.alive[rows] for rows, _scores in base]
            base = [
                (rows[kept][:depth], scores[kept][:depth])
                for (rows, scores), kept in zip(base, live, strict=True)
            ]
        if not index.has_changes:
            return base, [_NOTHING] * len(base)
        allowed = None if mask is None else mask.delta
        return base, index.delta.vectors.search(self._vectors, depth, allowed, representing=only)

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
            if (mask := self._mask_of_words) is not None:
                scores, added = scores * mask.base, added * mask.delta
            rows, new = best_rows(scores, depth), best_rows(added, depth)
            base.append((self._rows.base.worded.named(rows), scores[rows]))
            delta.append((new, added[new]))
        return base, delta

    @cached_property
    def _mask_of_words(self) -> EntryMask | None:
        """What the filter lets through of the rows that have words, and of the delta."""
        if self._mask is None:
            return None
        return replace(self._mask, base=self._rows.base.worded.of(self._mask.base))

    def _scores_by_row(self, number: int) -> RowScores:
        """Return the BM25 scores of all rows for a query; computed once."""
        if number not in self._keyword_scores:
            counted = self._queries[number].counted
            scores = self._scorer.scores(counted, self._weights, self._among)
            self._keyword_scores[number] = scores
        return self._keyword_scores[number]

    def _vector_scores(self, entry_ids: Ids, queries: Ids) -> NDArray[np.float32]:
        """Return for each entry the best score of the entries of its chunk."""
        index, mask = self._rows, self._member_mask
        # Looked up for the members alone: masks of all rows are long.
        masks: tuple[list[Bools], list[Bools]] = ([], [])
        if mask is not None:
            masks = [mask.base], [mask.delta]
        if len(index.tombstones.rows):
            masks[0].append(index.alive)
        best = np.full(len(entry_ids), -np.inf, np.float32)
        for (rows, present), group, vectors, of_part in zip(
            index.locate(entry_ids),
            index.groups,
            (index.base.vectors, index.delta.vectors),
            masks,
            strict=False,
        ):
            places = np.flatnonzero(present)
            if not len(places):
                continue
            members, owners = group.members(rows[places])
            for may_score in of_part:
                kept = may_score[members]
                members, owners = members[kept], owners[kept]
            places = places[owners]
            scores = vectors.scores_of(
                self._vectors, queries[places], members, representing=self._representing
            )
            np.maximum.at(best, places, scores)
        return np.where(np.isneginf(best), np.float32(0.0), best)


def _all_of(*masks: EntryMask | None) -> EntryMask | None:
    """Return what all masks let through; ``None``: everything."""
    return reduce(and_, given) if (given := [mask for mask in masks if mask is not None]) else None


def _columns(
    part: Segment | EntryRows, groups: ChunkGroups, ranked: Sequence[RankedRows]
) -> tuple[NDArray[Any], ...]:
    """Return the columns of ``Candidates`` for the ranked rows of all queries."""
    rows = np.concatenate([_NOTHING[0], *(rows for rows, _ in ranked)])
    scores = np.concatenate([_NOTHING[1], *(scores for _, scores in ranked)])
    return (
        np.repeat(np.arange(len(ranked)), np.array([len(rows) for rows, _ in ranked], np.int64)),
        part.entry_ids[rows],
        part.document_ids[rows],
        part.entry_ids[groups.parents(rows)],
        part.chunk_indexes[rows],
        part.levels[rows],
        scores,
    )
