"""Checks of the environment: worker, jobs, sources, log."""

from __future__ import annotations

import os
import time

from health_library import (
    TEXTS,
    finding_of,
    fixes_of,
    sql,
    work,
)

from ragkit.catalog.records import JobState, watched_notes
from ragkit.health import environment
from ragkit.health.environment import last_errors
from ragkit.health.findings import Depth
from ragkit.indexing.writer import writer_lock
from ragkit.library import Library


def _beat(library: Library, *, pid: int, state: str = "idle", started: float = 0.0) -> None:
    library.catalog.jobs.heartbeat(pid, started, state, {"role": "worker"})


def test_a_worker_that_died_is_told_from_one_that_stopped(library):
    _beat(library, pid=2_000_000_000, state="stopped")
    assert finding_of(library, "worker", Depth.GLANCE).ok
    _beat(library, pid=2_000_000_000, state="working")
    finding = finding_of(library, "worker", Depth.GLANCE)
    assert (finding.ok, finding.fix) == (False, "worker")
    assert "stopped unexpectedly" in finding.sentence


def test_jobs_that_nobody_does_are_said(library):
    library.jobs.add("compact")
    finding = finding_of(library, "worker", Depth.GLANCE)
    assert (finding.ok, finding.fix, finding.count) == (False, "worker", 1)


def test_a_worker_that_holds_the_lock_and_is_silent_is_found(library):
    import psutil

    own = psutil.Process()
    with writer_lock(library.paths.lock, "worker"):
        _beat(library, pid=own.pid, started=own.create_time())
        assert finding_of(library, "worker", Depth.GLANCE).sentence.endswith("is idle.")
        sql(library, "UPDATE workers SET heartbeat = heartbeat - 100")
        finding = finding_of(library, "worker", Depth.GLANCE)
        assert not finding.ok
        assert "has not answered for 100 seconds" in finding.sentence
        _beat(library, pid=own.pid, started=own.create_time() - 1000)
        assert not finding_of(library, "worker", Depth.GLANCE).ok


def test_a_command_that_writes_is_named(library):
    with writer_lock(library.paths.lock, "command"):
        finding = finding_of(library, "worker", Depth.GLANCE)
    assert finding.ok
    assert finding.sentence == f"The command (process {os.getpid()}) is writing."


def test_a_failed_job_is_said_until_one_of_its_kind_succeeds(library):
    jobs = library.catalog.jobs
    jobs.finish(jobs.add("sync"), JobState.FAILED, "The disk is full.")
    finding = finding_of(library, "jobs", Depth.GLANCE)
    assert (finding.ok, finding.fix) == (False, "sync")
    assert "The disk is full." in finding.sentence
    jobs.finish(jobs.add("sync"), JobState.DONE)
    assert finding_of(library, "jobs", Depth.GLANCE).ok


def test_failed_contexts_are_counted_with_the_last_error(library):
    assert finding_of(library, "contexts", Depth.GLANCE).sentence == "No contexts failed."
    sql(
        library,
        "INSERT INTO contexts (document_id, chunk_idx, status, error, changed_at) "
        "SELECT document_id, idx, 'failed', 'Error ' || idx, 100.0 - idx FROM chunks LIMIT 2",
    )
    chunks = library.documents.counts().chunks
    finding = finding_of(library, "contexts", Depth.GLANCE)
    assert (finding.fix, finding.count) == ("retry_contexts", 2)
    assert finding.sentence == f"2 contexts of {chunks} chunks failed. The last error: Error 0"


def test_an_offline_source_is_said_and_nothing_of_it_is_torn(library, folder):
    folder.rename(folder.with_name("elsewhere"))
    work(library, "sync")
    finding = finding_of(library, "sources", Depth.GLANCE)
    assert (finding.ok, finding.fix, finding.count) == (False, "sync", len(TEXTS))
    assert fixes_of(library) == {}


def test_a_watched_source_says_how_it_is_watched(library):
    number = library.sources.list()[0].id
    notes = {"watching": watched_notes([("polling", "Too many folders.", [number])])}
    library.catalog.jobs.heartbeat(1, 1.0, "stopped", notes)
    finding = finding_of(library, "sources", Depth.GLANCE)
    assert finding.ok
    assert "Too many folders." in finding.sentence


def test_a_source_that_is_back_is_not_said_to_be_away(library, folder):
    number = library.sources.list()[0].id
    notes = {"watching": watched_notes([("offline", f"The folder {folder} is gone.", [number])])}
    library.catalog.jobs.heartbeat(1, 1.0, "stopped", notes)
    finding = finding_of(library, "sources", Depth.GLANCE)
    assert (finding.ok, finding.sentence) == (True, f"{folder} is ready.")


def test_files_that_could_not_be_read_can_be_tried_again(library, folder):
    (folder / "bad.pdf").write_bytes(b"%PDF-1.4 nothing")
    work(library, "sync")
    finding = finding_of(library, "documents", Depth.GLANCE)
    assert (finding.ok, finding.count, finding.fix) == (True, 1, "retry")
    (folder / "bad.pdf").unlink()
    job = library.health.fix("retry")
    library.jobs.wait(job)
    assert finding_of(library, "documents", Depth.GLANCE).count == 0


def test_only_recent_errors_of_the_log_count(library):
    log = library.paths.logs / "worker.log"
    old = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(time.time() - 90_000))
    new = time.strftime("%Y-%m-%d %H:%M:%S")
    log.write_bytes(
        f"{old},001 ERROR long ago\n{new},002 INFO fine\nno date ERROR x\n".encode() + b"\xff\n"
    )
    assert last_errors(log, time.time() - 86_400) == []
    with log.open("a") as stream:
        stream.write(f"{new},003 ERROR job 7 stopped\n")
    assert last_errors(log, time.time() - 86_400) == [f"{new},003 ERROR job 7 stopped"]
    finding = finding_of(library, "log", Depth.GLANCE)
    assert (finding.ok, finding.count) == (False, 1)
    pages = library.paths.logs / "pages.log"
    pages.write_text(f"{old},001 ERROR long ago\n{new},004 ERROR something unexpected happened\n")
    finding = finding_of(library, "log", Depth.GLANCE)
    assert finding.count == 2
    assert finding.sentence.endswith("004 ERROR something unexpected happened")
    assert finding.fix == f"read {pages}"
    assert last_errors(library.paths.logs / "none.log", 0) == []


def test_a_mend_that_is_only_words_asks_for_nothing(library):
    assert library.health.fix("stop process 5") is None
    assert library.catalog.jobs.open() == []


def test_of_very_many_folders_those_are_named_that_something_is_wrong_with(library, monkeypatch):
    monkeypatch.setattr(environment, "_MOST_SOURCES", 3)
    collections = library.catalog.collections
    home = library.collections.list()[0].id
    numbers = [collections.ensure_source(home, "folder", f"/gone/{n}").id for n in range(6)]
    for number in numbers[:4]:
        collections.set_source_state(number, "offline", "It is not there.")
    found = [one for one in library.health.check() if one.name == "sources"]
    assert [(one.ok, one.sentence) for one in found[3:]] == [
        (False, "1 more folder offline, or not visible to any worker."),
        (True, "3 other folders without problems."),
    ]
    assert [one.sentence.split()[0] for one in found[:3]] == ["/gone/0", "/gone/1", "/gone/2"]
