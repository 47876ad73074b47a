from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from support import Shelf

from ragkit.catalog import Catalog
from ragkit.catalog.foreign import examine, move_uploads
from ragkit.catalog.integrity import Words
from ragkit.errors import CatalogError, LibraryFormatError
from ragkit.types import Level, Section, Status


def _run(shelf, statement, *parameters, references=True):
    connection = shelf.catalog.connections.get()
    if connection is None:
        with shelf.catalog.connections.write() as transaction:
            transaction.execute(statement, parameters)
        return
    connection.execute(f"PRAGMA foreign_keys = {'ON' if references else 'OFF'}")
    connection.execute(statement, parameters)
    connection.execute("PRAGMA foreign_keys = ON")


@pytest.fixture
def integrity(shelf):
    return shelf.catalog.integrity


def test_a_sound_catalog_has_no_fault(shelf, integrity):
    shelf.put("a.md", "first piece", "second 𝒑iece with 漢字")
    shelf.put("b.md", "other words")
    assert integrity.damage() == integrity.damage(whole=True) == []
    assert integrity.broken_references() == 0
    assert integrity.torn_documents() == integrity.left_over() == []
    assert integrity.without_vectors(shelf.embedder_id) == {}
    assert integrity.misshapen_vectors() == integrity.orphaned_vectors() == 0
    assert integrity.living_removed() == []
    assert integrity.words().broken_entries == ()
    assert integrity.embedders() == [(shelf.embedder_id, "hashing", "fingerprint", 3)]


def test_an_empty_catalog_has_no_fault(shelf, integrity):
    assert integrity.damage(whole=True) == []
    assert integrity.torn_documents() == []
    assert (integrity.words().broken_entries, integrity.words().unused) == ((), 0)
    assert integrity.document_ids() == []
    assert len(integrity.entry_ids(shelf.collection_id, [Level.CHUNK])) == 0


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM texts WHERE document_id = ?",
        "UPDATE texts SET text = text || '.' WHERE document_id = ?",
        "DELETE FROM chunks WHERE document_id = ? AND idx = 1",
        "UPDATE chunks SET stop = 10000 WHERE document_id = ?",
        "UPDATE chunks SET start = stop WHERE document_id = ?",
        "UPDATE sections SET stop = 10000 WHERE document_id = ?",
        "DELETE FROM entries WHERE document_id = ? AND position = 0",
        "UPDATE entries SET position = 7 WHERE document_id = ?",
        "UPDATE entries SET collection_id = 9 WHERE document_id = ?",
    ],
)
def test_a_torn_document_is_found_and_no_other(shelf, integrity, damage):
    shelf.put("sound.md")
    torn = shelf.put("torn.md")
    _run(shelf, damage, torn)
    assert integrity.torn_documents() == [torn]
    assert integrity.torn_documents(shelf.collection_id) == [torn]
    assert integrity.torn_documents(shelf.collection_id + 1) == []


def test_what_is_left_of_a_document_that_is_not_indexed_is_found(shelf, integrity):
    shelf.put("a.md")
    left = shelf.put("b.md")
    _run(shelf, "UPDATE documents SET status = 'skipped' WHERE id = ?", left)
    assert integrity.left_over() == [left]
    assert integrity.torn_documents() == []
    assert integrity.document_ids() == [1]


@pytest.mark.sqlite
def test_rows_whose_owner_is_gone_are_counted(shelf, integrity):
    one = shelf.put("a.md", "one piece")
    _run(shelf, "DELETE FROM documents WHERE id = ?", one, references=False)
    assert integrity.broken_references() == 4


def test_entries_without_a_vector_are_counted_by_document(shelf, integrity):
    one = shelf.put("a.md", "first", "second")
    two = shelf.put("b.md", "third", with_vectors=False)
    assert integrity.without_vectors(shelf.embedder_id) == {two: 1}
    assert integrity.without_vectors(None) == {one: 2, two: 1}
    assert integrity.without_vectors(None, shelf.collection_id + 1) == {}


def test_misshapen_vectors_are_dropped(shelf, integrity):
    shelf.put("a.md", "first", "second")
    _run(shelf, "UPDATE vectors SET data = x'00' WHERE text_hash IN (SELECT text_hash FROM "
                "entries WHERE position = 0)")  # fmt: skip
    assert integrity.misshapen_vectors() == 1
    assert integrity.drop_misshapen_vectors() == 1
    assert integrity.misshapen_vectors() == 0
    assert integrity.without_vectors(shelf.embedder_id) == {1: 1}


def test_orphaned_vectors_are_counted_and_pruned(shelf, integrity):
    document = shelf.put("a.md", "first", "second")
    shelf.catalog.documents.remove([document])
    assert integrity.orphaned_vectors() == 2
    assert integrity.removals() == 2
    assert shelf.catalog.vectors.prune() == 2
    assert integrity.orphaned_vectors() == 0


def test_entries_with_unknown_words_are_found_with_their_documents(shelf, integrity):
    shelf.put("a.md", "alpha beta")
    two = shelf.put("b.md", "gamma delta")
    _run(shelf, "DELETE FROM vocabulary WHERE token = 'gamma'")
    words = integrity.words()
    assert integrity.owners(words.broken_entries) == {two}
    assert words.unused == 0
    _run(shelf, "UPDATE entry_tokens SET ids = x'ffffffff'")
    assert len(integrity.words().broken_entries) == 2


@pytest.mark.parametrize("most", [1, 2, 3])
def test_words_of_every_field_are_looked_at_however_few_are_read_at_once(
    shelf, integrity, monkeypatch, most
):
    monkeypatch.setattr("ragkit.catalog.integrity._TOKEN_ROWS", most)
    shelf.put("a.md", "alpha")
    shelf.put("b.md", "beta")
    rows = "SELECT entry_id, {}, ids FROM entry_tokens WHERE field = 0"
    for field in (1, 2):
        _run(shelf, f"INSERT INTO entry_tokens {rows.format(field)}")
    _run(shelf, "UPDATE entry_tokens SET ids = x'ffffffff' WHERE field = 2")
    assert integrity.words() == Words(tuple(shelf.entry_ids()), 0)


def test_spare_words_are_counted(shelf, integrity):
    document = shelf.put("a.md", "alpha beta", "beta gamma")
    shelf.catalog.documents.remove([document])
    assert integrity.words().unused == 3


def test_living_entries_recorded_as_removed_are_found(shelf, integrity):
    shelf.put("a.md", "one")
    entry = shelf.entry_ids()[0]
    _run(shelf, "INSERT INTO removed_entries VALUES (?, 5, ?)", shelf.collection_id, entry)
    assert integrity.living_removed(shelf.collection_id) == [entry]


def test_documents_of_another_recipe_are_stale(shelf, integrity):
    one = shelf.put("a.md")
    assert integrity.stale("pipeline-1", {}) == set()
    assert integrity.stale("pipeline-2", {}) == {one}


def test_a_stored_document_is_given_whole(shelf, integrity):
    one = shelf.put("a.md", "first piece", "second piece")
    stored = integrity.stored(one)
    assert (stored.path, stored.text, stored.pipeline_fingerprint) == (
        "a.md", "first piece\n\nsecond piece", "pipeline-1",
    )  # fmt: skip
    assert stored.sections == (Section(0, 0, 25, 1, ("Top",)),)
    assert stored.blocks == ()
    assert [(c.chunk.start, c.chunk.end, c.context) for c in stored.chunks] == [
        (0, 13, "context 0"),
        (13, 25, "context 1"),
    ]
    assert [entry.position for entry in stored.entries] == [0, 1]
    assert integrity.stored(99) is None
    np.testing.assert_array_equal(
        integrity.entry_ids(shelf.collection_id, [Level.CHUNK]), shelf.entry_ids()
    )


def _complaint(catalog: Catalog) -> str:
    try:
        return " ".join(catalog.integrity.damage(whole=True))
    except CatalogError as error:
        return error.message


def _damage_root(shelf, library_paths, index):
    """Overwrite the first page of a database index with rubbish."""
    for number in range(200):
        shelf.put(f"{number}.md", f"piece {number} " * 50)
    query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
    page = shelf.catalog.connections.row(query, (index,))[0] - 1
    shelf.catalog.integrity.settle()
    shelf.catalog.close()
    with library_paths.catalog.open("rb+") as file:
        file.seek(page * 4096)
        file.write(b"\xff" * 200)


def test_a_damaged_file_is_said(shelf, library_paths):
    _damage_root(shelf, library_paths, "entries_by_text")
    again = Catalog.open(library_paths.catalog)
    assert _complaint(again)
    again.close()


def test_what_counting_documents_reads_is_said_on_opening(shelf, library_paths):
    _damage_root(shelf, library_paths, "documents_by_version")
    with pytest.raises(CatalogError, match="is damaged"):
        Catalog.open(library_paths.catalog).close()


@pytest.mark.sqlite
def test_a_copy_is_one_whole_file_without_jobs(shelf, integrity, tmp_path):
    shelf.put("a.md", "first", "second")
    shelf.catalog.jobs.add("sync")
    shelf.catalog.jobs.heartbeat(1, 1.0, "idle", {})
    integrity.copy(tmp_path / "copy")
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith("copy")] == ["copy"]
    examine(tmp_path / "copy")
    copy = Catalog.open(tmp_path / "copy")
    assert copy.documents.counts() == shelf.catalog.documents.counts()
    assert (copy.jobs.open(), copy.jobs.worker()) == ([], None)
    assert copy.integrity.version() == integrity.version() > 0
    copy.close()


@pytest.mark.sqlite
def test_a_copy_is_of_one_moment_while_another_thread_writes(shelf, integrity, tmp_path):
    import threading

    stop = threading.Event()

    def write():
        number = 0
        while not stop.is_set():
            number += 1
            shelf.put(f"{number}.md", f"piece {number}", "another")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(5):
            integrity.copy(tmp_path / f"copy{number}")
    finally:
        stop.set()
        writer.join()
    for number in range(5):
        copy = Catalog.open(tmp_path / f"copy{number}")
        assert copy.integrity.damage(whole=True) == copy.integrity.torn_documents() == []
        assert copy.integrity.broken_references() == 0
        copy.close()


@pytest.mark.sqlite
def test_a_copy_to_a_place_that_is_not_there_is_refused(integrity, tmp_path):
    with pytest.raises(CatalogError, match="cannot be opened"):
        integrity.copy(tmp_path / "none" / "copy")


@pytest.mark.sqlite
def test_a_copy_of_another_version_is_refused(integrity, tmp_path):
    integrity.copy(tmp_path / "copy")
    with closing(sqlite3.connect(tmp_path / "copy")) as connection:
        connection.execute("PRAGMA user_version = 0")
    with pytest.raises(LibraryFormatError, match="version 0"):
        examine(tmp_path / "copy")


def test_uploads_follow_the_library(shelf, tmp_path):
    shelf.catalog.collections.ensure_source(shelf.collection_id, "uploads", "/old/uploads/1")
    move_uploads(shelf.catalog.connections, tmp_path / "uploads")
    roots = {one.kind: one.root for one in shelf.catalog.collections.sources()}
    assert roots == {"folder": "/files", "uploads": str(tmp_path / "uploads" / "1")}


@pytest.mark.sqlite
def test_shrinking_gives_spare_pages_back(shelf, integrity):
    documents = [shelf.put(f"{number}.md", "words " * 400) for number in range(100)]
    shelf.catalog.documents.remove(documents)
    size, spare = integrity.space()
    assert spare > 100_000
    integrity.shrink()
    assert integrity.space() == (size - spare, 0) or integrity.space()[0] < size
    assert integrity.space()[1] == 0
    assert shelf.catalog.documents.list(status=Status.INDEXED) == []


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory in use from /proc")
@pytest.mark.sqlite
def test_shrinking_does_not_hold_the_catalog_in_memory(shelf, integrity):
    def peak():
        return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) << 10

    connections = shelf.catalog.connections
    connections.rows("PRAGMA cache_size = -1000")
    with connections.write() as connection:
        rows = [(f"key {number}", "x" * 100_000) for number in range(600)]
        connection.executemany("INSERT INTO meta VALUES (?, ?)", rows)
    try:
        Path("/proc/self/clear_refs").write_text("5")  # Resets the peak.
    except OSError:
        pytest.skip("the peak of the memory in use cannot be reset here")
    before = peak()
    integrity.shrink()
    assert integrity.space()[0] > 60_000_000
    assert peak() - before < 20_000_000


def test_a_collection_with_a_pipeline_of_its_own_is_stale_by_that(shelf, integrity):
    one, own = shelf.put("a.md"), Shelf(shelf.catalog, "own", "/own")
    two = own.put("b.md")
    home = own.collection_id
    assert integrity.stale("pipeline-1", {home: "pipeline-2"}) == {two}
    assert integrity.stale("pipeline-2", {home: "pipeline-1"}) == {one}
    assert integrity.stale("pipeline-2", {home: "pipeline-2"}, home) == {two}
    assert integrity.stale("pipeline-2", {home: "pipeline-2"}, shelf.collection_id) == {one}
