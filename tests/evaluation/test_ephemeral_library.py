"""Recorded contexts go through the real backfill, and give what Ollama's would have given."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ollama_stand_in import OllamaStandIn, replaying
from published_set import CONTEXTS, ROWS, jsonl, write_published

from ragkit.errors import EvaluationError, NotFoundError
from ragkit.evaluation import experiments
from ragkit.evaluation.corpus import load_question_set
from ragkit.evaluation.experiments import ephemeral_experiment
from ragkit.evaluation.measuring import measure
from ragkit.evaluation.recorded_contexts import load_contexts
from ragkit.evaluation.row_documents import RowsAs
from ragkit.evaluation.search_config import SearchConfig
from ragkit.models.context_writer import ContextWriter
from ragkit.models.ollama import OllamaClient
from ragkit.options import Contexts, Mode, SearchOptions
from ragkit.settings import load_settings


@pytest.fixture
def given(tmp_path):
    return load_question_set(write_published(tmp_path / "set"))


def figures(experiment, mode=Mode.HYBRID, contexts=Contexts.MODEL):
    return measure(experiment, SearchConfig(SearchOptions(mode=mode, contexts=contexts))).values


@pytest.mark.parametrize("rows_as", RowsAs)
def test_a_server_that_replays_the_same_file_gives_the_same_figures(
    given, tmp_path, monkeypatch, rows_as
):
    settings = load_settings(models={"embedder": "hash"})
    file = given.folder / "contexts.jsonl"
    recorded = load_contexts(file, given.rows)
    how = {"whole_rows": True, "rows_as": rows_as, "contexts": recorded}
    with ephemeral_experiment(given, settings, tmp_path / "replayed", **how) as experiment:
        assert (experiment.contexts.complete, experiment.contexts.failed) == (4, 0)
        assert experiment.tokens == 90
        replayed = {mode: figures(experiment, mode) for mode in Mode}
    reply = replaying(file, given.folder / "corpus.jsonl")
    with OllamaStandIn(reply=reply) as server:
        asked = load_settings(models={"embedder": "hash", "ollama_url": server.url})
        with OllamaClient(asked.models) as client:
            writer = ContextWriter.open(client)
            monkeypatch.setattr(experiments, "RecordedModel", lambda _rows, _recorded: writer)
            with ephemeral_experiment(given, asked, tmp_path / "asked", **how) as experiment:
                assert experiment.contexts.complete == 4
                assert experiment.tokens != 90
                assert {mode: figures(experiment, mode) for mode in Mode} == replayed
    assert replayed[Mode.KEYWORD]["mrr"] == dict.fromkeys(("q1", "q2", "q3", "q4"), 1.0)


def test_contexts_titles_and_texts_are_searched_or_not(given, tmp_path):
    settings = load_settings(models={"embedder": "hash"})
    recorded = load_contexts(given.folder / "contexts.jsonl", given.rows)
    with ephemeral_experiment(
        given, settings, tmp_path / "all", rows_as=RowsAs.APART, contexts=recorded
    ) as experiment:
        assert (experiment.documents, experiment.chunks) == (4, 4)
        both = (
            figures(experiment, Mode.KEYWORD),
            figures(experiment, Mode.KEYWORD, Contexts.STRUCTURAL),
        )
        found = experiment.engine.search(
            "lighthouse", SearchOptions(collections=(experiment.collection,), mode=Mode.KEYWORD)
        )
        assert len(found.results) == 1
    assert (both[0]["hit@1"]["q2"], both[1]["hit@1"]["q2"]) == (1.0, 0.0)
    with ephemeral_experiment(given, settings, tmp_path / "texts", structural=False) as experiment:
        assert experiment.contexts.complete == 0
        found = experiment.engine.search(
            "lighthouse", SearchOptions(collections=(experiment.collection,), mode=Mode.KEYWORD)
        )
        assert found.results == ()
        assert figures(experiment, Mode.KEYWORD)["hit@1"]["q1"] == 1.0


def test_what_of_a_file_is_of_no_use_is_said(given, tmp_path):
    bad = {"id": "cake", "context": "As an AI language model I cannot say.", "keywords": [],
           "questions": []}  # fmt: skip
    lines = [CONTEXTS[0], CONTEXTS[0], bad, {"id": "nowhere"}, {"context": "of nothing"}]
    recorded = load_contexts(jsonl(tmp_path / "some.jsonl", lines), given.rows)
    assert recorded.notices == (
        "1 recorded contexts are of rows that the corpus lacks: nowhere.",
        "1 recorded contexts have an id that came before: tide.",
        "2 rows have no recorded context: wind, lamp.",
        "1 recorded contexts have no id and are left out.",
    )
    settings = load_settings(models={"embedder": "hash"})
    with ephemeral_experiment(
        given, settings, tmp_path / "library", contexts=recorded
    ) as experiment:
        assert (experiment.contexts.complete, experiment.contexts.failed) == (1, 3)
        assert any(one.startswith("3 chunks have no context") for one in experiment.notices)


def test_a_file_that_is_no_use_at_all_is_an_error(given, tmp_path):
    with pytest.raises(NotFoundError, match="File not found"):
        load_contexts(tmp_path / "none.jsonl", given.rows)
    with pytest.raises(EvaluationError, match=r"No line of other\.jsonl is about a row"):
        load_contexts(jsonl(tmp_path / "other.jsonl", [{"id": "x"}]), given.rows)
    latin = tmp_path / "latin.jsonl"
    latin.write_bytes('{"id": "tide", "context": "é"}'.encode("latin-1"))
    with pytest.raises(EvaluationError, match="is not UTF-8"):
        load_contexts(latin, given.rows)


def test_pieces_of_a_long_row_have_its_context(given, tmp_path):
    long_row = {**ROWS[3], "text": "The lamp turns slowly over the bay. " * 120}
    folder = write_published(tmp_path / "long")
    jsonl(folder / "corpus.jsonl", [*ROWS[:3], long_row])
    given = load_question_set(folder)
    recorded = load_contexts(folder / "contexts.jsonl", given.rows)
    settings = load_settings(models={"embedder": "hash"})
    with ephemeral_experiment(
        given, settings, tmp_path / "library", contexts=recorded
    ) as experiment:
        assert experiment.chunks > 4
        assert experiment.contexts.complete == experiment.chunks


def test_sets_of_files_have_neither_rows_nor_contexts(given, tmp_path):
    spans = replace(given, excerpts={"q1": ()})
    with (
        pytest.raises(EvaluationError, match="works with rows only"),
        ephemeral_experiment(spans, load_settings(), tmp_path / "library", structural=False),
    ):
        pass
