"""The Searches page: lists, what a search showed, its address, the switch, and clearing."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

from running import html, run
from support import note_searches

from pages.parts.searches import again, search_lists
from pages.parts.searches.search_lists import Place
from ragkit.indexing.writer import writer_lock
from ragkit.library.search_figures import SearchFigures, repeated
from ragkit.library.search_log import Door, LoggedSearch, Shown
from ragkit.options import ChunkedOptions, Filters, Fusion, Mode
from ragkit.traces import Stage

EVIL = '"><img src=x onerror=alert(1)>\u202e'


def search(library, question, door=Door.PAGE, **options):
    asked = library.options(**options)
    library.searches.note(question, library.search(question, asked), asked, door=door)
    return library.searches.log()[0]


def query_of(url):
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


def test_a_conversation_is_logged_once_however_often_it_is_loaded(filled):
    text = "How fast do reefs grow?\n\nIs the water warm?"
    for _ in range(2):
        run(filled, "conversation", text=text)
    assert [one.question for one in filled.searches.log()] == [text]
    app = run(filled, "conversation")
    with writer_lock(filled.paths.lock, "test"):
        app.text_area(key="long_draft").set_value(text).run()
        app.button(key="long_ask").click().run()
    assert len(filled.searches.log()) == 2


def test_the_page_lists_searches_and_one_is_opened_by_its_address(filled):
    slow = search(filled, "warm reefs", door="mcp", mode="keyword")
    search(filled, "zzqx vrrm")
    said = html(run(filled, "searches"))
    assert "<b>2</b> searches" in said
    assert "<b>1</b> found nothing" in said
    assert said.index("zzqx vrrm") < said.index("warm reefs")
    assert "MCP" in said
    assert "Stages</h2>" not in said
    said = html(run(filled, "searches", open=slow.id))
    assert "Stages</h2>" in said
    assert "reconstruction" in said
    assert ">Coral reefs<" in said.replace("<bdi>", "").replace("</bdi>", "<")
    said = html(run(filled, "searches", show="vain"))
    assert "zzqx vrrm" in said
    assert "warm reefs" not in said


def test_states_without_a_search(filled):
    assert "No searches yet" in html(run(filled, "searches"))
    assert "None yet." in html(run(filled, "health"))
    app = run(filled, "searches")
    with writer_lock(filled.paths.lock, "test"):
        app.toggle(key="searches_kept").set_value(False).run()
    assert not filled.searches.kept
    assert "The log is switched off: no search is written down." in html(app)
    assert "The log is switched off." in html(run(filled, "health"))
    with writer_lock(filled.paths.lock, "test"):
        app.toggle(key="searches_kept").set_value(True).run()
    assert filled.searches.kept
    assert "search_history = false" in search_lists.explained(allowed=False, kept=False)
    none = SearchFigures(0, 0, None, None)
    assert "None are kept" in search_lists.on_health(none, kept=False, allowed=False)


def test_hundreds_of_searches_have_pages_and_days(filled, monkeypatch):
    now = time.time()
    for age, count in ((20, 60), (2, 30)):
        with monkeypatch.context() as patched:
            patched.setattr(time, "time", lambda age=age: now - age * 86400)
            note_searches(filled.searches, *(f"asked {age} {n}" for n in range(count)))
    assert html(run(filled, "searches")).count('title="Search again"') == 50
    app = run(filled, "searches", page="2")
    assert html(app).count('title="Search again"') == 40
    assert dict(app.query_params) == {"page": "2"}
    assert "<b>30</b> searches" in html(run(filled, "searches", days="7"))
    assert "No question was asked more than once" in html(run(filled, "searches", show="repeated"))
    toasts = run(filled, "searches", days="8", show="odd").toast
    assert len(toasts) == 2


def test_a_log_that_cannot_be_read_is_said_and_the_page_of_health_stands(filled):
    filled.paths.search_log.write_text("a file where the folder was")
    for page in ("searches", "health"):
        assert "The log of searches cannot be read: Not a directory." in html(run(filled, page))
    assert "Recent jobs" in html(run(filled, "health"))


# -- searching again ---------------------------------------------------------------------------


def test_a_search_is_asked_again_with_the_options_it_had(filled):
    options = {"mode": "keyword", "limit": 5, "keyword_weight": 0.3, "vector_weight": 0.7}
    one = search(filled, "warm reefs", **options)
    query = query_of(again.url(filled, one))
    assert query == {"q": "warm reefs", "mode": "keyword", "limit": "5", "keyword_weight": "0.3"}
    app = run(filled, **query)
    asked = app.session_state["asked"]
    assert asked == ("warm reefs", filled.options(**options))


def test_what_is_usual_by_now_is_left_out_and_what_was_usual_is_named(filled):
    plain, fused = search(filled, "reefs"), search(filled, "reefs", fusion="rrf")
    filled.collections.set_search("default", {"fusion": "rrf"})
    assert query_of(again.url(filled, fused)) == {"q": "reefs"}
    query = query_of(again.url(filled, plain))
    assert query == {"q": "reefs", "fusion": "weighted"}
    assert run(filled, **query).session_state["asked"][1].fusion is Fusion.WEIGHTED


def test_filters_and_collections_are_in_the_address(filled):
    filled.collections.add("other")
    filled.collections.add("third")
    one = search(filled, "reefs", filters=Filters(types=("md",)), collections=("default",))
    assert query_of(again.url(filled, one)) == {"q": "reefs type:md"}
    for collections, expected in (
        (("other",), {"q": "reefs", "collection": "other"}),
        (("default", "other", "third"), {"q": "reefs", "collection": "*"}),
        (("default", "other"), {"q": "reefs collection:default,other", "collection": "*"}),
    ):
        one = search(filled, "reefs", collections=collections)
        assert query_of(again.url(filled, one)) == expected
        assert "Coral reefs" in html(run(filled, **expected)) or collections == ("other",)
    every = replace(one, collections=(), everywhere=True)
    assert query_of(again.url(filled, every)) == {"q": "reefs", "collection": "*"}
    gone = replace(one, collections=("gone",))
    assert again.url(filled, gone) == again.url(filled, replace(one, cut=True)) == ""


def test_a_long_text_leads_to_conversation(filled):
    chunked = ChunkedOptions(limit=9)
    options = filled.options(mode=Mode.KEYWORD)
    text = "Where do reefs grow?\n\nAnd how warm is the water?"
    answer = filled.search_chunked(text, options, chunked)
    filled.searches.note(text, answer, options, door="command", chunked=chunked)
    url = again.url(filled, filled.searches.log()[0])
    assert url.startswith("conversation?")
    assert query_of(url)["text"] == text
    assert query_of(url)["limit"] == "9"
    assert "Coral reefs" in html(run(filled, "conversation", **query_of(url)))


# -- as HTML -----------------------------------------------------------------------------------


def test_questions_options_and_notes_are_text_and_nothing_else():
    one = LoggedSearch(
        EVIL, 1.0, Door.API, {"mode": "keyword", "gone": EVIL}, (EVIL,), f"path:{EVIL}", 3.2, 2, 4,
        (Shown(1, 0.5), Shown(2, 0.4)), (Stage(EVIL, 1.0, 1, 1, EVIL),),
    )  # fmt: skip
    below = search_lists.details(one, {})
    drawn = search_lists.table([one], {one.id: f"./?q={EVIL}"}, Place(opened=one.id), below)
    drawn += search_lists.repeated_table(repeated([one, one]), {})
    assert "<img" not in drawn
    assert "\u202e" not in re.sub(r'="[^"]*"', "", drawn)
    assert drawn.count("a document that is gone") == 2
    assert 'aria-expanded="true"' in drawn


def test_an_answer_from_memory_and_one_that_is_not_close_say_so():
    one = LoggedSearch("q", 1.0, Door.PAGE, ms=9.0, results=2, documents=7, from_memory=True)
    drawn = search_lists.table([one, replace(one, at=2.0, nothing_close=True)], {}, Place(), "")
    assert drawn.count(">from memory</a>") == 2
    assert "2 of 7<" in drawn
    assert "none close</span>" in drawn
    assert Place("slow", 7, 2, one.id).url == "searches?show=slow&days=7&page=2&open=1000000"
    assert Place().url == "searches"
