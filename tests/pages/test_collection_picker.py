"""The choice among very many collections: some are offered, others are found by their names."""

from __future__ import annotations

import pytest
from running import run

from pages.parts.common import collection_picker, state
from ragkit.catalog import collections


@pytest.fixture
def many(library, monkeypatch):
    monkeypatch.setattr(collection_picker, "MOST", 3)
    monkeypatch.setattr(collections, "MOST_APART", 3)
    for number in range(12):
        library.collections.add(f"Group {number:02}")
    return library


@pytest.fixture
def session(monkeypatch):
    """The state of a session in which Group 07 is chosen, and what was said of a choice."""
    kept = {"said": []}
    monkeypatch.setattr(collection_picker.st, "session_state", kept)
    monkeypatch.setattr(collection_picker.st, "toast", kept["said"].append)
    return kept


@pytest.mark.parametrize(
    ("typed", "chosen", "offered", "said"),
    [
        ("Group 03", "Group 03", "", ""),
        ("09", "Group 09", "", ""),
        ("group 1", "Group 07", "group 1", "2 collections have “group 1” in their names"),
        ("group", "Group 07", "group", "More than 3 collections have “group”"),
        ("nothing", "Group 07", "", "No collection has “nothing” in its name"),
        ("9 more: type a part of a name", "Group 07", "", ""),
        (state.ALL, state.ALL, "", ""),
    ],
)
def test_what_is_typed_chooses_a_collection_or_narrows_the_list(
    many, session, typed, chosen, offered, said
):
    then = []
    session["key"] = typed
    collection_picker.settle(many, "key", "Group 07", state.ALL, lambda: then.append(1))
    assert (session["key"], session["key-typed"]) == (chosen, offered)
    assert len(session["said"]) == bool(said)
    assert said in "".join(session["said"])
    assert len(then) == (chosen != "Group 07")


def test_a_list_of_very_many_offers_the_first_or_those_typed_for(many, tmp_path):
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "note.md").write_text("Something to search.")
    many.jobs.wait(many.sources.sync(many.sources.add_folder(folder, "Group 00")))
    app = run(many)
    first = ["Group 00", "Group 01", "Group 02"]
    offered = app.selectbox(key=state.COLLECTION).options
    assert offered == [state.ALL, "9 more: type a part of a name", *first]
    app.session_state["collection-typed"] = "GROUP 1"
    app.run()
    offered = app.selectbox(key=state.COLLECTION).options
    assert offered == [state.ALL, "10 more: type a part of a name", "Group 10", "Group 11"]


def test_the_library_page_offers_them_too(many):
    box = run(many, "library").selectbox(key="library_collection")
    assert (box.value, len(box.options)) == ("Group 00", 4)
