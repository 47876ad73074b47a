from __future__ import annotations

import json

import pytest
from ollama_stand_in import EMBEDDER
from small_library import HANDBOOK, add, write_files
from typer.testing import CliRunner

from ragkit.library import Library
from ragkit.settings import load_settings
from ragkit.surfaces.cli.app import app

NAME = f"ollama:{EMBEDDER}"


@pytest.fixture
def run(tmp_path, server, monkeypatch):
    monkeypatch.setenv("RAGKIT_LIBRARY", str(tmp_path / "library"))
    monkeypatch.setenv("RAGKIT_MODELS__OLLAMA_URL", server.url)
    monkeypatch.setenv("RAGKIT_MODELS__EMBEDDER", "hash")
    monkeypatch.setenv("RAGKIT_MODELS__RETRIES", "0")
    library = Library.open(load_settings(), create=True)
    add(library, write_files(tmp_path / "files", HANDBOOK))
    library.close()

    def command(*arguments):
        return CliRunner().invoke(app, ["embedder", *arguments])

    return command


def test_it_shows_moves_and_goes_back(run, server):
    shown = run()
    assert shown.exit_code == 0, shown.output
    assert "Active     hash" in shown.stdout
    assert f"  {NAME}  274 MB  " in shown.stdout
    assert "* hash  all texts embedded" in shown.stdout
    moved = run("ollama:nomic-embed-text")
    assert moved.exit_code == 0, moved.output
    assert f"Active     {NAME}" in moved.stdout
    assert "Previous   hash (ragkit embedder --back)" in moved.stdout
    asked = len(server.asked("/api/embed"))
    back = run("--back", "--json")
    assert back.exit_code == 0, back.output
    assert json.loads(back.stdout)["active"] == "hash"
    assert len(server.asked("/api/embed")) == asked
    state = json.loads(run("--json").stdout)
    assert (state["active"], state["previous"], state["target"]) == ("hash", NAME, "")
    assert {one["name"]: one["lacking"] for one in state["offers"]}[NAME] == 0


def test_without_ollama_it_says_so_and_waits(run, server):
    server.stop()
    moved = run("ollama:embeddinggemma")
    assert moved.exit_code == 1
    assert "Ollama does not answer" in moved.output
    assert "Switching  to ollama:embeddinggemma:latest: 0 of" in moved.stdout
    status = CliRunner().invoke(app, ["status"])
    assert "Switching  to ollama:embeddinggemma:latest: 0 of" in status.stdout
    stopped = run("--back")
    assert stopped.exit_code == 0, stopped.output
    assert "was stopped; hash stays in use" in stopped.output
    assert run("--back").exit_code != 0


def test_wrong_use_is_refused(run):
    assert run("--back", "--pause").exit_code == 2
    unknown = run("magic")
    assert unknown.exit_code != 0
    assert "Unknown embedding model" in str(unknown.exception)


def test_status_says_what_waits_for_vectors(run, server, tmp_path):
    assert run(NAME).exit_code == 0
    assert "Vectors" not in CliRunner().invoke(app, ["status"]).stdout
    server.stop()
    write_files(tmp_path / "files", {"new.md": "# New\n\nA quokka smiles.\n"})
    assert CliRunner().invoke(app, ["sync"]).exit_code == 0
    status = CliRunner().invoke(app, ["status"])
    assert (
        f"Vectors    1 document waits for {NAME}; found by keyword only until then" in status.stdout
    )
    found = CliRunner().invoke(app, ["search", "quokka"])
    assert "new.md" in found.stdout
    assert "by words alone: Ollama does not answer" in found.stderr


def test_a_move_that_failed_is_said_to_have_failed(run, server):
    server.failure = "broken"
    done = run("ollama:nomic-embed-text")
    assert done.exit_code == 1
    assert "Failed: Ollama reported an error" in done.output
    assert "Everything is embedded" not in done.output
