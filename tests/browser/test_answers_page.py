"""Written answers in a real browser: watched, followed to their sources, stopped, gone on from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from uuid import uuid4

import pytest
from axe import AXE, EVERYTHING, broken
from library_files import write_files
from ollama_answers import judged, sources_of
from ollama_failures import described, passage_of
from ollama_stand_in import OllamaStandIn
from playwright.sync_api import expect
from serving import Served, serving
from support import until

REFUND = "?q=how+long+may+a+customer+return+a+buoy%3F"
HOSTILE = (
    "<script>window.stolen = true</script> ![a picture](http://spy.invalid/p.png) [17]\n\n"
    "```html\n<img src=http://spy.invalid/q.png onerror=alert(1)>\n```\n"
    "[read on](javascript:alert(2)) and **bold** [1]"
)


class Writer:
    """A model that quotes the sentence with a word, or says what it was told to say."""

    def __init__(self) -> None:
        self.word, self.says, self.prompt = "", "", ""

    def reply(self, messages: list[dict[str, str]]) -> str:
        if "<claims-" in messages[-1]["content"]:
            return judged(messages)
        sources = sources_of(messages)
        if not sources:
            return str(described(passage_of(messages)))
        self.prompt = messages[-1]["content"]
        number, said = next(
            one for one in re.findall(r"^\[(\d+)\] (.*)$", sources, re.M) if self.word in one[1]
        )
        return self.says or f"{said} [{number}] It takes 45 days [{number}]."


@pytest.fixture(scope="module")
def writer() -> Writer:
    return Writer()


@pytest.fixture(scope="module")
def ollama(writer: Writer) -> Iterator[OllamaStandIn]:
    with OllamaStandIn(reply=writer.reply, pause=0.02) as server:
        yield server


@pytest.fixture(scope="module")
def served(
    tmp_path_factory: pytest.TempPathFactory, chromium: str, ollama: OllamaStandIn
) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("documents") / "papers"
    write_files(folder)
    settings = {"RAGKIT_MODELS__OLLAMA_URL": ollama.url, "RAGKIT_MODELS__EMBED_TEXTS": "8"}
    with serving(tmp_path_factory, folder, **settings) as running:
        yield running


@pytest.fixture(autouse=True)
def _usual(writer, ollama):
    writer.word, writer.says = "", ""
    ollama.pause, ollama.delay = 0.05, 0.0


def ask(page):
    """Have an answer written, and return its element."""
    page.locator("[data-rk=write]").click()
    return page.locator(".rk-answer-written")


def over(answer):
    answer.locator(".rk-answer-foot").wait_for()


def test_an_answer_is_watched_and_its_citation_opens_a_pdf_at_the_sentence(
    open_page, writer, ollama
):
    writer.word, ollama.pause = "zanderfoil", 30.0
    page = open_page("?q=zanderfoil")
    page.locator("[data-rk=write]").wait_for()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("w")
    answer = page.locator(".rk-answer-written")
    answer.locator(".rk-answer-coming, .rk-answer-sentence").first.wait_for(timeout=25_000)
    expect(answer.get_by_role("status")).to_have_text("Writing")
    expect(answer).to_have_attribute("aria-busy", "true")
    ollama.pause = 0.0
    over(answer)
    expect(answer.get_by_role("status")).to_have_text("The answer is complete.")
    expect(answer).to_contain_text("1 of 2 sentences passed the checks")
    expect(answer.locator(".rk-check")).to_have_text("45 is not in the source")
    sources = answer.locator(".rk-answer-sources li")
    expect(sources).to_have_count(1)
    said = answer.locator(".rk-answer-text").text_content()
    page.reload()
    assert answer.locator(".rk-answer-text").text_content() == said
    page.locator("html[data-ragkit-listens]").wait_for(state="attached")
    cite = answer.locator(".rk-cite").first
    cite.focus()
    expect(cite.get_by_role("tooltip")).to_contain_text("zanderfoil")
    cite.click()
    frame = page.locator(".rk-frame.rk-cited").first
    expect(frame).to_be_in_viewport()
    expect(page.locator('.rk-sheet[data-page="3"] .rk-frame.rk-cited')).not_to_have_count(0)
    expect(page.locator(".rk-sheet:not([data-page='3']) .rk-frame")).to_have_count(0)
    expect(page.locator(".rk-found-word")).to_have_count(0)
    page.get_by_role("link", name="Back to the results").click()
    expect(answer.locator(".rk-answer-text")).to_have_text(re.compile("zanderfoil"))


def test_a_follow_up_is_understood_shown_and_taken_back(open_page, writer, ollama):
    page = open_page(REFUND)
    answer = ask(page)
    over(answer)
    answer.get_by_role("button", name="Check each sentence").click()
    expect(answer.locator(".rk-check-holds")).to_have_text(["supported"] * 2)
    expect(answer.get_by_role("button", name="Check each sentence")).to_have_count(0)
    page.evaluate(AXE)
    assert broken(page, EVERYTHING) == []
    first = answer.locator(".rk-answer-text").text_content()
    box = page.get_by_label("Ask a follow-up")
    question = page.get_by_label("Search your documents")
    top = question.bounding_box()["y"]
    ollama.delay = 30.0
    box.fill("and for faulty ones?")
    box.press("Enter")
    page.get_by_text("Reading the question").wait_for()
    assert question.bounding_box()["y"] == top
    ollama.delay = 0.0
    expect(question).to_have_value(re.compile("return a buoy.*faulty"))
    page.locator(".rk-turn summary").click()
    expect(page.locator(".rk-turn .rk-answer-text")).to_have_text(first)
    over(answer)
    address, said = page.url, answer.locator(".rk-answer-text").text_content()
    assert "thread=" in address
    page.reload()
    assert answer.locator(".rk-answer-text").text_content() == said
    expect(page.locator(".rk-said-of").first).to_contain_text("and for faulty ones?")
    page.go_back()
    expect(page.locator(".rk-turn")).to_have_count(0)
    expect(answer.locator(".rk-answer-text")).to_have_text(first)
    page.go_forward()
    expect(page.locator(".rk-said-of").first).to_contain_text("and for faulty ones?")
    for words in ("returning faulty buoys", "buoys that are broken"):
        # What a page before had drawn may stand there for a moment.
        expect(page.get_by_role("button", name="Edit", exact=True)).to_have_count(1)
        page.get_by_role("button", name="Edit", exact=True).click()
        page.get_by_label("Search instead for").fill(words)
        page.get_by_label("Search instead for").press("Enter")
        expect(question).to_have_value(words)
        until(lambda words=words: words in writer.prompt)
        over(answer)
    page.get_by_role("button", name="Search as typed").click()
    expect(question).to_have_value("and for faulty ones?")
    expect(page.locator(".rk-turn")).to_have_count(1)


def test_what_is_being_written_stops_at_once_and_holds_nothing_up(open_page, writer, ollama):
    ollama.pause = 0.1
    writer.says = "A word and another " * 60
    page = open_page("?q=refund")
    answer = ask(page)
    expect(answer.locator(".rk-answer-coming")).to_contain_text("A word")
    answer.get_by_role("button", name="Cancel").click()
    expect(answer.get_by_role("status")).to_have_text("Stopped", timeout=5000)
    expect(answer.locator(".rk-answer-text")).to_contain_text("A word")
    kept = answer.locator(".rk-answer-text").text_content()
    # Another question is answered while an answer is being written.
    box = page.get_by_label("Search your documents")
    box.fill("OAuth tokens")
    box.press("Enter")
    expect(page.locator(".rk-card").first).to_contain_text("Security")
    expect(answer).to_have_count(0)
    ask(page).locator(".rk-answer-coming").wait_for()
    box.fill("harbour office")
    box.press("Enter")
    expect(page.locator(".rk-card").first).to_contain_text("harbour", timeout=10_000)
    expect(answer).to_have_count(0)
    for _ in range(3):
        page.go_back()
    expect(answer.locator(".rk-answer-text")).to_have_text(kept)


def test_what_a_model_writes_is_only_ever_text(open_page, writer):
    writer.says = HOSTILE
    page = open_page(REFUND)
    answer = ask(page)
    over(answer)
    expect(answer).to_contain_text("<script>window.stolen = true</script>")
    expect(answer).to_contain_text("(http://spy.invalid/p.png)")
    expect(answer).to_contain_text("[read on](javascript:alert(2))")
    assert answer.locator("img, script, strong, code, pre").count() == 0
    assert answer.locator("a:not([href^='document?'])").count() == 0
    assert page.evaluate("window.stolen") is None


def test_threads_are_renamed_taken_away_deleted_and_brought_back(open_page, served):
    # Of its own each time: an answer that an earlier try had written would be shown again.
    question, name = (f"{words} {uuid4().hex[:6]}" for words in ("refund", "Money back"))
    page = open_page(f"?q={question}")
    over(ask(page))
    page.goto(served.url)
    rows = page.get_by_role("region", name="Threads").locator("li")
    asked, row = rows.filter(has_text=question), rows.filter(has_text=name)
    asked.hover()
    asked.get_by_role("button", name="Rename").click()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Name", exact=True).press("Enter")
    page.get_by_role("button", name="Rename", exact=True).click()
    expect(asked).to_have_count(0)
    row.hover()
    with page.expect_download() as taken:
        row.get_by_role("link", name="Export as Markdown").click()
    assert name in taken.value.path().read_text("utf-8")
    row.hover()
    row.get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)
    page.get_by_role("region", name="Threads").get_by_role("button", name="Undo").click()
    row.locator(".rk-home-name").click()
    expect(page.get_by_label("Search your documents")).to_have_value(question)
    expect(page.locator(".rk-answer-written .rk-answer-text")).to_be_visible()
