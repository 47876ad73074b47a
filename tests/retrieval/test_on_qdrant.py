"""The sample's questions, asked of indexes in files and of indexes on a Qdrant server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from qdrant_edge_client import edge_server
from qdrant_nodes import real_server

from ragkit.indexes.qdrant.backend import QdrantBackend
from ragkit.indexes.qdrant.server import Server
from ragkit.library import Library
from ragkit.options import Contexts, Granularity, Mode, SearchOptions
from ragkit.retrieval.search import SearchEngine

SAMPLE_DATA = Path(__file__).resolve().parents[2] / "sample_data"

OPTIONS = [
    SearchOptions(),
    SearchOptions(mode=Mode.KEYWORD),
    SearchOptions(contexts=Contexts.STRUCTURAL, granularity=Granularity.SECTION),
]


@pytest.fixture(params=["core", "server"])
def server(request, tmp_path) -> Iterator[Server]:
    if request.param == "core":
        yield edge_server(tmp_path)
    else:
        with real_server(tmp_path) as started:
            yield started


@pytest.mark.parametrize("name", ["sample", "noted_sample"])
def test_every_question_finds_the_same_documents_in_the_same_order(name, request, server):
    library: Library = request.getfixturevalue(name)
    source, embedder = library.catalog.entries, library.engine.embedder
    remote = SearchEngine(library.catalog, QdrantBackend(source, embedder, server), embedder)
    lines = (SAMPLE_DATA / "questions.jsonl").read_text("utf-8").splitlines()
    asked = [json.loads(line)["text"] for line in lines]
    found = 0
    for options in OPTIONS:
        for question in [*asked, "type:md refund", "meeting -buoy"]:
            one, other = (engine.search(question, options) for engine in (library.engine, remote))
            documents = [result.document.id for result in one.results]
            assert [result.document.id for result in other.results] == documents, question
            scores = [result.score for result in one.results]
            assert [result.score for result in other.results] == pytest.approx(scores, abs=1e-5)
            found += len(documents)
    assert found > len(asked)
