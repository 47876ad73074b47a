"""The loop: when it works, waits and reports, whatever its task does."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from ragkit.background import loop as loops
from ragkit.background.loop import BackgroundLoop, Interrupted, Pace
from ragkit.catalog import Catalog
from ragkit.catalog.background_state import EMBEDDING_REPORT, BackgroundPhase
from ragkit.errors import ModelError


class Task:
    """Does what it is told each time: raise an error, or return a value; then stops the loop."""

    def __init__(self, stopping, *outcomes, tokens=(1,)):
        self.stopping = stopping
        self.outcomes = list(outcomes)
        self.tokens = list(tokens)
        self.worked = self.resets = 0

    def change_token(self):
        if len(self.tokens) == 1 and not self.outcomes:
            self.stopping.set()
        return self.tokens.pop(0) if len(self.tokens) > 1 else self.tokens[0]

    def work(self):
        self.worked += 1
        outcome = self.outcomes.pop(0) if self.outcomes else True
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def reset(self):
        self.resets += 1


@pytest.fixture
def catalog(tmp_path: Path):
    opened = Catalog.open(tmp_path / "catalog.sqlite", create=True)
    yield opened
    opened.close()


@pytest.fixture
def loop(catalog, monkeypatch):
    monkeypatch.setattr(loops, "POLL_SECONDS", 0.01)
    stopping = threading.Event()
    return BackgroundLoop(
        "tests", catalog, stopping, EMBEDDING_REPORT, waits=(0.01, 0.02), rest_seconds=0.0
    )


def report(catalog):
    stored = catalog.get_meta(EMBEDDING_REPORT)
    return stored["phase"], stored["message"]


def test_work_that_is_done_is_not_done_again_until_something_changes(loop):
    task = Task(loop.stopping, True, True, tokens=(1, 1, 1, 2, 2))
    loop.run(task)
    assert (task.worked, task.resets) == (2, 1)


def test_work_that_was_interrupted_or_came_to_nothing_is_done_again(loop):
    task = Task(loop.stopping, Interrupted(), False, True)
    loop.run(task)
    assert task.worked == 3


def test_nothing_is_done_while_there_can_be_no_work(loop, catalog):
    task = Task(loop.stopping, tokens=((), (), ()))
    loop.run(task)
    assert task.worked == 0
    assert report(catalog) == ("done", "")


def test_a_pause_keeps_the_loop_from_working(loop, catalog):
    loop.is_paused = lambda: True
    task = Task(loop.stopping, tokens=(1, 2, 3))
    loop.run(task)
    assert task.worked == 0
    assert report(catalog) == ("paused", "")


def test_a_failure_is_reported_and_models_are_opened_again(loop, catalog, caplog):
    seen = []
    task = Task(loop.stopping, ModelError("No model.", "Get one."), ValueError("odd"), True)
    rest = loop.rest
    loop.rest = lambda seconds, requests: (
        seen.append((seconds, *report(catalog))) if catalog.get_meta(EMBEDDING_REPORT) else None,
        rest(seconds, requests),
    )
    loop.run(task)
    assert seen[:2] == [
        (0.01, "waiting", "No model. Get one."),
        (0.02, "waiting", "Something unexpected happened; see the log."),
    ]
    assert (task.worked, task.resets) == (3, 3)
    assert "tests: waiting: No model." in caplog.text
    assert "tests stopped unexpectedly" in caplog.text


def test_a_change_of_what_is_requested_ends_a_rest(loop):
    requests = iter(["old", "new"])
    loop.requests = lambda: next(requests)
    loop.rest(60.0, "old")
    assert next(requests, None) is None


def test_waiting_for_a_turn_says_why_and_ends_when_it_is_no_longer_wanted(loop, catalog):
    reasons = iter(["Busy.", "Busy.", ""])
    waits = []
    loop.await_turn(loop.check, lambda: next(reasons), lambda: waits.append(1))
    assert len(waits) == 2
    assert report(catalog) == ("working", "")
    loop.stopping.set()
    with pytest.raises(Interrupted):
        loop.await_turn(loop.check, lambda: "Busy.")


def test_reports_of_work_come_once_a_second_and_changes_at_once(loop, catalog, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(loops.time, "monotonic", lambda: now[0])

    def reported(done, **options):
        loop.update(done=done)
        loop.report(BackgroundPhase.WORKING, **options)
        return catalog.get_meta(EMBEDDING_REPORT)["done"]

    assert reported(1) == 1
    assert reported(2) == 1
    assert reported(3, now=True) == 3
    now[0] += 1.0
    assert reported(4) == 4
    loop.update(waiting=7)
    assert reported(5) == 5
    loop.report(BackgroundPhase.WAITING, "For a model.")
    assert report(catalog) == ("waiting", "For a model.")


def test_the_pace_is_that_of_the_last_steps(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(loops.time, "monotonic", lambda: now[0])
    pace = Pace(3)
    assert pace.per_minute is None
    for count, seconds in ((1000, 0.0), (10, 60.0), (20, 60.0), (30, 60.0)):
        now[0] += seconds
        pace.add(count)
    assert pace.per_minute == 25.0
    pace.clear()
    assert pace.per_minute is None


def test_a_reason_to_wait_is_logged_once_an_hour_whatever_its_numbers(catalog, caplog, monkeypatch):
    clock = [1000.0]
    loop = BackgroundLoop("tests", catalog, threading.Event())
    monkeypatch.setattr("ragkit.background.loop.time.monotonic", lambda: clock[0])
    for seconds in (30, 28, 14):
        loop._log_wait(f"Ollama is left alone for {seconds} s.")
    loop._log_wait("Ollama has no model.")
    assert caplog.messages == [
        "tests: waiting: Ollama is left alone for 30 s.",
        "tests: waiting: Ollama has no model.",
    ]
    clock[0] += 3601
    loop._log_wait("Ollama is left alone for 7 s.")
    assert caplog.messages[2:] == ["tests: waiting: Ollama is left alone for 7 s."]
