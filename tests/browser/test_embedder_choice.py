"""Moving a library to an embedder of Ollama's, from the Library page."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from library_files import write_files
from ollama_stand_in import OllamaStandIn
from playwright.sync_api import expect
from serving import Served, serving
from support import free_port


@pytest.fixture
def served(tmp_path_factory: pytest.TempPathFactory, chromium: str) -> Iterator[Served]:
    """A library for each try: moving it leaves vectors behind that change what comes next.

    Contexts written beside the move would be texts that one of the embedders has not seen.
    """
    folder = tmp_path_factory.mktemp("documents") / "papers"
    write_files(folder)
    with serving(
        tmp_path_factory,
        folder,
        RAGKIT_MODELS__OLLAMA_URL=f"http://127.0.0.1:{free_port()}",
        RAGKIT_MODELS__EMBED_TEXTS="8",
        RAGKIT_MODELS__CONTEXTS="false",
    ) as running:
        yield running


@pytest.fixture
def ollama(served: Served) -> Iterator[OllamaStandIn]:
    """Ollama at the address that the served library looks at."""
    port = served.environment["RAGKIT_MODELS__OLLAMA_URL"].rpartition(":")[2]
    with OllamaStandIn(port=int(port)) as server:
        yield server


def test_moving_to_an_embedder_of_ollamas_and_back(open_page, served, ollama):
    page = open_page("library")
    part = page.locator(".st-key-embedder")
    part.get_by_role("button", name="Change …").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("nomic-embed-text (Ollama)")
    # Why it cannot be measured is still there when it has been chosen again.
    ollama.failure = "html"
    for _ in range(2):
        dialog.get_by_text("nomic-embed-text (Ollama)").click()
        expect(dialog.locator(".rk-notice")).to_contain_text("Ollama")
        expect(dialog).to_contain_text(re.compile(r"texts to embed first\."))
        dialog.get_by_text("WordLlama").first.click()
        expect(dialog).to_contain_text("In use.")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    ollama.failure, ollama.delay = "", 0.6
    part.get_by_role("button", name="Change …").click()
    expect(dialog).to_contain_text("nomic-embed-text (Ollama)")
    expect(dialog).to_contain_text("274 MB")
    dialog.get_by_text("nomic-embed-text (Ollama)").click()
    expect(dialog).to_contain_text(re.compile(r"texts to embed first: \w+"))
    ollama.delay = 0.2
    dialog.get_by_role("button", name="Embed all and switch").click()
    expect(dialog).to_have_count(0)
    expect(part).to_contain_text("Embedding model: nomic-embed-text (Ollama)", timeout=60_000)
    answer = open_page("?q=return+a+buoy")
    expect(answer.locator('.rk-card[data-path="handbook/refund-policy.md"]')).to_be_visible()
    expect(answer.get_by_text("by words alone")).to_have_count(0)
    # Both have a vector of every text, and can be compared.
    columns = "c=mode:vector&c=mode:vector,embedder:wordllama"
    answer.goto(f"{served.url}/compare?q=return+a+buoy&{columns}")
    beside = answer.locator('.rk-column[data-column="1"]')
    expect(beside.locator("h2")).to_have_text("BSemantic, embedded by wordllama")
    expect(beside.locator(".rk-item").first).to_be_visible()
    ollama.stop()
    answer.goto(f"{served.url}/?q=harbour+office+keys")
    expect(answer.locator(".rk-notice")).to_contain_text("These results are by words alone")
    expect(answer.locator('.rk-card[data-path="notes/harbour.txt"]')).to_be_visible()
    part.get_by_role("button", name="Go back to WordLlama").click()
    expect(part).to_contain_text("Embedding model: WordLlama")
    expect(part).to_contain_text("nothing had to be embedded")
    # It is still there when the part has been drawn again.
    page.wait_for_timeout(5_000)
    expect(part).to_contain_text("nothing had to be embedded", timeout=1_000)
