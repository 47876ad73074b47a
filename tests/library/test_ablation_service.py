"""Ablations of a library's own collections: which questions are asked, and what is kept."""

from __future__ import annotations

import json

import pytest
from small_library import HANDBOOK, add, open_library, write_files

from ragkit.errors import EvaluationError
from ragkit.evaluation.ablation_figures import as_values
from ragkit.evaluation.judging import Judging
from ragkit.indexing.progress import JobCancelled

ASKED = [
    {"text": "refund?", "relevant": [{"path": "handbook/refunds.md"}]},
    {"text": "OAuth token", "relevant": [{"path": "handbook/login.md"}]},
]


@pytest.fixture
def library(tmp_path, server):
    opened = open_library(
        tmp_path / "library", models={"embedder": "hash", "ollama_url": server.url}
    )
    add(opened, write_files(tmp_path / "files", HANDBOOK))
    yield opened
    opened.close()


def imported(library, folder, name, count=2):
    file = folder / f"{name}.jsonl"
    file.write_text("\n".join(map(json.dumps, ASKED[:count])), "utf-8")
    library.judgments.import_file("default", file)


def told(figures):
    return json.loads(json.dumps(as_values(figures)))


def kept(library):
    return told(library.ablations.kept("default"))


def test_people_s_questions_come_before_a_model_s_and_the_larger_set_before_the_smaller(
    library, tmp_path
):
    asks = library.ablations.question_set
    assert asks("default") is None
    library.judgments.generate("default", count=3)
    assert asks("default") == "written"
    home = library.catalog.collections.get("default").id
    Judging(library.catalog).judge(home, "refunds", library.documents.list()[0].id, 2)
    assert asks("default") == ""
    imported(library, tmp_path, "mine")
    assert asks("default") == "mine"
    imported(library, tmp_path, "one", count=1)
    assert asks("default") == "mine"


def test_where_nothing_is_rated_a_model_writes_the_questions_and_it_is_said(library, server):
    figures = library.ablations.run("default", tables=["keywords"])
    count = library.judgments.sets("default")["written"][0]
    assert count > 1
    assert figures.questions == (
        f'{count} questions of "written", which llama3.2:3b wrote from passages of the documents'
    )
    assert figures.notices[0].startswith("Questions of this set were written by llama3.2:3b")
    assert kept(library) == told(figures)


def test_without_questions_and_without_a_model_it_says_what_to_do(library, server):
    server.models = {}
    with pytest.raises(EvaluationError, match="Nothing is rated in default yet") as raised:
        library.ablations.run("default")
    assert "ollama pull" in raised.value.cure


def test_the_last_is_kept_for_each_collection_and_a_stopped_one_beside_none(library, tmp_path):
    imported(library, tmp_path, "mine")

    def stop_late(progress):
        return "structural × keyword" not in progress.phase

    stopped = library.ablations.run("default", tables=["contexts"], report=stop_late)
    assert (stopped.partial, len(stopped.cells)) == (True, 5)
    assert kept(library) == told(stopped)
    whole = library.ablations.run("default", tables=["keywords"])
    assert kept(library) == told(whole)
    again = library.ablations.run("default", tables=["contexts"], report=stop_late)
    assert again.partial
    assert kept(library) == told(whole)
    assert list(library.paths.temporary.iterdir()) == []
    with pytest.raises(JobCancelled):
        library.ablations.run("default", report=lambda _progress: False)
    assert library.ablations.kept("none such") is None
    library.catalog.set_meta("ablations", {"1": {"name": "of another version"}})
    assert library.ablations.kept("default") is None
