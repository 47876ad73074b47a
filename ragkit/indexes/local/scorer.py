"""Scores by words of all rows of a local index: of one field, or of several counted together."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.bm25 import BM25F_PARAMETERS, Bm25Parameters, Totals, mixed, norms_of
from ragkit.indexes.local.segment import Delta, FieldWeights
from ragkit.indexes.rows import Bools, Ids
from ragkit.types import Field

if TYPE_CHECKING:
    from ragkit.indexes.local.live_rows import EntryMask, LiveRows

RowScores: TypeAlias = tuple[NDArray[np.float32], NDArray[np.float32]]
"""The scores of a segment's rows with words (``Worded``) and of a delta's (m,); 0 for no token."""

Postings: TypeAlias = tuple[NDArray[np.int32], NDArray[np.float32]]
"""The rows in which a token occurs, and how much it counts in each, both (k,)."""

Weighted: TypeAlias = tuple[Ids, NDArray[np.float32]]
"""Ascending keys, the number of a token times the number of rows, plus a row; and counts, (k,)."""

_WORTH_KEEPING, _MOST_KEPT = 0.002, 8_000_000
_MOST_AT_ONCE, _MOST_PLACES = 32, 1 << 20
_NO_KEYS: Weighted = (np.zeros(0, np.int64), np.zeros(0, np.float32))


class BM25Scorer:
    """Scores by BM25 over what is live, and rarity over what passes a filter. Thread-safe.

    Rows of the segment keep the length normalisation of the time it was built.
    """

    def __init__(self, index: LiveRows) -> None:
        self._index = index
        self._by_weights: dict[FieldWeights, BM25F] = {}

    def scores(
        self,
        counted: Mapping[int, float],
        field_weights: Mapping[Field, float],
        among: EntryMask | None,
    ) -> RowScores:
        """Return the score of every row; ``counted`` says how much each token counts.

        ``among`` are the rows that pass a filter; the others are scored as if they did.
        """
        index = self._index
        # In the order of the query: sums must not depend on how ids were given out.
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
        return index.base.worded.of(base), delta

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
            filled += int(np.count_nonzero(index.live(among.base) & has_tokens))
        if field in index.delta.rows.tokens:
            has_tokens = index.delta.rows.tokens[field].lengths > 0
            filled += int(np.count_nonzero(among.delta & has_tokens))
        return filled

    def _frequencies_among(self, field: Field, token_ids: Ids, among: EntryMask) -> Ids:
        """Return how many live rows that pass have each token, (m,)."""
        index = self._index
        live = index.live(among.base)
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
        index: LiveRows,
        weights: FieldWeights,
        parameters: Bm25Parameters = BM25F_PARAMETERS,
    ) -> None:
        """Take how much a token counts in each field."""
        self._index = index
        sizes = {
            field: len(keywords.column.flat) for field, keywords in index.base.keywords.items()
        }
        # What has most, mostly the text, comes first: the others are added to it.
        self._weights = sorted(weights, key=lambda item: -sizes.get(item[0], 0))
        self._worded = worded = index.base.worded
        base, delta = worded.of(index.base.weighted_lengths(weights)), np.zeros(len(index.delta))
        for field, weight in weights:
            if field in index.delta.rows.tokens:
                delta += weight * index.delta.rows.tokens[field].lengths
        self._live = worded.of(index.alive) if len(index.tombstones.rows) else None
        self._has_tokens = base > 0 if self._live is None else (base > 0) & self._live, delta > 0
        filled = np.concatenate([base[self._has_tokens[0]], delta[self._has_tokens[1]]])
        average = float(filled.mean()) if len(filled) else 1.0
        self._totals = Totals(len(filled), round(float(filled.sum())))
        self._norms = tuple(norms_of(lengths, average, parameters) for lengths in (base, delta))
        rows = max(map(len, self._norms))
        self._at_once = min(max(_MOST_PLACES // max(rows, 1), 1), _MOST_AT_ONCE)
        # A new one for each question would be cold.
        self._places = np.empty(self._at_once * rows, np.int32)
        self._guard = threading.Lock()
        self._kept: dict[int, tuple[Postings, ...]] = {}
        self._kept_size = 0

    def scores(
        self, token_ids: Ids, weights: NDArray[np.float32], among: EntryMask | None
    ) -> RowScores:
        """Return the sums over the tokens of their scores, each times its weight."""
        masks = () if among is None else (self._worded.of(among.base), among.delta)
        passing = sum(
            int(np.count_nonzero(mask & filled))
            for mask, filled in zip(masks, self._has_tokens, strict=False)
        )
        sums = tuple(np.zeros(len(norms), np.float32) for norms in self._norms)
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
                # A row is once in each; this takes half as long as ``total[rows] +=``.
                np.add.at(total, rows, weight * shares)
        return sums[0], sums[1]

    def _counted(self, token_ids: Ids) -> list[tuple[Postings, ...]]:
        """Return where each token counts in the segment and the delta, and how much before rarity.

        What is not rare is kept: most questions have such tokens, which take most of the time.
        """
        tokens, kept = token_ids.tolist(), self._kept
        counted = {token: kept[token] for token in tokens if token in kept}
        missing = [token for token in tokens if token not in counted]
        with self._guard:
            for start in range(0, len(missing), self._at_once):
                some = missing[start : start + self._at_once]
                of_parts = zip(*self._of_parts(np.array(some, np.int64)), strict=True)
                for token, parts in zip(some, of_parts, strict=True):
                    counted[token] = parts
                    self._keep(token, parts)
        return [counted[token] for token in tokens]

    def _keep(self, token: int, parts: tuple[Postings, ...]) -> None:
        size = sum(len(rows) for rows, _ in parts)
        if not _WORTH_KEEPING * self._totals.rows <= size <= _MOST_KEPT:
            return
        if self._kept_size + size > _MOST_KEPT:
            self._kept, self._kept_size = {}, 0
        # By themselves, or what all tokens of a question have would be kept with them.
        self._kept[token] = tuple((rows.copy(), shares.copy()) for rows, shares in parts)
        self._kept_size += size

    def _of_parts(self, token_ids: Ids) -> Iterator[list[Postings]]:
        """Yield where tokens count in the segment, and in the delta unless that is empty.

        All tokens are looked up at once, a field after the other.
        """
        index, norms = self._index, self._norms[0]
        of_base = []
        for field, weight in self._weights:
            if field in index.base.keywords:
                rows, counts, lengths = index.base.keywords[field].counts_of(token_ids)
                numbers = self._worded.numbered(rows)
                of_base.append(_weighted(numbers, counts, lengths, weight, len(norms)))
        yield self._saturated(of_base, len(token_ids), norms, self._live)
        if len(index.delta):
            of_delta = [
                _weighted(*_of_delta(index.delta, field, token_ids), weight, len(index.delta))
                for field, weight in self._weights
            ]
            yield self._saturated(of_delta, len(token_ids), self._norms[1], None)

    def _saturated(
        self,
        fields: Sequence[Weighted],
        tokens: int,
        norms: NDArray[np.float32],
        live: Bools | None,
    ) -> list[Postings]:
        """Return for each token the rows in which it counts, and its saturated count in each."""
        firsts = np.arange(tokens + 1) * len(norms)
        keys, counts = _added_up(fields, self._places)
        bounds = keys.searchsorted(firsts)
        rows = keys - np.repeat(firsts[:-1], np.diff(bounds))
        kept: Bools = counts > 0 if live is None else (counts > 0) & live[rows]
        if not kept.all():
            rows, counts, bounds = rows[kept], counts[kept], keys[kept].searchsorted(firsts)
        shares = norms[rows]
        shares += counts
        np.divide(counts, shares, out=shares)
        short = rows.astype(np.int32)
        return [(short[start:end], shares[start:end]) for start, end in pairwise(bounds.tolist())]


def _of_delta(
    delta: Delta, field: Field, token_ids: Ids
) -> tuple[NDArray[Any], NDArray[np.float32], Ids]:
    """Return what ``KeywordIndex.counts_of`` does of a segment."""
    postings = [delta.counts_of(field, token) for token in token_ids.tolist()]
    rows, counts = (np.concatenate(columns) for columns in zip(*postings, strict=True))
    return rows, counts, np.array([len(rows) for rows, _ in postings], np.int64)


def _weighted(
    rows: NDArray[Any], counts: NDArray[np.float32], lengths: Ids, weight: float, size: int
) -> Weighted:
    """Return the counts of tokens in a field, times its weight, with ascending keys.

    ``lengths`` (m,) say how many ``rows`` (k,), of ``size``, each token has.
    """
    keys = np.repeat(np.arange(len(lengths)) * size, lengths)
    keys += rows
    return keys, counts * np.float32(weight)


def _added_up(fields: Sequence[Weighted], place_of: NDArray[np.int32]) -> Weighted:
    """Return the keys of all fields, each once, with the sum of its counts in their order.

    They are added to those of the first field. ``place_of`` has room for every key, filled with
    anything: those of the first field are looked up in it.
    """
    (keys, counts), *others = [field for field in fields if len(field[0])] or [_NO_KEYS]
    if not others:
        return keys, counts
    more, of_more = (np.concatenate(columns) for columns in zip(*others, strict=True))
    # Searching for each among the keys takes seven times as long.
    place_of[keys] = np.arange(len(keys), dtype=np.int32)
    places = place_of[more]
    present = keys.take(places, mode="clip") == more
    np.add.at(counts, places[present], of_more[present])
    if present.all():
        return keys, counts
    more, of_more = more[~present], of_more[~present]
    order = np.argsort(more, kind="stable")
    starts = np.flatnonzero(np.diff(more[order], prepend=-1))
    keys = np.concatenate([keys, more[order[starts]]])
    counts = np.concatenate([counts, np.add.reduceat(of_more[order], starts)])
    order = np.argsort(keys, kind="stable")
    return keys[order], counts[order]
