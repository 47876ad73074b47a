"""Answers that are written beside a page: seen as they grow, stopped, kept, never forgotten."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from support import until

from ragkit.answers import AnswerSentence, AnswerState, WrittenAnswer
from ragkit.errors import LibraryError, OllamaError
from ragkit.surfaces.http import writing as module
from ragkit.surfaces.http.writing import Writing, routes, writings

FIRST = WrittenAnswer("why?")
SAID = replace(FIRST, state=AnswerState.WRITING, unfinished="Because")
DONE = replace(FIRST, state=AnswerState.DONE, sentences=(AnswerSentence("Because."),))


class Model:
    """Yields states as it is let, and notes when it is closed."""

    def __init__(self, *states, error=None):
        self.states, self.error = states, error
        self.go = threading.Semaphore(0)
        self.kept = []
        self.closed = threading.Event()

    def states_of(self):
        last = self.states[0]
        try:
            for state in self.states:
                while not self.go.acquire(timeout=0.02):
                    yield last
                yield state
                last = state
            if self.error:
                raise self.error
        finally:
            self.closed.set()

    def start(self):
        draw = lambda answer: {"html": answer.unfinished, "state": answer.state}  # noqa: E731
        return writings().start(Writing(self.states_of, draw, self.kept.append, FIRST))


@pytest.fixture
def client():
    with TestClient(Starlette(routes=routes())) as client:
        yield client


def test_a_page_is_told_each_state_once_and_the_end_is_kept(client):
    model = Model(FIRST, SAID, DONE)
    address = f"/_ragkit/answers/{model.start().token}"
    model.go.release()
    first = client.get(address)
    assert first.headers["cache-control"] == "no-store"
    assert first.json() == {"version": 0, "over": False, "html": "", "state": "reading"}
    threading.Timer(0.05, model.go.release).start()
    # Asked for what is new, it waits for it.
    assert client.get(f"{address}?after=0").json()["html"] == "Because"
    model.go.release()
    last = client.get(f"{address}?after=1").json()
    assert (last["version"], last["over"], last["state"]) == (2, True, "done")
    assert client.get(f"{address}?after=9").json() == last
    until(lambda: model.kept == [DONE])
    assert model.closed.is_set()
    assert client.get("/_ragkit/answers/other").status_code == 404
    assert client.get(f"{address}/cancel").status_code == 405


def test_what_is_cancelled_stops_at_once_is_closed_and_keeps_what_is_there(client):
    model = Model(FIRST, SAID, DONE)
    address = f"/_ragkit/answers/{model.start().token}"
    for _ in range(2):
        model.go.release()
    assert client.get(f"{address}?after=0").json()["html"] == "Because"
    began = time.monotonic()
    told = client.post(f"{address}/cancel").json()
    assert (told["over"], told["state"], told["html"]) == (True, "cancelled", "Because")
    assert model.closed.wait(20)
    assert time.monotonic() - began < 15
    until(lambda: [one.state for one in model.kept] == [AnswerState.CANCELLED])
    assert client.post(f"{address}/cancel").json() == told


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OllamaError("Ollama is gone.", "Start it."), ("Ollama is gone.", "Start it.")),
        (ZeroDivisionError(), ("Something unexpected went wrong.", None)),
        (None, ("The answer broke off.", None)),
    ],
)
def test_what_fails_ends_with_words_and_keeps_what_is_there(error, said):
    model = Model(SAID, error=error)
    model.go.release()
    one = model.start()
    until(lambda: one.is_over)
    assert one.answer.state is AnswerState.FAILED
    assert one.answer.unfinished == "Because"
    assert one.answer.failure == said[0]
    assert said[1] in (None, one.answer.cure)


def test_an_answer_that_nobody_looks_at_is_stopped(monkeypatch):
    monkeypatch.setattr(module, "_FORSAKEN_SECONDS", 0.1)
    model = Model(FIRST, SAID)
    one = model.start()
    until(lambda: one.is_over)
    assert one.answer.state is AnswerState.CANCELLED
    assert model.closed.wait(5)


def test_an_answer_is_kept_before_it_is_said_to_be_over():
    model, over = Model(SAID, DONE), []
    draw = lambda answer: {"html": answer.unfinished, "state": answer.state}  # noqa: E731
    keep = lambda answer: over.append((answer, writing.is_over))  # noqa: E731
    writing = writings().start(Writing(model.states_of, draw, keep, FIRST))
    model.go.release(2)
    until(lambda: writing.is_over)
    # Loaded again at once, a page shows what is kept.
    assert over == [(DONE, False)]


def test_an_answer_that_cannot_be_kept_says_why():
    def full(written):
        raise LibraryError("No space is left on the disk.", "Free some space.")

    model = Model(DONE)
    draw = lambda answer: {"html": answer.unfinished, "state": answer.state}  # noqa: E731
    writing = writings().start(Writing(model.states_of, draw, full, FIRST))
    model.go.release()
    until(lambda: writing.not_kept)
    assert writing.not_kept == "No space is left on the disk. Free some space."
    assert writing.answer == DONE
