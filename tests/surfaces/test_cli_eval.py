"""``ragkit eval`` and ``ragkit ablate`` on a library of one's own, and on a published set."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from published_set import write_published
from small_library import HANDBOOK, add, open_library, write_files
from typer.testing import CliRunner

from ragkit.errors import EvaluationError, SettingsError
from ragkit.surfaces.cli.app import app

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"

JUDGED = [
    {"id": "a", "text": "refund?", "relevant": [{"path": "handbook/refunds.md"}]},
    {"id": "b", "text": "OAuth token", "relevant": [{"path": "handbook/login.md"}]},
]


@pytest.fixture
def ragkit(in_process, monkeypatch, tmp_path):
    """Run the command line in this process, on a library of five files and two questions."""
    monkeypatch.setenv("RAGKIT_LIBRARY", str(tmp_path / "library"))
    monkeypatch.chdir(tmp_path)
    library = open_library(tmp_path / "library")
    write_files(tmp_path / "files", HANDBOOK)
    add(library, tmp_path / "files")
    library.close()
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, JUDGED)), "utf-8")

    assert in_process("judgments", "import", tmp_path / "mine.jsonl").returncode == 0
    return in_process


def test_figures_are_told_by_kind_of_question(ragkit, tmp_path):
    kinds = ("paraphrase", "a kind with quite a long name")
    lines = [json.dumps({**one, "kind": kind}) for one, kind in zip(JUDGED, kinds, strict=True)]
    (tmp_path / "typed.jsonl").write_text("\n".join(lines), "utf-8")
    assert ragkit("judgments", "import", tmp_path / "typed.jsonl").returncode == 0
    done = ragkit("eval", "--set", "typed", "--mode", "keyword")
    lines = done.stdout.splitlines()
    at = lines.index("kind of question  questions    ndcg@10        mrr  recall@10      hit@1")
    assert lines[at + 1].split()[-5:] == ["1", "1.0000", "1.0000", "1.0000", "1.0000"]
    assert lines[at + 1].startswith("a kind with quite")
    assert lines[at + 2].startswith("paraphrase                1     1.0000")
    value = json.loads(ragkit("eval", "--set", "typed", "--json").stdout)
    assert [(one["kind"], one["questions"]) for one in value["kinds"]] == [
        ("a kind with quite a long name", 1), ("paraphrase", 1)
    ]  # fmt: skip


def test_figures_that_cannot_be_saved_are_told(ragkit, tmp_path):
    assert ragkit("eval", "--set", "mine").returncode == 0
    with closing(sqlite3.connect(tmp_path / "library" / "catalog.sqlite")) as catalog:
        full = "SELECT RAISE(FAIL, 'database or disk is full')"
        catalog.execute(f"CREATE TRIGGER full BEFORE INSERT ON runs BEGIN {full}; END")
    done = ragkit("eval", "--set", "mine", "--mode", "keyword")
    assert "ndcg@10             1.0000   1.0000 to 1.0000" in done.stdout.splitlines()
    assert done.returncode == 3
    assert done.stderr.startswith("This run could not be saved.\n")
    assert "The disk is full." in done.stderr
    done = ragkit("eval", "--set", "mine", "--against", "1", "--json")
    assert json.loads(done.stdout)["asked"] == 2
    assert done.stderr.startswith("This run could not be saved and compared.\n")


def test_figures_of_an_ablation_are_told_before_they_are_written(ragkit, tmp_path):
    (tmp_path / "taken").write_text("a file", "utf-8")
    done = ragkit("ablate", "--set", "mine", "--table", "keywords", "--out", tmp_path / "taken")
    assert done.stdout.startswith("Keywords  ")
    assert "taken cannot be written: file exists." in done.stderr


def test_a_library_is_asked_its_own_questions_and_the_run_is_kept(ragkit):
    done = ragkit("eval", "--set", "mine", "--mode", "keyword")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "mine: 2 questions, 5 documents, 5 chunks"
    assert "ndcg@10             1.0000   1.0000 to 1.0000" in lines
    assert done.stderr == "Saved as run 1.\n"
    again = ragkit("eval", "--set", "mine", "--limit", "1", "--against", "1", "--json")
    value = json.loads(again.stdout)
    assert (value["run"], value["asked"], value["options"]["mode"]) == (2, 1, "hybrid")
    assert value["kinds"] == []
    told = value["against"]
    assert (told["run"], told["questions"], told["metric"]) == (1, 1, "ndcg@10")
    assert told["metrics"][0] == {"name": "ndcg@10", "before": 1.0, "after": 1.0, "p": 1.0}
    assert "1 questions of run 1 are not in the other.\n" in again.stderr
    listed = ragkit("eval", "--runs").stdout.splitlines()
    assert listed[0].split()[:2] == ["run", "when"]
    assert [line.split()[0] for line in listed[1:]] == ["2", "1"]
    assert listed[2].split()[3:8] == ["default", "mine", "2", "ndcg@10", "1.0000"]
    assert listed[2].endswith("Keyword")
    rows = [json.loads(line) for line in ragkit("eval", "--runs", "--json").stdout.splitlines()]
    assert [(one["run"], one["collection"], one["partial"]) for one in rows] == [
        (2, "default", False),
        (1, "default", False),
    ]


def test_the_difference_to_an_earlier_run_is_printed(ragkit):
    ragkit("eval", "--set", "mine", "--mode", "keyword")
    lines = ragkit("eval", "--set", "mine", "--against", "1").stdout.splitlines()
    assert any(line.startswith("against run 1 (20") for line in lines)
    assert "ndcg@10             1.0000   1.0000  +0.0000   1.000" in lines
    assert "worse, by ndcg@10: 0" in lines


def test_what_cannot_be_asked_is_said(ragkit):
    nothing = ragkit("eval")
    assert nothing.returncode == 1
    assert nothing.stderr.startswith("ragkit: Nothing is rated in default yet. Rate")
    unknown = ragkit("eval", "--set", "other")
    assert 'no question set "other" in default. Available: "mine".' in unknown.stderr
    assert unknown.returncode == 5
    ablated = ragkit("ablate", "--set", "other", "--table", "keywords")
    assert 'no question set "other" in default. Available: "mine".' in ablated.stderr
    assert ablated.returncode == 5
    for options in (
        ("--fail-under", "ndgc@10=0.5"), ("--metric", "ndgc@10", "--against", "1"),
        ("--metric", "ndgc@10"),
    ):  # fmt: skip
        wrong = ragkit("eval", "--set", "mine", *options)
        assert (wrong.returncode, wrong.stdout) == (2, "")
        assert "Unknown metric: ndgc@10. Available: " in wrong.stderr
    for option, value in (("--contexts", "x.jsonl"), ("--qrels", "x.tsv"), ("--rows", "apart")):
        done = ragkit("eval", "--set", "mine", option, value)
        assert f"{option} goes with --corpus." in done.stderr
    assert ragkit("eval", "--runs").stderr.startswith("No saved runs yet")
    missing = ragkit("eval", "--set", "mine", "--against", "7")
    assert (missing.returncode, "There is no run 7." in missing.stderr) == (5, True)
    assert ragkit("eval", "--runs").stderr.startswith("No saved runs yet")


def test_a_published_set_is_compared_and_not_kept_unless_asked_to(ragkit, tmp_path):
    folder = write_published(tmp_path / "set")
    assert ragkit("eval", "--corpus", folder, "--mode", "keyword", "--keep").returncode == 0
    done = ragkit("eval", "--corpus", folder, "--against", "1", "--json")
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    assert (value["against"]["questions"], "run" in value) == (4, False)
    assert "Saved as run" not in done.stderr
    wrong = ragkit("eval", "--corpus", folder, "--against", "1", "--metric", "token_iou")
    assert "Run 1 does not have the metric token_iou. It has ndcg@10, " in wrong.stderr
    assert len(ragkit("eval", "--runs").stdout.splitlines()) == 2


def test_ctrl_c_prints_what_was_asked_and_says_so(ragkit, monkeypatch):
    from ragkit.evaluation.scorers import DocumentScorer

    observing = DocumentScorer.observe
    looked = []

    def observe(self, question, column):
        if looked:
            raise KeyboardInterrupt
        looked.append(question)
        return observing(self, question, column)

    monkeypatch.setattr(DocumentScorer, "observe", observe)
    done = ragkit("eval", "--set", "mine", "--fail-under", "ndcg@10=1")
    assert done.returncode == 130
    assert done.stdout.startswith("mine: 1 questions, 5 documents")
    assert "Stopped after 1 of 2 questions: the figures are of these only.\n" in done.stderr
    assert done.stderr.endswith("Saved as run 1.\n")
    assert "1 of 2, stopped" in ragkit("eval", "--runs").stdout


def test_recorded_contexts_give_a_table_of_contexts_and_modes(ragkit, tmp_path):
    folder = write_published(tmp_path / "set")
    contexts = folder / "contexts.jsonl"
    done = ragkit("eval", "--corpus", folder, "--contexts", contexts)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("set: 4 questions, 4 documents, 4 chunks, indexed in ")
    at = next(i for i, line in enumerate(lines) if line.startswith("Contexts "))
    assert [" ".join(line.split(",")[0].split()) for line in lines[at + 1 : at + 10 : 3]] == [
        "no context",
        "structural context",
        "model context",
    ]
    assert ragkit("eval", "--runs").stdout == ""
    kept = ragkit(
        "eval", "--corpus", folder, "--contexts", contexts, "--mode", "keyword", "--keep", "--json"
    )
    value = json.loads(kept.stdout)
    assert [one["name"] for one in value["table"]] == [
        f"{one} × keyword" for one in ("none", "structural", "model")
    ]
    assert [one["metrics"]["hit@1"]["value"] for one in value["table"]] == [0.5, 0.5, 1.0]
    assert value["tokens"] == 90
    assert ragkit("eval", "--runs").stdout.splitlines()[1].split()[3:5] == ["--corpus", "set"]
    wrong = ragkit("eval", "--corpus", folder, "--rows", "sideways")
    assert "--rows sideways is neither joined nor apart." in wrong.stderr


def test_an_ablation_is_printed_drawn_and_written(ragkit, tmp_path):
    folder = write_published(tmp_path / "set")
    done = ragkit(
        "ablate", "--corpus", folder, "--contexts", folder / "contexts.jsonl", "--out", "out"
    )
    assert done.returncode == 0, done.stderr
    heads = [line.split()[0] for line in done.stdout.splitlines() if "ndcg@10 (95" in line]
    assert heads == ["Keywords", "Vectors", "Contexts"]
    assert "Asked: 4 questions of set." in done.stdout
    assert "The chart and the figures are in out." in done.stderr
    out = tmp_path / "out"
    assert (out / "ablation.svg").read_text("utf-8").startswith("<svg xmlns=")
    assert len(json.loads((out / "ablation.json").read_text("utf-8"))["cells"]) == 26
    assert len((out / "ablation.csv").read_text("utf-8").splitlines()) == 27
    assert (out / "ablation.md").read_text("utf-8").startswith("# Ablation: set\n")


def test_an_ablation_asks_ones_own_questions_and_is_kept(ragkit, tmp_path):
    done = ragkit("ablate", "--table", "keywords", "--out", "mine-out", "--json")
    value = json.loads(done.stdout)
    assert value["questions"] == '2 questions of "mine", imported'
    assert [one["name"] for one in value["cells"] if "metrics" in one] == ["F0"]
    assert value["cells"][1]["reason"].startswith("there are no model contexts")
    whole = ragkit("ablate", "--set", "mine", "--table", "contexts", "--limit", 1, "--json")
    names = [one["name"] for one in json.loads(whole.stdout)["cells"] if "metrics" in one]
    modes = ("vector", "keyword", "weighted", "rrf")
    assert names == [f"{arm} × {mode}" for arm in ("none", "structural") for mode in modes]
    with open_library(tmp_path / "library") as library:
        assert library.ablations.kept("default").questions == '1 question of "mine", imported'
        assert list(library.paths.temporary.iterdir()) == []
    (tmp_path / "file").write_text("", "utf-8")
    blocked = ragkit("ablate", "--set", "mine", "--table", "keywords", "--out", "file")
    assert blocked.returncode == 1
    assert "file cannot be written" in blocked.stderr
    wrong = ragkit("ablate", "--rows", "apart")
    assert "--rows goes with --corpus." in wrong.stderr


def test_an_ablation_of_a_folder_needs_no_library(in_process, tmp_path, monkeypatch, server):
    monkeypatch.setenv("RAGKIT_LIBRARY", str(tmp_path / "none"))
    monkeypatch.setenv("RAGKIT_MODELS__EMBEDDER", "hash")
    monkeypatch.setenv("RAGKIT_MODELS__OLLAMA_URL", server.url)
    monkeypatch.chdir(tmp_path)
    folder = write_files(tmp_path / "files", HANDBOOK)
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, JUDGED)), "utf-8")
    done = in_process("ablate", "--folder", folder, "--questions", "mine.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    assert value["questions"] == '2 questions of "mine", imported'
    assert [one["name"] for one in value["cells"] if "reason" in one] == []
    assert len(value["cells"]) == 26
    assert not (tmp_path / "none").exists()
    both = in_process("ablate", "--folder", folder, "--corpus", folder)
    assert "--folder and --corpus cannot be combined." in both.stderr


def write_set(folder):
    folder.mkdir()
    rows = [
        {
            "_id": "tide",
            "title": "/src/gauge.rs",
            "text": "fn read_level() reports the water level",
        },
        {"_id": "wind", "title": "/src/gauge.rs", "text": "fn read_speed() reports the wind"},
        {"_id": "cake", "title": "", "text": "A recipe for apple cake with cinnamon"},
    ]
    asked = [{"_id": "q1", "text": "What does read_level report?"}]
    for name, lines in (("corpus", rows), ("queries", asked)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ttide\t1\n", "utf-8")
    return folder


def test_the_command_prints_a_table_or_json(tmp_path):
    folder = write_set(tmp_path / "set")
    shown = CliRunner().invoke(app, ["eval", "--corpus", str(folder)])
    assert shown.exit_code == 0, shown.output
    lines = shown.stdout.splitlines()
    assert lines[0].startswith("set: 1 questions, 2 documents, 3 chunks, indexed in ")
    assert "ndcg@10             1.0000   1.0000 to 1.0000" in lines
    as_json = CliRunner().invoke(app, ["eval", "--corpus", str(folder), "--json"])
    found = json.loads(as_json.stdout)
    assert found["questions"] == 1
    assert found["options"]["candidates"] == 100
    assert {metric["name"]: metric["value"] for metric in found["metrics"]}["mrr"] == 1.0
    assert found["stages"][0]["name"] == "total"


def test_a_floor_fails_the_command(tmp_path):
    command = ["eval", "--corpus", str(write_set(tmp_path / "set")), "--fail-under"]
    assert CliRunner().invoke(app, [*command, "ndcg@10=0.99"]).exit_code == 0
    low = CliRunner().invoke(app, [*command, "precision@5=0.5"])
    assert isinstance(low.exception, EvaluationError)
    assert "precision@5 is 0.2000" in str(low.exception)
    for wrong in ("ndcg@10", "ndcg@7=0.5"):
        assert isinstance(CliRunner().invoke(app, [*command, wrong]).exception, SettingsError)


def test_a_published_set_is_answered_well():
    folder = SHARED / "anthropic_codebase"
    if not folder.is_dir():
        pytest.skip("anthropic_codebase is not beside the project")
    command = ["eval", "--corpus", str(folder), "--limit", "60", "--fail-under", "pass@10=0.85"]
    run = CliRunner().invoke(app, command)
    assert run.exit_code == 0, run.output


# -- answers -----------------------------------------------------------------------------------

ASKED = [
    {"id": "a", "text": "How long may a customer ask for a refund?",
     "relevant": [{"path": "handbook/refunds.md", "quote": "ask for a refund within thirty days"}]},
    {"id": "b", "text": "When does the OAuth token expire?",
     "relevant": [{"path": "handbook/login.md"}]},
    {"id": "c", "text": "How many moons circle Saturn?",
     "relevant": [{"path": "handbook/login.md", "grade": 0}]},
]  # fmt: skip


@pytest.fixture
def answerable(ragkit, tmp_path, monkeypatch):
    """The same with questions whose places are marked; nothing answers at Ollama's address."""
    monkeypatch.setenv("RAGKIT_MODELS__OLLAMA_URL", "http://127.0.0.1:9")
    (tmp_path / "asked.jsonl").write_text("\n".join(map(json.dumps, ASKED)), "utf-8")
    assert ragkit("judgments", "import", tmp_path / "asked.jsonl").returncode == 0
    return ragkit


def test_answers_are_measured_without_a_model_and_it_says_so(answerable):
    done = answerable("eval", "--answers", "--set", "asked", "--json")
    assert done.returncode == 0
    value = json.loads(done.stdout)
    assert (value["questions"], value["unanswerable"], value["written"]) == (3, 1, None)
    quick = value["quick"]
    assert quick["first"] == {"count": 1, "of": 1, "value": 1.0}
    assert quick["document"] == {"count": 2, "of": 2, "value": 1.0}
    assert quick["silent"] == {"count": 0, "of": 2, "value": 0.0}
    assert quick["refused"] == {"count": 1, "of": 1, "value": 1.0}
    assert quick["exact"]["value"] == 1.0
    assert "No written answers: Ollama does not answer" in done.stderr
    lines = answerable("eval", "--answers", "--set", "asked", "--no-model").stdout.splitlines()
    assert lines[0] == "asked: 2 questions with an answer, 1 without"
    assert " ".join(lines[3].split()) == "right place in the first sentence 1.000 (1/1)"


def test_answers_of_a_model_are_measured_and_it_is_named(answerable, server, monkeypatch):
    monkeypatch.setenv("RAGKIT_MODELS__OLLAMA_URL", server.url)
    server.reply = lambda _messages: "The customer has thirty days [1]. Or 45 [1]."
    done = answerable("eval", "--answers", "--set", "asked", "--limit", "1", "--json")
    written = json.loads(done.stdout)["written"]
    assert written["model"] == "llama3.2:3b"
    assert written["first"]["value"] == 1.0
    assert written["refused"]["of"] == 1
    assert written["exact"]["value"] == 1.0
    assert written["findings"]["not_in_source"] >= 1
    text = answerable("eval", "--answers", "--set", "asked", "--limit", "1").stdout
    assert "llama3.2:3b wrote: " in text
    assert answerable("eval", "--answers", "--model", "nobody", "--set", "asked").returncode == 1


def test_a_published_set_with_unanswerable_questions_is_measured(ragkit, tmp_path):
    folder = write_published(tmp_path / "published")
    with (folder / "queries.jsonl").open("a") as file:
        silent = {"_id": "q9", "text": "Who mines coal on Mars?"}
        file.write(json.dumps({**silent, "metadata": {"answerability": ["UNANSWERABLE"]}}) + "\n")
    done = ragkit("eval", "--corpus", folder, "--answers", "--no-model", "--json")
    value = json.loads(done.stdout)
    assert (value["questions"], value["unanswerable"]) == (5, 1)
    assert value["quick"]["refused"]["value"] == 1.0
    assert value["quick"]["first"]["of"] == 0
    assert value["quick"]["document"]["count"] >= 2
    refused = ragkit("eval", "--corpus", folder, "--answers", "--keep")
    assert refused.returncode != 0
    assert "do not go with --answers" in refused.stderr
