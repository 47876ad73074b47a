"""When an answer is written on the Search page, with Ollama's stand-in and without a browser."""

from __future__ import annotations

import pytest
from running import html, run
from small_library import add, write_files
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from support import until

from ragkit.answers import AnswerState
from ragkit.indexing.writer import writer_lock
from ragkit.library import Library

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
    search, breaks = Library.search, [True]

    def search_and_break(*asked, **options):
        if breaks:
            breaks.clear()
            context = get_script_run_ctx()
            again = RerunData(context.query_string, page_script_hash=context.page_script_hash)
            context.script_requests.request_rerun(again)
        return search(*asked, **options)

    monkeypatch.setattr(Library, "search", search_and_break)
    with writer_lock(filled.paths.lock, "test"):
        app.text_input(key="q").set_value("refunds of buoys").run()
    assert not breaks
    assert "refunds of buoys" in [one.title for one in filled.threads.list()]
    assert filled.searches.log()[0].question == "refunds of buoys"
