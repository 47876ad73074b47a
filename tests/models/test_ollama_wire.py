from __future__ import annotations

import gc
import ssl
import threading

import httpx
import pytest
from ollama_clients import HELLO, Clock
from ollama_stand_in import WRITER

from ragkit.errors import (
    ModelMissingError,
    OllamaRestingError,
    OllamaServerError,
)
from ragkit.models.ollama import OllamaClient
from ragkit.models.ollama_transport import BoundedTransport
from ragkit.models.ollama_wire import CircuitBreaker
from ragkit.settings import ModelSettings


def test_a_passing_failure_passes(ask, server, clock):
    server.failure, server.failures_left = "busy", 2
    assert ask().chat(HELLO, WRITER).text
    assert clock.pauses == [0.5, 1.0]


def test_after_failures_in_a_row_the_server_is_left_alone(ask, server, clock):
    client = ask(retries=0, rest_after=3, rest_seconds=30)
    client.models()
    server.failure = "broken"
    for _ in range(3):
        with pytest.raises(OllamaServerError):
            client.chat(HELLO, WRITER)
    with pytest.raises(OllamaRestingError, match=r"3 times in a row.*30 s"):
        client.chat(HELLO, WRITER)
    assert len(server.asked("/api/chat")) == 3
    clock.now += 31
    with pytest.raises(OllamaServerError):
        client.chat(HELLO, WRITER)
    with pytest.raises(OllamaRestingError):
        client.chat(HELLO, WRITER)
    clock.now += 31
    server.failure = ""
    assert client.chat(HELLO, WRITER).text
    assert client.chat(HELLO, WRITER).text


def test_one_trial_at_a_time():
    clock = Clock()
    breaker = CircuitBreaker(1, 10, clock)
    with pytest.raises(OllamaServerError), breaker.attempt():
        raise OllamaServerError("no")
    clock.now = 11
    with breaker.attempt():
        assert breaker.resting
        with pytest.raises(OllamaRestingError), breaker.attempt():
            pass
    assert not breaker.resting
    with pytest.raises(OllamaServerError), breaker.attempt():
        raise OllamaServerError("no")
    clock.now = 22
    with pytest.raises(KeyboardInterrupt), breaker.attempt():
        raise KeyboardInterrupt
    with pytest.raises(ModelMissingError), breaker.attempt():
        raise ModelMissingError("the server is there")
    assert not breaker.resting


def test_threads_share_one_client(ask, server):
    client = ask()
    seen: list[str] = []
    run = lambda: seen.append(client.chat(HELLO, WRITER).text)  # noqa: E731
    threads = [threading.Thread(target=run) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == ["This is about the quarterly report."] * 12


def test_a_forgotten_client_closes_its_connections(server, monkeypatch):
    gc.collect()  # what earlier tests forgot is none of this client's
    closed: list[object] = []
    monkeypatch.setattr(httpx.HTTPTransport, "close", lambda transport: closed.append(transport))
    client = OllamaClient(ModelSettings(ollama_url=server.url))
    client.health()
    assert closed == []
    del client
    gc.collect()
    assert len(closed) == 1


def test_neither_proxies_nor_redirects_are_followed(ask, server, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert ask().chat(HELLO, WRITER).text
    server.failure = "redirect"
    with pytest.raises(OllamaServerError, match="status 302"):
        ask(retries=0).chat(HELLO, WRITER)


def test_certificates_are_read_once_and_for_encrypted_connections_alone():
    contexts = [
        BoundedTransport(url)._pool._ssl_context
        for url in ("https://one.example", "HTTPS://two.example", "http://127.0.0.1:11434")
    ]
    assert contexts[0] is contexts[1]
    assert [each.cert_store_stats()["x509_ca"] > 0 for each in contexts] == [True, True, False]
    assert {each.verify_mode for each in contexts} == {ssl.CERT_REQUIRED}
