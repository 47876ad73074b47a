from __future__ import annotations

import gc
import pickle
import threading
import time

import httpx
import pytest
from ollama_stand_in import EMBEDDER, WRITER, Model

from ragkit import errors
from ragkit.errors import (
    InputTooLongError,
    ModelMissingError,
    ModelUnsuitableError,
    OllamaAnswerError,
    OllamaError,
    OllamaOutOfMemoryError,
    OllamaRestingError,
    OllamaServerError,
    OllamaTimeoutError,
    OllamaUnreachableError,
    SettingsError,
)
from ragkit.models.ollama import OllamaClient
from ragkit.models.ollama_types import ModelInfo
from ragkit.models.ollama_wire import CircuitBreaker
from ragkit.settings import ModelSettings

HELLO = [{"role": "user", "content": "Hello, what is this about?"}]
SCHEMA = {"type": "object", "properties": {"context": {"type": "string"}}}


class Clock:
    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ask(server, clock):
    """Make clients of the stand-in, and close them."""
    made: list[OllamaClient] = []

    def make(**changed) -> OllamaClient:
        settings = ModelSettings(ollama_url=server.url, **changed)
        made.append(OllamaClient(settings, clock=clock, sleep=clock.sleep))
        return made[-1]

    yield make
    for client in made:
        client.close()


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
    assert time.perf_counter() - started < 2
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
    assert health.sentence == f"What answers at {server.url} is not Ollama."
    assert "models.ollama_url" in health.cure


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


def test_a_chat_sends_all_that_ollama_would_guess(ask, server):
    reply = ask().chat(HELLO, WRITER, seed=3)
    assert reply.text == "This is about the quarterly report."
    assert (reply.data, reply.truncated, reply.done_reason) == (None, False, "stop")
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


def test_a_passing_failure_passes(ask, server, clock):
    server.failure, server.failures_left = "busy", 2
    assert ask().chat(HELLO, WRITER).text
    assert clock.pauses == [0.5, 1.0]


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
    server.delay = 1.0
    client = ask(chat_seconds=0.2)
    started = time.perf_counter()
    with pytest.raises(OllamaTimeoutError, match=WRITER) as caught:
        client.chat(HELLO, WRITER)
    assert time.perf_counter() - started < 0.9
    assert "time limits" in caught.value.cure
    assert len(server.asked("/api/chat")) == 1


def test_a_stream_comes_in_pieces(ask, server):
    pieces = list(ask().stream(HELLO, WRITER))
    assert "".join(pieces) == "This is about the quarterly report."
    assert len(pieces) > 3
    body = server.asked("/api/chat")[0].body
    assert (body["stream"], body["think"], body["options"]["num_ctx"]) == (True, False, 8192)


def test_thoughts_are_left_out_of_a_stream(ask, server):
    server.models[WRITER] = Model(("completion", "thinking"), 8192)
    for server.failure in ("thinking", "closing-tag"):
        shown = "".join(ask().stream(HELLO, WRITER))
        assert shown == "This is about the quarterly report."
    server.failure = "only-thinking"
    assert "".join(ask().stream(HELLO, WRITER)) == ""


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
def test_a_stream_that_dies_says_so(ask, server, failure, kind):
    client = ask()
    client.models()
    server.failure = failure
    with pytest.raises(kind) as caught:
        list(client.stream(HELLO, WRITER))
    assert type(caught.value) is kind
    assert caught.value.cure


def test_a_stream_refused_or_left_early_does_no_harm(ask, server):
    client = ask(retries=0)
    client.models()
    first = client.stream(HELLO, WRITER)
    assert next(first)
    first.close()
    assert client.chat(HELLO, WRITER).text
    server.stop()
    with pytest.raises(OllamaUnreachableError):
        next(client.stream(HELLO, WRITER))


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
        ("nan", "not made of numbers"),
        ("infinite", "not made of numbers"),
        ("nan-refused", "not made of numbers"),
        ("zeros", "nothing but zeros"),
        ("ragged", "31 numbers instead of 32"),
        ("too-few", "1 vectors for 2 texts"),
        ("half-json", "cannot be understood"),
    ],
)
def test_what_are_no_vectors_is_refused(ask, server, failure, words):
    server.failure = failure
    with pytest.raises(OllamaAnswerError, match=words):
        ask().embed(["one", "two"], EMBEDDER)


def test_vectors_of_another_length_are_refused_later_too(ask, server):
    client = ask()
    client.embed(["one"], EMBEDDER)
    server.failure = "narrow"
    with pytest.raises(OllamaAnswerError, match="31 numbers instead of 32"):
        client.embed(["two"], EMBEDDER)
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
    with pytest.raises(OllamaUnreachableError, match="broke off"):
        list(client.pull("other"))


@pytest.mark.parametrize("name", ["", "../x", "a b", "x" * 300, "big:120b-cloud", "-x", "a\nb"])
def test_what_is_no_local_model_is_not_downloaded(ask, server, name):
    with pytest.raises(ModelUnsuitableError, match="not the name"):
        list(ask().pull(name))
    assert server.requests == []


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


def test_hostile_texts_arrive(ask, server):
    text = "a\ud800\0\u202e{{slot}}</think>"
    ask().chat([{"role": "user", "content": text}], WRITER)
    sent = server.asked("/api/chat")[0].body["messages"][0]["content"]
    assert sent == "a? \u202e{{slot}}</think>"
    assert ask().embed(["\ud800", "\0 x"], EMBEDDER).any(axis=1).all()


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
