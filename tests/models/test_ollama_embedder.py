from __future__ import annotations

import numpy as np
import pytest
from ollama_stand_in import EMBEDDER, WRITER, Model

from ragkit.errors import (
    ModelMissingError,
    ModelUnsuitableError,
    OllamaAnswerError,
    OllamaUnreachableError,
    SettingsError,
)
from ragkit.models.base import Embedder
from ragkit.models.factory import open_embedder
from ragkit.models.ollama import OllamaClient
from ragkit.models.ollama_embedder import OllamaEmbedder
from ragkit.models.prefixes import Prefixes, prefixes_of
from ragkit.settings import ModelSettings


@pytest.fixture
def opened(server):
    """Open embedders as the settings would, and close them."""
    made: list[OllamaEmbedder] = []

    def make(model: str = "nomic-embed-text") -> OllamaEmbedder:
        embedder = open_embedder(ModelSettings(embedder=f"ollama:{model}", ollama_url=server.url))
        assert isinstance(embedder, OllamaEmbedder)
        made.append(embedder)
        return embedder

    yield make
    for embedder in made:
        embedder.close()


def test_it_keeps_the_contract(opened):
    embedder = opened()
    assert isinstance(embedder, Embedder)
    assert (embedder.name, embedder.dimensions) == (f"ollama:{EMBEDDER}", 32)
    vectors = embedder.embed_passages(["a red apple", "", " \n", "日本語の文書", "a red apple"])
    assert (vectors.shape, vectors.dtype) == ((5, 32), np.float32)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 0, 0, 1, 1], abs=1e-5)
    assert np.array_equal(vectors[0], vectors[4])
    query = embedder.embed_queries(["a red apple"])[0]
    assert query.shape == (32,)
    assert np.linalg.norm(query) == pytest.approx(1, abs=1e-5)
    assert not embedder.embed_queries([" "])[0].any()
    assert embedder.embed_passages([]).shape == (0, 32)


def test_questions_and_passages_get_what_the_model_was_trained_with(opened, server):
    embedder = opened()
    embedder.embed_passages(["a passage"])
    embedder.embed_queries(["a question"])
    assert [one.body["input"] for one in server.asked("/api/embed")[-2:]] == [
        ["search_document: a passage"],
        ["search_query: a question"],
    ]


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("nomic-embed-text", "search_query: ", "search_document: "),
        ("nomic-embed-text-v2-moe:latest", "search_query: ", "search_document: "),
        ("embeddinggemma:300m", "task: search result | query: ", "title: none | text: "),
        ("mxbai-embed-large", "Represent this sentence for searching relevant passages: ", ""),
        ("someone/snowflake-arctic-embed2:568m", "query: ", ""),
        ("jeffh/intfloat-multilingual-e5-large:f16", "query: ", "passage: "),
        ("bge-m3", "", ""),
        ("all-minilm", "", ""),
    ],
)
def test_prefixes_are_found_by_name(model, query, passage):
    assert prefixes_of(model) == Prefixes(query, passage)


def test_qwen_gets_an_instruction():
    prefixes = prefixes_of("qwen3-embedding:0.6b")
    assert prefixes.query.startswith("Instruct: ")
    assert prefixes.query.endswith("\nQuery:")
    assert prefixes.passage == ""


def test_the_fingerprint_follows_model_weights_and_length(opened, server):
    first = opened().fingerprint
    assert first.startswith("ollama-32-")
    assert opened(EMBEDDER).fingerprint == first
    server.models[EMBEDDER].digest = "d" * 64
    replaced = opened().fingerprint
    server.models["all-minilm:latest"] = Model(("embedding",), 512, digest="d" * 64)
    other = opened("all-minilm").fingerprint
    server.dimensions = 16
    assert len({first, replaced, other, opened("all-minilm").fingerprint}) == 4


def test_a_replaced_model_is_noticed(server):
    now = [0.0]
    with OllamaClient(ModelSettings(ollama_url=server.url)) as client:
        opened = OllamaEmbedder.open(client, EMBEDDER)
        embedder = OllamaEmbedder(client, opened._info, 32, clock=lambda: now[0])
        server.models[EMBEDDER].digest = "d" * 64
        assert embedder.embed_passages(["within the time"]).any()
        now[0] = 31
        with pytest.raises(ModelUnsuitableError, match="replaced"):
            embedder.embed_passages(["later"])


def test_what_cannot_embed_is_not_opened(opened, server):
    with pytest.raises(ModelMissingError, match="ollama pull absent"):
        opened("absent")
    with pytest.raises(ModelUnsuitableError, match="not an embedding model"):
        opened(WRITER)
    with pytest.raises(SettingsError, match="does not name an Ollama model"):
        opened("")
    for failure in ("nan", "zeros", "half-json"):
        server.failure = failure
        with pytest.raises(OllamaAnswerError):
            opened()


def test_vectors_of_another_length_never_join(opened, server):
    embedder = opened()
    server.dimensions = 16
    with pytest.raises(OllamaAnswerError, match="16 dimensions instead of 32"):
        embedder.embed_passages(["one"])
    with pytest.raises(OllamaAnswerError, match="16 dimensions instead of 32"):
        embedder.embed_queries(["one"])


def test_without_ollama_it_is_said_at_once():
    settings = ModelSettings(embedder="ollama:x", ollama_url="http://127.0.0.1:9", retries=0)
    with pytest.raises(OllamaUnreachableError, match="does not answer"):
        open_embedder(settings)
