"""The numbers of entries that are kept are those that counting gives."""

from __future__ import annotations

import sqlite3

import pytest
from support import Shelf, entry

from ragkit.catalog import Catalog
from ragkit.catalog.entry_writing import miscounted
from ragkit.catalog.schema import MIGRATIONS, migrate
from ragkit.types import ALL_COLLECTIONS, Level


def _counts(shelf: Shelf) -> list[int]:
    levels = [[level] for level in (Level.CHUNK, Level.SECTION)]
    return [shelf.catalog.entries.count(shelf.collection_id, each) for each in levels]


def test_entries_that_come_and_go_are_counted(catalog: Catalog, shelf: Shelf):
    section = entry("all", level=Level.SECTION)
    entries = (entry("one two"), entry("three", 1), section)
    shelf.put("a.md", entries=entries)
    document = shelf.put("b.md", "four", "five", "six")
    assert _counts(shelf) == [5, 1]
    shelf.put("a.md", entries=(entry("one"), section))
    assert _counts(shelf) == [4, 1]
    catalog.documents.rename(document, "elsewhere/b.md", ["elsewhere"])
    assert _counts(shelf) == [4, 1]
    catalog.documents.remove([document])
    assert _counts(shelf) == [1, 1]
    assert catalog.entries.count(ALL_COLLECTIONS) == 2
    other = Shelf(catalog, "other", "/elsewhere")
    other.put("c.md", "seven")
    assert (_counts(other), catalog.entries.count(ALL_COLLECTIONS)) == ([1, 0], 3)
    catalog.collections.delete_source(shelf.source_id)
    assert (_counts(shelf), _counts(other)) == ([0, 0], [1, 0])
    catalog.collections.delete(other.collection_id)
    assert catalog.connections.rows("SELECT * FROM entry_counts WHERE entries <> 0") == []
    assert catalog.integrity.miscounted() == []


def test_a_wrong_number_is_found_and_counted_anew(catalog: Catalog, shelf: Shelf):
    shelf.put("a.md", "one", "two")
    other = Shelf(catalog, "other", "/elsewhere")
    with catalog.connections.write() as connection:
        connection.execute("UPDATE entry_counts SET entries = 7")
        connection.execute("INSERT INTO entry_counts VALUES (?, 0, 3)", (other.collection_id,))
    both = [shelf.collection_id, other.collection_id]
    assert catalog.integrity.miscounted() == both
    assert catalog.integrity.miscounted(other.collection_id) == both[1:]
    catalog.integrity.count_entries()
    assert catalog.integrity.miscounted() == []
    assert (_counts(shelf), _counts(other)) == ([2, 0], [0, 0])


@pytest.mark.sqlite
def test_an_earlier_catalog_is_counted_once(catalog: Catalog, shelf: Shelf):
    shelf.put("a.md", "one", "two")
    file = catalog.connections.file
    catalog.close()
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("DROP TABLE entry_counts")
    connection.execute("DELETE FROM meta WHERE value GLOB 'm018*'")
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) - 1}")
    migrate(connection)
    assert connection.execute("SELECT level, entries FROM entry_counts").fetchall() == [(2, 2)]
    assert miscounted(connection) == []
    connection.close()
