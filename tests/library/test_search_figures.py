"""Figures of the log of searches."""

from __future__ import annotations

from ragkit.library.search_figures import SearchFigures, figures, repeated, slowest
from ragkit.library.search_log import Door, LoggedSearch


def search(question, at, ms=10.0, results=3, **more):
    return LoggedSearch(question, at, Door.PAGE, ms=ms, results=results, **more)


def test_times_are_of_answers_that_were_made_and_all_count_that_found_nothing():
    found = [search("q", n, ms=float(n + 1)) for n in range(100)]
    found += [search("q", 200, ms=5000.0, from_memory=True), search("q", 201, 50.5, results=0),
              search("q", 202, 50.5, nothing_close=True)]  # fmt: skip
    assert figures(found) == SearchFigures(103, 2, 50.5, 95.0)
    assert figures([]) == SearchFigures(0, 0, None, None)
    assert figures([search("q", 1, from_memory=True)]) == SearchFigures(1, 0, None, None)
    assert [one.ms for one in slowest(found)][:2] == [100.0, 99.0]


def test_questions_come_again_also_in_other_letters():
    found = [search("Refund ", 1, 4.0), search("refund", 2, 8.0), search("once", 9),
             search("b", 3, from_memory=True), search("B", 4, from_memory=True),
             search("c", 5), search("c", 6), search("C", 7)]  # fmt: skip
    told = [(one.last.question, one.last.at, one.times, one.median_ms) for one in repeated(found)]
    assert told == [("C", 7, 3, 10.0), ("B", 4, 2, None), ("refund", 2, 2, 6.0)]
