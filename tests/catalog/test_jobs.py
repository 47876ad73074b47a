from __future__ import annotations

import threading
import time

import pytest

from ragkit.catalog.jobs import Jobs
from ragkit.catalog.records import SILENT_SECONDS, JobState


def test_the_same_pending_job_is_not_added_twice(catalog):
    jobs = catalog.jobs
    first = jobs.add("sync", source_id=1, full=True)
    assert jobs.add("sync", full=True, source_id=1) == first
    assert jobs.add("sync", source_id=2, full=True) != first
    assert jobs.add("prune", source_id=1, full=True) != first
    claimed = jobs.claim()
    assert claimed.id == first
    assert jobs.add("sync", source_id=1, full=True) != first


def test_jobs_are_claimed_oldest_first_and_once(catalog):
    ids = [catalog.jobs.add("sync", n=number) for number in range(3)]
    claimed = [catalog.jobs.claim() for _ in range(4)]
    assert [one.id for one in claimed[:3]] == ids
    assert claimed[3] is None
    assert all(one.state is JobState.RUNNING and one.attempts == 1 for one in claimed[:3])
    assert claimed[0].arguments == {"n": 0}
    assert claimed[0].started_at >= claimed[0].created_at


def test_threads_never_claim_the_same_job(catalog):
    ids = [catalog.jobs.add("sync", n=number) for number in range(30)]
    claimed: list[int] = []

    def work():
        while (job := catalog.jobs.claim()) is not None:
            claimed.append(job.id)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(claimed) == ids


def test_a_job_from_start_to_end(catalog):
    job_id = catalog.jobs.add("sync", path="it's \U0001f600")
    assert catalog.jobs.get(job_id).state is JobState.PENDING
    catalog.jobs.claim()
    assert catalog.jobs.report(job_id, {"done": 3, "total": 7}) is True
    assert catalog.jobs.get(job_id).progress == {"done": 3, "total": 7}
    catalog.jobs.finish(job_id, JobState.DONE, "All read.")
    ended = catalog.jobs.get(job_id)
    assert (ended.state, ended.message) == (JobState.DONE, "All read.")
    assert ended.finished_at >= ended.started_at
    assert catalog.jobs.open() == []
    assert catalog.jobs.get(999) is None


def test_open_jobs_run_before_they_wait(catalog):
    ids = [catalog.jobs.add("sync", n=number) for number in range(4)]
    catalog.jobs.claim()
    catalog.jobs.claim()
    catalog.jobs.finish(ids[0], JobState.DONE)
    assert [one.id for one in catalog.jobs.open()] == ids[1:]
    assert [one.id for one in catalog.jobs.recent(2)] == [ids[3], ids[2]]


def test_cancelling_a_waiting_job_drops_it_at_once(catalog):
    job_id = catalog.jobs.add("sync")
    catalog.jobs.cancel(job_id)
    cancelled = catalog.jobs.get(job_id)
    assert (cancelled.state, cancelled.cancelled) == (JobState.CANCELLED, True)
    assert cancelled.finished_at is not None
    assert catalog.jobs.claim() is None
    assert catalog.jobs.add("sync") != job_id


def test_cancelling_a_running_job_is_told_at_its_next_report(catalog):
    job_id = catalog.jobs.add("sync")
    catalog.jobs.claim()
    assert catalog.jobs.report(job_id, {})
    catalog.jobs.cancel(job_id)
    assert catalog.jobs.get(job_id).state is JobState.RUNNING
    assert catalog.jobs.report(job_id, {}) is False


@pytest.mark.parametrize("state", [JobState.DONE, JobState.FAILED])
def test_cancelling_what_has_ended_changes_nothing(catalog, state):
    job_id = catalog.jobs.add("sync")
    catalog.jobs.claim()
    catalog.jobs.finish(job_id, state)
    before = catalog.jobs.get(job_id)
    catalog.jobs.cancel(job_id)
    assert catalog.jobs.get(job_id) == before


def test_after_a_crash_running_jobs_wait_again_until_they_crashed_too_often(catalog):
    job_id = catalog.jobs.add("sync")
    for attempt in (1, 2):
        assert catalog.jobs.claim().attempts == attempt
        catalog.jobs.report(job_id, {"done": 1})
        assert catalog.jobs.requeue_running() == 1
        assert catalog.jobs.get(job_id).progress == {}
    assert catalog.jobs.claim().attempts == 3
    assert catalog.jobs.requeue_running() == 0
    failed = catalog.jobs.get(job_id)
    assert failed.state is JobState.FAILED
    assert "each time" in failed.message
    assert failed.finished_at is not None
    assert catalog.jobs.claim() is None


def test_a_job_that_was_being_cancelled_is_not_done_again_after_a_crash(catalog):
    job_id = catalog.jobs.add("sync")
    catalog.jobs.claim()
    catalog.jobs.cancel(job_id)
    assert catalog.jobs.requeue_running() == 0
    assert catalog.jobs.get(job_id).state is JobState.CANCELLED


def test_waiting_and_ended_jobs_are_left_alone_after_a_crash(catalog):
    done, waiting = catalog.jobs.add("a"), catalog.jobs.add("b")
    catalog.jobs.claim()
    catalog.jobs.finish(done, JobState.DONE)
    assert catalog.jobs.requeue_running() == 0
    assert catalog.jobs.get(done).state is JobState.DONE
    assert catalog.jobs.get(waiting).attempts == 0


def test_old_ended_jobs_are_forgotten_but_never_open_ones(catalog):
    open_id = catalog.jobs.add("waits")
    ended = []
    for number in range(520):
        ended.append(catalog.jobs.add("sync", n=number))
        catalog.jobs.finish(ended[-1], JobState.DONE)
    assert catalog.jobs.get(open_id) is not None
    assert catalog.jobs.get(ended[0]) is None
    assert catalog.jobs.get(ended[-1]) is not None
    assert len(catalog.jobs.recent(10_000)) == 501


def test_the_worker_is_known_by_its_last_sign_of_life(catalog):
    assert catalog.jobs.worker() is None
    before = time.time()
    catalog.jobs.heartbeat(7, 100.0, "idle", {"b": 1})
    catalog.jobs.heartbeat(8, 200.0, "busy", {"role": "it's"})
    worker = catalog.jobs.worker()
    assert (worker.pid, worker.started_at, worker.state) == (8, 200.0, "busy")
    assert worker.notes == {"role": "it's"}
    assert 0 <= worker.silent < 60
    assert before - 1 <= worker.heartbeat <= time.time() + 1


def _machine(catalog, name, silent_for=0.0):
    """The jobs as another machine sees them, of which something was heard so long ago."""
    jobs = Jobs(catalog.connections)
    jobs.machine = name
    jobs.heartbeat(1, 1.0, "working", {})
    with catalog.connections.write() as connection:
        connection.execute(
            "UPDATE workers SET heartbeat = heartbeat - ? WHERE machine = ?", (silent_for, name)
        )
    return jobs


def test_a_machine_claims_what_suits_it_and_leaves_the_rest(catalog):
    ids = [catalog.jobs.add("sync", source_id=number) for number in (1, 2, 3)]
    one, other = _machine(catalog, "one"), _machine(catalog, "other")
    assert one.claim(lambda job: job.arguments["source_id"] == 2).id == ids[1]
    assert one.claim(lambda job: job.arguments["source_id"] == 2) is None
    assert [other.claim().id, other.claim().id] == [ids[0], ids[2]]
    assert [catalog.jobs.get(each).claimed_by for each in ids] == ["other", "one", "other"]


def test_what_a_silent_machine_had_claimed_is_done_by_another(catalog):
    gone = _machine(catalog, "gone")
    job_id = catalog.jobs.add("sync")
    assert gone.claim().id == job_id
    there = _machine(catalog, "there")
    assert there.requeue_silent() == 0
    _machine(catalog, "gone", silent_for=SILENT_SECONDS + 1)
    assert there.requeue_silent() == 1
    assert there.claim().attempts == 2
    assert there.requeue_silent() == 0
    # The one that was silent comes back: what it still reports or ends is not its own any more.
    assert gone.report(job_id, {"done": 9}) is False
    gone.finish(job_id, JobState.FAILED, "late")
    gone.requeue(job_id)
    assert catalog.jobs.get(job_id).state is JobState.RUNNING
    assert catalog.jobs.get(job_id).progress == {}
    assert there.report(job_id, {"done": 1}) is True


def test_a_machine_that_starts_again_puts_back_its_own_jobs_alone(catalog):
    ids = [catalog.jobs.add("sync", n=number) for number in range(2)]
    one, other = _machine(catalog, "one"), _machine(catalog, "other")
    assert [one.claim().id, other.claim().id] == ids
    assert one.requeue_running() == 1
    states = [catalog.jobs.get(each).state for each in ids]
    assert states == [JobState.PENDING, JobState.RUNNING]
    assert {each.machine: each.state for each in catalog.jobs.workers()} == {
        "one": "stopped",
        "other": "working",
    }


def test_of_several_machines_one_holds_a_claim(catalog, engine):
    one, other = _machine(catalog, "one"), _machine(catalog, "other")
    assert one.hold("vectors")
    assert one.hold("vectors")
    if engine == "sqlite":
        assert other.hold("vectors")  # A file has one writer, by its lock.
        return
    assert not other.hold("vectors")
    assert other.hold("contexts")
    other.release("vectors")
    assert not other.hold("vectors")
    one.release("vectors")
    assert other.hold("vectors")
    _machine(catalog, "other", silent_for=SILENT_SECONDS + 1)
    assert one.hold("vectors")
