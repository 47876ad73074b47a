"""Indexes on a Qdrant server: slow and killed processes, shards, and servers that refuse."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from entry_source import DIMENSIONS, Embedder, Kept, Source
from index_rows import each
from qdrant_client import models
from qdrant_client.http.exceptions import ResponseHandlingException
from qdrant_edge_client import (
    EdgeClient,
    edge_client,
    edge_server,
    index_of,
    memory_folder,
    memory_server,
)
from qdrant_nodes import nodes_in, real_server
from qdrant_writer import full_source, rows_at
from reference_backend import ReferenceIndex
from test_backend_contract import FILTERS, assert_agree, make_rows, queries

from ragkit.errors import IndexServerError
from ragkit.indexes.bm25 import FIELD_WEIGHTS
from ragkit.indexes.protocol import EntryIndex, IndexKind, IndexQuery, VectorSearch
from ragkit.indexes.qdrant.backend import QdrantBackend
from ragkit.indexes.qdrant.index import QdrantIndex
from ragkit.indexes.qdrant.points import TENANT, Averages
from ragkit.indexes.qdrant.server import Server
from ragkit.indexes.qdrant.store import Holding, Points, bucket_of, ensure_collection
from ragkit.indexes.rows import EntryRows, TokenColumn
from ragkit.options import IndexMode
from ragkit.types import Field, Version

ONE = Kept(1, "one")


def backend_on(server: Server, source: Source) -> QdrantBackend:
    return QdrantBackend(source, Embedder(), server)


def assert_same(index: EntryIndex, oracle: ReferenceIndex, weights=None, depth: int = 9) -> None:
    """Both find the same by words and by vectors, in the same order and with the same scores."""
    for name in ("none", "most documents", "all at once", "representatives", "chunks"):
        searches = [one.search(queries(), FILTERS[name], weights) for one in (index, oracle)]
        for kind in IndexKind:
            found = each(searches[0].candidates(kind, depth), len(queries()))
            everything = each(searches[1].candidates(kind, 10_000), len(queries()))
            for one, other in zip(found, everything, strict=True):
                assert_agree(one, other, depth, 1.0)


def points_in(client: EdgeClient) -> Counter[int]:
    """How many points there are of each entry that has not gone, whatever holds them."""
    everything = models.Filter(
        must_not=[models.FieldCondition(key="gone", range=models.Range(gte=0))]
    )
    names = [path.name for path in client.folder.iterdir()]
    found = (client.scroll(name, everything, 100_000, None, True, False)[0] for name in names)
    return Counter(
        point.payload["entry"] for of in found for point in of if "entry" in point.payload
    )


# -- ranking -------------------------------------------------------------------------------


def titled_rows(ids: range) -> EntryRows:
    """Rows whose titles stand in their texts twice, as in a catalog, but for one in eight."""
    plain = make_rows(ids)
    texts, titles, topics = [], [], []
    for row, entry in enumerate(ids):
        random = np.random.default_rng([7, entry])
        title = (random.zipf(1.6, 2) % 12 + 3).tolist()
        own = (random.zipf(1.4, 3 + entry % 40) % 40 + 3).tolist()
        texts.append(own if entry % 8 == 0 else [*title, *title, *own])
        titles.append(title)
        topics.append((random.zipf(1.5, 2) % 40 + 3).tolist() if row % 3 else [])
    tokens = {Field.TEXT: texts, Field.TITLE: titles, Field.TOPIC: topics}
    return replace(plain, tokens={name: TokenColumn.of(of) for name, of in tokens.items()})


@pytest.mark.parametrize("then", [1.0, 0.3, 4.0], ids=["as now", "shorter", "longer"])
@pytest.mark.parametrize("weights", [None, FIELD_WEIGHTS], ids=["texts", "fields"])
def test_ranking_is_exact_however_long_entries_were_when_they_were_first_written(
    tmp_path, weights, then
):
    rows = titled_rows(range(16, 400))
    server = edge_server(tmp_path)
    ensure_collection(server, "rows", DIMENSIONS)
    now = Averages.of(rows)
    holding = Holding(uuid4().hex, Averages(now.plain * then, now.fields * then))
    empty = QdrantIndex(Points(server, "rows", "one", holding), DIMENSIONS)
    index = empty.changed([rows], (), Version(1))
    assert_same(index, ReferenceIndex.of(rows), weights)


def test_the_clients_local_mode_finds_the_same(tmp_path):
    rows = make_rows(range(16, 80), several=True)
    assert_same(index_of(rows, memory_server(tmp_path)), ReferenceIndex.of(rows))


def test_the_graph_of_a_collection_finds_nearly_all(tmp_path):
    client = edge_client(tmp_path)
    server = Server("core", lambda: client)
    random = np.random.default_rng(3)
    rows = make_rows(range(16, 6016))
    vectors = random.standard_normal((len(rows), DIMENSIONS))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    index = index_of(replace(rows, vectors=vectors.astype(np.float16)), server)
    client.optimize()
    asked = [IndexQuery(vector=one.astype(np.float32)) for one in vectors[:20]]
    lists = []
    for mode in (IndexMode.EXACT, IndexMode.ANN):
        search = index.search(asked, None, None, VectorSearch(mode, nprobe=4))
        assert bool(search.strategy(10).width) == (mode is IndexMode.ANN)
        lists.append(each(search.candidates(IndexKind.VECTOR, 10), len(asked)))
    shares = [
        len(set(one.entry_ids.tolist()) & set(other.entry_ids.tolist())) / 10
        for one, other in zip(*lists, strict=True)
    ]
    assert np.mean(shares) >= 0.97


def test_only_collections_have_graphs(tmp_path):
    client = edge_client(tmp_path)
    ensure_collection(Server("core", lambda: client), "rows", DIMENSIONS)
    assert {Field.TEXT.value, "document", TENANT} <= client.indexed.keys()
    with_graph = [key for key, kind in client.indexed.items() if kind.enable_hnsw is not False]
    assert with_graph == [TENANT]


def test_what_was_told_of_a_version_is_not_asked_again(tmp_path):
    client = edge_client(tmp_path)
    rows = make_rows(range(16, 400), several=True)
    index = index_of(rows, Server("core", lambda: client))

    def ask() -> list[object]:
        told: list[object] = []
        for name in ("none", "chunks", "representatives"):
            search = index.search(queries(), FILTERS[name], None, VectorSearch(IndexMode.ANN))
            told += [search.documents(kind).tolist() for kind in IndexKind]
            told += [search.passing, search.strategy(10).why]
        return told

    first = ask()
    client.requests.clear()
    assert ask() == first
    assert client.requests["facet"] == client.requests["count"] == 0
    # Under a filter by ids, it is asked each time.
    index.search(queries(), FILTERS["most documents"]).documents(IndexKind.VECTOR)
    assert client.requests["facet"] == 1


@pytest.mark.parametrize("hashed", [False, True], ids=["by collection", "by id"])
def test_over_four_shards_every_collection_is_ranked_as_alone(tmp_path, hashed):
    client = edge_client(tmp_path, 4, hashed=hashed)
    server = Server("four shards", lambda: client)
    source = Source()
    kept = [Kept(number, str(number)) for number in range(1, 7)]
    for one in kept:
        source.change(one.id, make_rows(range(100 * one.id, 100 * one.id + 60)), [])
    backend = backend_on(server, source)
    for one in kept:
        # No shard's own statistics are asked, so scores are the same wherever points lie.
        assert_same(backend.current(one), ReferenceIndex.of(source.rows[one.id]))
    shards = {one.id: client.shards_with(TENANT, f"library/{one.id}/") for one in kept}
    if not hashed:
        assert {len(of_one) for of_one in shards.values()} == {1}
        assert len({bucket_of(f"library/{one.id}") for one in kept}) > 1
    else:
        assert {len(of_one) for of_one in shards.values()} == {4}


# -- who writes, and what becomes of it ----------------------------------------------------


def test_libraries_that_share_a_server_are_strictly_apart(tmp_path):
    server = edge_server(tmp_path)
    sources = [Source("first"), Source("second")]
    for number, source in enumerate(sources):
        source.change(1, make_rows(range(16 + 40 * number, 56 + 40 * number)), [])
    for source in (*sources, *sources):
        index = backend_on(server, source).current(ONE)
        assert_same(index, ReferenceIndex.of(source.rows[1]))


@pytest.mark.parametrize("slow_first", [False, True])
def test_a_process_that_is_slow_brings_nothing_back_that_went_meanwhile(tmp_path, slow_first):
    server, source = edge_server(tmp_path), Source()
    source.change(1, make_rows(range(16, 60)), [])
    slow = backend_on(server, source).current(ONE)
    source.change(1, make_rows(range(60, 90)), [20, 21])
    late = source.changes(1, [], after=59, since=slow.version, fingerprint="", dimensions=0)
    # What came with the second change goes with the third.
    source.change(1, make_rows(range(90, 95)), [22, 70, 71])
    if slow_first:
        slow.changed([late.added], late.removed.tolist(), late.version)
    quick = backend_on(server, source).current(ONE)
    before = found_ids(quick)
    if not slow_first:
        slow.changed([late.added], late.removed.tolist(), late.version)
    expected = [one for one in range(16, 95) if one not in (20, 21, 22, 70, 71)]
    for index in (quick, backend_on(server, source).current(ONE)):
        assert index.scan().entry_ids.tolist() == expected
        assert_same(index, ReferenceIndex.of(source.rows[1]))
    assert found_ids(quick) == before


def found_ids(index: EntryIndex) -> list[int]:
    return index.search(queries()).candidates(IndexKind.KEYWORD, 50).entry_ids.tolist()


def test_a_catalog_of_another_history_and_lost_points_have_all_written_anew(tmp_path):
    client, source = edge_client(tmp_path), Source()
    server = Server("core", lambda: client)
    source.change(1, make_rows(range(16, 60)), [])
    backend = backend_on(server, source)
    backend.current(ONE)
    restored = Source()
    restored.history = "other"
    restored.change(1, make_rows(range(16, 50), seed=4), [])
    index = backend_on(server, restored).current(ONE)
    assert_same(index, ReferenceIndex.of(restored.rows[1]))
    [name] = [path.name for path in client.folder.iterdir() if path.name.endswith("-chunk")]
    lost = models.Filter(must=[models.FieldCondition(key="entry", range=models.Range(lt=20))])
    client.delete(name, models.FilterSelector(filter=lost), wait=True)
    again = backend_on(server, restored)
    assert_same(again.current(ONE), ReferenceIndex.of(restored.rows[1]))
    assert "some of its entries were missing" in again.pop_notice(ONE)
    assert again.pop_notice(ONE) == ""


def test_what_went_is_deleted_once_nobody_can_need_it(tmp_path, monkeypatch):
    client, source = edge_client(tmp_path), Source()
    server = Server("core", lambda: client)
    source.change(1, make_rows(range(16, 60)), [])
    backend = backend_on(server, source)
    backend.save(ONE)
    backend.rebuild(ONE)
    source.change(1, make_rows(range(0)), [16, 17])
    backend.save(ONE)
    name = next(path.name for path in client.folder.iterdir() if path.name.endswith("-chunk"))
    everything = models.Filter(must=[models.FieldCondition(key="entry", range=models.Range(gte=0))])
    assert client.count(name, everything, exact=True).count == 88
    monkeypatch.setattr("ragkit.indexes.qdrant.store._GRACE_SECONDS", -10)
    backend.save(ONE)
    assert client.count(name, everything, exact=True).count == 42
    source.change(1, make_rows(range(0)), list(range(18, 60)))
    monkeypatch.undo()
    backend.save(ONE)
    # Of a collection without entries nothing stays, for it may be gone for good.
    assert client.count(name, everything, exact=True).count == 0


def test_a_writer_that_is_killed_loses_nothing_and_doubles_nothing(tmp_path):
    with memory_folder(tmp_path) as folder:
        for writes in (2, 5, 7, 3):
            child = subprocess.Popen(
                [sys.executable, str(Path(__file__).parents[1] / "qdrant_writer.py"), str(folder)],
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            )
            assert child.stdout is not None
            for _ in range(writes):
                assert child.stdout.readline() == "written\n"
            child.send_signal(signal.SIGKILL)
            assert child.wait() == -signal.SIGKILL
            child.stdout.close()
        client = EdgeClient(folder)
        source = full_source()
        index = backend_on(Server("core", lambda: client), source).current(ONE)
        assert index.scan().entry_ids.tolist() == source.rows[1].entry_ids.tolist()
        counts = points_in(client)
        assert sorted(counts) == source.rows[1].entry_ids.tolist()
        assert set(counts.values()) == {1}
        client.close()


# -- servers -------------------------------------------------------------------------------


@contextmanager
def answering(status: int, said: object) -> Iterator[str]:
    """A server of the web that gives one answer to everything."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_said: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("status", "answer", "expected"),
    [
        (200, {"title": "qdrant", "version": "1.19.4"}, "is Qdrant 1.19.4: 1.20 is the oldest"),
        (401, {"status": {"error": "Invalid API key"}}, "does not accept the key"),
        (500, {"status": {"error": "Out of disk."}}, "refused a request: Out of disk."),
    ],
)
def test_a_server_that_is_too_old_or_refuses_is_named_with_a_cure(status, answer, expected):
    with answering(status, answer) as url:
        backend = backend_on(Server.at(url, "sesame"), Source())
        with (
            pytest.warns(UserWarning, match="insecure connection"),
            pytest.raises(IndexServerError) as caught,
        ):
            backend.current(ONE)
    assert expected in caught.value.message
    assert url in caught.value.message
    assert caught.value.cure
    assert "sesame" not in str(caught.value)


def test_nobody_answers(tmp_path):
    with answering(200, {}) as url:
        pass
    backend = backend_on(Server.at(url, ""), Source())
    with pytest.raises(IndexServerError, match="does not answer") as caught:
        backend.current(ONE)
    assert "Nothing is lost" in caught.value.cure
    assert backend.save(ONE) == 0
    with pytest.raises(IndexServerError):
        backend.save(ONE, always=True)


def test_a_server_that_comes_back_is_brought_up_to_date_by_the_next_search(tmp_path):
    client, source = _Failing(edge_client(tmp_path)), Source()
    server = Server("core", lambda: client)
    source.change(1, make_rows(range(16, 60)), [])
    backend = backend_on(server, source)
    first = backend.current(ONE)
    client.away = True
    source.change(1, make_rows(range(60, 70)), [30])
    assert backend.save(ONE) == 0
    for ask in (lambda: backend.current(ONE), lambda: found_ids(first)):
        with pytest.raises(IndexServerError, match="does not answer"):
            ask()
    client.away = False
    assert_same(backend.current(ONE), ReferenceIndex.of(source.rows[1]))


class _Failing:
    """A client whose server is away at times."""

    def __init__(self, client: EdgeClient) -> None:
        self._client = client
        self.away = False

    def __getattr__(self, name: str):
        if self.away:
            raise ResponseHandlingException(OSError("connection refused"))
        return getattr(self._client, name)


def test_a_real_server_holds_what_the_core_holds(tmp_path):
    with real_server(tmp_path) as server:
        source = Source(f"test-{uuid4().hex}")
        source.change(1, make_rows(range(16, 208), several=True), [])
        backend = backend_on(server, source)
        assert_same(backend.current(ONE), ReferenceIndex.of(source.rows[1]))
        source.change(1, titled_rows(range(208, 400)), list(range(20, 40)))
        index = backend.current(ONE)
        assert_same(index, ReferenceIndex.of(source.rows[1]), FIELD_WEIGHTS)
        again = backend_on(server, source).current(ONE)
        assert again.entries == len(source.rows[1])
        assert rows_at(again) == rows_at(index)
        source.change(1, make_rows(range(0)), source.rows[1].entry_ids.tolist())
        backend.save(ONE, always=True)


def test_a_real_server_wants_its_key(tmp_path):
    with nodes_in(tmp_path, 1, key="sesame") as [node]:
        backend = backend_on(Server.at(node.url, "open"), Source())
        with (
            pytest.warns(UserWarning, match="insecure connection"),
            pytest.raises(IndexServerError, match="does not accept the key"),
        ):
            backend.current(ONE)
