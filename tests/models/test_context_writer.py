from __future__ import annotations

import json
from dataclasses import replace

import pytest
from context_samples import GOOD, TALK, about
from ollama_stand_in import EMBEDDER, WRITER, Model, replaying

from ragkit.errors import (
    ContextRejectedError,
    ModelError,
    ModelMissingError,
    OllamaAnswerError,
    OllamaError,
    OllamaOutOfMemoryError,
    OllamaTimeoutError,
    OllamaUnreachableError,
)
from ragkit.models.context_prompt import CONTEXT_KINDS
from ragkit.models.context_writer import (
    ContextWriter,
    choose_model,
)
from ragkit.models.ollama import OllamaClient
from ragkit.models.ollama_text import ModelInfo
from ragkit.settings import ModelSettings


@pytest.fixture
def writer(server):
    settings = ModelSettings(ollama_url=server.url, retries=0)
    with OllamaClient(settings) as client:
        yield ContextWriter.open(client)


def test_a_context_is_written_and_nothing_is_left_to_guess(writer, server):
    server.reply = lambda messages: json.dumps(GOOD)
    written = writer.write(about())
    assert written.context == GOOD["context"]
    assert written.keywords == tuple(GOOD["keywords"])
    assert written.questions == tuple(GOOD["questions"])
    assert (written.details, written.truncated) == ({"topic_summary": GOOD["topic_summary"]}, False)
    assert written.tokens > 100
    assert 0 < written.seconds < 2
    body = server.asked("/api/chat")[0].body
    assert (body["model"], body["think"], body["options"]["num_ctx"]) == (WRITER, False, 8192)
    assert body["format"]["required"] == ["context", "keywords", "questions", "topic_summary"]
    assert [message["role"] for message in body["messages"]] == ["system", "user"]


def test_conversations_say_more(writer, server):
    server.reply = lambda messages: json.dumps({**GOOD, **TALK})
    written = writer.write(about(kind="conversation"))
    assert written.details == {**TALK, "topic_summary": GOOD["topic_summary"]}
    asked = server.asked("/api/chat")[0].body["format"]["properties"]
    assert {"speakers", "decisions", "action_items", "sentiment"} <= asked.keys()
    server.reply = lambda messages: json.dumps({**GOOD, **TALK, "sentiment": "thrilled"})
    details = writer.write(about(kind="conversation")).details
    assert details["dropped"] == {"sentiment": "thrilled"}
    assert "sentiment" not in details


def test_later_attempts_vary_and_the_first_does_not(writer, server):
    for attempt in (0, 0, 1, 2):
        writer.write(about(), attempt)
    options = [one.body["options"] for one in server.asked("/api/chat")]
    assert [(one["seed"], one["temperature"]) for one in options] == [
        (0, 0.0),
        (0, 0.0),
        (1, 0.4),
        (2, 0.4),
    ]


def test_the_stand_in_is_accepted_for_every_kind(writer):
    for kind in CONTEXT_KINDS:
        written = writer.write(about(kind=kind))
        assert written.context.startswith("Part ")
        assert ("speakers" in written.details) is (kind == "conversation")


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        ("wrong-schema", "form"),
        ("wrong-types", "form"),
        ("endless", "long"),
        ("refusal", "refusal"),
        ("empty", "empty"),
        ("copied", "copied"),
        ("injected", "instructions"),
        ("foreign", "language"),
    ],
)
def test_a_bad_answer_is_rejected_with_a_reason(writer, server, failure, reason):
    server.failure = failure
    with pytest.raises(ContextRejectedError) as caught:
        writer.write(about())
    assert caught.value.reason == reason
    assert caught.value.message.startswith("The model's answer was rejected. ")
    assert caught.value.cure
    server.failure = ""
    assert writer.write(about()).context


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        ("only-thinking", OllamaAnswerError),
        ("half-json", OllamaAnswerError),
        ("cut-answer", OllamaAnswerError),
        ("html", OllamaUnreachableError),
        ("close", OllamaUnreachableError),
        ("close-midway", OllamaUnreachableError),
        ("out-of-memory", OllamaOutOfMemoryError),
    ],
)
def test_no_answer_is_an_error_that_says_whether_to_go_on(writer, server, failure, kind):
    server.failure = failure
    with pytest.raises(kind) as caught:
        writer.write(about())
    assert isinstance(caught.value, ModelError)
    assert caught.value.concerns_all is (kind is not OllamaAnswerError)
    assert caught.value.cure


@pytest.mark.parametrize("failure", ["thinking", "closing-tag"])
def test_thoughts_do_not_spoil_a_context(writer, server, failure):
    server.failure = failure
    assert "think" not in writer.write(about()).context


def test_a_prompt_that_was_cut_is_marked(writer, server):
    server.failure = "prompt-cut"
    assert writer.write(about()).truncated


def test_a_missing_model_and_a_slow_one(writer, server):
    server.delay = 20.0
    settings = ModelSettings(ollama_url=server.url, retries=0, chat_seconds=0.5)
    with OllamaClient(settings) as client, pytest.raises(OllamaTimeoutError):
        ContextWriter.open(client).write(about())
    server.delay = 0
    del server.models[WRITER]
    with pytest.raises(ModelMissingError, match=r"llama3\.2"):
        writer.write(about())


def test_the_best_model_for_contexts_is_chosen():
    def model(name: str, size: float, *more: str) -> ModelInfo:
        return ModelInfo(name, ("completion", *more), 8192, 0, int(size * 1e9))

    models = [
        model("qwen2.5-coder:3b", 3.5),
        model("llama3.2:3b", 2),
        model("qwen3:4b", 2.6, "thinking"),
        model("llama3.1:70b", 40),
        model("gemma3:4b", 3.3),
        replace(model("big:cloud", 5), remote=True),
        ModelInfo(EMBEDDER, ("embedding",), 2048, 768, 300_000_000),
    ]
    assert choose_model(models).name == "gemma3:4b"
    assert choose_model(models[:3]).name == "llama3.2:3b"
    assert choose_model([models[0]]).name == "qwen2.5-coder:3b"
    assert choose_model([models[3]]).name == "llama3.1:70b"
    assert choose_model(models[5:]) is None
    assert choose_model(models, "llama3.1:70b").name == "llama3.1:70b"
    assert choose_model(models, "absent") is None


def test_opening_without_a_model_that_writes_says_so(server):
    server.models = {EMBEDDER: Model(("embedding",), 2048)}
    for wanted in ("", EMBEDDER, "absent"):
        with (
            OllamaClient(ModelSettings(ollama_url=server.url)) as client,
            pytest.raises(ModelMissingError, match=wanted or "no model") as caught,
        ):
            ContextWriter.open(client, wanted)
        assert "ollama pull" in caught.value.cure


def test_opening_without_ollama_says_so():
    settings = ModelSettings(ollama_url="http://127.0.0.1:9", retries=0)
    with OllamaClient(settings) as client, pytest.raises(OllamaError, match="does not answer"):
        ContextWriter.open(client)


def test_recorded_contexts_are_replayed(writer, server, tmp_path):
    contexts, corpus = tmp_path / "contexts.jsonl", tmp_path / "corpus.jsonl"
    chunk = about().chunk_text
    contexts.write_text(json.dumps({"id": "1", **GOOD}) + "\n", "utf-8")
    corpus.write_text(json.dumps({"_id": "1", "text": f"  {chunk}\n"}) + "\n", "utf-8")
    server.reply = replaying(contexts, corpus)
    assert writer.write(about()).context == GOOD["context"]
    assert writer.write(about("The company will open")).context.startswith("Part ")
