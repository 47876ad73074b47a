"""What each service is sent, and what is made of its answers, good and bad."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragkit.errors import WebError
from ragkit.settings import WebSettings
from ragkit.web.addresses import service_address
from ragkit.web.connection import WebConnection
from ragkit.web.engines import ask

RECORDED = {
    name: (Path(__file__).parent / f"{name}.json").read_text() for name in ("searxng", "tavily")
}
KEY = "tvly-0123456789"


@pytest.fixture
def answer(httpserver):
    """Have the service answer with a text, and ask it."""

    def asked(
        engine: str, text: str = "", status: int = 200, content_type="application/json", key=KEY
    ):
        settings = WebSettings(
            engine=engine, url=f"http://127.0.0.1:{httpserver.port}/base/", key=key, results=3
        )
        httpserver.expect_request("/base/search").respond_with_data(
            text or RECORDED[engine], status, content_type=content_type
        )
        return ask(settings, WebConnection(service_address(settings.url), 5.0), "harbour & hours")

    return asked


def test_searxng_is_sent_the_words_and_nothing_else(answer, httpserver):
    found = answer("searxng")
    assert [item["title"] for item in found.items] == [
        "Opening hours | Port of Example", "Prices", "Harbor - Wikipedia",
    ]  # fmt: skip
    assert found.notices == ()
    request = httpserver.log[0][0]
    assert (request.method, request.path, request.data) == ("GET", "/base/search", b"")
    assert dict(request.args) == {"q": "harbour & hours", "format": "json"}
    assert KEY not in str(request.headers)


def test_tavily_is_sent_the_words_the_number_of_results_and_the_key(answer, httpserver):
    assert [item["score"] for item in answer("tavily").items] == [0.91, 0.455]
    request = httpserver.log[0][0]
    assert (request.method, request.path, request.query_string) == ("POST", "/base/search", b"")
    assert request.json == {
        "query": "harbour & hours", "max_results": 6, "search_depth": "basic",
        "include_answer": False, "include_raw_content": False, "include_images": False,
    }  # fmt: skip
    assert request.headers["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("engine", "status", "said"),
    [
        ("searxng", 403, "must be among search.formats"),
        ("searxng", 404, "There is no SearXNG at 127.0.0.1"),
        ("searxng", 429, "asked too often. Wait a while, or set server.limiter to false"),
        ("searxng", 401, "wants a login"),
        ("searxng", 500, r"answered with an error \(HTTP 500\)"),
        ("tavily", 400, "did not understand"),
        ("tavily", 401, "Tavily does not know the key. Set key under"),
        ("tavily", 429, "asked too often. Wait a minute"),
        ("tavily", 432, "limit of your plan"),
        ("tavily", 433, "limit that you set for paying"),
        ("tavily", 502, r"\(HTTP 502\)"),
    ],
)
def test_a_refusal_is_told_in_words(answer, engine, status, said):
    with pytest.raises(WebError, match=said) as raised:
        answer(engine, '{"detail": {"error": "no"}}', status)
    assert KEY not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "content_type", "said"),
    [
        ("<!doctype html><p>Hello", "text/html", "a web page that is not JSON"),
        ("  <html>", "application/json", "a web page that is not JSON"),
        ("{", "application/json", "something that is not JSON"),
        ("[" * 100_000, "application/json", "something that is not JSON"),
        ("1" * 5_000, "application/json", "something that is not JSON"),
        ("\xff\xfe", "application/json", "not JSON"),
        ("[]", "application/json", "did not send a list of results"),
        ('{"results": {"0": {}}}', "application/json", "did not send a list of results"),
        ("null", "application/json", "did not send a list of results"),
    ],
)
@pytest.mark.parametrize("engine", ["searxng", "tavily"])
@pytest.mark.usefixtures("nothing_collected")
def test_what_is_no_list_of_results_is_refused(answer, engine, text, content_type, said):
    with pytest.raises(WebError, match=said):
        answer(engine, text, content_type=content_type)


def test_no_results_name_the_engines_that_did_not_answer(answer):
    empty = json.dumps(json.loads(RECORDED["searxng"]) | {"results": [1, None]})
    found = answer("searxng", empty)
    assert found.items == ()
    assert found.notices == ("These search engines did not answer it: google: CAPTCHA.",)


@pytest.mark.parametrize("silent", ['{"a": 1}', '["google", 3]', "null", '[["a", {"b": 1}, 2]]'])
def test_engines_that_did_not_answer_may_be_anything(answer, silent):
    found = answer("searxng", f'{{"results": [], "unresponsive_engines": {silent}}}')
    assert found.items == ()
    assert len(found.notices) <= 1


@pytest.mark.parametrize(
    ("key", "said"),
    [("", "needs a key"), ("a\r\nX: 1", "characters that no key"), ("schlüssel", "characters that"),
     ("a b", "characters that"), ("x" * 500, "characters that")],
)  # fmt: skip
def test_a_key_that_is_none_is_not_sent_and_not_shown(answer, httpserver, key, said):
    with pytest.raises(WebError, match=said) as raised:
        answer("tavily", key=key)
    assert httpserver.log == []
    assert not key or key not in str(raised.value)
