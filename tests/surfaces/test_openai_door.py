"""ragkit as a model of an OpenAI server: its own client, and the bytes as front ends read them."""

from __future__ import annotations

import json
import re
import socket
import ssl
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import openai
import pytest
import uvicorn
from ollama_answers import SECRET
from small_library import HANDBOOK, add, open_library, write_files
from starlette.applications import Starlette
from starlette.routing import Mount
from support import answer_threads, until

from ragkit.surfaces.addresses import mark_of
from ragkit.surfaces.http.openai import app as door
from ragkit.surfaces.http.openai.requests import LARGEST_BODY

QUESTION = "How long may a customer ask for a refund?"
FIRST = "A customer may ask for a refund within thirty days."
ODD = "a/b c#é%2F?日本"
HOSTILE = (
    "# Walrus <img src=x>![t](http://evil.example/t.png)\n\n"
    "A walrus sleeps for nine hours on ![ice](http://evil.example/[1]a.png) <b>floes</b>.\n"
)
# Clients would else read all certificates each time, which no plain connection needs.
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
TASK = "### Task:\nGenerate a title.\n<chat_history>\nUSER: refunds\n</chat_history>"


class Shared:
    """What the door is given: the library of the test that runs."""

    library = None

    def get(self):
        return self.library


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    place = tmp_path_factory.mktemp("openai_door")
    with open_library(place / "library") as library:
        add(library, write_files(place / "files", HANDBOOK))
        add(library, write_files(place / "odd", {"walrus.md": HOSTILE}), ODD)
    return place / "library"


@pytest.fixture(scope="module")
def served():
    """The door in a server of its own, at an address, and what it is given."""
    shared = Shared()
    app = Starlette(routes=[Mount("/v1", door.application(shared))])
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    until(lambda: server.started)
    yield shared, f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join(10)
    listening.close()


@pytest.fixture
def library(files, served, server):
    models = {"embedder": "hash", "ollama_url": server.url, "chat_seconds": 60}
    with open_library(files, create=False, models=models) as library:
        served[0].library = library
        yield library


@pytest.fixture
def base(served, library):
    return served[1]


@pytest.fixture
def client(base):
    http = httpx.Client(verify=PLAIN)
    with openai.OpenAI(
        base_url=f"{base}/v1", api_key="token", max_retries=0, http_client=http
    ) as client:
        yield client


def said(*texts):
    """Messages of the user and the assistant by turns, the last of the user."""
    roles = ("user", "assistant")
    return [{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)]


def ask(client, *texts, model="ragkit/default", **more):
    return client.chat.completions.create(model=model, messages=said(*texts), **more)


def content(client, *texts, **more):
    return ask(client, *texts, **more).choices[0].message.content


def post(base, **changed):
    body = {"model": "ragkit/default", "messages": said(QUESTION), **changed}
    return httpx.post(f"{base}/v1/chat/completions", json=body, timeout=20, verify=PLAIN)


def events(base, **changed):
    """The events of a stream, as front ends read them: lines that begin with ``data:``."""
    lines = post(base, stream=True, **changed).text.splitlines()
    data = [line.removeprefix("data:").strip() for line in lines if line.startswith("data:")]
    assert data[-1] == "[DONE]"
    return [json.loads(one) for one in data[:-1]]


def text_of(chunks):
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks if chunk.get("choices")]
    return "".join(delta.get("content", "") for delta in deltas)


# -- answers -----------------------------------------------------------------------------------


def test_openai_own_client_streams_an_answer_with_its_sources_before_their_text(
    client, library, base
):
    stream = ask(client, QUESTION, stream=True, stream_options={"include_usage": True})
    chunks = list(stream)
    assert {chunk.id for chunk in chunks} == {chunks[0].id}
    assert chunks[0].choices[0].delta.role == "assistant"
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert all(chunk.usage is None for chunk in chunks[:-1])
    assert chunks[-1].usage.total_tokens == chunks[-1].usage.prompt_tokens + 27
    assert chunks[-1].usage.estimated is False
    text, sources = "", []
    for chunk in chunks[:-1]:
        delta = chunk.choices[0].delta
        sources += getattr(delta, "annotations", None) or []
        text += delta.content or ""
        assert len(sources) >= len(set(re.findall(r"\[\d\]", text)))
    assert text.startswith(f"{FIRST} [1] ")
    assert text.endswith("\n\n*2 of 2 sentences passed the checks*")
    for number, source in enumerate(sources, start=1):
        cited = source["url_citation"]
        assert text[cited["start_index"] : cited["end_index"]] == f"[{number}]"
        url = urlsplit(cited["url"])
        assert f"{url.scheme}://{url.netloc}{url.path}" == f"{base}/document"
        # The question is no part of it: Open WebUI shows addresses to a stranger.
        query = {name: one for name, (one,) in parse_qs(url.query).items()}
        assert list(query) == ["id", "span", "said"]
        stored = library.documents.get(int(query["id"])).text
        first, last = map(int, query["span"].split("-"))
        assert mark_of(stored[first:last]) == query["said"]
    assert sources[0]["url_citation"]["title"] == "Refunds · handbook/refunds.md"
    assert library.threads.list() == []
    assert (library.searches.log()[0].question, library.searches.log()[0].door) == (
        QUESTION,
        "openai",
    )


def test_an_answer_as_a_whole_is_what_is_streamed(client, base):
    whole = ask(client, QUESTION)
    message, usage = whole.choices[0].message, whole.usage
    assert message.content == text_of(events(base))
    assert whole.choices[0].finish_reason == "stop"
    assert (usage.completion_tokens, usage.total_tokens > 100) == (27, True)
    marks = [
        message.content[one.url_citation.start_index : one.url_citation.end_index]
        for one in message.annotations
    ]
    assert marks == ["[1]", "[2]"]


def test_open_webui_gives_each_source_the_number_that_the_text_has(base, server):
    # It goes through the chunks, and takes an event or annotation of one address for one source.
    shown, names, text = [], {}, ""
    for chunk in events(base):
        if "event" in chunk:
            data = chunk["event"]["data"]
            assert chunk["event"]["type"] == "source"
            address = data["metadata"][0]["source"]
            assert data["metadata"][0]["source_url"] == address == data["source"]["url"]
            names[address] = data["source"]["name"], data["document"][0]
            shown += [] if address in shown else [address]
        delta = chunk["choices"][0]["delta"]
        for one in delta.get("annotations", []):
            address = one["url_citation"]["url"]
            assert address in shown
        text += delta.get("content", "")
        assert max(map(int, re.findall(r"\[(\d)\]", text)), default=0) <= len(shown)
    assert len(shown) == 2
    assert FIRST in names[shown[0]][1]
    assert names[shown[0]][0] == "Refunds · handbook/refunds.md"


def test_models_are_collections_whatever_their_names(client):
    assert [one.id for one in client.models.list()] == [f"ragkit/{ODD}", "ragkit/default"]
    assert client.models.retrieve(f"ragkit/{ODD}").id == f"ragkit/{ODD}"
    assert "nine hours" in content(client, "How long does a walrus sleep?", model=f"ragkit/{ODD}")
    with pytest.raises(openai.NotFoundError) as missing:
        client.models.retrieve("ragkit/b c")
    assert (missing.value.code, missing.value.param) == ("model_not_found", "model")


def test_what_a_document_says_is_neither_markup_nor_an_address_that_is_loaded(base, server):
    server.stop()
    chunks = events(base, model=f"ragkit/{ODD}", messages=said("How long does a walrus sleep?"))
    server.start()
    (event,) = [chunk["event"]["data"] for chunk in chunks if "event" in chunk]
    (noted,) = [chunk["choices"][0]["delta"] for chunk in chunks if "event" in chunk]
    assert noted["annotations"][0]["url_citation"]["end_index"] == len(text_of(chunks))
    for shown in (text_of(chunks), event["document"][0], event["source"]["name"]):
        assert not re.search(r"(?<!\\)!(?<!\\)\[|(?<!\\)<[a-z]", shown), shown
    assert "nine hours" in text_of(chunks)
    assert "`http://evil.example/[1]a.png)`" in text_of(chunks)


@pytest.mark.parametrize("failure", ["picture", "script"])
def test_what_a_model_writes_loads_nothing(client, server, failure):
    server.failure = failure
    shown = content(client, QUESTION)
    assert SECRET in shown
    shown = re.sub(r"`[^`]*`", "", shown)
    assert not re.search(r"(?<!\\)!(?<!\\)\[|(?<!\\)<[a-z]|\]\(http", shown)


# -- conversations -----------------------------------------------------------------------------


def test_a_follow_up_is_rewritten_and_says_so(client, server):
    checked = "*2 of 2 sentences passed the checks*"
    before = f"*Asked as: x*\n\n{FIRST} [1]\n\n{checked}\n\n**Sources**\n\n1. x"
    shown = content(client, QUESTION, before, "and for gift cards?")
    assert shown.startswith("*Asked as: How long may a customer ask for a refund and for gift")
    rewriting, writing = (one.body["messages"][-1]["content"] for one in server.asked("/api/chat"))
    assert FIRST in rewriting
    assert "Sources" not in rewriting
    assert "passed the checks" not in rewriting
    assert "Question: How long may a customer ask for a refund?" in writing


def test_the_last_message_of_the_user_is_the_question_in_parts_too(client, server):
    picture = {"type": "image_url", "image_url": {"url": "data:,"}}
    messages = [
        {"role": "developer", "content": "Speak like a pirate."},
        {"role": "user", "content": [{"type": "text", "text": "Look:"}, picture]},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "tool", "content": "42", "tool_call_id": "1"},
        {"role": "user", "content": [{"type": "text", "text": one} for one in QUESTION.split()]},
        {"role": "assistant", "content": "A customer"},
    ]  # fmt: skip
    answer = client.chat.completions.create(model="ragkit/default", messages=messages)
    assert FIRST in answer.choices[0].message.content
    sent = json.dumps([one.body for one in server.asked("/api/chat")])
    assert "pirate" not in sent
    messages[4]["content"].append(picture)
    with pytest.raises(openai.BadRequestError, match=r"a part of the message is image_url"):
        client.chat.completions.create(model="ragkit/default", messages=messages)


def test_a_task_of_a_front_end_goes_to_the_model_without_a_search(
    client, library, server, monkeypatch
):
    server.reply = lambda messages: '{"title": "Refunds"}'
    monkeypatch.setattr(library, "search", None)
    answer = ask(client, TASK, max_tokens=100)
    assert answer.choices[0].message.content == '{"title": "Refunds"}'
    assert answer.usage.completion_tokens == 5
    (asked,) = server.asked("/api/chat")
    assert asked.body["messages"] == [{"role": "user", "content": TASK}]
    assert asked.body["options"]["num_predict"] == 100 + 1500
    monkeypatch.setattr(server, "_counts", lambda *_: {"done_reason": "stop"})
    usage = ask(client, TASK).usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.estimated) == (19, 5, True)
    server.reply = lambda messages: ""
    with pytest.raises(openai.InternalServerError, match="wrote nothing"):
        ask(client, TASK)


def test_a_list_of_sources_ends_the_text_where_the_model_asks_for_it(client, base):
    shown = content(client, QUESTION, model="ragkit-sources/default")
    text, sources = shown.split("\n\n**Sources**\n\n")
    assert text.startswith(FIRST)
    first, second = sources.splitlines()
    place = re.escape(f"](<{base}/document?id=")
    assert re.fullmatch(rf"1\. \[Refunds · handbook/refunds\.md{place}.*>\): “{FIRST}”", first)
    assert second.startswith("2. [")
    assert "Sources" not in content(client, QUESTION)


# -- honesty -----------------------------------------------------------------------------------


def test_without_ollama_sentences_of_the_documents_answer_and_it_says_so(client, server):
    server.stop()
    answer = ask(client, QUESTION)
    shown = answer.choices[0].message
    assert shown.content.startswith("*No model wrote an answer: Ollama does not answer at ")
    assert shown.content.endswith(f"These sentences of your documents answer it:\n\n> {FIRST} [1]")
    assert len(shown.annotations) == 1
    assert answer.usage.total_tokens == 0
    several = content(client, f"{QUESTION} How many characters has a password?")
    assert several.split("\n\n")[2:4] == [QUESTION, f"> {FIRST} [1]"]
    assert "\n\nHow many characters has a password?\n\n> A password has at least" in several
    silent = content(client, "Who invented the telephone in 1876?")
    assert silent.endswith("\n\nNot in your documents: no sentence of them answers this by itself.")
    with pytest.raises(openai.InternalServerError, match="Start it: ollama serve") as away:
        ask(client, TASK)
    assert (away.value.status_code, away.value.code) == (503, "no_model")
    server.start()


def test_where_nothing_is_found_no_model_is_asked(client, server):
    shown = content(client, "path:nowhere/ refunds")
    assert shown.endswith("Not in your documents: the search found nothing.")
    assert server.asked("/api/chat") == []


def test_a_model_that_finds_nothing_is_no_answer(client, server):
    server.failure = "not-found"
    answer = ask(client, QUESTION)
    assert answer.choices[0].message.content == (
        "*Not in your documents: the model found no answer in the passages that it read.*"
    )
    assert answer.choices[0].message.annotations == []


def test_what_the_checks_found_stands_behind_its_sentence(client, server):
    server.reply = lambda messages: "Gift cards are paid back after 45 days [1]. I like them."
    shown = content(client, QUESTION)
    assert "after 45 days. [1] *(45 is not in the source)*" in shown
    assert "I like them. *(no source)*" in shown
    assert shown.endswith("\n\n*0 of 2 sentences passed the checks*")


def test_an_answer_that_is_written_anew_is_sent_anew(client, base, server):
    server.failure, server.failures_left, server.pause = "prompt-cut", 1, 0.02
    shown = text_of(events(base))
    assert f"{FIRST} [1]\n\n*The model began again:*\n\n{FIRST} [1]" in shown
    assert "asked again with less to read" in shown
    server.failures_left = 1
    shown = content(client, QUESTION)
    assert (shown.count(FIRST), "again:" in shown) == (1, False)


def test_an_answer_that_was_cut_says_so_and_its_length_is_the_clients(client, server):
    server.failure = "cut-answer"
    answer = ask(client, QUESTION, max_completion_tokens=64, temperature=0.9, user="someone")
    assert answer.choices[0].finish_reason == "length"
    assert "The answer ends here" in answer.choices[0].message.content
    assert server.asked("/api/chat")[0].body["options"] == {
        "num_ctx": 8192, "num_predict": 64 + 1500, "temperature": 0.0, "seed": 0
    }  # fmt: skip


# -- failures ----------------------------------------------------------------------------------


def test_a_model_that_wrote_no_sentence_was_still_asked(client, server):
    server.reply = lambda messages: "And this goes on " + "and on " * 200
    answer = ask(client, QUESTION, max_tokens=5)
    assert "within its first sentence" in answer.choices[0].message.content
    assert f"> {FIRST} [1]" in answer.choices[0].message.content
    usage = answer.usage
    assert (usage.prompt_tokens > 100, usage.completion_tokens > 0) == (True, True)
    assert usage.estimated is True


@pytest.mark.parametrize("failure", ["close-midway", "stream-error", "silent-end"])
def test_an_answer_that_breaks_off_keeps_its_sentences_and_ends_with_an_error(
    client, base, server, failure
):
    server.reply = lambda messages: f"{FIRST} [1] And this goes on" + " and on" * 12
    server.failure = failure
    *chunks, last = events(base)
    assert text_of(chunks) == f"{FIRST} [1]"
    assert last["error"]["type"] == "server_error"
    assert last["error"]["message"].count(".") >= 2
    with pytest.raises(openai.APIError, match=re.escape(last["error"]["message"][:20])):
        list(ask(client, QUESTION, stream=True))
    with pytest.raises(openai.InternalServerError):
        ask(client, QUESTION)


def test_a_sentence_whose_numbers_never_came_is_not_sent(base, server):
    server.failure = "close-midway"
    shown = text_of(events(base))
    assert shown.startswith("*No model wrote an answer: Ollama at ")
    assert shown.endswith(f"\n\n> {FIRST} [1]")


def test_the_example_of_the_documentation_runs(base, capsys):
    page = (Path(__file__).resolve().parents[2] / "docs" / "openai.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(code.replace("http://localhost:8501", base), {"TOKEN": "token"})
    printed = capsys.readouterr().out
    assert "[1]" in printed
    assert f"Refunds · handbook/refunds.md {base}/document?id=" in printed


def test_a_client_that_goes_away_stops_the_model(client, base, server):
    server.reply = lambda messages: f"{FIRST} [1] " * 200
    server.pause = 0.02
    stream = ask(client, QUESTION, stream=True)
    next(chunk for chunk in stream if chunk.choices[0].delta.content)
    assert answer_threads()
    stream.close()
    until(lambda: not answer_threads(), 5)
    body = {"model": "ragkit/default", "messages": said(QUESTION)}
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(
            f"{base}/v1/chat/completions",
            json=body,
            timeout=httpx.Timeout(20, read=0.7),
            verify=PLAIN,
        )
    until(lambda: not answer_threads(), 5)


def test_eight_at_once_are_answered_each_with_its_own(client, server):
    server.pause = 0.01
    questions = [QUESTION, "When does the OAuth token expire?"] * 4
    with ThreadPoolExecutor(8) as pool:
        shown = list(pool.map(lambda question: content(client, question), questions))
    assert shown[::2] == [shown[0]] * 4
    assert shown[1::2] == [shown[1]] * 4
    assert (FIRST in shown[0], "after an hour" in shown[1]) == (True, True)


def test_a_slow_model_is_waited_for_with_signs_of_life(base, server, monkeypatch):
    sign = ": the answer is on its way\n\n"
    assert sign not in post(base, stream=True).text
    monkeypatch.setattr(door, "_BEAT_SECONDS", 0.3)
    server.delay = 0.8
    assert sign in post(base, stream=True).text


@pytest.mark.parametrize(
    ("changed", "status", "param", "words"),
    [
        ({"model": "gpt-4"}, 404, "model", "GET /v1/models lists them"),
        ({"model": "ragkit/\ud800"}, 404, "model", "no such model"),
        ({"model": ["ragkit/default"]}, 400, "model", "No model is named"),
        ({"messages": []}, 400, "messages", "no messages"),
        ({"messages": "hello"}, 400, "messages", "no messages"),
        ({"messages": [{"role": "user", "content": " "}]}, 400, "messages", "no question"),
        ({"messages": [{"role": "system", "content": "x"}]}, 400, "messages", "no question"),
        ({"messages": [{"role": "bard"}]}, 400, "messages[0].role", "Roles are system"),
        ({"messages": ["x"]}, 400, "messages[0].role", "no role"),
        ({"messages": [{"role": "user", "content": 3}]}, 400, "messages[0].content", "no text"),
        ({"messages": [{"role": "user", "content": [3]}]}, 400, "messages[0].content", "text"),
        ({"stream": "yes"}, 400, "stream", "neither true nor false"),
        ({"max_tokens": 0}, 400, "max_tokens", "above 0"),
        ({"max_tokens": True}, 400, "max_tokens", "above 0"),
        ({"n": 2}, 400, "n", "one answer"),
        ({"stop": ["\n"]}, 400, "stop", "max_tokens"),
        ({"logprobs": True}, 400, "logprobs", "not known"),
        ({"tool_choice": "required"}, 400, "tool_choice", "calls no tool"),
        ({"function_call": {"name": "f"}}, 400, "function_call", "no function"),
        ({"response_format": {"type": "json_object"}}, 400, "response_format", "are text"),
        ({"response_format": 5}, 400, "response_format", "are text"),
        ({"response_format": {}}, 400, "response_format", "are text"),
        ({"stream_options": 5}, 400, "stream_options", "no object"),
        ({"stream_options": {"include_usage": "x"}}, 400, "include_usage", "true nor false"),
        ({"messages": said("after:yesterday-ish refunds")}, 400, "messages", "after:"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_with_a_sentence(base, changed, status, param, words):
    body = {"model": "ragkit/default", "messages": said(QUESTION), **changed}
    answer = httpx.post(f"{base}/v1/chat/completions", content=json.dumps(body), verify=PLAIN)
    error = answer.json()["error"]
    assert (answer.status_code, error["param"]) == (status, param)
    assert words in error["message"]
    assert (error["type"], bool(error["code"]) or status == 400) == ("invalid_request_error", True)


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"", 400, "not JSON"),
        (b"{", 400, "not JSON"),
        (b"\xff\xfe{}", 400, "not JSON"),
        (b"[]", 400, "not a JSON object"),
        (b'{"temperature": NaN}', 400, "NaN is no number"),
        (b"[" * 200_000, 400, "not JSON"),
        (b'{"max_tokens": ' + b"9" * 5000 + b"}", 400, "not JSON"),
        (b" " * 10_000_000, 413, f"more than {LARGEST_BODY:,} bytes"),
    ],
)
@pytest.mark.usefixtures("nothing_collected")
def test_bodies_that_are_no_request_are_refused(base, body, status, words):
    answer = httpx.post(f"{base}/v1/chat/completions", content=body, timeout=20, verify=PLAIN)
    assert answer.status_code == status
    assert words in answer.json()["error"]["message"]


def test_half_characters_of_a_cut_text_end_no_conversation(base):
    body = {
        "model": "ragkit/default",
        "messages": said("\ud83d", "\udc00 x", f"\ud800{QUESTION}\0"),
    }
    answer = httpx.post(
        f"{base}/v1/chat/completions", content=json.dumps(body), timeout=20, verify=PLAIN
    )
    assert FIRST in answer.json()["choices"][0]["message"]["content"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/v1/chat/completions", 405), ("POST", "/v1/embeddings", 404), ("GET", "/v1/x", 404)],
)
def test_other_addresses_are_errors_of_the_same_form(base, method, path, status):
    answer = httpx.request(method, f"{base}{path}")
    assert answer.status_code == status
    assert "ragkit answers GET /v1/models" in answer.json()["error"]["message"]


def test_a_failure_that_nobody_foresaw_is_a_sentence_and_stands_in_the_log(
    base, library, monkeypatch, caplog
):
    monkeypatch.setattr(library.contexts, "note_hits", None)
    answer = post(base)
    assert answer.status_code == 500
    assert answer.json()["error"]["message"].startswith("Something unexpected happened: TypeError")
    assert "something unexpected happened" in caplog.text


def test_a_library_that_cannot_be_opened_says_why(base, served, tmp_path):
    from ragkit.settings import load_settings
    from ragkit.surfaces.http.shared import SharedLibrary

    kept, served[0].get = served[0].library, SharedLibrary(load_settings(library=tmp_path)).get
    try:
        answer = httpx.get(f"{base}/v1/models", verify=PLAIN)
    finally:
        del served[0].get
    assert kept is served[0].library
    assert answer.status_code == 503
    assert answer.json()["error"]["type"] == "server_error"


def test_a_long_question_takes_no_long_time(base):
    before = time.process_time()
    answer = post(base, messages=said("refund days " * 100_000))
    assert time.process_time() - before < 5
    assert answer.status_code in (200, 400)
