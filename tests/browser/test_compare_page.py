"""Comparing and judging in a real browser."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect
from support import until

QUESTION = "OAuth rule for visitors"


def column(page, index):
    return page.locator(f'.rk-column[data-column="{index}"]')


def opened(open_page, path, **how):
    page = open_page(path, **how)
    page.locator(".rk-item").first.wait_for()
    return page


def judgments(served, folder):
    with served.opened() as library:
        library.judgments.export("default", library.judgments.collect("default"), folder)
    lines = (folder / "questions.jsonl").read_text("utf-8").splitlines()
    return {one["text"]: one["relevant"] for one in map(json.loads, lines)}


def test_two_settings_are_compared_and_three_results_judged_by_key(open_page, served, tmp_path):
    page = opened(open_page, f"compare?q={QUESTION}&c=mode:keyword&c=mode:vector")
    expect(column(page, 0).locator("h2")).to_have_text("AKeyword")
    expect(column(page, 1).locator("h2")).to_have_text("BSemantic")
    expect(column(page, 1).locator(".rk-column-head")).to_contain_text(
        re.compile(r"\d+\s% overlap with A · rank correlation [01]\.\d\d")
    )
    assert column(page, 1).locator(".rk-item").count() >= 3
    shown = column(page, 1).locator(".rk-item")
    paths = [shown.nth(place).get_attribute("data-path") for place in range(3)]
    page.keyboard.press("1")
    expect(page.locator(".rk-key-hint")).to_have_text(
        "Select a result first: press j, then 1, 2 or 3."
    )
    shown.nth(0).focus()
    for key, count in (("1", 1), ("2", 2), ("3", 3)):
        page.keyboard.press(key)
        expect(page.locator(".rk-judged")).to_contain_text(f"{count} rating")
        assert page.evaluate("document.activeElement.id") == f"rk-item-1-{count}"
        page.keyboard.press("j")
    pressed = shown.locator('.rk-grade[aria-pressed="true"]')
    assert [pressed.nth(place).inner_text() for place in range(3)] == [
        "Relevant",
        "Partly",
        "Not relevant",
    ]
    found = judgments(served, tmp_path)[QUESTION]
    assert {(one["path"], one["grade"]) for one in found} == set(zip(paths, (2, 1, 0), strict=True))
    assert all(one["quote"] for one in found)
    page.keyboard.press("u")
    expect(page.locator(".rk-judged")).to_contain_text("2 ratings here")
    expect(pressed).to_have_count(2)
    assert len(judgments(served, tmp_path)[QUESTION]) == 2


def test_the_same_document_is_joined_and_marked_in_both(open_page):
    page = opened(open_page, "compare?q=refund+of+a+buoy&c=mode:keyword&c=mode:hybrid")
    left = column(page, 0).locator('.rk-item[data-path="handbook/refund-policy.md"]')
    right = column(page, 1).locator('.rk-item[data-path="handbook/refund-policy.md"]')
    assert left.get_attribute("style") == right.get_attribute("style") == "--hue:var(--hue-0)"
    document = left.get_attribute("data-doc")
    expect(page.locator(f'.rk-lines path[data-doc="{document}"]')).to_have_count(1)
    left.hover()
    expect(right).to_have_class(re.compile("rk-same"))
    left.focus()
    page.keyboard.press("ArrowRight")
    expect(right).to_be_focused()
    expect(right.locator(".rk-move")).to_have_text("=")


def test_presets_and_columns_are_kept_in_the_address(open_page):
    page = opened(open_page, "compare?q=OAuth")
    assert page.url.endswith("compare?q=OAuth")
    page.locator(".st-key-cmp_preset input").click()
    page.get_by_role("option", name="Chunks vs. sections").click()
    expect(column(page, 1).locator("h2")).to_have_text("BHybrid, sections")
    expect(column(page, 0).locator("h2")).to_have_text("AHybrid, chunks")
    assert page.url.endswith("&c=mode%3Ahybrid&c=mode%3Ahybrid%2Cgranularity%3Asection")
    page.get_by_role("button", name="Add setting").click()
    expect(page.locator(".rk-column")).to_have_count(3)
    page.get_by_role("button", name=re.compile("^C · ")).click()
    page.get_by_text("Each matching chunk").count()
    page.get_by_role("button", name="Remove setting").click()
    expect(page.locator(".rk-column")).to_have_count(2)


def test_an_address_that_makes_no_sense_is_said(open_page):
    page = opened(open_page, "compare?q=OAuth&c=mode:keyword,limit:many&c=%3Cscript%3E:1")
    expect(page.locator(".rk-notice")).to_have_text(
        [
            '"limit:many" in the address is not a setting. It is ignored.',
            '"<script>:1" in the address is not a setting. It is ignored.',
        ]
    )
    expect(page.locator(".rk-column")).to_have_count(2)


def test_a_blind_vote_hides_the_settings_until_it_is_cast(open_page):
    page = opened(open_page, "compare?q=OAuth+scopes&c=mode:keyword&c=mode:vector")
    page.locator(".st-key-cmp_blind label").click()
    expect(page.locator(".rk-column-head h2")).to_have_text(["A?", "B?"])
    said = page.locator(".rk-compare").inner_text()
    assert not re.search(r"only here|\d ms|new|▲|▼|0\.\d\d", said)
    chosen = page.locator(".rk-column").first.get_attribute("data-column")
    page.get_by_role("button", name="This one is better").first.click()
    words = ("Keyword", "Semantic")[int(chosen)]
    notice = page.locator(".rk-notice")
    expect(notice).to_contain_text(f"You chose A: {words}. Votes so far: ")
    expect(notice).to_contain_text(f"1 vote for {words}")
    expect(page.locator(".rk-column-head h2").first).to_have_text(f"A{words}")
    notice.get_by_role("button", name="Undo").click()
    expect(page.locator(".rk-column-head h2")).to_have_text(["A?", "B?"])


def test_a_vote_in_one_collection_is_none_in_another(open_page, served):
    with served.opened() as library:
        library.collections.add("second")
    try:
        page = opened(open_page, "compare?q=OAuth+scopes&c=mode:keyword&c=mode:vector")
        page.locator(".st-key-cmp_blind label").click()
        page.get_by_role("button", name="This one is better").first.click()
        expect(page.locator(".rk-notice")).to_contain_text("You chose A")
        # Columns that were shuffled again would stand as before every other time.
        for _ in range(3):
            page.get_by_label("Collection").click()
            page.get_by_role("option", name="second").click()
            expect(page.locator(".rk-column-head h2")).to_have_text(["A?", "B?"])
            page.get_by_label("Collection").click()
            page.get_by_role("option", name="default").click()
            expect(page.locator(".rk-notice")).to_contain_text("You chose A")
    finally:
        with served.opened() as library:
            library.collections.delete("second")


def test_settings_are_used_for_searches_and_given_back(open_page):
    page = open_page("?q=OAuth")
    page.locator(".rk-card").first.wait_for()
    mode = page.locator(".st-key-mode [role=combobox], .st-key-mode input").first
    expect(mode).to_have_value("Hybrid")
    page.goto(page.url.replace("/?", "/compare?") + "&c=mode:keyword,limit:1&c=mode:vector,limit:2")
    column(page, 0).get_by_role("button", name="Use these settings").click()
    notice = page.locator(".rk-notice")
    expect(notice).to_contain_text("default is now searched with: Keyword")
    try:
        page.get_by_role("link", name="Search").click()
        expect(mode).to_have_value("Keyword")
        expect(page.locator(".rk-card")).to_have_count(1)
        assert "semantic" not in page.locator(".rk-why li").first.text_content()
        elsewhere = open_page("?q=OAuth")
        expect(elsewhere.locator(".rk-card")).to_have_count(1)
    finally:
        page.get_by_role("link", name="Compare").click()
        notice.get_by_role("button", name="Undo").click()
        expect(page.locator(".rk-notice")).to_have_count(0)
    page.get_by_role("link", name="Search").click()
    expect(mode).to_have_value("Hybrid")


def test_a_click_in_the_first_moment_is_not_lost(open_page):
    page = open_page("?q=OAuth")
    slow = page.context.new_cdp_session(page)
    slow.send("Emulation.setCPUThrottlingRate", {"rate": 6})
    try:
        page.goto(page.url.replace("/?", "/compare?") + "&c=mode:keyword&c=mode:vector")
        column(page, 1).get_by_role("button", name="Use these settings").click()
    finally:
        # Other tests use the tab after this one.
        slow.detach()
    notice = page.locator(".rk-notice")
    expect(notice).to_contain_text("default is now searched with: Semantic")
    notice.get_by_role("button", name="Undo").click()
    expect(notice).to_have_count(0)


def test_search_results_are_judged_by_click_and_key(open_page, served, tmp_path):
    question = "harbour keys of the shed"
    page = open_page(f"?q={question.replace(' ', '+')}")
    card = page.locator(".rk-card").first
    card.wait_for()
    card.get_by_role("button", name="Partly").click()
    expect(page.locator(".rk-judged")).to_contain_text("1 rating here")
    expect(card.locator('.rk-grade[aria-pressed="true"]')).to_have_text("Partly")
    page.keyboard.press("1")
    expect(card.locator('.rk-grade[aria-pressed="true"]')).to_have_text("Relevant")

    def rated():
        # A button shows its state before the rating is stored.
        return [(e["path"], e["grade"]) for e in judgments(served, tmp_path)[question]]

    until(lambda: rated() == [("notes/harbour.txt", 2)])


@pytest.mark.parametrize("width", [400, 1280])
def test_nothing_is_wider_than_the_screen(open_page, width):
    page = opened(
        open_page, "compare?q=OAuth&c=mode:keyword&c=mode:vector&c=mode:hybrid", width=width
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    boxes = [column(page, index).bounding_box() for index in range(3)]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= width + 1 for box in boxes)
    beside = boxes[1]["x"] > boxes[0]["x"]
    assert beside == (width == 1280)


def test_hostile_documents_stay_text(open_page):
    page = opened(open_page, "compare?q=grobnik+valves&c=mode:keyword&c=mode:hybrid")
    item = column(page, 0).locator('.rk-item[data-path="notes/hostile.md"]')
    expect(item.locator(".rk-excerpt")).to_contain_text("grobnik")
    assert page.evaluate("window.stolen") is None
