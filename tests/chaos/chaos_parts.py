"""What chaos tests share: the victim, a folder that changes, and what must hold after a kill."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from ragkit.health.checks import verify_library
from ragkit.health.findings import Parts
from ragkit.library import Library
from ragkit.settings import load_settings

WORDS = "amber basalt cedar delta ember fjord garnet harbour indigo kestrel".split()  # noqa: SIM905

HARMLESS = {"leftovers", "vectors", "removals", "indexes", "contexts", "embedder"}
"""Findings that a kill may leave and later work mends: nothing is lost, torn or shown by them."""


def rows_of(library: Library) -> dict[str, tuple[str, str]]:
    """Each document's status and text, by path."""
    return {
        record.path: (record.status.value, library.catalog.documents.text(record.id))
        for record in library.documents.list()
    }


def answers_of(library: Library) -> list[object]:
    """What searches find, and which of several copies stands for all."""
    return sorted(
        (
            word,
            (result.document.path, *result.also_at),
            round(result.score, 5),
            result.passages[0].text,
        )
        for word in WORDS
        for result in library.search(word, library.options(limit=100)).results
    )


class Victim:
    """The process whose children do the work and are killed."""

    def __init__(self, library: Path, log: Path) -> None:
        self.log = log
        self._errors = log.open("ab")
        self._heard = 0
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("victim.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, "RAGKIT_LIBRARY": str(library)},
            text=True,
        )

    def start(self, *arguments: str) -> int:
        """Begin a command in a child; gives the child's pid."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(arguments) + "\n")
        self._process.stdin.flush()
        return int(self._line())

    def wait(self) -> int:
        """Wait for the child; gives its exit code, below 0 when a signal ended it."""
        return int(self._line())

    def run(self, *arguments: str) -> int:
        """Run a command to its end; gives its exit code."""
        self.start(*arguments)
        return self.wait()

    def kill(self, after: float, *arguments: str) -> bool:
        """Kill a command so many seconds after its start; whether it was still running."""
        pid = self.start(*arguments)
        time.sleep(after)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        return self.wait() == -signal.SIGKILL

    def tracebacks(self) -> str:
        """What the children said since this was last asked, when one ended in a traceback."""
        with self.log.open(encoding="utf-8", errors="replace") as stream:
            stream.seek(self._heard)
            said = stream.read()
            self._heard = stream.tell()
        return said if "Traceback" in said else ""

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=120)
        self._process.stdout.close()
        self._errors.close()


class Folder:
    """A folder whose files change at random, and every text that each path ever held."""

    def __init__(self, root: Path, chance: random.Random) -> None:
        self.root = root
        self.history: dict[str, set[str]] = {}
        self._chance = chance
        self._count = 0
        root.mkdir()

    def paths(self) -> list[str]:
        """The files that are there."""
        return sorted(path.relative_to(self.root).as_posix() for path in self.root.rglob("*.md"))

    def write(self, path: str) -> None:
        """Write a file of a few sections, whole, under that path."""
        self._count += 1
        sections = [
            f"# {self._chance.choice(WORDS)} {self._count}\n\n"
            + " ".join(self._chance.choices(WORDS, k=self._chance.randint(5, 300)))
            for _ in range(self._chance.randint(1, 3))
        ]
        text = "\n\n".join(sections)
        place = self.root / path
        place.parent.mkdir(exist_ok=True)
        place.write_text(text, "utf-8")
        self.history.setdefault(path, set()).add(text)

    def change(self) -> None:
        """Create, rewrite, move and delete some files; there are never more than 60."""
        for _ in range(self._chance.randint(1, 12)):
            present = self.paths()
            act = self._chance.choice(["create", "create", "rewrite", "move", "delete"])
            if len(present) < 5 or (act == "create" and len(present) < 60):
                self.write(f"d{self._chance.randint(0, 3)}/f{self._count}.md")
                continue
            path = self._chance.choice(present)
            if act == "rewrite":
                self.write(path)
            elif act == "move":
                target = f"d{self._chance.randint(0, 3)}/m{self._count}.md"
                self._count += 1
                (self.root / target).parent.mkdir(exist_ok=True)
                (self.root / path).rename(self.root / target)
                self.history.setdefault(target, set()).add((self.root / target).read_text("utf-8"))
            else:
                (self.root / path).unlink()


def open_library(place: Path) -> Library:
    return Library.open(load_settings(library=place), create=True)


def faults(library: Library) -> list[str]:
    """What a kill must never leave behind."""
    parts = Parts(library.settings, library.paths, library.catalog, library.embedder)
    found = verify_library(parts)
    return [
        f"{one.name}: {one.sentence}" for one in found if not one.ok and one.name not in HARMLESS
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
    for question in (*WORDS[:5], "amber cedar harbour"):
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
