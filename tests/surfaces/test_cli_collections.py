"""``ragkit collections``, and files added one by one."""

from __future__ import annotations

import json
import zipfile

from ragkit.library import Library
from ragkit.settings import load_settings


def test_collections_are_listed_made_renamed_set_and_deleted(in_process, tmp_path, monkeypatch):
    monkeypatch.setenv("RAGKIT_LIBRARY", str(tmp_path / "library"))
    (tmp_path / "heron.md").write_text("# Heron\n\n" + "The heron stands in the river. " * 40)
    with zipfile.ZipFile(tmp_path / "trip.zip", "w") as archive:
        archive.write(tmp_path / "heron.md", "heron.md")
        archive.writestr("map.txt", "The map of Skye.")
    assert in_process("collections", "new", "Birds").stderr == 'Made the collection "Birds".\n'
    assert in_process("collections", "new", "birds").returncode == 2
    said = in_process(
        "add", tmp_path / "heron.md", tmp_path / "trip.zip", "--collection", "Birds"
    ).stderr.splitlines()
    assert said[:3] == [
        "heron.md: copied",
        "trip.zip › heron.md: Already in the library: heron.md",
        "trip.zip › map.txt: copied",
    ]
    assert in_process("collections", "rename", "Birds", "Herons").returncode == 0
    [listed] = in_process("collections", "list", "--json").stdout.splitlines()
    assert (json.loads(listed)["name"], json.loads(listed)["documents"]) == ("Herons", 2)
    assert (
        "overlap must be at most half"
        in in_process("collections", "chunks", "Herons", "--words", 50).stderr
    )
    done = in_process("collections", "chunks", "Herons", "--words", 50, "--overlap", 10)
    assert done.stderr.splitlines()[-1] == "2 indexed."
    assert done.stdout == "50 words, 10 overlap, 200 smallest section\n"
    asked = in_process("collections", "delete", "Herons")
    assert asked.returncode == 2
    assert "2 uploaded files, which are deleted from disk" in asked.stderr
    assert in_process("collections", "delete", "Herons", "--yes").returncode == 0
    assert in_process("collections", "list").stdout == ""


def test_a_collection_is_searched_as_it_is_set(in_process, tmp_path, monkeypatch):
    monkeypatch.setenv("RAGKIT_LIBRARY", str(tmp_path / "library"))
    in_process("collections", "new", "Birds")

    def told(*arguments):
        return in_process("collections", "search", "Birds", *arguments)

    assert told().stdout == ""
    set_ = told("-o", "rrf_k=7", "-o", "chunk_aware=false", "-o", "mmr_lambda=0.5")
    assert set_.stdout == "rrf_k=7\nchunk_aware=false\nmmr_lambda=0.5\n"
    # What is as the settings say is not kept.
    assert told("-o", "rrf_k=60").stdout == "chunk_aware=false\nmmr_lambda=0.5\n"
    with Library.open(load_settings()) as opened:
        options = opened.options(collections="Birds")
        assert (options.rrf_k, options.chunk_aware, options.mmr_lambda) == (60, False, 0.5)
        assert opened.options(collections=()).chunk_aware
    assert told("--reset").stdout == ""
    assert told().stdout == ""
    refused = told("-o", "rrf_k=0")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "rrf_k must be at least 1" in refused.stderr


def test_the_prompts_of_a_collection_are_shown_set_and_reset(in_process, tmp_path, monkeypatch):
    monkeypatch.setenv("RAGKIT_LIBRARY", str(tmp_path / "library"))
    in_process("collections", "new", "Herons")
    built_in = in_process("collections", "prompts", "Herons", "document").stdout
    assert built_in.startswith("You describe passages of documents for a search engine")
    own = tmp_path / "own.txt"
    own.write_text("Briefly.\n=====\n{{document}}\n{{passage}}\n")
    done = in_process("collections", "prompts", "Herons", "document", "--set", own)
    assert done.stdout == "document      your own\n"
    shown = in_process("collections", "prompts", "Herons", "document").stdout
    assert shown == "Briefly.\n=====\n{{document}}\n{{passage}}\n"
    every = in_process("collections", "prompts", "Herons", "--json").stdout.splitlines()
    assert [(one["prompt"], one["own"], one["outdated"]) for one in map(json.loads, every)] == [
        ("document", True, 0), ("conversation", False, 0), ("summary", False, 0),
        ("questions", False, 0),
    ]  # fmt: skip
    own.write_text("{{document}} and no passage")
    refused = in_process("collections", "prompts", "Herons", "document", "--set", own)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "The prompt has no place for the passage. Write {{passage}}" in refused.stderr
    done = in_process("collections", "prompts", "Herons", "document", "--rewrite")
    assert "0 contexts of Herons will be regenerated." in done.stderr
    assert in_process("collections", "prompts", "Herons", "document", "--reset").stdout == (
        "document      built-in\n"
    )
    assert in_process("collections", "prompts", "Herons", "document").stdout == built_in
    for wrong in (["--reset"], ["haiku"], ["document", "--reset", "--set", own]):
        assert in_process("collections", "prompts", "Herons", *wrong).returncode == 2
    gone = in_process("collections", "prompts", "Herons", "document", "--set", tmp_path / "no.txt")
    assert "cannot be read" in gone.stderr


def test_of_very_many_folders_the_status_names_those_with_a_trouble_first(tmp_path, in_process):
    library = Library.open(load_settings(library=tmp_path / "library"), create=True)
    collection = library.catalog.collections.ensure("default").id
    for number in range(23):
        library.catalog.collections.ensure_source(collection, "folder", f"/folder {number:02d}")
    away = library.catalog.collections.sources()[-1]
    library.catalog.collections.set_source_state(away.id, "offline", "The drive is away.")
    library.close()
    printed = in_process("status", "--library", tmp_path / "library").stdout.splitlines()
    named = [line for line in printed if line.startswith("Source")]
    assert len(named) == 20
    assert named[0] == ("Source     /folder 22 (default, offline, 0 documents)  The drive is away.")
    assert named[1] == "Source     /folder 00 (default, new, 0 documents)"
    assert (
        "           and 3 others; --collection NAME shows those of one collection, --json all"
        in (printed)
    )


def test_a_document_of_another_collection_is_not_said_to_be_missing(
    in_process, tmp_path, monkeypatch
):
    monkeypatch.setenv("RAGKIT_LIBRARY", str(tmp_path / "library"))
    (tmp_path / "heron.md").write_text("# Heron\n\nThe heron stands in the river.\n")
    in_process("collections", "new", "default")
    in_process("add", tmp_path / "heron.md", "--collection", "My birds")
    record = json.loads(in_process("list", "--json").stdout)
    for called in (record["path"], record["id"]):
        for command in ("show", "related"):
            done = in_process(command, called)
            assert (done.returncode, done.stderr) == (
                5,
                f'ragkit: {called} is in the collection "My birds". '
                "Name it: --collection 'My birds'.\n",
            )
    assert "1 chunk" in in_process("show", record["id"], "--collection", "My birds").stdout
    assert in_process("show", "wren.md").stderr == (
        "ragkit: No file or document wren.md. ragkit list shows the documents.\n"
    )


def test_an_export_is_never_taken_for_one_of_a_collection(in_process, tmp_path, monkeypatch):
    monkeypatch.setenv("RAGKIT_LIBRARY", str(tmp_path / "library"))
    in_process("collections", "new", "Birds")
    for command in ("export", "import"):
        done = in_process(command, tmp_path / "birds.zip", "--collection", "Birds")
        assert (done.returncode, "No such option: --collection" in done.stderr) == (2, True)
    assert not (tmp_path / "birds.zip").exists()
