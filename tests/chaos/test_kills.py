"""A writer is killed at random instants; after each, nothing is lost, torn or extra."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragkit.health.checks import verify_library
from ragkit.health.findings import Parts
from ragkit.library import Library
from ragkit.settings import load_settings

KILLS = int(os.environ.get("RAGKIT_CHAOS_KILLS", "20"))
"""How many kills; the long run (make chaos) makes 200."""

_WORDS = "amber basalt cedar delta ember fjord garnet harbour indigo kestrel".split()  # noqa: SIM905
_HARMLESS = {"leftovers", "vectors", "removals", "indexes"}
"""Findings that a kill may leave and compacting mends: nothing is lost, torn or shown by them."""

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the victim forks")


class Victim:
    """The process that does the work and is killed."""

    def __init__(self, library: Path) -> None:
        self._library = str(library)
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("victim.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def start(self, kind: str, **arguments: object) -> int:
        """Begin a job in a child; gives the child's pid."""
        assert self._process.stdin is not None
        order = {"library": self._library, "kind": kind, "arguments": arguments}
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return int(self._line())

    def wait(self) -> int:
        """Wait for the child; gives its exit code, below 0 when a signal ended it."""
        return int(self._line())

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdout.close()


class Folder:
    """A folder whose files change at random, and every text that each path ever held."""

    def __init__(self, root: Path, chance: random.Random) -> None:
        self.root = root
        self.history: dict[str, set[str]] = {}
        self._chance = chance
        self._count = 0
        root.mkdir()

    def write(self, path: str) -> None:
        """Write a file of a few sections, whole, under that path."""
        self._count += 1
        sections = [
            f"# {self._chance.choice(_WORDS)} {self._count}\n\n"
            + " ".join(self._chance.choices(_WORDS, k=self._chance.randint(5, 600)))
            for _ in range(self._chance.randint(1, 4))
        ]
        text = "\n\n".join(sections)
        place = self.root / path
        place.parent.mkdir(exist_ok=True)
        place.write_text(text, "utf-8")
        self.history.setdefault(path, set()).add(text)

    def change(self) -> None:
        """Create, rewrite, move and delete some files."""
        for _ in range(self._chance.randint(1, 12)):
            present = sorted(p for p in self.root.rglob("*.md"))
            act = self._chance.choice(["create", "create", "rewrite", "move", "delete"])
            if act == "create" or len(present) < 5:
                self.write(f"d{self._chance.randint(0, 3)}/f{self._count}.md")
                continue
            chosen = self._chance.choice(present)
            path = chosen.relative_to(self.root).as_posix()
            if act == "rewrite":
                self.write(path)
            elif act == "move":
                target = f"d{self._chance.randint(0, 3)}/m{self._count}.md"
                self._count += 1
                (self.root / target).parent.mkdir(exist_ok=True)
                chosen.rename(self.root / target)
                self.history.setdefault(target, set()).add((self.root / target).read_text("utf-8"))
            else:
                chosen.unlink()


@pytest.fixture
def victim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Victim]:
    monkeypatch.setenv("RAGKIT_MODELS__EMBEDDER", "hash")
    one = Victim(tmp_path / "library")
    yield one
    one.close()


def open_library(place: Path) -> Library:
    return Library.open(load_settings(library=place), create=True)


def faults(library: Library) -> list[str]:
    """What a kill must never leave behind."""
    parts = Parts(library.settings, library.paths, library.catalog, library.embedder)
    found = verify_library(parts)
    return [
        f"{one.name}: {one.sentence}" for one in found if not one.ok and one.name not in _HARMLESS
    ]


def assert_each_document_is_whole(library: Library, folder: Folder) -> None:
    for record in library.documents.list():
        if record.status == "indexed":
            detail = library.documents.get(record.id)
            assert detail.text in folder.history[record.path]
            assert len(detail.chunks) == record.chunks > 0


def answers(library: Library) -> list[object]:
    """What searches find, without ids, which differ from library to library."""
    found = []
    for question in (*_WORDS[:5], "amber cedar harbour"):
        for result in library.search(question, library.options(limit=50)).results:
            found.append(
                (
                    question,
                    result.document.path,
                    round(result.score, 5),
                    [(p.start, p.end, p.text) for p in result.passages],
                )
            )
    return sorted(found, key=repr)


@pytest.mark.slow
def test_kills_at_random_instants_lose_tear_and_add_nothing(tmp_path: Path, victim: Victim) -> None:
    seed = int(os.environ.get("RAGKIT_CHAOS_SEED", "7"))
    chance = random.Random(seed)
    folder = Folder(tmp_path / "folder", chance)
    for number in range(30):
        folder.write(f"d0/start{number}.md")
    library = open_library(tmp_path / "library")
    source = library.sources.add_folder(folder.root)
    library.close()
    killed = 0
    for number in range(KILLS * 5):
        if killed >= KILLS:
            break
        folder.change()
        kind = chance.choice(["sync", "sync", "sync", "compact", "rebuild_indexes"])
        pid = victim.start(kind, **({"source_id": source.id} if kind == "sync" else {}))
        time.sleep(chance.uniform(0.0, 0.5))
        with contextlib.suppress(ProcessLookupError):  # it may have finished by now
            os.kill(pid, signal.SIGKILL)
        killed += victim.wait() == -signal.SIGKILL
        library = open_library(tmp_path / "library")
        assert faults(library) == [], f"after kill {killed} (round {number}, seed {seed})"
        assert_each_document_is_whole(library, folder)
        library.search("amber cedar", library.options())
        library.close()
    assert killed == KILLS
    victim.start("sync", source_id=source.id)
    assert victim.wait() == 0
    victim.start("compact")
    assert victim.wait() == 0
    library = open_library(tmp_path / "library")
    fresh = open_library(tmp_path / "fresh")
    fresh.jobs.wait(fresh.sources.sync(fresh.sources.add_folder(folder.root)))
    assert {d.path for d in library.documents.list()} == {
        p.relative_to(folder.root).as_posix() for p in folder.root.rglob("*.md")
    }
    assert answers(library) == answers(fresh)
    parts = Parts(library.settings, library.paths, library.catalog, library.embedder)
    assert [one.sentence for one in verify_library(parts) if not one.ok] == []
