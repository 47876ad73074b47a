"""Searching in a real browser."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect


def search(page, text):
    box = page.get_by_label("Search your documents")
    box.fill(text)
    box.press("Enter")
    page.locator(".rk-summary, .rk-state").first.wait_for()


def first_card(page):
    card = page.locator(".rk-card").first
    card.wait_for()
    return card


def details(card):
    card.hover()
    card.locator(".rk-about > summary").click()


def test_less_related_results_stay_unfolded_over_back_and_reload(open_page):
    page = open_page("?q=zanderfoil")
    fold = page.locator(".rk-weaker")
    count = page.locator(".rk-card").count()
    expect(page.locator(".rk-card").first).to_contain_text("Drift report")
    expect(fold.locator("> summary")).to_have_text(f"Less related ({count - 1})")
    hidden = fold.locator(".rk-card").first
    expect(hidden).to_be_hidden()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("#rk-result-0")).to_be_focused()
    fold.locator("> summary").focus()
    page.keyboard.press("Enter")
    expect(hidden).to_be_visible()
    hidden.locator(".rk-title a").click()
    expect(page).to_have_url(re.compile("/document"))
    page.go_back()
    expect(hidden).to_be_visible()
    page.reload()
    expect(hidden).to_be_visible()
    search(page, "glacier")
    expect(page.locator(".rk-weaker[open]")).to_have_count(0)


def test_words_japanese_and_identifiers_find_the_cards_of_their_documents(open_page):
    page = open_page()
    search(page, "refund")
    card = first_card(page)
    expect(card.locator(".rk-title")).to_have_text("Refund policy")
    expect(card.locator(".rk-path")).to_have_text("handbook/refund-policy.md")
    expect(card.locator("mark").first).to_have_text(re.compile("refund", re.I))
    expect(card.locator(".rk-coverage")).to_have_text("chunk 1 of 1")
    assert "q=refund" in page.url
    for question, path in (
        ("水温センサーの校正", "notes/kaiyo.md"),
        ("decode_settings", "code/decoder.py"),
    ):
        search(page, question)
        expect(card.locator(".rk-path")).to_have_text(path)
        expect(card.locator("mark").first).to_be_visible()


def test_the_first_result_is_in_sight_controls_are_few_and_scores_are_explained(open_page, served):
    page = open_page("?q=refund")
    expect(page.get_by_label("Search your documents")).to_have_value("refund")
    box = first_card(page).locator(".rk-excerpt").first.bounding_box()
    assert box["y"] + box["height"] < 720
    controls = page.locator(
        ".st-key-page-narrow :is(input[type=search], [role=combobox], [role=switch], "
        "input[type=checkbox], [data-testid=stPopoverButton])"
    )
    expect(controls).to_have_count(4)  # five with a choice of collections
    card = first_card(page)
    details(card)
    line = card.locator(".rk-why li").first
    expect(line).to_contain_text("semantic rank")
    expect(line).to_contain_text("keyword rank")
    score = card.locator(".rk-score").inner_text()
    expect(line).to_contain_text(f"= {score}")
    parts = re.findall(r"(\d\.\d\d) × (\d\.\d\d)", line.inner_text())
    assert sum(float(a) * float(b) for a, b in parts) == pytest.approx(float(score), abs=0.02)
    expect(page.locator(".rk-stages")).to_be_hidden()
    page.locator(".rk-ask").click()
    expect(page.locator(".rk-stages")).to_contain_text("fusion")
    expect(page.locator(".rk-metrics")).to_contain_text("both indexes")
    expect(page.locator(".rk-spread").first).to_be_visible()
    log = (served.library / "logs" / "pages.log").read_text("utf-8")
    assert "INFO search: " in log
    assert "; found by " in log
    page.get_by_role("button", name="Ask a follow-up").click()
    expect(page.get_by_role("textbox", name="Ask a follow-up")).to_be_focused()


def test_coverage_is_drawn_one_cell_a_chunk_and_each_chunk_can_be_a_result(open_page):
    page = open_page("?q=OAuth")
    card = page.locator('.rk-card[data-path="handbook/security.md"]')
    said = card.locator(".rk-coverage").inner_text()
    total = int(said.rsplit(" of ", 1)[1])
    assert total >= 6
    cells = card.locator(".rk-bar .rk-cell")
    expect(cells).to_have_count(total)
    shown = card.locator(".rk-bar :is(.rk-hit, .rk-near)").count()
    numbers = re.findall(r"(\d+)(?:–(\d+))?", said.rsplit(" of ", 1)[0])
    assert shown == sum(int(b or a) - int(a) + 1 for a, b in numbers)
    assert card.locator(".rk-hit").count() == 3
    expect(card).to_have_count(1)
    before = page.locator(".rk-counts").inner_text()
    page.get_by_role("button", name="Options").click()
    page.locator(".st-key-option_per_document label").click()
    expect(card.nth(1)).to_be_visible()
    assert card.count() >= 3
    after = page.locator(".rk-counts").inner_text()
    assert after != before
    assert "results" in after


def test_more_in_this_document_opens_in_place(open_page):
    page = open_page("?q=rule+house+exception&neighbours=0")
    card = page.locator('.rk-card[data-path="handbook/security.md"]')
    details(card)
    button = card.get_by_role("button", name=re.compile(r"\+\d+ more in this document"))
    count = int(re.search(r"\d+", button.inner_text()).group())
    button.click()
    expect(card.locator(".rk-more li")).to_have_count(count)
    expect(card.locator(".rk-more")).to_contain_text("is kept by everyone")


def test_a_gap_is_shown_in_place(open_page):
    page = open_page("?q=doors+badges+plants")
    card = page.locator('.rk-card[data-path="handbook/security.md"]')
    details(card)
    card.get_by_role("button", name="Show full passages").click()
    gap = card.locator(".rk-gap").first
    expect(gap).to_contain_text("omitted")
    gaps = card.locator(".rk-gap").count()
    gap.get_by_role("button", name=re.compile("Show chunk")).click()
    expect(card.locator(".rk-gap")).to_have_count(gaps - 1)
    expect(card.locator(".rk-filled")).to_be_visible()
    expect(card.locator(".rk-filled")).to_contain_text("Rule")


def test_a_filter_in_the_question_becomes_a_chip_that_can_be_removed(open_page):
    page = open_page()
    search(page, "sensor type:pdf -drift")
    expect(page.locator(".rk-card")).to_have_count(0)
    page.get_by_role("button", name="Remove the filter -drift").click()
    expect(page.get_by_label("Search your documents")).to_have_value("sensor type:pdf")
    paths = page.locator(".rk-card .rk-path")
    expect(paths).to_have_count(1)
    expect(paths).to_have_text("archive/drift-report.pdf")
    page.get_by_role("button", name="Remove the filter type:pdf").click()
    expect(page.get_by_label("Search your documents")).to_have_value("sensor")
    expect(page.locator(".rk-card").nth(1)).to_be_attached()


def test_filters_are_offered_with_counts(open_page):
    page = open_page("?q=sensor")
    first_card(page)
    page.get_by_role("button", name="Filters").click()
    page.get_by_role("button", name=re.compile(r"^pdf 1$")).click()
    expect(page.get_by_label("Search your documents")).to_have_value("sensor type:pdf")
    expect(page.locator(".rk-card")).to_have_count(1)


def test_nothing_found_offers_to_drop_the_filter(open_page):
    page = open_page("?q=refund+path:nowhere/")
    expect(page.get_by_role("heading", name="No results for")).to_contain_text("these filters")
    page.get_by_role("button", name="Search without path:nowhere/").click()
    expect(first_card(page).locator(".rk-title")).to_have_text("Refund policy")


def test_an_invalid_date_is_said_in_a_sentence(open_page):
    page = open_page("?q=refund+after:soon")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text('Invalid date: "soon".')
    expect(alert).to_contain_text("after:2025-03-01")


def test_six_results_fit_on_a_screen_and_their_actions_wait_for_pointer_or_focus(open_page):
    page = open_page("?q=rule+buoy+sensor+refund", height=900)
    first_card(page)
    fold = page.locator(".rk-weaker > summary")
    fold.click()
    cards = page.locator(".rk-card")
    assert cards.nth(4).evaluate("e => e.getBoundingClientRect().height") < 125
    above = page.locator(".rk-answer").evaluate_all("all => all.map(e => e.offsetHeight + 8)")
    assert sum(above) < 150
    above.append(fold.bounding_box()["height"])
    assert cards.nth(5).evaluate("e => e.getBoundingClientRect().top") < 800 + sum(above)
    quick, before = cards.nth(1).locator(".rk-quick"), cards.nth(2).bounding_box()
    expect(quick).to_have_css("opacity", "0")
    cards.nth(1).hover()
    expect(quick).to_have_css("opacity", "1")
    page.mouse.move(0, 0)
    expect(quick).to_have_css("opacity", "0")
    cards.nth(1).locator(".rk-link").focus()
    expect(quick).to_have_css("opacity", "1")
    page.keyboard.press("Tab")
    expect(quick.get_by_role("button", name="Relevant", exact=True)).to_be_focused()
    assert cards.nth(2).bounding_box() == before


def test_similar_documents_open_in_place_a_path_is_copied_and_results_exported(open_page):
    page = open_page("?q=refund")
    card = first_card(page)
    card.hover()
    card.get_by_role("button", name="Similar documents").click()
    # None of the others is about refunds.
    expect(card.locator("section.rk-more")).to_contain_text("No similar documents.")
    assert "q=refund" in page.url
    card.get_by_role("button", name="Similar documents").click()
    expect(card.locator("section.rk-more")).to_have_count(0)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    details(card)
    card.get_by_role("button", name="Copy path").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").endswith("handbook/refund-policy.md")
    page.get_by_role("button", name="Options").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV", exact=True).click()
    text = Path(download.value.path()).read_text("utf-8")
    assert "handbook/refund-policy.md" in text


def test_hostile_text_is_shown_as_text(open_page):
    page = open_page()
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    search(page, "grobnik valves")
    card = first_card(page)
    expect(card.locator(".rk-path")).to_have_text("notes/hostile.md")
    details(card)
    card.get_by_role("button", name="Show full passage").click()
    expect(card).to_contain_text("<script>window.stolen = true</script>")
    expect(card).to_contain_text("picture at spy.invalid, not loaded")
    assert card.locator("img, iframe, script").count() == 0
    assert page.evaluate("window.stolen") is None
    assert dialogs == []


def test_a_line_of_hundreds_of_kilobytes_breaks_no_layout(open_page):
    page = open_page("?q=quagga")
    for width in (1280, 400):
        page.set_viewport_size({"width": width, "height": 720})
        page.reload()
        first_card(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert first_card(page).bounding_box()["width"] <= width


def test_a_page_at_rest_asks_rarely_whatever_was_looked_at_before(open_page):
    page = open_page("health")
    expect(page.locator("#ollama-missing")).to_be_visible()
    page.get_by_role("link", name="Search", exact=True).click()
    page.get_by_label("Search your documents").wait_for()
    page.evaluate(
        """() => { let last = 0; window.ticks = [];
        Object.defineProperty(window, "ragkitTicked", { get: () => last,
            set: (at) => { last = at; window.ticks.push(at); } }); }"""
    )
    page.wait_for_timeout(8000)
    assert 1 <= page.evaluate("window.ticks.length") <= 2


def test_dark_and_narrow(open_page):
    page = open_page("?q=refund", width=400, height=800, scheme="dark")
    card = first_card(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    colour = card.evaluate("e => getComputedStyle(e.closest('.stApp')).backgroundColor")
    assert colour == "rgb(22, 24, 27)"
    assert card.locator(".rk-link").evaluate("e => getComputedStyle(e).color") == (
        "rgb(124, 203, 194)"
    )


@pytest.mark.parametrize("forgotten", [True, False])
def test_a_page_that_its_server_forgot_is_loaded_again(browser, served, forgotten):
    page = browser.new_context().new_page()
    sockets = []

    def connect(socket):
        # A server that was started again answers nothing that a page asks of a part of itself.
        forgets = forgotten and len(sockets) == 1
        sockets.append((socket, None if forgets else socket.connect_to_server()))

    page.route_web_socket("**/_stcore/stream", connect)
    page.goto(f"{served.url}/?q=glacier")
    expect(page.locator(".rk-card").first).to_be_visible()
    page.evaluate("window.isFirst = true")
    if forgotten:
        with page.expect_event("load", timeout=60_000):
            for end in sockets[0]:
                end.close()
        expect(page.locator(".rk-card").first).to_be_visible()
    else:
        for end in sockets[0]:
            end.close()
        deadline = time.monotonic() + 60
        while len(sockets) < 2 and time.monotonic() < deadline:
            page.wait_for_timeout(200)
        page.wait_for_timeout(15_000)
        assert len(sockets) == 2
    assert page.evaluate("window.isFirst === true") is not forgotten
    page.context.close()


def test_a_page_that_streamlit_stopped_drawing_is_loaded_again_and_again(open_page):
    page = open_page("?q=glacier")
    lost = "window.dispatchEvent(new ErrorEvent('error', {message: 'Bad delta path index [0]'}))"
    with page.expect_event("load", timeout=30_000):
        page.evaluate(lost)
    expect(page.locator(".rk-card").first).to_be_visible()
    with page.expect_event("load", timeout=30_000):
        page.evaluate(f"{lost}; {lost}")
    expect(page.locator(".rk-card").first).to_be_visible()


def test_a_server_that_does_not_answer_is_called_by_its_name(browser, served):
    page = browser.new_context().new_page()
    sockets = []

    def connect(socket):
        sockets.append((socket, socket.connect_to_server()))

    page.route_web_socket("**/_stcore/stream", connect)
    page.goto(f"{served.url}/?q=glacier")
    expect(page.locator(".rk-card").first).to_be_visible()
    page.route("**/_stcore/h*", lambda route: route.abort())
    for end in sockets[0]:
        end.close()
    said = page.locator("[role=dialog] [data-instead]")
    expect(said).to_be_visible(timeout=60_000)
    before = said.evaluate("e => getComputedStyle(e, '::before').content")
    assert before.startswith('"ragkit does not answer.')
    expect(page.get_by_text("yourscript.py")).to_be_hidden()
    page.context.close()


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "vector"])
def test_the_chosen_mode_is_read_whole_on_the_narrowest_screen(open_page, mode):
    box = open_page(f"?q=refund&mode={mode}", width=320, height=800).locator(".st-key-mode input")
    expect(box).to_be_visible()
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
