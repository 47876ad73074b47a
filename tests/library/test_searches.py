"""What was searched for: noted once for all doors, bounded, private, truly deleted."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from support import found_answer as answer
from support import note_searches as note

from ragkit.errors import LibraryError, SettingsError
from ragkit.library import search_log
from ragkit.library.search_log import Door, LoggedSearch, SearchLog, Shown
from ragkit.library.searches import LONGEST, MOST_PINNED, MOST_RECENT, MOST_SHOWN, SearchHistory
from ragkit.options import ChunkedOptions, Filters, Mode, SearchOptions
from ragkit.paths import LibraryPaths
from ragkit.results import Answer
from ragkit.retrieval.multi_query import ChunkedAnswer, ChunkedResult
from ragkit.traces import Stage, Trace
from ragkit.types import Span

OPTIONS = SearchOptions()


@pytest.fixture
def paths(tmp_path):
    return LibraryPaths(tmp_path)


@pytest.fixture
def history(paths):
    return SearchHistory(paths, allowed=True)


def questions(history):
    return [one.question for one in history.list()]


def on_disk(paths):
    files = [paths.searches, *paths.search_log.glob("*.jsonl")]
    return "".join(file.read_text() for file in files if file.exists())


# -- the log -----------------------------------------------------------------------------------


def test_a_search_is_noted_with_its_options_stages_and_what_it_showed(history, paths):
    options = replace(
        OPTIONS, mode=Mode.KEYWORD, collections=("a", "b"), filters=Filters(types=("pdf",))
    )
    found = answer(12.3456, count=MOST_SHOWN + 2, nothing_close=True)
    history.note("  travel \n costs ", found, options, door="api")
    [one] = SearchHistory(paths, allowed=True).log()
    assert one.at == pytest.approx(time.time(), abs=60)
    assert one == LoggedSearch(
        "travel costs", one.at, Door.API, {"mode": "keyword"}, ("a", "b"), "type:pdf", 12.346,
        MOST_SHOWN + 2, 7,
        tuple(Shown(n, round(0.9 - n / 100, 4), Span(10, 20)) for n in range(MOST_SHOWN)),
        (Stage("vector", 12.346, 9, MOST_SHOWN + 2),), nothing_close=True,
    )  # fmt: skip
    assert (one.in_vain, one.best) == (True, 0.9)
    [file] = paths.search_log.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(paths.search_log.stat().st_mode) == 0o700


def test_all_of_very_many_collections_are_noted_as_such(paths):
    names = tuple(f"collection {number}" for number in range(5000))
    history = SearchHistory(
        paths, allowed=True, stand_for_all=lambda asked: len(asked) == len(names)
    )
    for options in (replace(OPTIONS, collections=names), replace(OPTIONS, collections=names[:2])):
        history.note("reefs", answer(1.0), options, door="api")
    some, every = history.log()
    assert (every.collections, every.everywhere) == ((), True)
    assert (some.collections, some.everywhere) == (names[:2], False)
    assert len(on_disk(paths)) < 5000


def test_a_long_text_is_noted_by_its_beginning_with_its_own_options(history):
    found = ChunkedAnswer((), (ChunkedResult(answer(count=4).results[3], (0,)),), 4, 5, 6, Trace())
    chunked = ChunkedOptions(limit=9)
    options = replace(OPTIONS, limit=20, mode=Mode.VECTOR)
    history.note("x" * (LONGEST + 1), found, options, door=Door.PAGE, chunked=chunked)
    [one] = history.log()
    assert (one.question, one.cut) == ("x" * LONGEST, True)
    assert (one.options, one.chunked) == ({"mode": "vector", "limit": 20}, {"limit": 9})
    assert (one.results, one.documents, one.shown[0].document_id) == (1, 6, 3)
    assert history.list() == ()


def test_an_answer_that_was_still_there_is_told_apart(history):
    first, second = answer(3.0000001), answer(3.0000002)
    for found in (first, first, second):
        history.note("q", found, OPTIONS, door="api")
    assert [one.from_memory for one in history.log()] == [False, True, False]


def test_days_restrict_the_log_and_it_is_newest_first(history, monkeypatch):
    now = time.time()
    for age in (3, 0.5, 1.5):
        monkeypatch.setattr(time, "time", lambda age=age: now - age * 86400)
        note(history, f"{age}")
    monkeypatch.setattr(time, "time", lambda: now)
    assert [one.question for one in history.log()] == ["0.5", "1.5", "3"]
    assert [one.question for one in history.log(2)] == ["0.5", "1.5"]


def test_what_is_too_old_is_gone_from_the_disk(history, paths, monkeypatch):
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now - 91 * 86400)
    note(history, "old")
    monkeypatch.setattr(time, "time", lambda: now - 89 * 86400)
    note(history, "young")
    monkeypatch.setattr(time, "time", lambda: now)
    assert "old" in on_disk(paths)
    note(history, "new")
    assert '"old"' not in on_disk(paths)
    assert [one.question for one in history.log()] == ["new", "young"]


def test_programs_cannot_push_out_what_a_person_asked(history, paths, monkeypatch):
    monkeypatch.setattr(search_log, "FILE_BYTES", 2000)
    monkeypatch.setattr(search_log, "MOST_BYTES", 10_000)
    note(history, "mine")
    note(history, *(f"theirs {number}" for number in range(100)), door=Door.MCP)
    kept = [one.question for one in history.log()]
    assert kept[0] == "theirs 99"
    assert kept[-1] == "mine"
    assert 10 < len(kept) < 30
    assert kept[:-1] == [f"theirs {number}" for number in range(99, 100 - len(kept), -1)]
    programs = sum(file.stat().st_size for file in paths.search_log.glob("*programs*"))
    assert programs <= 10_000
    # Another process goes on with the last file.
    before = len(list(paths.search_log.iterdir()))
    note(SearchHistory(paths, allowed=True), "one more", door=Door.MCP)
    assert len(list(paths.search_log.iterdir())) <= before + 1
    assert history.log()[0].question == "one more"


def test_a_line_that_was_cut_off_is_lost_alone(history, paths):
    note(history, "before")
    [file] = paths.search_log.iterdir()
    with file.open("ab") as stream:
        stream.write(b'\n{"question": "half of a li')
    note(history, "after")
    for damage in (b"\0" * 50, b"\n\xff\xfe{}\n", b"\n[1]\n{}\n", b'\n{"at": "x"}\n'):
        with file.open("ab") as stream:
            stream.write(damage)
    note(history, "last")
    assert [one.question for one in history.log()] == ["last", "after", "before"]


_WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from support import note_searches as note
from ragkit.library.searches import SearchHistory
from ragkit.paths import LibraryPaths
history = SearchHistory(LibraryPaths(Path(sys.argv[1])), allowed=True)
print("ready", flush=True)
for number in range(4000 if sys.argv[2] == "endless" else 200):
    note(history, f"{sys.argv[2]} {number}")
"""


def test_several_processes_and_threads_lose_nothing_also_when_one_is_killed(history, paths):
    def start(name):
        arguments = [str(paths.root), name, str(Path(__file__).parents[1])]
        return subprocess.Popen(
            [sys.executable, "-c", _WRITER, *arguments], stdout=subprocess.PIPE, text=True
        )

    killed, other = start("endless"), start("other")
    threads = [
        threading.Thread(target=note, args=(history, *(f"{t} {n}" for n in range(100))))
        for t in ("left", "right")
    ]
    killed.stdout.readline()
    for one in threads:
        one.start()
    for one in threads:
        one.join(60)
    killed.kill()
    assert other.wait(60) == 0
    killed.wait(60)
    for process in (killed, other):
        process.stdout.close()
    kept = [one.question for one in history.log()]
    assert {f"other {n}" for n in range(200)} <= {*kept}
    assert {f"{t} {n}" for t in ("left", "right") for n in range(100)} <= {*kept}
    theirs = sum(one.startswith("endless") for one in kept)
    assert {f"endless {n}" for n in range(theirs)} <= {*kept}
    assert len(kept) == len({*kept})


def test_searches_of_many_threads_at_once_are_all_noted(history):
    before = sys.getswitchinterval()
    with ThreadPoolExecutor(8) as pool:
        sys.setswitchinterval(1e-6)
        try:
            said = [*pool.map(lambda number: history._is_noted(f"q {number}", 1.0), range(40_000))]
        finally:
            sys.setswitchinterval(before)
    assert said == [False] * 40_000
    assert history._is_noted("q 39999", 1.0) is True
    assert history._is_noted("q 0", 1.0) is False


def test_no_search_fails_for_its_log(history, paths, monkeypatch):
    paths.search_log.write_text("a file where the folder was")
    note(history, "q")
    assert history.trouble == "The last search could not be noted: Not a directory."
    paths.search_log.unlink()

    def full(descriptor, data):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        note(history, "q")
    assert history.trouble == "The last search could not be noted: No space left on device."
    note(history, "r")
    assert history.trouble == ""
    assert questions(history) == ["r"]


def test_switched_off_nothing_is_written_and_what_was_there_stays_until_cleared(history, paths):
    note(history, "before")
    history.switch(on=False)
    other = SearchHistory(paths, allowed=True)
    assert not other.kept
    held = on_disk(paths)
    note(other, "during")
    assert on_disk(paths) == held
    assert questions(other) == ["before"]
    other.clear()
    assert [file.name for file in paths.search_log.iterdir()] == ["off"]
    other.switch(on=True)
    note(history, "after")
    assert questions(history) == ["after"]


def test_nothing_is_kept_when_the_settings_say_so(history, paths):
    note(history, "secret", "pinned")
    history.pin("pinned")
    without = SearchHistory(paths, allowed=False)
    assert (without.list(), without.log(), without.kept) == ((), (), False)
    note(without, "another")
    assert on_disk(paths) == ""
    assert [*paths.search_log.iterdir()] == []
    with pytest.raises(SettingsError, match="keep no searches"):
        without.switch(on=True)


def test_cleared_and_removed_is_gone_from_the_disk(history, paths):
    note(history, "one", "two", "  ONE ", "three")
    history.pin("two")
    size = sum(file.stat().st_size for file in paths.search_log.iterdir())
    history.remove("one")
    assert '"one"' not in on_disk(paths).casefold()
    assert [one.question for one in history.log()] == ["three", "two"]
    assert sum(file.stat().st_size for file in paths.search_log.iterdir()) == size
    history.clear()
    assert questions(history) == ["two"]
    assert [*paths.search_log.iterdir()] == []
    history.remove("TWO")
    assert on_disk(paths) == ""


def test_only_files_that_changed_are_read_again(paths, monkeypatch):
    log = SearchLog(paths.search_log)
    one = LoggedSearch("q", time.time(), Door.PAGE)
    log.add(one)
    assert [*log.newest()] == [one]
    parsed = []
    monkeypatch.setattr(search_log, "_parsed", parsed.append)
    assert [*log.newest()] == [one]
    assert parsed == []


# -- recent and pinned ones --------------------------------------------------------------------


def test_the_same_search_twice_is_one_entry_and_the_newest_is_first(history):
    note(history, "refund", "Travel costs  type:pdf", "  REFUND ")
    assert questions(history) == ["REFUND", "Travel costs type:pdf"]


def test_only_what_a_person_typed_on_a_page_and_found_is_recent(history):
    note(history, "page")
    for door in Door:
        if door is not Door.PAGE:
            note(history, door.value, door=door)
    note(history, "nothing", of=answer(count=0))
    note(history, "   ")
    assert questions(history) == ["page"]
    assert len(history.log()) == len(Door) + 1


def test_how_the_last_time_went_is_said_also_of_a_pinned_search(history, paths):
    note(history, "refund", of=answer(12.34))
    history.pin("refund")
    note(history, "refund", of=answer(3.21))
    [kept] = SearchHistory(paths, allowed=True).list()
    assert kept.pinned
    assert kept.summary == "2 of 7 documents, best score 0.90, 3 ms"
    history.clear()
    assert history.list()[0].summary == ""


def test_pinned_searches_come_first_and_stay_where_they_are(history, paths):
    note(history, "a", "b", "c")
    history.pin("a")
    history.pin("b")
    assert questions(history) == ["b", "a", "c"]
    note(history, "a")
    assert questions(history) == ["b", "a", "c"]
    history.clear()
    assert questions(history) == ["b", "a"]
    history.pin("b", pinned=False)
    history.remove("a")
    assert [(one.question, one.pinned) for one in history.list()] == [("b", False)]
    assert stat.S_IMODE(paths.searches.stat().st_mode) == 0o600
    history.clear()
    assert not paths.searches.exists()


def test_no_more_than_the_newest_are_listed(history, paths):
    now = time.time()
    entries = [
        {"question": f"{number}", "at": now - 200 + number, "pinned": number % 2 == 0}
        for number in range(200)
    ]
    paths.searches.write_text(json.dumps(entries))
    note(history, "new")
    kept = history.list()
    assert sum(one.pinned for one in kept) == MOST_PINNED
    assert [one.question for one in kept if not one.pinned][:2] == ["new", "199"]
    assert len(kept) == MOST_PINNED + MOST_RECENT


def test_recent_searches_of_an_earlier_version_are_listed_until_they_are_old(history, paths):
    now = time.time()
    entries = [
        {"question": question, "at": now - age * 86400, "pinned": False, "metrics": {"ms": 1.0}}
        for question, age in (("young", 3), ("old", 91), ("again", 5))
    ]
    paths.searches.write_text(json.dumps(entries))
    note(history, "again")
    assert questions(history) == ["again", "young"]
    assert [one.summary for one in history.list()][1] == ""
    history.clear()
    assert on_disk(paths) == ""


@pytest.mark.parametrize("content", ["", "{", "[1, {}]", '{"a": 1}', '[{"question": 5}]', "\0\xff"])
def test_a_damaged_file_of_pins_holds_nothing_and_is_replaced(history, paths, content):
    paths.searches.write_text(content)
    assert history.list() == ()
    note(history, "again")
    history.pin("again")
    assert [(one.question, one.pinned) for one in history.list()] == [("again", True)]


def test_two_that_pin_at_once_lose_no_pin(history, paths):
    note(history, *(f"{name} {number}" for name in ("left", "right") for number in range(10)))

    def pin_all(name):
        own = SearchHistory(paths, allowed=True)
        for number in range(10):
            own.pin(f"{name} {number}")

    both = [threading.Thread(target=pin_all, args=(name,)) for name in ("left", "right")]
    for one in both:
        one.start()
    for one in both:
        one.join(60)
    assert sum(one.pinned for one in history.list()) == 20


def test_a_place_that_cannot_be_written_is_an_error_with_its_cure(history, paths, monkeypatch):
    note(history, "q")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("ragkit.library.searches.write_private", refuse)
    for change in (lambda: history.pin("q"), lambda: history.switch(on=False)):
        with pytest.raises(LibraryError, match=r"cannot be written: Permission denied") as caught:
            change()
        assert "permissions" in caught.value.cure


def test_noting_costs_little_more_than_writing_the_line(history, tmp_path):
    results = answer(count=10).results
    trace = Trace(tuple(Stage(f"stage {n}", 1.23456, 100, 20, "a note") for n in range(10)))
    plain = {"question": "how is it", "documents": [*range(10)],
             "stages": [[f"stage {n}", 1.23456, 100, 20, "a note"] for n in range(10)]}  # fmt: skip
    shares = []
    for turn in range(7):
        begun = time.process_time()
        for _ in range(100):
            with (tmp_path / "lines").open("a", encoding="utf-8") as lines:
                lines.write(f"{json.dumps(plain)}\n")
        written = time.process_time()
        for number in range(100):
            history.note(f"how is it {turn} {number}", Answer("q", results, trace),
                         OPTIONS, door="api")  # fmt: skip
        shares.append((time.process_time() - written) / (written - begun))
    assert min(shares) < 6
