"""A small library that tests damage, and what they ask of it."""

from __future__ import annotations

from pathlib import Path

from ragkit.catalog.records import JobState
from ragkit.health.findings import Depth
from ragkit.library import Library
from ragkit.settings import Settings

TEXTS = {
    "guide.md": "# Guide\n\nOAuth tokens are signed.\n\n## Refresh\n\nThey live for an hour.\n",
    "notes/été.md": "# Été\n\nLe café est fermé le lundi. 日本語の文書もある。\n",
    "long.txt": "A paragraph about maintenance and repair.\n\n" * 200,
    "code.py": "def add(first, second):\n    return first + second\n",
}


def open_health_library(tmp_path: Path) -> Library:
    chosen = {"library": tmp_path / "lib", "models": {"embedder": "hash"}}
    return Library.open(Settings(**chosen), create=True)


def work(library: Library, kind: str, **arguments) -> str:
    job = library.jobs.wait(library.jobs.add(kind, **arguments))
    assert job.state is JobState.DONE, job.message
    return job.message


def sql(library: Library, statement: str, *parameters, references: bool = True) -> None:
    connection = library.catalog.connections.get()
    connection.execute(f"PRAGMA foreign_keys = {'ON' if references else 'OFF'}")
    connection.execute(statement, parameters)
    connection.execute("PRAGMA foreign_keys = ON")


def fixes_of(library: Library, depth: Depth = Depth.VERIFY) -> dict[str, str]:
    """The mends of what is not well, by name."""
    found = library.health.verify() if depth is Depth.VERIFY else library.health.check(depth)
    return {one.name: one.fix for one in found if not one.ok}


def finding_of(library: Library, name: str, depth: Depth = Depth.VERIFY):
    found = library.health.verify() if depth is Depth.VERIFY else library.health.check(depth)
    return next(one for one in found if one.name == name)


def hits(library: Library, question: str) -> list[tuple]:
    found = library.search(question).results
    return [(one.document.path, one.score, [p.text for p in one.passages]) for one in found]


def chunk_indexes(library: Library) -> Path:
    number = library.collections.list()[0].id
    return library.paths.index(number, "chunk", library.embedder.fingerprint)
