"""The viewer of a PDF in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect


@pytest.fixture
def report(open_page):
    """Open the three-page report at what was searched for; return the page."""

    def open_(find="zanderfoil", **window):
        page = open_page(f"?q={find}", **window)
        page.locator('.rk-card[data-path="archive/drift-report.pdf"] .rk-link').first.click()
        page.locator(".rk-sheet > img").first.wait_for()
        return page

    return open_


def test_a_pdf_opens_at_its_passage_and_scrolls_on(report):
    page = report()
    sheet = page.locator('.rk-sheet[data-page="3"]')
    mark = sheet.locator(".rk-found-word").first
    expect(mark).to_be_in_viewport()
    assert sheet.locator(".rk-frame").count() >= 14
    box = page.get_by_label("Page", exact=True)
    expect(box).to_have_value("3")
    expect(page.locator(".rk-pdf-bar")).to_contain_text("of 3")
    assert re.search(r"/document\?.*id=\d+", page.url)
    assert sheet.locator("img").evaluate("e => e.complete && e.naturalWidth") >= 800
    page.get_by_role("button", name="Previous page").click()
    expect(box).to_have_value("2")
    expect(page.locator('.rk-sheet[data-page="2"] > img')).to_be_visible()
    box.fill("1")
    box.press("Enter")
    expect(page.locator('.rk-sheet[data-page="1"] > img')).to_be_in_viewport()


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (810, 900), (700, 900), (400, 800)])
def test_the_viewer_fits_the_window_below_title_and_way_back(report, width, height):
    page = report(width=width, height=height)
    expect(page.locator('.rk-sheet[data-page="3"] .rk-found-word').first).to_be_in_viewport()
    expect(page.get_by_text("Back to the results")).to_be_in_viewport()
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop") == 0
    assert page.locator(".rk-doc-head").bounding_box()["y"] >= 60
    viewer = page.locator(".rk-pdf").bounding_box()
    assert height - 40 < viewer["y"] + viewer["height"] <= height
    if width > 800:
        sizes = "(e) => e.scrollHeight - e.clientHeight"
        assert page.locator("[data-testid=stMain]").evaluate(sizes) == 0


def test_words_are_found_on_every_page(report):
    page = report()
    finder = page.get_by_label("Find in document")
    count = page.locator(".rk-pdf-bar [role=status]")
    finder.fill("PARAGRAPH 14")
    expect(count).to_have_text("3 of 3")
    current = page.locator(".rk-found[aria-current]")
    expect(current.first).to_be_in_viewport()
    finder.press("Enter")
    expect(count).to_have_text("1 of 3")
    expect(
        page.locator('.rk-sheet[data-page="1"] .rk-found[aria-current]').first
    ).to_be_in_viewport()
    page.get_by_role("button", name="Previous match").click()
    expect(count).to_have_text("3 of 3")
    finder.fill("giraffe")
    expect(count).to_have_text("Not found")
    expect(page.locator(".rk-found")).to_have_count(0)


def test_pages_grow_and_shrink_and_obey_the_keyboard(report):
    page = report(width=400, height=800)
    sheet = page.locator('.rk-sheet[data-page="3"]')
    fitting = sheet.bounding_box()["width"]
    assert 250 < fitting < 400
    page.locator(".rk-pdf-pages").focus()
    for _ in range(3):
        page.keyboard.press("+")
    assert sheet.bounding_box()["width"] > fitting + 100
    expect(page.get_by_label("Zoom", exact=True)).to_have_value("0.8")
    page.keyboard.press("0")
    assert sheet.bounding_box()["width"] == pytest.approx(fitting, abs=2)
    page.get_by_label("Zoom", exact=True).select_option("Fit page")
    frame = page.locator(".rk-pdf-pages").bounding_box()
    assert sheet.bounding_box()["height"] <= frame["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.locator(".rk-pdf-pages").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_label("Page", exact=True)).to_have_value("2")
    page.keyboard.press("Control+f")
    expect(page.get_by_label("Find in document")).to_be_focused()


def test_every_button_of_the_viewer_is_whole_on_the_narrowest_screen(report):
    bar = report(width=320, height=800).locator(".rk-pdf-bar")
    assert bar.evaluate("(e) => e.scrollWidth - e.clientWidth") == 0
