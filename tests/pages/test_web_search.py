"""Searching the web from the Search page: nothing goes out before the click, and once by it."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import APP, html
from streamlit.testing.v1 import AppTest
from support import until
from werkzeug import Response

from pages.parts.search.web import card, goes_to, results_html
from ragkit.indexing.writer import writer_lock
from ragkit.results import Contribution
from ragkit.web.results import Folded, WebAnswer, WebPreview, WebResult

RECORDED = (Path(__file__).resolve().parents[1] / "web" / "searxng.json").read_text()
PARTS = (
    Contribution("engine", 1, 3.0, 0.5, 0.8, 0.4),
    Contribution("web", 0, 1.0, 1.0, 0.2, 0.2),
)
HIT = WebResult(
    "Opening hours", "https://port.example/hours?a=1&b=2", "Open from 9 to 17.", "brave",
    "2025-03-14", 0.6, PARTS,
)  # fmt: skip


@pytest.fixture
def page(library, tmp_path, httpserver, monkeypatch):
    """A Search page that may ask a SearXNG, with a document about harbours."""
    (tmp_path / "papers" / "merger").mkdir(parents=True)
    (tmp_path / "papers" / "merger" / "harbour.md").write_text("# Harbour\n\nIt opens at nine.\n")
    library.jobs.wait(library.sources.sync(library.sources.add_folder(tmp_path / "papers")))
    monkeypatch.setenv("RAGKIT_WEB__ENGINE", "searxng")
    monkeypatch.setenv("RAGKIT_WEB__URL", f"http://127.0.0.1:{httpserver.port}")
    httpserver.expect_request("/search").respond_with_data(RECORDED)
    with writer_lock(library.paths.lock, "test"):

        def asked(question: str) -> AppTest:
            app = AppTest.from_file(str(APP), default_timeout=120)
            app.query_params["q"] = question
            return app.run()

        yield asked


def again(app):
    """Draw it again with the offer open, which is a state of the browser's."""
    app.session_state["web_open"] = True
    return app.run()


def words_in(app):
    return next(one for one in app.text_input if one.key.startswith("web_words"))


def send(app):
    next(one for one in app.button if one.label.startswith("Send to")).click()
    return again(app)


def ask(app, question):
    app.text_input(key="q").set_value(question)
    return again(app)


def sent(httpserver):
    return [dict(request.args) for request, _ in httpserver.log]


def test_while_it_is_off_the_page_does_not_mention_it(page, monkeypatch):
    monkeypatch.setenv("RAGKIT_WEB__ENGINE", "")
    app = page("harbour")
    assert "Harbour" in html(app)
    assert list(app.expander) == []


def test_nothing_goes_out_before_the_click_and_only_the_shown_words_by_it(page, httpserver):
    app = again(page("harbour hours path:merger/ -gift"))
    assert words_in(app).value == "harbour hours"
    assert f"They go to <b>127.0.0.1:{httpserver.port}</b> (SearXNG)" in html(app)
    words_in(app).set_value("harbour secret")
    again(again(app))
    assert sent(httpserver) == []
    assert 'class="rk-web"' not in html(app)
    words_in(app).set_value("harbour opening hours")
    send(app)
    assert sent(httpserver) == [{"q": "harbour opening hours", "format": "json"}]
    assert "2 results from the web for <b><bdi>harbour opening hours</bdi></b>" in html(app)
    assert "1 more page of sites above or in your library" in html(app)


def test_redrawing_and_the_same_words_again_send_nothing(page, httpserver):
    app = send(again(page("harbour")))
    again(again(app))
    assert 'class="rk-web"' in html(app)
    assert sent(httpserver) == [{"q": "harbour", "format": "json"}]
    ask(app, "harbour type:md")
    assert 'class="rk-web"' not in html(app)
    assert words_in(app).value == "harbour"
    send(app)
    assert 'class="rk-web"' in html(app)
    ask(app, "harbour")
    assert 'class="rk-web"' in html(app)
    assert len(httpserver.log) == 1


def test_a_failure_is_told_and_sent_again_only_by_another_click(page, httpserver):
    httpserver.clear()
    httpserver.expect_ordered_request("/search").respond_with_response(Response("no", 403))
    httpserver.expect_ordered_request("/search").respond_with_data(RECORDED)
    app = send(again(page("harbour")))
    said = html(app)
    assert "does not answer in JSON. In its settings.yml, json must be among search.formats" in said
    again(app)
    assert len(httpserver.log) == 1
    assert 'class="rk-web"' in html(send(app))
    assert len(httpserver.log) == 2


def test_a_model_that_writes_reads_what_the_web_has(page, server, monkeypatch):
    monkeypatch.setenv("RAGKIT_MODELS__OLLAMA_URL", server.url)

    def prompts(app):
        app.session_state["answer_wanted"] = "harbour"
        again(app)
        return [asked.body["messages"][-1]["content"] for asked in server.asked("/api/chat")]

    app = send(again(page("harbour")))
    prompt = until(lambda: prompts(app))[0]
    assert 'Page of the web "Opening hours | Port of Example":' in prompt
    assert "The harbour office is open from 9 to 17 on weekdays." in prompt
    assert "A night costs 20 euros." not in prompt


def test_words_of_a_model_are_not_offered(page, server, monkeypatch):
    """What a model made of a follow-up may hold words of documents."""
    monkeypatch.setenv("RAGKIT_MODELS__OLLAMA_URL", server.url)
    server.reply = lambda messages: '{"question": "When does the harbour open at nine in winter?"}'
    app = again(page("when does the harbour open?"))
    app.session_state["follow_up_typed"] = "and in winter?"
    again(app)
    assert app.text_input(key="q").value == "When does the harbour open at nine in winter?"
    assert "nine" not in words_in(app).value
    assert {"harbour", "winter"} <= set(words_in(app).value.strip("?").split())


def test_a_wrong_address_is_told_when_it_is_opened(page, monkeypatch):
    monkeypatch.setenv("RAGKIT_WEB__URL", "http://searx.example.com")
    said = html(again(page("harbour")))
    assert "not in your own network, and http:// is not encrypted" in said


def test_a_question_of_filters_alone_sends_nothing(page, httpserver):
    app = send(again(page("type:md")))
    assert "There are no words to send." in html(app)
    assert httpserver.log == []


# -- as HTML -----------------------------------------------------------------------------------


def test_a_result_is_marked_as_of_the_web_with_its_site_and_parts_of_its_score():
    shown = card(HIT, "open hours")
    assert '<span class="rk-web-mark">Web</span>' in shown
    assert (
        'href="https://port.example/hours?a=1&amp;b=2" target="_blank" '
        'rel="noopener noreferrer nofollow"'
    ) in shown
    assert "port.example · 2025-03-14 · brave" in shown
    assert "<mark>Open</mark> from 9 to 17." in shown
    assert "Score 0.60 = search engine (rank 1) 0.50 × 0.80 + web 1.00 × 0.20." in shown


def test_whatever_a_service_sends_comes_out_as_text():
    hostile = "<img src=x onerror=alert(1)> **bold** [x](javascript:y) \u202eevil"
    shown = results_html(
        WebAnswer(hostile, hostile, (WebResult(hostile, "javascript:x()", hostile, hostile),),
                  notices=(hostile,))
    )  # fmt: skip
    assert "<img" not in shown
    assert "href" not in shown
    assert "&lt;img src=x onerror=alert(1)&gt; **bold** [x](javascript:y)" in shown


def test_what_says_nothing_new_is_folded_and_leads_to_the_document_that_it_is():
    known = WebResult(
        "Prices", "https://port.example/p", "", "", folded=Folded.KNOWN_PAGE, document=7
    )
    shown = results_html(WebAnswer("x", "h", (), (known,)))
    assert "No results from the web for" in shown
    assert "1 more page of sites above or in your library" in shown
    assert '<a class="rk-link" target="_self" data-rk="open" href="document?id=7"' in shown
    assert ">this page is in your library</a>" in shown


def test_where_words_go_is_said():
    assert goes_to(WebPreview("x", "api.tavily.com", "Tavily", ("Cut.",))) == (
        '<p class="rk-soft">Cut. They go to <b>api.tavily.com</b> (Tavily). Nothing else goes: '
        "no document, no filter, no earlier search.</p>"
    )
