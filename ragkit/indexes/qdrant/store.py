"""The points of one collection at one level: the one place in which a filter is built.

Whatever is asked of the server goes through ``Points``, which always adds the tenant and what the
index holds: nobody can ask without.
"""

from __future__ import annotations

import time
import uuid
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, TypeAlias, TypeVar

from qdrant_client import models

from ragkit.errors import IndexServerError
from ragkit.indexes.qdrant.points import (
    DENSE,
    DOCUMENT,
    ENTRY,
    FIELDS,
    GONE,
    GONE_AT,
    HAS_VECTOR,
    LEVEL,
    OWNER,
    PARENT,
    PLAIN,
    REPRESENTS,
    TENANT,
    WEAK,
    WRITTEN,
    Averages,
    count_key,
    points_of,
    tombstone,
)
from ragkit.indexes.qdrant.server import BUCKETS, Server
from ragkit.indexes.rows import EntryRows
from ragkit.types import Field, Version

Condition: TypeAlias = Any
"""A condition of Qdrant's filters."""

NEVER = Version(0)
"""The version of a collection that was never filled."""

_T = TypeVar("_T")
_META = "meta"
_AT_ONCE, _PAGE, _MOST_VALUES = 200, 1000, 1_000_000
_IDS_AT_ONCE = 5000
_LINKS, _BUILT_WIDE = 32, 200
"""Of each collection's graph. Qdrant's own 16 and 100 find 0.93 of the ten best, these 0.975."""

_GRACE_SECONDS = 3600
"""What went, or was written in vain, stays as long for searches and writers that are slow."""


@dataclass(frozen=True, slots=True)
class Holding:
    """What the server holds of a collection: everything up to a version, and ids up to the last.

    A new ``epoch`` begins where all is written anew; its points are others. ``averages`` are those
    by which its sparse vectors were made.
    """

    epoch: str
    averages: Averages
    version: Version = NEVER
    last: int = 0


def any_of(key: str, values: Iterable[int]) -> Condition:
    """Return the condition that a point has one of some values."""
    return models.FieldCondition(key=key, match=models.MatchAny(any=list(values)))


def is_(key: str, value: int | str) -> Condition:
    """Return the condition that a point has a value."""
    return models.FieldCondition(key=key, match=models.MatchValue(value=value))


def at_least(key: str, value: int) -> Condition:
    """Return the condition that a point's number is not lower."""
    return models.FieldCondition(key=key, range=models.Range(gte=value))


def either(conditions: Sequence[Condition]) -> Condition:
    """Return the condition that one of some conditions holds."""
    return models.Filter(should=list(conditions))


class Points:
    """One collection's points at one level, as they are in a ``Holding``. Immutable."""

    def __init__(self, server: Server, name: str, owner: str, holding: Holding) -> None:
        """Take the Qdrant collection's name, and the library's collection that owns the points."""
        self.holding = holding
        self._server = server
        self._name = name
        self._owner = owner
        self._tenant = f"{owner}/{holding.epoch}"
        self._shard: dict[str, Any] = {}
        if server.distributed:
            bucket = bucket_of(owner)
            server.ensure_bucket(name, bucket)
            self._shard = {"shard_key_selector": bucket}

    def at(self, holding: Holding) -> Points:
        """Return the points as they are in another holding."""
        return Points(self._server, self._name, self._owner, holding)

    def _filter(
        self, must: Sequence[Condition] = (), must_not: Sequence[Condition] = ()
    ) -> models.Filter:
        """Return the filter of everything that is read: what this index holds, and no other's."""
        held = models.FieldCondition(key=ENTRY, range=models.Range(lte=self.holding.last))
        gone = models.FieldCondition(key=GONE, range=models.Range(lte=self.holding.version.number))
        return models.Filter(
            must=[is_(TENANT, self._tenant), held, *must], must_not=[gone, *must_not]
        )

    # -- reading ---------------------------------------------------------------------------

    def count(self, must: Sequence[Condition] = (), must_not: Sequence[Condition] = ()) -> int:
        """Count points."""
        conditions = self._filter(must, must_not)
        response = self._server.call(
            lambda client: client.count(self._name, conditions, exact=True, **self._shard)
        )
        return int(response.count)

    def facet(
        self, key: str, must: Sequence[Condition] = (), must_not: Sequence[Condition] = ()
    ) -> dict[int, int]:
        """Count points by each of their values of a key."""
        conditions = self._filter(must, must_not)
        response = self._server.call(
            lambda client: client.facet(
                self._name, key, conditions, limit=_MOST_VALUES, exact=True, **self._shard
            )
        )
        return {int(hit.value): hit.count for hit in response.hits}

    def scroll(
        self,
        must: Sequence[Condition] = (),
        must_not: Sequence[Condition] = (),
        *,
        payload: Sequence[str] | bool = True,
        vectors: bool = False,
    ) -> Iterator[models.Record]:
        """Yield points, in no order that means anything."""
        conditions, after = self._filter(must, must_not), None
        while True:
            points, after = self._server.call(
                lambda client, after=after: client.scroll(  # type: ignore[misc]
                    self._name,
                    conditions,
                    limit=_PAGE,
                    offset=after,
                    with_payload=payload if isinstance(payload, bool) else list(payload),
                    with_vectors=[DENSE] if vectors else False,
                    **self._shard,
                )
            )
            yield from points
            if after is None:
                return

    def nearest(
        self, using: str, asked: Sequence[Asked], payload: Sequence[str] | bool
    ) -> list[list[models.ScoredPoint]]:
        """Return for each vector the points whose products with it are largest, best first."""
        shard = self._shard.get("shard_key_selector")
        requests = [
            models.QueryRequest(
                query=each.vector,
                using=using,
                filter=self._filter(each.must, each.must_not),
                params=models.SearchParams(exact=not each.width, hnsw_ef=each.width or None)
                if using == DENSE
                else None,
                limit=each.limit,
                with_payload=payload if isinstance(payload, bool) else list(payload),
                shard_key=shard,
            )
            for each in asked
        ]
        if not requests:
            return []
        responses = self._server.call(
            lambda client: client.query_batch_points(self._name, requests)
        )
        return [list(response.points) for response in responses]

    # -- writing ---------------------------------------------------------------------------

    def insert(self, rows: EntryRows) -> None:
        """Write rows of whole chunks; those that are there, or have gone, stay as they are."""
        now = int(time.time())
        points = points_of(rows, self._tenant, self._owner, self.holding.averages, now)
        self._insert(points)

    def retire(self, entry_ids: Sequence[int], version: int) -> None:
        """Mark entries as gone from a version on, also those that were never written."""
        now = int(time.time())
        unwritten = [entry for entry in entry_ids if entry > self.holding.last]
        self._insert(
            tombstone(self._tenant, self._owner, entry, version, now) for entry in unwritten
        )
        for ids in _batches(entry_ids, _IDS_AT_ONCE):
            gone = models.FieldCondition(key=GONE, range=models.Range(lte=version))
            named = models.Filter(
                must=[is_(TENANT, self._tenant), any_of(ENTRY, ids)], must_not=[gone]
            )
            self._server.call(
                lambda client, named=named: client.set_payload(  # type: ignore[misc]
                    self._name, {GONE: version, GONE_AT: now}, named, wait=True, **self._shard
                )
            )

    def purge(self, *, everything: bool) -> None:
        """Delete what went or was written in vain, once nothing can use it any more."""
        before = models.Range(lt=int(time.time()) + 1 - (0 if everything else _GRACE_SECONDS))
        owned = is_(OWNER, self._owner)
        filters = [
            models.Filter(must=[owned, models.FieldCondition(key=GONE_AT, range=before)]),
            models.Filter(
                must=[owned, models.FieldCondition(key=WRITTEN, range=before)],
                must_not=[is_(TENANT, self._tenant)],
            ),
        ]
        for conditions in filters:
            self._server.call(
                lambda client, conditions=conditions: client.delete(  # type: ignore[misc]
                    self._name, models.FilterSelector(filter=conditions), wait=True, **self._shard
                )
            )

    def note(self) -> None:
        """Write down what the server holds now: the last step of a change."""
        held = self.holding
        payload = {
            _META: self._owner,
            "epoch": held.epoch,
            "number": held.version.number,
            "token": held.version.token,
            "last": held.last,
            "plain": held.averages.plain,
            "fields": held.averages.fields,
        }
        point = models.PointStruct(id=_meta_id(self._owner), payload=payload, vector={})
        self._server.call(
            lambda client: client.upsert(self._name, [point], wait=True, **self._shard)
        )

    def _insert(self, points: Iterable[models.PointStruct]) -> None:
        for some in _batches(points, _AT_ONCE):
            self._server.call(
                lambda client, some=some: client.upsert(  # type: ignore[misc]
                    self._name,
                    some,
                    wait=True,
                    update_mode=models.UpdateMode.INSERT_ONLY,
                    **self._shard,
                )
            )


@dataclass(frozen=True, slots=True)
class Asked:
    """One vector that is put to the server: how many points it wants, and under which filter.

    ``width`` is that of the graph's search; 0: all vectors are gone through.
    """

    vector: Any
    limit: int
    must: Sequence[Condition] = ()
    must_not: Sequence[Condition] = ()
    width: int = 0

    def deeper(self, limit: int) -> Asked:
        """Return the same for more points."""
        return replace(self, limit=limit)


def read_holding(server: Server, name: str, owner: str) -> Holding | None:
    """Return what the server says that it holds of a collection; ``None``: nothing yet."""
    shard: dict[str, Any] = {}
    if server.call(lambda _client: server.distributed):
        server.ensure_bucket(name, bucket_of(owner))
        shard = {"shard_key_selector": bucket_of(owner)}
    points = server.call(
        lambda client: client.retrieve(name, [_meta_id(owner)], with_payload=True, **shard)
    )
    if not points or not points[0].payload:
        return None
    payload: Mapping[str, Any] = points[0].payload
    averages = Averages(float(payload["plain"]), float(payload["fields"]))
    version = Version(int(payload["number"]), str(payload["token"]))
    return Holding(str(payload["epoch"]), averages, version, int(payload["last"]))


def ensure_collection(server: Server, name: str, dimensions: int) -> None:
    """Make a Qdrant collection, and what its payloads are found by, unless it is there."""
    if not server.call(lambda client: client.collection_exists(name)):
        try:
            _create_collection(server, name, dimensions)
        except IndexServerError:
            # Another process may have made it meanwhile.
            if not server.call(lambda client: client.collection_exists(name)):
                raise
    there = server.call(lambda client: client.get_collection(name)).payload_schema
    for key, kind in _payload_indexes().items():
        if key in there:
            continue
        server.call(
            lambda client, key=key, kind=kind: client.create_payload_index(  # type: ignore[misc]
                name, key, field_schema=kind, wait=True
            )
        )


def _payload_indexes() -> dict[str, Any]:
    """Return by what points are found besides their vectors.

    Each collection has a graph of its own; without ``enable_hnsw=False``, so would each number of a
    word, a document or a parent: a server of 20,000 entries was busy for minutes.
    """
    whole = models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, enable_hnsw=False)
    name = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, enable_hnsw=False)
    tenant = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
    numbers = [ENTRY, DOCUMENT, PARENT, LEVEL, GONE, GONE_AT, WRITTEN, REPRESENTS, HAS_VECTOR, WEAK]
    for field in Field:
        numbers += [field.value, count_key(field)]
    return {TENANT: tenant, OWNER: name, **dict.fromkeys(numbers, whole)}


def _create_collection(server: Server, name: str, dimensions: int) -> None:
    dense = models.VectorParams(size=dimensions, distance=models.Distance.DOT)
    server.call(
        lambda client: client.create_collection(
            name,
            vectors_config={DENSE: dense},
            sparse_vectors_config={way: models.SparseVectorParams() for way in (PLAIN, FIELDS)},
            hnsw_config=models.HnswConfigDiff(m=0, payload_m=_LINKS, ef_construct=_BUILT_WIDE),
            on_disk_payload=True,
            **server.settings_of_shards(),
        )
    )


def bucket_of(owner: str) -> str:
    """Return the bucket of a collection: all of it lies on one shard of a cluster."""
    return f"b{zlib.crc32(owner.encode()) % BUCKETS:02}"


def _batches(values: Iterable[_T], size: int) -> Iterator[list[_T]]:
    left = iter(values)
    while some := list(islice(left, size)):
        yield some


def _meta_id(owner: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{owner}#meta"))
