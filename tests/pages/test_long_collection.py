"""Which collection a conversation is searched in, and where the page says so."""

from __future__ import annotations

from running import run
from small_library import add, write_files

from ragkit.library import Library
from ragkit.settings import load_settings

TEXT = "How are refunds made?\n\nWhen does the mill turn?"


def test_the_collection_is_in_sight_and_not_behind_the_options(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGKIT_LIBRARY", str(tmp_path / "library"))
    with Library.open(load_settings(), create=True) as library:
        add(library, write_files(tmp_path / "files", {"a.md": "# Refunds\n\nThe mill turns.\n"}))
        library.collections.add("letters")
        app = run(library, "conversation", text=TEXT)
        inside = [box.key for popover in app.get("popover") for box in popover.get("selectbox")]
        assert app.selectbox(key="long_option_collection").value == "All collections"
        assert "long_option_method" in inside
        assert "long_option_collection" not in inside
        app = run(library, "conversation", text=TEXT, collection="letters")
        assert app.selectbox(key="long_option_collection").value == "letters"
