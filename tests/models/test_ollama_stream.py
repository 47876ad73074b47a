"""A stream of Ollama's: its parts, its body, its limits, and leaving it at any time."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing

import ollama
import pytest
from ollama_clients import HELLO
from ollama_stand_in import WRITER

from ragkit.errors import (
    InputTooLongError,
    ModelMissingError,
    OllamaAnswerError,
    OllamaServerError,
    OllamaTimeoutError,
    OllamaUnreachableError,
)
from ragkit.models import ollama_stream
from ragkit.models.ollama import OllamaClient
from ragkit.models.ollama_stream import StreamEnd, StreamPart
from ragkit.settings import ModelSettings


def parts(client: OllamaClient, **given: int) -> list[StreamPart]:
    values = {"answer_tokens": 100, "thinking_tokens": 100, **given}
    with closing(client.stream(HELLO, WRITER, **values)) as stream:
        return [part for part in stream if part != StreamPart()]


def text_of(seen: list[StreamPart]) -> str:
    return "".join(part.text for part in seen)


def test_a_stream_is_text_and_an_end_with_counts(ask, server):
    seen = parts(ask())
    assert text_of(seen) == "This is about the quarterly report."
    assert seen[-1].end == StreamEnd("stop", 6, 8)
    body = server.asked("/api/chat")[0].body
    assert body == {
        "model": WRITER,
        "messages": HELLO,
        "options": {"num_ctx": 8192, "num_predict": 200, "temperature": 0.0, "seed": 0},
        "stream": True,
        "think": False,
        "truncate": False,
        "shift": False,
        "keep_alive": "10m",
    }


def test_the_package_s_call_for_any_body_is_there():
    """No public call of the ollama package sends ``truncate``: this one, of 0.6.3, is private."""
    assert callable(ollama.Client._request)
    assert "truncate" not in ollama.Client.chat.__annotations__


def test_thoughts_are_told_from_text(ask, server):
    server.failure = "thinks-anyway"
    seen = parts(ask())
    assert seen[0] == StreamPart(thinking=True)
    assert text_of(seen) == "This is about the quarterly report."
    server.failure = "thinking"
    assert text_of(parts(ask())) == "This is about the quarterly report."


@pytest.mark.parametrize("pieces", [1, 3, 1000])
@pytest.mark.parametrize(
    ("content", "shown", "forgets"),
    [
        ("<think>Hm. 5 < 6.</think>\n\nYes, 5 < 6.", "Yes, 5 < 6.", False),
        ("<thinking>\nno end of it", "", False),
        ("Hm. So be it.\n</think>\n\nYes.", "Yes.", True),
        ("Use <think> tags, a </think> too.", "Use <think> tags, a </think> too.", False),
        ("<b>bold</b> text <", "<b>bold</b> text <", False),
    ],
)
def test_tags_of_thoughts_are_seen_however_they_are_cut(content, shown, forgets, pieces):
    thoughts = ollama_stream._Thoughts()
    said = ""
    forgot = False
    for start in range(0, len(content), pieces):
        last = start + pieces >= len(content)
        for part in thoughts.parts(content[start : start + pieces], last=last):
            said = "" if part.forget else said + part.text
            forgot |= part.forget
    assert said == shown
    assert forgot is forgets or pieces == 1000


def test_thoughts_have_tokens_of_their_own(ask, server):
    server.failure = "thinks-anyway"
    with pytest.raises(OllamaAnswerError, match="by thinking") as caught:
        parts(ask(), thinking_tokens=10)
    assert "answers.thinking_tokens" in caught.value.cure


def test_text_beyond_the_longest_answer_is_cut(ask):
    seen = parts(ask(), answer_tokens=3)
    assert text_of(seen) == "This is about "
    assert seen[-1].end == StreamEnd("length")


def test_a_prompt_that_does_not_fit_is_refused(ask, server):
    server.window = 2
    with pytest.raises(InputTooLongError):
        parts(ask())


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        ("stream-error", OllamaServerError),
        ("close-midway", OllamaUnreachableError),
        ("silent-end", OllamaUnreachableError),
        ("half-json", OllamaAnswerError),
        ("busy", OllamaServerError),
    ],
)
def test_failures_have_their_names(ask, server, failure, error):
    server.failure = failure
    with pytest.raises(error):
        parts(ask())
    assert len(server.asked("/api/chat")) == 1


def test_a_missing_model_is_forgotten(ask, server):
    client = ask()
    client.models()
    del server.models[WRITER]
    with pytest.raises(ModelMissingError):
        parts(client)


def test_silence_has_its_limit_and_a_beat(server):
    server.failure = "silent"
    with OllamaClient(ModelSettings(ollama_url=server.url, chat_seconds=0.5)) as client:
        seen: list[StreamPart] = []
        with pytest.raises(OllamaTimeoutError):
            collect(seen, client.stream(HELLO, WRITER, answer_tokens=50))
    assert text_of(seen) == "This is about "
    assert StreamPart() in seen


def collect(seen: list[StreamPart], stream: Iterator[StreamPart]) -> None:
    for part in stream:
        seen.append(part)


def test_an_answer_that_drips_without_an_end_is_given_up(server):
    server.failure = "dripping"
    settings = ModelSettings(ollama_url=server.url, chat_seconds=0.3)
    with OllamaClient(settings) as client, pytest.raises(OllamaTimeoutError):
        parts(client)


def test_a_stream_without_an_end_is_given_up(ask, server, clock):
    server.pause = 0.01
    stream = ask(chat_seconds=10.0).stream(HELLO, WRITER, answer_tokens=50)
    next(stream)
    clock.now += 51
    with pytest.raises(OllamaTimeoutError, match="did not finish"):
        list(stream)


def test_leaving_cuts_the_connection_while_the_server_still_reads_the_prompt():
    """The server has not answered with a single byte, and sees that the reader has left."""
    reading, left = threading.Event(), threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            for _ in range(9):
                connection, _ = listening.accept()
                with connection:
                    asked = connection.recv(100_000)
                    if b"/api/chat" in asked:
                        reading.set()
                        while connection.recv(100_000):
                            pass
                        left.set()
                        return
                    names = b'{"models":[{"name":"m:latest","model":"m:latest"}]}'
                    body = names if b"/api/tags" in asked else b'{"capabilities":["completion"]}'
                    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json"
                    length = str(len(body)).encode()
                    connection.sendall(head + b"\r\nContent-Length: " + length + b"\r\n\r\n" + body)

        threading.Thread(target=serve, daemon=True).start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        with OllamaClient(ModelSettings(ollama_url=url)) as client:
            stream = client.stream(HELLO, "m", answer_tokens=50)
            assert next(stream) == StreamPart()
            # On a busy machine the first silence may end before the question has been sent.
            assert reading.wait(5)
            assert not left.is_set()
            before = time.monotonic()
            stream.close()
            assert left.wait(5)
            assert time.monotonic() - before < 5
            assert not client._wire.breaker.resting
