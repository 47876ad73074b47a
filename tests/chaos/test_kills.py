"""Whatever works on a library is killed at random instants: nothing is lost, torn or extra."""

from __future__ import annotations

import logging
import os
import random
import shutil
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from chaos_parts import (
    Folder,
    Victim,
    answers,
    assert_each_document_is_whole,
    faults,
    open_library,
)
from ollama_stand_in import OllamaStandIn

from ragkit.catalog.schema import MIGRATIONS
from ragkit.surfaces.cli.app import COMMANDS

KILLS = int(os.environ.get("RAGKIT_CHAOS_KILLS", "6"))
SEED = int(os.environ.get("RAGKIT_CHAOS_SEED", "7"))
BETWEEN_LOOKS = 5
BETWEEN_COMPARISONS = 100
LONGEST_SECONDS = 0.5

_VERSIONS = Path(__file__).parent.parent / "library"
_COMMANDS = [
    *[("sync",)] * 5,
    *[("worker",)] * 3,
    ("add", "EXTRA"),
    ("compact",),
    ("export", "ARCHIVE", "--force"),
    ("import", "ARCHIVE", "--library", "IMPORTED"),
    *[("contextualize",)] * 2,
    ("embedder", "ollama:nomic-embed-text"),
    ("embedder", "hash"),
    ("backup",),
    ("restore", "--yes"),
    ("recover",),
    ("recover", "--yes"),
]
"""What is killed; commands that are not there yet are left out."""

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the victim forks")


@pytest.fixture
def victim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Victim]:
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    with OllamaStandIn() as ollama:
        monkeypatch.setenv("RAGKIT_MODELS__EMBEDDER", "hash")
        monkeypatch.setenv("RAGKIT_MODELS__OLLAMA_URL", ollama.url)
        one = Victim(tmp_path / "library", tmp_path / "said.txt")
        yield one
        one.close()


def commands(place: Path) -> list[list[str]]:
    names = {"EXTRA": "extra", "ARCHIVE": "archive.zip", "IMPORTED": "imported"}
    return [
        [str(place / names[part]) if part in names else part for part in command]
        for command in _COMMANDS
        if command[0] in COMMANDS
    ]


def look(place: Path, folder: Folder) -> None:
    """Nothing is torn or extra, and a search works."""
    library = open_library(place / "library")
    with closing(library):
        assert faults(library) == []
        assert_each_document_is_whole(library, folder)
        library.search("amber cedar", library.options())


def compare(place: Path, victim: Victim, folder: Folder) -> None:
    """Once the work is done, rows and answers are those of a library made now."""
    fresh, archive = place / "fresh", place / "archive.zip"
    for made in (fresh, place / "imported"):
        shutil.rmtree(made, ignore_errors=True)
    add = ["add", str(folder.root), str(place / "extra")]
    made_now = [[*add, "--library", str(fresh)], ["contextualize", "--library", str(fresh)]]
    accept = ["sync", "--accept-removals"]
    work = [["embedder", "hash"], add, accept, ["contextualize"], ["compact"]]
    for command in (*work, *made_now):
        assert victim.run(*command) == 0, command
    library, new = open_library(place / "library"), open_library(fresh)
    with closing(library), closing(new):
        texts = [
            sorted((one.path, one.status) for one in each.documents.list())
            for each in (library, new)
        ]
        assert texts[0] == texts[1]
        assert [path for path, _ in texts[1]] == sorted([*folder.paths(), "extra.md"])
        assert answers(library) == answers(new)
        assert faults(library) == []
    if archive.exists():
        assert victim.run("import", str(archive), "--library", str(place / "imported")) == 0
        with closing(open_library(place / "imported")) as imported:
            assert_each_document_is_whole(imported, folder)


@pytest.mark.slow
def test_kills_at_random_instants_lose_tear_and_add_nothing(
    tmp_path: Path, victim: Victim, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(SEED)
    folder = Folder(tmp_path / "folder", chance)
    for number in range(30):
        folder.write(f"d0/start{number}.md")
    (tmp_path / "extra").mkdir()
    (tmp_path / "extra" / "extra.md").write_text("amber extra", "utf-8")
    folder.history["extra.md"] = {"amber extra"}
    assert victim.run("add", str(folder.root)) == 0
    choices = commands(tmp_path)
    killed: Counter[str] = Counter()
    started = time.monotonic()
    while (count := killed.total()) < KILLS:
        folder.change()
        command = chance.choice(choices)
        if command[0] == "import":
            shutil.rmtree(tmp_path / "imported", ignore_errors=True)
        if not victim.kill(chance.uniform(0.0, LONGEST_SECONDS), *command):
            continue
        killed[command[0]] += 1
        where = f"after kill {count + 1}: {command} (seed {SEED})"
        try:
            if (count + 1) % BETWEEN_LOOKS == 0:
                look(tmp_path, folder)
            if (count + 1) % BETWEEN_COMPARISONS == 0 or count + 1 == KILLS:
                compare(tmp_path, victim, folder)
        except BaseException as error:
            error.add_note(where)
            raise
        assert not victim.tracebacks(), where
    rate = KILLS / (time.monotonic() - started) * 3600
    with capsys.disabled():
        print(f"\n{KILLS} kills, {rate:.0f} an hour: {dict(killed.most_common())}")


@pytest.mark.slow
def test_a_kill_while_an_old_library_is_migrated_leaves_a_step_whole(
    tmp_path: Path, victim: Victim, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(SEED)
    catalog = tmp_path / "library" / "catalog.sqlite"
    stopped: Counter[int] = Counter()
    kills = max(4, KILLS // 10)
    while stopped.total() < kills:
        shutil.rmtree(catalog.parent, ignore_errors=True)
        catalog.parent.mkdir(mode=0o700)
        version = stopped.total() % 7 + 1
        with closing(sqlite3.connect(catalog)) as connection:
            connection.executescript((_VERSIONS / f"version_{version}.sql").read_text("utf-8"))
        if not victim.kill(chance.uniform(0.0, LONGEST_SECONDS), "compact"):
            continue
        with closing(sqlite3.connect(catalog)) as connection:
            reached = connection.execute("PRAGMA user_version").fetchone()[0]
            rows = connection.execute("SELECT value FROM meta WHERE key GLOB 'migration *'")
            assert len(rows.fetchall()) == reached
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert version <= reached <= len(MIGRATIONS)
        with closing(open_library(catalog.parent)) as library:
            found = library.search("Garantie Lieferung").results
            assert found[0].document.path == "garantie.md"
            assert len(library.documents.list()) == 4
        stopped[reached - version] += 1
    with capsys.disabled():
        print(f"\n{kills} kills of migrations, by how many steps were done: {dict(stopped)}")
