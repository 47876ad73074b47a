"""Dialogs of the pages, run without a browser."""

from __future__ import annotations

from running import html, run

from ragkit.indexing.writer import writer_lock


def test_a_dialog_about_a_collection_that_is_gone_says_so_itself(library):
    app = run(library, "library")
    app.session_state["open_dialog"] = ("search-settings", "Herons")
    with writer_lock(library.paths.lock, "test"):
        app.run()
    gone = "There is no collection &quot;Herons&quot;. Available: none yet."
    assert f'<p class="rk-notice">{gone}</p>' in html(app)
    assert "rk-error" not in html(app)


def test_a_dialog_about_a_folder_that_is_gone_is_closed(filled):
    app = run(filled, "library")
    app.session_state["open_dialog"] = ("source", 999)
    with writer_lock(filled.paths.lock, "test"):
        app.run()
    assert "open_dialog" not in app.session_state
