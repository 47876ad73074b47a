from __future__ import annotations

import pickle

import ollama
import pytest
from ollama_clients import HELLO
from ollama_stand_in import EMBEDDER, WRITER

from ragkit import errors
from ragkit.errors import (
    OllamaAnswerError,
    OllamaError,
    OllamaOutOfMemoryError,
    OllamaServerError,
    OllamaUnreachableError,
    SettingsError,
)
from ragkit.models.context_writer import writing_model
from ragkit.models.ollama import OllamaClient
from ragkit.models.ollama_embedder import OllamaEmbedder
from ragkit.models.ollama_errors import named_error
from ragkit.settings import ModelSettings


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org:11434",
        "example.org",
        "http://127.0.0.1@example.org",
        "http://192.168.1.5:11434",
        "http://localhost.example.org",
        "https://[2001:db8::1]:443",
    ],
)
def test_another_machine_is_refused_unless_allowed(url):
    with pytest.raises(SettingsError, match="would leave this machine") as caught:
        OllamaClient(ModelSettings(ollama_url=url))
    assert "allow_remote" in caught.value.cure
    assert OllamaClient(ModelSettings(ollama_url=url, allow_remote=True)).url.endswith(url)


@pytest.mark.parametrize("url", ["", "http://", "ftp://localhost", "http://localhost:port", "[::1"])
def test_what_is_no_address_is_refused(url):
    with pytest.raises(SettingsError, match="Invalid address"):
        OllamaClient(ModelSettings(ollama_url=url))


@pytest.mark.parametrize(
    ("url", "used"),
    [
        ("localhost:11434", "http://localhost:11434"),
        ("http://[::1]:11434", "http://[::1]:11434"),
        ("http://127.8.9.1", "http://127.8.9.1"),
        ("http://0.0.0.0:11434", "http://127.0.0.1:11434"),
    ],
)
def test_this_machine_has_several_addresses(url, used):
    assert OllamaClient(ModelSettings(ollama_url=url)).url == used


@pytest.mark.parametrize(
    ("failure", "kind", "words", "cure", "calls"),
    [
        ("html", OllamaUnreachableError, "is not Ollama", "models.ollama_url", 3),
        ("half-json", OllamaAnswerError, "sent an invalid answer", "update Ollama", 1),
        ("not-an-object", OllamaAnswerError, "sent an invalid answer", "update Ollama", 1),
        ("out-of-memory", OllamaOutOfMemoryError, "enough memory", "smaller model", 1),
        ("busy", OllamaServerError, "status 503", "busy", 3),
        ("broken", OllamaServerError, "terminated", "log", 3),
        ("close", OllamaUnreachableError, "in the middle of", "log", 3),
        ("close-midway", OllamaUnreachableError, "in the middle of", "log", 3),
    ],
)
def test_every_failure_of_a_chat_has_a_name(ask, server, clock, failure, kind, words, cure, calls):
    client = ask()
    client.models()
    server.failure = failure
    with pytest.raises(kind, match=words) as caught:
        client.chat(HELLO, WRITER)
    assert type(caught.value) is kind
    assert cure in caught.value.cure
    assert len(server.asked("/api/chat")) == calls
    assert clock.pauses == [0.5, 1.0][: calls - 1]
    server.failure = ""
    assert client.chat(HELLO, WRITER).text


def test_errors_survive_pickling():
    kinds = [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, OllamaError | errors.ContextRejectedError)
    ]
    assert len(kinds) == 11
    for kind in kinds:
        again = pickle.loads(pickle.dumps(kind("what", "cure")))
        assert (type(again), str(again)) == (kind, "what cure")
    rejected = pickle.loads(pickle.dumps(errors.ContextRejectedError("a", "b", "empty")))
    assert rejected.reason == "empty"


def test_a_failing_server_is_not_called_another_program(server):
    page = ollama.ResponseError("<html><h1>Internal Server Error</h1></html>", 500)
    error = named_error(page, server.url)
    assert type(error) is OllamaServerError
    assert error.message == "Ollama reported an error (status 500): no details."
    page = ollama.ResponseError("<html></html>", 404)
    assert "is not Ollama" in named_error(page, server.url).message


def test_a_server_that_does_not_say_what_it_has_is_to_blame_and_no_model(ask, server, monkeypatch):
    def show(_client, _name):
        raise ollama.ResponseError("disk failure", 500)

    client = ask(rest_after=100)
    with monkeypatch.context() as failing:
        failing.setattr(ollama.Client, "show", show)
        for opened in (
            lambda: writing_model(client),
            lambda: writing_model(client, WRITER),
            lambda: OllamaEmbedder.open(client, EMBEDDER),
        ):
            with pytest.raises(OllamaServerError, match="disk failure") as caught:
                opened()
            assert WRITER not in str(caught.value)
            assert EMBEDDER not in str(caught.value)
    assert writing_model(client).name == WRITER
    assert OllamaEmbedder.open(client, EMBEDDER).name == f"ollama:{EMBEDDER}"


def test_all_tries_together_take_no_longer_than_one_may(ask, server, clock):
    client = ask(chat_seconds=10, retries=10, rest_after=100)
    client.models()
    server.failure = "close"
    with pytest.raises(OllamaUnreachableError):
        client.chat(HELLO, WRITER)
    # Pauses of 0.5, 1, 2, 4 and 8 seconds: after them, more than ten have passed.
    assert len(server.asked("/api/chat")) == 6
