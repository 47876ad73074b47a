"""``ragkit contextualize``, as a person runs it."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import asdict
from pathlib import Path

import pytest
from small_library import HANDBOOK, add, make_older, open_library, write_files
from typer.testing import CliRunner

from ragkit.background.worker import Worker
from ragkit.catalog.context_records import ContextCounts
from ragkit.errors import OllamaUnreachableError
from ragkit.formatting import duration
from ragkit.surfaces.cli.app import app


@pytest.fixture
def library(tmp_path, server, monkeypatch):
    monkeypatch.setenv("RAGKIT_MODELS__EMBEDDER", "hash")
    monkeypatch.setenv("RAGKIT_MODELS__OLLAMA_URL", server.url)
    models = {"embedder": "hash", "ollama_url": server.url}
    opened = open_library(tmp_path / "library", models=models)
    make_older(write_files(tmp_path / "files", HANDBOOK))
    add(opened, tmp_path / "files")
    yield opened
    opened.close()


def run(library, *arguments):
    place = ["--library", str(library.paths.root)]
    return CliRunner().invoke(app, ["contextualize", *arguments, *place])


def test_it_writes_what_is_missing_and_says_so(library, server):
    done = run(library, "--batch", "2")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Contexts  5 written, 0 waiting, 0 failed")
    asked = server.asked("/api/chat")
    assert len(asked) == 5
    cost = library.contexts.status().cost
    assert (cost.contexts, cost.summaries, cost.summaries_failed) == (5, 0, 0)
    # The stand-in counts a token for four characters, of the prompt and of the answer.
    read = sum(sum(len(one["content"]) for one in each.body["messages"]) // 4 for each in asked)
    assert read < cost.tokens < read + 5 * 200
    assert cost.in_words.startswith(f"{cost.tokens:,} tokens, ")
    assert f"Cost      {cost.in_words}" in done.stdout
    place = ["--library", str(library.paths.root)]
    told = CliRunner().invoke(app, ["status", *place]).stdout
    assert f"Contexts   5 written, 0 waiting, 0 failed; {cost.in_words}" in told
    told = json.loads(CliRunner().invoke(app, ["status", "--json", *place]).stdout)["contexts"]
    assert (told["complete"], told["cost"]) == (5, asdict(cost))
    again = run(library)
    assert (again.exit_code, len(server.asked("/api/chat"))) == (0, 5)


def test_a_dry_run_asks_nothing(library, server):
    before = run(library, "--dry-run")
    assert before.exit_code == 0
    assert "5 waiting" in before.stdout
    assert "To do     5 chunks, usually 1 to 10 seconds a chunk" in before.stdout
    assert server.asked("/api/chat") == []
    run(library)
    library.jobs.wait(library.contexts.regenerate(library.documents.list()[0].id))
    value = json.loads(run(library, "--dry-run", "--json").stdout)
    assert (value["counts"]["pending"], value["counts"]["chunks"]) == (1, 5)
    assert value["seconds_left"] > 0
    # What the rest costs is estimated from what the others did.
    cost = value["cost"]
    assert value["tokens_left"] == round(cost["tokens"] / cost["contexts"]) > 100
    assert f"and {value['tokens_left']:,} tokens" in run(library, "--dry-run").stdout


def test_failed_ones_are_tried_again_when_asked(library, server):
    server.failure = "refusal"
    failed = run(library)
    assert failed.exit_code == 1
    assert "5 failed" in failed.stdout
    assert "Last      " in failed.stdout
    server.failure = ""
    assert run(library).exit_code == 1
    assert "To do     5 chunks" in run(library, "--dry-run", "--retry-failed").stdout
    retried = run(library, "--retry-failed")
    assert retried.exit_code == 0, retried.output
    assert library.contexts.status().counts == ContextCounts(complete=5)


def test_without_ollama_it_says_what_to_do(library, server):
    server.stop()
    refused = run(library)
    assert isinstance(refused.exception, OllamaUnreachableError)
    assert refused.exception.cure
    assert library.contexts.status().counts == ContextCounts(pending=5)


def test_pause_and_resume(library):
    assert run(library, "--pause").exit_code == 0
    assert library.contexts.status().paused
    assert run(library, "--resume").exit_code == 0
    assert not library.contexts.status().paused
    assert run(library, "--pause", "--resume").exit_code == 2


def test_a_worker_that_runs_is_asked_and_watched(library, server):
    server.delay = 0.1
    library.contexts.pause()
    worker = Worker(library.writer())
    thread = threading.Thread(target=worker.run, kwargs={"watch": False})
    thread.start()
    until = time.monotonic() + 20
    while not library.worker.state().running and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(0.5)
    done = run(library)
    worker.stopping.set()
    thread.join(timeout=10)
    assert done.exit_code == 0, done.output
    assert "The worker writes the contexts" in done.stderr
    assert library.contexts.status().counts == ContextCounts(complete=5)


def test_only_one_collection(library, tmp_path):
    make_older(write_files(tmp_path / "more", {"a.md": "# A\n\nOther words.\n"}))
    add(library, tmp_path / "more", "other")
    assert run(library, "--collection", "other").exit_code == 0
    assert library.contexts.status("other").counts == ContextCounts(complete=1)
    assert library.contexts.status("default").counts == ContextCounts(pending=5)
    assert run(library, "--collection", "nowhere").exit_code != 0


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.1, "1 s"), (89, "89 s"), (90, "2 min"), (7140, "119 min"), (12_000, "3 h 20 min")],
)
def test_durations_are_said_as_people_say_them(seconds, said):
    assert duration(seconds) == said


def test_show_takes_a_file_on_disk_as_copied_from_a_page(library, monkeypatch):
    folder = Path(library.sources.list()[0].root)
    (folder / "notes/sub").mkdir()
    (folder / "notes/sub/talk.md").write_text("# Below\n\nText.\n")
    (folder / "talk.md").write_text("# Above\n\nText.\n")
    library.jobs.wait(library.sources.sync())

    def shown(what):
        command = ["show", what, "--library", str(library.paths.root)]
        return CliRunner().invoke(app, command).stdout.partition("\n")[0]

    monkeypatch.chdir(folder / "notes")
    assert shown(str(folder / "notes/sub/talk.md")) == "Below"
    assert shown("sub/talk.md") == "Below"
    assert shown("../notes/sub/talk.md") == "Below"
    assert shown("notes/sub/talk.md") == "Below"
    monkeypatch.chdir(folder / "notes/sub")
    assert shown("talk.md") == "Above", "a path in the library comes first"
    assert shown("./talk.md") == "Below"


def test_show_prints_what_is_noted_of_a_document(library, server):
    text = "We decided that the boat stays green. Rui has to paint it by May."
    folder = Path(library.sources.list()[0].root)
    (folder / "notes/talk.md").write_text(f"---\nparticipants: [Rui]\n---\n# Talk\n\n{text}\n")
    library.jobs.wait(library.sources.sync())
    assert run(library).exit_code == 0
    place = ["--library", str(library.paths.root)]
    shown = CliRunner().invoke(app, ["show", "notes/talk.md", *place])
    assert shown.exit_code == 0, shown.output
    assert "Decided  We decided that the boat stays green  (chunk 1)" in shown.stdout
    assert "“We decided that the boat stays green.”" in shown.stdout
    assert "To do    Rui has to paint it by May  (chunk 1)" in shown.stdout
    value = json.loads(CliRunner().invoke(app, ["show", "notes/talk.md", "--json", *place]).stdout)
    assert [one["kind"] for one in value["outcomes"]] == ["decision", "action"]
    stored = library.documents.get(value["id"]).text
    for one in value["outcomes"]:
        assert stored[one["start"] : one["end"]] == one["sentence"]
        assert one["text"] in text
    assert value["passages"][0]["context"]["details"]["has_decision"] is True
    assert value["path"] == "notes/talk.md"
    assert CliRunner().invoke(app, ["show", "nothing.md", *place]).exit_code != 0
    library.jobs.wait(library.contexts.edit(value["id"], 0, "About a boat."))
    assert len(library.contexts.outcomes(value["id"])) == 2, "an edit changes no notes"
    (folder / "notes/talk.md").write_text("# Talk\n\nOther text.\n")
    library.jobs.wait(library.sources.sync())
    assert library.contexts.outcomes(value["id"]) == []
