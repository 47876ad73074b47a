"""The Search page with an empty box: recent and pinned searches, new documents, examples."""

from __future__ import annotations

from io import BytesIO
from unittest.mock import patch

from running import html, run
from support import note_searches

from pages.parts.search import home
from pages.parts.search.thread_list import threads_list
from ragkit.answers import Thread, ThreadSummary
from ragkit.indexing.writer import writer_lock
from ragkit.library.names import NamedDocument
from ragkit.library.search_log import Door
from ragkit.library.searches import PastSearch
from ragkit.options import Fusion


def searched(app, library, question):
    """Type a question; the library's lock is held, so that no worker is started."""
    with writer_lock(library.paths.lock, "test"):
        app.text_input(key="q").set_value(question).run()


def questions(library):
    return [one.question for one in library.searches.list()]


def test_a_search_is_noted_once_its_results_are_drawn(filled):
    app = run(filled)
    assert "Coral reefs" in html(app)
    assert "They stay on this machine" in html(app)
    searched(app, filled, "warm reefs")
    searched(app, filled, "slow corals")
    assert questions(filled) == ["slow corals", "warm reefs"]
    searched(app, filled, "warm type:nothing-of-this-kind")
    assert questions(filled) == ["slow corals", "warm reefs"]
    searched(app, filled, "warm reefs")
    assert questions(filled) == ["warm reefs", "slow corals"]
    searched(app, filled, "")
    assert 'data-question="slow corals"' in html(app)


def test_an_address_with_a_search_leaves_the_order_as_it_is(filled):
    note_searches(filled.searches, "warm reefs", "slow corals")
    run(filled, q="warm reefs")
    assert questions(filled) == ["slow corals", "warm reefs"]
    run(filled, q="reefs in water")
    assert questions(filled)[0] == "reefs in water"


def test_searches_are_pinned_removed_and_cleared(library):
    note_searches(library.searches, "a", "b", "c")
    assert home.act(library, {"rk": "pin", "question": "a"})
    assert home.act(library, {"rk": "forget", "question": "c"})
    assert questions(library) == ["a", "b"]
    assert home.act(library, {"rk": "clear"})
    assert questions(library) == ["a"]
    assert home.act(library, {"rk": "unpin", "question": "a"})
    assert not library.searches.list()[0].pinned
    assert not home.act(library, {"rk": "open", "id": "1"})


def test_a_search_that_cannot_be_noted_is_drawn_all_the_same(filled):
    app = run(filled)
    with patch("ragkit.library.search_log._append", side_effect=OSError(28, "No space left")):
        searched(app, filled, "warm reefs")
    assert "Coral reefs" in html(app)
    assert 'role="alert"' not in html(app)
    assert filled.searches.log() == ()


def test_an_option_that_is_changed_is_another_search_and_drawing_again_is_none(filled):
    app = run(filled)
    searched(app, filled, "warm reefs")
    with writer_lock(filled.paths.lock, "test"):
        app.run()
    assert len(filled.searches.log()) == 1
    searched(app, filled, "warm type:nothing-of-this-kind")
    with writer_lock(filled.paths.lock, "test"):
        app.session_state["option_fusion"] = Fusion.RRF
        app.run()
    noted = [(one.question, one.options, one.door, one.in_vain) for one in filled.searches.log()]
    assert noted == [
        ("warm type:nothing-of-this-kind", {"fusion": "rrf"}, Door.PAGE, True),
        ("warm type:nothing-of-this-kind", {}, Door.PAGE, True),
        ("warm reefs", {}, Door.PAGE, False),
    ]


def test_what_a_click_makes_of_a_search_is_noted_and_not_recent(filled):
    app = run(filled)
    searched(app, filled, "warm reefs")
    with writer_lock(filled.paths.lock, "test"):
        app.session_state["q"] = "warm reefs type:md"
        app.run()
        app.run()
    assert [(one.question, one.typed) for one in filled.searches.log()] == [
        ("warm reefs type:md", False), ("warm reefs", True),
    ]  # fmt: skip
    for question in ("warm reefs type:md", "warm reefs"):
        run(filled, q=question)
    assert len(filled.searches.log()) == 2
    assert questions(filled) == ["warm reefs"]


def test_adding_a_folder_is_what_to_do_next_only_while_there_is_none(filled):
    said = html(run(filled))
    assert "rk-home-add" not in said
    assert ">Add a folder</button>" in said
    filled.sources.remove(filled.sources.list()[0].id)
    source = filled.sources.uploads()
    filled.uploads.add("reefs.md", BytesIO(b"# Coral reefs"), "default")
    filled.jobs.wait(filled.sources.sync(source))
    assert "rk-home-add" in html(run(filled))


def test_the_place_of_the_examples_says_that_they_are_looked_for():
    assert "Looking for questions" in home._examples(None)
    assert home._examples(()) == ""
    assert home._examples(("Why <now>?",)).count("<li>") == 1


def test_searches_are_text_and_nothing_else():
    evil = '"><img src=x onerror=alert(1)>'
    drawn = home.searches_list([PastSearch(evil, 1.0), PastSearch("kept", 2.0, True)])
    drawn += home.documents_list([NamedDocument(3, "default", evil, evil, 0.0, 1)])
    assert "<img" not in drawn
    assert drawn.count('data-rk="pin"') == drawn.count('data-rk="unpin"') == 1
    assert 'aria-label="Unpin: kept"' in drawn


def test_nothing_is_said_of_searches_when_none_are_kept():
    assert home.searches_list((), kept=False) == ""
    assert 'data-rk="clear"' not in home.searches_list([PastSearch("kept", 2.0, True)])


def test_threads_are_listed_with_their_tools_and_what_was_deleted_can_be_had_back():
    assert threads_list(()) == ""
    one = ThreadSummary(5, "<b>Refunds</b>", 2, 0.0, 0.0)
    shown = threads_list((one,), Thread(6, "Gone <i>", ("default",)))
    assert 'href="./?thread=5"' in shown
    assert 'href="/_ragkit/threads/5.md"' in shown
    assert "2 questions" in shown
    assert "Deleted “<bdi>Gone &lt;i&gt;</bdi>”." in shown
    assert "<b>" not in shown
