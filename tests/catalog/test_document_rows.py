"""What filters keep of documents follows the catalog, and stays within its bounds."""

from __future__ import annotations

import json
import sqlite3

import pytest
from support import Shelf

from ragkit.catalog import document_rows
from ragkit.catalog.connection import folded
from ragkit.catalog.document_rows import KeptRows
from ragkit.catalog.filters import FilterQueries
from ragkit.catalog.tags import fill_tags
from ragkit.options import Filters

ODD_TAGS = [
    {}, {"tags": None}, {"tags": "X"}, {"tags": []}, {"tags": 7}, {"tags": False},
    {"tags": ["A", 1, 1.50, True, None, ["a", "b é"], {"k": "v"}, "a"]},
    {"tags": {"a": "x", "b": ["q"]}}, {"tags": 1e30},
]  # fmt: skip


def tags(shelf):
    return shelf.catalog.connections.rows("SELECT document_id, tag FROM tags ORDER BY 1, 2")


def test_tags_are_what_the_metadata_say(shelf):
    plain = sqlite3.connect(":memory:")
    plain.create_function("folded", 1, folded)
    expected = []
    for number, metadata in enumerate(ODD_TAGS):
        document = shelf.put(f"{number}.md", metadata=metadata)
        query = "SELECT DISTINCT ?, folded(value) FROM json_each(?, '$.tags') ORDER BY 2"
        expected += plain.execute(query, (document, json.dumps(metadata, ensure_ascii=False)))
    plain.close()
    assert tags(shelf) == expected
    with shelf.catalog.connections.write() as connection:
        connection.execute("DELETE FROM tags WHERE tag < 'b'")
        fill_tags(connection)
    assert tags(shelf) == expected
    shelf.put("2.md", metadata={"tags": ["y"]})
    shelf.catalog.documents.remove([7])
    assert [row for row in tags(shelf) if row[0] in (3, 7)] == [(3, "y")]


def passing(filters, shelf, **wanted):
    return filters.documents(shelf.collection_id, Filters(**wanted)).tolist()


@pytest.mark.sqlite
def test_only_what_changed_is_read_again(shelf):
    numbers = [shelf.put(f"notes/{n}.md", metadata={"tags": ["a"]}) for n in range(20)]
    filters = FilterQueries(shelf.catalog.connections)
    assert passing(filters, shelf, paths=("notes/",), tags=("A",)) == numbers
    shelf.put("notes/3.md", metadata={"tags": ["b"]})
    seen: list[str] = []
    shelf.catalog.connections.get().set_trace_callback(seen.append)
    try:
        assert passing(filters, shelf, paths=("notes/",), tags=("a",)) == [
            number for number in numbers if number != 4
        ]
        after = [sql for sql in seen if "folded(d.path)" in sql or "FROM tags" in sql]
        assert len(after) == 2
        assert all("[4]" in sql for sql in after)
        seen.clear()
        assert passing(filters, shelf, paths=("notes/",), tags=("a",))
        assert not any("documents d" in sql for sql in seen)
        assert len(filters.entries_under(shelf.collection_id, ["notes"])) == 0
        shelf.put("notes/4.md", title="My notes")
        seen.clear()
        for _ in range(2):
            assert len(filters.entries_under(shelf.collection_id, ["notes"])) == 2
        under = [sql for sql in seen if "JOIN sections" in sql]
        assert len(under) == 1
        assert "[5]" in under[0]
    finally:
        shelf.catalog.connections.get().set_trace_callback(None)


def test_another_history_is_read_anew(shelf):
    shelf.put("a.md")
    filters = FilterQueries(shelf.catalog.connections)
    assert passing(filters, shelf) == [1]
    with shelf.catalog.connections.write() as connection:
        connection.execute("UPDATE documents SET path = 'b.md'")
        connection.execute("UPDATE lineage SET token = 'another'")
    assert passing(filters, shelf, paths=("b.md",)) == [1]


@pytest.mark.parametrize("bound", ["_MOST_COLLECTIONS", "_MOST_BYTES"])
def test_what_is_kept_is_bounded(shelf, monkeypatch, bound):
    monkeypatch.setattr(document_rows, bound, 2)
    kept = KeptRows(shelf.catalog.connections)
    shelves = [Shelf(shelf.catalog, name) for name in "abc"]
    for one in shelves:
        one.put(f"{one.collection_id}.md")
        with kept.at_present(one.collection_id) as (rows, _):
            assert len(rows.ids) == 1
    assert len(kept._kept) == (2 if bound == "_MOST_COLLECTIONS" else 1)
    assert list(kept._kept)[-1] == shelves[-1].collection_id
    monkeypatch.setattr(document_rows, "_MOST_KEPT", 2)
    with kept.at_present(shelves[0].collection_id) as (rows, connection):
        for number in range(4):
            assert rows.mask(connection, ("d.id > ?", (number,))).tolist() == [number < 1]
        assert len(rows._masks) == 2


def test_rows_that_are_mostly_dead_are_read_anew(shelf, monkeypatch):
    monkeypatch.setattr(document_rows, "_DEAD_ROWS", 3)
    filters = FilterQueries(shelf.catalog.connections)
    shelf.put("a.md")
    for number in range(12):
        shelf.put("a.md", metadata={"tags": [f"t{number}"]})
        assert passing(filters, shelf, tags=(f"t{number}",)) == [1]
        with filters._rows.at_present(shelf.collection_id) as (rows, _):
            assert len(rows.ids) <= 4
