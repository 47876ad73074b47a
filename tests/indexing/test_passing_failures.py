"""Files that cannot be read for a while: what was indexed of them stays, and they are tried again.

Root may read every file, so permissions and disks fail by a stand-in for opening one file.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from pathlib import Path

import pytest
from small_library import (
    add,
    do,
    find,
    paths,
    sync,
    write_files,
)
from support import until

from ragkit.background.worker import Worker
from ragkit.catalog.retries import DELAYS, is_due
from ragkit.indexing import ingest
from ragkit.indexing.pipeline import Pipeline
from ragkit.types import Status

GARDEN = "notes/garten.txt"


@pytest.fixture
def library(library, folder):
    add(library, folder)
    return library


@pytest.fixture
def fail(monkeypatch):
    """Make opening the file of a name fail with an error number; 0: no more."""
    real = ingest.hash_file
    failing = {}

    def hash_file(path: Path, *more, **options) -> str:
        if number := failing.get(path.name, 0):
            raise OSError(number, os.strerror(number))
        return real(path, *more, **options)

    monkeypatch.setattr(ingest, "hash_file", hash_file)
    return failing.__setitem__


def document(library, path=GARDEN):
    [record] = [one for one in library.documents.list() if one.path == path]
    return record


def later(library, seconds):
    """Let time pass for the files that are to be tried again."""
    with library.writer().catalog.connections.write() as connection:
        connection.execute("UPDATE retries SET retry_at = retry_at - ?", (seconds,))


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.EBUSY, errno.ESTALE])
def test_a_passing_failure_keeps_the_text_of_before(library, folder, fail, number):
    (folder / GARDEN).write_text("Nur noch Kürbisse.\n")
    fail("garten.txt", number)
    job = sync(library)
    assert job.message == "1 failed, 4 unchanged."
    kept = document(library)
    assert kept.status is Status.INDEXED
    assert kept.reason.startswith(f"Could not be read since {time.strftime('%Y-%m-%d')}")
    assert os.strerror(number).lower() in kept.reason
    assert paths(find(library, "Tomaten", mode="keyword")) == [GARDEN]
    assert all(one.ok for one in library.health.verify())
    fail("garten.txt", 0)
    assert sync(library).message == "1 indexed, 4 unchanged."
    assert document(library).reason == ""
    assert paths(find(library, "Kürbisse", mode="keyword")) == [GARDEN]
    assert paths(find(library, "Tomaten", mode="keyword")) == []


def test_a_file_that_can_be_read_again_unchanged_loses_its_note(library, folder, fail):
    os.utime(folder / GARDEN)
    fail("garten.txt", errno.EACCES)
    sync(library)
    assert document(library).reason
    fail("garten.txt", 0)
    library.embedder.passages.clear()
    assert sync(library).message == "Nothing new, 5 unchanged."
    assert document(library).reason == ""
    assert library.embedder.passages == []


def test_a_new_file_that_fails_for_a_while_is_tried_again_by_itself(library, folder, fail):
    write_files(folder, {"late.md": "A pelican comes late.\n"})
    fail("late.md", errno.EIO)
    sync(library)
    late = document(library, "late.md")
    assert (late.status, late.chunks) == (Status.FAILED, 0)
    fail("late.md", 0)
    assert sync(library).message == "Nothing new, 6 unchanged."
    later(library, DELAYS[0])
    assert sync(library).message == "1 indexed, 5 unchanged."
    assert paths(find(library, "pelican", mode="keyword")) == ["late.md"]


def test_the_pauses_between_attempts_grow(library, folder, fail):
    retries = library.writer().catalog.retries
    [source] = library.sources.list()
    write_files(folder, {"late.md": "A pelican comes late.\n"})
    fail("late.md", errno.EIO)
    begun = time.time()
    sync(library)
    for delay in DELAYS:
        assert retries.due(begun + delay - 1) == {}
        assert retries.due(time.time() + delay) == {source.id: ["late.md"]}
        later(library, delay)
        begun = time.time()
        assert sync(library).message == "1 failed, 5 unchanged."
    # From now on every full scan tries it, and nothing in between.
    assert retries.due(time.time() + 3600) == {}
    assert sync(library).message == "1 failed, 5 unchanged."


def test_a_clock_that_was_set_back_postpones_nothing():
    assert is_due(1000.0, 1000.0)
    assert not is_due(1000.0, 999.0)
    assert is_due(1_000_000.0, 1000.0)
    assert not is_due(None, 1000.0)


def test_a_damaged_file_is_not_tried_again(library, folder):
    (folder / GARDEN).write_bytes(b"%PDF-1.7\n" + bytes(range(256)) * 20)
    sync(library)
    assert document(library).status is Status.FAILED
    assert paths(find(library, "Tomaten", mode="keyword")) == []
    later(library, 10 * DELAYS[-1])
    assert sync(library).message == "Nothing new, 5 unchanged."


def test_asking_for_it_tries_all_that_failed_at_once(library, folder, fail):
    write_files(folder, {"late.md": "A pelican comes late.\n"})
    (folder / GARDEN).write_text("Nur noch Kürbisse.\n")
    for name in ("late.md", "garten.txt"):
        fail(name, errno.EACCES)
    sync(library)
    for name in ("late.md", "garten.txt"):
        fail(name, 0)
    ids = library.writer().catalog.retries.failed()
    assert sorted(ids) == sorted([document(library).id, document(library, "late.md").id])
    assert do(library, "retry", document_ids=ids).message == "2 indexed, 4 unchanged."
    assert library.writer().catalog.retries.failed() == []


def test_the_worker_tries_again_what_is_due(library, folder, fail, monkeypatch):
    monkeypatch.setattr("ragkit.background.worker._RETRY_SECONDS", 0.1)
    write_files(folder, {"late.md": "A pelican comes late.\n"})
    fail("late.md", errno.EIO)
    sync(library)
    worker = Worker(library.writer())
    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        # The scan with which it begins comes too early for the file.
        until(lambda: len(library.jobs.recent(9)) > 2 and not library.jobs.open())
        fail("late.md", 0)
        later(library, DELAYS[0])
        until(lambda: document(library, "late.md").status is Status.INDEXED, 20.0)
    finally:
        worker.stopping.set()
        thread.join(timeout=10)
    assert not thread.is_alive()


def test_health_counts_what_is_found_as_read_before(library, folder, fail):
    (folder / GARDEN).write_text("Nur noch Kürbisse.\n")
    fail("garten.txt", errno.EACCES)
    sync(library)
    [finding] = [one for one in library.health.check() if one.name == "documents"]
    assert (finding.ok, finding.fix, finding.count) == (True, "retry", 1)
    assert "1 indexed file unreadable now; search uses the last version." in finding.sentence
    fail("garten.txt", 0)
    job = library.jobs.wait(library.health.fix("retry"))
    assert job.message == "1 indexed, 4 unchanged."


def test_a_file_that_the_pipeline_cannot_take_fails_alone(library, folder, monkeypatch):
    real = Pipeline.run

    def run(self, files, *more, **options):
        if any("pelican" in file.document.reading.text for file in files):
            raise ZeroDivisionError("nobody expects this")
        return real(self, files, *more, **options)

    monkeypatch.setattr(Pipeline, "run", run)
    write_files(folder, {"bad.md": "A pelican comes late.\n", "good.md": "A heron comes too.\n"})
    assert sync(library).message == "1 indexed, 1 failed, 5 unchanged."
    assert document(library, "bad.md").reason.startswith("The file's text could not be indexed.")
    assert paths(find(library, "heron", mode="keyword")) == ["good.md"]
