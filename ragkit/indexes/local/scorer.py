"""Scores by words of all rows of a local index: of one field, or of several counted together."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.bm25 import BM25F_PARAMETERS, Bm25Parameters, Totals, mixed, norms_of
from ragkit.indexes.local.segment import FieldWeights
from ragkit.indexes.rows import Bools, Ids, positions_in
from ragkit.types import Field

if TYPE_CHECKING:
    from ragkit.indexes.local.collection import CollectionIndex, EntryMask

RowScores: TypeAlias = tuple[NDArray[np.float32], NDArray[np.float32]]
"""The scores of a segment's rows (n,) and of a delta's (m,); 0 where no token stands."""

Postings: TypeAlias = tuple[NDArray[Any], NDArray[np.float32]]
"""The rows in which a token stands, and how much it counts in each, both (k,)."""

_WORTH_KEEPING, _MOST_KEPT = 0.002, 8_000_000
_NO_POSTINGS: Postings = (np.zeros(0, np.int64), np.zeros(0, np.float32))


class BM25Scorer:
    """Scores by BM25 over what is live, and rarity over what passes a filter. Thread-safe.

    Rows of the segment keep the length normalisation of the time it was built.
    """

    def __init__(self, index: CollectionIndex) -> None:
        self._index = index
        self._by_weights: dict[FieldWeights, BM25F] = {}

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


class BM25F:
    """Scores by the weighted tokens of several fields, counted as those of one text.

    This is the simple BM25F of Robertson, Zaragoza and Taylor (2004): frequencies are added up over
    the fields before they saturate, so that a token in two fields does not count twice.
    """

    def __init__(
        self,
        index: CollectionIndex,
        weights: FieldWeights,
        parameters: Bm25Parameters = BM25F_PARAMETERS,
    ) -> None:
        """Take how much a token counts in each field."""
        self._index = index
        self._weights = weights
        base, delta = index.base.weighted_lengths(weights), np.zeros(len(index.delta))
        for field, weight in weights:
            if field in index.delta.rows.tokens:
                delta += weight * index.delta.rows.tokens[field].lengths
        self._has_tokens = (base > 0) & index.alive, delta > 0
        filled = np.concatenate([base[self._has_tokens[0]], delta[self._has_tokens[1]]])
        average = float(filled.mean()) if len(filled) else 1.0
        self._totals = Totals(len(filled), round(float(filled.sum())))
        self._norms = tuple(norms_of(lengths, average, parameters) for lengths in (base, delta))
        self._guard = threading.Lock()
        self._kept: dict[int, tuple[Postings, ...]] = {}
        self._kept_size = 0

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
        sums = (np.zeros(len(index.base), np.float32), np.zeros(len(index.delta), np.float32))
        counted, totals = self._counted(token_ids), self._totals
        frequencies: NDArray[Any] = np.array(
            [sum(len(rows) for rows, _ in parts) for parts in counted], np.int64
        )
        if masks:
            held = [
                sum(int(mask[rows].sum()) for mask, (rows, _) in zip(masks, parts, strict=False))
                for parts in counted
            ]
            totals, frequencies = mixed(totals.rows, frequencies, passing, np.array(held, np.int64))
        for parts, weight in zip(counted, weights * totals.idf(frequencies), strict=True):
            for (rows, shares), total in zip(parts, sums, strict=False):
                total[rows] += weight * shares
        return sums

    def _counted(self, token_ids: Ids) -> list[tuple[Postings, ...]]:
        """Return where each token counts in the segment and the delta, and how much before rarity.

        What is not rare is kept: most questions have such tokens, which take most of the time.
        """
        tokens, kept = token_ids.tolist(), self._kept
        counted = {token: kept[token] for token in tokens if token in kept}
        missing = [token for token in tokens if token not in counted]
        if missing:
            of_base, of_delta = self._postings(np.array(missing, np.int64))
            live = self._index.alive if len(self._index.tombstones.rows) else None
            for number, token in enumerate(missing):
                parts = [_saturated(of_base[number], self._norms[0], live)]
                if of_delta:
                    parts.append(_saturated(of_delta[number], self._norms[1], None))
                counted[token] = tuple(parts)
                self._keep(token, counted[token])
        return [counted[token] for token in tokens]

    def _keep(self, token: int, parts: tuple[Postings, ...]) -> None:
        size = sum(len(rows) for rows, _ in parts)
        if not _WORTH_KEEPING * self._totals.rows <= size <= _MOST_KEPT:
            return
        with self._guard:
            if self._kept_size + size > _MOST_KEPT:
                self._kept, self._kept_size = {}, 0
            self._kept[token] = parts
            self._kept_size += size

    def _postings(self, token_ids: Ids) -> tuple[list[list[Postings]], list[list[Postings]]]:
        """Return the weighted counts of each token, a field after the other: in both parts.

        Nothing for the delta where it is empty.
        """
        index = self._index
        base: list[list[Postings]] = [[] for _ in token_ids]
        delta: list[list[Postings]] = [[] for _ in token_ids if len(index.delta)]
        for field, weight in self._weights:
            factor = np.float32(weight)
            if (keywords := index.base.keywords.get(field)) is not None:
                places, present = positions_in(keywords.token_ids, token_ids)
                for number in np.flatnonzero(present).tolist():
                    rows, counts = keywords.counts_at(int(places[number]))
                    counts *= factor
                    base[number].append((rows, counts))
            for of_token, token in zip(delta, token_ids.tolist(), strict=False):
                added, of_added = index.delta.counts_of(field, token)
                of_token.append((added, of_added * factor))
        return base, delta


def _saturated(
    postings: Sequence[Postings], norms: NDArray[np.float32], live: Bools | None
) -> Postings:
    """Return the rows in which a token counts in any field, and its saturated count in each."""
    rows, counts = _added_up(postings)
    kept: Bools = counts > 0 if live is None else (counts > 0) & live[rows]
    if not kept.all():
        rows, counts = rows[kept], counts[kept]
    shares = norms[rows]
    shares += counts
    return rows, np.divide(counts, shares, out=shares)


def _added_up(postings: Sequence[Postings]) -> Postings:
    """Return the rows of a token in all fields, each once, with the sum of its counts there.

    They are added to those of the field that has most, mostly the text, which are overwritten.
    """
    first, *others = sorted(postings, key=lambda one: -len(one[0])) or [_NO_POSTINGS]
    rows, counts = first
    elsewhere: list[Postings] = []
    for more, of_more in others:
        places, present = positions_in(rows, more)
        # A field names a row once.
        counts[places[present]] += of_more[present]
        elsewhere.append((more[~present], of_more[~present]))
    if not sum(len(more) for more, _ in elsewhere):
        return rows, counts
    more, of_more = (np.concatenate(columns) for columns in zip(*elsewhere, strict=True))
    order = np.argsort(more, kind="stable")
    starts = np.flatnonzero(np.diff(more[order], prepend=-1))
    summed = np.add.reduceat(of_more[order], starts)
    return np.concatenate([rows, more[order[starts]]]), np.concatenate([counts, summed])
