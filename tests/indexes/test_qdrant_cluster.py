"""Nodes of a Qdrant cluster are killed while collections are written and searched.

Each collection has two copies: with one node gone, nothing is lost, refused or ranked otherwise,
and once the node is back it has what it missed, so that another may go.
"""

from __future__ import annotations

import threading
import time

import pytest
from entry_source import Kept, Source
from qdrant_nodes import Node, nodes_in
from reference_backend import ReferenceIndex
from support import until
from test_backend_contract import make_rows, queries
from test_qdrant import assert_same, backend_on

from ragkit.errors import IndexServerError
from ragkit.indexes.protocol import IndexKind
from ragkit.indexes.qdrant.server import Server

COLLECTIONS = [Kept(number, str(number)) for number in range(1, 13)]


def assert_all_there(node: Node, source: Source) -> None:
    """A process that knows nothing yet finds everything in every collection, by way of a node."""
    backend = backend_on(Server.at(node.url, ""), source)
    for one in COLLECTIONS:
        assert_same(backend.current(one), ReferenceIndex.of(source.rows[one.id]))


def test_a_node_that_is_killed_takes_nothing_with_it(tmp_path):
    with nodes_in(tmp_path, 3) as nodes:
        source = Source()
        for one in COLLECTIONS:
            source.change(one.id, make_rows(range(100 * one.id, 100 * one.id + 60)), [])
        assert_all_there(nodes[0], source)
        assert set(nodes[0].replicas()) == {"Active"}
        assert all(node.get("collections")["collections"] for node in nodes)

        backend = backend_on(Server.at(nodes[0].url, ""), source)
        indexes = [backend.current(one) for one in COLLECTIONS]
        ended: list[float] = []
        refused: list[str] = []
        over = threading.Event()

        def search() -> None:
            while not over.is_set():
                for index in indexes:
                    try:
                        index.search(queries()).candidates(IndexKind.KEYWORD, 10)
                        ended.append(time.monotonic())
                    except IndexServerError as error:
                        refused.append(error.message)

        searching = threading.Thread(target=search)
        searching.start()
        try:
            until(lambda: len(ended) > 20, seconds=30)
            nodes[2].kill()
            killed = time.monotonic()
            for one in COLLECTIONS:
                more = make_rows(range(100 * one.id + 60, 100 * one.id + 90))
                source.change(one.id, more, [100 * one.id + 3])
                backend.current(one)
            assert "Dead" in nodes[0].replicas()
            until(lambda: sum(at > killed for at in ended) > 20, seconds=30)
        finally:
            over.set()
            searching.join()
        assert refused == []
        assert_all_there(nodes[0], source)

        nodes[2].start()
        until(lambda: set(nodes[0].replicas()) == {"Active"}, seconds=120)
        nodes[1].kill()
        assert_all_there(nodes[0], source)
        assert_all_there(nodes[2], source)

        nodes[0].kill()
        source.change(1, make_rows(range(190, 200)), [])
        with pytest.raises(IndexServerError, match="does not answer"):
            backend.current(COLLECTIONS[0])
        for node in nodes[:2]:
            node.start()
        until(lambda: set(nodes[0].replicas()) == {"Active"}, seconds=120)
        assert_same(backend.current(COLLECTIONS[0]), ReferenceIndex.of(source.rows[1]))
        assert_all_there(nodes[1], source)


def test_a_server_that_is_killed_while_it_is_written_ends_up_with_everything_once(tmp_path):
    with nodes_in(tmp_path, 1) as [node]:
        source = Source()
        source.change(1, make_rows(range(16, 6016)), [])
        backend = backend_on(Server.at(node.url, ""), source)
        ended: list[IndexServerError] = []

        def write() -> None:
            try:
                backend.current(COLLECTIONS[0])
            except IndexServerError as error:
                ended.append(error)

        for least in (500, 2500):
            writing = threading.Thread(target=write)
            writing.start()
            until(lambda least=least: points_on(node) > least, seconds=60)
            node.kill()
            writing.join()
            node.start()
        assert ["does not answer" in error.message for error in ended] == [True, True]
        assert_same(backend.current(COLLECTIONS[0]), ReferenceIndex.of(source.rows[1]))
        assert backend.pop_notice(COLLECTIONS[0]) == ""
        # A point beside the entries says what the server holds.
        assert points_on(node) == len(source.rows[1]) + 1


def points_on(node: Node) -> int:
    """How many points of chunks a server has."""
    names = [each["name"] for each in node.get("collections")["collections"]]
    of_chunks = [name for name in names if name.endswith("-chunk")]
    return sum(node.get(f"collections/{name}")["points_count"] for name in of_chunks)
