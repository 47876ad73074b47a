"""Several workers, each in a folder of its own, on one library on a server."""

from __future__ import annotations

import shutil

import pytest
from several_machines import held, is_done, until, workers, write_notes

import ragkit
from ragkit.background import presence
from ragkit.background.worker import Worker
from ragkit.errors import LibraryError

FOLDERS, FILES = 3, 4


@pytest.fixture
def folders(tmp_path):
    """Folders with notes, no two of which say the same."""
    return write_notes(tmp_path, FOLDERS, FILES)


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
        assert "no running worker reads it" in findings["sources"].sentence
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
            assert library.jobs.get(job).attempts == 2
            # The worker's own first scan comes before, if it looks just as the other falls silent.
            messages = {job.message[:9] for job in library.jobs.recent(20) if job.kind == "sync"}
            assert messages in ({"4 indexed"}, {"4 indexed", "Nothing n"})


def test_a_copy_of_a_machines_folder_does_no_work_until_it_is_one_of_its_own(
    database, folders, tmp_path, monkeypatch
):
    """As on machines that were cloned: both have one id, and other files at the same paths."""
    with ragkit.open(tmp_path / "one", create=True, backend=database) as one:
        source = one.sources.add_folder(folders[0])
        one.jobs.wait(one.sources.sync(source))
        shutil.copytree(tmp_path / "one", tmp_path / "copy")
        beat = {"host": "attic", "folder": "/there", "run": "of the first"}
        assert one.catalog.jobs.heartbeat(1, 1.0, "working", beat)
        running = one.sources.sync(source, reread=True)
        assert one.catalog.jobs.claim().id == running
        monkeypatch.setattr(presence, "_LONGEST_WAIT_SECONDS", 0.3)
        with ragkit.open(tmp_path / "copy", backend=database) as copy:
            assert copy.paths.machine == one.paths.machine
            (folders[0] / "new.md").write_text("# Platypus\n\nThe platypus swims.\n", "utf-8")
            with pytest.raises(LibraryError, match=r"attic, /there.*one is a copy") as told:
                copy.jobs.wait(copy.sources.sync(source))
            assert "server.json in the copy" in told.value.cure
            with pytest.raises(LibraryError, match="one is a copy"):
                Worker(copy.writer()).run()
            found = next(each for each in copy.health.check() if each.name == "worker")
            assert not found.ok
            assert "folder's id was heard of" in found.sentence
        # What the first does, it goes on doing; whoever lost its place is told.
        assert one.jobs.get(running).attempts == 1
        assert one.catalog.jobs.report(running, {})
        assert not presence.report(one.writer(), "worker", "idle", {})
        (tmp_path / "copy" / "server.json").unlink()
        with ragkit.open(tmp_path / "copy", backend=database) as copy:
            assert copy.paths.machine != one.paths.machine
            assert copy.sources.elsewhere(source) == "attic"
            assert presence.report(copy.writer(), "worker", "idle", {})
