"""Results of a service as plain values: cleaned, scored, and one a site."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragkit.web.reading import KnownPage, one_a_site, page_of, plain, read_results, safe_url
from ragkit.web.results import Folded, WebResult, web_sources

FOLDER = Path(__file__).parent


def recorded(name: str) -> list[WebResult]:
    results, left_out = read_results(json.loads((FOLDER / f"{name}.json").read_text())["results"])
    assert left_out == 0
    return results


def item(**values: object) -> dict[str, object]:
    return {"title": "Buoys", "url": "https://buoy.example/", "content": "A buoy floats.", **values}


def one(**values: object) -> WebResult:
    (result,), _ = read_results([item(**values)])
    return result


def test_results_of_searxng():
    first, second, third = recorded("searxng")
    assert first.title == "Opening hours | Port of Example"
    assert first.text.endswith("on weekdays. Night moorings need a permit & a deposit.")
    assert (first.engine, first.published, first.site) == ("duckduckgo", "", "port.example")
    assert second.published == "2025-03-14"
    scores = [round(result.score, 4) for result in (first, second, third)]
    assert scores == [1.0, 0.6, 0.2667]


def test_results_of_tavily():
    first, second = recorded("tavily")
    assert (first.score, round(second.score, 4)) == (1.0, 0.6)
    assert (second.engine, second.published) == ("", "2025-03-14")


def test_the_parts_of_a_score_add_up_and_one_is_for_being_of_the_web():
    for result in [*recorded("searxng"), *recorded("tavily")]:
        engine, web = result.contributions
        assert (web.index, web.weight, web.value) == ("web", 0.2, 0.2)
        assert engine.value == engine.weight * engine.normalised
        assert result.score == engine.value + web.value


@pytest.mark.parametrize(
    "score", [float("nan"), float("inf"), None, "9", -3, True, [], {}, 10**400, 0]
)
def test_a_score_that_is_none_counts_as_nothing(score):
    better, worse = item(url="https://a.example", score=0.5), item(score=score)
    results, _ = read_results([worse, better])
    assert [result.site for result in results] == ["a.example", "buoy.example"]
    assert [result.score for result in results] == [1.0, 0.2]


def test_without_scores_their_order_counts():
    results, _ = read_results([item(url=f"https://{name}.example") for name in "abc"])
    assert [result.site for result in results] == ["a.example", "b.example", "c.example"]
    assert [round(result.score, 3) for result in results] == [1.0, 0.6, 0.467]


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "file:///etc/passwd",
        "//buoy.example", "buoy.example", "https://", "https://user@buoy.example",
        "https://google.com@evil.example", "https://a b.example", "https://a.example/\u202egpj",
        "https://a.example/\x00", "https://a.example\\@evil.example", "https://[::1",
        "https://a.example:99999", "https://a..b", "https://" + "x" * 3000 + ".example", None, 3,
        ["https://a.example"], "",
    ],
)  # fmt: skip
def test_an_address_that_may_be_no_link_is_left_out(url):
    results, left_out = read_results([item(url=url), item()])
    assert [result.url for result in results] == ["https://buoy.example/"]
    assert left_out == 1


def test_a_host_in_look_alike_letters_is_seen():
    assert safe_url("https://аpple.example/x") == "https://xn--pple-43d.example/x"
    assert safe_url(" HTTPS://Buoy.Example:8443/a?b#c ") == "https://buoy.example:8443/a?b#c"
    assert safe_url("http://[2606:4700::1111]/") == "http://[2606:4700::1111]/"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("<p>A <b>buoy</b><script>x()</script>", "A buoy x()"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("&lt;b&gt; &amp; &#x202e;right", "<b> & right"),
        ("a\x00b\x1b[31m\x07\u200bc\u202ed\u2066e\ufefff\U000e0041g", "ab[31mcdefg"),
        (" many \n\n lines\t ", "many lines"),
        ("lone \ud800 surrogate", "lone surrogate"),
        ("<" * 50_000, "<" * 29 + "…"),
        ("x" * 100, "x" * 29 + "…"),
        (None, ""), (3, ""), (["a"], ""),
    ],
)  # fmt: skip
def test_text_is_plain(value, text):
    assert plain(value, 30) == text


def test_fields_of_other_types_are_empty():
    result = one(title=None, content=[1], engine={}, publishedDate=20250314, score="x")
    assert (result.title, result.text, result.engine, result.published) == (
        "buoy.example", "", "", "",
    )  # fmt: skip
    assert one(publishedDate="yesterday").published == ""
    assert one(published_date="2025-03-14T10:00:00Z").published == "2025-03-14"


def test_one_page_is_one_result_however_its_address_is_written():
    urls = (
        "https://www.buoy.example/a/",
        "http://buoy.example/a?utm_source=x",
        "https://buoy.example/a#b",
    )
    assert {page_of(url) for url in urls} == {"buoy.example/a"}
    results, left_out = read_results([item(url=url) for url in urls])
    assert ([result.url for result in results], left_out) == ([urls[0]], 0)


def test_one_a_site_is_shown_and_what_the_library_has_is_not():
    places = (
        "a.example/1", "www.a.example/2", "b.example/known", "b.example/other", "c.example/",
        "notb.example/", "d.example/",
    )  # fmt: skip
    results, _ = read_results([item(url=f"https://{place}") for place in places])
    known = [KnownPage(7, "http://www.b.example/known?utm_medium=x"), KnownPage(8, "https://[bad")]
    shown, folded = one_a_site(results, known, most=3)
    assert [result.site for result in shown] == ["a.example", "c.example", "notb.example"]
    assert [(result.site, result.folded, result.document) for result in folded] == [
        ("a.example", Folded.SAME_SITE, None),
        ("b.example", Folded.KNOWN_PAGE, 7),
        ("b.example", Folded.KNOWN_SITE, None),
    ]


def test_a_known_page_is_known_however_its_host_is_written():
    results, _ = read_results([item(url="https://xn--bcher-kva.example/a")])
    shown, folded = one_a_site(results, [KnownPage(7, "https://Bücher.example/a")], most=5)
    assert (shown, [result.document for result in folded]) == ((), [7])


def test_sentences_can_be_cited_with_their_page():
    result = one(content="A buoy floats. It is red.", title="Buoys")
    assert [(source.text, source.start, source.end) for source in web_sources([result])] == [
        ("A buoy floats.", 0, 14), ("It is red.", 15, 25),
    ]  # fmt: skip
    for source in web_sources([result]):
        assert (source.document, source.url, source.title) == (
            None, "https://buoy.example/", "Buoys",
        )  # fmt: skip
    assert web_sources([one(content="")]) == ()
