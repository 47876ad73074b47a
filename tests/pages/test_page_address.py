"""The address is the state: what it holds is taken into a page, and what changes is written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from openpyxl import Workbook
from running import html, run
from small_library import add, write_files
from streamlit.testing.v1 import AppTest

from pages.parts.common import address as address_module
from pages.parts.common import kept_texts, option_controls
from ragkit.indexing.writer import writer_lock
from ragkit.library import Library
from ragkit.option_codec import parse_option
from ragkit.options import SEARCH_OPTIONS, Fusion, Mode, SearchOptions


@pytest.fixture
def filled(library: Library, tmp_path: Path) -> Library:
    refund = "# Refund policy\n\nA full refund within 30 days.\n"
    add(library, write_files(tmp_path / "papers", {"refund.md": refund}))
    return library


def address(app: AppTest) -> dict[str, str | list[str]]:
    return dict(app.query_params)


def again(library: Library, app: AppTest) -> AppTest:
    with writer_lock(library.paths.lock, "test"):
        return app.run()


def test_options_of_the_address_are_those_of_the_search(filled):
    app = run(filled, q="refund", mode="keyword", limit="5", keyword_weight="0.3",
              mmr_lambda="0.4", contexts="structural")  # fmt: skip
    _question, asked = app.session_state["asked"]
    assert (asked.mode, asked.mmr_lambda) == (Mode.KEYWORD, 0.4)
    assert app.session_state["option_limit"] == 5
    assert (asked.keyword_weight, asked.vector_weight) == (0.3, 0.7)
    assert asked.contexts.value == "structural"
    assert address(app) == {
        "q": "refund", "mode": "keyword", "limit": "5", "keyword_weight": "0.3",
        "mmr_lambda": "0.4", "contexts": "structural",
    }  # fmt: skip


def test_an_address_that_is_on_its_way_to_the_browser_is_not_gone_back_to(filled, monkeypatch):
    app = run(filled, q="refund")
    with writer_lock(filled.paths.lock, "test"):
        app.text_input(key="q").set_value("return").run()
        assert address(app) == {"q": "return"}
        # A part of the page that is drawn anew sends the address that the browser still has.
        app.query_params["q"] = "refund"
        app.run()
        assert (app.text_input(key="q").value, address(app)) == ("return", {"q": "return"})
        # Later it is where the person has gone.
        later = address_module.time.monotonic() + 3600
        monkeypatch.setattr(address_module.time, "monotonic", lambda: later)
        app.query_params["q"] = "refund"
        app.run()
        assert (app.text_input(key="q").value, address(app)) == ("refund", {"q": "refund"})


def test_a_collection_that_is_gone_is_said_above_the_results(filled):
    gone = 'The collection "Private" does not exist any more; "default" is searched instead.'
    app = run(filled, q="refund", collection="Private")
    assert gone.replace('"', "&quot;") in html(app)
    assert address(app) == {"q": "refund"}
    assert not app.toast
    with writer_lock(filled.paths.lock, "test"):
        app.text_input(key="q").set_value("return").run()
    assert "does not exist any more" not in html(app)
    (told,) = run(filled, "conversation", collection="Private").toast
    assert told.value.replace("\\", "") == (
        'The collection "Private" does not exist any more; all collections are searched instead.'
    )
    (told,) = run(filled, "library", collection="Private").toast
    assert told.value.replace("\\", "").endswith('"default" is shown instead.')


def test_a_collection_that_was_renamed_is_said_to_be_gone_though_it_was_the_usual_one(filled):
    filled.collections.rename("default", "Home")
    gone = 'The collection "default" does not exist any more; '
    said = html(run(filled, q="refund", collection="default"))
    assert f'{gone}"Home" is searched instead.'.replace('"', "&quot;") in said
    filled.collections.add("Another")
    app = run(filled, q="refund", collection="default")
    assert f"{gone}all collections are searched instead.".replace('"', "&quot;") in html(app)
    assert "Refund policy" in html(app)
    assert address(app) == {"q": "refund"}
    for page in ("library", "compare"):
        app = run(filled, page, collection="default")
        does = "shown" if page == "library" else "searched"
        assert app.toast[0].value.replace("\\", "") == f'{gone}"Another" is {does} instead.'
        assert address(app) == {}


def test_a_document_that_is_gone_leads_back_to_the_results_it_came_from(filled):
    said = html(run(filled, "document", id="99", find="refund"))
    assert "There is no document 99." in said
    assert 'href="./?q=refund"' in said
    app = run(filled, "document", id="99")
    assert "./?q=" not in html(app)


def test_every_option_of_the_address_acts_or_is_said_to_mean_nothing(filled):
    app = run(filled, q="refund", per_document="3", rrf_k="7", keyword_weight="1.5",
              vector_weight="0.2")  # fmt: skip
    _question, asked = app.session_state["asked"]
    assert (asked.per_document, asked.rrf_k) == (3, 7)
    assert (asked.keyword_weight, asked.vector_weight) == (0.5, 0.5)
    assert address(app) == {"q": "refund", "per_document": "3", "rrf_k": "7"}
    said = " ".join(toast.value for toast in app.toast).replace("\\", "")
    assert "keyword_weight=1.5" in said
    assert "vector_weight=0.2" in said


def test_what_all_topics_find_is_folded_and_ordered_as_address_settings_and_controls_say(
    filled, monkeypatch
):
    found = []
    search = Library.search_chunked
    names = ("mmr_lambda", "near_duplicates", "semantic_threshold", "min_score")

    def noted(self, text, options, chunked):
        found.append(tuple(getattr(options, name) for name in names))
        return search(self, text, options, chunked)

    monkeypatch.setattr(Library, "search_chunked", noted)
    sent = {"mmr_lambda": "0.2", "near_duplicates": "true", "semantic_threshold": "0.9",
            "min_score": "0.1"}  # fmt: skip
    app = run(filled, "conversation", text="Can I have a refund?", **sent)
    assert address(app) == {"text": "Can I have a refund?", **sent}
    filled.collections.set_search("default", {"mmr_lambda": 0.4, "near_duplicates": True})
    app = run(filled, "conversation", text="Can I have a refund?")
    assert app.toggle(key="long_option_mmr_lambda").value
    app.toggle(key="long_option_mmr_lambda").set_value(False)
    app.toggle(key="long_option_near_duplicates").set_value(False)
    app.toggle(key="long_option_semantic_threshold").set_value(True)
    app.slider(key="long_option_min_score").set_value(0.2)
    again(filled, app)
    assert found == [
        (0.2, True, 0.9, 0.1),
        (0.4, True, None, 0.0),
        (None, False, 0.95, 0.2),
    ]


def test_what_is_changed_is_written_and_defaults_are_left_out(filled):
    app = run(filled, q="refund")
    assert address(app) == {"q": "refund"}
    app.selectbox(key="mode").select("keyword")
    assert address(again(filled, app)) == {"q": "refund", "mode": "keyword"}
    app.selectbox(key="mode").select("hybrid")
    app.text_input(key="q").set_value("")
    again(filled, app)
    assert address(app) == {}


def test_another_address_leads_to_its_own_state(filled):
    app = run(filled, q="refund", mode="keyword")
    app.query_params.clear()
    app.query_params["q"] = "days"
    again(filled, app)
    assert app.text_input(key="q").value == "days"
    assert app.selectbox(key="mode").value == "hybrid"


def test_what_means_nothing_is_left_out_with_a_notice(filled):
    app = run(filled, q="refund", mode="loud", limit="many", collection="nowhere", colour="red")
    assert address(app) == {"q": "refund"}
    said = " ".join(toast.value for toast in app.toast).replace("\\", "")
    for wrong in ("mode=loud", "limit=many", "colour=red"):
        assert wrong in said
    assert "The collection &quot;nowhere&quot; does not exist any more" in html(app)


def test_a_long_question_is_kept_by_the_server(filled, monkeypatch):
    # A page under test has no cookies.
    monkeypatch.setattr(kept_texts, "_browser", lambda: "a browser")
    app = run(filled, q="refund " * 2000)
    assert len(address(app)["q"]) < 30
    app.query_params["q"] = "~0123456789abcdef"
    again(filled, app)
    assert app.text_input(key="q").value == ""
    assert "Paste it again." in app.toast[0].value


def test_the_conversation_stands_in_the_address(filled):
    app = run(filled, "conversation", text="Can I have a refund?", limit="2")
    assert app.session_state["long_text"] == "Can I have a refund?"
    assert address(app) == {"text": "Can I have a refund?", "limit": "2"}


def test_the_filter_of_the_library_stands_in_the_address(filled):
    app = run(filled, "library", find="refund")
    assert app.text_input(key="table_text").value == "refund"
    app.text_input(key="table_text").set_value("")
    assert address(again(filled, app)) == {}


def test_status_and_page_of_the_library_stand_in_the_address(filled, tmp_path, monkeypatch):
    monkeypatch.setattr("pages.parts.library.source_tables.PAGE", 1)
    (tmp_path / "papers/empty.md").write_text("")
    (tmp_path / "papers/more.md").write_text("# More\n\nof it\n")
    filled.jobs.wait(filled.sources.sync(filled.sources.list()[0]))
    app = run(filled, "library", status="indexed", page="2")
    assert "refund.md" in html(app)
    assert "more.md" not in html(app)
    assert address(app) == {"status": "indexed", "page": "2"}
    app.segmented_control(key="library_status").set_value("skipped")
    assert address(again(filled, app)) == {"status": "skipped"}
    assert "empty.md" in html(app)
    # What there is none of, and a page beyond the last, are the first of all.
    assert address(run(filled, "library", status="failed", page="7")) == {}


def test_the_view_of_a_document_stands_in_the_address(filled):
    number = str(filled.documents.list()[0].id)
    app = run(filled, "document", id=number, view="text")
    assert "# Refund policy" in html(app)
    app.segmented_control(key="document_view").set_value("rendered")
    assert address(again(filled, app)) == {"id": number}
    assert "# Refund policy" not in html(app)


def test_a_workbook_shows_the_sheet_of_the_address_or_of_the_words(filled, tmp_path):
    book = Workbook()
    for title, word in (("Income", "harbour dues"), ("Staff & pay", "wombat"), ("Notes", "dues")):
        book.create_sheet(title).append([title, word])
    book.save(tmp_path / "papers/books.xlsx")
    filled.jobs.wait(filled.sources.sync(filled.sources.list()[0]))
    record = filled.documents.list(containing="books")[0]
    number = str(record.id)

    def shown(**query: str) -> tuple[str, str]:
        said = html(run(filled, "document", id=number, **query))
        return re.search(r'aria-current="true"[^>]*><bdi>(.*?)</bdi>', said)[1], said

    assert shown()[0] == "Income"
    sheet, said = shown(find="wombat")
    assert sheet == "Staff &amp; pay"
    assert "<mark>wombat</mark>" in said
    assert "harbour" not in said
    assert f'href="document?id={number}&amp;find=wombat&amp;sheet=Staff+%26+pay"' in said
    assert "3 sheets" in said
    assert shown(find="wombat", sheet="Notes")[0] == "Notes"
    # The sheets are so small that one chunk holds them all.
    assert shown(find="wombat", chunk="1")[0] == "Staff &amp; pay"
    assert shown(sheet="Gone")[0] == "Income"


@pytest.mark.parametrize("first", [SearchOptions(), SearchOptions(per_document=3, mmr_lambda=0.2)])
def test_each_control_reads_what_it_is_set_to(first, monkeypatch):
    monkeypatch.setattr(option_controls.st, "session_state", {})
    controls = option_controls.of_search(first)
    assert option_controls.changed(first) == first
    wanted = {"mode": "vector", "fusion": "rrf", "near_duplicates": "true", "mmr_lambda": "0.9",
              "semantic_threshold": "", "limit": "7", "chunk_aware": "false"}  # fmt: skip
    for name, text in wanted.items():
        controls[name].place(parse_option(name, text))
    found = option_controls.changed(first)
    assert (found.mode, found.fusion, found.limit) == (Mode.VECTOR, Fusion.RRF, 7)
    assert (found.near_duplicates, found.chunk_aware) == (True, False)
    assert (found.mmr_lambda, found.semantic_threshold) == (0.9, None)
    assert found.per_document == first.per_document
    assert set(controls) <= set(SEARCH_OPTIONS)
