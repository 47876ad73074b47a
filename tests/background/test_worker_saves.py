"""What a worker saves of what others wrote, so that searches are quick here too."""

from __future__ import annotations

from small_library import open_library
from support import Shelf

from ragkit.background.worker import Worker
from ragkit.indexing.writer import Writer


def test_a_round_looks_at_the_collections_that_changed_since_the_last(tmp_path, monkeypatch):
    library = open_library(tmp_path / "library")
    looked, is_saved = [], Writer.is_saved

    def noted(self, collection):
        looked.append(collection.name)
        return is_saved(self, collection)

    monkeypatch.setattr(Writer, "is_saved", noted)
    worker, writer = Worker(library.writer()), library.writer()
    shelves = {name: Shelf(library.catalog, name, f"/{name}") for name in ("one", "other")}
    for shelf in shelves.values():
        shelf.put("a.md", "some words")
    worker._save_what_others_wrote()
    assert looked == ["one", "other"]
    assert all(is_saved(writer, library.collections.get(name)) for name in shelves)
    worker._save_what_others_wrote()
    assert looked == ["one", "other"]
    shelves["one"].put("b.md", "more words")
    worker._save_what_others_wrote()
    assert looked == ["one", "other", "one"]
    assert is_saved(writer, library.collections.get("one"))
    library.close()
