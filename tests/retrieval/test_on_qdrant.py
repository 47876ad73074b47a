"""The sample's questions, asked of indexes in files and of indexes on a Qdrant server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from qdrant_edge_client import edge_server

from ragkit.indexes.qdrant.backend import QdrantBackend
from ragkit.library import Library
from ragkit.options import Contexts, Granularity, Mode, SearchOptions
from ragkit.retrieval.search import SearchEngine

SAMPLE_DATA = Path(__file__).resolve().parents[2] / "sample_data"

OPTIONS = [
    SearchOptions(),
    SearchOptions(mode=Mode.KEYWORD),
    SearchOptions(contexts=Contexts.STRUCTURAL, granularity=Granularity.SECTION),
]


def on_qdrant(library: Library, folder) -> SearchEngine:
    source, embedder = library.catalog.entries, library.engine.embedder
    backend = QdrantBackend(source, embedder, edge_server(folder))
    return SearchEngine(library.catalog, backend, embedder)


@pytest.mark.parametrize("name", ["sample", "noted_sample"])
def test_every_question_finds_the_same_documents_in_the_same_order(name, request, tmp_path):
    library: Library = request.getfixturevalue(name)
    remote = on_qdrant(library, tmp_path)
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
