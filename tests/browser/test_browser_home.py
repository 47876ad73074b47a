"""The empty box and what is suggested while typing, in a real browser."""

from __future__ import annotations

import re

from playwright.sync_api import expect

BOX = "Search your documents"


def suggestions(page):
    return page.get_by_role("listbox", name="Suggestions").get_by_role("option")


def test_a_suggestion_is_chosen_with_the_keyboard_and_enter_never_waits(open_page):
    page = open_page()
    box = page.get_by_label(BOX)
    box.fill("harbour keys")
    box.press("Enter")
    expect(page.locator(".rk-card .rk-path").first).to_contain_text("notes/harbour.txt")
    expect(suggestions(page)).to_have_count(0)

    box.fill("")
    box.press_sequentially("refund ty", delay=30)
    expect(suggestions(page).first).to_contain_text("type:")
    expect(box).to_have_attribute("aria-expanded", "true")
    box.press("ArrowDown")
    active = box.get_attribute("aria-activedescendant")
    expect(page.locator(f"#{active}")).to_have_attribute("aria-selected", "true")
    box.press("Enter")
    expect(box).to_have_value("refund type:")
    expect(suggestions(page).filter(has_text=re.compile(r"^type:pdf"))).to_contain_text(
        "1 document"
    )
    box.press("Escape")
    expect(suggestions(page)).to_have_count(0)
    expect(box).to_have_value("refund type:")
    expect(box).to_have_attribute("aria-expanded", "false")

    box.fill("HARBOUR")
    option = suggestions(page).filter(has_text="harbour keys")
    expect(option).to_contain_text("Recent")
    option.click()
    expect(box).to_have_value("harbour keys")
    expect(page.locator(".rk-card .rk-path").first).to_contain_text("notes/harbour.txt")

    box.fill("secur")
    option = suggestions(page).filter(has_text="handbook/security.md")
    option.click()
    expect(page).to_have_url(re.compile(r"/document\?id=\d+"))
    expect(page.get_by_role("heading", name="Security handbook").first).to_be_visible()


def test_the_empty_box_shows_searches_that_can_be_pinned_and_removed(open_page):
    page = open_page("?q=quagga+mussel")
    page.locator(".rk-card").first.wait_for()
    page = open_page(width=400, height=800)
    row = page.get_by_role("listitem").filter(has_text="quagga mussel")
    row.hover()
    row.get_by_role("button", name="Pin: quagga mussel").click()
    row.get_by_role("button", name="Unpin: quagga mussel").wait_for()
    expect(page.get_by_role("region", name="Recently changed").get_by_role("link")).to_have_count(6)
    overflow = page.evaluate(
        "() => [...document.querySelectorAll('.rk-home *')]"
        ".filter((one) => one.getBoundingClientRect().right > innerWidth).length"
    )
    assert overflow == 0
    row.get_by_role("button", name="quagga mussel", exact=True).click()
    page.locator(".rk-card").first.wait_for()
    expect(page.get_by_label(BOX)).to_have_value("quagga mussel")
    page.go_back()
    row.hover()
    row.get_by_role("button", name="Remove: quagga mussel").click()
    expect(row).to_have_count(0)


def test_searches_lead_back_to_their_options_and_are_cleared(open_page):
    page = open_page("?q=quagga+mussel&mode=keyword")
    page.locator(".rk-card").first.wait_for()
    page = open_page("health")
    page.get_by_role("link", name="All searches").click()
    page.get_by_text("Slowest").click()
    expect(page).to_have_url(re.compile(r"searches\?show=slow$"))
    row = page.get_by_role("row").filter(has_text="quagga mussel")
    row.get_by_role("link", name="show the stages").click()
    expect(page).to_have_url(re.compile(r"searches\?show=slow&open=\d+$"))
    page.locator(".rk-search-details").get_by_text("reconstruction").wait_for()
    page.go_back()
    expect(page.locator(".rk-search-details")).to_have_count(0)
    row.get_by_role("link", name="quagga mussel").click()
    expect(page).to_have_url(re.compile(r"/\?q=quagga\+mussel&mode=keyword$"))
    page.locator(".rk-card").first.wait_for()
    page.go_back()
    page.get_by_role("button", name="Clear …").click()
    page.get_by_role("button", name="Clear", exact=True).click()
    expect(page.get_by_text("No searches yet")).to_be_visible()
