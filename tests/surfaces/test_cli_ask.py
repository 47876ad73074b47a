"""``ragkit ask`` and ``ragkit threads``: on the handbook of the sample library."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from small_library import add, open_library, write_files

from ragkit.answers import AnswerSentence, AnswerState, Source, Turn, WrittenAnswer
from ragkit.models.hashing import HashEmbedder

HANDBOOK = Path(__file__).resolve().parents[2] / "sample_data" / "library" / "handbook"
ASKED = "how long may a customer return a buoy?"
HOSTILE = (
    "# Walrus \x1b[31m\n\nA walrus \x1b]0;owned\x07 sleeps \u202e on "
    "![a](http://evil.example/a.png) <script>alert(1)</script> for nine hours.\n"
)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli_ask")
    library = open_library(folder / "library")
    library.embedders.pin(HashEmbedder())
    add(library, HANDBOOK)
    add(library, write_files(folder / "files", {"hostile.md": HOSTILE}), "odd")
    library.close()
    return folder


@pytest.fixture
def texts(place):
    with open_library(place / "library", create=False) as library:
        documents = library.documents.list()
        return {one.id: library.documents.get(one.id).text for one in documents}


@pytest.fixture
def here(place, in_process, monkeypatch):
    """Run a command on the library; nothing answers at Ollama's address."""
    monkeypatch.setenv("RAGKIT_MODELS__OLLAMA_URL", "http://127.0.0.1:9")

    def run(*command):
        return in_process(*command, "--library", place / "library")

    return run


@pytest.fixture
def answering(here, server, monkeypatch):
    """The same with a server that speaks as Ollama does."""
    monkeypatch.setenv("RAGKIT_MODELS__OLLAMA_URL", server.url)
    return here


def number_of(messages, words: str) -> str:
    """The number under which a prompt shows the sentence with these words."""
    return re.search(rf"\[(\d+)\][^\n]*{words}", messages[-1]["content"])[1]


def thread_of(done) -> str:
    return done.stderr.split("Saved in thread ")[1].split(".")[0]


# -- without a model ---------------------------------------------------------------------------


def test_the_quick_answer_has_its_span_and_the_json_its_form(here, texts):
    done = here("ask", ASKED, "--json", "-n", "3")
    assert done.returncode == 0
    value = json.loads(done.stdout)
    assert list(value) == ["quick", "answer", "results"]
    assert value["answer"] is None
    assert any("within 30 days of delivery" in one["text"] for one in value["quick"])
    for one in value["quick"]:
        assert list(one) == ["text", "document", "start", "end"]
        assert list(one["document"]) == ["id", "path", "title"]
        assert texts[one["document"]["id"]][one["start"] : one["end"]] == one["text"]
    searched = json.loads(here("search", ASKED, "--json", "-n", "3").stdout)
    assert value["results"] == searched["results"]
    assert done.stderr.startswith("No written answer: Ollama does not answer at")
    assert done.stderr.count("\n") == 1


def test_text_has_the_quick_answer_its_sources_and_the_titles(here):
    done = here("ask", ASKED, "-n", "2")
    lines = done.stdout.splitlines()
    assert any(line.startswith("A customer can return a Heron buoy") for line in lines)
    assert any(
        line.endswith("Refund policy › The 30-day window · refund-policy.md") for line in lines
    )
    assert lines[-3:-1] == ["Results:", "1. Refund policy  refund-policy.md"]
    assert "ollama serve" in done.stderr
    silent = here("ask", ASKED, "-n", "2", "--no-model")
    assert (silent.returncode, silent.stdout) == (0, done.stdout)
    assert "Ollama" not in silent.stderr


def test_each_of_several_questions_is_answered_by_itself(here):
    second = "What does a missing cap cost?"
    done = here("ask", f"{ASKED} {second}", "--no-model")
    lines = done.stdout.splitlines()
    assert lines[0] == ASKED
    assert lines[1].startswith("  A customer can return a Heron buoy")
    assert lines[lines.index(second) + 1].startswith("  A missing cap is charged at 49 euros")
    assert "--chunked" not in done.stderr


def test_what_cannot_be_asked_says_why(here):
    assert here("ask", " ").returncode == 2
    assert "no thread 99" in here("ask", "--thread", "99", "why?").stderr
    assert here("threads", "show", "99").returncode == 5
    asked = here("ask", "--model", "own:1b", ASKED)
    assert (asked.returncode, "No written answer" in asked.stderr) == (1, True)


def test_nothing_is_kept_unless_it_is_wanted(here):
    before = here("threads", "list").stdout
    here("ask", ASKED, "--no-model")
    assert here("threads", "list").stdout == before


def test_a_follow_up_leans_on_its_thread(here):
    thread = thread_of(here("ask", ASKED, "--no-model", "--keep"))
    done = here("ask", "--thread", thread, "--no-model", "and for faulty ones?")
    assert "Asked as: how long may a customer return a buoy, for faulty ones?" in done.stderr
    typed = here(
        "ask", "--thread", thread, "--no-model", "--no-keep", "--as-typed", "--json", "why?"
    )
    value = json.loads(typed.stdout)
    assert value["thread"] == {
        "id": int(thread),
        "turn": None,
        "asked": "why?",
        "model": "",
        "notice": "",
    }
    shown = json.loads(here("threads", "show", thread, "--json").stdout)
    assert [turn["question"] for turn in shown["turns"]] == [ASKED, "and for faulty ones?"]
    assert shown["turns"][1]["asked"] == "how long may a customer return a buoy, for faulty ones?"


# -- with a model ------------------------------------------------------------------------------


def test_a_written_answer_cites_what_is_stored(answering, texts):
    done = answering("ask", ASKED, "--json", "--keep")
    assert done.returncode == 0
    value = json.loads(done.stdout)
    answer = value["answer"]
    assert (answer["model"], answer["state"]) == ("llama3.2:3b", "done")
    assert answer["sentences"]
    numbers = [source["number"] for source in answer["sources"]]
    assert numbers == list(range(1, len(numbers) + 1))
    for sentence in answer["sentences"]:
        assert set(sentence["sources"]) <= set(numbers)
    for source in answer["sources"]:
        stored = texts[source["document"]["id"]]
        assert stored[source["start"] : source["end"]] == source["text"]
    # Asked on: rewritten by the model, and kept with the same numbers.
    thread = str(value["thread"]["id"])
    more = json.loads(answering("ask", "--thread", thread, "and for faulty ones?", "--json").stdout)
    assert more["thread"]["model"] == "llama3.2:3b"
    assert more["thread"]["asked"] == f"{ASKED[:-1]} and for faulty ones?"
    turns = json.loads(answering("threads", "show", thread, "--json").stdout)["turns"]
    assert [turn["answer"] for turn in turns] == [answer, more["answer"]]
    assert [turn["quick"] for turn in turns] == [value["quick"], more["quick"]]


def test_checks_are_words_in_the_text(answering, server):
    def reply(messages):
        days = number_of(messages, "within 30 days of")
        return f"They have 30 days [{days}].\nOr 45 days, says Anna [{days}]. Perhaps."

    server.reply = reply
    lines = answering("ask", ASKED).stdout.splitlines()
    at = lines.index("llama3.2:3b wrote:")
    assert lines[at + 1 : at + 4] == [
        "They have 30 days. [1]",
        "Or 45 days, says Anna. [1]  (45 is not in the source, Anna is not in the source)",
        "Perhaps.  (no source)",
    ]
    assert lines[at + 4].startswith("1 of 3 sentences passed the checks")


def test_a_model_judges_on_request(answering, server):
    def reply(messages):
        if "Claim 1:" not in messages[-1]["content"]:
            days = number_of(messages, "within 30 days of")
            return f"They have 30 days [{days}]. The buoy may float [{days}]."
        verdicts = [{"claim": 1, "verdict": "supported"}, {"claim": 2, "verdict": "partly"}]
        return json.dumps({"judgments": verdicts})

    server.reply = reply
    lines = answering("ask", ASKED, "--check").stdout.splitlines()
    at = lines.index("  supported: They have 30 days.")
    assert lines[at + 1] == "  partly supported: The buoy may float."
    assert lines[at + 2].startswith("1 of 2 sentences passed the checks")
    value = json.loads(answering("ask", ASKED, "--check", "--json").stdout)
    assert value["answer"]["judged"]
    kinds = [[check["kind"] for check in one["checks"]] for one in value["answer"]["sentences"]]
    assert kinds == [["supported"], ["partly_supported"]]


def test_not_in_the_documents_is_said_in_one_line(answering, server):
    server.reply = lambda _messages: "The documents do not say."
    done = answering("ask", ASKED, "-n", "1")
    assert done.returncode == 0
    assert "Not in your documents: the model found no answer" in done.stdout
    assert "The documents do not say." not in done.stdout


def test_an_answer_that_breaks_off_is_shown_and_fails(answering, server):
    server.reply = lambda _messages: "They have thirty days [1]. " * 30
    server.failure = "stream-error"
    done = answering("ask", ASKED, "--keep")
    assert done.returncode == 1
    assert "They have thirty days. [1]" in done.stdout
    assert "Ollama reported an error" in done.stdout
    kept = json.loads(answering("threads", "show", thread_of(done), "--json").stdout)
    assert kept["turns"][0]["answer"]["state"] == "failed"


def test_stopping_keeps_what_was_written(place, server):
    server.reply = lambda _messages: "They have thirty days [1]. " * 200
    server.pause = 0.05
    environment = {
        **os.environ,
        "RAGKIT_MODELS__EMBEDDER": "hash",
        "RAGKIT_MODELS__OLLAMA_URL": server.url,
    }
    arguments = ["ask", ASKED, "--keep", "--library", place / "library"]
    process = subprocess.Popen(
        [sys.executable, "-m", "ragkit", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    for line in process.stdout:
        if line.startswith("They have thirty days. [1]"):
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "The answer was stopped here." in out
    with open_library(place / "library", create=False) as library:
        thread = library.threads.get(int(err.split("Saved in thread ")[1].split(".")[0]))
    written = thread.turns[-1].written
    assert written.state is AnswerState.CANCELLED
    assert 0 < len(written.sentences) < 200


def test_the_web_is_asked_in_the_persons_own_words_and_cited_as_such(
    answering, server, httpserver, monkeypatch
):
    found = {"title": "Buoys", "url": "https://buoy.example/", "content": "Zebra buoys float."}
    httpserver.expect_request("/search").respond_with_json({"results": [found]})
    monkeypatch.setenv("RAGKIT_WEB__ENGINE", "searxng")
    monkeypatch.setenv("RAGKIT_WEB__URL", httpserver.url_for(""))
    thread = thread_of(answering("ask", ASKED, "--no-model", "--keep"))

    def reply(messages):
        asks = "rewrite the last question" in messages[0]["content"]
        number = re.search(r"\[(\d+)\] Zebra", messages[-1]["content"])
        return json.dumps({"question": "faulty customer secrets"}) if asks else f"So [{number[1]}]."

    server.reply = reply
    command = ("ask", "--thread", thread, "and for faulty ones?", "--no-keep", "--json", "--web")
    refused = answering(*command)
    assert (refused.returncode, refused.stdout, httpserver.log) == (2, "", [])
    done = answering(*command, "--yes")
    ((request, _),) = httpserver.log
    assert request.args["q"] == "how long may a customer return a buoy, for faulty ones?"
    value = json.loads(done.stdout)
    assert value["thread"]["asked"] == "faulty customer secrets"
    (source,) = value["answer"]["sources"]
    assert source == {
        "number": 1,
        "text": "Zebra buoys float.",
        "document": None,
        "url": "https://buoy.example/",
        "title": "Buoys",
    }
    assert [one["url"] for one in value["web"]["results"]] == ["https://buoy.example/"]


# -- kept answers ------------------------------------------------------------------------------


@pytest.fixture
def hostile(place):
    """The id of a thread whose every text is hostile."""
    with open_library(place / "library", create=False) as library:
        found = library.search("walrus", collections=("odd",)).results[0]
        source = Source(HOSTILE, 0, len(HOSTILE), found.document, (HOSTILE,), 1)
        written = WrittenAnswer(
            HOSTILE, HOSTILE, AnswerState.DONE, (AnswerSentence(HOSTILE, (1,)),), (source,)
        )
        thread = library.threads.begin(HOSTILE, ["odd"])
        library.threads.add(thread.id, Turn(HOSTILE, HOSTILE, (source,), written))
        yield str(thread.id)
        if any(one.id == thread.id for one in library.threads.list()):
            library.threads.delete(thread.id)


def test_no_document_steers_the_terminal(here, hostile):
    asked = here("ask", "how long does a walrus sleep?", "--collection", "odd")
    said = [asked, here("threads", "show", hostile), here("threads", "list")]
    said.append(here("threads", "export", hostile))
    for done in said:
        assert done.stdout
        assert all(line.isprintable() for line in f"{done.stdout}{done.stderr}".split("\n"))
    assert "walrus" in asked.stdout


def test_threads_are_exported_renamed_and_deleted(here, hostile, tmp_path):
    file = tmp_path / "thread.md"
    assert here("threads", "export", hostile, file).returncode == 0
    text = file.read_text("utf-8")
    assert "![" not in text
    assert "<script" not in text.replace("\\<script", "")
    assert here("threads", "export", hostile, file).returncode == 1
    assert here("threads", "rename", hostile, "Walruses").returncode == 0
    listed = [json.loads(line) for line in here("threads", "list", "--json").stdout.splitlines()]
    assert {one["title"]: one["turns"] for one in listed}["Walruses"] == 1
    assert here("threads", "delete", hostile).returncode == 2
    assert here("threads", "delete", hostile, "--yes").returncode == 0
    assert f"no thread {hostile}" in here("threads", "show", hostile).stderr


def test_a_thread_that_is_full_keeps_the_answer_on_the_screen(here, monkeypatch):
    from ragkit.catalog import threads

    thread = thread_of(here("ask", ASKED, "--no-model", "--keep"))
    monkeypatch.setattr(threads, "MOST_TURNS", 1)
    done = here("ask", "--thread", thread, "--no-model", "why?", "-n", "1")
    assert done.returncode == 1
    assert "1. Refund policy" in done.stdout
    assert "Begin another thread." in done.stderr


def test_a_thread_of_a_deleted_collection_is_shown_and_says_where_it_was(place, here):
    with open_library(place / "library", create=False) as library:
        library.collections.add("nowhere")
        begun = library.threads.begin("gone?", ["nowhere"])
        library.jobs.wait(library.collections.delete("nowhere"))
        library.threads.add(begun.id, replace(Turn("gone?", "gone?"), at=1.0))
    assert "> gone?" in here("threads", "show", begun.id).stdout
    asked = here("ask", "--thread", begun.id, "why?", "--no-model")
    assert (asked.returncode, 'no collection "nowhere"' in asked.stderr) == (5, True)
    elsewhere = here("ask", "--thread", begun.id, ASKED, "--no-model", "--collection", "default")
    assert elsewhere.returncode == 0
