"""The Document page in a real browser."""

from __future__ import annotations

import re

from playwright.sync_api import expect


def test_a_pdf_opens_at_the_page_with_its_mark(open_page):
    page = open_page("?q=zanderfoil")
    page.locator(".rk-card .rk-link").first.click()
    sheet = page.locator(".rk-sheet")
    expect(sheet).to_have_attribute("data-page", "3")
    expect(sheet.locator(".rk-frame").first).to_be_visible()
    expect(page.get_by_text("page 3 of 3")).to_be_visible()
    assert re.search(r"/document\?.*id=\d+", page.url)
    natural = sheet.locator("img").evaluate("e => [e.naturalWidth, e.complete]")
    assert natural == [1100, True]
    page.get_by_role("button", name="Previous page").click()
    expect(sheet).to_have_attribute("data-page", "2")


def test_a_passage_is_marked_in_the_text_and_in_sight(open_page):
    page = open_page("?q=OAuth+scopes")
    page.locator('.rk-card[data-path="handbook/security.md"] .rk-link').click()
    here = page.locator("#rk-here")
    expect(here).to_contain_text("OAuth")
    expect(here).to_be_in_viewport()
    expect(here.locator("mark").first).to_be_visible()
    outline = page.get_by_role("navigation", name="Outline")
    expect(outline.get_by_role("link", name="Parking")).to_be_visible()
    page.get_by_text("Show chunks").click()
    expect(page.locator(".rk-chunk").first).to_contain_text("Chunk 1")


def test_a_deep_link_as_the_first_page(open_page, served):
    page = open_page("?q=harbour")
    page.locator(".rk-card .rk-link").first.click()
    page.locator(".rk-text").wait_for()
    again = open_page(page.url.removeprefix(served.url + "/"))
    expect(again.locator(".rk-text")).to_contain_text("keeps the keys of the boat shed")
    again.get_by_role("button", name="Back to the results").click()
    expect(again.get_by_label("Search your documents")).to_have_value("harbour")


def test_a_document_that_is_not_there(open_page):
    page = open_page("document?id=99999")
    expect(page.get_by_role("alert")).to_contain_text("There is no document 99999.")


def test_a_folder_that_vanished_still_shows_its_text(open_page, served):
    away = served.folder.with_name("away")
    served.folder.rename(away)
    try:
        page = open_page("?q=harbour+boat+shed")
        card = page.locator('.rk-card[data-path="notes/harbour.txt"]')
        expect(card).to_contain_text("no longer where it was")
        expect(card).to_contain_text("opens at nine")
        card.locator(".rk-link").click()
        expect(page.locator(".rk-doc-head")).to_contain_text("no longer where it was")
        expect(page.locator(".rk-text")).to_contain_text("opens at nine")
    finally:
        away.rename(served.folder)


def test_hostile_text_on_the_document_page(open_page):
    page = open_page("?q=grobnik")
    page.locator('.rk-card[data-path="notes/hostile.md"] .rk-link').click()
    text = page.locator(".rk-text")
    expect(text).to_contain_text("<script>window.stolen = true</script>")
    assert page.evaluate("window.stolen") is None
    assert page.locator(".rk-text :is(img, script, iframe, a)").count() == 0
