"""Threads in the catalog: a turn comes back as it was given, and none that was kept is lost."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from dataclasses import replace

import pytest

from ragkit.answers import (
    AnswerSentence,
    AnswerState,
    Check,
    CheckKind,
    Source,
    Thread,
    Turn,
    WrittenAnswer,
)
from ragkit.catalog import Catalog, threads
from ragkit.catalog.foreign import examine
from ragkit.catalog.salvage import salvage
from ragkit.errors import NotFoundError, ThreadError
from ragkit.results import DocumentRef

DOCUMENT = DocumentRef(
    7, "a/b.md", "Bé", "default", "pdf", 2, 3, "/x/a/b.md", metadata={"tags": ["t"], "n": 1}
)
QUOTED = Source("Thirty days.", 3, 15, DOCUMENT, ("Refunds", "Buoys"), 2)
WEB = Source("Elsewhere.", 0, 10, url="https://a.example/b", title="A page")
WRITTEN = WrittenAnswer(
    "asked?",
    "m:1b",
    AnswerState.DONE,
    (
        AnswerSentence("It is 45.", (2, 1), (Check(CheckKind.NOT_IN_SOURCE, "45"),), 1, item=True),
        AnswerSentence("Perhaps."),
    ),
    (QUOTED, WEB),
    passages_read=3,
    passages_found=4,
    dropped=1,
    seconds=1.5,
)
TURN = Turn("and faulty?", "asked?", (QUOTED,), WRITTEN, at=12.5)


def begun(catalog: Catalog, *turns: Turn) -> int:
    thread_id = catalog.threads.begin("how long?", ["default"])
    for turn in turns:
        catalog.threads.add(thread_id, turn)
    return thread_id


def questions(catalog: Catalog, thread_id: int) -> list[str]:
    return [turn.question for turn in catalog.threads.get(thread_id).turns]


def test_a_turn_comes_back_as_it_was_given(catalog, shelf):
    given = (TURN, replace(TURN, quick=(), written=None), replace(TURN, question="und für ♥?"))
    thread_id = begun(catalog, *given)
    thread = catalog.threads.get(thread_id)
    assert [replace(turn, id=0) for turn in thread.turns] == list(given)
    assert (thread.title, thread.collections) == ("how long?", ("default",))
    assert [turn.id for turn in thread.turns] == sorted({turn.id for turn in thread.turns})


def test_threads_are_listed_by_their_last_change(catalog, shelf):
    first, second = begun(catalog, TURN), begun(catalog, TURN, TURN)
    catalog.threads.begin("nothing was asked in it", [])
    assert [(one.id, one.turns) for one in catalog.threads.all()] == [(second, 2), (first, 1)]
    catalog.threads.replace(replace(catalog.threads.get(first).turns[0], written=None))
    assert [one.id for one in catalog.threads.all()] == [first, second]
    assert catalog.threads.get(first).turns[0].written is None


def test_what_is_deleted_can_be_put_back_as_it_was(catalog, shelf):
    thread_id, other = begun(catalog, TURN, TURN), begun(catalog, TURN)
    thread = catalog.threads.get(thread_id)
    catalog.threads.delete(thread_id)
    for gone in (catalog.threads.get, catalog.threads.delete):
        with pytest.raises(NotFoundError, match=f"no thread {thread_id}"):
            gone(thread_id)
    with pytest.raises(NotFoundError):
        catalog.threads.add(thread_id, TURN)
    with pytest.raises(NotFoundError, match="no longer kept"):
        catalog.threads.replace(thread.turns[0])
    catalog.threads.restore(thread)
    assert catalog.threads.get(thread_id) == thread
    assert questions(catalog, other) == [TURN.question]
    with pytest.raises(ThreadError):
        catalog.threads.restore(thread)


def test_titles_are_one_short_line(catalog, shelf):
    thread_id = begun(catalog)
    catalog.threads.rename(thread_id, f"a\x1b[31m\n b\u202e{'c' * 200}\udc80")
    title = catalog.threads.get(thread_id).title
    assert title.startswith("a[31m bccc")
    assert len(title) == threads.LONGEST_TITLE
    assert title.isprintable()
    with pytest.raises(ThreadError, match="needs a title"):
        catalog.threads.rename(thread_id, " \n\x07")


def test_what_has_no_bounds_is_refused_and_nothing_goes(catalog, shelf, monkeypatch):
    monkeypatch.setattr(threads, "MOST_TURNS", 2)
    monkeypatch.setattr(threads, "MOST_THREADS", 2)
    monkeypatch.setattr(threads, "_LARGEST_ANSWER", 5000)
    thread_id = begun(catalog, TURN, TURN)
    with pytest.raises(ThreadError, match="2 questions"):
        catalog.threads.add(thread_id, TURN)
    with pytest.raises(ThreadError, match="4000 characters"):
        catalog.threads.add(thread_id, replace(TURN, question="x" * 4001))
    with pytest.raises(ThreadError, match="too long"):
        catalog.threads.add(thread_id, replace(TURN, quick=(QUOTED,) * 50))
    begun(catalog, TURN)
    with pytest.raises(ThreadError, match="2 threads"):
        begun(catalog)
    assert [one.turns for one in catalog.threads.all()] == [1, 2]


def test_half_characters_are_stored_as_question_marks(catalog, shelf):
    odd = replace(TURN, question="a\udc80", quick=(replace(QUOTED, text="b\ud800"),))
    (turn,) = catalog.threads.get(begun(catalog, odd)).turns
    assert (turn.question, turn.quick[0].text) == ("a?", "b?")


def test_collections_keep_their_names_when_they_are_gone(catalog, shelf):
    other = catalog.collections.ensure("other")
    thread_id = catalog.threads.begin("q", ["default", "other", "never"])
    catalog.collections.rename(other.id, "another")
    assert catalog.threads.get(thread_id).collections == ("default", "another", "never")
    catalog.collections.delete(other.id)
    assert catalog.threads.get(thread_id).collections == ("default", "other", "never")


def test_all_of_very_many_collections_are_kept_as_such(catalog, shelf, monkeypatch):
    monkeypatch.setattr(threads, "MOST_APART", 2)
    for name in ("other", "third"):
        catalog.collections.ensure(name)
    thread_id = catalog.threads.begin("q", ["third", "default", "other"])
    two = catalog.threads.begin("q", ["third", "default"])
    packed = catalog.connections.column("SELECT collections FROM threads ORDER BY id", ())
    assert packed[0] == '[{"id": 0}]'
    catalog.collections.ensure("fourth")
    every = ("default", "fourth", "other", "third")
    kept = catalog.threads.get(thread_id)
    assert kept.collections == every
    assert catalog.threads.get(two).collections == ("third", "default")
    catalog.threads.delete(thread_id)
    catalog.threads.restore(kept)
    assert catalog.threads.get(thread_id).collections == every


@pytest.mark.parametrize(
    "packed",
    [
        '{"question": 3}',
        '{"model": "m"}',
        '{"question": "q", "state": "unheard"}',
        '{"question": "q", "sources": [{"text": "t", "start": "0", "end": 1}]}',
        '{"question": "q", "sentences": {"text": "t"}}',
        "no JSON",
    ],
)
def test_an_answer_that_makes_no_sense_says_so(catalog, shelf, packed):
    thread_id = begun(catalog, TURN)
    with catalog.connections.write() as connection:
        connection.execute("UPDATE turns SET written = ?", (packed,))
    (turn,) = catalog.threads.get(thread_id).turns
    assert (turn.question, turn.asked) == (TURN.question, TURN.asked)
    assert turn.written.state is AnswerState.FAILED
    assert "another version" in turn.written.failure


def test_fields_of_a_later_version_are_left_out(catalog, shelf):
    thread_id = begun(catalog, TURN)
    with catalog.connections.write() as connection:
        connection.execute("UPDATE turns SET written = json_set(written, '$.later', 'more')")
    assert catalog.threads.get(thread_id).turns[0].written == WRITTEN


ADDING = """
import sys, time
from pathlib import Path
from ragkit.answers import Turn
from ragkit.catalog import Catalog, threads
where, name = sys.argv[1], sys.argv[3]
catalog = Catalog.open_server(where) if "://" in where else Catalog.open(Path(where))
for number in range(threads.MOST_TURNS // 2):
    catalog.threads.add(int(sys.argv[2]), Turn(f"{name}{number}", name))
    print(number, flush=True)
    time.sleep(0.005)
"""
"""Adds half of what a thread holds: one of two that is killed late leaves room for the other."""


def adding(address: str, thread_id: int, name: str) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", ADDING, address, str(thread_id), name]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_processes_add_to_one_thread_and_one_killed_loses_nothing_kept(catalog, address):
    thread_id = begun(catalog)
    both = [adding(address, thread_id, name) for name in "ab"]
    said: list[list[int]] = [[], []]

    def read(which: int) -> None:
        for line in both[which].stdout:
            said[which].append(int(line))
            if len(said[which]) == 20:
                both[which].kill()

    readers = [threading.Thread(target=read, args=(which,)) for which in (0, 1)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(60)
    errors = [process.communicate()[1] for process in both]
    kept = questions(catalog, thread_id)
    for name, numbers in zip("ab", said, strict=True):
        own = [question for question in kept if question.startswith(name)]
        assert len(numbers) >= 20, errors
        assert own[: len(numbers)] == [f"{name}{number}" for number in numbers]
    assert len(kept) == len(set(kept)) <= threads.MOST_TURNS


@pytest.mark.sqlite
def test_a_copy_and_a_rescue_have_the_threads(catalog, shelf, tmp_path):
    thread_id = begun(catalog, TURN, replace(TURN, question="second"))
    thread = catalog.threads.get(thread_id)
    copy = tmp_path / "copy.sqlite"
    catalog.integrity.copy(copy)
    examine(copy)
    # A thread whose own row is lost is made anew around its turns.
    lone = begun(catalog, replace(TURN, question="alone"))
    connection = catalog.connections.get()
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("DELETE FROM threads WHERE id = ?", (lone,))
    connection.execute("PRAGMA foreign_keys = ON")
    saved = tmp_path / "saved.sqlite"
    reports = salvage(catalog.connections.file, None, saved, tmp_path)
    assert {one.name: one.saved for one in reports if one.name in ("threads", "turns")} == {
        "threads": 1,
        "turns": 3,
    }
    for file, lists in ((copy, {thread_id: 2}), (saved, {thread_id: 2, lone: 1})):
        opened = Catalog.open(file)
        assert opened.threads.get(thread_id) == thread
        assert {one.id: one.turns for one in opened.threads.all()} == lists
        opened.close()
    rescued = Catalog.open(saved)
    assert rescued.threads.get(lone).title == "alone"
    rescued.close()


@pytest.mark.sqlite
def test_a_foreign_archive_with_other_values_is_refused(catalog, shelf, tmp_path):
    begun(catalog, TURN)
    with catalog.connections.write() as connection:
        connection.execute("UPDATE turns SET quick = ?", (json.dumps({"no": "list"}),))
    copy = tmp_path / "copy.sqlite"
    catalog.integrity.copy(copy)
    with pytest.raises(Exception, match=r"turns\.quick"):
        examine(copy)


def test_a_thread_without_turns_is_swept_a_day_later(catalog, shelf):
    empty, full = begun(catalog), begun(catalog, TURN)
    with catalog.connections.write() as connection:
        connection.execute("UPDATE threads SET created_at = created_at - 90000")
    begun(catalog)
    with pytest.raises(NotFoundError):
        catalog.threads.get(empty)
    assert isinstance(catalog.threads.get(full), Thread)
