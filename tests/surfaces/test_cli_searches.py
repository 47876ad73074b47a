"""``ragkit searches``: what was asked, listed, cleared and switched off."""

from __future__ import annotations

import json

import pytest
from small_library import add, open_library, write_files


@pytest.fixture
def here(tmp_path, in_process):
    """Run a command on a library of one document."""
    with open_library(tmp_path / "library") as library:
        add(library, write_files(tmp_path / "files", {"reefs.md": "# Reefs\n\nReefs are warm.\n"}))

    def run(*command):
        return in_process(*command, "--library", tmp_path / "library")

    return run


def listed(here, *options):
    lines = here("searches", "list", "--json", *options).stdout.splitlines()
    return [json.loads(line) for line in lines]


def test_searches_of_commands_are_listed_cleared_and_switched_off(here, tmp_path):
    assert "0 searches in 90 days, 0 found nothing close." in here("searches", "list").stderr
    here("search", "warm reefs", "--mode", "keyword")
    here("search", "zzqx", "--json")
    here("ask", "warm  Reefs", "--no-model")
    (tmp_path / "chat.md").write_text("Ines: where are reefs?\n\nRui: and warm water?\n")
    here("search", "--file", tmp_path / "chat.md", "--chunked")
    found = listed(here)
    asked = [(one["question"], one["door"], one["options"], one["results"]) for one in found[1:]]
    assert asked == [
        ("warm Reefs", "command", {}, 1),
        ("zzqx", "command", {}, found[2]["results"]),
        ("warm reefs", "command", {"mode": "keyword"}, 1),
    ]
    assert found[0]["chunked"] == {}
    assert found[1]["stages"][0]["name"] == "question"
    assert [one["question"] for one in listed(here, "--without-results")] == ["zzqx"]
    slow = [one["ms"] for one in listed(here, "--slow", "--limit", "3")]
    assert slow == sorted((one["ms"] for one in found), reverse=True)[:3]
    [same] = listed(here, "--repeated")
    assert (same["times"], same["last"]["question"]) == (2, "warm Reefs")
    assert "    2 x  " in here("searches", "list", "--repeated").stdout
    assert here("searches", "list", "--repeated", "--slow").returncode == 2
    lines = here("searches", "list").stdout.splitlines()
    assert len(lines) == 4
    assert lines[-1].endswith("1 of 1                 warm reefs")

    here("searches", "off")
    here("search", "not written down")
    done = here("searches", "list")
    assert "not written down" not in done.stdout
    assert "The log is switched off." in done.stderr
    assert "Deleted the log with 4 searches." in here("searches", "clear", "--yes").stderr
    assert [file.name for file in (tmp_path / "library" / "searches").iterdir()] == ["off"]
    here("searches", "on")
    here("search", "again")
    assert [one["question"] for one in listed(here)] == ["again"]


def test_what_the_settings_forbid_is_said(here, monkeypatch):
    monkeypatch.setenv("RAGKIT_SEARCH_HISTORY", "false")
    here("search", "reefs")
    assert "search_history = false" in here("searches", "list").stderr
    assert here("searches", "on").returncode == 2
