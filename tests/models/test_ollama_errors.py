from __future__ import annotations

import pickle

import pytest
from ollama_clients import HELLO
from ollama_stand_in import WRITER

from ragkit import errors
from ragkit.errors import (
    OllamaAnswerError,
    OllamaError,
    OllamaOutOfMemoryError,
    OllamaServerError,
    OllamaUnreachableError,
    SettingsError,
)
from ragkit.models.ollama import OllamaClient
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
    with pytest.raises(SettingsError, match="would leave this one") as caught:
        OllamaClient(ModelSettings(ollama_url=url))
    assert "allow_remote" in caught.value.cure
    assert OllamaClient(ModelSettings(ollama_url=url, allow_remote=True)).url.endswith(url)


@pytest.mark.parametrize("url", ["", "http://", "ftp://localhost", "http://localhost:port", "[::1"])
def test_what_is_no_address_is_refused(url):
    with pytest.raises(SettingsError, match="is not an address"):
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
        ("half-json", OllamaAnswerError, "cannot be understood", "update Ollama", 1),
        ("not-an-object", OllamaAnswerError, "cannot be understood", "update Ollama", 1),
        ("out-of-memory", OllamaOutOfMemoryError, "too little memory", "smaller model", 1),
        ("busy", OllamaServerError, "status 503", "busy", 3),
        ("broken", OllamaServerError, "terminated", "log", 3),
        ("close", OllamaUnreachableError, "broke off", "log", 3),
        ("close-midway", OllamaUnreachableError, "broke off", "log", 3),
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
