"""Workers as processes, each in a folder of its own, on one library on a server."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ragkit.errors import RagkitError

ANIMALS = ("whale", "falcon", "otter", "lynx", "heron", "badger", "viper", "moth", "crane")
QUESTIONS = ("how deep does the whale dive", "where does the lynx sleep", "moth", "note 2 of crane")


def write_notes(place: Path, folders: int, files: int) -> list[Path]:
    """Write notes into folders below ``documents``; no two of them say the same."""
    made = []
    for number in range(folders):
        folder = place / "documents" / f"folder {number}"
        folder.mkdir(parents=True)
        for note in range(files):
            animal = ANIMALS[(number * files + note) % len(ANIMALS)]
            line = f"The {animal} sleeps {note + number} hours, {animal * 2} style {note}."
            text = f"# Note {note} of {animal}\n\n" + "\n".join([line] * (note % 7 + 2)) + "\n"
            (folder / f"{animal} {number} {note}.md").write_text(text, "utf-8")
        made.append(folder)
    return made


@contextmanager
def workers(place: Path, address: str, count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """So many worker processes, each with a folder of its own, that share the documents."""
    started = []
    try:
        for number in range(count):
            environment = {
                **os.environ,
                "RAGKIT_LIBRARY": str(place / f"machine {number}"),
                "RAGKIT_BACKEND": address,
                "RAGKIT_SOURCES__SHARED_ROOTS": f'["{place / "documents"}"]',
            }
            command = [sys.executable, "-P", "-m", "ragkit", "worker"]
            with (place / f"worker {number}.log").open("wb") as log:
                started.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log))
        yield started
    finally:
        for worker in started:
            worker.terminate()
        for worker in started:
            worker.wait(30)


def until(condition, seconds=120.0):
    """Wait for a condition; a server that is away meanwhile is none."""
    end = time.monotonic() + seconds
    while True:
        try:
            if condition():
                return
        except RagkitError:
            pass
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.1)


def is_done(library, documents):
    counts = library.documents.counts()
    return counts.indexed == documents and not library.catalog.jobs.unfinished("sync")


def held(library):
    """What a library holds and answers, without ids."""
    answers = [
        {
            result.document.path: result.score
            for result in library.search(question, limit=50).results
        }
        for question in QUESTIONS
    ]
    rows = library.catalog.connections.rows(
        "SELECT d.path, d.hash, d.chunks, e.level, count(*) FROM documents d "
        "JOIN entries e ON e.document_id = d.id GROUP BY d.path, d.hash, d.chunks, e.level"
    )
    return sorted(map(tuple, rows)), answers
