"""What a worker saves of what others wrote, so that searches are quick here too."""

from __future__ import annotations

from small_library import open_library
from support import Shelf

from ragkit.background import worker as workers
from ragkit.background.worker import Worker
from ragkit.catalog.collections import Collections
from ragkit.catalog.records import WorkerRecord, watched_notes
from ragkit.indexing.writer import Writer
from ragkit.sources.watch import FolderWatcher


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


def test_the_list_of_folders_is_read_again_when_one_came_or_it_is_due(tmp_path, monkeypatch):
    library = open_library(tmp_path / "library")
    listed, roots = [], Collections.roots

    def noted(self, *machine):
        listed.append(1)
        return roots(self, *machine)

    monkeypatch.setattr(Collections, "roots", noted)
    monkeypatch.setattr(workers, "_FOLLOW_SHARE", 10**9)
    worker = Worker(library.writer())
    one = Shelf(library.catalog, "one", str(tmp_path / "one"))
    due = workers._Due()

    def mode(source):
        return next(state.mode for state, ids in watcher.states().items() if source in ids)

    with FolderWatcher(0.1) as watcher:
        worker._follow(watcher, due)
        worker._follow(watcher, due)
        assert (len(listed), mode(one.source_id)) == (1, "offline")
        other = Shelf(library.catalog, "other", str(tmp_path))
        worker._follow(watcher, due)
        assert (len(listed), mode(other.source_id)) == (2, "watching")
        library.catalog.collections.set_source_place(other.source_id, str(tmp_path / "one"), "")
        worker._follow(watcher, due)
        assert len(listed) == 2
        due.again_in(0)
        worker._follow(watcher, due)
        assert (len(listed), mode(other.source_id)) == (3, "offline")
        worker._watcher = watcher
        state, notes = worker._sign_of_life()
        record = WorkerRecord("", 1, 0.0, 0.0, state, notes, 0.0)
        assert {number: how for number, (how, _) in record.watched().items()} == {
            one.source_id: "offline",
            other.source_id: "offline",
        }
    library.close()


def test_notes_of_many_folders_are_short_and_say_of_each_how_it_is_kept_current():
    gone = [("offline", f"/{number} is not there.", [number]) for number in range(500, 600)]
    notes = watched_notes([("watching", "", range(1, 50_001, 2)), ("polling", "Full.", [2, 4, 5])])
    assert notes == [["polling", "Full.", "2 4-5"], ["watching", "", notes[1][2]]]
    told = WorkerRecord("", 1, 0.0, 0.0, "idle", {"watching": watched_notes(gone)}, 0.0).watched()
    assert list(told) == list(range(500, 600))
    assert told[500] == ("offline", "/500 is not there.")
    assert told[599] == ("offline", "")
    assert watched_notes([("watching", "", range(1, 50_001))]) == [["watching", "", "1-50000"]]
