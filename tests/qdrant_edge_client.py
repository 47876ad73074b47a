"""Qdrant's own core, in process, behind as much of its client's interface as ragkit uses.

Each Qdrant collection is one shard in a folder, or several: then points lie where their shard key
says, or are spread over all by their ids, and what is asked is gathered, as a cluster does.
"""

from __future__ import annotations

import heapq
import tempfile
import uuid
import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import qdrant_edge as edge
from qdrant_client import QdrantClient, models

from ragkit.indexes.qdrant.index import QdrantIndex, new_holding
from ragkit.indexes.qdrant.server import Server
from ragkit.indexes.qdrant.store import NEVER, Points, ensure_collection
from ragkit.indexes.rows import EntryRows
from ragkit.types import Version

_MEMORY = Path("/dev/shm")
_MODES = {None: None, models.UpdateMode.INSERT_ONLY: edge.UpdateMode.InsertOnly}


class EdgeClient:
    """Shards in folders. ``shards`` > 1 with ``hashed``: points are spread by their ids."""

    def __init__(self, folder: Path, shards: int = 1, *, hashed: bool = False, version="1.20.0"):
        self.folder = folder
        self.shards = shards
        self.hashed = hashed
        self.version = version
        self.requests: Counter[str] = Counter()
        self.indexed: dict[str, Any] = {}
        self._open: dict[str, list[Any]] = {}

    # -- the server ------------------------------------------------------------------------

    def info(self):
        return SimpleNamespace(version=self.version)

    def cluster_status(self):
        clustered = self.shards > 1 and not self.hashed
        return SimpleNamespace(status="enabled" if clustered else "disabled")

    def list_shard_keys(self, name):
        return SimpleNamespace(shard_keys=[SimpleNamespace(key=f"b{n:02}") for n in range(100)])

    def collection_exists(self, name: str) -> bool:
        return bool(self._of(name))

    def create_collection(self, name, vectors_config, sparse_vectors_config, hnsw_config, **_):
        vectors = {
            key: edge.EdgeVectorParams(one.size, edge.Distance.Dot)
            for key, one in vectors_config.items()
        }
        hnsw = edge.HnswIndexConfig(
            m=hnsw_config.m, ef_construct=hnsw_config.ef_construct, full_scan_threshold=10_000,
            payload_m=hnsw_config.payload_m,
        )  # fmt: skip
        sparse = {key: edge.EdgeSparseVectorParams() for key in sparse_vectors_config}
        for number in range(self.shards):
            path = self.folder / name / str(number)
            path.mkdir(parents=True)
            config = edge.EdgeConfig(vectors=vectors, sparse_vectors=sparse, hnsw_config=hnsw)
            edge.EdgeShard.create(str(path), config).close()

    def get_collection(self, name: str):
        return SimpleNamespace(payload_schema=self._of(name)[0].info().payload_schema)

    def create_payload_index(self, name, key, field_schema, wait):
        self.indexed[key] = field_schema
        wanted = field_schema.model_dump(exclude_none=True, exclude={"type"})
        kinds = {"integer": edge.IntegerIndexParams, "keyword": edge.KeywordIndexParams}
        kind = kinds[field_schema.type.value](**wanted)
        self._update(name, edge.UpdateOperation.create_field_index(key, kind))

    def close(self) -> None:
        for shards in self._open.values():
            for shard in shards:
                shard.close()
        self._open = {}

    def shards_with(self, key: str, start: str) -> set[int]:
        """Which shards have points with a value of a key that starts like this."""
        asked = edge.ScrollRequest(limit=100_000, with_payload=[key])
        return {
            number
            for shards in self._open.values()
            for number, shard in enumerate(shards)
            if any(one.payload.get(key, "").startswith(start) for one in shard.scroll(asked)[0])
        }

    def optimize(self) -> None:
        """Have segments merged and graphs built, as a server does by itself."""
        for shards in self._open.values():
            for shard in shards:
                while shard.optimize():
                    pass

    # -- writing ---------------------------------------------------------------------------

    def upsert(self, name, points, wait, update_mode=None, shard_key_selector=None):
        self.requests["upsert"] += 1
        placed: dict[int, list[Any]] = {}
        for point in points:
            vector = {key: _vector(one) for key, one in point.vector.items()}
            made = edge.Point(uuid.UUID(point.id), vector, point.payload)
            placed.setdefault(self._place(point.id, shard_key_selector), []).append(made)
        for number, made in placed.items():
            operation = edge.UpdateOperation.upsert_points(made, None, _MODES[update_mode])
            self._of(name)[number].update(operation)

    def set_payload(self, name, payload, points, wait, shard_key_selector=None):
        self.requests["set_payload"] += 1
        wanted = _filter(points)
        self._update(name, edge.UpdateOperation.set_payload_by_filter(wanted, payload))

    def delete(self, name, points_selector, wait, shard_key_selector=None):
        self.requests["delete"] += 1
        wanted = _filter(points_selector.filter)
        self._update(name, edge.UpdateOperation.delete_points_by_filter(wanted))

    # -- reading ---------------------------------------------------------------------------

    def count(self, name, count_filter, exact, shard_key_selector=None):
        self.requests["count"] += 1
        asked = edge.CountRequest(exact=exact, filter=_filter(count_filter))
        counts = [shard.count(asked) for shard in self._asked(name, shard_key_selector)]
        return SimpleNamespace(count=sum(counts))

    def facet(self, name, key, facet_filter, limit, exact, shard_key_selector=None):
        self.requests["facet"] += 1
        asked = edge.FacetRequest(key, limit=limit, exact=exact, filter=_filter(facet_filter))
        counted: Counter[Any] = Counter()
        for shard in self._asked(name, shard_key_selector):
            counted.update({hit.value: hit.count for hit in shard.facet(asked).hits})
        hits = [SimpleNamespace(value=value, count=count) for value, count in counted.items()]
        return SimpleNamespace(hits=hits)

    def scroll(
        self, name, scroll_filter, limit, offset, with_payload, with_vectors,
        shard_key_selector=None,
    ):  # fmt: skip
        self.requests["scroll"] += 1
        found = []
        for shard in self._asked(name, shard_key_selector):
            points, _next = shard.scroll(
                edge.ScrollRequest(
                    offset, limit + 1, _filter(scroll_filter), with_payload, with_vectors
                )
            )
            found += points
        found.sort(key=lambda point: uuid.UUID(str(point.id)))
        after = found[limit].id if len(found) > limit else None
        return [_record(point) for point in found[:limit]], after

    def retrieve(self, name, ids, with_payload, shard_key_selector=None):
        self.requests["retrieve"] += 1
        wanted = [uuid.UUID(one) for one in ids]
        shards = self._asked(name, shard_key_selector)
        found = [point for shard in shards for point in shard.retrieve(wanted, True, False)]
        return [_record(point) for point in found]

    def query_batch_points(self, name, requests):
        self.requests["query"] += 1
        lists = []
        for each in requests:
            params = each.params and edge.SearchParams(
                exact=bool(each.params.exact), hnsw_ef=each.params.hnsw_ef
            )
            query = edge.Query.Nearest(_vector(each.query), each.using)
            asked = edge.QueryRequest(
                limit=each.limit, query=query, filter=_filter(each.filter), params=params,
                with_payload=each.with_payload, with_vector=False,
            )  # fmt: skip
            found = [
                one for shard in self._asked(name, each.shard_key) for one in shard.query(asked)
            ]
            best = heapq.nlargest(each.limit, found, key=lambda one: one.score)
            points = [
                SimpleNamespace(id=one.id, score=one.score, payload=one.payload) for one in best
            ]
            lists.append(SimpleNamespace(points=points))
        return lists

    # -- shards ----------------------------------------------------------------------------

    def _of(self, name: str) -> list[Any]:
        if name not in self._open:
            folders = sorted((self.folder / name).glob("*"))
            self._open[name] = [edge.EdgeShard.load(str(path)) for path in folders]
            if not folders:
                del self._open[name]
                return []
        return self._open[name]

    def _asked(self, name: str, key: str | None) -> list[Any]:
        shards = self._of(name)
        return shards if key is None or self.hashed else [shards[self._place("", key)]]

    def _place(self, point: str, key: str | None) -> int:
        if key is not None and not self.hashed:
            return int(key[1:]) % self.shards
        return uuid.UUID(point).int % self.shards if self.shards > 1 else 0

    def _update(self, name: str, operation: Any) -> None:
        for shard in self._of(name):
            shard.update(operation)


def _record(point: Any) -> models.Record:
    vector = point.vector if isinstance(point.vector, dict) else {}
    return models.Record(id=str(point.id), payload=point.payload, vector=vector)


def _vector(value: Any) -> Any:
    if isinstance(value, models.SparseVector):
        return edge.SparseVector(value.indices, value.values)
    return value


def _filter(wanted: models.Filter) -> edge.Filter:
    parts = [
        [_condition(one) for one in part] if part else None
        for part in (wanted.must, wanted.should, wanted.must_not)
    ]
    return edge.Filter(*parts)


def _condition(one: Any) -> Any:
    if isinstance(one, models.Filter):
        return _filter(one)
    if isinstance(one, models.IsEmptyCondition):
        return edge.IsEmptyCondition(one.is_empty.key)
    if one.range is not None:
        bounds = one.range
        found = edge.RangeFloat(gte=bounds.gte, gt=bounds.gt, lte=bounds.lte, lt=bounds.lt)
        return edge.FieldCondition(one.key, range=found)
    match = one.match
    if isinstance(match, models.MatchAny):
        return edge.FieldCondition(one.key, match=edge.MatchAny(list(match.any)))
    return edge.FieldCondition(one.key, match=edge.MatchValue(match.value))


@contextmanager
def memory_folder(folder: Path) -> Iterator[Path]:
    """A folder in memory where that can be, or the given one."""
    with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else folder) as name:
        yield Path(name)


def edge_client(folder: Path, shards: int = 1, *, hashed: bool = False) -> EdgeClient:
    """Qdrant's core, in memory where that can be: it waits for the disk at every index it makes."""
    if not _MEMORY.is_dir():
        return EdgeClient(folder, shards, hashed=hashed)
    temporary = tempfile.TemporaryDirectory(dir=_MEMORY)
    client = EdgeClient(Path(temporary.name), shards, hashed=hashed)
    weakref.finalize(client, temporary.cleanup)
    return client


def edge_server(folder: Path, shards: int = 1, *, hashed: bool = False) -> Server:
    """Qdrant's core, as a server."""
    client = edge_client(folder, shards, hashed=hashed)
    return Server(str(folder), lambda: client)


class _LocalClient(QdrantClient):
    def create_payload_index(self, *_arguments: object, **_named: object) -> None:
        """Do nothing, as the client does here after a warning."""

    def query_batch_points(self, name: str, requests: list[models.QueryRequest]) -> Any:
        # It always goes through all vectors, and warns where that is asked for.
        plain = [each.model_copy(update={"params": None}) for each in requests]
        return super().query_batch_points(name, plain)


def memory_server(_folder: Path) -> Server:
    """The client's local mode, in which nothing is indexed, as a server."""
    client = _LocalClient(":memory:")
    return Server(":memory:", lambda: client)


def index_of(rows: EntryRows, server: Server, version: Version = NEVER) -> QdrantIndex:
    """An index of rows on a server, of no collection in particular."""
    ensure_collection(server, "rows", rows.dimensions)
    points = Points(server, "rows", uuid.uuid4().hex, new_holding(rows))
    return QdrantIndex(points, rows.dimensions).changed([rows], (), version)
