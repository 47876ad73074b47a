"""When an answer is written on the Search page, with Ollama's stand-in and without a browser."""

from __future__ import annotations

import pytest
from running import break_off, html, run
from small_library import add, write_files
from support import until

from ragkit.answers import AnswerState
from ragkit.indexing.writer import writer_lock
from ragkit.library import Library
from ragkit.library.threads import ThreadService
from ragkit.surfaces.http.writing import Writings

QUESTION = "how long may a buoy be returned"


@pytest.fixture
def filled(library, tmp_path, server, monkeypatch):
    refund = "# Refunds\n\nA buoy may be returned within 30 days.\n"
    add(library, write_files(tmp_path / "papers", {"refund.md": refund}))
    monkeypatch.setenv("RAGKIT_MODELS__OLLAMA_URL", server.url)
    return library


def until_offered(app, library):
    """Draw the page again until it has seen Ollama; a browser does so by itself."""

    def drawn() -> bool:
        with writer_lock(library.paths.lock, "test"):
            app.run()
        return "Write an answer" in html(app) or bool(library.threads.list())

    until(drawn)


def kept(library):
    """The written answers of all threads."""
    threads = [library.threads.get(one.id) for one in library.threads.list()]
    return [turn.written for thread in threads for turn in thread.turns]


def broken_off_once(monkeypatch, of, method):
    """Have the next run begin while a method runs, once; the list is empty after that."""
    original, breaks = getattr(of, method), [True]

    def call_and_break(*given, **options):
        if breaks:
            breaks.clear()
            break_off()
        return original(*given, **options)

    monkeypatch.setattr(of, method, call_and_break)
    return breaks


def test_an_answer_is_offered_and_written_only_when_it_is_asked_for(filled):
    app = run(filled, q=QUESTION)
    until_offered(app, filled)
    assert kept(filled) == []
    app.session_state["answer_wanted"] = QUESTION
    with writer_lock(filled.paths.lock, "test"):
        app.run()
    assert app.query_params["thread"] == "1"
    until(lambda: kept(filled)[0] is not None)
    [written] = kept(filled)
    assert written.state is AnswerState.DONE
    assert written.sources[0].text == "A buoy may be returned within 30 days."
    assert "Write an answer" not in html(app)


def test_an_answer_is_written_with_every_question_where_that_is_set(filled, monkeypatch):
    monkeypatch.setenv("RAGKIT_ANSWERS__WRITE", "always")
    app = run(filled, q=QUESTION)
    # Also with the first, before anybody knew that Ollama is there.
    until_offered(app, filled)
    until(lambda: [one is not None for one in kept(filled)] == [True])
    with writer_lock(filled.paths.lock, "test"):
        app.run()
        assert len(kept(filled)) == 1
        app.text_input(key="q").set_value("refunds of buoys").run()
    until(lambda: len(kept(filled)) == 2)


def test_an_answer_is_written_also_when_the_search_for_it_was_broken_off(filled, monkeypatch):
    monkeypatch.setenv("RAGKIT_ANSWERS__WRITE", "always")
    app = run(filled, q=QUESTION)
    until_offered(app, filled)
    breaks = broken_off_once(monkeypatch, Library, "search")
    with writer_lock(filled.paths.lock, "test"):
        app.text_input(key="q").set_value("refunds of buoys").run()
    assert not breaks
    assert "refunds of buoys" in [one.title for one in filled.threads.list()]
    assert filled.searches.log()[0].question == "refunds of buoys"


@pytest.mark.parametrize(
    ("of", "method"),
    [(Library, "search"), (ThreadService, "begin"), (ThreadService, "add"), (Writings, "start")],
)
def test_an_answer_that_was_asked_for_is_written_once_whatever_breaks_off(
    filled, monkeypatch, of, method
):
    app = run(filled, q=QUESTION)
    until_offered(app, filled)
    breaks = broken_off_once(monkeypatch, of, method)
    app.session_state["answer_wanted"] = QUESTION
    with writer_lock(filled.paths.lock, "test"):
        app.run()
        assert not breaks
        until(lambda: [one is not None for one in kept(filled)] == [True])
        app.run()
    assert app.query_params["thread"] == "1"
    assert "Write an answer" not in html(app)
    assert [written.state for written in kept(filled)] == [AnswerState.DONE]


def test_another_question_does_not_go_on_with_a_thread_whose_run_was_broken_off(
    filled, monkeypatch
):
    app = run(filled, q=QUESTION)
    until_offered(app, filled)
    app.session_state["answer_wanted"] = QUESTION
    add = ThreadService.add

    def add_and_ask_something_else(*given):
        stored = add(*given)
        widgets = app._tree.get_widget_states()
        box = app.text_input(key="q").proto.id
        next(one for one in widgets.widgets if one.id == box).string_value = "buoys"
        break_off(widgets)
        return stored

    monkeypatch.setattr(ThreadService, "add", add_and_ask_something_else)
    with writer_lock(filled.paths.lock, "test"):
        app.run()
    assert app.query_params["q"] == "buoys"
    assert "thread" not in app.query_params
    assert len(filled.threads.list()) == 1
