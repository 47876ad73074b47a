"""Contexts in a real browser: written while one looks, paused, killed, mended, edited, shown."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Iterator
from functools import partial

import pytest
from gate import Gate
from ollama_failures import described, passage_of
from ollama_stand_in import OllamaStandIn
from playwright.sync_api import expect
from serving import Served, serving
from support import until as until_

from ragkit.library import Library
from ragkit.settings import load_settings

until = partial(until_, seconds=30.0)

TOPICS = [
    "anchors", "buoys", "cables", "docks", "eels", "floats", "gauges", "hulls", "ice", "jetties",
    "kelp", "lamps",
]  # fmt: skip
PROMOTION = "Ines is offered the promotion to head of the whole office <b>soon</b>."


class Writer:
    """A model that refuses to write of passages with one word, while there is one.

    It may find no decisions.
    """

    def __init__(self) -> None:
        self.refusing = ""
        self.finds_decisions = True

    def reply(self, messages: list[dict[str, str]]) -> str:
        passage = passage_of(messages)
        if self.refusing and self.refusing in passage:
            return json.dumps({**described(passage), "context": ""})
        if "Chief of Staff" in passage:
            return json.dumps({**described(passage), "context": PROMOTION})
        found = described(passage)
        return json.dumps(found if self.finds_decisions else {**found, "decisions": []})


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def writer() -> Writer:
    return Writer()


@pytest.fixture
def ollama(gate: Gate, writer: Writer) -> Iterator[OllamaStandIn]:
    with gate.before(writer.reply) as server:
        yield server


@pytest.fixture
def served(
    tmp_path_factory: pytest.TempPathFactory, chromium: str, ollama: OllamaStandIn
) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("documents") / "letters"
    folder.mkdir()
    for number, topic in enumerate(TOPICS):
        (folder / f"{topic}.md").write_text(f"# About {topic}\n\nLetter {number} on {topic}.\n")
    (folder / "eels.md").write_text(
        "---\nparticipants: [Nora]\n---\n# About eels\n\nLetter 4 on eels. It was agreed that all "
        "eels may stay.\n"
    )
    (folder / "chat.md").write_text("# A chat\n\nNora would like you to be our Chief of Staff.\n")
    with serving(tmp_path_factory, folder, RAGKIT_MODELS__OLLAMA_URL=ollama.url) as running:
        yield running


@pytest.fixture
def library(served: Served) -> Iterator[Library]:
    opened = Library.open(load_settings(library=served.library))
    yield opened
    opened.close()


def test_a_backfill_is_watched_paused_killed_and_resumed(open_page, library, gate, writer, ollama):
    page = open_page("health")
    standing, counts = page.locator("#contexts-standing"), page.locator("#contexts-counts")
    expect(counts).to_contain_text("0 written")
    expect(counts).to_contain_text("13 pending")
    expect(page.get_by_text("Ollama 0.12.0 answers with 2 models.")).to_be_visible()
    expect(page.get_by_role("combobox")).to_have_value("Let ragkit choose")
    expect(page.get_by_text("llama3.2:3b writes contexts.")).to_be_visible()

    def let_written(*numbers: int) -> None:
        for number in numbers:
            until(lambda least=number: len(ollama.asked("/api/chat")) >= least)
            # How it stands is told once a second.
            time.sleep(1.2)
            gate.let(1)
            expect(standing).to_contain_text(f"Writing {number} of 13 chunks")

    let_written(1, 2, 3)
    page.get_by_role("button", name="Pause").click()
    expect(standing).to_contain_text("Paused")
    gate.let(1)
    worker = library.worker.state().record
    until(lambda: library.contexts.status().counts.complete == 4)
    os.kill(worker.pid, signal.SIGKILL)
    until(
        lambda: (
            library.worker.state().record.pid != worker.pid or not library.worker.state().running
        )
    )
    expect(standing).to_contain_text("Paused")
    expect(counts).to_contain_text("4 written")
    page.get_by_role("button", name="Resume").click()
    let_written(5, 6)
    assert library.worker.state().record.pid != worker.pid
    asked = [passage_of(one.body["messages"]) for one in ollama.asked("/api/chat")]
    refused = next(one for one in TOPICS if not any(f"on {one}." in each for each in asked))
    writer.refusing = f"on {refused}."
    gate.open.set()
    expect(standing).to_contain_text("Finished · 12 of 13 chunks, 1 failed", timeout=30_000)
    expect(counts).to_contain_text("12 written")
    expect(counts).to_contain_text("1 failed")
    page.get_by_text("Last errors").click()
    expect(page.locator("#contexts-failures")).to_contain_text(f"{refused}.md")
    writer.refusing = ""
    page.get_by_role("button", name="Retry failed").click()
    expect(standing).to_contain_text("Complete · 13 of 13 chunks", timeout=30_000)
    expect(counts).not_to_contain_text("failed")
    expect(page.locator("#contexts-failures")).to_have_count(0)


def test_what_a_model_wrote_is_on_the_card_as_plain_text(open_page, library, gate):
    gate.open.set()
    until(lambda: library.contexts.status().counts.pending == 0)
    page = open_page("?q=the+promotion")
    card = page.locator('.rk-card[data-path="chat.md"]')
    card.hover()
    card.get_by_text("Details", exact=True).click()
    written = card.locator(".rk-written")
    expect(written).to_contain_text(f"AI context {PROMOTION}")
    expect(written.locator("b")).to_have_count(0)
    expect(written.get_by_role("note")).to_have_attribute("title", re.compile("llama3.2:3b"))
    assert card.get_attribute("id") == "rk-result-0"
    page.get_by_role("button", name="Options").click()
    page.get_by_text("Include AI-written context").click()
    expect(page.locator(".rk-written")).to_have_count(0)


def test_a_context_is_edited_kept_and_searched(open_page, library, gate, writer):
    gate.open.set()
    until(lambda: library.contexts.status().counts.pending == 0)
    identity = library.documents.list(containing="eels")[0].id
    page = open_page(f"document?id={identity}&chunk=1")
    page.get_by_text("Show chunks and contexts").click()
    chunk = page.locator(".rk-chunk").first
    expect(chunk).to_contain_text("AI context")
    chunk.get_by_text("Details").click()
    expect(chunk.locator(".rk-facts")).to_contain_text("llama3.2:3b")
    expect(chunk.locator(".rk-facts")).to_contain_text("Questions it answers")
    page.get_by_role("button", name="Edit context of chunk 1").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Context").fill("The wriggling <i>quokka</i> ledger.")
    # The text is sent when the box is left.
    dialog.get_by_label("Context").press("Control+Enter")
    dialog.get_by_role("button", name="Save").click()
    expect(page.locator("#context-outcome")).to_contain_text("was edited", timeout=30_000)
    expect(chunk).to_contain_text("Edited by you The wriggling <i>quokka</i> ledger.")
    page.get_by_role("button", name="Regenerate all").click()
    expect(page.locator("#context-outcome")).to_contain_text("Nothing to regenerate in eels.md")
    expect(chunk).to_contain_text("Edited by you")
    decided = page.locator("#outcomes a")
    expect(decided).to_have_text("It was agreed that all eels may stay")
    other = open_page("?q=quokka+has:decision")
    expect(other.locator(".rk-card").first).to_have_attribute("data-path", "eels.md")
    other.goto(other.url.partition("?")[0] + str(decided.get_attribute("href")))
    expect(other.locator("#rk-here")).to_have_text("It was agreed that all eels may stay.")
    writer.finds_decisions = False
    page.get_by_role("button", name="Regenerate context of chunk 1").click()
    page.get_by_role("dialog").get_by_role("button", name="Regenerate").click()
    expect(chunk).to_contain_text("AI context", timeout=30_000)
    assert not library.contexts.of_document(identity)[0].answer.by_person
    expect(decided).to_have_count(0, timeout=30_000)


def test_another_model_is_downloaded_and_chosen(open_page, library, ollama):
    ollama.models.pop("llama3.2:3b", None)
    try:
        page = open_page("health")
        get = page.get_by_role("button", name="Download llama3.2:3b")
        get.wait_for(timeout=30_000)
        expect(page.get_by_text("None of its models writes text.")).to_be_visible()
        assert library.contexts.status().chosen == ""
        get.click()
        expect(page.get_by_text("is installed and writes contexts from now on")).to_be_visible(
            timeout=30_000
        )
        until(lambda: library.contexts.status().chosen == "llama3.2:3b")
        expect(page.get_by_role("combobox")).to_have_value("llama3.2:3b")
        page.get_by_role("button", name="Close").click()
        expect(page.get_by_text("is installed and writes contexts from now on")).to_have_count(0)
    finally:
        library.contexts.choose_model("")


def test_without_ollama_the_page_says_what_to_do(open_page, ollama):
    ollama.stop()
    try:
        page = open_page("health")
        missing = page.locator("#ollama-missing")
        expect(missing).to_contain_text("Ollama does not answer at", timeout=30_000)
        expect(missing).to_contain_text("Search works without it")
        expect(page.get_by_role("combobox")).to_have_count(0)
    finally:
        ollama.start()
