"""Recent and pinned searches: bounded, private, shared between processes, truly deleted."""

from __future__ import annotations

import json
import stat
import threading

import pytest

from ragkit.errors import LibraryError
from ragkit.library.searches import LONGEST, MOST_PINNED, MOST_RECENT, SearchHistory
from ragkit.results import Answer
from ragkit.traces import Metrics, Spread, Stage, Trace


@pytest.fixture
def file(tmp_path):
    return tmp_path / "searches.json"


def questions(history):
    return [one.question for one in history.list()]


def test_the_same_search_twice_is_one_entry_and_the_newest_is_first(file):
    history = SearchHistory(file, kept=True)
    for question in ("refund", "Travel costs  type:pdf", "  REFUND "):
        history.note(question)
    assert questions(history) == ["REFUND", "Travel costs type:pdf"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_metrics_of_the_last_time_are_kept_also_of_a_pinned_search(file):
    def answer(ms, high):
        scores = Spread(2, 0.1, 0.2, 0.3, 0.4, high)
        found = Metrics(scores, scores, {"both": 2}, {"chunk": 2})
        trace = Trace((Stage("vector", ms, 9, 2),), measure=lambda: found)
        return Answer("refund", (), trace, total_documents=7)

    history = SearchHistory(file, kept=True)
    history.note("refund", answer(12.34, 0.8))
    history.pin("refund")
    history.note("refund", answer(3.21, 0.9))
    [kept] = SearchHistory(file, kept=True).list()
    assert kept.pinned
    scores = {"count": 2, "low": 0.1, "lower": 0.2, "median": 0.3, "upper": 0.4, "high": 0.9}
    assert kept.metrics == {
        "results": 0, "documents": 7, "ms": 3.2, "candidates": scores, "shown": scores,
        "sources": {"both": 2}, "levels": {"chunk": 2},
    }  # fmt: skip
    assert kept.summary == "0 of 7 documents, best score 0.90, 3 ms"


@pytest.mark.parametrize("more", [{}, {"metrics": 5}, {"metrics": {"results": "many"}}])
def test_what_was_kept_without_metrics_or_was_edited_says_nothing_of_them(file, more):
    file.write_text(json.dumps([{"question": "q", "at": 1, "pinned": False, **more}]))
    [kept] = SearchHistory(file, kept=True).list()
    assert (kept.question, kept.summary) == ("q", "")


def test_pinned_searches_come_first_and_stay_where_they_are(file):
    history = SearchHistory(file, kept=True)
    for question in ("a", "b", "c"):
        history.note(question)
    history.pin("a")
    history.pin("b")
    assert questions(history) == ["b", "a", "c"]
    history.note("a")
    assert questions(history) == ["b", "a", "c"]
    history.clear()
    assert questions(history) == ["b", "a"]
    history.pin("b", pinned=False)
    history.remove("a")
    assert [(one.question, one.pinned) for one in history.list()] == [("b", False)]
    history.clear()
    assert not file.exists()


def test_no_more_than_the_newest_are_kept(file):
    history = SearchHistory(file, kept=True)
    entries = [
        {"question": f"{number}", "at": float(number), "pinned": number % 2 == 0}
        for number in range(200)
    ]
    file.write_text(json.dumps(entries))
    history.note("new")
    kept = history.list()
    assert sum(one.pinned for one in kept) == MOST_PINNED
    assert [one.question for one in kept if not one.pinned][:2] == ["new", "199"]
    assert len(kept) == MOST_PINNED + MOST_RECENT
    history.note("x" * (LONGEST + 1))
    history.note("   ")
    assert questions(history) == [one.question for one in kept]


def test_two_writers_lose_no_entry(file):
    def note_all(name):
        history = SearchHistory(file, kept=True)
        for number in range(15):
            history.note(f"{name} {number}")

    both = [threading.Thread(target=note_all, args=(name,)) for name in ("left", "right")]
    for one in both:
        one.start()
    for one in both:
        one.join(60)
    expected = {f"{name} {number}" for name in ("left", "right") for number in range(15)}
    assert set(questions(SearchHistory(file, kept=True))) == expected


@pytest.mark.parametrize("content", ["", "{", "[1, {}]", '{"a": 1}', '[{"question": 5}]', "\0\xff"])
def test_a_damaged_file_holds_nothing_and_is_replaced(file, content):
    file.write_text(content)
    history = SearchHistory(file, kept=True)
    assert history.list() == ()
    history.note("again")
    assert questions(history) == ["again"]


def test_nothing_is_kept_when_the_settings_say_so(file):
    SearchHistory(file, kept=True).note("secret")
    history = SearchHistory(file, kept=False)
    assert history.list() == ()
    history.note("another")
    assert not file.exists()


def test_a_place_that_cannot_be_written_is_an_error_with_its_cure(tmp_path):
    history = SearchHistory(tmp_path / "gone" / "searches.json", kept=True)
    (tmp_path / "gone").write_text("a file where the folder was")
    with pytest.raises(LibraryError, match="cannot be written") as caught:
        history.note("question")
    assert "permissions" in caught.value.cure
