"""A batch of queries put to an index on a server: candidates from there, exact scores of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from qdrant_client import models

from ragkit.indexes.protocol import (
    Candidates,
    EntryFilter,
    EntryIndex,
    IndexKind,
    IndexQuery,
    SearchStrategy,
    VectorSearch,
)
from ragkit.indexes.qdrant.points import (
    CHUNK,
    DENSE,
    DOCUMENT,
    ENTRY,
    HAS_VECTOR,
    LEVEL,
    PARENT,
    REPRESENTS,
    Row,
)
from ragkit.indexes.qdrant.store import Asked, Condition, any_of, either, is_
from ragkit.indexes.qdrant.stored_rows import StoredRows
from ragkit.indexes.qdrant.words import Named, WordQuery
from ragkit.indexes.rows import Ids
from ragkit.options import IndexMode
from ragkit.types import LEVEL_CODES, Field

_EXACT_VECTORS = 20_000
"""So few vectors are all gone through; of more, the graph of the collection is asked."""

_WIDTH_PER_PROBE = 32
_MARGIN, _WIDEN = 8, 4
_HEAD = [ENTRY, DOCUMENT, PARENT, CHUNK, LEVEL]
_Found = tuple[int, int, int, int, int, float]


class QdrantSearch:
    """Queries, and the conditions under which they may find entries (``IndexSearch``)."""

    def __init__(
        self,
        index: EntryIndex,
        rows: StoredRows,
        queries: Sequence[IndexQuery],
        entry_filter: EntryFilter,
        field_weights: Mapping[Field, float],
        vector_search: VectorSearch,
    ) -> None:
        """Turn the filter into conditions, which both kinds of search share."""
        self.index = index
        self._rows = rows
        self._queries = queries
        self._weights = tuple(sorted(item for item in field_weights.items() if item[1]))
        self._vector_search = vector_search
        levels = entry_filter.levels
        codes = None if levels is None else tuple(LEVEL_CODES[level] for level in levels)
        self._levels = [] if codes is None else [any_of(LEVEL, codes)]
        self._represents = [is_(REPRESENTS, 1)] if entry_filter.representatives else []
        self._of_all = codes, entry_filter.representatives
        """What the filter says besides ids: under that, what the server says is kept."""
        self._named = _named(entry_filter)
        self._words: dict[int, WordQuery | None] = {}
        self._documents: dict[IndexKind, Ids] = {}

    @property
    def passing(self) -> int:
        """How many entries the filter lets through."""
        if not (self._levels or self._named):
            return self._rows.entries
        return self._count("passing", self._levels)

    def _count(self, what: str, conditions: Sequence[Condition]) -> int:
        """Count the entries that pass the filter's ids and some conditions."""
        named = self._named
        if named:
            return self._rows.points.count([*named.must, *conditions], named.must_not)
        return self._rows.kept((what, self._of_all), lambda: self._rows.points.count(conditions))

    def documents(self, kind: IndexKind) -> Ids:
        """Return the documents that the first query finds, ascending (``IndexSearch``)."""
        if kind not in self._documents:
            self._documents[kind] = self._all_documents(kind)
        return self._documents[kind]

    def _all_documents(self, kind: IndexKind) -> Ids:
        words = self._words_of(0) if kind is IndexKind.KEYWORD and self._queries else None
        if kind is IndexKind.KEYWORD and words is None:
            return np.zeros(0, np.int64)
        if words is not None and any(weight < 0 for _field, weight in words.weights):
            rows = self._rows_with(words)
            scores = words.scores(rows)
            documents = {row.document for row, score in zip(rows, scores, strict=True) if score}
            return np.array(sorted(documents), np.int64)
        if self._named:
            must = [*self._named.must, *self._levels, *([_any_word(words)] if words else [])]
            found = self._rows.points.facet(DOCUMENT, must, self._named.must_not)
            return np.array(sorted(found), np.int64)
        if words is None:
            return self._rows.documents_under(self._of_all, self._levels)
        return self._documents_with(words)

    def _documents_with(self, words: WordQuery) -> Ids:
        fields = [field for field, weight in words.weights if weight > 0]
        lists = [
            self._rows.documents_under(
                (self._of_all, token, *fields),
                [*self._levels, either([is_(field.value, token) for field in fields])],
            )
            for token in words.token_ids.tolist()
        ]
        return np.unique(np.concatenate(lists))

    def strategy(self, depth: int) -> SearchStrategy:
        """Return how vectors are searched: exactly if few pass the filter, else approximately."""
        search = self._vector_search
        if search.mode is IndexMode.EXACT:
            return SearchStrategy(0, "exact: asked for")
        passing = self._rows.entries
        if search.mode is IndexMode.ANN or passing > _EXACT_VECTORS:
            having = [*self._levels, *self._represents, is_(HAS_VECTOR, 1)]
            passing = self._count("vectors", having)
        if passing <= (_EXACT_VECTORS if search.mode is IndexMode.AUTO else depth):
            return SearchStrategy(0, f"exact: {passing:,} vectors")
        width = max(_WIDTH_PER_PROBE * search.nprobe, search.overfetch * depth)
        return SearchStrategy(width, f"ann: {passing} vectors, {width} wide")

    def candidates(self, kind: IndexKind, depth: int) -> Candidates:
        """Return the best entries of each query (``IndexSearch``)."""
        if depth <= 0 or not self._queries:
            return _candidates([])
        hits = self._by_vector(depth) if kind is IndexKind.VECTOR else self._by_keyword(depth)
        return _candidates([sorted(of, key=lambda hit: (-hit[-1], hit[0]))[:depth] for of in hits])

    def scores(
        self, kind: IndexKind, entry_ids: Ids, queries: Ids | None = None
    ) -> NDArray[np.float32]:
        """Return exact scores, float32 (n,) (``IndexSearch``)."""
        if queries is None:
            queries = np.zeros(len(entry_ids), np.int64)
        scores = np.zeros(len(entry_ids), np.float32)
        bounds = np.searchsorted(queries, np.arange(len(self._queries) + 1)).tolist()
        spans = [(number, slice(*span)) for number, span in enumerate(pairwise(bounds))]
        spans = [(number, span) for number, span in spans if span.start < span.stop]
        if kind is IndexKind.VECTOR:
            asked = {number: entry_ids[span].tolist() for number, span in spans}
            of_queries = self._vector_scores(asked)
            for number, span in spans:
                best = of_queries.get(number, {})
                scores[span] = [best.get(entry, 0.0) for entry in asked[number]]
            return scores
        rows = self._rows.rows(entry_ids.tolist()) if len(entry_ids) else {}
        for number, span in spans:
            words = self._words_of(number)
            if words is not None:
                there = [entry in rows for entry in entry_ids[span].tolist()]
                present = [rows[entry] for entry in entry_ids[span].tolist() if entry in rows]
                scores[span][there] = words.scores(present)
        return scores

    # -- by words --------------------------------------------------------------------------

    def _words_of(self, number: int) -> WordQuery | None:
        if number not in self._words:
            held = self._rows.points.holding
            self._words[number] = WordQuery.of(
                self._queries[number].counted,
                self._weights,
                self._rows.counts,
                held.averages,
                self._named,
            )
        return self._words[number]

    def _rows_with(self, words: WordQuery) -> list[Row]:
        """Return all entries that pass and have a word."""
        must = [_any_word(words), *self._named.must, *self._levels]
        points = self._rows.points.scroll(must, self._named.must_not)
        return [Row.of(point.payload or {}) for point in points]

    def _by_keyword(self, depth: int) -> list[list[_Found]]:
        """Score what sparse vectors find, until nothing else can be among the best.

        No entry that was not fetched scores more than the last that was, times what the sparse
        vectors of its time may be short of.
        """
        hits: list[list[_Found]] = [[] for _ in self._queries]
        pending: dict[int, tuple[WordQuery, int]] = {}
        for number in range(len(self._queries)):
            words = self._words_of(number)
            if words is not None and words.way:
                pending[number] = words, 2 * depth + _MARGIN
            elif words is not None:
                hits[number] = _scored(words, self._rows_with(words))
        while pending:
            left = {}
            for number, points in self._sparse(pending):
                words, limit = pending[number]
                rows = self._rows.rows(_entry(point) for point in points)
                hits[number] = _scored(words, list(rows.values()))
                if len(points) < limit:
                    continue
                best = sorted((hit[-1] for hit in hits[number]), reverse=True)[:depth]
                if len(best) < depth or best[-1] <= points[-1].score * words.excess:
                    left[number] = words, limit * _WIDEN
            pending = left
        return hits

    def _sparse(
        self, pending: Mapping[int, tuple[WordQuery, int]]
    ) -> Iterator[tuple[int, list[models.ScoredPoint]]]:
        """Yield the entries that the sparse vectors find for each query."""
        must = [*self._named.must, *self._levels]
        for way in dict.fromkeys(words.way for words, _limit in pending.values()):
            of_way = {n: each for n, each in pending.items() if each[0].way == way}
            asked = [
                Asked(_vector_of(words), limit, must, self._named.must_not)
                for words, limit in of_way.values()
            ]
            yield from zip(of_way, self._rows.points.nearest(way, asked, [ENTRY]), strict=True)

    # -- by vectors ------------------------------------------------------------------------

    def _by_vector(self, depth: int) -> list[list[_Found]]:
        """Ask for a few more than ``depth``, and again where more may tie with the last."""
        must = [*self._named.must, *self._levels, *self._represents]
        width = self.strategy(depth).width
        hits: list[list[_Found]] = [[] for _ in self._queries]
        pending = {
            number: Asked(vector, depth + _MARGIN, must, self._named.must_not, width)
            for number, query in enumerate(self._queries)
            if (vector := _usable(query.vector)) is not None
        }
        while pending:
            asked = list(pending.values())
            lists = self._rows.points.nearest(DENSE, asked, _HEAD)
            left = {}
            for (number, each), points in zip(pending.items(), lists, strict=True):
                hits[number] = [_of_point(point) for point in points]
                full = len(points) == each.limit
                if full and not width and points[depth - 1].score == points[-1].score:
                    left[number] = each.deeper(each.limit * _WIDEN)
            pending = left
        return hits

    def _vector_scores(self, asked: Mapping[int, Sequence[int]]) -> dict[int, dict[int, float]]:
        """Return the best score of each asked entry's chunk, or of the entry, for each query."""
        vectors = {number: _usable(self._queries[number].vector) for number in asked}
        must = [*self._levels, *self._represents]
        pending: dict[int, Asked] = {}
        for number, entries in asked.items():
            vector = vectors[number]
            if vector is not None:
                named = either([any_of(ENTRY, entries), any_of(PARENT, entries)])
                pending[number] = Asked(vector, 16 * len(entries) + 64, [named, *must])
        best: dict[int, dict[int, float]] = {}
        while pending:
            lists = self._rows.points.nearest(DENSE, list(pending.values()), [ENTRY, PARENT])
            left = {}
            for (number, each), points in zip(pending.items(), lists, strict=True):
                if len(points) == each.limit:
                    left[number] = each.deeper(each.limit * _WIDEN)
                else:
                    best[number] = self._best_of(points, each)
            pending = left
        return best

    def _best_of(self, points: Sequence[models.ScoredPoint], asked: Asked) -> dict[int, float]:
        best: dict[int, float] = {}
        for point in points:
            payload = point.payload or {}
            for entry in {int(payload[ENTRY]), int(payload[PARENT])}:
                best.setdefault(entry, point.score)
        if any(score < 0 for score in best.values()):
            # An entry without a vector counts as 0, and is better than that.
            without = [*asked.must, is_(HAS_VECTOR, 0)]
            for record in self._rows.points.scroll(without, payload=[ENTRY, PARENT]):
                payload = record.payload or {}
                for entry in {int(payload[ENTRY]), int(payload[PARENT])}:
                    best[entry] = max(best.get(entry, 0.0), 0.0)
        return best


def _named(given: EntryFilter) -> Named:
    """Return the conditions of a filter's ids."""
    must = [
        any_of(key, ids.tolist())
        for key, ids in (
            (DOCUMENT, given.document_ids),
            (ENTRY, given.entry_ids),
            (PARENT, given.chunk_ids),
        )
        if ids is not None
    ]
    without = given.without_chunk_ids
    return Named(must, [] if without is None else [any_of(PARENT, without.tolist())])


def _any_word(words: WordQuery) -> Condition:
    return either(
        [
            any_of(field.value, words.token_ids.tolist())
            for field, weight in words.weights
            if weight > 0
        ]
    )


def _scored(words: WordQuery, rows: Sequence[Row]) -> list[_Found]:
    scores = words.scores(rows).tolist()
    return [
        (row.entry, row.document, row.parent, row.chunk, row.level, score)
        for row, score in zip(rows, scores, strict=True)
        if score > 0
    ]


def _vector_of(words: WordQuery) -> models.SparseVector:
    values = (words.idf * words.asked).tolist()
    return models.SparseVector(indices=words.token_ids.tolist(), values=values)


def _usable(vector: NDArray[np.float32] | None) -> list[float] | None:
    """Return a vector as numbers; ``None`` for one that finds nothing."""
    if vector is None or not np.isfinite(vector).all() or not vector.any():
        return None
    return [float(number) for number in vector]


def _entry(point: models.ScoredPoint) -> int:
    return int((point.payload or {})[ENTRY])


def _of_point(point: models.ScoredPoint) -> _Found:
    entry, document, parent, chunk, level = (int((point.payload or {})[key]) for key in _HEAD)
    return entry, document, parent, chunk, level, point.score


def _candidates(hits: Sequence[Sequence[_Found]]) -> Candidates:
    numbers = np.repeat(np.arange(len(hits)), np.array([len(of) for of in hits], np.int64))
    columns: list[Any] = list(zip(*(hit for of in hits for hit in of), strict=True))
    columns = columns or [()] * 6
    kinds = (np.int64, np.int64, np.int64, np.int32, np.int8, np.float32)
    arrays = [np.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    return Candidates(numbers, *arrays)
