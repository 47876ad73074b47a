from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from ragkit.indexing.progress import JobCancelled, Progress, Reporter


class Clock:
    """Time that passes only when the test says so."""

    def __init__(self, monkeypatch):
        self.now = 1000.0
        monkeypatch.setattr("ragkit.indexing.progress.time.monotonic", lambda: self.now)
        monkeypatch.setattr("ragkit.indexing.progress.time.time", lambda: self.now)


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def test_progress_survives_json():
    one = Progress("Reading", 3, 9, "é\n\U0001f600.md", 1, 12.5)
    assert Progress.from_dict(json.loads(json.dumps(asdict(one)))) == one
    assert Progress.from_dict({}) == Progress()
    assert Progress.from_dict({"done": 2, "unknown": 1}) == Progress(done=2)


@pytest.mark.parametrize(
    ("done", "total", "started_at", "left"),
    [(5, 20, 990.0, 30.0), (2, 20, 990.0, None), (5, 0, 990.0, None), (5, 20, 0.0, None),
     (20, 20, 990.0, 0.0), (25, 20, 990.0, 0.0)],
)  # fmt: skip
def test_the_time_left_follows_from_the_pace(clock, done, total, started_at, left):
    assert Progress(done=done, total=total, started_at=started_at).seconds_left == left


def test_a_phase_is_told_at_its_start_and_at_its_end_and_seldom_between(clock):
    told: list[Progress] = []
    reporter = Reporter(lambda progress: told.append(progress) or True)
    reporter.start("Reading", 100)
    for number in range(100):
        clock.now += 0.01
        reporter.step(f"{number}.md")
    assert told[0] == Progress("Reading", 0, 100, started_at=1000.0)
    assert told[-1] == Progress("Reading", 100, 100, "99.md", 0, 1000.0)
    assert 4 <= len(told) <= 8
    assert [one.done for one in told] == sorted(one.done for one in told)


def test_steps_add_up_and_the_current_file_stays(clock):
    reporter = Reporter()
    reporter.start("Reading", 10)
    reporter.step("a.md", done=3)
    reporter.step(failed=1)
    reporter.step("b.md", done=0, failed=2)
    assert reporter.progress == Progress("Reading", 4, 10, "b.md", 3, 1000.0)
    reporter.start("Removing", 2)
    assert reporter.progress == Progress("Removing", 0, 2, "", 0, 1000.0)


def test_a_watcher_that_says_no_stops_the_job(clock):
    answers = iter([True, True, False])
    reporter = Reporter(lambda _: next(answers))
    reporter.start("Reading", 10)
    clock.now += 1
    reporter.step("a.md")
    reporter.step("b.md")
    clock.now += 1
    with pytest.raises(JobCancelled):
        reporter.step("c.md")
    assert reporter.progress.done == 3


def test_without_a_watcher_nothing_stops():
    reporter = Reporter()
    reporter.start("Reading", 0)
    reporter.step()
    assert reporter.progress.done == 1
