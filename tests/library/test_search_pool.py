"""Processes that answer a library's searches: real ones, over a small real library."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from dataclasses import replace

import psutil
import pytest
from small_library import HANDBOOK, add, write_files
from support import until

from ragkit.errors import RagkitError
from ragkit.library import Library, search_pool
from ragkit.options import Expansion, Granularity, Mode, Phrasings, Rerank
from ragkit.settings import load_settings

NO_SUCH_SIGNAL = pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
_TEXT = "How long may a customer ask for a refund?\n\nWhen does the OAuth token expire?"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pool")
    settings = load_settings(
        library=folder / "library", models={"embedder": "hash"}, reading={"processes": 1}
    )
    with Library.open(settings, create=True) as library:
        add(library, write_files(folder / "files", HANDBOOK))
    return settings


@pytest.fixture(scope="module")
def alone(place):
    """The library without processes."""
    with Library.open(place) as library:
        yield library


@pytest.fixture(scope="module")
def served(place):
    """The library with two processes."""
    with Library.open(place) as library:
        library.start_readers(2)
        until(lambda: len(pids(library)) == 2, 60.0)
        yield library


def pids(library):
    return library._services.readers.processes


def untimed(answer):
    """The answer without what the clock says."""
    stages = tuple(replace(stage, ms=0.0) for stage in answer.trace.stages)
    return replace(answer, trace=replace(answer.trace, stages=stages))


@pytest.fixture
def nothing_computed_here(monkeypatch):
    def fail(*_arguments):
        raise AssertionError("it was computed in this process")

    monkeypatch.setattr("ragkit.retrieval.search.SearchEngine.answer", fail)
    monkeypatch.setattr("ragkit.retrieval.multi_query.query_per_chunk", fail)


@pytest.mark.parametrize(
    ("question", "changes"),
    [
        ("refund within thirty days", {}),
        ("OAuth tokne", {"mode": Mode.KEYWORD}),
        ("water for plants", {"mode": Mode.VECTOR, "granularity": Granularity.SECTION}),
        ("password tag:support", {"expansion": Expansion.DOCUMENT, "limit": 2}),
        ("type:markdown", {}),
        ("gift cards \ud800", {"shorten_below": 0.9}),
    ],
)
def test_an_answer_is_the_one_that_is_computed_here(alone, served, question, changes, request):
    here = alone.search(question, **changes)
    request.getfixturevalue("nothing_computed_here")
    there = served.search(question, **changes)
    assert there == replace(here, trace=there.trace)
    assert untimed(there).trace == untimed(here).trace
    assert there.trace.metrics == here.trace.metrics
    assert there.document_ids.tolist() == here.document_ids.tolist()
    passages = [passage for result in there.results for passage in result.passages]
    assert [one.highlights for one in passages] == [
        tuple(passage.highlights) for result in here.results for passage in result.passages
    ]


def test_a_long_text_is_answered_as_it_is_here(alone, served, request):
    here = alone.search_chunked(_TEXT)
    request.getfixturevalue("nothing_computed_here")
    there = served.search_chunked(_TEXT)
    assert len(there.results) > 1
    assert there == replace(here, trace=there.trace)
    assert untimed(there).trace == untimed(here).trace


@pytest.mark.parametrize("question", ["refund collection:elsewhere", "refund date:2026-13-99"])
def test_errors_are_those_of_the_search(alone, served, question):
    told = []
    for library in (alone, served):
        with pytest.raises(RagkitError) as raised:
            library.search(question)
        told.append((type(raised.value), str(raised.value)))
    assert told[0] == told[1]


def test_what_nobody_foresaw_is_a_sentence_and_in_the_log(served, caplog):
    fingerprint = served.embedder.fingerprint
    with pytest.raises(RagkitError, match="Something unexpected happened: KeyError"):
        served._services.readers.ask("no such search", fingerprint)
    assert "a search failed" in caplog.text
    assert "KeyError" in caplog.text


def test_what_is_drawn_again_is_not_asked_again(served, monkeypatch):
    first = served.search("twelve characters")
    monkeypatch.setattr(search_pool.SearchPool, "ask", None)
    assert served.search("twelve characters") is first


def test_a_search_that_asks_a_language_model_is_computed_here(served, monkeypatch):
    monkeypatch.setattr(search_pool.SearchPool, "ask", None)
    assert served.search("gift cards", rerank=Rerank.MODEL).results
    assert served.search("gift cards", phrasings=Phrasings.SEVERAL).results


def test_a_new_document_is_found_through_the_processes(place, served):
    folder = place.library.parent / "files"
    assert not served.search("zeppelin", mode=Mode.KEYWORD).results
    write_files(folder, {"notes/airship.md": "# Airships\n\nThe zeppelin landed at noon.\n"})
    with Library.open(place) as writing:
        add(writing, folder)
    answer = served.search("zeppelin", mode=Mode.KEYWORD)
    assert [one.document.path for one in answer.results] == ["notes/airship.md"]


def test_libraries_of_the_same_settings_share_the_processes(place, served):
    before = sorted(pids(served))
    with Library.open(place) as second:
        second.start_readers(2)
        assert sorted(pids(second)) == before
    assert sorted(pids(served)) == before
    assert all(psutil.pid_exists(pid) for pid in before)


class Stopped:
    """A search that was begun while no process could go on with it."""

    def __init__(self, served, question):
        self.pool = served._services.readers
        self.pids = pids(served)
        for pid in self.pids:
            os.kill(pid, signal.SIGSTOP)
        self.found = []
        self.thread = threading.Thread(
            target=lambda: self.found.append(served.search(question, mode=Mode.KEYWORD))
        )
        self.thread.start()
        place = until(
            lambda: next((one for one in self.pool._places if one._due < float("inf")), None)
        )
        self.asked = place.number

    def answer(self):
        """Let the others go on; return the paths found, once all processes are there again."""
        for pid in self.pids:
            if pid != self.asked:
                os.kill(pid, signal.SIGCONT)
        self.thread.join(60.0)
        assert not self.thread.is_alive()
        until(lambda: len(set(self.pool.processes) - {self.asked}) == len(self.pids), 60.0)
        return [one.document.path for one in self.found[0].results]


@NO_SUCH_SIGNAL
def test_the_answer_comes_though_its_process_was_killed(served, nothing_computed_here):
    search = Stopped(served, "Tomaten")
    os.kill(search.asked, signal.SIGKILL)
    assert search.answer() == ["notes/garten.txt"]


@NO_SUCH_SIGNAL
def test_a_process_that_hangs_is_replaced(served, nothing_computed_here, monkeypatch):
    monkeypatch.setattr(search_pool, "_LONGEST_SECONDS", 1.0)
    search = Stopped(served, "Sommer")
    until(lambda: not psutil.pid_exists(search.asked))
    # Its successor may take its time to start.
    monkeypatch.setattr(search_pool, "_LONGEST_SECONDS", 60.0)
    assert search.answer() == ["notes/garten.txt"]


def test_a_search_that_ends_every_process_is_given_up(place, monkeypatch):
    for name, result in (("start", ""), ("exchange", None), ("is_alive", True)):
        monkeypatch.setattr(search_pool._Place, name, lambda *_, result=result: result)
    pool = search_pool.SearchPool(place, 1)
    until(lambda: pool._up)
    with pytest.raises(RagkitError, match="crashed 3 processes") as raised:
        pool.ask("search", "", "")
    assert "doctor" in raised.value.cure
    pool.close()
    assert pool.ask("search", "", "") is None


def test_they_end_when_the_last_library_is_closed(place, served):
    there = pids(served)
    assert len(there) == 2
    served.close()
    assert not any(psutil.pid_exists(pid) for pid in there)
    with Library.open(place) as library:
        assert library.search("Tomaten").results


def test_a_library_without_the_usual_collection_has_processes_too(tmp_path, nothing_computed_here):
    settings = load_settings(
        library=tmp_path / "library", models={"embedder": "hash"}, reading={"processes": 1}
    )
    with Library.open(settings, create=True) as library:
        library.start_readers(1)
        until(lambda: len(pids(library)) == 1, 60.0)
        add(library, write_files(tmp_path / "files", HANDBOOK), "kitchen")
        [first, *_] = library.search("refund", collections="kitchen").results
        assert first.document.path == "handbook/refunds.md"


def test_a_library_that_is_closed_before_its_processes_are_up_complains_of_none(place, caplog):
    # Of other settings, so that the processes are its own.
    with Library.open(place.model_copy(update={"search_history": False})) as library:
        library.start_readers(2)
        assert library.search("refund").results
    assert [one for one in caplog.records if one.levelno >= logging.WARNING] == []
