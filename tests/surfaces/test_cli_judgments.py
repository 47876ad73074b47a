"""``ragkit judgments``: in, listed, and out again."""

from __future__ import annotations

import json
from functools import partial

import pytest
from small_library import HANDBOOK, add, open_library, write_files

QUESTIONS = (
    '{"id": "a", "text": "refund?", "kind": "number", "relevant": '
    '[{"path": "handbook/refunds.md", "grade": 2, "quote": "within thirty days"}]}\n'
    '{"id": "b", "text": "lost?", "relevant": [{"path": "gone.md"}]}\n'
)


@pytest.fixture
def ragkit(in_process, monkeypatch, tmp_path):
    """Run the command line in this process, on a library of five files."""
    monkeypatch.setenv("RAGKIT_LIBRARY", str(tmp_path / "library"))
    library = open_library(tmp_path / "library")
    write_files(tmp_path / "files", HANDBOOK)
    add(library, tmp_path / "files")
    library.close()

    return partial(in_process, "judgments")


def test_questions_go_in_and_come_out_as_a_folder(ragkit, tmp_path):
    file = tmp_path / "mine.jsonl"
    file.write_text(QUESTIONS, "utf-8")
    done = ragkit("import", file, "--json")
    assert (done.returncode, json.loads(done.stdout)) == (
        0,
        {"set": "mine", "questions": 1, "judgments": 1},
    )
    assert done.stderr.splitlines() == [
        "Left out, since no such document is indexed: gone.md.",
        "Left out, since none of their documents is indexed: b.",
        '1 questions with 1 judgments are in "mine".',
    ]
    assert ragkit("list").stdout.split() == ["mine", "1", "questions", "1", "judgments"]
    out = tmp_path / "out"
    assert ragkit("export", out, "--set", "mine").returncode == 0
    assert (out / "qrels.tsv").read_text("utf-8") == (
        "query-id\tcorpus-id\tscore\na\thandbook/refunds.md\t2\n"
    )
    assert json.loads((out / "queries.jsonl").read_text("utf-8")) == {
        "_id": "a", "text": "refund?", "metadata": {"kind": "number"},
    }  # fmt: skip
    assert len((out / "corpus.jsonl").read_text("utf-8").splitlines()) == len(HANDBOOK)
    assert json.loads((out / "questions.jsonl").read_text("utf-8"))["relevant"] == [
        {"path": "handbook/refunds.md", "grade": 2, "quote": "within thirty days"}
    ]


def test_what_is_not_there_is_said(ragkit, tmp_path):
    nothing = ragkit("export", tmp_path / "out")
    assert (nothing.returncode, nothing.stderr) == (
        1,
        "ragkit: There are no rated questions to export. Rate some results first.\n",
    )
    unknown = ragkit("export", tmp_path / "out", "--set", "other")
    assert unknown.stderr.startswith('ragkit: There is no question set "other" in default.')
    assert unknown.returncode == 5
    missing = ragkit("import", tmp_path / "none.csv")
    assert (missing.returncode, "File not found" in missing.stderr) == (5, True)
    assert not (tmp_path / "out").exists()
    assert ragkit("list").stdout == ""


# -- written by a model --------------------------------------------------------------------------

LETTER = (
    "# The {0}\n\nThis letter is about the {0} that was delivered to the harbour of Oberhafen in "
    "the spring, where Nora looked after {0} number 4711 for many weeks until the crew of the boat "
    "took it out to the lake and left it there over the whole of a long and very cold winter.\n"
)


@pytest.fixture
def written(ragkit, in_process, monkeypatch, server, tmp_path):
    """The same with three letters, and with a model that answers."""
    monkeypatch.setenv("RAGKIT_MODELS__OLLAMA_URL", server.url)
    monkeypatch.setenv("RAGKIT_MODELS__RETRIES", "0")
    topics = ("anchor", "buoy", "cable")
    write_files(tmp_path / "files", {f"{one}.md": LETTER.format(one) for one in topics})
    assert in_process("sync").returncode == 0
    return ragkit


def test_a_model_writes_a_set_that_can_be_asked(written, in_process):
    done = written("write", "--count", "4", "--set", "mine", "--seed", "3")
    assert (done.returncode, done.stderr) == (
        0, 'llama3.2:3b wrote 4 questions; "mine" has 4 now.\n',
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("exact term  What is known of ")
    paths = {line.rsplit("  ", 1)[1] for line in lines}
    assert (len(paths), paths & {"notes/garten.txt", "data/prices.csv"}) == (2, set())
    assert written("list").stdout.splitlines() == [
        "mine                          4 questions       4 judgments   written by llama3.2:3b"
    ]
    assert json.loads(written("list", "--json").stdout)["written_by"] == ["llama3.2:3b"]
    asked = in_process("eval", "--set", "mine", "--json")
    assert asked.returncode == 0
    assert json.loads(asked.stdout)["asked"] == 4
    assert "were written by llama3.2:3b from the passages" in asked.stderr


def test_kinds_stay_with_the_questions(written, tmp_path):
    value = json.loads(written("write", "--count", "2", "--json").stdout)
    assert (value["set"], value["total"], value["kinds"]) == (
        "written", 2, {"exact term": 1, "number": 1},
    )  # fmt: skip
    assert [one["kind"] for one in value["questions"]] == ["exact term", "number"]
    assert written("export", tmp_path / "out", "--set", "written").returncode == 0
    rows = (tmp_path / "out" / "queries.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(row)["metadata"] for row in rows] == [
        {"kind": "exact term", "written_by": "llama3.2:3b"},
        {"kind": "number", "written_by": "llama3.2:3b"},
    ]


def test_fewer_questions_than_were_wanted_are_kept_and_said(written, server):
    short = written("write", "--count", "19", "--json")
    assert (short.returncode, json.loads(short.stdout)["total"]) == (1, 10)
    assert short.stderr.splitlines()[-1] == "There are no more passages to ask about."
    again = written("write", "--count", "10")
    assert (again.returncode, again.stdout) == (0, "")
    server.stop()
    away = written("write", "--count", "19")
    server.start()
    assert away.returncode == 1
    assert away.stderr.startswith("ragkit: ")
    assert "Ollama" in away.stderr
    assert away.stdout == ""
    missing = written("write", "--model", "none:1b", "--set", "b")
    assert "none:1b" in missing.stderr


def test_what_was_searched_for_is_rated_in_a_file_and_evaluated(ragkit, in_process, tmp_path):
    file = tmp_path / "asked.csv"
    nothing = ragkit("logged", file)
    assert (nothing.returncode, file.exists()) == (1, False)
    in_process("search", "refund within thirty days")
    in_process("search", "Refund within thirty days", "--mode", "keyword")
    done = ragkit("logged", file)
    assert done.returncode == 0
    assert done.stderr.startswith("1 question with ")
    assert f'ragkit judgments import {file} --name "searches"' in done.stderr
    assert ragkit("logged", file).returncode == 1
    text = file.read_text("utf-8")
    assert "Refund within thirty days,?,handbook/refunds.md," in text
    file.write_text(text.replace("?,handbook/refunds.md", "2,handbook/refunds.md"), "utf-8")
    assert ragkit("import", file, "--name", "searches").returncode == 0
    measured = in_process("eval", "--set", "searches", "--json")
    assert measured.returncode == 0
    figures = json.loads(measured.stdout.splitlines()[0])["metrics"]
    assert {one["name"]: one["value"] for one in figures}["hit@1"] == 1.0
    in_process("search", "gift cards")
    in_process("search", "gift cards")
    whole = ragkit("logged", tmp_path / "whole.csv")
    assert (whole.returncode, "replaces" in whole.stderr) == (0, False)
    part = ragkit("logged", tmp_path / "part.csv", "--count", "1")
    assert 'The import replaces "searches" and its 1 rated question that the' in part.stderr
