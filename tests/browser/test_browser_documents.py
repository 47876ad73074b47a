"""The Document page in a real browser."""

from __future__ import annotations

import re

from playwright.sync_api import expect
from support import until


def test_a_passage_is_marked_in_the_text_and_in_sight(open_page):
    page = open_page("?q=OAuth+scopes")
    page.locator('.rk-card[data-path="handbook/security.md"] .rk-link').click()
    here = page.locator("#rk-here")
    expect(here).to_contain_text("OAuth")
    expect(here).to_be_in_viewport()
    expect(here.locator("mark").first).to_be_visible()
    outline = page.get_by_role("navigation", name="Outline")
    expect(outline.get_by_role("link", name="Parking")).to_be_visible()
    page.get_by_text("Show chunks and contexts").click()
    expect(page.locator(".rk-chunk").first).to_contain_text("Chunk 1")
    for width in (760, 400):
        page.set_viewport_size({"width": width, "height": 800})
        parts = (".rk-outline", ".rk-rendered", ".rk-chunk")
        boxes = [page.locator(part).first.bounding_box() for part in parts]
        ends = [box["y"] + box["height"] for box in boxes]
        assert all(end <= box["y"] for end, box in zip(ends, boxes[1:], strict=False))
        assert min(box["width"] for box in boxes) > 0.8 * width


def test_a_deep_link_as_the_first_page(open_page, served):
    page = open_page("?q=harbour")
    page.locator(".rk-card .rk-link").first.click()
    page.locator(".rk-text").wait_for()
    again = open_page(page.url.removeprefix(served.url + "/"))
    expect(again.locator(".rk-text")).to_contain_text("keeps the keys of the boat shed")
    again.get_by_role("link", name="Back to the results").click()
    expect(again.get_by_label("Search your documents")).to_have_value("harbour")


def test_links_between_notes_lead_to_documents_and_back(open_page, served):
    links = "Pack as in [[Rucksack#Clothes]] and see [the crew](crew.md), [tides](#the-tide)."
    (served.folder / "notes/voyage.md").write_text(
        f"# Voyage\n\n{links}" + "\n\nWe wait.\n" * 60 + "\n## The tide\n\nIt turns at noon.\n",
        "utf-8",
    )
    (served.folder / "archive/Rucksack.md").write_text(
        "# Rucksack\n\n" + "Rope.\n\n" * 60 + "## Clothes\n\nWool socks.\n", "utf-8"
    )
    (served.folder / "notes/crew.md").write_text("# Crew\n\nAda steers.\n", "utf-8")
    served.wait_until_read("notes/voyage.md", "archive/Rucksack.md", "notes/crew.md")
    page = open_page("?q=voyage")
    page.locator('.rk-card[data-path="notes/voyage.md"] .rk-link').first.click()
    page.locator(".rk-text").get_by_role("link", name="Rucksack › Clothes").click()
    expect(page.get_by_text("Wool socks.")).to_be_in_viewport()
    page.go_back()
    page.locator(".rk-text").get_by_role("link", name="tides").click()
    expect(page.get_by_text("It turns at noon.")).to_be_in_viewport()
    page.locator(".rk-text").get_by_role("link", name="the crew").click()
    expect(page.locator(".rk-text")).to_contain_text("Ada steers.")
    page.go_back()
    expect(page.locator(".rk-text")).to_contain_text("Pack as in Rucksack › Clothes")
    page.get_by_role("link", name="Back to the results").click()
    expect(page.get_by_label("Search your documents")).to_have_value("voyage")


def test_a_document_that_is_not_there(open_page):
    page = open_page("document?id=99999")
    expect(page.get_by_role("alert")).to_contain_text("There is no document 99999.")


def test_a_folder_that_vanished_still_shows_its_text(open_page, served):
    away = served.folder.with_name("away")
    served.folder.rename(away)
    try:
        page = open_page("?q=harbour+office+keys")
        card = page.locator('.rk-card[data-path="notes/harbour.txt"]')
        expect(page.locator(".rk-notice", has_text=str(served.folder))).to_have_count(1)
        expect(card).to_contain_text("opens at nine")
        expect(card).not_to_contain_text("no longer where it was")
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


def test_a_document_is_drawn_as_what_it_means_and_its_source_is_a_click_away(open_page):
    page = open_page("?q=wombat+yearly+tariff")
    page.locator('.rk-card[data-path="notes/plans.md"] .rk-link').click()
    text = page.locator(".rk-text")
    row = text.get_by_role("row", name="Wombat, yearly")
    expect(row.get_by_role("cell").first.locator("mark")).to_have_text(["Wombat", "yearly"])
    expect(row.locator("em")).to_have_text("thirty")
    code = text.locator("pre .rk-line").first
    expect(code).to_have_text("def wombat_tariff(days: int) -> bool:")
    assert code.locator(".rk-k").first.evaluate("e => getComputedStyle(e).color") != (
        code.evaluate("e => getComputedStyle(e).color")
    )
    status = page.locator(".rk-matches [role=status]")
    page.get_by_role("button", name="Next match").click()
    expect(status).to_have_text(re.compile(r"\d+ of \d+"))
    page.keyboard.press("n")
    expect(page.locator("mark.rk-current")).to_have_count(1)
    page.get_by_role("radio", name="Source").click()
    expect(text).to_contain_text("| Wombat, yearly | within *thirty* days |")
    expect(text.locator("table")).to_have_count(0)


def test_a_file_of_rows_is_a_grid_with_a_header_that_stays(open_page):
    page = open_page("?q=Wremen+gauge")
    page.locator('.rk-card[data-path="notes/gauges.csv"] .rk-link').click()
    grid = page.get_by_role("group", name="Table")
    header = grid.get_by_role("columnheader", name="height")
    expect(header).to_be_visible()

    def scrolled_by_wheel() -> bool:
        # As a person does: the page goes to its passage until somebody scrolls.
        grid.hover()
        page.mouse.wheel(0, 5000)
        return grid.evaluate("e => e.scrollTop") > 100

    until(scrolled_by_wheel)
    top = "e => e.getBoundingClientRect().top"
    until(lambda: abs(header.evaluate(top) - grid.evaluate(top)) < 3)
    assert grid.locator("mark").count() > 10
