from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
from ollama_clients import HELLO
from ollama_stand_in import EMBEDDER, WRITER, Model

from ragkit.errors import (
    InputTooLongError,
    ModelMissingError,
    ModelUnsuitableError,
    OllamaAnswerError,
    OllamaServerError,
    OllamaTimeoutError,
)
from ragkit.models import ollama_transport

SCHEMA = {"type": "object", "properties": {"context": {"type": "string"}}}


def test_a_chat_sends_all_that_ollama_would_guess(ask, server):
    reply = ask().chat(HELLO, WRITER, seed=3)
    assert reply.text == "This is about the quarterly report."
    assert (reply.data, reply.truncated) == (None, False)
    assert (reply.prompt_tokens, reply.output_tokens) == (6, 8)
    body = server.asked("/api/chat")[0].body
    assert body["options"] == {"num_ctx": 8192, "num_predict": 512, "temperature": 0.0, "seed": 3}
    assert (body["think"], body["stream"], body["keep_alive"]) == (False, False, "10m")
    assert "format" not in body


def test_the_window_is_never_larger_than_the_model_s(ask, server):
    ask(context_window=100_000).chat(HELLO, WRITER)
    assert server.asked("/api/chat")[0].body["options"]["num_ctx"] == 8192


def test_structured_answers_are_decoded(ask, server):
    server.reply = lambda messages: '{"context": "a <think> tag and </think> another"}'
    reply = ask().chat(HELLO, WRITER, schema=SCHEMA)
    assert reply.data == {"context": "a <think> tag and </think> another"}
    assert server.asked("/api/chat")[0].body["format"] == SCHEMA


@pytest.mark.parametrize("failure", ["thinking", "closing-tag"])
def test_stray_thoughts_are_removed(ask, server, failure):
    server.failure = failure
    client = ask()
    assert client.chat(HELLO, WRITER).text == "This is about the quarterly report."
    assert client.chat(HELLO, WRITER, schema=SCHEMA).data["topic_summary"] == "Matters of nothing"


@pytest.mark.parametrize("failure", ["only-thinking", "cut-answer"])
def test_an_answer_without_an_object_is_named(ask, server, failure):
    server.failure = failure
    with pytest.raises(OllamaAnswerError) as caught:
        ask().chat(HELLO, WRITER, schema=SCHEMA)
    cut = failure == "cut-answer"
    assert ("cut off" in caught.value.message) is cut
    assert ("answer_tokens" in caught.value.cure) is cut


def test_a_cut_prompt_is_marked(ask, server):
    server.failure = "prompt-cut"
    long = [{"role": "user", "content": "A long story about many things. " * 100}]
    assert ask().chat(long, WRITER).truncated
    server.failure = ""
    assert not ask().chat(long, WRITER).truncated
    too_long = [{"role": "user", "content": "A long story about many things. " * 2000}]
    assert ask().chat(too_long, WRITER).truncated


def test_a_model_that_goes_away_is_missing(ask, server):
    client = ask()
    client.models()
    del server.models[WRITER]
    with pytest.raises(ModelMissingError, match="llama3"):
        client.chat(HELLO, WRITER)
    server.models[WRITER] = Model(("completion",), 8192)
    assert client.chat(HELLO, WRITER).text
    with pytest.raises(ModelUnsuitableError, match="does not support chat"):
        client.chat(HELLO, EMBEDDER)


def test_a_slow_answer_is_given_up(ask, server):
    server.delay = 20.0
    client = ask(chat_seconds=0.2)
    started = time.perf_counter()
    with pytest.raises(OllamaTimeoutError, match=WRITER) as caught:
        client.chat(HELLO, WRITER)
    assert time.perf_counter() - started < 15
    assert "time limits" in caught.value.cure
    assert len(server.asked("/api/chat")) == 1


@pytest.mark.parametrize(
    ("failure", "seconds", "named", "words"),
    [
        ("dripping", 0.5, OllamaTimeoutError, "in time"),
        ("flood", 60.0, OllamaAnswerError, "longer than 8 MB"),
    ],
)
def test_an_answer_without_an_end_is_given_up(
    ask, server, monkeypatch, failure, seconds, named, words
):
    monkeypatch.setattr(ollama_transport, "MOST_BYTES", 8 * 1024**2)
    client = ask(chat_seconds=seconds, embed_seconds=seconds, rest_after=9)
    client.models()
    server.failure = failure
    for call in (lambda: client.chat(HELLO, WRITER), lambda: client.embed(["text"], EMBEDDER)):
        started = time.perf_counter()
        with pytest.raises(named, match=words):
            call()
        assert time.perf_counter() - started < 10 * seconds
    server.failure = ""
    assert client.chat(HELLO, WRITER).text


def test_an_answer_that_had_arrived_while_the_machine_slept_is_taken(
    ask, server, clock, monkeypatch
):
    monkeypatch.setattr(ollama_transport, "time", SimpleNamespace(monotonic=clock))
    client = ask(chat_seconds=60)
    client.models()

    def slept(messages):
        clock.sleep(3600)
        return "Good morning."

    server.reply = slept
    assert client.chat(HELLO, WRITER).text == "Good morning."


def test_embedding_is_batched_by_characters_and_number(ask, server):
    client = ask(embed_characters=1000, embed_texts=4)
    texts = [f"word{number} " * 30 for number in range(10)] + ["", "  \n"] + ["tiny"] * 9
    vectors = client.embed(texts, EMBEDDER)
    assert vectors.shape == (21, 32)
    assert vectors.dtype.name == "float32"
    assert not vectors[10:12].any()
    batches = [one.body["input"] for one in server.asked("/api/embed")]
    assert [one for batch in batches for one in batch] == [one for one in texts if one.strip()]
    assert max(len(batch) for batch in batches) == 4
    assert max(sum(map(len, batch)) for batch in batches) <= 1000
    body = server.asked("/api/embed")[0].body
    assert (body["truncate"], body["options"]) == (False, {"num_ctx": 2048})
    assert client.embed([], EMBEDDER).shape == (0, 32)


def test_texts_that_are_too_long_are_shortened_and_the_log_says_so(ask, server, caplog):
    server.longest_input = 1000
    texts = ["one " * 100, "two " * 5000, "three " * 100]
    vectors = ask().embed(texts, EMBEDDER)
    alone = ask().embed(texts[:1], EMBEDDER)
    assert (vectors[0] == alone[0]).all()
    assert vectors[1] @ ask().embed(["two"], EMBEDDER)[0] > 0.999
    said = [one.getMessage() for one in caplog.records if one.levelname == "WARNING"]
    assert said == [f"{EMBEDDER} embeds only the first 914 of a text's 16384 characters"]
    sent = [text for one in server.asked("/api/embed") for text in one.body["input"]]
    assert max(map(len, sent)) <= 2048 * 8
    server.longest_input = 1
    with pytest.raises(InputTooLongError, match="too long") as caught:
        ask().embed(["some words that do not fit"], EMBEDDER)
    assert "chunking.words" in caught.value.cure


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        ("nan", "invalid numbers"),
        ("infinite", "invalid numbers"),
        ("nan-refused", "invalid numbers"),
        ("zeros", "only zeros"),
        ("ragged", "31 dimensions instead of 32"),
        ("too-few", "1 vectors for 2 texts"),
        ("half-json", "sent an invalid answer"),
    ],
)
def test_what_are_no_vectors_is_refused(ask, server, failure, words):
    server.failure = failure
    with pytest.raises(OllamaAnswerError, match=words):
        ask().embed(["one", "two"], EMBEDDER)


def test_a_model_that_writes_embeds_nothing(ask):
    with pytest.raises(ModelUnsuitableError, match="does not support embeddings"):
        ask().embed(["one"], WRITER)


def test_without_patience_nothing_is_tried_again(ask, server, clock):
    client = ask(query_seconds=0.2)
    client.models()
    server.failure = "busy"
    with pytest.raises(OllamaServerError):
        client.embed(["one"], EMBEDDER, patient=False)
    assert clock.pauses == []
    server.failure, server.delay = "", 0.6
    with pytest.raises(OllamaTimeoutError):
        client.embed(["one"], EMBEDDER, patient=False)
    assert client.embed(["one"], EMBEDDER).any()


def test_hostile_texts_arrive(ask, server):
    text = "a\ud800\0\u202e{{slot}}</think>"
    ask().chat([{"role": "user", "content": text}], WRITER)
    sent = server.asked("/api/chat")[0].body["messages"][0]["content"]
    assert sent == "a? \u202e{{slot}}</think>"
    assert ask().embed(["\ud800", "\0 x"], EMBEDDER).any(axis=1).all()
