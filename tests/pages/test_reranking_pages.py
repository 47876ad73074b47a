"""Reranking on the Search and Compare pages, run without a browser."""

from __future__ import annotations

import re

import pytest
from grading import grading
from running import html, run
from small_library import add, write_files

from pages.parts.compare import comparison as comparing
from ragkit.evaluation.search_config import from_text, names
from ragkit.indexing.writer import writer_lock
from ragkit.library import Library
from ragkit.options import Rerank
from ragkit.settings import load_settings

FILES = {
    "a.md": "# Turbine\n\nThe turbine turbine turns.\n",
    "b.md": "# Mill\n\nA mill with one turbine is best.\n",
}


@pytest.fixture
def library(tmp_path, monkeypatch, server):
    """A small library, and a model that likes one file better than search does."""
    monkeypatch.setenv("RAGKIT_LIBRARY", str(tmp_path / "library"))
    monkeypatch.setenv("RAGKIT_MODELS__OLLAMA_URL", server.url)
    server.reply = grading(lambda text: 10 if "best" in text else 1)
    opened = Library.open(load_settings(), create=True)
    add(opened, write_files(tmp_path / "papers", FILES))
    yield opened
    opened.close()


def columns(app):
    """The paths of each column, in order."""
    parts = html(app).split('<section class="rk-column"')[1:]
    return [re.findall(r'data-path="([^"]+)"', part) for part in parts]


def test_a_column_is_reranked_and_named_so(library, server):
    app = run(library, "compare", q="turbine", c=["mode:hybrid", "mode:hybrid,rerank:model"])
    assert columns(app) == [["a.md", "b.md"], ["b.md", "a.md"]]
    text = html(app)
    assert "not reranked" in text
    assert "reranked by a model" in text
    assert "llama3.2:3b: 2 of 2 graded" in text
    assert len(server.asked("/api/chat")) == 1
    chosen = [one for one in app.selectbox if one.label == "Rerank"]
    assert [one.value for one in chosen] == ["none", "model"]
    with writer_lock(library.paths.lock, "test"):
        chosen[0].select_index(1).run()
    assert app.query_params["c"] == ["mode:hybrid,rerank:model"] * 2
    assert columns(app) == [["b.md", "a.md"]] * 2


def test_a_column_without_a_model_says_why(library, server):
    server.failure = "broken"
    app = run(library, "compare", q="turbine", c=["mode:hybrid", "mode:hybrid,rerank:model"])
    assert columns(app) == [["a.md", "b.md"]] * 2
    assert "These results are in the usual order, not reranked: Ollama reported" in html(app)
    server.failure = ""
    with writer_lock(library.paths.lock, "test"):
        app.run()
    assert columns(app) == [["a.md", "b.md"], ["b.md", "a.md"]]
    asked = len(server.asked("/api/chat"))
    with writer_lock(library.paths.lock, "test"):
        app.run()
    assert len(server.asked("/api/chat")) == asked


def test_no_preset_asks_a_model():
    for told in comparing.PRESETS.values():
        read = [from_text(one)[0] for one in told]
        assert {one.options.rerank.value for one in read} == {"none"}
        assert "reranked" not in " ".join(names(read))


def test_the_search_page_reranks_when_asked_to(library, server):
    app = run(library, q="turbine")
    assert server.asked("/api/chat") == []
    app.session_state["options_open"] = True
    with writer_lock(library.paths.lock, "test"):
        app.run()
        app.selectbox(key="option_rerank").select("model").run()
    assert re.findall(r'<article[^>]*data-path="([^"]+)"', html(app)) == ["b.md", "a.md"]
    assert "graded 10 of 10 by the model" in html(app)
    assert "Grades decide before scores." in html(app)
    assert len(server.asked("/api/chat")) == 1
    server.failure = "broken"
    with writer_lock(library.paths.lock, "test"):
        app.text_input(key="q").set_value("mill turbine").run()
    assert "not reranked: Ollama reported an error" in html(app)


def test_a_collection_that_reranks_is_searched_so(library):
    record = library.catalog.collections.get("default")
    library.catalog.collections.set_settings(record.id, {"search": {"rerank": "model"}})
    app = run(library, q="turbine")
    assert app.session_state["asked"][1].rerank is Rerank.MODEL
    assert re.findall(r'<article[^>]*data-path="([^"]+)"', html(app)) == ["b.md", "a.md"]
