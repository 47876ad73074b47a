"""Long questions on the command line."""

from __future__ import annotations

import json
import re

import pytest
from small_library import HANDBOOK, add, open_library, write_files

from ragkit.models.hashing import HashEmbedder
from ragkit.reading.question_text import as_conversation

CHAT = "\n\n".join(
    f"**{'Ann' if n % 2 else 'Bob'}** · 10:{n:02}\n{text}"
    for n, text in enumerate(
        ["May a customer ask for a refund within thirty days?"] * 4
        + ["The OAuth token of the login expires after an hour."] * 4
    )
)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli_chunked")
    library = open_library(folder / "library")
    library.embedders.pin(HashEmbedder())
    lamps = "".join(f"## Lamp {n}\n\n{'The lantern has oil and a wick. ' * 60}\n" for n in range(3))
    write_files(folder / "files", {**HANDBOOK, "chats/both.md": CHAT, "notes/lamps.md": lamps})
    add(library, folder / "files")
    library.close()
    return folder


@pytest.fixture
def here(place, in_process):
    def run(command, *arguments):
        return in_process(command, *arguments, "--library", place / "library")

    return run


def test_a_file_asks_by_its_topics(here, place):
    done = here("search", "--file", place / "files/chats/both.md", "--chunked", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert set(found) == {"topics", "results", "metrics", "notices", "trace"}
    assert [set(one) for one in found["topics"]] == [
        {"name", "start", "end", "weak", "documents"}
    ] * 2
    by_path = {one["document"]["path"]: one["topics"] for one in found["results"]}
    assert 0 in by_path["handbook/refunds.md"]
    assert 1 in by_path["handbook/login.md"]
    assert "chats/both.md" not in by_path
    assert found["metrics"]["segments"] == 2
    assert found["metrics"]["shown"] == len(found["results"])
    assert found["trace"]["ms"] > 0


def test_a_file_can_ask_as_one_question_too(here, place, tmp_path):
    (tmp_path / "q.txt").write_text("refund within thirty days")
    done = here("search", "--file", tmp_path / "q.txt", "--json")
    found = [one["document"]["path"] for one in json.loads(done.stdout)["results"]]
    assert set(found[:2]) == {"handbook/refunds.md", "chats/both.md"}


@pytest.mark.parametrize("what", ["chats/both.md", "file"])
def test_what_is_related_to_a_document_or_file_leaves_it_out(here, place, what):
    done = here("related", place / "files/chats/both.md" if what == "file" else what)
    assert done.returncode == 0, done.stderr
    assert "handbook/refunds.md" in done.stdout
    assert "handbook/login.md" in done.stdout
    assert "chats/both.md" not in done.stdout
    assert "2 segments → " in done.stdout


def test_similar_documents_are_those_that_the_pages_list(here, monkeypatch):
    monkeypatch.setattr("ragkit.retrieval.similar._LEAST", (1.0, 0.05, 0.05))
    listed = here("related", "chats/both.md").stdout
    head, *lines = listed.split("2 segments")[0].splitlines()
    assert head == "Similar documents"
    assert all(re.fullmatch(r"- .+ · \S+ · similar, 0\.\d\d", line) for line in lines[:-1])
    found = json.loads(here("related", "chats/both.md", "--json").stdout)["similar"]["documents"]
    assert 0 < sum(one["words"] == "similar" for one in found) == len(lines) - 1 < len(found)


def test_what_is_similar_is_in_the_json_with_its_cosine_and_copies(here, place):
    found = json.loads(here("related", "handbook/refunds.md", "--json").stdout)["similar"]
    assert set(found) == {"copies", "documents"}
    first, second, *_ = found["documents"]
    assert set(first) == {"id", "path", "title", "cosine", "words", "copies"}
    assert 1 > first["cosine"] >= second["cosine"]


def test_documents_that_are_distant_are_not_listed(here):
    found = json.loads(here("related", "notes/lamps.md", "--json").stdout)["similar"]["documents"]
    assert {one["words"] for one in found} == {"distant"}
    listed = here("related", "notes/lamps.md").stdout
    assert listed.startswith("Similar documents\n- none\n")
    assert "distant" not in listed


def test_a_topic_that_nothing_fits_says_so(here, tmp_path):
    (tmp_path / "q.txt").write_text("Do penguins in Antarctica migrate over glaciers?")
    done = here("search", "--file", tmp_path / "q.txt", "--chunked")
    assert "(nothing fits; the nearest)" in done.stdout


def test_a_document_is_named_by_its_number_too(here):
    listed = here("list", "--json").stdout.splitlines()
    number = next(o["id"] for o in map(json.loads, listed) if o["path"] == "chats/both.md")
    assert "chats/both.md" not in here("related", number).stdout


def test_how_a_long_question_is_cut_and_merged_is_set_by_flags(here, place):
    asked = ("search", "--file", place / "files/chats/both.md", "--chunked", "--json")

    def found(*more):
        done = here(*asked, *more)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    assert found("--method", "whole")["metrics"]["segments"] == 1
    assert found("--method", "fixed")["metrics"]["segments"] == 1
    every = [one["document"]["path"] for one in found("--dedup", "none", "-n", 20)["results"]]
    each = [one["document"]["path"] for one in found("-n", 20)["results"]]
    assert len(each) == len(set(each))
    assert len(every) > len(each)
    scores = [one["score"] for one in found("--merge", "score", "-n", 20)["results"]]
    assert scores == sorted(scores, reverse=True)
    alike = found("-o", "min_similarity=0.99")
    assert alike["results"] == []
    refused = here("search", "refund", "--merge", "score")
    assert refused.returncode == 2
    assert "Add --chunked." in refused.stderr


def test_the_context_block_is_markdown(here):
    done = here("related", "chats/both.md", "--context", "-n", 2)
    assert done.stdout.startswith("## Related documents\n\n### 1. ")
    assert done.stdout.count("\n### ") == 2
    done = here("search", "refund", "--context")
    assert "### 1. Refunds" in done.stdout


def test_the_context_block_is_as_long_as_is_set(here, monkeypatch):
    whole = here("related", "chats/both.md", "--context").stdout
    monkeypatch.setenv("RAGKIT_ANSWERS__CONTEXT_TOKENS", "100")
    short = here("related", "chats/both.md", "--context").stdout
    assert len(short) <= 400 < len(whole)
    assert short.startswith("## Related documents\n\n### 1. ")


def test_what_is_not_there_or_cannot_be_read_has_an_answer(here, tmp_path):
    assert here("related", "nowhere.md").returncode == 5
    assert here("search", "--file", tmp_path / "gone.md", "--chunked").returncode == 5
    folder = here("search", "--file", tmp_path, "--chunked")
    assert (folder.returncode, f"{tmp_path} is a folder." in folder.stderr) == (5, True)
    (tmp_path / "picture.xyz").write_bytes(bytes(range(256)) * 40)
    done = here("related", tmp_path / "picture.xyz")
    assert done.returncode == 1
    assert done.stderr.startswith("ragkit: ")
    (tmp_path / "empty.txt").write_text("  \n")
    assert here("search", "--file", tmp_path / "empty.txt", "--chunked").returncode == 1
    assert here("search").returncode != 0


@pytest.mark.parametrize("key", ["type", "role", "author", "sender", "from", "id"])
@pytest.mark.parametrize("value", ["{}", "[1]", "7", "null", "true"])
def test_pasted_json_of_an_unusual_shape_is_read_or_left_as_it_is(key, value):
    text = f'[{{"{key}": {value}, "timestamp": 1, "message": "the buoy", "text": "the buoy"}}]'
    assert "the buoy" in as_conversation(text)
    text = f'{{"messages": [{{"{key}": {value}, "content": "the buoy"}}]}}'
    assert "the buoy" in as_conversation(text)


def test_a_pasted_export_becomes_messages_and_other_text_stays():
    lines = '{"timestamp": "2026-03-14T10:00:00Z", "author": "Max", "message": "the buoy"}\n' * 2
    assert "**Max**" in as_conversation(lines)
    assert as_conversation("[not json] but text") == "[not json] but text"
    whatsapp = "14/03/2026, 10:00 - Max: the buoy\n14/03/2026, 10:01 - Rui: the pond\n"
    assert "**Rui**" in as_conversation(whatsapp)
