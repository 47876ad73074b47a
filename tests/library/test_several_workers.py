"""Several workers, each in a folder of its own, on one library on a server."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import ragkit
from ragkit.errors import RagkitError

FOLDERS, FILES = 3, 4
ANIMALS = ("whale", "falcon", "otter", "lynx", "heron", "badger", "viper", "moth", "crane")
QUESTIONS = ("how deep does the whale dive", "where does the lynx sleep", "moth", "note 2 of crane")


@pytest.fixture
def folders(tmp_path):
    """Folders with notes, no two of which say the same."""
    made = []
    for number in range(FOLDERS):
        folder = tmp_path / "documents" / f"folder {number}"
        folder.mkdir(parents=True)
        for place in range(FILES):
            animal = ANIMALS[(number * FILES + place) % len(ANIMALS)]
            lines = [f"The {animal} sleeps {place + number} hours, {animal * 2} style."] * (
                place + 2
            )
            text = f"# Note {place} of {animal}\n\n" + "\n".join(lines) + "\n"
            (folder / f"{animal} {number}.md").write_text(text, "utf-8")
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
    return counts.indexed == documents and not library.jobs.open()


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


def test_three_workers_give_what_one_gives(database, folders, tmp_path):
    with ragkit.open(tmp_path / "file", create=True) as library:
        for folder in folders:
            library.sources.add_folder(folder)
        library.jobs.wait(library.sources.sync())
        expected = held(library)
    shared = {"sources": {"shared_roots": [str(tmp_path / "documents")]}}
    with ragkit.open(tmp_path / "reader", create=True, backend=database, **shared) as library:
        for folder in folders:
            library.sources.sync(library.sources.add_folder(folder))
        with workers(tmp_path, database, 3) as started:
            until(lambda: len(library.catalog.jobs.others()) == 3)
            until(lambda: is_done(library, FOLDERS * FILES))
            assert held(library) == expected
            # Each file once, whoever read it; a change is seen by whoever is free.
            (folders[1] / "new.md").write_text("# Platypus\n\nThe platypus swims.\n", "utf-8")
            library.sources.sync()
            until(lambda: library.search("platypus swims").results[0].document.path == "new.md")
            until(lambda: is_done(library, FOLDERS * FILES + 1))
            assert all(worker.poll() is None for worker in started)
        findings = {finding.name: finding for finding in library.health.check()}
        assert not findings["sources"].ok
        assert "no worker that runs reads it" in findings["sources"].sentence
        done = {job.claimed_by for job in library.jobs.recent(100) if job.kind == "sync"}
        assert len(done) >= 2  # It was not one alone.


def test_a_worker_that_dies_is_stood_in_for(database, folders, tmp_path):
    shared = {"sources": {"shared_roots": [str(tmp_path / "documents")]}}
    with ragkit.open(tmp_path / "reader", create=True, backend=database, **shared) as library:
        source = library.sources.add_folder(folders[0])
        gone = ragkit.open(tmp_path / "gone", backend=database, **shared)
        gone.catalog.jobs.heartbeat(1, 1.0, "working", {"host": "gone"})
        job = gone.sources.sync(source)
        assert gone.catalog.jobs.claim().id == job
        assert gone.catalog.jobs.hold(f"source {source.id}")
        gone.close()
        with workers(tmp_path, database, 1):
            until(lambda: is_done(library, FILES))
            ended = library.jobs.get(job)
            assert (ended.attempts, ended.message[:9]) == (2, "4 indexed")
