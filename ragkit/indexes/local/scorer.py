"""Scores by words of all rows of a local index: of one field, or of several counted together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.bm25 import BM25F_PARAMETERS, Bm25Parameters, Totals, mixed, norms_of
from ragkit.indexes.rows import Ids, positions_in
from ragkit.types import Field

if TYPE_CHECKING:
    from ragkit.indexes.local.collection import CollectionIndex, EntryMask

RowScores: TypeAlias = tuple[NDArray[np.float32], NDArray[np.float32]]
"""The scores of a segment's rows (n,) and of a delta's (m,); 0 where no token stands."""

Postings: TypeAlias = tuple[NDArray[Any], NDArray[np.float32]]
"""The rows in which a token stands, and how much it counts in each, both (k,)."""

_NO_POSTINGS: Postings = (np.zeros(0, np.int64), np.zeros(0, np.float32))


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
        self._norms = tuple(norms_of(lengths, average, parameters) for lengths in (base, delta))

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
            postings: tuple[list[Postings], list[Postings]] = ([], [])
            for field, factor in self._weights:
                if field in located and located[field][1][number]:
                    rows, of_rows = keywords[field].counts_at(int(located[field][0][number]))
                    postings[0].append((rows, of_rows * np.float32(factor)))
                added, of_added = index.delta.counts_of(field, int(token))
                postings[1].append((added, of_added * np.float32(factor)))
            together = [
                _added_up(of_part, dense) for of_part, dense in zip(postings, counts, strict=True)
            ]
            if len(index.tombstones.rows):
                rows, of_rows = together[0]
                live = index.alive[rows]
                together[0] = rows[live], of_rows[live]
            totals = self._totals
            frequency: NDArray[Any] = np.array([sum(len(rows) for rows, _ in together)])
            if masks:
                held = [mask[rows].sum() for mask, (rows, _) in zip(masks, together, strict=True)]
                totals, frequency = mixed(totals.rows, frequency, passing, np.array([sum(held)]))
            idf = totals.idf(frequency)[0]
            for (rows, of_rows), norms, total in zip(together, self._norms, sums, strict=True):
                total[rows] += weight * idf * (of_rows / (of_rows + norms[rows]))
        return sums


def _added_up(postings: Sequence[Postings], dense: NDArray[np.float32]) -> Postings:
    """Return the rows in which a token counts in any field, each once, with the sum of its counts.

    ``dense`` (n,) is all zeros, before and after: what is touched is as long as the postings.
    """
    if len(postings) == 1:
        rows, counts = postings[0]
        kept = counts > 0
        return rows[kept], counts[kept]
    for rows, counts in postings:
        # A field names a row once.
        dense[rows] += counts
    found = []
    for rows, _counts in postings:
        summed = dense[rows]
        kept = summed > 0
        found.append((rows[kept], summed[kept]))
        dense[rows] = 0.0
    if not found:
        return _NO_POSTINGS
    all_rows, all_counts = zip(*found, strict=True)
    return np.concatenate(all_rows), np.concatenate(all_counts)
