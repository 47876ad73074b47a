"""Every page for everybody: axe in both themes, targets to hit, and a walk by keyboard alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from axe import AXE, COLOURS, EVERYTHING, broken
from playwright.sync_api import expect

from ragkit.library import Library
from ragkit.settings import load_settings

DARK = "rgb(22, 24, 27)"


def open_filters(page):
    page.get_by_role("button", name="Filters").click()
    page.get_by_test_id("stPopoverBody").wait_for()


def ask_conversation(page):
    page.get_by_label("Conversation or long text").fill(
        "Priya: how do we refund a buoy?\n\nRui: ask Jonas.\n\nPriya: who keeps the OAuth tokens?"
    )
    page.get_by_role("button", name="Find related documents").click()
    page.locator(".rk-compact").first.wait_for()


def open_search(page):
    page.evaluate("ragkitAddress.go('/searches')")
    page.locator(".rk-searches a[aria-expanded=false]").first.click()
    page.locator(".rk-search-details").wait_for()


@dataclass(frozen=True)
class State:
    """A state of a page: its address, what is there when it is drawn, and what is done in it."""

    path: str
    shows: str
    act: Callable[[Any], None] = lambda _: None


STATES = {
    "home": State("", "[data-testid=stTextInput]"),
    "results": State("?q=OAuth+rule", ".rk-card"),
    "filters": State("?q=OAuth+rule", ".rk-card", open_filters),
    "nothing found": State("?q=type:docx+refund", "[data-testid=stTextInput]"),
    "library": State("library", "[data-testid=stFileUploader]"),
    "document": State("document?id={security}&chunk=3&find=OAuth", ".rk-doc-head"),
    "pdf": State("document?id={drift}&chunk=1&find=sensor", ".rk-sheet > img"),
    "error": State("document?id=99999", "[role=alert]"),
    "compare": State("compare?q=OAuth&c=mode:keyword&c=mode:vector", ".rk-item"),
    "conversation": State("conversation", "textarea", ask_conversation),
    "evaluate": State("evaluate", "h1"),
    "health": State("health", ".rk-severity"),
    "searches": State("?q=OAuth+rule", ".rk-card", open_search),
}


@pytest.fixture(scope="module")
def served(shared):
    return shared.get(new=False)


@pytest.fixture(scope="module")
def ids(served):
    with Library.open(load_settings(library=served.library)) as library:
        found = {record.path: record.id for record in library.documents.list()}
    return {"security": found["handbook/security.md"], "drift": found["archive/drift-report.pdf"]}


@pytest.fixture(scope="module")
def show(browser, served, ids):
    """Bring a state into a tab that all these tests share; return its page."""
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()

    def show_(state):
        page.goto(f"{served.url}/{state.path.format(**ids)}")
        page.locator("html[data-ragkit-listens]").wait_for(state="attached")
        page.locator(state.shows).first.wait_for()
        state.act(page)
        page.locator("[data-test-script-state=notRunning]").wait_for(state="attached")
        return page

    yield show_
    page.context.close()


@pytest.mark.parametrize("name", STATES)
def test_axe_finds_nothing_in_either_theme(show, name):
    page = show(STATES[name])
    # A colour on its way from one theme to the other belongs to neither, and what is about to be
    # drawn anew is pale.
    page.add_style_tag(
        content="* { transition: none !important } [data-stale=true] { opacity: 1 !important }"
    )
    page.evaluate(AXE)
    assert broken(page, EVERYTHING) == []
    page.emulate_media(color_scheme="dark")
    try:
        expect(page.locator(".stApp")).to_have_css("background-color", DARK)
        assert broken(page, COLOURS) == []
    finally:
        page.emulate_media(color_scheme="light")


def test_on_a_phone_the_first_result_is_in_sight_and_all_can_be_hit(show):
    page = show(STATES["home"])
    page.set_viewport_size({"width": 400, "height": 800})
    try:
        show(STATES["results"])
        title = page.locator(".rk-card .rk-link").first.bounding_box()
        assert title["y"] + title["height"] < 800
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        page.evaluate(AXE)
        assert broken(page, {"runOnly": ["target-size"]}) == []
    finally:
        page.set_viewport_size({"width": 1280, "height": 800})


def test_a_walk_by_keyboard_alone(show):
    page = show(STATES["home"])
    expect(page.get_by_label("Search your documents")).to_be_focused()
    page.keyboard.type("harbour boat shed")
    page.keyboard.press("Enter")
    link = page.locator('.rk-card[data-path="notes/harbour.txt"] .rk-link').first
    link.wait_for()
    tabbed_to(page, link)
    ring = link.evaluate("e => getComputedStyle(e).outlineStyle + getComputedStyle(e).boxShadow")
    assert ring != "nonenone"
    page.keyboard.press("Enter")
    back = page.get_by_role("link", name="Back to the results")
    back.wait_for()
    expect(page.locator(".rk-doc-head")).to_contain_text("harbour")
    tabbed_to(page, back)
    page.keyboard.press("Enter")
    expect(page.get_by_label("Search your documents")).to_have_value("harbour boat shed")
    link.wait_for()


def tabbed_to(page, target):
    """Press Tab until an element has the focus."""
    for _ in range(60):
        if target.evaluate("e => e === document.activeElement"):
            return
        page.keyboard.press("Tab")
    pytest.fail("the keyboard does not reach it")
