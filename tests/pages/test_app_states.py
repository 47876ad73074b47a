"""The states of the pages, run without a browser."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import streamlit as st
from running import APP, html, run
from streamlit.testing.v1 import AppTest

from ragkit.evaluation.judging import Judging
from ragkit.indexing.writer import writer_lock
from ragkit.library import Library


def fill(library: Library, folder: Path) -> None:
    folder.mkdir()
    (folder / "refund.md").write_text("# Refund policy\n\nA full refund within 30 days.\n")
    (folder / "other.md").write_text("# Harbour\n\nThe harbour office opens at nine.\n")
    library.jobs.wait(library.sources.sync(library.sources.add_folder(folder)))


def test_an_empty_library_says_what_to_do_next(library):
    app = run(library)
    assert "Nothing to search yet" in html(app)
    assert not app.selectbox
    assert app.button(key="to-library").label == "Add documents"
    assert app.button(key="add-sample").label == "Try the sample library"


def test_a_library_with_documents_invites_to_search(library, tmp_path):
    fill(library, tmp_path / "papers")
    app = run(library)
    assert "2 documents" in html(app)
    assert app.text_input(key="q").placeholder == "Ask or search 2 documents …"


def test_the_documents_that_can_be_searched_are_those_of_the_chosen_collection(library, tmp_path):
    fill(library, tmp_path / "papers")
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "seal.md").write_text("# Seals\n\nA seal sleeps.\n")
    library.jobs.wait(library.sources.sync(library.sources.add_folder(notes, "notes")))
    library.collections.add("empty")
    for chosen, said, heads in (
        ({}, "2 documents ", "2 documents"),
        ({"collection": "notes"}, "1 document ", "1 document ·"),
        ({"collection": "*"}, "3 documents ", "3 documents"),
        ({"collection": "gone"}, "2 documents ", "2 documents"),
        ({"collection": "empty"}, "", "0 documents"),
    ):
        app = run(library, **chosen)
        assert app.text_input(key="q").placeholder == f"Ask or search {said}…"
        assert heads in html(app)


def test_while_the_last_collection_is_deleted_there_is_nothing_to_search(library, tmp_path):
    fill(library, tmp_path / "papers")
    library.collections.rename("default", "Papers")
    job = library.collections.delete("Papers", after_seconds=600)
    for question in ({}, {"q": "refund"}):
        assert "Nothing to search yet" in html(run(library, **question))
    library.collections.keep(job)
    assert "Refund policy" in html(run(library, q="refund"))


def test_a_question_is_answered_with_cards(library, tmp_path):
    fill(library, tmp_path / "papers")
    app = run(library, q="refund")
    said = html(app)
    assert "Refund policy" in said
    assert "chunk 1 of 1" in said
    assert "<mark>refund</mark>" in said


def test_a_wrong_filter_is_explained(library, tmp_path):
    fill(library, tmp_path / "papers")
    said = html(run(library, q="refund after:soon"))
    assert "Invalid date: &quot;soon&quot;." in said
    assert "rk-card" not in said.replace(".rk-card", "")
    assert "There is no filter &quot;colour:&quot;" in html(run(library, q="refund colour:red"))


def test_a_text_is_searched_with_although_the_run_of_the_click_was_interrupted(library, tmp_path):
    fill(library, tmp_path / "papers")
    app = run(library, "conversation")
    # As though something else had asked for the next run before this one reached the button.
    app.session_state["long_wanted"] = True
    app.text_area(key="long_draft").input("How long may I return a buoy?")
    app.run()
    assert "Refund policy" in html(app)
    assert app.session_state["long_wanted"] is False


def test_nothing_found_offers_a_way_on(library, tmp_path):
    fill(library, tmp_path / "papers")
    said = html(run(library, q="refund path:nowhere/"))
    assert "No results for" in said
    assert "Search without path:nowhere/" in said


@pytest.mark.parametrize("question", ['"', "the of and", "   ", "x" * 1_000_000, "type:"])
def test_odd_questions_get_a_sensible_answer(library, tmp_path, question):
    fill(library, tmp_path / "papers")
    said = html(run(library, q=question))
    assert "Something unexpected" not in said


@pytest.mark.parametrize("page", ["", "library", "health"])
def test_a_library_whose_folder_is_gone_is_said(library, tmp_path, page):
    app = run(library, page)
    library.paths.root.rename(tmp_path / "elsewhere")
    app.run()
    assert not app.exception
    said = html(app)
    assert "The folder of this library was moved or deleted." in said
    assert "start ragkit again with --library" in said
    assert not library.paths.root.exists()


def test_the_library_page_when_empty_and_full(library, tmp_path):
    said = html(run(library, "library"))
    assert "No documents yet" in said
    fill(library, tmp_path / "papers")
    st.cache_resource.clear()
    app = run(library, "library")
    assert "2 documents" in html(app)
    said = html(app)
    assert said.index('data-path="other.md"') < said.index('data-path="refund.md"')


def test_the_health_page_says_how_contexts_stand(library, tmp_path):
    assert "Nothing to write" in html(run(library, "health"))
    fill(library, tmp_path / "papers")
    app = run(library, "health")
    assert "<b>Stopped</b> · 0 of 2 chunks" in html(app)
    assert "Retry failed" not in [button.label for button in app.button]
    with writer_lock(library.paths.lock, "test"):
        app.button(key="contexts-pause").click().run()
        assert library.contexts.status().paused
        assert "<b>Paused</b> · 0 of 2 chunks" in html(app)
        app.button(key="contexts-resume").click().run()
        assert not library.contexts.status().paused


def test_what_failed_is_retried_by_one_button(library, tmp_path):
    fill(library, tmp_path / "papers")
    with closing(sqlite3.connect(library.paths.catalog)) as connection, connection:
        connection.execute(
            "INSERT INTO contexts (document_id, chunk_idx, status, changed_at) "
            "SELECT document_id, idx, 'failed', 1.0 FROM chunks"
        )
    app = run(library, "health")
    assert "2 contexts failed" in html(app)
    retries = [button.label for button in app.button if button.label.startswith("Retry")]
    assert retries == ["Retry failed contexts"]


def test_the_health_page_says_who_can_read(library, monkeypatch):
    assert "Everybody with an account on this machine" in html(run(library, "health"))
    monkeypatch.setenv("RAGKIT_SERVER__LOCKED", "true")
    st.cache_resource.clear()
    shown = html(run(library, "health"))
    assert "Locked: a browser is let in by a one-time link" in shown
    assert "Everybody" not in shown


def test_the_document_page(library, tmp_path):
    fill(library, tmp_path / "papers")
    assert "No document chosen" in html(run(library, "document"))
    app = run(library)
    with writer_lock(library.paths.lock, "test"):
        app.query_params["id"] = str(library.documents.list(containing="refund")[0].id)
        app.query_params["chunk"] = "1"
        app.switch_page("pages/document.py").run()
    assert not app.exception
    assert 'id="rk-here"' in html(app)
    assert "A full refund within 30 days." in html(app)


def test_the_page_of_a_document_without_text_says_why_and_offers_nothing_empty(library, tmp_path):
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    library.jobs.wait(library.sources.sync(library.sources.add_folder(folder)))
    app = run(library)
    with writer_lock(library.paths.lock, "test"):
        app.query_params["id"] = str(library.documents.list(containing="broken")[0].id)
        app.switch_page("pages/document.py").run()
    assert not app.exception
    assert html(app).count("This PDF is damaged or incomplete") == 1
    assert "broken.pdf · 0 chunks" in html(app)
    assert not app.toggle


def test_the_header_says_that_a_folder_is_gone(library, tmp_path):
    fill(library, tmp_path / "papers")
    assert ">up to date</span>" in html(run(library))
    (tmp_path / "papers").rename(tmp_path / "elsewhere")
    library.jobs.wait(library.sources.sync(library.sources.list()[0]))
    assert ">1 folder not connected</span>" in html(run(library))


def test_a_library_that_cannot_be_opened_is_said(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("RAGKIT_LIBRARY", str(tmp_path / "file" / "library"))
    app = AppTest.from_file(str(APP), default_timeout=120).run()
    assert not app.exception
    assert 'role="alert"' in html(app)
    assert "cannot be created" in html(app)


def test_evaluating_needs_documents_then_judgments_then_a_run(library, tmp_path):
    assert "Nothing to measure yet" in html(run(library, "evaluate"))
    fill(library, tmp_path / "papers")
    assert "How good are the answers?" in html(run(library, "evaluate"))
    home = library.catalog.collections.get("default").id
    found = library.search("refund").results[0].document
    Judging(library.catalog).judge(home, "refund", found.id, 2)
    app = run(library, "evaluate")
    assert "This set has not been run yet" in html(app)
    assert app.radio(key="eval_set").options == ["Rated on the pages"]
    assert app.multiselect(key="eval_ways").value == ["mode:hybrid", "mode:keyword"]
    assert app.button(key="evaluate-run").label == "Run"


def test_the_health_page_lists_backups_and_makes_one(library):
    shown = run(library, "health")
    assert "backup of the catalog" not in html(shown)
    assert any(button.label == "Back up now" for button in shown.button)
    library.jobs.wait(library.jobs.add("backup"))
    assert "1 backup of the catalog" in html(run(library, "health"))
