"""Addresses, the history of the browser and the keys of every page, in a real browser."""

from __future__ import annotations

import re

from playwright.sync_api import expect
from support import until

TOP = "document.querySelector('[data-testid=stMain]').scrollTop"


def search(page, text):
    box = page.get_by_label("Search your documents")
    box.fill(text)
    box.press("Enter")
    expect(page).to_have_title(f"{text} · ragkit")


def expect_question(page, text):
    expect(page.get_by_label("Search your documents")).to_have_value(text)


def test_each_search_is_an_entry_of_the_history(open_page):
    page = open_page()
    expect(page.get_by_label("Search your documents")).to_be_focused()
    for text in ("refund", "harbour keys", "OAuth scopes"):
        search(page, text)
    expect(page).to_have_title("OAuth scopes · ragkit")
    page.go_back()
    expect_question(page, "harbour keys")
    page.go_back()
    expect_question(page, "refund")
    expect(page.locator(".rk-card").first).to_contain_text("Refund policy")
    page.go_forward()
    expect_question(page, "harbour keys")
    expect(page.locator(".rk-card").first).to_contain_text("boat shed")
    expect(page).to_have_title("harbour keys · ragkit")


def test_the_drawer_closes_when_a_page_is_chosen_and_a_load_begins_without_it(open_page):
    page = open_page(width=400, height=800)
    drawer = page.get_by_test_id("stSidebar")
    opener = page.get_by_test_id("stExpandSidebarButton")

    def open_drawer():
        opener.click()
        expect(drawer).to_be_in_viewport()

    open_drawer()
    drawer.get_by_role("link", name="Library").click()
    expect(page).to_have_title("Library · ragkit")
    expect(drawer).not_to_be_in_viewport()
    open_drawer()
    page.keyboard.press("Escape")
    expect(drawer).not_to_be_in_viewport()
    expect(opener).to_be_focused()
    open_drawer()
    page.reload()
    page.locator("html[data-ragkit-listens]").wait_for(state="attached")
    expect(opener).to_be_visible()
    expect(drawer).not_to_be_in_viewport()


def test_a_question_searched_for_as_typed_is_the_only_one(open_page):
    page = open_page("?q=refnd+polcy")
    page.get_by_role("button", name="Search for refnd polcy").click()
    expect(page.get_by_text("Nothing here is close.")).to_be_visible()
    expect(page.get_by_role("button", name="refund policy", exact=True)).to_be_visible()
    assert page.url.endswith("/?q=refnd+polcy&as_typed=refnd+polcy")
    search(page, "harbuor")
    expect(page.get_by_text("Also searched: harbour for harbuor.")).to_be_visible()
    assert page.url.endswith("/?q=harbuor")
    page.go_back()
    expect_question(page, "refnd polcy")
    expect(page.get_by_text("Nothing here is close.")).to_be_visible()
    page.go_back()
    expect(page.get_by_text("Also searched: refund for refnd, policy for polcy.")).to_be_visible()


def test_what_was_read_as_a_filter_is_searched_as_words_after_a_click(open_page):
    page = open_page("?q=PDFs+about+drift")
    page.get_by_role("button", name="Search for PDFs about as words").click()
    expect(page.locator(".rk-card").nth(2)).to_be_attached()
    expect(page.get_by_text("read as type:pdf")).to_have_count(0)
    assert page.url.endswith("&as_typed=PDFs+about+drift")
    page.go_back()
    expect(page.get_by_text("read as type:pdf")).to_be_visible()
    expect(page.locator(".rk-card")).to_have_count(1)


def test_back_from_a_document_returns_to_the_place_in_the_results(open_page):
    page = open_page("?q=rule&limit=12&per_document=0")
    card = page.locator(".rk-card").nth(6)
    page.locator(".rk-weaker > summary").click()
    card.wait_for()
    for leave in (page.go_back, page.get_by_role("link", name="Back to the results").click):
        page.locator("[data-test-script-state=notRunning]").wait_for(state="attached")
        card.scroll_into_view_if_needed()
        card.locator(".rk-title a").hover()
        before = page.evaluate(TOP)
        title = card.locator(".rk-title a").inner_text()
        card.locator(".rk-title a").click()
        expect(page.get_by_role("heading", name=title, level=1)).to_be_visible()
        expect(page).to_have_title(f"{title} · ragkit")
        leave()
        expect_question(page, "rule")
        card.wait_for()
        until(lambda place=before: page.evaluate(TOP) == place)
        assert before > 100
        assert page.url.endswith("/?q=rule&limit=12&per_document=0")


def test_an_address_holds_mode_and_options_for_another_window(open_page):
    page = open_page("?q=OAuth")
    page.get_by_role("button", name="Options").click()
    page.locator(".st-key-option_per_document label").click()
    expect(page).to_have_url(re.compile("per_document=0"))
    page.keyboard.press("Escape")
    page.get_by_role("combobox", name="Search mode").click()
    page.get_by_role("option", name="Keyword").click()
    expect(page).to_have_url(re.compile("mode=keyword"))
    # One of each document, there would be one; by meaning, ten.
    expect(page.locator(".rk-card")).to_have_count(3)
    page.reload()
    for shown in (page, open_page(page.url.split("/", 3)[3])):
        expect_question(shown, "OAuth")
        expect(shown.get_by_role("combobox", name="Search mode")).to_have_value("Keyword")
        expect(shown.locator(".rk-card")).to_have_count(3)
    page.go_back()
    expect(page).not_to_have_url(re.compile("mode="))
    expect(page.get_by_role("combobox", name="Search mode")).to_have_value("Hybrid")
    expect(page.locator(".rk-card").nth(3)).to_be_attached()


def test_pages_are_entries_and_the_name_of_the_page_begins_anew(open_page):
    page = open_page("?q=refund")
    page.locator(".rk-card").first.wait_for()
    # The box has it only when it is empty.
    expect(page.get_by_label("Search your documents")).not_to_be_focused()
    page.get_by_role("link", name="Compare", exact=True).click()
    expect(page).to_have_url(re.compile(r"/compare\?q=refund$"))
    page.go_back()
    expect_question(page, "refund")
    page.get_by_role("link", name="Search", exact=True).click()
    expect_question(page, "")
    expect(page).to_have_title("ragkit")
    page.go_back()
    expect_question(page, "refund")


def test_what_an_address_says_wrongly_is_left_out_with_a_notice(open_page):
    page = open_page("?q=refund&mode=loud")
    expect(page.get_by_text('The address says "mode=loud"')).to_be_visible()
    expect(page.locator(".rk-card").first).to_contain_text("Refund policy")
    expect(page).not_to_have_url(re.compile("loud"))


def test_keys_lead_to_the_box_from_every_page(open_page):
    page = open_page("health")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(keys).to_contain_text("Next and previous result")
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    page.keyboard.press("Control+k")
    box = page.get_by_label("Search your documents")
    expect(box).to_be_focused()
    page.keyboard.type("refund?")
    page.keyboard.press("Enter")
    expect(page).to_have_title("refund? · ragkit")
    expect(keys).to_be_hidden()
    page.get_by_role("button", name="Filters").click()
    expect(page.get_by_role("button", name=re.compile(r"^pdf 1$"))).to_be_visible()
    page.keyboard.press("Escape")
    for place in (".rk-score", ".rk-link"):
        page.locator(place).first.focus()
        page.keyboard.press("/")
        expect(box).to_be_focused()


def test_nothing_moves_while_a_shared_address_is_drawn(open_page):
    page = open_page("?q=refund")
    page.locator(".rk-card").first.wait_for()
    moved = page.evaluate(
        """() => new Promise((done) => new PerformanceObserver((list) => done(
            list.getEntries().reduce((sum, each) => sum + each.value, 0)
        )).observe({ type: "layout-shift", buffered: true }) ?? setTimeout(() => done(0), 500))"""
    )
    # Shown bit by bit, as Streamlit loads it, it was 0.5.
    assert moved <= 0.1


def test_a_page_that_streamlit_stopped_drawing_is_loaded_again(browser, served):
    page = browser.new_context().new_page()
    page.goto(f"{served.url}/?q=OAuth")
    page.locator(".rk-card").first.wait_for()
    breaks = """() => {
      window.before = true;
      setTimeout(() => { throw new Error("Bad delta path index 2 (should be between [0, 1])"); });
      return new Promise((resolve) => setTimeout(() => resolve(window.before), 300));
    }"""
    with page.expect_navigation():
        page.evaluate(f"() => {{ ({breaks})(); }}")
    page.locator(".rk-card").first.wait_for()
    assert page.url == f"{served.url}/?q=OAuth"
    # Not once more at once, should it be of no use.
    assert page.evaluate(breaks) is True
    page.context.close()


def test_a_page_that_shows_nothing_is_loaded_again(browser, served):
    page = browser.new_context().new_page()
    page.goto(f"{served.url}/health")
    page.get_by_role("heading", name="Health", level=1).wait_for()
    page.locator("html[data-ragkit-listens]").wait_for(state="attached")
    with page.expect_navigation():
        page.evaluate("document.querySelector('.st-key-page-wide').remove()")
    page.get_by_role("heading", name="Health", level=1).wait_for()
    page.context.close()


def test_a_click_on_the_page_that_is_left_does_not_lead_back_to_it(browser, served):
    page = browser.new_context().new_page()
    held, sent = [], []
    holds = False

    def pass_on(socket):
        def to_page(message):
            held.append(message) if holds else socket.send(message)

        def to_server(message):
            sent.append(message)
            server.send(message)

        server = socket.connect_to_server()
        server.on_message(to_page)
        socket.on_message(to_server)

    page.route_web_socket("**/_stcore/stream", pass_on)
    page.goto(f"{served.url}/?q=OAuth")
    page.locator(".rk-card").first.wait_for()
    search(page, "refund")
    page.locator("[data-test-script-state=notRunning]").wait_for(state="attached")
    holds = True
    page.go_back()
    until(lambda: page.evaluate("window.ragkitAddress.coming"))
    page.get_by_role("button", name="Newest first").click()
    page.wait_for_timeout(300)
    assert not any(b"actions__events" in message for message in sent)
    page.context.close()


def test_an_order_chosen_by_hand_wins_over_the_words_and_stays_in_the_history(open_page):
    page = open_page("?q=oldest%20notes%20about%20drift")
    pressed = page.locator(".rk-sort [aria-pressed=true]")
    expect(pressed).to_have_text("Oldest first")
    page.get_by_role("button", name="Relevance", exact=True).click()
    expect(pressed).to_have_text("Relevance")
    page.reload()
    expect(pressed).to_have_text("Relevance")
    page.go_back()
    expect(pressed).to_have_text("Oldest first")
    page.go_forward()
    expect(pressed).to_have_text("Relevance")
    page.get_by_role("button", name="Oldest first").click()
    expect(pressed).to_have_text("Oldest first")
    expect(page).to_have_url(re.compile(r"q=oldest\+notes\+about\+drift$"))
