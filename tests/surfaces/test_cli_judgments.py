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
        "ragkit: There is no judged question to export. Judge some results first.\n",
    )
    unknown = ragkit("export", tmp_path / "out", "--set", "other")
    assert unknown.stderr.startswith('ragkit: There is no question set "other".')
    missing = ragkit("import", tmp_path / "none.csv")
    assert (missing.returncode, "There is no file" in missing.stderr) == (5, True)
    assert not (tmp_path / "out").exists()
    assert ragkit("list").stdout == ""
