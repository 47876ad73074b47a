"""``ragkit models``: a folder is checked and shown, and nothing is added without consent."""

from __future__ import annotations

import hashlib
import json

import pytest
from model_folders import cross_encoder_folder, embedder_folder
from small_library import HANDBOOK, write_files
from typer.testing import CliRunner

from ragkit.errors import ModelFolderError, NotFoundError
from ragkit.surfaces.cli.app import app


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGKIT_LIBRARY", str(tmp_path / "library"))
    monkeypatch.setenv("RAGKIT_MODELS__EMBEDDER", "hash")
    monkeypatch.setenv("RAGKIT_MODELS__OLLAMA_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("RAGKIT_READING__PROCESSES", "1")
    return lambda *arguments: CliRunner().invoke(app, [*map(str, arguments)])


def test_a_folder_is_shown_and_added_only_with_consent(run, tmp_path):
    folder = cross_encoder_folder(tmp_path / "reranker")
    weights = (folder / "model.onnx").read_bytes()
    checksum, size = hashlib.sha256(weights).hexdigest(), len(weights)

    shown = run("models", "add", folder)

    assert shown.exit_code == 2
    assert shown.stdout.splitlines() == [
        f"Folder      {folder}",
        "Kind        cross-encoder",
        f"Weights     model.onnx, {size / 1000:.1f} kB",
        f"SHA-256     {checksum}",
        "Licence     no licence stated",
    ]
    assert "on the terms of its licence? Pass --yes to confirm." in shown.stderr
    assert run("models", "list").stdout == "Reranking: the model that writes contexts\n"

    added = run("models", "add", folder, "--yes")

    assert (added.exit_code, "It reranks searches" in added.stderr) == (0, True)
    listed = run("models", "list").stdout.splitlines()
    assert listed[0].split() == [
        "cross-encoder", f"{size / 1000:.1f}", "kB",
        "no", "licence", "stated", f"folder:{folder}", "(reranks)",
    ]  # fmt: skip
    assert listed[1] == f"Reranking: folder:{folder}"
    (folder / "model.onnx").write_bytes(b"")
    value = json.loads(run("models", "list", "--json").stdout)
    assert (value["checksum"], value["used"]) == (checksum, "reranks")
    assert value["trouble"] == "model.onnx is empty. Get the file again, whole."
    assert run("models", "remove", folder).exit_code == 0
    assert run("models", "list", "--json").stdout == ""
    assert (folder / "tokenizer.json").exists()


def test_an_embedder_is_added_and_moved_to(run, tmp_path):
    folder = embedder_folder(tmp_path / "e5-tiny", pooling=None)
    assert run("add", write_files(tmp_path / "files", HANDBOOK)).exit_code == 0

    added = run("models", "add", folder, "--yes")

    assert "Dimensions  16 (pooling: mean, as no file says otherwise)" in added.stdout
    assert 'Prompts     "query: " and "passage: "' in added.stdout
    assert "Licence     apache-2.0" in added.stdout
    assert f"ragkit embedder folder:{folder}" in added.stderr
    assert f"  folder:{folder}" in run("embedder").stdout
    moved = run("embedder", f"folder:{folder}")
    assert (moved.exit_code, f"Active     folder:{folder}" in moved.stdout) == (0, True)
    assert "(embeds)" in run("models", "list").stdout
    (folder / "tokenizer.json").unlink()
    back = run("embedder", "--back")
    assert (back.exit_code, "Active     hash" in back.stdout) == (0, True)


@pytest.mark.parametrize("command", [("models", "add"), ("embedder",)])
def test_an_address_is_refused_with_what_to_do(run, tmp_path, command):
    assert run("add", write_files(tmp_path / "files", HANDBOOK)).exit_code == 0
    name = "https://models.example/tiny" if len(command) > 1 else "folder:https://models.example/a"
    refused = run(*command, name)
    assert refused.exit_code == 1
    assert str(refused.exception).startswith("ragkit downloads no models. Get the model's files by")


def test_a_folder_that_is_not_there_is_not_found(run, tmp_path):
    with pytest.raises(NotFoundError, match=f"There is no folder {tmp_path / 'none'}"):
        raise run("models", "add", tmp_path / "none").exception
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelFolderError):
        raise run("models", "add", tmp_path / "empty").exception
