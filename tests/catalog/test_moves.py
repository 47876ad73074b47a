"""What a document is found by when its file is moved to other folders."""

from __future__ import annotations

from itertools import pairwise

import pytest
from support import entry

from ragkit.types import LEVEL_CODES, Field, Level

pytestmark = pytest.mark.usefixtures("counted")

OLD, NEW = ["bills", "2023"], ["archive"]


def words(shelf, field):
    column = shelf.rows().tokens[field]
    by_id = dict(shelf.catalog.connections.rows("SELECT id, token FROM vocabulary"))
    every = [by_id[int(one)] for one in column.flat]
    bounds = column.offsets.tolist()
    return [every[start:end] for start, end in pairwise(bounds)]


def put(shelf):
    def fields(*text):
        return {Field.TEXT: text, Field.FOLDERS: OLD, Field.TITLE: ["acme"]}

    entries = (
        entry("one", 0, tokens=fields(*OLD, "acme", "one")),
        entry("what is one?", 0, level=Level.QUESTION, tokens={}),
        entry("two", 1, tokens=fields("acme", "two")),
        entry("&", 1, tokens={Field.FOLDERS: OLD}),
        entry("all", 0, level=Level.DOCUMENT, tokens=fields(*OLD, "one", "two")),
    )
    return shelf.put("bills/2023/a.md", "one", "two", entries=entries)


def test_entries_get_the_words_of_the_new_folders(shelf):
    document = put(shelf)
    before, version = shelf.entry_ids(), shelf.version
    shelf.catalog.documents.rename(document, "archive/a.md", NEW)
    assert shelf.catalog.documents.get(document).path == "archive/a.md"
    levels = [Level.CHUNK, Level.QUESTION, Level.CHUNK, Level.CHUNK, Level.DOCUMENT]
    assert shelf.rows().levels.tolist() == [LEVEL_CODES[level] for level in levels]
    assert words(shelf, Field.FOLDERS) == [NEW, [], NEW, NEW, NEW]
    assert words(shelf, Field.TEXT) == [
        [*NEW, "acme", "one"],
        [],
        ["acme", "two"],
        [],
        [*NEW, "one", "two"],
    ]
    assert words(shelf, Field.TITLE) == [["acme"], [], ["acme"], [], ["acme"]]
    assert shelf.version == version + 1
    gone = shelf.catalog.entries.removed_since(shelf.collection_id, version)
    assert sorted(gone.tolist()) == sorted(before)


def test_to_no_folder_and_back(shelf):
    document = put(shelf)
    before = words(shelf, Field.TEXT)
    shelf.catalog.documents.rename(document, "a.md", [])
    assert words(shelf, Field.TEXT)[0] == ["acme", "one"]
    shelf.catalog.documents.rename(document, "bills/2023/a.md", OLD)
    assert words(shelf, Field.TEXT) == before


def test_the_same_words_change_no_entries(shelf):
    document = put(shelf)
    before, version = shelf.entry_ids(), shelf.version
    shelf.catalog.documents.rename(document, "Bills/2023/a.md", OLD)
    assert (shelf.entry_ids(), shelf.version) == (before, version + 1)


def test_what_is_read_again_keeps_its_entries_until_then(shelf):
    document = put(shelf)
    before = shelf.entry_ids()
    shelf.catalog.documents.rename(document, "bills/2023/b.md", None)
    assert shelf.entry_ids() == before
    assert shelf.catalog.documents.get(document).pipeline_fingerprint == ""
