from __future__ import annotations

import time

import pytest
from ollama_clients import HELLO
from ollama_stand_in import EMBEDDER, WRITER, Model

from ragkit.errors import (
    ModelMissingError,
    ModelUnsuitableError,
    OllamaAnswerError,
    OllamaOutOfMemoryError,
    OllamaRestingError,
    OllamaServerError,
    OllamaUnreachableError,
)
from ragkit.models.ollama_text import ModelInfo


def test_health_says_what_is_there(ask, server):
    health = ask().health()
    assert (health.reachable, health.version) == (True, "0.12.0")
    assert health.models == (WRITER, EMBEDDER)
    assert health.sentence == "Ollama 0.12.0 answers with 2 models."
    assert health.cure == ""
    server.version, server.models = "0.4.7", {}
    health = ask().health()
    assert health.reachable
    assert health.cure == "Update Ollama to 0.5 or later."
    server.version = "0.12.0"
    assert "ollama pull" in ask().health().cure


def test_health_without_a_server_is_a_sentence_and_comes_back(ask, server):
    client = ask(retries=0, rest_after=1)
    server.stop()
    started = time.perf_counter()
    health = client.health()
    assert time.perf_counter() - started < 10
    assert not health.reachable
    assert health.sentence == f"Ollama does not answer at {server.url}."
    assert "ollama serve" in health.cure
    with pytest.raises(OllamaUnreachableError):
        client.chat(HELLO, WRITER)
    with pytest.raises(OllamaRestingError):
        client.chat(HELLO, WRITER)
    server.start()
    assert client.health().reachable
    assert client.chat(HELLO, WRITER).text == "This is about the quarterly report."


@pytest.mark.parametrize("failure", ["html", "not-an-object"])
def test_something_else_at_the_address_is_said(ask, server, failure):
    server.failure = failure
    health = ask().health()
    assert not health.reachable
    assert health.sentence == f"The server at {server.url} is not Ollama."
    assert "models.ollama_url" in health.cure


def test_models_are_listed_and_shown_once(ask, server):
    client = ask()
    wanted = (
        ModelInfo(WRITER, ("completion", "tools"), 8192, 32, 2_019_393_189, "a" * 64),
        ModelInfo(EMBEDDER, ("embedding",), 2048, 32, 274_302_450, "b" * 64),
    )
    assert client.models() == wanted
    assert client.models() == wanted
    assert len(server.asked("/api/show")) == 2
    assert client.model("nomic-embed-text").embeds
    assert not client.model(WRITER).embeds
    with pytest.raises(ModelMissingError, match="absent") as caught:
        client.model("absent")
    assert "ollama pull absent" in caught.value.cure


def test_a_server_that_does_not_tell_capabilities_is_understood(ask, server):
    server.models = {"old:1": Model((), 2048)}
    assert ask().model("old:1").writes


@pytest.mark.parametrize("name", ["gpt-oss:120b-cloud", "mine:latest"])
def test_a_model_that_runs_elsewhere_is_refused(ask, server, name):
    server.models[name] = Model(("completion",), 8192, remote=name.startswith("mine"))
    with pytest.raises(ModelUnsuitableError, match="would leave"):
        ask().chat(HELLO, name)
    assert server.asked("/api/chat") == []
    assert ask(allow_remote=True).chat(HELLO, name).text


def test_a_download_tells_how_far_it_is(ask, server):
    client = ask()
    progress = list(client.pull("new-model"))
    assert [(one.done, one.total) for one in progress if one.total] == [
        (0, 100),
        (50, 100),
        (100, 100),
    ]
    assert progress[-1].status == "success"
    assert client.chat(HELLO, "new-model").text
    with pytest.raises(ModelMissingError, match="nope"):
        list(client.pull("nope"))
    server.failure = "silent-end"
    with pytest.raises(OllamaUnreachableError, match="in the middle of"):
        list(client.pull("other"))


@pytest.mark.parametrize("name", ["", "../x", "a b", "x" * 300, "big:120b-cloud", "-x", "a\nb"])
def test_what_is_no_local_model_is_not_downloaded(ask, server, name):
    with pytest.raises(ModelUnsuitableError, match="not the name"):
        list(ask().pull(name))
    assert server.requests == []


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        ("stream-error", OllamaServerError),
        ("close-midway", OllamaUnreachableError),
        ("silent-end", OllamaUnreachableError),
        ("close", OllamaUnreachableError),
        ("html", OllamaUnreachableError),
        ("half-json", OllamaAnswerError),
        ("not-an-object", OllamaAnswerError),
        ("out-of-memory", OllamaOutOfMemoryError),
    ],
)
def test_a_download_that_dies_says_so(ask, server, failure, kind):
    server.failure = failure
    with pytest.raises(kind) as caught:
        list(ask().pull("new-model"))
    assert type(caught.value) is kind
    assert caught.value.cure


def test_a_download_refused_or_left_early_does_no_harm(ask, server):
    client = ask(retries=0)
    first = client.pull("new-model")
    assert next(first).status
    first.close()
    assert client.chat(HELLO, WRITER).text
    server.stop()
    with pytest.raises(OllamaUnreachableError):
        next(client.pull("new-model"))
