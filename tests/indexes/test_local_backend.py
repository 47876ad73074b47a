"""The local backend follows the catalog."""

from __future__ import annotations

import errno
import os
import threading
import time

import numpy as np
import psutil
import pytest
from support import DIMENSIONS, Shelf, digest, vector_bytes

from ragkit.errors import RagkitError
from ragkit.indexes.local import backend as local_backend
from ragkit.indexes.local import packed
from ragkit.indexes.local.backend import LocalBackend
from ragkit.indexes.protocol import IndexKind, IndexQuery
from ragkit.indexes.rows import EntryRows
from ragkit.types import Level


class _Embedder:
    """Only what the indexes want to know of an embedder."""

    name = "hashing"
    fingerprint = "fingerprint"
    dimensions = DIMENSIONS

    def embed_passages(self, texts):
        return np.stack([np.frombuffer(vector_bytes(text), "<f2") for text in texts])


@pytest.fixture
def indexes(catalog, library_paths):
    return LocalBackend(catalog.entries, library_paths, _Embedder())


def _collection(shelf, name="default"):
    return shelf.catalog.collections.get(name)


def _found(index, shelf, *words):
    ids = shelf.catalog.entries.token_ids(words)
    query = IndexQuery([ids[word] for word in words if word in ids])
    found = index.search([query]).candidates(IndexKind.KEYWORD, 9)
    return found.entry_ids.tolist(), found.scores.tolist()


def _near(index, text):
    query = IndexQuery(vector=_Embedder().embed_passages([text])[0].astype(np.float32))
    found = index.search([query]).candidates(IndexKind.VECTOR, 9)
    return found.entry_ids.tolist(), found.scores.tolist()


def _same(left, right, shelf, words, texts):
    assert left.entry_ids().tolist() == right.entry_ids().tolist() == shelf.entry_ids()
    for word in words:
        ids, scores = _found(left, shelf, word)
        other_ids, other_scores = _found(right, shelf, word)
        assert ids == other_ids
        assert scores == pytest.approx(other_scores, rel=1e-5)
    for text in texts:
        assert _near(left, text) == _near(right, text)


def test_an_empty_collection_has_an_empty_index(indexes, shelf):
    index = indexes.current(_collection(shelf))
    assert index.entries == 0
    assert indexes.generation(_collection(shelf)) == ""
    assert indexes.save(_collection(shelf)) == 0
    assert indexes.pop_notice(_collection(shelf)) == ""


def test_an_index_that_documents_come_to_meanwhile_catches_up_silently(indexes, shelf, monkeypatch):
    shelf.put("a.md", "apple banana")
    indexes.current(_collection(shelf))
    shelf.put("b.md", "banana elder")
    source, count = shelf.catalog.entries, shelf.catalog.entries.count
    late = iter(["c.md"])

    def count_after_another_has_come(*arguments):
        for name in late:
            shelf.put(name, "cherry date")
        return count(*arguments)

    monkeypatch.setattr(source, "count", count_after_another_has_come)
    index = indexes.current(_collection(shelf))
    assert index.entry_ids().tolist() == shelf.entry_ids()
    assert indexes.pop_notice(_collection(shelf)) == ""


def test_a_refreshed_index_equals_a_fresh_one(indexes, shelf, library_paths):
    shelf.put("a.md", "apple banana", "cherry date")
    shelf.put("b.md", "banana elder", "fig grape")
    first = indexes.current(_collection(shelf))
    assert indexes.current(_collection(shelf)) is first
    shelf.put("a.md", "apple kiwi", "lemon", "mango banana")
    shelf.put("c.md", "cherry cherry")
    shelf.catalog.documents.remove([shelf.catalog.documents.list()[1].id])
    second = indexes.current(_collection(shelf))
    assert second is not first
    assert second.version.number == shelf.version
    fresh = LocalBackend(shelf.catalog.entries, library_paths, _Embedder()).current(
        _collection(shelf)
    )
    words = ("apple", "banana", "cherry", "kiwi", "fig", "mango")
    _same(second, fresh, shelf, words, ("apple kiwi", "fig grape", "cherry cherry"))
    assert _found(second, shelf, "fig") == ([], [])


def test_saving_merges_what_has_changed_and_keeps_two_generations(indexes, shelf, library_paths):
    folder = library_paths.index(shelf.collection_id, "chunk", "fingerprint")
    for number in range(4):
        shelf.put(f"{number}.md", f"apple word{number}")
        assert indexes.save(_collection(shelf), always=True) <= 1
    names = sorted(path.name for path in folder.iterdir())
    assert len(names) == 2
    assert indexes.generation(_collection(shelf)) == names[-1]
    index = indexes.current(_collection(shelf))
    assert (index.entries, len(index.delta), len(index.tombstones.rows)) == (4, 0, 0)
    assert indexes.save(_collection(shelf), always=True) == 0


def test_a_small_change_of_a_large_index_is_not_written_and_yet_found(indexes, shelf, monkeypatch):
    monkeypatch.setattr("ragkit.indexes.local.backend.SMALL_INDEX", 0)
    shelf.put("a.md", "apple")
    indexes.save(_collection(shelf))
    name = indexes.generation(_collection(shelf))
    shelf.put("b.md", "banana")
    assert indexes.save(_collection(shelf)) == 0
    assert indexes.generation(_collection(shelf)) == name
    assert len(indexes.current(_collection(shelf)).delta) == 1
    assert _found(indexes.current(_collection(shelf)), shelf, "banana")[0] == [2]


def test_a_small_index_is_merged_after_every_change(indexes, shelf):
    shelf.put("a.md", "apple")
    indexes.save(_collection(shelf))
    shelf.put("b.md", "banana")
    assert indexes.save(_collection(shelf)) == 1
    index = indexes.current(_collection(shelf))
    assert (index.entries, len(index.delta)) == (2, 0)


def test_another_process_finds_what_came_after_the_generation(indexes, shelf, library_paths):
    shelf.put("a.md", "apple")
    indexes.save(_collection(shelf))
    shelf.put("b.md", "apple pie")
    shelf.catalog.documents.remove([1])
    other = LocalBackend(shelf.catalog.entries, library_paths, _Embedder())
    index = other.current(_collection(shelf))
    assert index.entry_ids().tolist() == shelf.entry_ids() == [2]
    assert _found(index, shelf, "apple")[0] == [2]


def test_levels_have_indexes_of_their_own(indexes, shelf):
    from support import entry

    entries = (
        entry("apple pie", 0),
        entry("apple section", 0, level=Level.SECTION),
        entry("apple book", 0, level=Level.DOCUMENT),
        entry("what apple", 0, level=Level.QUESTION),
    )
    vectors = {
        digest(text): vector_bytes(text)
        for text in ("apple pie", "apple section", "apple book", "what apple")
    }
    shelf.put("a.md", "apple pie", entries=entries, vectors=vectors)
    held = {
        level: indexes.current(_collection(shelf), level).entry_ids().tolist()
        for level in (Level.CHUNK, Level.SECTION, Level.DOCUMENT)
    }
    assert held == {Level.CHUNK: [1, 4], Level.SECTION: [2], Level.DOCUMENT: [3]}


def test_collections_share_nothing(indexes, shelf, catalog):
    other = Shelf(catalog, "other", "/elsewhere")
    shelf.put("a.md", "apple")
    other.put("a.md", "apple")
    assert indexes.current(_collection(shelf)).entry_ids().tolist() == [1]
    assert indexes.current(_collection(shelf, "other")).entry_ids().tolist() == [2]


@pytest.mark.parametrize("files", ["one", "many"])
def test_the_index_used_longest_ago_is_closed_first(indexes, catalog, monkeypatch, files):
    monkeypatch.setattr(packed, "MOST_ROWS", 1000 if files == "one" else 0)
    monkeypatch.setattr(local_backend, "MOST_SMALL_ROWS", 1)
    monkeypatch.setattr(local_backend, "MOST_MAPPED", 2)
    shelves = [Shelf(catalog, f"c{number}", f"/{number}") for number in range(3)]
    for shelf in shelves:
        shelf.put("a.md", "apple")
    first = [indexes.current(_collection(one, f"c{n}")) for n, one in enumerate(shelves)]
    again = [indexes.current(_collection(one, f"c{n}")) for n, one in enumerate(shelves[1:], 1)]
    assert again[0] is first[1]
    assert again[1] is first[2]
    assert indexes.current(_collection(shelves[0], "c0")) is not first[0]


def test_as_many_collections_stay_open_as_are_searched(indexes, catalog, monkeypatch):
    monkeypatch.setattr(local_backend, "MOST_SMALL_ROWS", 3)
    shelves = [Shelf(catalog, f"c{number}", f"/{number}") for number in range(3)]
    opened = []
    for number, shelf in enumerate(shelves):
        shelf.put("a.md", "apple")
        opened.append(indexes.current(_collection(shelf, f"c{number}")))
        # What a search asks after it opens no index of sections or documents.
        assert indexes.pop_notice(_collection(shelf, f"c{number}")) == ""
    again = [indexes.current(_collection(one, f"c{n}")) for n, one in enumerate(shelves)]
    assert all(one is other for one, other in zip(opened, again, strict=True))


@pytest.mark.skipif(os.name == "nt", reason="Windows counts handles of another kind")
def test_small_indexes_keep_no_files_open(shelf, catalog, library_paths):
    writer = LocalBackend(catalog.entries, library_paths, _Embedder())
    shelves = [shelf, *(Shelf(catalog, f"c{number}", f"/{number}") for number in range(3))]
    names = ["default", "c0", "c1", "c2"]
    for one, name in zip(shelves, names, strict=True):
        one.put("a.md", "apple pie", "pear")
        writer.save(_collection(one, name), always=True)
    reader = LocalBackend(catalog.entries, library_paths, _Embedder())
    reader.current(_collection(shelf))
    before = psutil.Process().num_fds()
    opened = [reader.current(_collection(one, n)) for one, n in zip(shelves, names, strict=True)]
    assert [reader.generation(_collection(shelf, name)) for name in names] == [
        "generation-0000000001"
    ] * 4
    assert psutil.Process().num_fds() <= before + 3
    assert all(_found(index, shelf, "apple")[0] for index in opened)
    with pytest.raises(ValueError, match="read-only"):
        opened[1].base.entry_ids[0] = 7


def test_threads_see_whole_versions_while_documents_change(indexes, shelf, library_paths):
    shelf.put("a.md", "apple one", "apple two")
    stop = threading.Event()
    problems: list[object] = []

    def look():
        while not stop.is_set():
            try:
                index = indexes.current(_collection(shelf))
                ids = index.entry_ids()
                # Each version of the document has two chunks: never one, never three.
                if len(ids) != 2 or ids[1] - ids[0] != 1:
                    problems.append(ids)
            except RagkitError as error:
                problems.append(error)

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(40):
        shelf.put("a.md", f"apple {number}", f"pear {number}")
        if number % 10 == 9:
            indexes.save(_collection(shelf), always=True)
    stop.set()
    for thread in threads:
        thread.join(10)
    assert problems == []
    assert indexes.current(_collection(shelf)).entry_ids().tolist() == shelf.entry_ids()


def test_readers_do_not_fill_the_disk_with_generations(shelf, library_paths):
    shelf.put("a.md", "apple")
    folder = library_paths.index(shelf.collection_id, "chunk", "fingerprint")
    for _ in range(6):
        reader = LocalBackend(shelf.catalog.entries, library_paths, _Embedder())
        assert reader.current(_collection(shelf)).entry_ids().tolist() == [1]
        for manifest in folder.glob("*/manifest.json"):
            manifest.write_text("{}")
    assert len(list(folder.iterdir())) == 3
    writer = LocalBackend(shelf.catalog.entries, library_paths, _Embedder())
    assert writer.save(_collection(shelf)) == 1
    assert len(list(folder.iterdir())) == 2
    again = LocalBackend(shelf.catalog.entries, library_paths, _Embedder())
    assert again.current(_collection(shelf)).entry_ids().tolist() == [1]
    assert again.pop_notice(_collection(shelf)) == ""


def test_rows_without_vectors_are_found_by_their_words(indexes, shelf):
    shelf.put("a.md", "apple pie", with_vectors=False)
    index = indexes.current(_collection(shelf))
    assert _found(index, shelf, "apple")[0] == [1]
    assert _near(index, "apple pie")[0] == []
    assert isinstance(index.scan(), EntryRows)


def _is_at(reader, shelf, name):
    """Wait until a reader answers from a generation; it opens one while it answers from another."""
    for _ in range(200):
        index = reader.current(_collection(shelf))
        if reader.generation(_collection(shelf)) == name:
            return index
        time.sleep(0.02)
    raise AssertionError(f"still at {reader.generation(_collection(shelf))}")


@pytest.fixture
def weighing(monkeypatch):
    """Two changes are worth merging, and small indexes are not merged after each."""
    monkeypatch.setattr("ragkit.indexes.local.live_rows._SMALLEST_MERGE", 2)
    monkeypatch.setattr(local_backend, "SMALL_INDEX", 0)
    monkeypatch.setattr(local_backend, "_LOOK_SECONDS", 0.0)


def test_a_reader_moves_to_the_generation_that_holds_its_changes(
    indexes, shelf, library_paths, weighing
):
    shelf.put("a.md", "apple")
    indexes.save(_collection(shelf))
    reader = LocalBackend(shelf.catalog.entries, library_paths, _Embedder())
    reader.current(_collection(shelf))
    first = reader.generation(_collection(shelf))
    for name in ("b.md", "c.md"):
        shelf.put(name, "banana cherry", "date")
    assert len(reader.current(_collection(shelf)).delta) == 4
    assert reader.generation(_collection(shelf)) == first
    assert indexes.save(_collection(shelf)) == 1
    shelf.put("d.md", "elder")
    index = _is_at(reader, shelf, indexes.generation(_collection(shelf)))
    assert index.entry_ids().tolist() == shelf.entry_ids()
    assert (len(index.base), len(index.delta)) == (5, 1)
    fresh = LocalBackend(shelf.catalog.entries, library_paths, _Embedder())
    words = ("apple", "banana", "elder")
    _same(index, fresh.current(_collection(shelf)), shelf, words, ("apple", "date"))
    assert reader.pop_notice(_collection(shelf)) == ""


def test_a_reader_stays_where_it_is_while_the_newer_generation_is_damaged(
    indexes, shelf, library_paths, weighing
):
    shelf.put("a.md", "apple")
    indexes.save(_collection(shelf))
    reader = LocalBackend(shelf.catalog.entries, library_paths, _Embedder())
    reader.current(_collection(shelf))
    first = reader.generation(_collection(shelf))
    shelf.put("b.md", "banana", "cherry", "date")
    indexes.save(_collection(shelf))
    folder = library_paths.index(_collection(shelf).id, "chunk", "fingerprint")
    newest = folder / indexes.generation(_collection(shelf))
    (newest / "rows.npz").write_bytes(b"torn")
    for _ in range(10):
        index = reader.current(_collection(shelf))
        assert index.entry_ids().tolist() == shelf.entry_ids()
        time.sleep(0.02)
    assert reader.generation(_collection(shelf)) == first


def test_a_reader_looks_again_after_a_drive_did_not_answer(
    indexes, shelf, library_paths, weighing, monkeypatch
):
    shelf.put("a.md", "apple")
    indexes.save(_collection(shelf))
    reader = LocalBackend(shelf.catalog.entries, library_paths, _Embedder())
    reader.current(_collection(shelf))
    shelf.put("b.md", "banana", "cherry", "date")
    indexes.save(_collection(shelf))
    really, tried = local_backend.open_newest, threading.Event()

    def away(*_, **__):
        monkeypatch.setattr(local_backend, "open_newest", really)
        tried.set()
        raise OSError(errno.EIO, "the drive does not answer")

    monkeypatch.setattr(local_backend, "open_newest", away)
    assert reader.current(_collection(shelf)).entry_ids().tolist() == shelf.entry_ids()
    assert tried.wait(5)
    index = _is_at(reader, shelf, indexes.generation(_collection(shelf)))
    assert index.entry_ids().tolist() == shelf.entry_ids()


def test_a_reader_looks_for_no_generation_before_its_changes_weigh(
    indexes, shelf, library_paths, monkeypatch
):
    shelf.put("a.md", "apple")
    indexes.save(_collection(shelf))
    reader = LocalBackend(shelf.catalog.entries, library_paths, _Embedder())
    reader.current(_collection(shelf))
    shelf.put("b.md", "banana")
    monkeypatch.setattr(local_backend, "generations", None)
    assert len(reader.current(_collection(shelf)).delta) == 1
