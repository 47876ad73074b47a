"""A question set that a model writes, in a real browser: written, cancelled, asked, and marked."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from gate import Gate
from ollama_failures import asked_about, passage_of
from ollama_stand_in import OllamaStandIn
from playwright.sync_api import expect
from serving import Served, serving

TOPICS = ("anchors", "buoys", "cables", "docks", "eels", "floats")


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def ollama(gate: Gate) -> Iterator[OllamaStandIn]:
    with gate.before(lambda messages: json.dumps(asked_about(passage_of(messages)))) as server:
        yield server


@pytest.fixture
def served(
    tmp_path_factory: pytest.TempPathFactory, chromium: str, ollama: OllamaStandIn
) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("documents") / "letters"
    folder.mkdir()
    for number, one in enumerate(TOPICS):
        words = f"Letter {number} on {one} tells what the harbour of Oberhafen pays for {one}. "
        (folder / f"{one}.md").write_text(f"# About {one}\n\n{words * 4}\n")
    with serving(
        tmp_path_factory,
        folder,
        RAGKIT_MODELS__OLLAMA_URL=ollama.url,
        RAGKIT_MODELS__CONTEXTS="false",
    ) as running:
        yield running


def test_a_set_is_written_cancelled_gone_on_with_and_asked(open_page, gate):
    gate.shut()
    page = open_page("evaluate")
    form = page.locator(".st-key-evaluate-write")
    form.get_by_text("Generate questions with a model").click()
    expect(form.get_by_role("combobox", name="Model")).to_have_value("llama3.2:3b")
    count = form.get_by_role("spinbutton", name="Questions in the set")
    count.fill("8")
    count.press("Enter")
    form.get_by_role("button", name="Generate", exact=True).click()
    writing = page.locator(".st-key-evaluate-writing")
    gate.let(1)
    expect(writing).to_contain_text("Writing questions: 2 of 8")
    expect(form.get_by_role("button", name="Generate", exact=True)).to_be_disabled()
    writing.get_by_role("button", name="Cancel").click()
    expect(writing).to_contain_text("stopping after this passage")
    gate.let(1)
    told = page.locator(".st-key-evaluate-written")
    expect(told).to_contain_text(
        'llama3.2:3b wrote 4 questions; "written" has 4 now. Stopped. '
        "The questions written so far are kept."
    )
    sets = page.locator(".st-key-eval_set")
    expect(sets).to_contain_text("4 questions · 4 ratings · written by llama3.2:3b")

    gate.open.set()
    expect(form.get_by_role("spinbutton", name="Questions in the set")).to_have_value("8")
    form.get_by_role("button", name="Generate", exact=True).click()
    expect(told).to_contain_text('llama3.2:3b wrote 4 questions; "written" has 8 now.')
    expect(sets).to_contain_text("8 questions · 8 ratings · written by llama3.2:3b")
    expect(page.get_by_role("radio", name="written")).to_be_checked()

    page.get_by_role("button", name="Run", exact=True).click()
    rows = page.locator(".rk-measures").first.locator("tbody tr")
    expect(rows).to_have_count(2, timeout=45_000)
    expect(
        page.locator(".rk-notice").filter(has_text="Its figures are too optimistic")
    ).to_be_visible()


def test_without_ollama_it_says_what_to_do(open_page, ollama):
    ollama.stop()
    try:
        page = open_page("evaluate", width=400)
        form = page.locator(".st-key-evaluate-write")
        form.get_by_text("Generate questions with a model").click()
        # What was seen of Ollama counts for 10 s, and the page looks every 5.
        notice = form.locator(".rk-notice")
        expect(notice).to_contain_text("import a question set", timeout=30_000)
        expect(form.get_by_role("button", name="Generate", exact=True)).to_have_count(0)
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(wide) == 0
    finally:
        ollama.start()
