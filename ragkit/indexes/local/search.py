"""A batch of queries put to one local index: masks once, both kinds of candidates, exact scores.

The scores by words are those of ``BM25Scorer``: by one field, or by several counted together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property, reduce
from itertools import pairwise
from operator import and_
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.local.keyword import Bm25Parameters, Totals
from ragkit.indexes.local.segment import Segment
from ragkit.indexes.local.vector import RankedRows, choose_strategy
from ragkit.indexes.protocol import (
    WHOLE_COUNTS,
    Candidates,
    EntryFilter,
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
    positions_in,
)
from ragkit.types import Field

if TYPE_CHECKING:
    from ragkit.indexes.local.collection import CollectionIndex, EntryMask

BM25F_PARAMETERS = Bm25Parameters(k1=2.5, b=0.05)
"""Fields that repeat each other saturate later, and say little by how long they are."""

RowScores: TypeAlias = tuple[NDArray[np.float32], NDArray[np.float32]]
"""The scores of a segment's rows (n,) and of a delta's (m,); 0 where no token stands."""

_FEW_REMOVED = 1000
_EXACT = SearchStrategy(0, "exact")
_NOTHING: RankedRows = (np.zeros(0, np.int64), np.zeros(0, np.float32))


class LocalSearch:
    """Queries, and the rows of the segment and of the delta that they may find."""

    def __init__(
        self,
        index: CollectionIndex,
        queries: Sequence[IndexQuery],
        entry_filter: EntryFilter,
        field_weights: Mapping[Field, float],
        vector_search: VectorSearch,
    ) -> None:
        """Turn the filter into masks, which both kinds of search share."""
        self.index = index
        self._queries = queries
        self._weights = field_weights
        self._vector_search = vector_search
        given = entry_filter
        masks: list[EntryMask | None] = []
        if given.levels is not None:
            masks.append(index.at_levels(given.levels))
        representatives = [index.representatives] if given.representatives else []
        self._member_mask = _all_of(*masks, *representatives)
        named: list[EntryMask | None] = []
        if given.document_ids is not None:
            named.append(index.among("document_ids", given.document_ids))
        if given.entry_ids is not None:
            named.append(index.among("entry_ids", given.entry_ids))
        self._among = _all_of(*named)
        self._mask = _all_of(*masks, self._among)
        self._vector_mask = _all_of(self._mask, *representatives)
        self._vectors = np.zeros((len(queries), index.base.vectors.dimensions), np.float32)
        for number, query in enumerate(queries):
            if query.vector is not None:
                self._vectors[number] = query.vector
        self._keyword_scores: dict[int, RowScores] = {}
        self._documents: dict[IndexKind, Ids] = {}

    @property
    def passing(self) -> int:
        """How many entries the filter lets through."""
        mask = self._mask
        if mask is None:
            return self.index.entries
        live = np.count_nonzero(mask.base & self.index.alive)
        return int(live) + int(np.count_nonzero(mask.delta))

    def documents(self, kind: IndexKind) -> Ids:
        """Return the documents that the first query finds, ascending (``IndexSearch``)."""
        if kind not in self._documents:
            self._documents[kind] = self._all_documents(kind)
        return self._documents[kind]

    def _all_documents(self, kind: IndexKind) -> Ids:
        index, mask = self.index, self._mask
        starts, _ends = index.runs
        found: tuple[Bools, Bools]
        if kind is IndexKind.KEYWORD:
            if not self._queries[0].token_ids:
                return np.zeros(0, np.int64)
            base, delta = self._scores_by_row(0)
            found = base > 0, delta > 0
        else:
            found = index.alive, np.ones(len(index.delta), np.bool_)
        if mask is not None:
            found = found[0] & mask.base, found[1] & mask.delta
        # Over bytes: over truth values it takes twice as long.
        bytes_of = found[0].view(np.uint8)
        held = starts[np.bitwise_or.reduceat(bytes_of, starts) > 0] if len(starts) else starts
        ids = [index.base.document_ids[held], index.delta.rows.document_ids[found[1]]]
        return distinct(np.concatenate(ids))

    def strategy(self, depth: int) -> SearchStrategy:
        """Return how vectors are searched; those in the delta are always searched exactly."""
        index, mask = self.index, self._vector_mask
        rows = passing = index.vector_entries
        if mask is not None:
            base = index.base.vectors.count(mask.base & index.alive)
            passing = base + index.delta.vectors.count(mask.delta)
        has_graph = index.base.vectors.graph() is not None
        return choose_strategy(rows, passing, depth, self._vector_search, has_graph=has_graph)

    def candidates(self, kind: IndexKind, depth: int) -> Candidates:
        """Return the best entries of each query (``IndexSearch``)."""
        index, depth = self.index, max(depth, 0)
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
        located = self.index.locate(entry_ids)
        bounds = np.searchsorted(queries, np.arange(len(self._queries) + 1))
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
        index, mask, vectors = self.index, self._vector_mask, self.index.base.vectors
        removed = index.tombstones.rows
        allowed = None if mask is None else mask.base
        strategy = _EXACT if vectors.graph() is None else self.strategy(depth)
        if len(removed) > _FEW_REMOVED or (
            len(removed) and (allowed is not None or strategy.width)
        ):
            allowed = index.alive if allowed is None else allowed & index.alive
            removed = removed[:0]
        base = vectors.search(self._vectors, depth + len(removed), allowed, strategy)
        if len(removed):
            live = [index.alive[rows] for rows, _scores in base]
            base = [
                (rows[kept][:depth], scores[kept][:depth])
                for (rows, scores), kept in zip(base, live, strict=True)
            ]
        if not index.has_changes:
            return base, [_NOTHING] * len(base)
        allowed = None if mask is None else mask.delta
        return base, index.delta.vectors.search(self._vectors, depth, allowed)

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
            scorer = self.index.scorer
            self._keyword_scores[number] = scorer.scores(tokens, self._weights, self._among)
        return self._keyword_scores[number]

    def _vector_scores(self, entry_ids: Ids, queries: Ids) -> NDArray[np.float32]:
        """Return for each entry the best score of the entries of its chunk."""
        index, mask = self.index, self._member_mask
        allowed: tuple[Bools | None, Bools | None] = (None, None)
        if mask is not None:
            allowed = mask.base & index.alive, mask.delta
        elif len(index.tombstones.rows):
            allowed = index.alive, None
        best = np.full(len(entry_ids), -np.inf, np.float32)
        for (rows, present), group, vectors, may_score in zip(
            index.locate(entry_ids),
            index.groups,
            (index.base.vectors, index.delta.vectors),
            allowed,
            strict=True,
        ):
            places = np.flatnonzero(present)
            if not len(places):
                continue
            members, owners = group.members(rows[places])
            if may_score is not None:
                kept = may_score[members]
                members, owners = members[kept], owners[kept]
            places = places[owners]
            scores = vectors.scores_of(self._vectors, queries[places], members)
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


class BM25Scorer:
    """Scores by BM25 over what is live, and rarity over what passes a filter. Thread-safe.

    Rows of the segment keep the length normalisation of the time it was built.
    """

    def __init__(self, index: CollectionIndex) -> None:
        self._index = index
        self._by_weights: dict[tuple[tuple[Field, float], ...], BM25F] = {}

    def scores(
        self, query: Sequence[int], field_weights: Mapping[Field, float], among: EntryMask | None
    ) -> RowScores:
        """Return the score of every row; a token that stands twice in the query counts twice.

        ``among`` are the rows that pass a filter; the others are scored as if they did.
        """
        index = self._index
        # In the order of the query: sums must not depend on how ids were given out.
        counted = Counter(query)
        token_ids = np.fromiter(counted, np.int64, len(counted))
        counts = np.fromiter(counted.values(), np.float32, len(counted))
        of_fields = tuple(sorted(item for item in field_weights.items() if item[1]))
        if len(of_fields) > 1:
            if of_fields not in self._by_weights:
                self._by_weights[of_fields] = BM25F(index, of_fields)
            return self._by_weights[of_fields].scores(token_ids, counts, among)
        base = np.zeros(len(index.base.entry_ids), np.float32)
        delta = np.zeros(len(index.delta.rows.entry_ids), np.float32)
        for field, weight in of_fields:
            weights = counts * np.float32(weight)
            if index.has_changes or among is not None:
                idf, ratio = self.idf(field, token_ids, among)
                if field in self._norms:
                    norms = self._norms[field]
                    index.delta.add_scores(delta, field, token_ids, weights * idf, norms)
                weights = weights * ratio
            if field in index.base.keywords:
                plain = bool(np.all(weights == 1.0))
                keywords = index.base.keywords[field]
                base = keywords.scores(token_ids, None if plain else weights)
                base[index.tombstones.rows] = 0.0
        return base, delta

    def idf(
        self, field: Field, token_ids: Ids, among: EntryMask | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the live idf of tokens (m,), and its ratio to that in the segment's scores."""
        keywords = self._index.base.keywords.get(field)
        frozen = self._frozen_frequencies(field, token_ids)
        if keywords and among is None and not self._index.has_changes:
            return keywords.totals.idf(frozen), np.ones(len(token_ids), np.float32)
        totals = self._totals(field)
        frequencies: NDArray[Any] = self.document_frequencies(field, token_ids)
        if among is not None:
            passing = self._filled(field, among)
            held = self._frequencies_among(field, token_ids, among)
            totals, frequencies = mixed(totals.rows, frequencies, passing, held)
        idf = totals.idf(frequencies)
        then = keywords.totals.idf(frozen) if keywords else idf
        return idf, np.where(frozen > 0, idf / np.where(then > 0, then, 1), 1).astype(np.float32)

    def _filled(self, field: Field, among: EntryMask) -> int:
        """Count the live rows that pass and have tokens in a field."""
        index, filled = self._index, 0
        if field in index.base.keywords:
            has_tokens = index.base.keywords[field].has_tokens
            filled += int(np.count_nonzero(among.base & index.alive & has_tokens))
        if field in index.delta.rows.tokens:
            has_tokens = index.delta.rows.tokens[field].lengths > 0
            filled += int(np.count_nonzero(among.delta & has_tokens))
        return filled

    def _frequencies_among(self, field: Field, token_ids: Ids, among: EntryMask) -> Ids:
        """Return how many live rows that pass have each token, (m,)."""
        index = self._index
        live = among.base & index.alive if len(index.tombstones.rows) else among.base
        keywords = index.base.keywords.get(field)
        held = np.zeros(len(token_ids), np.int64)
        for number, rows in enumerate(keywords.rows_with(token_ids) if keywords else ()):
            held[number] += np.count_nonzero(live[rows])
        for number, token in enumerate(token_ids.tolist() if len(index.delta) else ()):
            held[number] += np.count_nonzero(among.delta[index.delta.counts_of(field, token)[0]])
        return held

    def document_frequencies(self, field: Field, token_ids: Ids) -> Ids:
        """Return how many live rows have each token, (m,)."""
        index = self._index
        frozen = self._frozen_frequencies(field, token_ids)
        if not index.has_changes:
            return frozen
        added = index.delta.document_frequencies(field, token_ids)
        return frozen + added - index.tombstones.document_frequencies(field, token_ids)

    def _frozen_frequencies(self, field: Field, token_ids: Ids) -> Ids:
        keywords = self._index.base.keywords.get(field)
        return keywords.document_frequencies(token_ids) if keywords else np.zeros_like(token_ids)

    def _totals(self, field: Field) -> Totals:
        """Count the live rows and tokens of a field."""
        keywords = self._index.base.keywords.get(field)
        base = keywords.totals if keywords else Totals(0, 0)
        gone = self._index.tombstones.totals.get(field, Totals(0, 0))
        new = self._index.delta.totals(field)
        return Totals(base.rows - gone.rows + new.rows, base.tokens - gone.tokens + new.tokens)

    @cached_property
    def _norms(self) -> dict[Field, NDArray[np.float32]]:
        """The length normalisation of the delta's rows, by the live average length."""
        return {
            field: self._totals(field).norms(column.lengths, self._index.base.parameters)
            for field, column in self._index.delta.rows.tokens.items()
            if len(column.flat)
        }


def mixed(
    rows: int, frequencies: Ids, passing: int, held: Ids
) -> tuple[Totals, NDArray[np.float64]]:
    """Return the statistics of what passes a filter, with the whole as some rows more.

    ``frequencies`` (m,) of tokens among all ``rows``, ``held`` among those that pass.
    """
    share = WHOLE_COUNTS / max(rows, 1)
    return Totals(passing + WHOLE_COUNTS, 0), held + share * frequencies


class BM25F:
    """Scores by the weighted tokens of several fields, counted as those of one text.

    This is the simple BM25F of Robertson, Zaragoza and Taylor (2004): frequencies are added up over
    the fields before they saturate, so that a token in two fields does not count twice.
    """

    def __init__(
        self,
        index: CollectionIndex,
        weights: Sequence[tuple[Field, float]],
        parameters: Bm25Parameters = BM25F_PARAMETERS,
    ) -> None:
        """Take how much a token counts in each field."""
        self._index = index
        self._weights = weights
        base, delta = np.zeros(len(index.base)), np.zeros(len(index.delta))
        for field, weight in weights:
            if field in index.base.keywords:
                base += weight * index.base.keywords[field].column.lengths
            if field in index.delta.rows.tokens:
                delta += weight * index.delta.rows.tokens[field].lengths
        self._has_tokens = (base > 0) & index.alive, delta > 0
        filled = np.concatenate([base[self._has_tokens[0]], delta[self._has_tokens[1]]])
        average = float(filled.mean()) if len(filled) else 1.0
        self._totals = Totals(len(filled), round(float(filled.sum())))
        self._norms = tuple(
            (parameters.k1 * (1 - parameters.b + parameters.b * lengths / average)).astype(
                np.float32
            )
            for lengths in (base, delta)
        )

    def scores(
        self, token_ids: Ids, weights: NDArray[np.float32], among: EntryMask | None
    ) -> RowScores:
        """Return the sums over the tokens of their scores, each times its weight."""
        index = self._index
        masks = () if among is None else (among.base, among.delta)
        passing = sum(
            int(np.count_nonzero(mask & filled))
            for mask, filled in zip(masks, self._has_tokens, strict=False)
        )
        keywords = index.base.keywords
        located = {
            field: positions_in(of_field.token_ids, token_ids)
            for field, of_field in keywords.items()
        }
        sums = (np.zeros(len(index.base), np.float32), np.zeros(len(index.delta), np.float32))
        counts = tuple(np.zeros_like(of_part) for of_part in sums)
        for number, (token, weight) in enumerate(zip(token_ids, weights, strict=True)):
            for field, factor in self._weights:
                if field in located and located[field][1][number]:
                    position = int(located[field][0][number])
                    _add(counts[0], *keywords[field].counts_at(position), factor)
                _add(counts[1], *index.delta.counts_of(field, int(token)), factor)
            counts[0][~index.alive] = 0.0
            rows_of = [np.flatnonzero(of_part > 0) for of_part in counts]
            totals = self._totals
            frequency: NDArray[Any] = np.array([sum(map(len, rows_of))])
            if masks:
                held = [mask[rows].sum() for mask, rows in zip(masks, rows_of, strict=True)]
                totals, frequency = mixed(totals.rows, frequency, passing, np.array([sum(held)]))
            idf = totals.idf(frequency)[0]
            for rows, count, norms, total in zip(rows_of, counts, self._norms, sums, strict=True):
                frequencies = count[rows]
                total[rows] += weight * idf * (frequencies / (frequencies + norms[rows]))
                count.fill(0.0)
        return sums


def _add(
    counts: NDArray[np.float32], rows: NDArray[Any], of_rows: NDArray[np.float32], factor: float
) -> None:
    np.add.at(counts, rows, of_rows * np.float32(factor))
