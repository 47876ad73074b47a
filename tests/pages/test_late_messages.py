"""Messages that the browser sent before it had drawn what a page had put into its boxes."""

from __future__ import annotations

import pytest
import streamlit as st
from running import again, break_off, click, clicked, run
from small_library import add, write_files
from streamlit.runtime.state.query_params_proxy import QueryParamsProxy
from streamlit.testing.v1 import AppTest

from pages.parts.common import address, browser
from ragkit.library import Library

FIRST = "how long may a buoy be returned"
FOLLOW_UP = "and faulty ones?"


@pytest.fixture
def filled(library, tmp_path):
    refund = "A buoy may be returned within 30 days, a faulty buoy within two years.\n"
    files = {"refund.md": f"# Refund policy\n\n{refund}", "notes/keys.txt": "Keys."}
    add(library, write_files(tmp_path / "papers", files))
    return library


@pytest.fixture
def back(monkeypatch):
    """Says that Back or Forward led to the runs that follow, or no longer."""

    def says(went: bool) -> None:
        monkeypatch.setattr(browser, "went_back", lambda: went)

    return says


@pytest.fixture
def pass_time(monkeypatch):
    """Lets the time pass that an address may be on its way."""

    def passes() -> None:
        later = address.time.monotonic() + 3600
        monkeypatch.setattr(address.time, "monotonic", lambda: later)

    return passes


def late(app: AppTest, **query: str) -> AppTest:
    """The browser is still at this address, with its question in the box."""
    app.query_params.clear()
    for name, value in query.items():
        app.query_params[name] = value
    app.text_input(key="q").set_value(query["q"])
    return app


def question(app: AppTest) -> str:
    return str(app.text_input(key="q").value)


def test_filters_that_are_chosen_one_right_after_the_other_all_hold(filled: Library):
    app = run(filled, q="buoy")
    click(filled, app, rk="filter", token="type:md")
    assert question(app) == "buoy type:md"
    click(filled, late(app, q="buoy"), rk="filter", token="path:papers/")
    assert question(app) == "buoy type:md path:papers/"
    assert dict(app.query_params) == {"q": "buoy type:md path:papers/"}
    # The browser takes over an address before it draws the box that came with it.
    query = dict(app.query_params)
    app.text_input(key="q").set_value("buoy type:md")
    click(filled, app, rk="filter", token="lang:en")
    assert query == {"q": "buoy type:md path:papers/"}
    assert question(app) == "buoy type:md path:papers/ lang:en"


def test_who_types_the_question_before_again_asks_it(filled: Library, pass_time):
    app = run(filled, q="buoy")
    click(filled, app, rk="filter", token="type:md")
    pass_time()
    app.text_input(key="q").set_value("buoy")
    assert question(again(filled, app)) == "buoy"
    # It is not what was put there that comes back from another page either.
    click(filled, app, rk="filter", token="type:md")
    app.query_params["q"] = "keys"
    again(filled, app)
    app.text_input(key="q").set_value("buoy")
    assert question(again(filled, app)) == "buoy"


def test_a_question_that_is_asked_while_a_follow_up_is_read_is_the_next_one(filled: Library):
    app = run(filled, q=FIRST)
    app.session_state["follow_up_open"] = FIRST
    again(filled, app)
    app.text_input(key="follow_up").set_value(FOLLOW_UP)
    assert "faulty" in question(again(filled, app))
    # What the browser sent meanwhile still has the follow-up in its box.
    late(app, q=FIRST).text_input(key="q").set_value("keys")
    app.text_input(key="follow_up").set_value(FOLLOW_UP)
    assert question(again(filled, app)) == "keys"
    assert app.text_input(key="q").proto.set_value
    [thread] = filled.threads.list()
    assert thread.turns == 2


def test_who_goes_back_while_a_follow_up_is_read_no_longer_asks_it(filled: Library, back):
    app = run(filled, q="keys")
    app.text_input(key="q").set_value(FIRST)
    app.session_state["follow_up_open"] = FIRST
    again(filled, app)
    back(True)
    late(app, q="keys").text_input(key="follow_up").set_value(FOLLOW_UP)
    assert question(again(filled, app)) == "keys"
    assert filled.threads.list() == []


def test_a_question_that_is_asked_right_after_back_stays_in_the_box(filled: Library, back):
    app = run(filled, q="keys")
    app.text_input(key="q").set_value("buoy")
    again(filled, app)
    back(True)
    app.query_params["q"] = "keys"
    again(filled, app)
    back(False)
    # The browser has yet to draw the question that Back led to.
    app.text_input(key="q").set_value("refund")
    assert question(again(filled, app)) == "refund"
    assert app.text_input(key="q").proto.set_value


def test_forward_right_after_back_leads_on(filled: Library, back, pass_time):
    app = run(filled, q="keys")
    app.text_input(key="q").set_value("buoy")
    again(filled, app)
    pass_time()
    back(True)
    app.query_params["q"] = "keys"
    assert question(again(filled, app)) == "keys"
    # Streamlit forgets that it was Forward when a part of the page asks for news with it.
    back(False)
    app.query_params["q"] = "buoy"
    assert question(again(filled, app)) == "buoy"


def test_back_wins_over_an_address_that_is_still_on_its_way(
    filled: Library, back, pass_time, monkeypatch
):
    app = run(filled, q="keys")
    written = []
    from_dict = QueryParamsProxy.from_dict
    monkeypatch.setattr(
        QueryParamsProxy,
        "from_dict",
        lambda self, values: (written.append(values), from_dict(self, values)),
    )
    app.text_input(key="q").set_value("buoy")
    again(filled, app)
    assert written == [{"q": ["buoy"]}]
    back(True)
    app.query_params["q"] = "keys"
    again(filled, app)
    assert written[1:] == [{"q": ["keys"]}]
    # What has arrived is not written again: it would only come in the way of the next Back.
    pass_time()
    app.query_params["q"] = "buoy"
    assert question(again(filled, app)) == "buoy"
    assert written[2:] == []


def test_a_click_holds_that_breaks_off_the_run_of_back(
    filled: Library, back, pass_time, monkeypatch
):
    app = run(filled, q="buoy", sort="newest")
    click(filled, app, rk="option", name="sort", value="auto")
    assert dict(app.query_params) == {"q": "buoy"}
    pass_time()
    clicks = [clicked(app, rk="option", name="sort", value="oldest")]
    begin = st.set_page_config

    def begin_and_click(**about):
        begin(**about)
        if clicks:
            back(False)
            break_off(clicks.pop())

    monkeypatch.setattr(st, "set_page_config", begin_and_click)
    back(True)
    app.query_params["sort"] = "newest"
    again(filled, app)
    assert dict(app.query_params) == {"q": "buoy", "sort": "oldest"}
