"""``library.web``: what would leave the machine, what leaves it, and what comes back."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from small_library import HANDBOOK, add, write_files

from ragkit.errors import QueryError, WebError
from ragkit.health.findings import Depth
from ragkit.library import Library
from ragkit.settings import Settings, load_settings
from ragkit.web.results import web_sources

RECORDED = Path(__file__).resolve().parents[1] / "web"
CLIP = "---\nsource: https://port.example/prices\n---\n# Prices\n\nA night costs 20 euros.\n"


@pytest.fixture
def opened(tmp_path):
    """Open a library, with web search as it is set."""
    libraries = []

    def open_(**web) -> Library:
        settings = Settings(library=tmp_path / "library", models={"embedder": "hash"}, web=web)
        libraries.append(Library.open(settings, create=True))
        return libraries[-1]

    yield open_
    for library in libraries:
        library.close()


@pytest.fixture
def searxng(httpserver):
    """A SearXNG as recorded; its settings."""
    httpserver.expect_request("/search").respond_with_data((RECORDED / "searxng.json").read_text())
    return {"engine": "searxng", "url": f"http://127.0.0.1:{httpserver.port}"}


def test_it_is_off_and_says_how_it_is_switched_on(opened):
    web = opened().web
    assert not web.is_on
    for ask in (web.preview, web.search):
        with pytest.raises(WebError, match=r'is off\. To switch it on, set engine = "searxng"'):
            ask("refund")


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("when does the office open", "when does the office open"),
        ('refund "thirty days" path:handbook/ -gift type:pdf', 'refund "thirty days"'),
        ("collection:secret-merger refund NOT gift tag:a,b", "refund"),
        ("framework:legal refund after:2025 from:anna", "refund"),
        ("type:pdf", ""),
        ("  two \n lines\u202e of\x00 text ", "two lines of text"),
    ],
)
def test_only_the_words_of_a_question_would_leave(
    opened, searxng, httpserver, tmp_path, question, words
):
    library = opened(**searxng)
    write_files(tmp_path / "files", HANDBOOK)
    add(library, tmp_path / "files")
    preview = library.web.preview(question)
    assert preview.words == words
    assert preview.host == f"127.0.0.1:{httpserver.port}"
    assert (preview.service, preview.notices) == ("SearXNG", ())
    assert httpserver.log == []


def test_what_was_read_as_a_filter_stays_too(opened, searxng, tmp_path):
    library = opened(**searxng)
    write_files(tmp_path / "files", HANDBOOK)
    add(library, tmp_path / "files")
    question = "refund in the handbook"
    answer = library.search(question)
    assert [(one.filters, one.restricts) for one in answer.readings] == [("path:handbook/", True)]
    assert library.web.preview(question, answer.readings).words == "refund"
    assert library.web.preview(question).words == question


def test_of_a_long_text_only_the_beginning_would_leave(opened, searxng):
    preview = opened(**searxng).web.preview("words of a long letter, " * 50)
    assert preview.words == ("words of a long letter, " * 13).removesuffix(" long letter, ")
    assert len(preview.words) == 298
    assert preview.notices == ("The question is long; these are its first words.",)


def test_the_words_are_sent_as_they_are_and_results_come_back(opened, searxng, httpserver):
    answer = opened(**searxng).web.search("harbour -hours path:x")
    assert [dict(request.args) for request, _ in httpserver.log] == [
        {"q": "harbour -hours path:x", "format": "json"}
    ]
    assert answer.host == f"127.0.0.1:{httpserver.port}"
    assert [one.site for one in answer.results] == ["port.example", "en.wikipedia.org"]
    assert [(one.title, one.folded) for one in answer.folded] == [("Prices", "same_site")]
    assert answer.notices == ()


def test_a_written_answer_cites_the_web_as_such(tmp_path, searxng, server):
    models = {"embedder": "hash", "ollama_url": server.url}
    settings = Settings(library=tmp_path / "library", models=models, web=searxng)
    write_files(tmp_path / "files", {"harbour.md": "# Harbour\n\nThe harbour opens at nine.\n"})
    with Library.open(settings, create=True) as library:
        add(library, tmp_path / "files")
        found = library.web.search("harbour opening")
        local = library.search("when does the harbour open?")
        *_, answer = library.answers.write(local.query, local, extra=web_sources(found.results))
    assert [
        (source.document and source.document.path, source.url, source.title)
        for source in answer.sources
    ] == [
        ("harbour.md", "", ""),
        (None, "https://www.port.example/hours", "Opening hours | Port of Example"),
    ]  # fmt: skip
    assert answer.sources[1].text == "The harbour office is open from 9 to 17 on weekdays."
    assert (answer.holding, len(answer.sentences)) == (2, 2)
    prompt = server.asked("/api/chat")[0].body["messages"][-1]["content"]
    assert (
        'Page of the web "Opening hours | Port of Example":\n'
        "[2] The harbour office is open from 9 to 17 on weekdays.\n"
        "[3] Night moorings need a permit & a deposit.\n\n"
        'Page of the web "Harbor - Wikipedia":\n[4] A harbor is a sheltered body of water.\n'
    ) in prompt


def test_what_the_library_has_is_folded_and_nothing_is_indexed(opened, searxng, tmp_path):
    library = opened(**searxng)
    write_files(tmp_path / "files", {"clip.md": CLIP})
    add(library, tmp_path / "files")
    before = library.documents.counts()
    answer = library.web.search("harbour")
    assert [one.site for one in answer.results] == ["en.wikipedia.org"]
    document = library.documents.list()[0].id
    assert [(one.title, one.folded, one.document) for one in answer.folded] == [
        ("Opening hours | Port of Example", "known_site", None), ("Prices", "known_page", document),
    ]  # fmt: skip
    assert library.documents.counts() == before


@pytest.mark.parametrize(("words", "said"), [(" ", "no words"), ("x" * 301, "more than 300")])
def test_no_words_and_too_many_are_not_sent(opened, searxng, httpserver, words, said):
    with pytest.raises(QueryError, match=said):
        opened(**searxng).web.search(words)
    assert httpserver.log == []


def test_results_that_are_no_pages_are_said_to_be_left_out(opened, searxng, httpserver):
    httpserver.clear()
    good, bad = {"url": "https://a.example", "title": "A"}, {"url": "javascript:x()", "title": "B"}
    httpserver.expect_ordered_request("/search").respond_with_json({"results": [good, bad]})
    httpserver.expect_ordered_request("/search").respond_with_json({"results": [bad]})
    web = opened(**searxng).web
    answer = web.search("buoy")
    assert ([one.title for one in answer.results], answer.notices) == (
        ["A"], ("1 result without a usable address left out.",),
    )  # fmt: skip
    with pytest.raises(WebError, match="has the address of a web page"):
        web.search("buoy")


def test_tavily_is_of_the_internet_and_never_of_this_machine(opened, httpserver):
    key = "tvly-secret"
    web = opened(engine="tavily", url="https://localhost.example.com", key=key).web
    assert web.preview("buoy").host == "localhost.example.com"
    assert opened(engine="tavily", key=key).web.preview("buoy").host == "api.tavily.com"


def test_the_key_is_shown_nowhere(opened, httpserver, tmp_path, caplog, monkeypatch):
    key = "tvly-very-secret"
    monkeypatch.setenv("RAGKIT_WEB__KEY", key)
    web = load_settings(web={"engine": "tavily", "url": f"http://127.0.0.1:{httpserver.port}"}).web
    assert web.key.get_secret_value() == key
    library = opened(**web.model_dump())
    httpserver.expect_request("/search").respond_with_data("{}", 401)
    caplog.set_level(logging.DEBUG)
    with pytest.raises(WebError) as raised:
        library.web.search("merger talks")
    assert httpserver.log[0][0].headers["Authorization"] == f"Bearer {key}"
    library.export(tmp_path / "all.zip")
    findings = [finding.as_json() for finding in library.health.check(Depth.CHECK)]
    settings = f"{library.settings!r} {library.settings.model_dump_json()}"
    told = f"{raised.value!r} {raised.value} {settings} {json.dumps(findings)} {caplog.text}"
    assert key not in told
    # Neither are the words, other than on the wire.
    assert "merger" not in caplog.text.replace(
        "\n".join(line for line in caplog.text.splitlines() if "werkzeug" in line), ""
    )
    for file in [tmp_path / "all.zip", *(tmp_path / "library").rglob("*")]:
        assert not file.is_file() or key.encode() not in file.read_bytes(), file


@pytest.mark.parametrize(
    ("web", "ok", "sentence"),
    [
        ({}, True, "Web search is off."),
        (
            {"engine": "searxng", "url": "http://nas:8888"}, True,
            "Web search is on: what you send goes to nas:8888 (SearXNG).",
        ),
        (
            {"engine": "tavily", "key": "x"}, True,
            "Web search is on: what you send goes to api.tavily.com (Tavily).",
        ),
        ({"engine": "searxng"}, False, "There is no address."),
    ],
)  # fmt: skip
def test_health_says_whether_it_is_on_and_where_words_go(opened, web, ok, sentence):
    findings = opened(**web).health.check(Depth.GLANCE)
    found = next(one for one in findings if one.name == "web")
    assert (found.ok, found.sentence) == (ok, sentence)
