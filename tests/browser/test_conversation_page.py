"""A conversation in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import expect

LONG = (
    Path(__file__).resolve().parents[2]
    / "sample_data/library/conversations/2026-03-14-ines-and-rui.md"
)
WHATSAPP = LONG.with_name("WhatsApp Chat with Oberhafen move.txt")
METRICS = re.compile(r"\d+ segments → \d+ hits → \d+ documents? → \d+ shown")


def paste(page, text):
    page.get_by_label("Conversation or long text").fill(text)
    page.get_by_role("button", name="Find related documents").click()
    page.locator(".rk-compact, .rk-state h2:has-text('No results')").first.wait_for()


def test_a_pasted_conversation_shows_its_topics_and_their_results(open_page):
    page = open_page("conversation")
    paste(page, LONG.read_text("utf-8"))
    topics = page.locator(".rk-topic")
    assert topics.count() >= 3
    expect(page.locator(".rk-span")).to_have_count(topics.count())
    expect(page.locator(".rk-counts")).to_have_text(METRICS)
    expect(page.locator(".rk-compact .rk-dots").first).to_be_visible()
    topics.nth(2).click()
    chosen = page.locator(".rk-of-topic")
    expect(chosen).to_contain_text("token")
    assert chosen.locator("li").count() >= 1
    expect(page.locator(".rk-span.rk-chosen")).to_contain_text("401 for ever")
    expect(topics.nth(2)).to_have_attribute("aria-pressed", "true")
    chosen.get_by_role("button", name="Show all topics").click()
    expect(page.locator(".rk-of-topic")).to_have_count(0)
    dot = page.locator(".rk-compact .rk-dot").last
    number = dot.inner_text()
    dot.click()
    expect(chosen.locator("p .rk-dot").first).to_have_text(number)
    expect(chosen).to_be_in_viewport()
    page.locator(".rk-span-head").nth(1).click()
    expect(topics.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(page).to_have_url(re.compile(r"text=~|text=%7E"))
    page.reload()
    expect(topics.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".rk-span.rk-chosen")).to_have_count(1)
    stranger = open_page(page.url.split("/", 3)[3])
    expect(stranger.get_by_label("Conversation or long text")).to_be_visible()
    assert stranger.locator(".rk-long-text").count() == 0
    page.locator(".rk-compact .rk-cell.rk-hit").first.click()
    expect(page).to_have_url(re.compile(r"/document\?id=\d+&chunk=\d+&find=.+"))
    expect(page.locator("#rk-here").first).to_be_in_viewport()


def test_a_dropped_export_asks(open_page):
    page = open_page("conversation")
    page.locator("input[type=file]").set_input_files(WHATSAPP)
    page.locator("[data-testid=stFileChip]").wait_for()
    page.get_by_role("button", name="Find related documents").click()
    expect(page.locator(".rk-long-text")).to_contain_text("Lena Osei")
    expect(page.locator(".rk-counts")).to_have_text(METRICS)


def test_a_file_that_arrives_after_the_click_asks(open_page):
    page = open_page("conversation")
    held = []
    page.route("**/upload_file/**", lambda route: held.append(route))
    page.locator("input[type=file]").set_input_files(WHATSAPP)
    page.get_by_role("button", name="Find related documents").click()
    expect(page.get_by_role("alert")).to_contain_text("There is no text yet.")
    held.pop().continue_()
    page.unroute_all(behavior="wait")
    expect(page.locator(".rk-long-text")).to_contain_text("Lena Osei")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_markup_in_a_text_is_only_text(open_page):
    page = open_page("conversation")
    paste(page, "<img src=x onerror=alert(1)> refund <script>alert(2)</script>\n\nharbour keys")
    expect(page.locator(".rk-long-text")).to_contain_text("<img src=x onerror=alert(1)>")
    assert page.locator(".rk-long-text img, .rk-long-text script").count() == 0


def test_nothing_to_ask_and_unreadable_files_are_said(open_page):
    page = open_page("conversation")
    page.get_by_role("button", name="Find related documents").click()
    expect(page.get_by_role("alert")).to_contain_text("There is no text yet.")
    page.locator("input[type=file]").set_input_files(
        {"name": "strange.xyz", "mimeType": "application/octet-stream", "buffer": bytes(range(256))}
    )
    page.locator("[data-testid=stFileChip]").wait_for()
    page.get_by_role("button", name="Find related documents").click()
    expect(page.get_by_role("alert")).not_to_contain_text("There is no text yet.")


def test_options_change_what_is_shown_and_narrow_screens_do_not_scroll(open_page):
    page = open_page("conversation", width=400, height=800)
    paste(page, LONG.read_text("utf-8"))
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.get_by_role("button", name="Options").click()
    expect(page.get_by_text("Weight of the whole text")).to_be_visible()
    expect(page.get_by_text("Hits per segment")).to_be_visible()
