"""Searches of one process take turns."""

from __future__ import annotations

import threading
import time

from small_library import HANDBOOK, add, open_library, write_files

from ragkit.options import Mode, Rerank
from ragkit.retrieval.turns import TURNS, Turns

_LONG = 60.0


class Threads:
    """Threads that take turns, begun in a known order; each notes when its block runs."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.order: list[str] = []
        self.threads: list[threading.Thread] = []

    def begin(self, name, work=lambda: None):
        waiting = len(self.turns._waiting)

        def run():
            with self.turns.computing():
                self.order.append(name)
                work()

        thread = threading.Thread(target=run)
        thread.start()
        self.threads.append(thread)
        while name not in self.order and len(self.turns._waiting) == waiting:
            time.sleep(0.001)

    def join(self):
        for thread in self.threads:
            thread.join(_LONG)
            assert not thread.is_alive()


def test_they_compute_one_at_a_time_in_the_order_they_came():
    turns, free = Turns(_LONG), threading.Event()
    threads = Threads(turns)
    threads.begin("first", lambda: free.wait(_LONG))
    for name in "abcd":
        threads.begin(name)
    assert threads.order == ["first"]
    free.set()
    threads.join()
    assert threads.order == ["first", "a", "b", "c", "d"]


def test_one_that_waits_for_something_else_lets_the_next_begin():
    turns, free = Turns(_LONG), threading.Event()
    threads = Threads(turns)

    def ask_a_model():
        with turns.computing(), turns.aside():
            free.wait(_LONG)
        threads.order.append("back")

    threads.begin("asks", ask_a_model)
    threads.begin("other", free.set)
    threads.join()
    assert threads.order == ["asks", "other", "back"]


def test_one_that_takes_long_does_not_keep_the_others_waiting():
    turns, free = Turns(0.01), threading.Event()
    threads = Threads(turns)
    threads.begin("long", lambda: free.wait(_LONG))
    threads.begin("short", free.set)
    threads.join()
    assert threads.order == ["long", "short"]


def test_a_failure_gives_the_turn_back():
    turns = Turns(_LONG)
    threads = Threads(turns)
    for error in (ValueError, KeyboardInterrupt):
        try:
            with turns.computing():
                raise error
        except error:
            threads.begin(error.__name__)
    threads.join()
    assert threads.order == ["ValueError", "KeyboardInterrupt"]


def test_a_search_that_waits_for_its_reranker_is_out_of_turn(tmp_path, monkeypatch):
    monkeypatch.setattr(TURNS, "_patience", _LONG)
    library = open_library(tmp_path / "library")
    add(library, write_files(tmp_path / "files", HANDBOOK))
    beside = []

    class Grader:
        name, tokens = "slow", 0

        def grade(self, question, passages):
            # Another search while this one waits: with the turn kept it would wait a minute.
            thread = threading.Thread(
                target=lambda: beside.append(library.search("Tomaten", mode=Mode.KEYWORD))
            )
            thread.start()
            thread.join(_LONG / 2)
            return [5.0] * len(passages)

    library.engine.open_grader = Grader
    answer = library.search("refund within thirty days", rerank=Rerank.MODEL)
    assert answer.rerank.graded > 0
    assert [one.results[0].document.path for one in beside] == ["notes/garten.txt"]
    library.close()
