"""Pages of a library with very many collections: what is not shown is not read, nothing is old."""

from __future__ import annotations

import pytest
from running import html, run
from support import Shelf

from pages.parts.common import collection_picker, state
from ragkit.catalog import collections
from ragkit.catalog.sqlite import SqliteConnections
from ragkit.indexing.writer import pipeline_fingerprint
from ragkit.library import Library

MANY = 300


@pytest.fixture
def many(library, monkeypatch):
    """A library of 300 collections with a document each, where ten are already very many."""
    monkeypatch.setattr(collection_picker, "MOST", 10)
    monkeypatch.setattr(collections, "MOST_APART", 10)
    fingerprint = pipeline_fingerprint(library.settings, library.collections.add("Group 000"))
    for number in range(MANY):
        shelf = Shelf(library.catalog, f"Group {number:03}", f"/nowhere/{number}")
        shelf.put("a.md", f"word{number}")
    embedder_id = library.writer().embedder_id
    with library.catalog.connections.write() as connection:
        connection.execute("UPDATE documents SET recipe = ?", (fingerprint,))
        # Nothing is wrong with them: their vectors are of the embedder that is asked.
        connection.execute("UPDATE vectors SET embedder_id = ?", (embedder_id,))
    return library


@pytest.fixture
def rows_read(monkeypatch):
    """How many rows each query gave."""
    read, counted = SqliteConnections.rows, []

    def rows(self, query, parameters=()):
        found = read(self, query, parameters)
        counted.append(len(found))
        return found

    monkeypatch.setattr(SqliteConnections, "rows", rows)
    return counted


@pytest.mark.parametrize(
    "page", ["", "library", "compare", "conversation", "evaluate", "health", "searches"]
)
def test_a_page_that_is_drawn_again_reads_a_row_of_each_collection_nowhere(many, rows_read, page):
    app = run(many, page)
    if not page:
        app.selectbox(key=state.COLLECTION).set_value(state.ALL).run()
    rows_read.clear()
    app.run()
    assert not app.exception
    assert rows_read
    assert max(rows_read) < MANY / 2


def test_what_another_process_changed_is_there_at_the_next_look(many):
    app = run(many)
    app.selectbox(key=state.COLLECTION).set_value(state.ALL).run()
    assert "300 documents · 300 passages" in html(app)
    with Library.open(many.settings) as other:
        other.collections.add("A new one")
        Shelf(other.catalog, "Group 007", "/nowhere/7").put("b.md", "one", "two")
    app.run()
    assert "301 documents · 302 passages" in html(app)
    assert "A new one" in app.selectbox(key=state.COLLECTION).options
    with Library.open(many.settings) as other:
        other.catalog.collections.rename(other.collections.get("A new one").id, "Another one")
        other.catalog.collections.delete(other.collections.get("Group 007").id)
    app.run()
    assert "299 documents · 299 passages" in html(app)
    offered = app.selectbox(key=state.COLLECTION).options
    assert ("Another one" in offered, "A new one" in offered) == (True, False)
