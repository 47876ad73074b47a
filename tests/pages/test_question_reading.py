"""What the Search page says of how it read a question."""

from __future__ import annotations

import json

import pytest
from running import html, run
from small_library import add, write_files

from pages.parts.search import summary
from ragkit.indexing.writer import writer_lock
from ragkit.library import Library
from ragkit.results import Answer, FilterReading
from ragkit.settings import load_settings
from ragkit.traces import Trace

FILES = {
    "mill.py": "def mill():\n    return 'a turbine'\n",
    "mill.md": "# Mill\n\nThe turbine of the mill, and an example.\n",
}


@pytest.fixture
def library(tmp_path, monkeypatch, server):
    monkeypatch.setenv("RAGKIT_LIBRARY", str(tmp_path / "library"))
    monkeypatch.setenv("RAGKIT_MODELS__OLLAMA_URL", server.url)
    opened = Library.open(load_settings(), create=True)
    add(opened, write_files(tmp_path / "files", FILES))
    yield opened
    opened.close()


def test_a_chip_has_its_words_searched_and_writes_out_the_others():
    question = "mails from <Anna>"
    readings = (
        FilterReading("mails", "type:mail", True, 0, 5),
        FilterReading("from <Anna>", "from:<Anna>", True, 6, 17),
        FilterReading("May", "date:2026-05", False),
    )
    chips = summary.reading_chips(Answer(question, (), Trace(), readings=readings))
    assert 'data-question="from &lt;Anna&gt; type:mail"' in chips
    assert 'data-question="mails from:&lt;Anna&gt;"' in chips
    assert 'data-rk="filter" data-token="date:2026-05"' in chips
    assert "<Anna>" not in chips
    assert summary.reading_chips(Answer(question, (), Trace())) == ""


def test_what_was_read_is_a_chip_until_the_question_is_asked_as_typed(library):
    app = run(library, q="python files with a turbine")
    assert "“<bdi>python files with</bdi>” read as <bdi>type:python</bdi>" in html(app)
    assert 'data-path="mill.md"' not in html(app)
    app = run(library, q="python files with a turbine", as_typed="python files with a turbine")
    assert "read as" not in html(app)
    assert 'data-path="mill.md"' in html(app)


def test_what_is_only_offered_restricts_nothing(library):
    app = run(library, q="python example")
    assert "Only <bdi>type:python</bdi>" in html(app)
    assert 'data-path="mill.md"' in html(app)
    assert "Only <bdi>" not in html(run(library, q="python example", read_filters="false"))


def test_a_compared_column_says_how_it_read_the_question(library):
    columns = ["mode:hybrid", "mode:hybrid,read_filters:false"]
    app = run(library, "compare", q="python files with a turbne", c=columns)
    first, second = html(app).split('<section class="rk-column"')[1:]
    assert "&quot;python files with&quot; read as type:python" in first
    assert "Also searched: turbine for turbne" in first
    assert "read as type:python" not in second
    assert "nothing read as filters" in second


def test_other_words_are_an_option_of_the_page_and_its_address(library, server):
    server.reply = lambda _messages: json.dumps({"texts": ["wheels & oak"]})
    app = run(library, q="turbine")
    assert server.asked("/api/chat") == []
    app.session_state["options_open"] = True
    with writer_lock(library.paths.lock, "test"):
        app.run()
        app.selectbox(key="option_phrasings").select("step_back").run()
    assert app.query_params["phrasings"] == "step_back"
    assert "A more general question" in html(app)
    assert "wheels &amp; oak" in html(app)
    assert len(server.asked("/api/chat")) == 1
    server.failure = "broken"
    with writer_lock(library.paths.lock, "test"):
        app.text_input(key="q").set_value("mill turbine").run()
    assert "Only the question itself was asked: Ollama reported an error" in html(app)


def test_a_compared_column_asks_in_other_words_and_says_what_they_brought(library, server):
    server.reply = lambda _messages: json.dumps({"texts": ["wheels & oak"]})
    app = run(library, "compare", q="turbine", c=["mode:hybrid", "mode:hybrid,phrasings:hyde"])
    assert html(app).count("wheels &amp; oak") == 1
    assert "a hypothetical answer too" in html(app)
    assert len(server.asked("/api/chat")) == 1
