"""Measuring in a real browser: judge, run, read the table, and see what changed."""

from __future__ import annotations

import json
import re

from axe import AXE, EVERYTHING, broken
from playwright.sync_api import expect

from ragkit.evaluation.measuring import measure
from ragkit.evaluation.search_config import SearchConfig
from ragkit.options import Mode

QUESTION = "refund of a buoy"


def judge(open_page, question, *keys):
    """Compare two settings and judge the first results of the second by key."""
    page = open_page(f"compare?q={question.replace(' ', '+')}&c=mode:keyword&c=mode:hybrid")
    items = page.locator('.rk-column[data-column="1"] .rk-item')
    items.first.wait_for()
    items.first.focus()
    for count, key in enumerate(keys, start=1):
        page.keyboard.press(key)
        expect(page.locator(".rk-judged")).to_contain_text(f"{count} rating")
        page.keyboard.press("j")
    return page


def run(page, count):
    """Press Run and wait until that many settings stand in the table."""
    page.get_by_role("button", name="Run", exact=True).click()
    rows = page.locator(".rk-measures").first.locator("tbody tr")
    expect(rows).to_have_count(count, timeout=45_000)
    expect(page.locator(".st-key-evaluate-live")).to_have_count(0)


def test_judged_questions_are_run_and_read(open_page):
    judge(open_page, QUESTION, "1", "2", "3")
    page = open_page("evaluate")
    expect(page.get_by_role("radio", name=re.compile("Rated on the pages"))).to_be_checked()
    expect(page.locator(".st-key-eval_set")).to_contain_text(re.compile(r"\d+ questions? · \d+"))
    expect(page.locator(".rk-state h2")).to_have_text("This set has not been run yet")
    run(page, 2)
    table = page.locator(".rk-measures").first
    expect(table.locator("thead th")).to_have_text(
        ["Settings", "nDCG@10", "MRR", "Recall@10", "Hit@1", "Unrated", "Time (median)"]
    )
    names = table.locator("tbody th")
    expect(names.filter(has_text="Hybrid")).to_have_count(1)
    expect(names.filter(has_text="Keyword")).to_have_count(1)
    expect(table.locator("tbody td b").first).to_have_text(re.compile(r"[01]\.\d{3}"))
    expect(table.locator("tbody td small").first).to_have_text(re.compile(r"\d\.\d\d – \d\.\d\d"))
    for chart in ("metric", "latency"):
        drawn = page.locator(f".st-key-evaluate-{chart}").locator("canvas, svg")
        expect(drawn.first).to_be_visible()
    expect(page.locator(".rk-notice").filter(has_text="Too few to tell (")).to_be_visible()
    told = page.locator(".st-key-evaluate-change")
    expect(told.locator(".rk-change thead th")).to_have_text(
        ["Metric", "Baseline", "Run", "Change", "p-value"]
    )
    expect(page.locator(".rk-moved h3")).to_have_text(
        [re.compile(r"^Better by .*: \d+ question"), re.compile(r"^Worse by .*: \d+ question")]
    )
    page.get_by_role("button", name="Run ablation").click()
    figures = page.locator(".st-key-ablation-figures")
    expect(figures.locator("h3")).to_have_text(["Keywords", "Vectors", "Contexts"], timeout=120_000)
    expect(page.locator(".st-key-ablation-live")).to_have_count(0)
    rows = page.get_by_role("region", name="Contexts").locator("tbody tr")
    expect(rows).to_have_count(8)
    expect(rows.first.locator("th")).to_have_text("no context, vector")
    expect(figures.locator(".rk-notice").first).to_contain_text("Not run: F1 text + context; F2")
    page.reload()
    expect(figures.locator("canvas, svg").first).to_be_visible()
    expect(figures).to_contain_text("rated on the pages")
    with page.expect_download() as taken:
        figures.get_by_role("button", name="CSV").click()
    assert taken.value.suggested_filename == "ablation.csv"
    page.get_by_text("Import a question set").first.click()
    page.get_by_text("A CSV file with the columns").first.wait_for()
    page.evaluate(AXE)
    assert broken(page, EVERYTHING) == []


def test_a_question_that_changed_leads_to_its_results(open_page, served, tmp_path):
    right = [{"path": "handbook/refund-policy.md"}, {"path": "notes/harbour.txt", "grade": 1}]
    line = json.dumps({"id": "a", "text": "money for a buoy", "relevant": right})
    (tmp_path / "moves.jsonl").write_text(line, "utf-8")
    hostile = "**moves** :red[x] $y^2$ <b>z</b>"
    with served.opened() as library:
        library.judgments.import_file("default", tmp_path / "moves.jsonl", hostile)
        for mode in (Mode.KEYWORD, Mode.VECTOR):
            config = SearchConfig(library.options(mode=mode))
            evaluation = measure(library.experiment("default", hostile), config)
            library.runs.keep(evaluation, "default")
    page = open_page("evaluate")
    page.get_by_text(hostile, exact=True).click()
    moved = page.locator(".rk-moved").first
    expect(moved.locator("h3")).to_have_text("Better by nDCG@10: 1 question")
    expect(page.locator(".rk-change tbody tr").nth(2)).to_have_text(
        re.compile(r"Recall@10\s*0\.500\s*1\.000\s*\+0\.500")
    )
    moved.get_by_role("link", name="money for a buoy").click()
    expect(page.locator(".st-key-q input")).to_have_value("money for a buoy")
    page.locator(".rk-card").first.wait_for()


def test_it_fits_a_small_screen(open_page):
    page = open_page("evaluate", width=400)
    page.locator(".st-key-eval_set, .rk-state").first.wait_for()
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) == 0
