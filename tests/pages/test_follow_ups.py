"""Questions that follow one another on the Search page, without a model and without a browser."""

from __future__ import annotations

import pytest
import streamlit as st
from running import html, run
from small_library import add, write_files

from ragkit.answers import Turn
from ragkit.indexing.writer import writer_lock
from ragkit.library import Library

FIRST = "how long may a buoy be returned"
RETURN = "A buoy may be returned within 30 days."


@pytest.fixture
def filled(library, tmp_path):
    refund = f"# Refund policy\n\n{RETURN}\n\nA faulty buoy may be returned within two years.\n"
    add(library, write_files(tmp_path / "papers", {"refund.md": refund}))
    return library


def follow(app, library: Library, words: str):
    """Ask for the box of a follow-up, and ask in it."""
    with writer_lock(library.paths.lock, "test"):
        if not any(one.key == "follow_up" for one in app.text_input):
            app.session_state["follow_up_open"] = app.session_state["q"]
            app.run()
        app.text_input(key="follow_up").set_value(words).run()
    assert not app.exception
    return html(app)


def turns(library: Library) -> list[list[tuple[str, str]]]:
    kept = [library.threads.get(one.id) for one in library.threads.list()]
    return [[(turn.question, turn.asked) for turn in thread.turns] for thread in kept]


def test_a_follow_up_is_asked_so_that_it_stands_alone_and_kept_with_its_thread(filled, monkeypatch):
    titles = []
    begin = st.set_page_config
    named = lambda **about: (titles.append(about["page_title"]), begin(**about))  # noqa: E731
    monkeypatch.setattr(st, "set_page_config", named)
    app = run(filled, q=FIRST)
    assert "Ask a follow-up" in html(app)
    said = follow(app, filled, "and faulty ones?")
    asked = app.text_input(key="q").value
    assert titles[-1] == f"{asked} · ragkit"
    assert "buoy" in asked
    assert "faulty" in asked
    assert turns(filled) == [[(FIRST, FIRST), ("and faulty ones?", asked)]]
    assert app.query_params["thread"] == "1"
    assert "Rewritten from “<bdi>and faulty ones?</bdi>”." in said
    assert f'<summary dir="auto">{FIRST}</summary>' in said
    assert "Write again" not in said
    # Loaded again, it is the same; the thread alone leads to its last question.
    again = run(filled, thread="1")
    assert again.text_input(key="q").value == asked
    assert f'<summary dir="auto">{FIRST}</summary>' in html(again)


def test_a_thread_is_opened_in_the_collections_that_it_was_asked_in(filled):
    for name in ("Boats", "Quays"):
        filled.collections.add(name)
    own = filled.threads.begin(FIRST, ["Boats"])
    everywhere = filled.threads.begin(FIRST, ["Boats", "default"])
    for thread in (own, everywhere):
        filled.threads.add(thread.id, Turn(FIRST, FIRST))
    filled.collections.rename("Boats", "Ships")
    assert run(filled, thread=str(own.id)).selectbox[0].value == "Ships"
    assert run(filled, thread=str(everywhere.id)).selectbox[0].value == "All collections"
    other = run(filled, thread=str(own.id), q=FIRST, collection="Quays")
    assert other.selectbox[0].value == "Quays"
    filled.collections.delete("Ships")
    gone = run(filled, thread=str(own.id))
    assert gone.text_input(key="q").value == FIRST
    assert "The collection &quot;Ships&quot; does not exist any more" in html(gone)


def test_a_thread_that_cannot_be_kept_lasts_as_long_as_the_tab(filled, monkeypatch):
    from ragkit.catalog import threads

    app = run(filled, q=FIRST)
    follow(app, filled, "and faulty ones?")
    monkeypatch.setattr(threads, "MOST_TURNS", 2)
    said = follow(app, filled, "and new ones?")
    assert [one.value.replace("\\", "") for one in app.toast] == [
        "Not kept: The thread has 2 questions. Begin another thread."
    ]
    assert "new" in app.text_input(key="q").value
    assert f'<summary dir="auto">{FIRST}</summary>' in said
    assert "thread" not in app.query_params
    assert len(turns(filled)[0]) == 2
    # Where none can be kept at all, the first question is as well asked on.
    monkeypatch.setattr(threads, "MOST_THREADS", 1)
    other = run(filled, q=FIRST)
    assert f'<summary dir="auto">{FIRST}</summary>' in follow(other, filled, "and faulty ones?")
    assert len(turns(filled)) == 1


def test_another_question_leaves_the_thread(filled):
    app = run(filled, q=FIRST)
    follow(app, filled, "and faulty ones?")
    with writer_lock(filled.paths.lock, "test"):
        app.text_input(key="q").set_value("refund policy").run()
    assert "thread" not in app.query_params
    assert "rk-turn" not in html(app)
    assert len(turns(filled)[0]) == 2
    gone = run(filled, q=FIRST, thread="99")
    assert "rk-card" in html(gone)
    assert "thread" not in gone.query_params


def test_threads_are_not_kept_where_searches_are_not(filled, monkeypatch):
    monkeypatch.setenv("RAGKIT_SEARCH_HISTORY", "false")
    app = run(filled, q=FIRST)
    said = follow(app, filled, "and faulty ones?")
    assert f'<summary dir="auto">{FIRST}</summary>' in said
    assert "thread" not in app.query_params
    assert turns(filled) == []
