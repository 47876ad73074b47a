from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from support import Shelf

from ragkit.catalog import Catalog
from ragkit.catalog.copies import keep_backup
from ragkit.catalog.failures import as_library_error
from ragkit.catalog.sqlite import SqliteConnections
from ragkit.errors import CatalogError, LibraryError, RagkitError


def _in_thread(work):
    """Run in a thread of its own and give what came of it."""
    outcome = []

    def run():
        try:
            outcome.append(work())
        except (RagkitError, AssertionError) as error:
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(30)
    return outcome[0]


def test_a_reader_sees_the_old_state_until_the_writer_commits(catalog, shelf):
    shelf.put("a.md", "old text")
    with catalog.connections.write() as connection:
        connection.execute("UPDATE texts SET text = 'new text'")
        assert _in_thread(lambda: catalog.documents.texts([1])) == {1: "old text"}
    assert _in_thread(lambda: catalog.documents.texts([1])) == {1: "new text"}


def test_a_read_block_sees_one_moment(catalog, shelf):
    shelf.put("a.md", "old text")
    with catalog.connections.read():
        assert catalog.documents.text(1) == "old text"
        _in_thread(lambda: shelf.put("a.md", "new text"))
        assert catalog.documents.text(1) == "old text"
        with catalog.connections.read():
            assert catalog.documents.text(1) == "old text"
        assert catalog.documents.text(1) == "old text"
    assert catalog.documents.text(1) == "new text"


def test_an_error_inside_a_read_block_ends_the_transaction(catalog):
    with pytest.raises(ZeroDivisionError), catalog.connections.read():
        _ = 1 / 0
    assert not catalog.connections.get().in_transaction


def test_a_write_within_a_write_is_refused_and_nothing_is_kept(catalog):
    def twice():
        with catalog.connections.write() as connection:
            connection.execute("INSERT INTO collections (name, created_at) VALUES ('x', 0)")
            with catalog.connections.write():
                pass

    with pytest.raises(CatalogError, match="within a transaction"):
        twice()
    assert catalog.collections.all() == []
    assert not catalog.connections.get().in_transaction


def test_threads_that_end_leave_their_connection_to_the_next(catalog):
    for _ in range(50):
        assert _in_thread(lambda: catalog.collections.all()) == []
    assert len(catalog.connections._all) <= 3


def test_a_thread_that_ends_inside_a_transaction_leaves_a_clean_connection(catalog, shelf):
    def leave_open():
        connection = catalog.connections.get()
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO collections (name, created_at) VALUES ('half', 0)")

    _in_thread(leave_open)
    assert [one.name for one in _in_thread(catalog.collections.all)] == ["default"]


def test_threads_at_once_each_have_their_own_connection(catalog):
    gate = threading.Barrier(4)
    seen = []

    def look():
        seen.append(id(catalog.connections.get()))
        gate.wait(10)

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(set(seen)) == 4


def test_a_closed_catalog_says_so(library_paths):
    opened = Catalog.open(library_paths.catalog, create=True)
    opened.close()
    opened.close()
    with pytest.raises(CatalogError, match="closed"):
        opened.collections.all()


def test_a_query_in_flight_when_the_catalog_closes_says_so(library_paths):
    opened = Catalog.open(library_paths.catalog, create=True)

    def close_and_ask():
        with opened.connections.write() as connection:
            opened.close()
            connection.execute("SELECT 1")

    with pytest.raises(CatalogError, match="closed"):
        close_and_ask()


@pytest.mark.parametrize("way", ["read", "write"])
def test_a_catalog_that_is_just_being_closed_says_so(library_paths, way):
    with closing(Catalog.open(library_paths.catalog, create=True)) as opened:
        opened.connections.rows("SELECT 1")
        opened.connections.get().close()  # as ``close`` does, before it forgets the connection
        with pytest.raises(CatalogError, match="closed"):
            opened.connections.rows("SELECT 1")
        with (
            pytest.raises(CatalogError, match="closed"),
            getattr(opened.connections, way)() as connection,
        ):
            connection.execute("SELECT 1")


@pytest.mark.parametrize("way", ["rows", "row", "read", "write"])
def test_closing_waits_for_the_query_of_another_thread(library_paths, way):
    """A connection that is closed while another thread reads with it takes the process down."""
    opened = Catalog.open(library_paths.catalog, create=True)
    reads, go_on, answers = threading.Event(), threading.Event(), []

    def wait(value):
        reads.set()
        go_on.wait(10)
        return value

    def ask():
        connections = opened.connections
        connections.get().create_function("wait", 1, wait)
        if way in {"rows", "row"}:
            answer = getattr(connections, way)("SELECT wait(7)")
            answers.append(answer[0] if way == "rows" else answer)
        else:
            with getattr(connections, way)() as connection:
                answers.append(connection.execute("SELECT wait(7)").fetchone())

    asking = threading.Thread(target=ask)
    asking.start()
    assert reads.wait(10)
    closing = threading.Thread(target=opened.close)
    closing.start()
    closing.join(0.2)
    assert closing.is_alive()
    go_on.set()
    closing.join(10)
    asking.join(10)
    assert not closing.is_alive()
    assert answers == [(7,)]
    with pytest.raises(CatalogError, match="closed"):
        opened.collections.all()


@pytest.mark.parametrize(
    "content", [b"this is no database at all" * 200, b"\x00" * 8192, b"SQLite format 3\x00" * 300]
)
def test_a_file_that_is_no_database_is_damaged(library_paths, content):
    library_paths.catalog.write_bytes(content)
    with pytest.raises(CatalogError, match="is damaged") as caught:
        Catalog.open(library_paths.catalog)
    assert "backup" in caught.value.cure
    assert library_paths.catalog.read_bytes() == content


def test_a_page_that_is_damaged_is_said_when_it_is_read_and_when_it_is_written(library_paths):
    opened = Catalog.open(library_paths.catalog, create=True)
    shelf = Shelf(opened)
    for number in range(50):
        shelf.put(f"{number}.md", "some words " * 500)
    opened.connections.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    opened.close()
    size = library_paths.catalog.stat().st_size
    with library_paths.catalog.open("r+b") as file:
        for page in range(80, size // 4096):
            file.seek(page * 4096)
            file.write(b"\xa5" * 4096)
    opened = Catalog.open(library_paths.catalog)
    with pytest.raises(CatalogError, match="is damaged"):
        opened.documents.texts(range(1, 51))
    shelf.catalog = opened

    def write_all():
        for number in range(50):
            shelf.put(f"{number}.md", "other words")

    with pytest.raises(CatalogError, match="is damaged"):
        write_all()
    opened.close()


def test_a_full_disk_is_said_and_the_catalog_goes_on(catalog, shelf):
    shelf.put("kept.md", "kept words")
    pages = catalog.connections.row("PRAGMA page_count")[0]
    catalog.connections.rows(f"PRAGMA max_page_count = {pages + 1}")
    with pytest.raises(CatalogError, match="The disk is full") as caught:
        shelf.put("big.md", "kept grown " + "x" * 500_000)
    assert "Free some space" in caught.value.cure
    assert not catalog.connections.get().in_transaction
    assert [one.path for one in catalog.documents.list()] == ["kept.md"]
    catalog.connections.rows("PRAGMA max_page_count = 1000000")
    shelf.put("big.md", "kept grown " + "x" * 500_000)
    ids = catalog.entries.token_ids(["kept", "grown", "words"])
    assert sorted(ids) == ["grown", "kept", "words"]
    assert len(set(ids.values())) == 3


def test_on_a_full_disk_a_catalog_is_read_and_later_written(library_paths):
    """SQLite finds no room for the shared memory beside the catalog."""
    with closing(Catalog.open(library_paths.catalog, create=True)) as catalog:
        Shelf(catalog).put("kept.md", "kept words")
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))  # no file may grow
    try:
        reader = Catalog.open(library_paths.catalog)
        assert [one.path for one in reader.documents.list()] == ["kept.md"]
        with pytest.raises(CatalogError, match="The disk is full") as caught:
            reader.set_meta("colour", "blue")
        assert "Free some space" in caught.value.cure
        assert not Path(f"{library_paths.catalog}-shm").exists()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    with closing(Catalog.open(library_paths.catalog)) as other:
        other.set_meta("colour", "green")
        assert reader.get_meta("colour") == "green"
    reader.set_meta("colour", "blue")
    assert reader.get_meta("colour") == "blue"
    reader.close()


def test_a_backup_for_which_there_is_no_room_says_so(catalog, library_paths):
    class Full:
        def backup(self, _target):
            raise sqlite3.OperationalError("database or disk is full")

    with pytest.raises(CatalogError, match="No backup was made: the disk is full") as caught:
        keep_backup(library_paths, Full())
    assert "recover" not in caught.value.cure
    assert list(library_paths.backups.iterdir()) == []


def test_a_commit_that_fails_leaves_no_token_ids_behind(catalog, shelf):
    class Full(sqlite3.OperationalError):
        pass

    real = catalog.connections.get()

    class Failing:
        def __getattr__(self, name):
            return getattr(real, name)

        def execute(self, query, *parameters):
            if query == "COMMIT":
                raise Full("database or disk is full")
            return real.execute(query, *parameters)

    catalog.connections._local.pooled.connection = Failing()
    with pytest.raises(CatalogError, match="disk is full"):
        shelf.put("a.md", "alpha beta")
    catalog.connections._local.pooled.connection = real
    assert catalog.documents.list() == []
    shelf.put("b.md", "gamma delta")
    shelf.put("a.md", "alpha beta")
    ids = catalog.entries.token_ids(["alpha", "beta", "gamma", "delta"])
    assert len(ids) == 4
    rows = shelf.rows()
    flat = next(iter(rows.tokens.values())).flat.tolist()
    assert flat == [ids["gamma"], ids["delta"], ids["alpha"], ids["beta"]]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_said(library_paths):
    library_paths.root.chmod(0o500)
    try:
        with pytest.raises(CatalogError, match="cannot be"):
            Catalog.open(library_paths.catalog, create=True)
    finally:
        library_paths.root.chmod(0o700)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("database or disk is full", "The disk is full"),
        ("attempt to write a readonly database", "cannot be written"),
        ("database is locked", "The library is busy"),
        ("unable to open database file", "cannot be opened"),
        ("database disk image is malformed", "is damaged"),
        ("file is not a database", "is damaged"),
        ("disk I/O error", "cannot be read or written"),
        ("Cannot operate on a closed database.", "The library is closed"),
        (
            "FOREIGN KEY constraint failed",
            "The catalog reported an error: FOREIGN KEY constraint failed.",
        ),
    ],
)
def test_each_complaint_of_sqlite_becomes_a_sentence_with_a_cure(tmp_path, message, said):
    error = as_library_error(sqlite3.OperationalError(message), tmp_path / "catalog.sqlite")
    assert isinstance(error, LibraryError)
    assert said in error.message
    assert error.cure.endswith(".")


def test_a_read_only_database_refuses_to_write_in_plain_words(library_paths, catalog):
    catalog.connections.rows("PRAGMA query_only = ON")
    with pytest.raises(CatalogError, match="cannot be written"):
        catalog.collections.ensure("new")
    catalog.connections.rows("PRAGMA query_only = OFF")


def test_a_busy_library_says_so(library_paths, catalog, monkeypatch):
    monkeypatch.setattr("ragkit.catalog.sqlite._BUSY_MILLISECONDS", 50)
    other = SqliteConnections(library_paths.catalog, create=False)
    with (
        catalog.connections.write(),
        pytest.raises(CatalogError, match="busy"),
        other.write(),
    ):
        pass
    other.close()


def test_a_schema_of_rubbish_bytes_is_said_to_be_damage(tmp_path):
    file = tmp_path / "catalog.sqlite"
    Catalog.open(file, create=True).close()
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_master SET name = CAST(X'FF62' AS TEXT), sql = 'create tabel x' "
            "WHERE name = 'documents'"
        )
    connection.close()
    with pytest.raises(CatalogError, match="is damaged"):
        Catalog.open(file)


def test_a_log_that_a_reader_has_held_up_gives_its_space_back(library_paths, monkeypatch):
    monkeypatch.setattr("ragkit.catalog.sqlite._MOST_LOG_BYTES", 1 << 20)
    log = library_paths.root / "catalog.sqlite-wal"
    opened = Catalog.open(library_paths.catalog, create=True)
    shelf = Shelf(opened)
    with closing(sqlite3.connect(library_paths.catalog, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT COUNT(*) FROM documents").fetchone()
        for _ in range(12):
            shelf.put("long.md", "x" * 500_000)
        assert log.stat().st_size > 5 << 20
        reader.execute("COMMIT")
    for _ in range(3):
        shelf.put("long.md", "x" * 500_000)
    assert log.stat().st_size < 2 << 20
    opened.close()
