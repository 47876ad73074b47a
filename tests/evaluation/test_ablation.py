"""Ablation: variants differ in one thing each, and one that cannot be evaluated says why."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ElementTree
from contextlib import ExitStack
from dataclasses import replace

import pytest
from grading import grading
from model_folders import cross_encoder_folder
from published_set import write_published
from small_library import add, open_library, write_files

from ragkit.errors import ModelError
from ragkit.evaluation.ablation import ablate, grid_variants, keyword_variants, vector_variants
from ragkit.evaluation.ablation_figures import as_values, figures_of, from_values
from ragkit.evaluation.corpus import Question, load_question_set
from ragkit.evaluation.experiments import bare_experiment, ephemeral_experiment
from ragkit.evaluation.measuring import measure
from ragkit.evaluation.recorded_contexts import load_contexts
from ragkit.evaluation.row_documents import RowsAs
from ragkit.evaluation.scorers import DocumentScorer
from ragkit.evaluation.search_config import SearchConfig
from ragkit.indexing.progress import JobCancelled, Reporter
from ragkit.options import Mode, Rerank, SearchOptions
from ragkit.settings import load_settings
from ragkit.surfaces.render_ablation import (
    ablation_as_csv,
    ablation_as_markdown,
    ablation_as_svg,
    ablation_as_text,
)


@pytest.fixture(scope="module")
def experiments(tmp_path_factory, running):
    root = tmp_path_factory.mktemp("ablation")
    questions = load_question_set(write_published(root / "set"))
    recorded = load_contexts(questions.folder / "contexts.jsonl", questions.rows)
    settings = load_settings(models={"embedder": "hash", "ollama_url": running.url})
    with ExitStack() as stack:
        how = {"rows_as": RowsAs.APART}
        full = ephemeral_experiment(questions, settings, root / "all", contexts=recorded, **how)
        plain = ephemeral_experiment(questions, settings, root / "texts", structural=False, **how)
        bare = ephemeral_experiment(questions, settings, root / "bare", **how)
        yield tuple(stack.enter_context(one) for one in (full, plain, bare))


def firsts(ablation):
    return {
        outcome.variant.name: {
            key for key, value in outcome.evaluation.values["hit@1"].items() if value
        }
        for outcome in ablation.outcomes
        if outcome.evaluation
    }


def test_each_field_finds_what_only_it_says(experiments):
    found = firsts(ablate(keyword_variants(), *experiments[:2]))
    assert found == {
        "F0": {"q1", "q3"},
        "F1": {"q1", "q3"},
        "F2": {"q1", "q3", "q4"},
        "F3": {"q1", "q2", "q3", "q4"},
        "F3b": {"q1", "q2", "q3", "q4"},
        "F4": {"q1", "q2", "q3", "q4"},
        "F5": {"q1", "q2", "q3", "q4"},
    }


def test_each_kind_of_vector_finds_what_only_it_says(experiments):
    found = firsts(ablate(vector_variants(), *experiments[:2]))
    assert set(found) == {"V0", "V1", "V1b", "V2", "V3", "V4", "V5"}
    assert "q4" not in found["V0"]
    assert "q4" in found["V2"] & found["V3"]


def test_the_grid_has_texts_places_and_contexts(experiments):
    found = ablate(grid_variants(), *experiments[:2])
    assert [one.variant.name for one in found.outcomes] == [
        f"{context} × {way}"
        for context in ("none", "structural", "model")
        for way in ("vector", "keyword", "weighted", "rrf")
    ]
    hits = firsts(found)
    assert "q4" in hits["model × keyword"]
    assert "q4" not in hits["structural × keyword"] | hits["none × keyword"]
    assert found.outcomes[0].evaluation.options.collections == ("evaluation",)


def every_variant():
    return [*keyword_variants(), *vector_variants(), *grid_variants()]


def test_what_cannot_be_run_says_why(experiments, server):
    found = ablate(every_variant(), experiments[2])
    reasons = {one.variant.name: one.reason for one in found.outcomes if one.evaluation is None}
    assert reasons["F1"].startswith("there are no model contexts")
    assert reasons["none × vector"].startswith("a set of files with excerpts")
    run = {one.variant.name for one in found.outcomes if one.evaluation}
    grid = {f"structural × {way}" for way in ("vector", "keyword", "weighted", "rrf")}
    assert run == {"F0", "V0"} | grid
    server.models = {}
    whole = ablate(every_variant(), *experiments[:2])
    missing = {one.variant.name: one.reason for one in whole.outcomes if one.evaluation is None}
    reason = (
        "No model reranks: Ollama has no model that writes text. "
        "Download one, for example: ollama pull llama3.2:3b."
    )
    assert missing == dict.fromkeys(("F5", "V5"), reason)


def test_ones_own_folder_is_asked_without_titles_headings_and_names(tmp_path):
    files = {
        "tides/gauge.md": "# The harbour gauge\n\n## Ebb\n\nIt stands at one metre.\n",
        "kitchen/cake.md": "# Baking\n\n## Sunday\n\nApples, cinnamon and butter.\n",
        "kitchen/soup.txt": "Leeks, potatoes and a pinch of salt.\n",
    }
    lines = [
        {"id": "words", "text": "cinnamon", "relevant": [{"path": "kitchen/cake.md"}]},
        {"id": "folder", "text": "tides", "relevant": [{"path": "tides/gauge.md"}]},
        {"id": "name", "text": "soup", "relevant": [{"path": "kitchen/soup.txt"}]},
        {"id": "filter", "text": "salt", "filter": "path:kitchen type:txt",
         "relevant": [{"path": "kitchen/soup.txt"}]},
    ]  # fmt: skip
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    with open_library(tmp_path / "library") as library:
        add(library, write_files(tmp_path / "files", files))
        library.judgments.import_file("default", tmp_path / "mine.jsonl")
        experiment = library.experiment("default", "mine")
        with bare_experiment(experiment, library.settings, tmp_path / "bare") as bare:
            variants = [one for one in grid_variants() if one.name.endswith("× keyword")]
            hits = firsts(ablate(variants, experiment, bare))
            texts = {
                one.path: bare.catalog.documents.chunks(one.id)
                for one in bare.catalog.documents.list()
            }
    assert hits == {
        "none × keyword": {"words", "filter"},
        "structural × keyword": {"words", "folder", "name", "filter"},
    }
    assert {one.context for listed in texts.values() for one in listed} == {""}
    assert len(texts) == 3


def test_where_a_model_answers_the_reranked_variants_are_run(experiments, server):
    server.reply = grading(lambda text: 10 if "Apples" in text else 0)
    variants = [one for one in every_variant() if one.name in ("F4", "F5", "V3", "V5")]
    found = ablate(variants, experiments[0])
    assert [(one.variant.name, one.reason) for one in found.outcomes] == [
        ("F4", ""), ("F5", ""), ("V3", ""), ("V5", "")
    ]  # fmt: skip
    # Whatever is asked, this model finds the cake best, if it is among the candidates.
    hits = firsts(found)
    assert hits["V5"] == {"q3"}
    assert "q4" in hits["V3"]
    assert hits["F5"] == hits["F4"] == {"q1", "q2", "q3", "q4"}
    assert len(server.asked("/api/chat")) == 2 * len(experiments[0].questions)
    by_name = {cell.name: cell for cell in figures_of(found).cells}
    assert by_name["V5"].settings["rerank"] == "model"
    # All vectors' contexts cost 90 tokens; each of the four questions is graded once.
    graded = sum(
        len(one.body["messages"][0]["content"] + one.body["messages"][1]["content"]) // 4
        for one in server.asked("/api/chat")[4:]
    )
    assert by_name["V3"].tokens == 90
    assert by_name["V5"].tokens > 90 + graded
    assert by_name["V5"].seconds > by_name["V3"].seconds == 0.0
    assert 0 < by_name["V5"].p50 <= by_name["V5"].p95


def test_a_cross_encoder_in_a_folder_runs_them_without_ollama(tmp_path, server):
    server.models = {}
    questions = load_question_set(write_published(tmp_path / "set"))
    recorded = load_contexts(questions.folder / "contexts.jsonl", questions.rows)
    # It knows no other words: where none of them is asked for, all grades are the same.
    folder = cross_encoder_folder(tmp_path / "tiny", words=("apples", "beacon", "ragkit"))
    settings = load_settings(models={"embedder": "hash", "rerank_model": f"folder:{folder}"})
    variants = [one for one in every_variant() if one.name in ("F4", "F5", "V3", "V5")]
    with ephemeral_experiment(
        questions, settings, tmp_path / "all", contexts=recorded, rows_as=RowsAs.APART
    ) as experiment:
        found = ablate(variants, experiment)
    assert [(one.variant.name, one.reason) for one in found.outcomes] == [
        ("F4", ""), ("F5", ""), ("V3", ""), ("V5", "")
    ]  # fmt: skip
    hits = firsts(found)
    assert hits["F5"] == hits["F4"] == {"q1", "q2", "q3", "q4"}
    assert hits["V5"] == hits["V3"] | {"q3"}
    tokens = {cell.name: cell.tokens for cell in figures_of(found).cells}
    assert tokens["V5"] > tokens["V3"] == tokens["F4"] == 90
    assert server.asked("/api/chat") == []


def test_a_model_that_fails_now_and_then_is_told(experiments, server):
    answers = iter(["", "What nonsense!", "", ""])
    graded = grading(lambda text: 10 if "Apples" in text else 0)
    server.reply = lambda messages: next(answers) or graded(messages)
    column = SearchConfig(SearchOptions(mode=Mode.VECTOR, rerank=Rerank.MODEL))
    found = measure(experiments[0], column, timed=False)
    assert found.notices[-2] == "llama3.2:3b reranked the first 20 chunks."
    assert found.notices[-1] == (
        "1 of 4 questions were evaluated without reranking. The last error: The answer of "
        '"llama3.2:3b" is not the JSON object that was asked for. Try again, or choose another '
        "model."
    )
    assert found.values["hit@1"]["q3"] == 1.0
    server.failure = "broken"
    with pytest.raises(ModelError, match="Ollama reported an error"):
        measure(experiments[0], column, timed=False)


def test_judged_documents_are_those_of_the_new_order(experiments, server):
    server.reply = grading(lambda text: 10 if "Apples" in text else 0)
    column = SearchConfig(SearchOptions(mode=Mode.VECTOR, rerank=Rerank.MODEL))
    engine = experiments[0].engine
    scorer = DocumentScorer(engine, {})
    (best,) = {
        one.document.path
        for one in engine.search(
            "apples cinnamon", SearchOptions(collections=("evaluation",), limit=1)
        ).results
    }
    there = replace(column, options=replace(column.options, collections=("evaluation",)))
    assert scorer.observe(Question("q", "the beacon"), there)[0] == best
    server.failure = "broken"
    with pytest.raises(ModelError, match="Ollama reported an error"):
        scorer.observe(Question("q", "the light"), there)


def test_a_stop_keeps_the_outcomes_before_it(experiments):
    asked = []

    def report(progress):
        asked.append(progress.phase)
        return "F2" not in progress.phase

    found = ablate(keyword_variants(), *experiments[:2], reporter=Reporter(report))
    assert ([one.variant.name for one in found.outcomes], found.partial) == (["F0", "F1"], True)
    assert found.notices[-1] == "Stopped: 2 of 7 cells were measured."
    assert asked[0] == "Asking: F0 (1 of 7)"
    with pytest.raises(JobCancelled):
        ablate(keyword_variants(), *experiments[:2], reporter=Reporter(lambda _progress: False))


@pytest.fixture(scope="module")
def figures(experiments):
    found = ablate([*keyword_variants(), *grid_variants()], *experiments[:2])
    return figures_of(found, "4 questions of set")


def test_each_cell_is_compared_with_the_first_and_says_what_it_takes(figures):
    cells = {cell.name: cell for cell in figures.cells}
    assert [cells[name].difference is None for name in ("F0", "none × rrf")] == [True, True]
    assert (cells["F4"].first, cells["model × rrf"].first) == ("F0", "none × rrf")
    gain = cells["F4"].metric("ndcg@10").value - cells["F0"].metric("ndcg@10").value
    paired = cells["F4"].difference
    assert gain > 0.1
    assert paired.value == pytest.approx(gain)
    assert 0.0 <= paired.low <= paired.value <= paired.high
    assert 0.0 < paired.p <= 1.0
    sizes = {name: cell.index_bytes for name, cell in cells.items()}
    assert 0 < sizes["F0"] < sizes["F1"] < sizes["F4"]
    assert sizes["none × keyword"] < sizes["structural × keyword"] < sizes["model × keyword"]
    assert sizes["structural × weighted"] == (
        sizes["structural × vector"] + sizes["structural × keyword"]
    )
    assert all(0 < cell.p50 <= cell.p95 for cell in figures.cells if not cell.reason)
    assert {cells[name].tokens for name in ("F0", "structural × vector")} == {0}
    assert cells["F1"].tokens == cells["model × vector"].tokens == 90


def test_they_are_told_as_text_markdown_csv_and_json(figures):
    lines = ablation_as_text(figures)
    assert lines[0].split()[:5] == ["Keywords", "ndcg@10", "(95", "%)", "mrr"]
    assert lines[1].startswith("F0  text  ")
    starred = next(line for line in lines if line.startswith("F4  all, weighted  "))
    assert starred.split()[3] == "1.0000*"
    assert lines[-2] == "Asked: 4 questions of set."
    written = ablation_as_markdown(figures)
    assert written.startswith("# Ablation: set\n\nAsked: 4 questions of set.\n")
    rows = [line for line in written.splitlines() if line.startswith("|")]
    assert len(rows) == 7 + 12 + 2 * 2
    assert {line.count("|") for line in rows} == {12}
    read = list(csv.DictReader(io.StringIO(ablation_as_csv(figures))))
    assert [row["name"] for row in read] == [cell.name for cell in figures.cells]
    by_name = {row["name"]: row for row in read}
    assert float(by_name["F4"]["difference"]) == figures.cells[5].difference.value
    assert int(by_name["F4"]["index_bytes"]) == figures.cells[5].index_bytes
    values = json.loads(json.dumps(as_values(figures)))
    assert (values["name"], values["metric"], values["partial"]) == ("set", "ndcg@10", False)
    assert values["cells"][4]["settings"]["field_weights"][0] == ["text", 1.0]
    again = from_values(values)
    assert as_values(again) == values
    assert ablation_as_csv(again) == ablation_as_csv(figures)


def test_what_is_not_run_says_why_in_every_form(experiments):
    figures = figures_of(ablate(keyword_variants(), experiments[2]))
    reason = "there are no model contexts: ragkit contextualize writes, --contexts replays them"
    line = next(line for line in ablation_as_text(figures) if line.startswith("F5"))
    assert line == f"F5  all, weighted, reranked  not run: {reason}"
    rows = ablation_as_markdown(figures).splitlines()
    assert f"| F5 all, weighted, reranked | not run: {reason} |  |" in "".join(rows)
    read = list(csv.DictReader(io.StringIO(ablation_as_csv(figures))))
    assert (read[6]["name"], read[6]["reason"], read[6]["ndcg@10"]) == ("F5", reason, None)
    assert "there are no model contexts: ragkit contextualize writes" in ablation_as_svg(figures)
    assert as_values(from_values(as_values(figures))) == as_values(figures)


def test_they_are_drawn_as_a_chart(figures):
    drawn = ElementTree.fromstring(ablation_as_svg(figures))
    dots = [one for one in drawn.iter() if one.tag.endswith("circle")]
    assert len(dots) == sum(not cell.reason for cell in figures.cells)
    told = [one.text for one in drawn.iter() if one.tag.endswith("text")]
    assert "set: ndcg@10, with 95 % intervals" in told
    assert "no context, weighted" in told
    assert f"{figures.cells[5].difference.value:+.3f}" in told
