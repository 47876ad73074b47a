"""Rows of an index as points of Qdrant, and back."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from qdrant_client import models

from ragkit.indexes.bm25 import (
    BM25F_PARAMETERS,
    FIELD_WEIGHTS,
    Bm25Parameters,
    norms_of,
)
from ragkit.indexes.rows import ChunkGroups, EntryRows, Ids, TokenColumn
from ragkit.types import Field

TENANT, ENTRY, DOCUMENT, PARENT = "tenant", "entry", "document", "parent"
LEVEL, CHUNK, CONTENT = "level", "chunk", "content"
REPRESENTS, HAS_VECTOR = "represents", "has_vector"
WEAK = "weak"
"""Tokens of a title that do not occur twice as often in the text, as they usually do."""
GONE, GONE_AT, WRITTEN, OWNER = "gone", "gone_at", "written", "owner"
HEAD = [ENTRY, DOCUMENT, PARENT, LEVEL, CHUNK, CONTENT]
DENSE, PLAIN, FIELDS = "dense", "plain", "fields"
"""Names of a point's vectors: the entry's own, and what its words score at most, in two ways."""

TEXT_ONLY: Mapping[Field, float] = {Field.TEXT: 1.0}
WAYS: Mapping[str, tuple[Mapping[Field, float], Bm25Parameters]] = {
    PLAIN: (TEXT_ONLY, Bm25Parameters()),
    FIELDS: (FIELD_WEIGHTS, BM25F_PARAMETERS),
}
"""How words count in the two sparse vectors: as searches usually ask."""

_NO_TOKENS = np.zeros(0, np.uint32)
_ROW_BITS = np.uint64(32)
_ROW_MASK = np.uint64(0xFFFFFFFF)


def count_key(field: Field) -> str:
    """Return the name under which a point has its number of tokens in a field."""
    return f"{field.value}_count"


@dataclass(frozen=True, slots=True)
class Row:
    """What a point says of its entry. ``tokens`` are those of each field, in reading order."""

    entry: int
    document: int
    parent: int
    level: int
    chunk: int
    content: int
    tokens: Mapping[Field, NDArray[np.uint32]]

    @classmethod
    def of(cls, payload: Mapping[str, Any]) -> Row:
        """Read a payload."""
        tokens = {
            field: np.array(payload[field.value], np.uint32)
            for field in Field
            if payload.get(field.value)
        }
        entry, document, parent, level, chunk, content = (int(payload[key]) for key in HEAD)
        return cls(entry, document, parent, level, chunk, content, tokens)


@dataclass(frozen=True, slots=True)
class Averages:
    """How long entries were, on average, when they were first written, in each way of ``WAYS``."""

    plain: float
    fields: float

    @classmethod
    def of(cls, rows: EntryRows) -> Averages:
        """Measure rows."""
        averages = []
        for weights, _parameters in WAYS.values():
            lengths = lengths_of(rows, weights)
            filled = lengths[lengths > 0]
            averages.append(float(filled.mean()) if len(filled) else 1.0)
        return cls(*averages)

    def of_way(self, way: str) -> float:
        """Return the one of a way."""
        return self.plain if way == PLAIN else self.fields


def lengths_of(rows: EntryRows, weights: Mapping[Field, float]) -> NDArray[np.float64]:
    """Return how long rows are by the weights of fields, (n,)."""
    lengths = np.zeros(len(rows))
    for field, weight in weights.items():
        if field in rows.tokens:
            lengths += weight * rows.tokens[field].lengths
    return lengths


def point_id(tenant: str, entry: int) -> str:
    """Return the id of an entry's point, the same whoever writes it and however often."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{tenant}/{entry}"))


def points_of(
    rows: EntryRows, tenant: str, owner: str, averages: Averages, now: int
) -> Iterator[models.PointStruct]:
    """Yield the points of whole chunks' rows."""
    every = np.arange(len(rows), dtype=np.int64)
    groups = ChunkGroups(rows.levels)
    parents = rows.entry_ids[groups.parents(every)].tolist()
    represents = groups.representatives
    flags = [True] * len(rows) if represents is None else represents.tolist()
    usable = rows.has_vector & np.isfinite(rows.vectors).all(axis=1) & rows.vectors.any(axis=1)
    dense = rows.vectors.astype(np.float32).tolist()
    sparse = {way: _sparse(rows, way, averages) for way in WAYS}
    weak = _split(len(rows), *_below(rows))
    contents = rows.content_keys.view(np.int64).tolist()
    for row, entry in enumerate(rows.entry_ids.tolist()):
        payload: dict[str, Any] = {
            TENANT: tenant,
            OWNER: owner,
            ENTRY: entry,
            DOCUMENT: int(rows.document_ids[row]),
            PARENT: parents[row],
            LEVEL: int(rows.levels[row]),
            CHUNK: int(rows.chunk_indexes[row]),
            CONTENT: contents[row],
            REPRESENTS: int(flags[row]),
            HAS_VECTOR: int(usable[row]),
            WRITTEN: now,
        }
        for field, column in rows.tokens.items():
            tokens = column.flat[column.offsets[row] : column.offsets[row + 1]].tolist()
            if tokens:
                payload[field.value], payload[count_key(field)] = tokens, len(tokens)
        if len(weak[row][0]):
            payload[WEAK] = weak[row][0].tolist()
        vectors: dict[str, Any] = {DENSE: dense[row]} if usable[row] else {}
        for way, of_rows in sparse.items():
            tokens_of, values = of_rows[row]
            if len(tokens_of):
                vectors[way] = models.SparseVector(
                    indices=tokens_of.tolist(), values=values.tolist()
                )
        yield models.PointStruct(id=point_id(tenant, entry), payload=payload, vector=vectors)


def tombstone(tenant: str, owner: str, entry: int, version: int, now: int) -> models.PointStruct:
    """Return the point of an entry that went before it was written: it is never written later."""
    payload = {TENANT: tenant, OWNER: owner, ENTRY: entry, GONE: version, GONE_AT: now}
    payload[WRITTEN] = now
    return models.PointStruct(id=point_id(tenant, entry), payload=payload, vector={})


def rows_of(points: Sequence[models.Record], dimensions: int) -> EntryRows:
    """Return the rows that points were made of, ordered by entry."""
    points = sorted(points, key=lambda point: int((point.payload or {})[ENTRY]))
    rows = [Row.of(point.payload or {}) for point in points]
    vectors = np.zeros((len(rows), dimensions), np.float16)
    has_vector = np.zeros(len(rows), np.bool_)
    for place, point in enumerate(points):
        dense = point.vector.get(DENSE) if isinstance(point.vector, dict) else None
        if dense is not None:
            vectors[place], has_vector[place] = np.array(dense, np.float16), True
    fields = [field for field in Field if any(field in row.tokens for row in rows)]
    return EntryRows(
        np.array([row.entry for row in rows], np.int64),
        np.array([row.document for row in rows], np.int64),
        np.array([row.level for row in rows], np.int8),
        np.array([row.chunk for row in rows], np.int32),
        np.array([row.content for row in rows], np.int64).view(np.uint64),
        vectors,
        has_vector,
        {name: column_of(rows, name) for name in fields},
    )


def column_of(rows: Sequence[Row | None], field: Field) -> TokenColumn:
    """Return the tokens of rows in a field; a row that is not there has none."""
    each = [_NO_TOKENS if row is None else row.tokens.get(field, _NO_TOKENS) for row in rows]
    offsets = np.zeros(len(each) + 1, np.int64)
    np.cumsum([len(tokens) for tokens in each], out=offsets[1:])
    return TokenColumn(np.concatenate([_NO_TOKENS, *each]), offsets)


def weighted_counts(
    rows: EntryRows, weights: Mapping[Field, float]
) -> tuple[Ids, Ids, NDArray[np.float64]]:
    """Return the tokens of rows, each with how much it counts over the fields: row, token, sum."""
    keys, amounts = [np.zeros(0, np.uint64)], [np.zeros(0)]
    for field, weight in weights.items():
        column = rows.tokens.get(field)
        if column is not None:
            numbers = np.repeat(np.arange(len(column), dtype=np.uint64), column.lengths)
            keys.append(numbers << _ROW_BITS | column.flat)
            amounts.append(np.full(len(column.flat), weight))
    distinct, place = np.unique(np.concatenate(keys), return_inverse=True)
    sums = np.bincount(place.reshape(-1), np.concatenate(amounts), len(distinct)).astype(np.float64)
    tokens = (distinct & _ROW_MASK).astype(np.int64)
    return (distinct >> _ROW_BITS).astype(np.int64), tokens, sums


def _sparse(rows: EntryRows, way: str, averages: Averages) -> list[tuple[Ids, NDArray[np.float64]]]:
    """Return what each token of each row counts, saturated, were entries of average length."""
    weights, parameters = WAYS[way]
    numbers, tokens, sums = weighted_counts(rows, weights)
    kept = sums > 0
    numbers, tokens, sums = numbers[kept], tokens[kept], sums[kept]
    norms = norms_of(lengths_of(rows, weights), averages.of_way(way), parameters)
    return _split(len(rows), numbers, tokens, sums / (sums + norms[numbers]))


def _below(rows: EntryRows) -> tuple[Ids, Ids, NDArray[np.float64]]:
    numbers, tokens, sums = weighted_counts(rows, {Field.TEXT: 1.0, Field.TITLE: -2.0})
    below = sums < 0
    return numbers[below], tokens[below], sums[below]


def _split(
    rows: int, numbers: Ids, tokens: Ids, values: NDArray[np.float64]
) -> list[tuple[Ids, NDArray[np.float64]]]:
    bounds = np.searchsorted(numbers, np.arange(rows + 1)).tolist()
    return [(tokens[bounds[i] : bounds[i + 1]], values[bounds[i] : bounds[i + 1]])
            for i in range(rows)]  # fmt: skip
