"""``ragkit search`` and ``ragkit eval`` with ``--rerank model``."""

from __future__ import annotations

import json

import pytest
from grading import grading
from published_set import write_published


@pytest.fixture
def asked(server, monkeypatch):
    monkeypatch.setenv("RAGKIT_MODELS__OLLAMA_URL", server.url)
    server.reply = grading(lambda text: 10 if "best" in text else 1)
    return server


def test_a_search_is_reranked_and_says_so(in_process, tmp_path, asked):
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "a.md").write_text("# Turbine\n\nThe turbine turbine turns.\n")
    (folder / "b.md").write_text("# Mill\n\nA mill with one turbine is best.\n")
    here = ("--library", tmp_path / "library")
    assert in_process("add", folder, *here).returncode == 0
    usual = json.loads(in_process("search", "turbine", *here, "--json").stdout)
    found = json.loads(in_process("search", "turbine", *here, "--rerank", "model", "--json").stdout)
    assert [one["document"]["path"] for one in usual["results"]] == ["a.md", "b.md"]
    assert [one["document"]["path"] for one in found["results"]] == ["b.md", "a.md"]
    assert [one["matched_chunks"][0]["grade"] for one in found["results"]] == [10.0, 1.0]
    assert usual["results"][0]["matched_chunks"][0]["grade"] is None
    assert found["results"][1]["score"] == usual["results"][0]["score"]
    told = in_process("search", "turbine", *here, "--rerank", "model", "--explain")
    assert "graded 10 of 10" in told.stdout
    asked.failure = "broken"
    told = in_process("search", "turbine", *here, "--rerank", "model")
    assert (told.returncode, "not reranked: Ollama reported" in told.stderr) == (0, True)
    assert told.stdout.startswith("1. Turbine")


def test_an_evaluation_is_reranked_or_fails(in_process, tmp_path, asked):
    given = ("eval", "--corpus", write_published(tmp_path / "set"), "--rerank", "model", "--json")
    found = json.loads(in_process(*given).stdout)
    assert "reranking" in json.dumps(found)
    asked.failure = "broken"
    failed = in_process(*given)
    assert (failed.returncode, failed.stdout) == (1, "")
    assert "Ollama reported an error" in failed.stderr
